"""From ROC space to precision-recall space and back."""

from __future__ import annotations

from polaroc import rates
from polaroc.priors.grids import skew
from polaroc.typing import Quantity


def pr_from_roc(tpr: Quantity, fpr: Quantity, prior: Quantity) -> tuple[Quantity, Quantity]:
    """The precision-recall point of a ROC point at a prior.

    Parameters
    ----------
    tpr, fpr
        True and false positive rate, from 0 to 1: floats, numpy arrays or
        Polars expressions.
    prior
        Probability of a positive, in (0, 1).

    Returns
    -------
    recall, precision
        Of the same kind; precision is NaN where both rates are 0.

    Raises
    ------
    InvalidArgument
        For a prior that is a float outside (0, 1).

    Notes
    -----
    D&G Theorem 3.1: one-to-one where recall > 0.

    Examples
    --------
    >>> pr_from_roc(0.5, 0.125, prior=0.2)
    (0.5, 0.5)
    """
    return tpr, rates.precision(tpr, fpr, skew(prior))


def roc_from_pr(
    recall: Quantity, precision: Quantity, prior: Quantity
) -> tuple[Quantity, Quantity]:
    """The ROC point of a precision-recall point at a prior: t is recall, f = t(1−p)/(λp).

    Parameters
    ----------
    recall, precision
        From 0 to 1: floats, numpy arrays or Polars expressions. Where recall
        is 0, precision does not tell the false positive rate: it comes out as 0,
        or NaN where precision is 0 too.
    prior
        Probability of a positive, in (0, 1).

    Returns
    -------
    fpr, tpr
        Of the same kind. Above 1 where no classifier has such a precision at
        such a recall.

    Raises
    ------
    InvalidArgument
        For a prior that is a float outside (0, 1).

    Notes
    -----
    D&G Theorem 3.1.

    Examples
    --------
    >>> roc_from_pr(0.5, 0.5, prior=0.2)
    (0.125, 0.5)
    """
    return rates.ratio(recall * (1 - precision), skew(prior) * precision), recall
