"""Bounds on AUPREC given the AUC."""

from math import log, log1p

from scipy.optimize import brentq

# λ(1 − AUC) above which the curve of least AUPREC rises over all recalls.
RISING = 5 / 6
# Turning recalls beyond which differences of logarithms lose precision.
FIRST_TURN, LAST_TURN = 1e-12, 1 - 1e-4


def auprec_bounds(auc: float, prior: float) -> tuple[float, float]:
    """The least and the greatest AUPREC that a ROC curve with a given AUC can have.

    The AUC is from 0.5 to 1. The bounds hold for every complete ROC curve, and as well for means of
    AUC and AUPREC over several, since the least is convex in the AUC and the greatest concave.

    Let f(t) be the false positive rate at recall t: never falling, with ∫ f dt = 1 − AUC = m. The
    loss 1 − precision = λf/(t + λf) is concave in f and falls in t. So it is least, for a given
    m, where f is 0 up to recall 1 − m and 1 beyond, which loses λ ln((1 + λ)/(1 − m + λ)). It is
    greatest where its slope λt/(t + λf)² is the same everywhere, on f = c√t − t/λ; beyond the
    recall where that would fall, the greatest is on a constant f, whose mean slope is that of the
    rising part.
    """
    skew = (1 - prior) / prior
    greatest = 1 - skew * log1p((1 - auc) / (auc + skew))
    return _least(skew * (1 - auc)), greatest


def _least(area: float) -> float:
    """The least AUPREC, which depends on λ and the AUC by λ(1 − AUC) alone."""
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

    def excess(level: float) -> float:
        mean = log((1 + level) / (turn + level)) - level * (1 - turn) / (1 + level) / (turn + level)
        return mean - (1 - turn) * turn / (turn + level) ** 2

    if turn > LAST_TURN:
        return 1 - 2 / 3 * (1 - turn)
    return float(brentq(excess, turn * 1e-9, 1, xtol=1e-15))
