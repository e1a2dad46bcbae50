"""Bounds on AUPREC given the AUC or areas at other priors."""

from collections.abc import Mapping
from math import log, log1p

from polaroc.base.checks import MAX_NUMBER, check_whole, is_number, shortened
from polaroc.base.lazy import np
from polaroc.errors import Hint, InvalidArgument
from polaroc.priors.grids import check_prior, skew
from polaroc.typing import Array

# λ(1 − AUC) above which the curve of least AUPREC rises over all recalls.
RISING = 5 / 6
# Turning recalls beyond which differences of logarithms lose precision.
FIRST_TURN, LAST_TURN = 1e-12, 1 - 1e-4


def auprec_bounds(auc: float, prior: float) -> tuple[float, float]:
    """The least and the greatest AUPREC that a ROC curve with a given AUC can have.

    Parameters
    ----------
    auc
        Area under the ROC curve, from 0.5 to 1.
    prior
        Probability of a positive, in (0, 1).

    Returns
    -------
    least, greatest
        From 0 to 1. They hold for every complete ROC curve, and as well for
        means of AUC and AUPREC over several, since the least is convex in the
        AUC and the greatest concave.

    Raises
    ------
    InvalidArgument
        For an area or a prior outside what is allowed.

    Notes
    -----
    Let f(t) be the false positive rate at recall t: never falling, with
    ∫ f dt = 1 − AUC = m. The loss 1 − precision = λf/(t + λf) is concave in f
    and falls in t. So it is least, for a given m, where f is 0 up to recall
    1 − m and 1 beyond, which loses λ ln((1 + λ)/(1 − m + λ)). It is greatest
    where its slope λt/(t + λf)² is the same everywhere, on f = c√t − t/λ; beyond
    the recall where that would fall, the greatest is on a constant f, whose mean
    slope is that of the rising part.

    Examples
    --------
    >>> [round(bound, 3) for bound in auprec_bounds(0.943, 0.5)]
    [0.833, 0.971]
    """
    check_prior(prior)
    if not is_number(auc) or not 0.5 <= auc <= 1:
        raise InvalidArgument(
            f"auc is {auc!r}, allowed is 0.5 ≤ auc ≤ 1.", hint="turn reversed scores round first."
        )
    skewed = float(skew(prior))
    greatest = 1 - skewed * log1p((1 - auc) / (auc + skewed))
    return _least(skewed * (1 - auc)), greatest


def greatest_auprec(
    prior: float, *, auc: float, auprec: Mapping[float, float], positives: int, negatives: int
) -> float:
    """A bound on AUPREC at one prior, given the AUC and AUPREC at other priors.

    Parameters
    ----------
    prior
        The prior at which it is sought, in (0, 1).
    auc
        Area under the ROC curve, from 0 to 1.
    auprec
        Known AUPREC by prior.
    positives, negatives
        Of the test set; no scores are tied.

    Returns
    -------
    float
        No curve of such a test set that has these areas has a greater AUPREC,
        and no mean of several curves whose mean areas these are. With one prior
        in `auprec` it is the least such bound, to about four digits; with more
        it may be too high. Below 0 where no curve has these areas.

    Raises
    ------
    InvalidArgument
        For a prior or a count outside what is allowed.

    Notes
    -----
    Lagrange's bound: whatever the multipliers μ, a curve has ∫ g ≤ Σ μ·known +
    max ∫ (g − Σ μ·h), where the h are the integrands of the known areas. The
    maximum over all curves is found exactly, recall by recall; the multipliers
    are then chosen to make the bound small, and any choice of them gives a valid
    one.

    Examples
    --------
    >>> known = {0.5: 0.803}
    >>> round(greatest_auprec(0.1, auc=0.905, auprec=known, positives=60, negatives=60), 2)
    0.51
    """
    from scipy.optimize import minimize

    if not isinstance(auprec, Mapping):
        raise InvalidArgument(
            f"auprec is {shortened(auprec)}, allowed is a mapping from prior to area.",
            hint=Hint.example("auprec", {0.5: 0.8}),
        )
    for one in (prior, *auprec):
        check_prior(one)
    for name, count in (("positives", positives), ("negatives", negatives)):
        check_whole(name, count, 1, MAX_NUMBER)
    if not is_number(auc) or not all(is_number(area) for area in auprec.values()):
        raise InvalidArgument(
            f"auc is {shortened(auc)} and auprec is {shortened(auprec)}, allowed are numbers.",
            hint=Hint("for example {auc}, {auprec}.", auc=0.9, auprec={0.5: 0.8}),
        )
    fpr = np.linspace(0, 1, negatives + 1)
    parts = [(1 - fpr) / positives, *(_areas(positives, fpr, skew(one)) for one in auprec)]
    sought = _areas(positives, fpr, skew(prior))
    known = np.array([auc, *auprec.values()])

    def bound(multipliers: "Array") -> float:
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


def _areas(positives: int, fpr: "Array", skewed: float) -> "Array":
    """∫ precision dt from each positive to the next (rows) at each false positive rate."""
    start = np.arange(positives)[:, None] / positives
    bend = skewed * fpr[None, :]
    # At false positive rate 0 precision is 1.
    ends = np.where(start + bend > 0, start + bend, 1)
    areas: Array = 1 / positives - bend * np.log1p(1 / positives / ends)
    return areas


def _greatest(values: "Array") -> float:
    """Greatest sum of one value per row over non-decreasing columns."""
    best = np.zeros(values.shape[1])
    for row in values:
        best = np.maximum.accumulate(best + row)
    return float(best[-1])


def _least(area: float) -> float:
    """The least AUPREC, which depends on λ and the AUC by λ(1 − AUC) alone."""
    from scipy.optimize import brentq

    if area >= RISING:
        return 4 / (9 * (area + 0.5))
    if area < _area(FIRST_TURN):
        return 1 - area * log1p(1 / area) if area > 0 else 1.0
    turn = brentq(lambda turn: _area(turn) - area, FIRST_TURN, 1, xtol=1e-15)
    level = _level(turn)
    rising = 2 / 3 * turn**2 / (level + turn)
    return float(rising + 1 - turn - level * log((1 + level) / (turn + level)))


def _area(turn: float) -> float:
    """∫ λf dt of the curve that rises up to the recall `turn` and is level beyond."""
    level = _level(turn)
    return 2 / 3 * (level + turn) * turn - turn**2 / 2 + level * (1 - turn)


def _level(turn: float) -> float:
    """λf beyond the recall `turn`: there its mean slope equals the slope before."""
    from scipy.optimize import brentq

    def excess(level: float) -> float:
        mean = log((1 + level) / (turn + level)) - level * (1 - turn) / (1 + level) / (turn + level)
        return mean - (1 - turn) * turn / (turn + level) ** 2

    if turn > LAST_TURN:
        return 1 - 2 / 3 * (1 - turn)
    return float(brentq(excess, turn * 1e-9, 1, xtol=1e-15))
