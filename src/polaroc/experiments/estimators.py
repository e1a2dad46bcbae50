"""Seeds and scores of classifiers with the conventions of scikit-learn."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from zlib import crc32

from polaroc.base.columns import type_name
from polaroc.errors import InvalidArgument, MissingExtra, quoted
from polaroc.typing import Array

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
    _check_models(made, cloned=not drawn)
    if drawn:
        return list(made.items())
    return [
        (name, _seeded(clone(estimator), [seed, fold, crc32(name.encode())]))
        for name, estimator in made.items()
    ]


def _check_models(made: object, *, cloned: bool) -> None:
    """Raise unless `models` is a mapping from names to classifiers."""
    needed = ("fit", "get_params") if cloned else ("fit",)
    if not isinstance(made, Mapping):
        problem = f"models is of type {type_name(made)}"
    elif not made:
        problem = "models is empty"
    elif strange := [name for name in made if not isinstance(name, str)]:
        problem = f"models has the name {quoted(strange[:1])}"
    elif wrong := [
        name
        for name, one in made.items()
        if isinstance(one, type) or not all(hasattr(one, method) for method in needed)
    ]:
        problem = f"models has no classifier under {quoted(wrong[:1])}"
    else:
        return
    raise InvalidArgument(
        f"{problem}, allowed is a mapping from names to classifiers such as scikit-learn's.",
        hint="for example {'logistic': LogisticRegression()}.",
    )


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


def score(name: str, estimator: Any, features: "Array") -> "Array":
    """Scores of a trained model: its decision function, or the posterior of label 1."""
    if hasattr(estimator, "decision_function"):
        scores: Array = estimator.decision_function(features)
    elif hasattr(estimator, "predict_proba"):
        scores = estimator.predict_proba(features)[:, list(estimator.classes_).index(1)]
    else:
        raise InvalidArgument(
            f"the model {name!r} has neither decision_function nor predict_proba.",
            hint="for example LogisticRegression(), SVC() or CalibratedClassifierCV(...) have one.",
        )
    return scores


def need_scikit_learn() -> None:
    """Refuse to go on without scikit-learn.

    Examples
    --------
    >>> need_scikit_learn()
    """
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "experiments need scikit-learn, which is not installed.",
            hint="pip install 'polaroc[experiments]'.",
        ) from None
