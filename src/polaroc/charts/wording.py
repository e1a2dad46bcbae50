"""How charts name measures and folds."""

from collections.abc import Sequence

NAMES = {
    "auc": "AUC", "auprec": "AUPREC", "iauprec": "IAUPREC", "sens": "Sens", "accsens": "AccSens",
    "auc_range": "AUC over the range", "equal_error": "equal error",
}  # fmt: skip


def measure_name(told: str) -> str:
    """A measure, or a description that starts with one, in the usual capitals.

    Examples
    --------
    >>> measure_name("auprec at prior 0.1")
    'AUPREC at prior 0.1'
    """
    first, *rest = told.split(" ", 1)
    return " ".join([NAMES.get(first, first), *rest])


def folds_name(keys: Sequence[str]) -> str:
    """What the means of a chart are taken over.

    Examples
    --------
    >>> folds_name(["fold"]), folds_name(["data", "fold"])
    ('folds', 'data · fold')
    """
    return "folds" if list(keys) == ["fold"] else " · ".join(keys)
