"""Threshold-selection rules: admissible points and objective."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import polars as pl

from polaroc import rates
from polaroc.base.checks import is_number, shortened
from polaroc.base.columns import within
from polaroc.base.statistics import ROUNDING
from polaroc.curves.segments import segment_of_counts
from polaroc.errors import InvalidArgument, example
from polaroc.predictions.row_checks import SCORE, UNRANKED
from polaroc.predictions.table import one_class_note
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import range_of, skew_at
from polaroc.priors.in_use import AT_AN_END, NOT_ESTIMATED
from polaroc.typing import Prior, Priors

Rule: TypeAlias = Literal[
    "balanced", "cost", "posterior", "recall", "precision", "fpr", "f_measure", "informedness",
    "youden", "threshold", "max_recall", "capacity",
]  # fmt: skip
RULES: tuple[Rule, ...] = get_args(Rule)
NEEDS_TARGET = {
    "recall": (0, 1), "precision": (0, 1), "fpr": (0, 1), "capacity": (0, 1), "threshold": None,
}  # fmt: skip
# Usual targets, for a hint.
TARGETS = {"recall": 0.9, "precision": 0.8, "fpr": 0.05, "capacity": 0.05}
# Rules whose objective does not depend on the prior, or is linear in it.
WEIGHING_RULES: tuple[Rule, ...] = ("cost", "posterior")
OVER_A_RANGE = (
    "cost", "recall", "precision", "fpr", "capacity", "max_recall", "informedness", "youden",
    "threshold",
)  # fmt: skip
# Rules that choose among the thresholds that keep constraints.
CONSTRAINED = (
    "cost", "recall", "precision", "fpr", "capacity", "max_recall", "informedness", "youden",
    "f_measure",
)  # fmt: skip


@dataclass(frozen=True)
class ThresholdRule:
    """The admissible points of a curve, and the objective whose maximum selects one.

    Among equals, the highest threshold is taken. Cases at the threshold itself are called
    positive with probability `share`; `lack` notes that no point is admissible.
    """

    admissible: pl.Expr
    objective: pl.Expr
    share: pl.Expr = field(default_factory=lambda: pl.lit(1.0))
    lack: str = "no such point"


def rules(
    keys: Sequence[str],
    target: float,
    cost_fn: float,
    cost_fp: float,
    beta: float,
    score_prior: Prior,
) -> dict[str, Callable[[], ThresholdRule]]:
    """Each rule by name."""
    t, f, skewed, threshold = (pl.col(name) for name in ("tpr", "fpr", "skew", SCORE))
    t0, f0, t1, f1, dt, df, *_ = segment_of_counts()
    everything = pl.lit(True)
    early = -(pl.col("tp") + pl.col("fp"))
    balanced = ((1 - t0) - skewed * f0) / (dt + skewed * df)
    right_at = skew_at(score_prior, pl.col("positives"), pl.col("negatives"), "score_prior")
    odds = cost_fp / cost_fn * skewed / right_at
    posterior = odds / (1 + odds)
    informedness = ThresholdRule(everything, rates.informedness(t, f, skewed))
    are_shares = (threshold.min() >= 0) & (threshold.max() <= 1)
    # A precision of 3/4 may be computed as the float just below 0.75.
    at_least, at_most = target * (1 - ROUNDING), target * (1 + ROUNDING)

    return {
        "balanced": lambda: ThresholdRule((1 - t1 <= skewed * f1) & (dt + df > 0), early, balanced),
        "cost": lambda: ThresholdRule(
            everything, -rates.loss(t, f, skewed, cost_fn=cost_fn, cost_fp=cost_fp)
        ),
        "posterior": lambda: ThresholdRule(
            (threshold >= posterior * (1 - ROUNDING)).fill_null(True) & within(are_shares, keys),
            -early,
            lack="scores are not probabilities",
        ),
        "recall": lambda: ThresholdRule(t >= at_least, early),
        "precision": lambda: ThresholdRule(
            pl.col("precision") >= at_least, t, lack="no point has such precision"
        ),
        "fpr": lambda: ThresholdRule(f <= at_most, t),
        "f_measure": lambda: ThresholdRule(everything, rates.f_measure(t, f, skewed, beta=beta)),
        "informedness": lambda: informedness,
        "youden": lambda: informedness,
        "threshold": lambda: ThresholdRule((threshold >= target).fill_null(True), -early),
        "capacity": lambda: ThresholdRule(rates.posfrac(t, f, skewed) <= at_most, t),
        "max_recall": lambda: ThresholdRule(everything, t),
    }


def constrained_rule(rule: ThresholdRule, name: str, kept: pl.Expr) -> ThresholdRule:
    """A rule among the points that keep constraints, the one on its own target with them."""
    calls_any = pl.lit(True) if name in ("cost", "f_measure") else pl.col("tpr") > 0
    return replace(rule, admissible=kept & calls_any)


def priors_of(priors: Priors | None, over: object) -> Priors:
    """The priors at which thresholds are chosen; of a range its mean, in which costs are linear."""
    if over is None:
        return "observed" if priors is None else priors
    if priors is not None:
        raise InvalidArgument(
            "priors and over are both given, allowed is one of the two.",
            hint="give over=(0.05, 0.20) for a range, priors=[0.05] for single priors.",
        )  # fmt: skip
    return over.mean if isinstance(over, Belief) else sum(range_of(over)) / 2


def lack_of_curve() -> pl.Expr:
    """Note on what a curve or its prior lacks, else null."""
    positives, negatives = pl.col("positives"), pl.col("negatives")
    return (
        pl.when(positives.is_null())
        .then(pl.lit(UNRANKED))
        .when(one_class_note(positives, negatives).is_not_null())
        .then(one_class_note(positives, negatives))
        .when(pl.col("prior").is_null())
        .then(pl.lit(NOT_ESTIMATED))
        .when(pl.col("skew").is_null())
        .then(pl.lit(AT_AN_END))
    )


def check_target(rule: str, target: float | None) -> None:
    """Raise on a target that the rule does not use, or on a missing one."""
    if rule not in NEEDS_TARGET:
        if target is not None:
            raise InvalidArgument(
                f"target is {shortened(target)}, but the rule {rule!r} aims at nothing.",
                hint="leave it out.",
            )
        return
    bounds = NEEDS_TARGET[rule]
    inside = is_number(target) and (bounds is None or bounds[0] <= target <= bounds[1])
    if not inside:
        wanted = "a number" if bounds is None else "a share from 0 to 1"
        raise InvalidArgument(
            f"target is {target!r}, but the rule {rule!r} needs {wanted}.",
            hint=example("target", TARGETS.get(rule, 0.5)),
        )
