"""Classifiers with the conventions of scikit-learn, seeded for each fold."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from zlib import crc32

from polaroc.sklearn.estimators import check_estimators

if TYPE_CHECKING:
    import numpy as np

    Generator = np.random.Generator


class Estimator(Protocol):
    """A classifier with the conventions of scikit-learn.

    Beside `fit` it has `decision_function`, which is preferred because log-odds
    do not saturate, or `predict_proba`.
    """

    def fit(self, X: Any, y: Any) -> Any:
        """Train on features (cases × features) and labels 0 and 1."""


Models: TypeAlias = "Mapping[str, Estimator] | Callable[[Generator], Mapping[str, Estimator]]"


def models_of_fold(models: Models, seed: int, fold: int) -> list[tuple[str, Any]]:
    """The estimators of a fold by name, seeded by `seed` and the fold."""
    from numpy.random import default_rng
    from sklearn.base import clone

    drawn = callable(models) and not isinstance(models, type) and not hasattr(models, "fit")
    made: Any = models(default_rng([seed, fold])) if drawn else models  # type: ignore[operator]
    check_estimators(
        made,
        "models",
        "a mapping from names to classifiers such as scikit-learn's",
        cloned=not drawn,
    )
    if drawn:
        return list(made.items())
    return [
        (name, _seeded(clone(estimator), [seed, fold, crc32(name.encode())]))
        for name, estimator in made.items()
    ]


def _seeded(estimator: Any, entropy: Sequence[int]) -> Any:
    """The estimator, with every `random_state` in it that is None set to a whole number."""
    from numpy.random import default_rng

    state = int(default_rng(entropy).integers(2**31))
    free = [
        name
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return estimator.set_params(**dict.fromkeys(free, state))
