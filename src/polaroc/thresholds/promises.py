"""Thresholds whose true rates keep constraints with a stated probability (learn then test).

**One threshold.** Each constraint is a half-plane of ROC space, a·t + b·f + c ≥ 0. The hypothesis
that a threshold breaks it has the p-value P(a·T + b·F + c < 0), where T and F have the independent
Beta distributions behind the limits of Clopper and Pearson (1934), on the side that is worse for
the constraint. Of one rate, p ≤ δ says that its exact one-sided limit keeps the constraint; of both
rates, that the melded limit does (Fay, Proschan and Brittain 2015).

**All thresholds of a curve.** They are tested in a fixed order (Angelopoulos et al. 2021), each at
the full error rate: of a constraint on recall from the lowest threshold upwards, of one on false
alarms or on the share of cases called positive from the highest downwards, of others from the
threshold where they are most likely kept, in both directions. A sequence of tests ends at the first
with p > δ. A threshold is promised if no sequence ended at it or before.

**Why the promises hold at once.** Take the sequences that go upwards, and of all thresholds that
break the constraint of such a sequence beyond its start the lowest, u. To promise any of them, the
sequence of the constraint that u breaks has to pass u, and the test at u is wrong with probability
δ at most. The same holds downwards. So each direction has the error rate δ, or half of it where
there are both. Of several models, any of which may be picked, each has δ over their number.

The argument takes the starts as fixed. Those in the middle are where the table calls a given share
of cases positive, so that promises of precision, npv, accuracy, error and informedness rest on
simulation, too (``just simulate promises_tables``).
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import PRIOR_LIMITS, private, within
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.predictions.cases import Cases
from polaroc.priors.in_use import NO_INTERVAL, within_unit
from polaroc.thresholds.rate_limits import EFFECTS, FEW_CLUSTERS, with_effects
from polaroc.thresholds.rules import LIMITED, Constraints
from polaroc.typing import Array

PROMISED, LACK, MODELS = private("promised"), private("lack"), private("models")
NOT_PROMISED = "no threshold can be promised: "
# If there are more thresholds, only those are tested whose log-odds of the share of cases called
# positive differ by a step.
MOST, STEP = 2_000, 0.01
# Nodes of the quadrature over one of the two rates: p is exact to 1e-4.
NODES = 12
TESTS_AT_ONCE = 50


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


def promised(sample: Sample, constraints: Constraints, row_skew: float, delta: float) -> Array:
    """Whether each threshold keeps the constraints, all of them at once with probability 1 − δ.

    `row_skew` is the skew at which they are kept if they have no range of priors.
    """
    # The first row calls nothing positive, so that its rates are known without a test.
    is_called = sample.tp + sample.fp > 0
    share = sample.share(sample.positives / (sample.positives + sample.negatives))
    with np.errstate(divide="ignore"):
        step = np.floor(np.log(share / (1 - share).clip(1e-15)) / STEP)
    step = step if len(step) > MOST else np.arange(len(step))
    tested = np.flatnonzero(is_called & (np.diff(step, append=inf) > 0))
    at = replace(sample, tp=sample.tp[tested], fp=sample.fp[tested])
    middle = 1 / (1 + row_skew) if constraints.ends is None else sum(constraints.ends) / 2
    starts = {name: LIMITED[name].start(middle) for name in constraints.limits}
    both_ways = min(starts.values()) < 1 and max(starts.values()) > 0
    error = delta / 2 if both_ways else delta
    passed = np.ones(len(tested), bool)
    for name, share_called in starts.items():
        planes = constraints.half_planes(name, row_skew)
        prior = middle if LIMITED[name].by_prior else 0.5
        start = int(np.abs(at.share(prior) - share_called).argmin())
        for walk in (np.arange(start, -1, -1), np.arange(start, len(tested))):
            # In parts, since most sequences of tests end early.
            for first in range(0, len(walk), TESTS_AT_ONCE):
                rows = walk[first : first + TESTS_AT_ONCE]
                part = replace(at, tp=at.tp[rows], fp=at.fp[rows])
                chance = np.max([chance_broken(part, *plane) for plane in planes], axis=0)
                if (chance > error).any():
                    passed[walk[first + int((chance > error).argmax()) :]] = False
                    break
    nothing_called = np.all(constraints.kept(0.0, 0.0, row_skew))
    result: Array = ~is_called & nothing_called
    result[tested] = passed
    return result


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
        above: Array = 1 - betainc(*of_fpr, np.clip(c / -b, 0, 1))[:, 0]
        return above
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES) if b else (np.zeros(1), np.ones(1))
    rates = betaincinv(*of_fpr, ndtr(nodes)) if b else np.zeros((1, 1))
    recall = (-(b * rates + c) / a).clip(0, 1)
    tp = sample.tp[:, None]
    missed = sample.positives - tp
    if a > 0:
        below = betainc(np.maximum(tp, tiny), missed + 1, recall)
    else:
        below = 1 - betainc(tp + 1, np.maximum(missed, tiny), recall)
    chance: Array = below @ (weights / weights.sum())
    return chance


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
        is_promised = promised(sample, at_ends, row_skew, (1 - confidence) / first[MODELS])
        if not is_promised[tp + fp > 0].any():
            t, f = tp / sample.positives, fp / sample.negatives
            keeps = np.all(at_ends.kept(t, f, row_skew), axis=0) & (t > 0)
            why = "none keeps the constraints on this table"
            if keeps.any():
                why = f"{positives:,} positives and {negatives:,} negatives are too few"
            lack = f"{NOT_PROMISED}{why}"
    return curve.with_columns(pl.Series(PROMISED, is_promised), pl.lit(lack, pl.String).alias(LACK))


def check_promising(curve_or_cases: Cases[Any] | pl.DataFrame | pl.LazyFrame) -> None:
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
        has_weights = not curve_or_cases.lazy().collect_schema()["tp"].is_integer()
    if has_weights:
        raise InvalidPredictions(
            "there are weights, and a promise counts cases: where weights depend on scores it "
            "would be broken in up to seven of ten samples.",
            hint="leave confidence out; or name as count a column of the cases per row.",
        )
