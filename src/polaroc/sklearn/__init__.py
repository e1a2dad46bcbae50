"""Areas at a prior inside scikit-learn, and scikit-learn's models as tables of predictions.

Scores and a scorer for its model selection, tables of predictions from its
cross-validation, and a classifier with its threshold set for a prior (extra
``sklearn``).
"""

from typing import TYPE_CHECKING, Any

from polaroc.sklearn.predictions import cross_val_predictions, need_scikit_learn
from polaroc.sklearn.scorers import auprec_score, iauprec_score, scorer

if TYPE_CHECKING:
    from polaroc.sklearn.threshold_classifier import PriorThresholdClassifier

__all__ = [
    "PriorThresholdClassifier",
    "auprec_score",
    "cross_val_predictions",
    "iauprec_score",
    "scorer",
]


def __getattr__(name: str) -> Any:
    # It inherits from scikit-learn, without which the rest can be imported.
    if name == "PriorThresholdClassifier":
        need_scikit_learn()
        from polaroc.sklearn.threshold_classifier import PriorThresholdClassifier

        return PriorThresholdClassifier
    raise AttributeError(f"module 'polaroc.sklearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
