"""How large AUPREC can be at one prior, given the AUC and AUPREC at other priors."""

from collections.abc import Mapping

import numpy as np
from scipy.optimize import minimize

from polaroc.priors.grids import skew


def greatest_auprec(
    prior: float, *, auc: float, auprec: Mapping[float, float], positives: int, negatives: int
) -> float:
    """A bound on AUPREC at a prior, of test sets of this size without ties that have these areas.

    No curve, and no mean of several curves with these mean areas, has a greater AUPREC. With one
    prior in `auprec` it is the least such bound, to about four digits; with more it may be too
    high. Below 0 where no curve has these areas.

    It is Lagrange's bound: whatever the multipliers μ, a curve has ∫ g ≤ Σ μ·known +
    max ∫ (g − Σ μ·h), where the h are the integrands of the known areas. The maximum over all
    curves is found exactly, recall by recall; the multipliers are then chosen to make the bound
    small, and any choice of them gives a valid one.
    """
    fpr = np.linspace(0, 1, negatives + 1)
    parts = [(1 - fpr) / positives, *(_areas(positives, fpr, skew(one)) for one in auprec)]
    sought = _areas(positives, fpr, skew(prior))
    known = np.array([auc, *auprec.values()])

    def bound(multipliers: np.ndarray) -> float:
        rest = sought.copy()
        for multiplier, part in zip(multipliers, parts, strict=True):
            rest -= multiplier * part
        return float(multipliers @ known + _greatest(rest))

    optimum = minimize(
        bound,
        np.zeros(len(known)),
        method="Nelder-Mead",
        options={"xatol": 1e-5, "fatol": 1e-7, "maxiter": 500 * len(known)},
    )
    return float(optimum.fun)


def _areas(positives: int, fpr: np.ndarray, skewed: float) -> np.ndarray:
    """∫ precision dt from each positive to the next (rows) at each false positive rate."""
    start = np.arange(positives)[:, None] / positives
    bend = skewed * fpr[None, :]
    # At false positive rate 0 precision is 1.
    ends = np.where(start + bend > 0, start + bend, 1)
    return 1 / positives - bend * np.log1p(1 / positives / ends)


def _greatest(values: np.ndarray) -> float:
    """Greatest sum of one value per row over non-decreasing columns."""
    best = np.zeros(values.shape[1])
    for row in values:
        best = np.maximum.accumulate(best + row)
    return float(best[-1])
