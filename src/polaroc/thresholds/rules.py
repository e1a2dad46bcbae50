"""Rules for the threshold: an objective each, and the arguments that it takes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl

from polaroc import rates
from polaroc.base.columns import within
from polaroc.base.statistics import ROUNDING
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.grids import skew_at
from polaroc.typing import Prior

T, F, SKEW = pl.col("tpr"), pl.col("fpr"), pl.col("skew")
CALLED = pl.col("tp") + pl.col("fp")


class Options(NamedTuple):
    """The arguments of `operating_points` that objectives depend on, and the keys of the curves."""

    keys: Sequence[str]
    target: float | None
    cost_fn: float
    cost_fp: float
    beta: float
    score_prior: Prior


class ThresholdRule(NamedTuple):
    """A rule for the threshold.

    Attributes
    ----------
    objective
        Expression over a surface whose maximum is selected, of equals the highest threshold;
        points where it is null are not.
    limits
        Rate that the target of the rule limits, if any.
    needs_one_prior
        Whether it has no meaning over a range of priors.
    takes_constraints
        Whether it chooses among the thresholds that keep constraints.
    may_call_none
        Whether calling nothing positive is a choice.
    weighs
        Whether it depends on costs.
    """

    objective: Callable[[Options], pl.Expr]
    limits: str | None = None
    needs_one_prior: bool = False
    takes_constraints: bool = True
    may_call_none: bool = False
    weighs: bool = False


def _posterior(options: Options) -> pl.Expr:
    """The cases that are called where it pays, null where scores are no probabilities."""
    score, (positives, negatives) = pl.col(SCORE), map(pl.col, ("positives", "negatives"))
    right_at = skew_at(options.score_prior, positives, negatives, "score_prior")
    odds = options.cost_fp / options.cost_fn * SKEW / right_at
    are_probabilities = within((score.min() >= 0) & (score.max() <= 1), options.keys)
    pays = (score >= odds / (1 + odds) * (1 - ROUNDING)).fill_null(True)
    return pl.when(pays & are_probabilities).then(CALLED)


INFORMEDNESS = ThresholdRule(lambda options: T - F, may_call_none=True)
MAX_RECALL = ThresholdRule(lambda options: T)
RULES = {
    "balanced": ThresholdRule(
        lambda options: -(1 - T - SKEW * F).abs(),
        needs_one_prior=True, takes_constraints=False, may_call_none=True,
    ),
    "cost": ThresholdRule(
        lambda options: -rates.loss(T, F, SKEW, cost_fn=options.cost_fn, cost_fp=options.cost_fp),
        may_call_none=True, weighs=True,
    ),
    "posterior": ThresholdRule(
        _posterior,
        needs_one_prior=True, takes_constraints=False, may_call_none=True, weighs=True,
    ),
    "recall": ThresholdRule(lambda options: -CALLED, limits="recall"),
    "precision": MAX_RECALL._replace(limits="precision"),
    "fpr": MAX_RECALL._replace(limits="fpr"),
    "capacity": MAX_RECALL._replace(limits="posfrac"),
    "max_recall": MAX_RECALL,
    "f_measure": ThresholdRule(
        lambda options: rates.f_measure(T, F, SKEW, beta=options.beta),
        needs_one_prior=True, may_call_none=True,
    ),
    "informedness": INFORMEDNESS,
    "youden": INFORMEDNESS,
    "threshold": ThresholdRule(
        lambda options: pl.when((pl.col(SCORE) >= options.target).fill_null(True)).then(CALLED),
        takes_constraints=False, may_call_none=True,
    ),
}  # fmt: skip
