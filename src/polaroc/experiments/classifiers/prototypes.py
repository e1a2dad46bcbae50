"""Nearest-prototype classifiers, and posteriors from two distances."""

import numpy as np
from sklearn.metrics import pairwise_distances

from polaroc.experiments.classifiers.binary import BinaryClassifier
from polaroc.typing import Array


class NearestPrototypes(BinaryClassifier):
    """The nearest of training cases drawn at random: the dissimilarity approach of P-ROC §6.

    Parameters
    ----------
    prototypes
        How many are drawn from all training cases; drawn again where a class
        has none.
    random_state
        Seed, or a numpy Generator, of the draw.

    Notes
    -----
    The posterior is d₀/(d₀ + d₁), of the distances to the nearest prototype of
    the first and of the second class.

    Examples
    --------
    >>> model = NearestPrototypes(2, random_state=0).fit([[0.0], [3.0]], [0, 1])
    >>> model.predict_proba([[1.0]])[0].round(3).tolist()
    [0.667, 0.333]
    """

    def __init__(
        self, prototypes: int = 15, random_state: int | np.random.Generator | None = None
    ) -> None:
        self.prototypes = prototypes
        self.random_state = random_state

    def _learn(self, features: Array, truth: Array) -> None:
        rng = np.random.default_rng(self.random_state)
        size = self.prototypes
        if not 2 <= size <= len(features):
            raise ValueError(f"prototypes is {size}, allowed are 2 to {len(features)}.")
        chosen = rng.choice(len(features), size, replace=False)
        while truth[chosen].all() or not truth[chosen].any():
            chosen = rng.choice(len(features), size, replace=False)
        self.prototypes_, self.truth_ = features[chosen], truth[chosen]

    def _posterior(self, features: Array) -> Array:
        distance = pairwise_distances(features, self.prototypes_)
        return distance_share(distance, self.truth_)


def distance_share(distance: Array, truth: Array) -> Array:
    """Distance to the nearest negative, as a share of that and of the nearest positive.

    Parameters
    ----------
    distance
        Shape (cases, training cases).
    truth
        Whether each training case is positive.

    Examples
    --------
    >>> distance_share(np.array([[1.0, 3.0, 2.0]]), np.array([True, True, False])).round(3)
    array([0.667])
    """
    to_positive = distance[:, truth].min(axis=1)
    to_negative = distance[:, ~truth].min(axis=1)
    both = to_negative + to_positive
    # A case equal to one of each class is as near to both.
    share: Array = np.divide(to_negative, both, out=np.full(len(distance), 0.5), where=both > 0)
    return share
