"""A mixture of Gaussians per class."""

import numpy as np
from sklearn.mixture import GaussianMixture

from polaroc.experiments.classifiers.binary import LogOddsClassifier
from polaroc.typing import Array


class GaussianMixtures(LogOddsClassifier):
    """Bayes' rule with a mixture of Gaussians as the density of each class (`mogc`).

    Parameters
    ----------
    components
        Gaussians per class, or a pair: of the first and of the second class.
    random_state
        Seed, or a numpy Generator, of the mixtures: first of the second class,
        then of the first.

    Notes
    -----
    P-ROC §6, AccSens Table 2. The log-odds, unlike posteriors, do not saturate.

    Examples
    --------
    >>> X, y = [[0.0], [0.1], [0.3], [2.0], [2.1], [2.3]], [0, 0, 0, 1, 1, 1]
    >>> GaussianMixtures(1).fit(X, y).predict([[0.2], [2.2]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        components: int | tuple[int, int] = 3,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.components = components
        self.random_state = random_state

    def _learn(self, features: Array, truth: Array) -> None:
        rng = np.random.default_rng(self.random_state)
        given = self.components
        negative, positive = (given, given) if isinstance(given, int) else given

        def mixture(components: int, of: Array) -> GaussianMixture:
            state = int(rng.integers(2**31))
            return GaussianMixture(components, random_state=state).fit(features[of])

        self.positive_ = mixture(positive, truth)
        self.negative_ = mixture(negative, ~truth)
        self.prior_log_odds_ = np.log(truth.sum()) - np.log((~truth).sum())

    def _log_odds(self, features: Array) -> Array:
        odds: Array = (
            self.positive_.score_samples(features)
            - self.negative_.score_samples(features)
            + self.prior_log_odds_
        )
        return odds
