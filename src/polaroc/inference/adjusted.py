"""P-values and limits of the differences of all pairs of models, adjusted for their number."""

from typing import NamedTuple

import numpy as np

from polaroc.inference.evidence import Contrasts
from polaroc.typing import Array


class Adjusted(NamedTuple):
    """The adjustment for the number of pairs.

    An interval of a pair at its level leaves out 0 where its p-value is below 1 − the level that
    was asked for, and nowhere else.
    """

    p_value: "Array"
    level: "Array"  # of each pair


def by_holm(pairs: Contrasts, level: float) -> Adjusted:
    """Holm's step-down method.

    Examples
    --------
    >>> import numpy as np
    >>> from polaroc.inference.evidence import all_pairs, evidence_from_folds
    >>> folds = np.array([[0.9, 0.8, 0.7], [0.8, 0.8, 0.6], [0.8, 0.6, 0.7]])
    >>> pairs = all_pairs(evidence_from_folds(folds, 0.25))
    >>> pairs.p_value.round(3).tolist(), by_holm(pairs, 0.95).p_value.round(3).tolist()
    ([0.321, 0.063, 0.625], [0.641, 0.19, 0.641])
    """
    adjusted, factors = holm(pairs.p_value)
    return Adjusted(adjusted, 1 - (1 - level) / factors)


def holm(p_values: "Array") -> tuple["Array", "Array"]:
    """The adjusted p-values by Holm's method, and their factors before a limit of 1.

    Those that are NaN do not count.

    Examples
    --------
    >>> import numpy as np
    >>> adjusted, factors = holm(np.array([0.01, 0.04, np.nan, 0.03]))
    >>> adjusted.round(4).tolist(), factors.round(4).tolist()
    ([0.03, 0.06, nan, 0.06], [3.0, 1.5, 1.0, 2.0])
    """
    count = len(p_values)
    # NaN comes last.
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum(np.count_nonzero(p_values == p_values) - np.arange(count), 1.0)
    stepped = np.maximum.accumulate(steps * p_values[order])
    known = p_values[order] > 0
    factors = np.empty(count)
    factors[order] = np.where(known, stepped / np.where(known, p_values[order], 1.0), steps)
    return np.minimum(factors * p_values, 1), factors
