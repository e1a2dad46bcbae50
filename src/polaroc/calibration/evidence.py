"""Evidence on the calibration of scores that are probabilities, from the cases of one test set."""

from dataclasses import replace

from polaroc.base.lazy import np
from polaroc.calibration.score_test import fitted_intercept, fitted_line
from polaroc.typing import Array
from polaroc.uncertainty.evidence import FITTED, Evidence
from polaroc.uncertainty.influence import CaseInfluence
from polaroc.uncertainty.scored_cases import ScoredCases
from polaroc.uncertainty.test_sets import ALL_ALIKE, of_influences

# The logarithm of the first is what has an evidence.
CALIBRATION = ("observed_over_expected", "calibration_in_the_large", "calibration_slope")


def of_calibration(cases: ScoredCases) -> Evidence:
    """Evidence on the calibration of one model: its `CALIBRATION`, NaN where they are not known.

    Unlike that of areas it is about other samples of cases, in which the share of positives varies,
    too: the cases that come to be positive are what calibration is about.

    Parameters
    ----------
    cases
        Those of one model; its scores are in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> score, truth = np.array([0.8, 0.6, 0.4, 0.2]), np.array([True, False, True, False])
    >>> own = ScoredCases((), ["all"], [score], [truth], None, True)
    >>> round(float(of_calibration(own).estimates[2, 0]), 2)
    1.1
    """
    ((score, truth, given),) = cases.by_model
    weight = np.ones(len(score)) if given is None else given
    estimates = np.full(len(CALIBRATION), np.nan)
    moved = np.full((len(CALIBRATION), len(score)), np.nan)
    observed, expected = weight @ truth, weight @ score
    if observed > 0 and expected > 0:
        estimates[0] = np.log(observed / expected)
        moved[0] = truth / observed - score / expected
    intercept = fitted_intercept(score, weight * truth, weight * ~truth)
    if intercept is not None:
        estimates[1] = intercept
        moved[1] = _moved_by_cases(score, truth, weight, (intercept, 1.0), free=1)[0]
    line = fitted_line(score, weight * truth, weight * ~truth)
    if line is not None:
        estimates[2] = line[1]
        moved[2] = _moved_by_cases(score, truth, weight, line, free=2)[1]
    # As each case moves the estimate, per unit of weight and times the cases of its class.
    of_classes = (moved[:, own] * weight[own].sum() for own in (truth, ~truth))
    evidence = of_influences(cases, [CaseInfluence(estimates, *of_classes)], FITTED, ALL_ALIKE)
    if cases.share_clusters or cases.unequal_weights is not None:
        units = evidence.moved
        if units is None:
            return evidence
        # Few large clusters, or weights, tell the variance of a line no better than so few do.
        each = [units.freedom([part[place, 0] for part in units.parts]) for place in (1, 2)]
        return replace(evidence, freedom=min(evidence.freedom, *each))
    return replace(evidence, freedom=max(min(cases.of_class) - 1.0, 0.0))


def estimates_and_limits(evidence: Evidence, level: float) -> "Array":
    """The `CALIBRATION` that an evidence is on, in columns, and its lower and upper limits.

    Examples
    --------
    >>> import numpy as np
    >>> score, truth = np.array([0.8, 0.6, 0.4, 0.2]), np.array([True, False, True, False])
    >>> own = ScoredCases((), ["all"], [score], [truth], None, True)
    >>> estimates_and_limits(of_calibration(own), 0.5)[:, 2].round(2).tolist()
    [1.1, 0.01, 2.19]
    """
    ends = np.stack([evidence.estimates, *evidence.limits(level)])[:, :, 0]
    ends[:, 0] = np.exp(ends[:, 0])
    return ends


def _moved_by_cases(
    score: "Array", truth: "Array", weight: "Array", line: tuple[float, float], free: int
) -> "Array":
    """How far each case moves the parameters of a logistic regression on the log-odds.

    The first of intercept and slope are `free`; a slope that is not is fixed.
    """
    inner = (score > 0) & (score < 1)
    logit = np.log(score[inner]) - np.log1p(-score[inner])
    terms = np.stack([np.ones_like(logit), logit])[:free]
    fitted = 1 / (1 + np.exp(-(line[0] + line[1] * logit)))
    information = (terms * weight[inner] * fitted * (1 - fitted)) @ terms.T
    moved = np.zeros((free, len(score)))
    moved[:, inner] = np.linalg.solve(information, terms * (truth[inner] - fitted))
    return moved
