"""Thresholds whose true rates keep constraints with a stated probability (learn then test).

**One threshold.** Each constraint is a half-plane of ROC space, a·t + b·f + c ≥ 0. The hypothesis
that a threshold breaks it has the p-value P(a·T + b·F + c < 0), where T and F have the independent
Beta distributions behind the limits of Clopper and Pearson (1934), on the side that is worse for
the constraint. Of one rate, p ≤ δ says that its exact one-sided limit keeps the constraint; of both
rates, that the melded limit does (Fay, Proschan and Brittain 2015).

**All thresholds of a curve.** Limits that are kept most easily with few alarms (`Limited.easiest`)
are tested together, by the largest p, in a sequence from the highest threshold downwards; those
that are kept with many alarms in one from the lowest upwards; those between in two sequences, one
of which has to pass. The sequences share the error rate δ evenly. A threshold is promised if it
passes for each of these kinds of limits.

A sequence is a fallback procedure (Wiens 2003; Wiens and Dmitrienko 2005). Each of its starts has
a share of its error rate. A threshold is tested at the level that is carried to it. If it passes,
the level is carried on, and at each start the share of that start is added; if it fails, the level
is lost, and testing goes on at the next start. With one start at its first threshold it is a test
in a fixed order (Angelopoulos et al. 2021). The best precision is that of so few alarms that it is
not known, so its sequence has starts where P/2, P/4, P/8, … of the table's cases are called
positive, while the limit allows for at least `LEAST` false alarms there; npv likewise, where N/2,
N/4, … are not. Each of these has half the share of the one named before it.

**Why the promises hold at once.** Let a threshold that breaks a limit be the first in its sequence
to pass. Those that break it before have failed, so its level is at most the sum of the shares since
the last of them. These sums are of different starts for different thresholds: the probability that
any passes is at most the error rate of the sequence, whatever the curve. Of several models, any of
which may be picked, each has δ over their number.

The argument takes the starts as fixed. Those of precision, npv, accuracy, error and informedness
are where the table calls a given share of cases positive, so that promises of them rest on
simulation, too (``just simulate promises_tables``).
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import PRIOR_LIMITS, private, within
from polaroc.errors import InvalidArgument, NotSupported
from polaroc.predictions.cases import Cases
from polaroc.priors.in_use import NO_INTERVAL, within_unit
from polaroc.thresholds.rate_limits import EFFECTS, FEW_CLUSTERS, with_effects
from polaroc.thresholds.rules import LIMITED, Constraints
from polaroc.typing import Array, PolarsFrame

PROMISED, LACK, MODELS = private("promised"), private("lack"), private("models")
NOT_PROMISED = "no threshold can be promised: "
# If there are more thresholds, only those are tested whose log-odds of the share of cases called
# positive differ by a step.
MOST, STEP = 2_000, 0.01
# Nodes of the quadrature over one of the two rates: p is exact to 1e-4.
NODES = 12
TESTS_AT_ONCE = 50
# Directions of the sequences of each kind of limits, by the place of thresholds, the highest first.
DIRECTIONS = {"few": (1,), "many": (-1,), "some": (1, -1)}
# Cases are too few if so many times as many with the same rates have a promise.
MANY = 100
# False alarms, or misses, that a limit has to allow for at a start beyond the first.
LEAST = 5


@dataclass(frozen=True)
class Sample:
    """The cases called positive at each threshold of a curve, the highest first, and the totals.

    Of clusters they are effective numbers of independent cases.
    """

    tp: Array
    fp: Array
    positives: float
    negatives: float

    def share(self, prior: float) -> Array:
        """The share of cases called positive at a prior."""
        return prior * self.tp / self.positives + (1 - prior) * self.fp / self.negatives

    @property
    def prior(self) -> float:
        """The share of positives among the cases."""
        return self.positives / (self.positives + self.negatives)


def promised(sample: Sample, constraints: Constraints, row_skew: float, delta: float) -> Array:
    """Whether each threshold keeps the constraints, all of them at once with probability 1 − δ.

    `row_skew` is the skew at which they are kept if they have no range of priors.
    """
    # The first row calls nothing positive, so that its rates are known without a test.
    is_called = sample.tp + sample.fp > 0
    share = sample.share(sample.prior)
    with np.errstate(divide="ignore"):
        step = np.floor(np.log(share / (1 - share).clip(1e-15)) / STEP)
    step = step if len(step) > MOST else np.arange(len(step))
    tested = np.flatnonzero(is_called & (np.diff(step, append=inf) > 0))
    at = replace(sample, tp=sample.tp[tested], fp=sample.fp[tested])
    kinds = {LIMITED[name].easiest for name in constraints.limits}
    error = delta / sum(len(DIRECTIONS[kind]) for kind in kinds)
    passed = np.ones(len(tested), bool)
    for kind in kinds:
        names = [name for name in constraints.limits if LIMITED[name].easiest == kind]
        planes = [plane for name in names for plane in constraints.half_planes(name, row_skew)]
        starts = _starts(at, kind, names, constraints, row_skew)
        passed &= np.any(
            [_passed(at, planes, starts, way, error) for way in DIRECTIONS[kind]], axis=0
        )
    nothing_called = np.all(constraints.kept(0.0, 0.0, row_skew))
    result: Array = ~is_called & nothing_called
    result[tested] = passed
    return result


def _starts(
    at: Sample, kind: str, names: list[str], constraints: Constraints, row_skew: float
) -> list[int]:
    """The places where the sequences of a kind of limits start."""
    # At the first start `most` is the share of cases called, or not called, then half of it, …
    errors, most = 0.0, 0.5
    if kind == "some":
        if any(LIMITED[name].by_prior for name in names):
            most = 1 / (1 + row_skew) if constraints.ends is None else sum(constraints.ends) / 2
            # Fewer cases lose more by sharing the error rate than they win.
            errors = at.positives / 10
        share = at.share(most)
    else:
        few = kind == "few"
        name = "precision" if few else "npv"
        if name not in names:
            return [0 if few else len(at.tp) - 1]
        # Of the cases called, or not called, the share of errors where the limit is just kept.
        planes = constraints.half_planes(name, row_skew)
        false = [a * at.negatives / (a * at.negatives - b * at.positives) for a, b, _ in planes]
        errors = at.positives * min(false) if few else at.negatives * (1 - max(false))
        share, most = at.share(at.prior), at.prior / 2
        if not few:
            share, most = 1 - share, (1 - at.prior) / 2
    count = int(np.log2(max(errors / LEAST, 2)))
    return [int(np.abs(share - most / 2**k).argmin()) for k in range(count)]


def _passed(
    at: Sample, planes: list[tuple[Any, ...]], starts: list[int], way: int, error: float
) -> Array:
    """The thresholds that pass in a sequence of tests, downwards (1) or upwards (−1)."""
    passed, order = np.zeros(len(at.tp), bool), np.arange(len(at.tp))[::way]
    shares = np.bincount(starts, 0.5 ** np.arange(len(starts)), len(order))[order]
    shares, level = error * shares / shares.sum(), 0.0
    for start, stop in pairwise([*np.flatnonzero(shares), len(order)]):
        level += shares[start]
        # In parts, since most sequences of tests end early.
        for first in range(start, stop, TESTS_AT_ONCE):
            rows = order[first : min(first + TESTS_AT_ONCE, stop)]
            part = replace(at, tp=at.tp[rows], fp=at.fp[rows])
            is_broken = np.max([chance_broken(part, *plane) for plane in planes], axis=0) > level
            passed[rows] = ~np.logical_or.accumulate(is_broken)
            if is_broken.any():
                level = 0.0
                break
    return passed


# Tails that are 0 to any precision are no error, whatever NumPy is set to raise.
@np.errstate(under="ignore")
def chance_broken(sample: Sample, a: float, b: float, c: float) -> Array:
    """The chance, at each threshold, that true rates are not in the half-plane a·t + b·f + c ≥ 0.

    No half-plane is easier to keep with more false alarms: b ≤ 0.
    """
    from scipy.special import betainc, betaincinv, ndtr

    tiny = 1e-9
    # Beta(0, b) is a point mass at 0, and Beta(a, 0) one at 1.
    of_fpr = (sample.fp + 1)[:, None], np.maximum(sample.negatives - sample.fp, tiny)[:, None]
    if a == 0:
        return 1 - betainc(*of_fpr, np.clip(c / -b, 0, 1))[:, 0]
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES) if b else (np.zeros(1), np.ones(1))
    rates = betaincinv(*of_fpr, ndtr(nodes)) if b else np.zeros((1, 1))
    recall = (-(b * rates + c) / a).clip(0, 1)
    tp = sample.tp[:, None]
    missed = sample.positives - tp
    if a > 0:
        below = betainc(np.maximum(tp, tiny), missed + 1, recall)
    else:
        below = 1 - betainc(tp + 1, np.maximum(missed, tiny), recall)
    return below @ (weights / weights.sum())


def with_promises(
    points: pl.LazyFrame,
    cases: Cases[Any] | None,
    keys: list[str],
    groups: list[str],
    constraints: Constraints,
    confidence: float,
) -> pl.LazyFrame:
    """Curves by `keys`, at priors by `groups`, with whether a point is promised, or why none is."""
    models = pl.lit(1)
    # A table of curves does not say which of its keys are models.
    if cases is not None and cases.model is not None:
        rest = [name for name in keys if name != cases.model]
        models = within(pl.col(cases.model).n_unique(), rest)
    rows = with_effects(points, cases, keys).with_columns(models.alias(MODELS))
    return rows.group_by(groups, maintain_order=True).map_groups(
        lambda curve: _marked(curve, constraints, confidence),
        {**rows.collect_schema(), PROMISED: pl.Boolean(), LACK: pl.String()},
    )


def _marked(curve: pl.DataFrame, constraints: Constraints, confidence: float) -> pl.DataFrame:
    """A curve at a prior, with `EFFECTS` and `MODELS`; its points are marked."""
    first, is_promised, lack = curve.row(0, named=True), np.zeros(curve.height, bool), None
    row_skew, positives, negatives = (first[name] for name in ("skew", "positives", "negatives"))
    ends = [first[name] for name in PRIOR_LIMITS if name in first]
    effects = [first[name] for name in EFFECTS]
    if row_skew is None or None in ends:
        lack = NO_INTERVAL
    elif inf in effects:
        lack = f"{NOT_PROMISED}{FEW_CLUSTERS}"
    elif positives and negatives:
        # A promise at an estimated prior holds wherever in its interval the prior may be.
        at_ends = replace(constraints, ends=within_unit(*ends)) if ends else constraints
        tp, fp = (
            curve[name].to_numpy() / effect
            for name, effect in zip(("tp", "fp"), effects, strict=True)
        )
        sample = Sample(tp, fp, positives / effects[0], negatives / effects[1])
        error = (1 - confidence) / first[MODELS]
        is_promised = promised(sample, at_ends, row_skew, error)
        if not is_promised[tp + fp > 0].any():
            few = f"{positives:,} positives and {negatives:,} negatives are too few"
            lack = f"{NOT_PROMISED}{_why_none(sample, at_ends, row_skew, error) or few}"
    return curve.with_columns(pl.Series(PROMISED, is_promised), pl.lit(lack, pl.String).alias(LACK))


def _why_none(sample: Sample, constraints: Constraints, row_skew: float, error: float) -> str:
    """The reason why no threshold is promised; "" where there are too few cases."""
    t, f = sample.tp / sample.positives, sample.fp / sample.negatives
    keeps = np.all(constraints.kept(t, f, row_skew), axis=0) & (t > 0)
    if not keeps.any():
        return "none keeps the constraints on this table"
    more = Sample(*(MANY * count for count in vars(sample).values()))
    if promised(more, constraints, row_skew, error)[sample.tp + sample.fp > 0].any():
        return ""
    return "too few keep the constraints on this table, or by too little"


def check_promising(curve_or_cases: Cases[Any] | PolarsFrame) -> None:
    """Raise for sampling weights, and for models of several folds: they allow no promise."""
    if isinstance(curve_or_cases, Cases):
        has_weights = curve_or_cases.weight is not None
        folds = curve_or_cases.rows.lazy().select(pl.col(curve_or_cases.fold).n_unique())
        if curve_or_cases.fold and folds.collect().item() > 1:
            raise InvalidArgument(
                "there are several folds, whose models are fitted anew: their thresholds promise "
                "nothing of the model in use.",
                hint="leave confidence out, or give predictions of one fitted model on cases of "
                "its own; or fold=None where one model scored them all.",
            )
    else:
        has_weights = not curve_or_cases.collect_schema()["tp"].is_integer()
    if has_weights:
        raise NotSupported(
            "operating_points(confidence=) does not support weight: a promise counts cases, and "
            "where weights depend on scores it would be broken in up to seven of ten samples.",
            hint="leave confidence out; or name as count a column of the cases per row.",
        )
