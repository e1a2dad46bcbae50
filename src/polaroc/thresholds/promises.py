"""Thresholds whose true rates keep constraints with a stated probability.

All constraints but one on the share of cases called positive have the form t ≥ g(f): a false
positive rate f asks for at least the recall g(f), g not decreasing; beyond the highest f allowed,
for a recall above 1. Let P positives and N negatives be independent cases, from whatever
distributions, and write K(s) and J(s) for the positives and negatives that score at least s, T(s)
and F(s) for the true rates.

*One least favourable curve.* Give each negative the uniform variable Uᵢ, its true false positive
rate with ties broken at random: it scores at least s exactly if Uᵢ ≤ F(s). Likewise Wᵢ of the
positives and T(s). So F(s) ≤ U₍J₊₁₎, the (J+1)-th least of the Uᵢ (1 for J = N). Where a
threshold breaks the constraints, T(s) < g(F(s)) ≤ g(U₍J₊₁₎), and so K(s) ≤ K⁰_{J+1}, with K⁰ⱼ the
number of Wᵢ ≤ g(U₍ⱼ₎). The process K⁰ depends on P, N and g alone. If P(K⁰ⱼ ≥ cⱼ for any j) ≤ δ,
then with probability 1 − δ *every* threshold with K(s) ≥ c_{J(s)+1} keeps the constraints, chosen
after all the data were seen or not, ties included. Rounding J + 1 up to a grid of indices keeps
the inequality.

*The boundary c.* Some draws of K⁰ give each index its own p-value, which makes all indices
equally likely to be crossed; 20,000 others give the level at which any of them is crossed with
probability δ. It is set as the k-th least of their least p-values, k the 0.001 quantile of a
binomial variable, so that more than δ has a probability of at most 0.001 over the draws, which
are the same each time. With recall alone K⁰ is one binomial variable, with the false positive
rate alone it is all or nothing: then c is the exact binomial limit.

*Share of cases called positive.* It falls as the threshold rises, so that the thresholds that
break π·T + (1−π)·F ≤ x are those at or below one of them, s*. Accepted are thresholds whose share
on the table is at most a; any of them breaks the limit only if the share at s* is at most a, too.
That has a probability of at most δ for every T(s*) and F(s*) with π·T + (1−π)·F ≥ x. At two
priors s* is the higher one, so nothing is added. With other constraints each of the two kinds has
half of δ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, floor, inf
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import HAS_BOTH, PRIOR_LIMITS, within
from polaroc.base.private_columns import PLACE, private
from polaroc.base.rounding import rounded_up
from polaroc.base.statistics import least_factor
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.predictions.cases import Cases
from polaroc.priors.in_use import NO_INTERVAL, within_unit
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.design_effects import EFFECTS, FEW_CLUSTERS, with_effects
from polaroc.typing import Array

PROMISED, LACK, PARTS = private("promised"), private("lack"), private("parts")
DRAWS, ROUGH_DRAWS, SHAPE_DRAWS = 20_000, 1_000, 5_000
# How likely it is that a boundary, for its draws, is crossed more often than it should be.
EXCEEDED = 0.001
# Neighbouring indices of the grid differ by this factor; more counts of positives are binned.
RATIO, MAX_COUNTS = 1.15, 2048
SEED = 24
# Recalls at which the least favourable one is sought, those at which what was found is checked,
# and the part of the error rate that is used: the worst recall may be between two of them.
RECALLS, MORE_RECALLS, USED = 49, 769, 0.995
MAX_STEPS, MAX_BINS, HALVINGS = 500, 96, 10
# Factors of the table's size up to which the cases needed are sought, how nearly, and thresholds
# that are tried.
MAX_TIMES, NEARLY, MAX_TRIED = 1024.0, 1.1, 100
# Factor up to which a number that few draws find is raised until all draws agree.
MAX_MORE = 4.0
ROOM = 1e-9


@dataclass(frozen=True)
class Sample:
    """The cases called positive at each threshold of a curve, by class, and the totals.

    Of clusters, `effects` are the design effects of both classes.
    """

    tp: Array
    fp: Array
    positives: int
    negatives: int
    effects: tuple[float, float] = (1.0, 1.0)

    @property
    def independent(self) -> tuple[Array, Array, int, int]:
        """Effective numbers of independent cases of both classes: the counts, and the totals."""
        of_pos, of_neg = self.effects
        # Copies give whole numbers but for rounding.
        positives, negatives = (
            int(size / effect + ROOM)
            for size, effect in zip((self.positives, self.negatives), self.effects, strict=True)
        )
        tp = np.floor(self.tp / of_pos + ROOM).astype(int).clip(max=positives)
        fp = np.ceil(self.fp / of_neg - ROOM).astype(int).clip(max=negatives)
        return tp, fp, positives, negatives


def names_of_models(cases: Cases[Any] | None) -> list[str]:
    """Names of the columns that tell the models apart, if any."""
    return [] if cases is None or cases.model is None else [cases.model]


def models_among(cases: Cases[Any] | None, keys: Sequence[str]) -> pl.Expr:
    """Number of models of each key; their promises hold together, so that any may be picked.

    Each of several models gets the error rate over their number, since a model may be picked just
    because its promise is broken (`just simulate promises_models`).
    """
    models = names_of_models(cases)
    rest = [name for name in keys if name not in models]
    return within(pl.struct(models).n_unique(), rest) if models else pl.lit(1)


def with_promises(
    points: pl.LazyFrame,
    cases: Cases[Any] | None,
    keys: list[str],
    groups: list[str],
    constraints: Constraints,
    confidence: float,
) -> pl.LazyFrame:
    """Add whether each point of a surface is promised to keep the constraints, and why none is.

    `points` are the curves of all cases at their priors, told apart by `keys`, and with the priors
    by `groups`.
    """
    with_clusters = with_effects(points, cases, keys)
    schema = with_clusters.drop(EFFECTS).collect_schema()

    def mark(rows: pl.DataFrame) -> pl.DataFrame:
        shared = rows.with_columns(models_among(cases, keys).alias(PARTS))
        return marked(shared, groups, constraints, 1 - confidence).drop(*EFFECTS, PARTS)

    # One curve is needed as a whole.
    return with_clusters.map_batches(
        mark, schema={**schema, PROMISED: pl.Boolean, LACK: pl.String},
        predicate_pushdown=False, projection_pushdown=False,
    )  # fmt: skip


def marked(
    points: pl.DataFrame, groups: Sequence[str], constraints: Constraints, delta: float
) -> pl.DataFrame:
    """Points with whether each is promised, and why none of a curve is.

    They have the `EFFECTS` of clusters, and `PARTS`: among how many δ, the error rate, is shared.
    """
    is_promised = np.zeros(points.height, dtype=bool)
    lack = np.full(points.height, None, dtype=object)
    curves = (
        points.with_row_index(PLACE)
        .filter(HAS_BOTH)
        .group_by(groups, maintain_order=True)
        .agg(pl.col("positives", "negatives", *EFFECTS, PARTS).first(), pl.col(PLACE, "tp", "fp"))
    )
    estimated = [name for name in PRIOR_LIMITS if name in groups]
    totals = curves.select("skew", "positives", "negatives", *EFFECTS, PARTS, *estimated).rows()
    for (own, positives, negatives, *rest), places, tp, fp in zip(
        totals, curves[PLACE], curves["tp"], curves["fp"], strict=True
    ):
        effects, error, interval = (rest[0], rest[1]), delta / rest[2], rest[3:]
        at = places.to_numpy()
        if own is None or None in interval:
            lack[at] = NO_INTERVAL
            continue
        if interval:
            # What is promised holds wherever an estimated prior may be.
            constraints = replace(constraints, ends=within_unit(*interval))
        if inf in effects:
            lack[at] = f"no threshold can be promised: {FEW_CLUSTERS}"
            continue
        sample = sample_of(tp.to_numpy(), fp.to_numpy(), positives, negatives, effects)
        result = promised(sample, constraints, own, error)
        is_promised[at] = result
        if not result.any():
            lack[at] = cases_needed(sample, constraints, own, error)
    return points.with_columns(
        pl.Series(PROMISED, is_promised), pl.Series(LACK, lack.tolist(), dtype=pl.String)
    )


def promising_cases(given: object, confidence: float | None) -> Cases[Any] | None:
    """The cases, where they are what is given; weights and folds promise nothing."""
    cases = given if isinstance(given, Cases) else None
    if cases is None or confidence is None:
        return cases
    if cases.weight is not None:
        raise weights_promise_nothing("cases have weights")
    if cases.fold and cases.rows.lazy().select(pl.col("fold").n_unique()).collect().item() > 1:
        raise InvalidArgument(
            "there are several folds, whose models are fitted anew: their thresholds promise "
            "nothing of the model in use.",
            hint="leave confidence out, or give predictions of one fitted model on cases of its "
            "own; or fold=None where one model scored them all.",
        )
    return cases


def weights_promise_nothing(found: str) -> InvalidPredictions:
    """The error for sampling weights."""
    return InvalidPredictions(
        f"{found}, and a promise counts cases: where weights depend on scores it would be broken "
        "in up to seven of ten samples.",
        hint="leave confidence out; or name as count a column that says how many cases a row is.",
    )


def sample_of(
    tp: Array, fp: Array, positives: float, negatives: float, effects: tuple[float, float]
) -> Sample:
    """The cases of a curve that something is promised by; sums of weights are refused."""
    if not all(np.issubdtype(counts.dtype, np.integer) for counts in (tp, fp)):
        raise weights_promise_nothing("the curve sums weights")
    return Sample(tp, fp, int(positives), int(negatives), effects)


def promised(
    sample: Sample, constraints: Constraints, own: float, delta: float, draws: int = DRAWS
) -> Array:
    """Whether each threshold keeps the constraints, all of them at once with probability 1 − δ."""
    lines = tuple((float(m), float(c)) for m, c in constraints.lines(own))
    capacity, cap = constraints.capacity, constraints.cap
    from_below, from_above = bool(lines) or cap < 1, capacity is not None
    delta = delta / 2 if from_below and from_above else delta
    tp, fp, positives, negatives = sample.independent
    kept = np.ones(len(tp), dtype=bool)
    if from_below:
        index, least = boundary(positives, negatives, lines, cap, delta, draws)
        kept &= tp >= least[np.searchsorted(index, fp + 1)]
    if capacity is not None:
        for skew in constraints.skews(own):
            prior = 1 / (1 + skew)
            share = prior * sample.tp / sample.positives
            share += (1 - prior) * sample.fp / sample.negatives
            kept &= share <= highest_share(positives, negatives, prior, capacity, delta)
    # Calling nothing positive is certain to do what it does.
    at_origin = not constraints.of_alarms and all(c <= 0 for _, c in lines)
    return np.where((sample.tp == 0) & (sample.fp == 0), at_origin, kept)


@lru_cache(maxsize=256)
def boundary(
    positives: int, negatives: int, lines: tuple[tuple[float, float], ...], cap: float,
    delta: float, draws: int = DRAWS,
) -> tuple[Array, Array]:  # fmt: skip
    """Indices j of negatives, and the least positives above the j-th negative that promise."""
    from scipy.stats import binom

    if not lines:
        # The most false alarms j − 1 that are too few for a higher rate than allowed.
        fewest = int(binom.ppf(delta, negatives, cap))
        most = fewest if binom.cdf(fewest, negatives, cap) <= delta else fewest - 1
        return np.array([most + 1, negatives + 1]), np.array([0, positives + 1])
    if cap >= 1 and all(slope == 0 for slope, _ in lines):
        recall = max(intercept for _, intercept in lines)
        least = int(binom.isf(delta, positives, recall)) + 1
        return np.array([negatives + 1]), np.array([least])
    return _simulated_boundary(positives, negatives, lines, cap, delta, draws)


def _simulated_boundary(
    positives: int, negatives: int, lines: Sequence[tuple[float, float]], cap: float,
    delta: float, draws: int,
) -> tuple[Array, Array]:  # fmt: skip
    from scipy.stats import binom

    draws = max(draws, ceil(20 / delta))
    # Rough draws are for how many cases are needed, about.
    safe = draws >= DRAWS
    rank = int(binom.ppf(EXCEEDED, draws, delta)) if safe else floor(delta * (draws + 1))
    index = index_grid(negatives)
    generator = np.random.default_rng(SEED)
    recalls = _least_recalls(index, lines, cap, draws + SHAPE_DRAWS, generator)
    # Where all recalls are needed, nothing can be promised.
    possible = recalls.min(axis=0) < 1
    counts = _counts_within(recalls[:, possible], positives, generator)
    width = positives // MAX_COUNTS + 1
    binned, bins = counts // width, positives // width + 1
    shape, crossing = binned[:SHAPE_DRAWS], binned[SHAPE_DRAWS:]
    at_least = [np.bincount(column, minlength=bins)[::-1].cumsum()[::-1] for column in shape.T]
    p_value = np.array(at_least, dtype=float).reshape(-1, bins)
    least_p = p_value[np.arange(len(p_value)), crossing].min(axis=1, initial=np.inf)
    below = p_value < (np.sort(least_p)[rank - 1] if rank else 0.0)
    least = np.full(len(index), positives + 1)
    least[possible] = np.where(below.any(axis=1), below.argmax(axis=1) * width, positives + 1)
    return index, least


def index_grid(negatives: int) -> Array:
    """Indices from 1 to N + 1 at equal ratios."""
    steps = [1]
    while steps[-1] <= negatives:
        steps.append(min(max(steps[-1] + 1, ceil(steps[-1] * RATIO)), negatives + 1))
    return np.array(steps)


def _least_recalls(
    index: Array, lines: Sequence[tuple[float, float]], cap: float, draws: int, generator: Any
) -> Array:
    """Draws of g(U) at uniform order statistics."""
    rates = _order_statistics(index, draws, generator)
    least = np.max([slope * rates + intercept for slope, intercept in lines], axis=0)
    return np.where(rates > cap, 1.0, least.clip(0, 1))


def _order_statistics(index: Array, draws: int, generator: Any) -> Array:
    """Draws of the uniform order statistics at some indices, the last of which is 1."""
    # They are partial sums of exponential variables as shares of the whole sum.
    gaps = np.diff(index, prepend=0)
    rates = generator.standard_gamma(gaps, (draws, len(index))).cumsum(axis=1)
    rates /= rates[:, -1:]
    return rates  # type: ignore[no-any-return]


def _counts_within(recalls: Array, positives: int, generator: Any) -> Array:
    """Draws of the numbers of positives within recalls that rise from column to column."""
    counts = np.zeros(recalls.shape, dtype=np.int64)
    before, count = np.zeros(len(recalls)), np.zeros(len(recalls), dtype=np.int64)
    for column, recall in enumerate(recalls.T):
        rest = np.where(before < 1, 1 - before, 1)
        count = count + generator.binomial(positives - count, ((recall - before) / rest).clip(0, 1))
        counts[:, column], before = count, recall
    return counts


@lru_cache(maxsize=256)
def highest_share(
    positives: int, negatives: int, prior: float, capacity: float, delta: float
) -> float:
    """The highest share of a table called positive that promises at most `capacity` in truth."""
    lowest = max(0.0, (capacity - (1 - prior)) / prior)
    highest = min(1.0, capacity / prior)

    def worst_rates(count: int) -> Array:
        """Recalls at which as many cases as allowed are called, denser where they change most."""
        return lowest + (highest - lowest) * (1 - np.cos(np.linspace(0, np.pi, count))) / 2

    def chances(share: float, recalls: Array) -> Array:
        rates = ((capacity - prior * recalls) / (1 - prior)).clip(0, 1)
        return _chances(share, positives, negatives, prior, recalls, rates)

    def check_at(share: float) -> Array:
        """Recalls at which a share is checked, and with few positives those after each step.

        At a step one positive more may be called; with many negatives the steps are steep.
        """
        if positives > MAX_STEPS:
            return worst_rates(MORE_RECALLS)
        step = np.arange(positives + 1) / positives + (capacity - share) / prior
        rate = ((capacity - prior * step) / (1 - prior)).clip(0, 1)
        error = (rate * (1 - rate) / negatives) ** 0.5 * (1 - prior) / prior
        after = (step[:, None] + error[:, None] * np.arange(1, 5)).clip(lowest, highest)
        return np.union1d(worst_rates(MORE_RECALLS), after)

    recalls, error = worst_rates(RECALLS), USED * delta
    if chances(0.0, check_at(0.0)).max() > error:
        return -1.0
    rates = ((capacity - prior * recalls) / (1 - prior)).clip(0, 1)
    variance = prior**2 * recalls * (1 - recalls) / positives
    variance += (1 - prior) ** 2 * rates * (1 - rates) / negatives
    # Six standard errors below the limit it is out of reach.
    least = max(0.0, capacity - 6 * float(variance.max() ** 0.5))
    while True:
        low, high = least, capacity
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            kept = chances(middle, recalls).max() <= error
            low, high = (middle, high) if kept else (low, middle)
        checked = check_at(low)
        failing = checked[chances(low, checked) > error]
        if np.isin(failing, recalls).all():
            return low
        recalls = np.union1d(recalls, failing)


def _chances(
    share: float, positives: int, negatives: int, prior: float, recalls: Array, rates: Array
) -> Array:
    """The probability at each pair of rates that a table has at most this share of alarms."""
    most = min(positives, floor(share / prior * positives))
    # Fewer or more positives than eight standard errors from the mean have no weight.
    mean, error = positives * recalls, (positives * recalls * (1 - recalls)) ** 0.5
    first = np.floor(mean - 8 * error - 30).clip(0, most)
    last = np.ceil(mean + 8 * error + 30).clip(first, most)
    # Counts in bins, each taken as its least one, so that the probability is not too low.
    bins = np.linspace(0, 1, MAX_BINS + 1)
    edges = np.floor(first[:, None] + (last - first + 1)[:, None] * bins)
    mass = np.diff(_at_most(edges - 1, positives, recalls[:, None]), axis=1)
    alarms = np.floor((share - prior * edges[:, :-1] / positives) / (1 - prior) * negatives + 1e-9)
    held: Array = (mass * _at_most(alarms, negatives, rates[:, None])).sum(axis=1)
    return held


def _at_most(counts: Array, cases: int, rates: Array) -> Array:
    """The probability of at most so many of the cases; scipy has none for counts below 0."""
    from scipy.special import bdtr

    return np.where(counts < 0, 0.0, bdtr(counts.clip(0, cases), cases, rates))


def cases_needed(sample: Sample, constraints: Constraints, own: float, delta: float) -> str:
    """How many more cases a promise would take if the curve stays as it looks."""
    t, f = sample.tp / sample.positives, sample.fp / sample.negatives
    keeps = np.all(list(constraints.kept(t, f, own)), axis=0) & (t > 0)
    if not keeps.any():
        return (
            "no threshold can be promised: none keeps the constraints on this table, and no "
            "number of cases would do if the curve stays as it looks"
        )
    at = np.flatnonzero(keeps)
    at = at[np.unique(np.linspace(0, len(at) - 1, MAX_TRIED).astype(int))]
    few = replace(sample, tp=sample.tp[at], fp=sample.fp[at])

    def enough(more_positives: float, more_negatives: float, draws: int) -> bool:
        larger = Sample(
            np.floor(few.tp * more_positives).astype(int),
            np.ceil(few.fp * more_negatives).astype(int),
            round(few.positives * more_positives),
            round(few.negatives * more_negatives),
            few.effects,
        )
        return bool(promised(larger, constraints, own, delta, draws).any())

    def least(positives: bool, negatives: bool) -> float | None:
        def grown(times: float, draws: int) -> bool:
            # As many as will be said: draws of another number may differ.
            return enough(
                _as_said(few.positives, times) if positives else 1,
                _as_said(few.negatives, times) if negatives else 1,
                draws,
            )

        rough = least_factor(lambda times: grown(times, ROUGH_DRAWS), MAX_TIMES, NEARLY)
        if rough is None:
            return None
        # Few draws may promise what all of them do not.
        more = least_factor(lambda times: grown(rough * times, DRAWS), MAX_MORE, NEARLY)
        return None if more is None else rough * more

    both = least(positives=True, negatives=True)
    positives = negatives = None
    if both is not None:
        positives = least(positives=True, negatives=False)
        negatives = least(positives=False, negatives=True)
    return _needed_in_words(sample, both, positives, negatives)


def _as_said(total: int, times: float) -> float:
    """The factor of the number that is said."""
    return times if times == 1 else 1 + rounded_up(total * (times - 1)) / total


def _needed_in_words(
    sample: Sample, both: float | None, positives: float | None, negatives: float | None
) -> str:
    start = "no threshold can be promised"
    if both is None:
        return (
            f"{start}: not even {MAX_TIMES:,.0f} times as many cases would do if the curve "
            "stays as it looks"
        )

    def more(times: float, name: str, total: int) -> str:
        count = rounded_up(total * (times - 1))
        return f"{count:,} more {name if count == 1 else name + 's'}"

    of_class = ("positive", sample.positives), ("negative", sample.negatives)
    ways = zip((positives, negatives), of_class, strict=True)
    alone = " or ".join(more(times, *one) for times, one in ways if times is not None)
    together = " and ".join(more(both, *one) for one in of_class)
    return f"{start}: about {alone or together} would do if the curve stays as it looks"
