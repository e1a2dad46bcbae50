"""The score test of calibration: whether scores are posteriors of the labelled cases."""

from dataclasses import dataclass
from math import erfc, exp, sqrt

import numpy as np

from polaroc.base.rounding import p_in_words
from polaroc.probability.regression import calibration_fit
from polaroc.typing import Array

# Significance level of the note that `estimate_prior` makes.
FALSE_ALARMS = 0.01
NO_SPREAD = 1e-20
# Share of the information that is left where the prior of the scores is not estimated.
NO_INFORMATION = 1e-9


@dataclass(frozen=True)
class Recalibration:
    """A test of intercept 0 and slope 1, and the number of scores of 0 or 1 that are wrong.

    The statistic is χ² with `freedom` degrees of freedom; where the prior of the scores was
    estimated, `freedom` times F, with one degree less than the rarer class has cases.
    """

    statistic: float
    freedom: int
    p_value: float
    impossible: float = 0.0


def recalibration(
    score: "Array", pos: "Array", neg: "Array", *, fitted_prior: bool = False
) -> Recalibration:
    """The score test of intercept 0 and slope 1 in a logistic regression on the logit of the score.

    With `fitted_prior` the scores were re-weighted to the share of positives among these very
    cases: what the test knows of the intercept is then less by what it took to estimate it.
    """
    impossible = float(pos[score == 0].sum() + neg[score == 1].sum())
    if impossible > 0:
        return Recalibration(float("inf"), 1, 0.0, impossible)
    inner = (score > 0) & (score < 1)
    score, pos, size = score[inner], pos[inner], (pos + neg)[inner]
    variance = size * score * (1 - score)
    if variance.sum() == 0:
        return Recalibration(0.0, 0, 1.0)
    excess, logit = pos - size * score, np.log(score) - np.log1p(-score)
    # Centred, so that the information is diagonal where the prior is given.
    centred = logit - variance @ logit / variance.sum()
    spread = float(variance @ centred**2)
    total = float(variance.sum())
    fewest = np.inf
    if fitted_prior:
        share = pos.sum() / size.sum()
        fewest = min(float(pos.sum()), float((size - pos).sum())) - 1
        known = float(size.sum() * share * (1 - share))
        # Where scores between 0 and 1 are of one class, they tell nothing of the intercept.
        total -= total**2 / known if known else total
    statistic, freedom = 0.0, 0
    if total > NO_INFORMATION * variance.sum():
        statistic, freedom = float(excess.sum()) ** 2 / total, 1
    if spread <= NO_SPREAD * float(variance @ logit**2):
        return Recalibration(statistic, freedom, _p_value(statistic, freedom, fewest))
    statistic += float(excess @ centred) ** 2 / spread
    freedom += 1
    return Recalibration(statistic, freedom, _p_value(statistic, freedom, fewest))


def _p_value(statistic: float, freedom: int, fewest: float) -> float:
    """That of χ², or of F where few cases told the prior."""
    if not freedom:
        return 1.0
    if 0 < fewest < np.inf:
        from scipy.special import fdtrc

        return float(fdtrc(freedom, fewest, statistic / freedom))
    return exp(-statistic / 2) if freedom == 2 else erfc(sqrt(statistic / 2))


def miscalibration_note(score: "Array", pos: "Array", neg: "Array") -> str | None:
    """A note on scores from 0 to 1 that are not calibrated, None if no such evidence is found.

    Cox, 1958; Miller, Hui and Tierney, 1991. A score of 0 for a positive, or of 1 for a
    negative, is evidence without a test.
    """
    test = recalibration(score, pos, neg)
    if test.impossible > 0:
        return f"scores of 0 or 1 are wrong for {test.impossible:g} cases, so not posteriors"
    if test.p_value >= FALSE_ALARMS:
        return None
    size = pos + neg
    cells = np.arange(score.size)
    line = calibration_fit(
        np.concatenate([score, score]),
        np.repeat([True, False], score.size),
        np.concatenate([pos, neg]),
        np.concatenate([cells, cells]),
        free_slope=True,
    )
    figures = [] if line is None else [f"calibration slope {line.estimates[1]:.2g}"]
    figures += [
        f"mean {size @ score / size.sum():.2g} for a share of positives of "
        f"{pos.sum() / size.sum():.2g}",
        p_in_words(test.p_value),
    ]
    return f"scores seem not to be posteriors ({', '.join(figures)})"
