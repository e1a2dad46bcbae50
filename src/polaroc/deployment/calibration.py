"""Test of calibration: whether scores are posteriors of the labelled cases."""

from math import erfc, exp, sqrt

from polaroc.deployment.estimators import Labelled
from polaroc.typing import Array

# Significance level of the calibration test.
FALSE_ALARMS = 0.01
LEAST = 1e-16
NO_SPREAD = 1e-20


def miscalibration_note(labelled: Labelled) -> str | None:
    """A note on scores from 0 to 1 that are not calibrated, None if no such evidence is found.

    The score test, with two degrees of freedom, of intercept 0 and slope 1 in a logistic
    regression of the truth on the logit of the score (Cox, 1958; Miller, Hui and Tierney, 1991).
    A score of 0 for a positive, or of 1 for a negative, is evidence without a test.
    """
    score, pos, size = labelled.score, labelled.pos, labelled.pos + labelled.neg
    impossible = float(pos[score == 0].sum() + labelled.neg[score == 1].sum())
    if impossible > 0:
        return f"scores of 0 or 1 are wrong for {impossible:g} cases, so not posteriors"
    inner = (score > 0) & (score < 1)
    p_value, slope = _recalibration(score[inner], pos[inner], size[inner])
    if p_value >= FALSE_ALARMS:
        return None
    figures = [] if slope is None else [f"calibration slope {slope:.2g}"]
    figures += [
        f"mean {size @ score / size.sum():.2g} for a share of positives of "
        f"{pos.sum() / size.sum():.2g}",
        f"p = {p_value:.1g}" if p_value > LEAST else f"p < {LEAST:g}",
    ]
    return f"scores seem not to be posteriors ({', '.join(figures)})"


def _recalibration(score: "Array", pos: "Array", size: "Array") -> tuple[float, float | None]:
    """The p-value of the score test; the slope if the p-value is small and the slope finite."""
    import numpy as np

    variance = size * score * (1 - score)
    if variance.sum() == 0:
        return 1.0, None
    excess, logit = pos - size * score, np.log(score) - np.log1p(-score)
    statistic = float(excess.sum() ** 2 / variance.sum())
    centred = logit - variance @ logit / variance.sum()
    spread = float(variance @ centred**2)
    if spread <= NO_SPREAD * float(variance @ logit**2):
        return erfc(sqrt(statistic / 2)), None
    p_value = exp(-(statistic + float(excess @ centred) ** 2 / spread) / 2)
    return p_value, _slope(logit, pos, size) if p_value < FALSE_ALARMS else None


def _slope(logit: "Array", pos: "Array", size: "Array") -> float:
    """Of the logistic regression of the truth on the logit of the score."""
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit

    terms = np.stack([np.ones_like(logit), logit])

    def loss(line: "Array") -> tuple[float, "Array"]:
        at = line @ terms
        value = size @ np.logaddexp(0, at) - pos @ at
        return float(value) / size.sum(), terms @ (size * expit(at) - pos) / size.sum()

    return float(minimize(loss, np.array([0.0, 1.0]), jac=True, method="BFGS").x[1])
