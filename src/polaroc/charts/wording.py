"""How charts name measures and folds."""

from collections.abc import Sequence

from polaroc.measures.catalog import label


def measure_name(description: str) -> str:
    """A measure, or a description that names one, in the usual capitals.

    Examples
    --------
    >>> measure_name("auprec at prior 0.1"), measure_name("expected auprec")
    ('AUPREC at prior 0.1', 'expected AUPREC')
    """
    return " ".join(label(word) for word in description.split(" "))


def folds_name(keys: Sequence[str]) -> str:
    """What the means of a chart are taken over.

    Examples
    --------
    >>> folds_name(["fold"]), folds_name(["data", "fold"])
    ('folds', 'data · fold')
    """
    return "folds" if list(keys) == ["fold"] else " · ".join(keys)
