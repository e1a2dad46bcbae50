"""How charts name measures and folds."""

from collections.abc import Sequence

NAMES = {
    "auc": "AUC", "auprec": "AUPREC", "iauprec": "IAUPREC", "sens": "Sens", "accsens": "AccSens",
    "auc_range": "AUC over the range", "equal_error": "equal error",
    "auprec_corrected": "corrected AUPREC", "iauprec_corrected": "corrected IAUPREC",
}  # fmt: skip


def measure_name(told: str) -> str:
    """A measure, or a description that names one, in the usual capitals.

    Examples
    --------
    >>> measure_name("auprec at prior 0.1"), measure_name("expected auprec")
    ('AUPREC at prior 0.1', 'expected AUPREC')
    """
    return " ".join(NAMES.get(word, word) for word in told.split(" "))


def folds_name(keys: Sequence[str]) -> str:
    """What the means of a chart are taken over.

    Examples
    --------
    >>> folds_name(["fold"]), folds_name(["data", "fold"])
    ('folds', 'data · fold')
    """
    return "folds" if list(keys) == ["fold"] else " · ".join(keys)
