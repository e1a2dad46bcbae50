"""Standard errors and intervals of measures that are means of the losses of single cases."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from polaroc.base.joins import attach
from polaroc.base.private_columns import FRACTIONAL, PSEUDO_PLACE, ROW, private
from polaroc.base.statistics import normal, student
from polaroc.measures.functions import table_sums
from polaroc.measures.spec import CaseLoss, Measure, chunks
from polaroc.measures.table import AREA, VARIANCE, Limits, ManyLimits, in_order_of_parts, tidy
from polaroc.uncertainty.polars_influence import no_limits_note

# The moments of the losses of a class, and the derivative by the score prior.
MOMENTS = tuple(private(f"loss_{name}") for name in ("p", "pp", "pm", "n", "nn", "nm", "d"))
# Variances below this share of the mean loss of a case are rounding.
NO_VARIANCE = 1e-13
# One more case of a class, with the least or the greatest loss; none in the first row.
MORE_POS, MORE_NEG, WORST = (private(name) for name in ("more_pos", "more_neg", "worst"))
PSEUDO_CASES = {
    PSEUDO_PLACE: [0, 1, 2, 3, 4], MORE_POS: [0, 1, 1, 0, 0], MORE_NEG: [0, 0, 0, 1, 1],
    WORST: [0.0, 1.0, 0.0, 1.0, 0.0],
}  # fmt: skip
# What it exceeds the greatest observed loss by, where losses have no bound: a factor e² of p. With
# e the log loss of scores that are too extreme was above the limits in 6 % of sets of 20 positives.
BEYOND = 2.0


def loss_limits(
    curves: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    method: str,
    level: float,
) -> pl.LazyFrame:
    """Tidy measures with limits, from curves that have the columns `note` and `FRACTIONAL`.

    The limits are the widest of those of the sample and of the samples with one more case:
    few cases tell little of losses that are rare.
    """
    key_notes = {"note": pl.col("note").first(), FRACTIONAL: pl.col(FRACTIONAL).any()}
    wide = table_sums(curves, keys, measures, key_notes)
    losses = [(i, one, one.case_loss) for i, one in enumerate(measures)]
    for i, _, loss in losses:
        if loss is not None:
            wide = attach(wide, _moments(curves, keys, loss, i), keys, required=False)
    wide = wide.join(pl.LazyFrame(PSEUDO_CASES), how="cross")
    measures, variances = list(measures), {}
    for i, measure, loss in losses:
        if loss is None:
            continue
        estimate, variance = private(f"estimate_{i}"), private(f"variance_{i}")
        mean, spread = _mean_and_variance(loss, i)
        falls = measure.bounds[0] is None
        other = 1 + loss.scale * mean if falls else loss.scale * mean
        wide = wide.with_columns(
            pl.when(pl.col(PSEUDO_PLACE) == 0)
            .then(measure.estimate)
            .when(measure.estimate.is_not_null())
            .then(other)
            .alias(estimate),
            spread.alias(variance),
        )
        measures[i] = replace(measure, estimate=pl.col(estimate))
        variances[id(measures[i])] = pl.col(variance)
    placed = [*keys, PSEUDO_PLACE]
    parts = []
    for part in chunks(measures):
        limits = [
            _limits(one, one.estimate, variances.get(id(one)), method, level)
            for one in part
            if one.many is None
        ]
        many = _many_limits(part, variances, method, level)
        parts.append(_widest(tidy(wide, placed, part, limits, many), keys))
    return in_order_of_parts(parts, keys)


def _widest(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """The rows of the sample itself, with the widest of all limits; sorted rows stay sorted."""
    numbered = rows.with_columns(pl.int_range(pl.len()).over(*keys, PSEUDO_PLACE).alias(ROW))
    ends = {"lower": pl.col("lower").min(), "upper": pl.col("upper").max()}
    return (
        numbered.with_columns(
            pl.when(pl.col(name).is_not_null()).then(end.over(*keys, ROW)).alias(name)
            for name, end in ends.items()
        )
        .filter(pl.col(PSEUDO_PLACE) == 0)
        .drop(PSEUDO_PLACE, ROW)
    )


def _moments(
    curves: pl.LazyFrame, keys: Sequence[str], loss: CaseLoss, number: int
) -> pl.LazyFrame:
    """Per key the moments of the losses of each class, and the greatest."""
    sums = {}
    for count, value, names in (
        ("pos", loss.positive, MOMENTS[:3]),
        ("neg", loss.negative, MOMENTS[3:6]),
    ):
        # A score of 0 or 1 may be infinitely wrong for cases that are not there.
        present = pl.when(pl.col(count) > 0)
        first, second, greatest = (f"{name}_{number}" for name in names)
        sums[first] = present.then(pl.col(count) * value).sum()
        sums[second] = present.then(pl.col(count) * value**2).sum()
        sums[greatest] = present.then(value).max()
    if loss.by_score_prior is not None:
        sums[f"{MOMENTS[6]}_{number}"] = loss.by_score_prior.fill_nan(0.0).sum()
    return curves.with_columns(**loss.columns).group_by(keys).agg(**sums)


def _mean_and_variance(loss: CaseLoss, number: int) -> tuple[pl.Expr, pl.Expr]:
    """The mean loss, with the pseudo-cases, and its variance.

    Where the prior that scores are right at is the observed one, its log-odds add the variance
    1/P + 1/N.
    """
    *moments, slope = (pl.col(f"{name}_{number}") for name in MOMENTS)
    mean, variance = pl.lit(0.0), pl.lit(0.0)
    for total, more, weight, (first, second, greatest) in zip(
        ("positives", "negatives"), (MORE_POS, MORE_NEG), loss.weights,
        (moments[:3], moments[3:]), strict=True,
    ):  # fmt: skip
        added = pl.col(more) * pl.col(WORST)
        worst = weight if loss.bounded else greatest + BEYOND * weight
        count = pl.col(total) + pl.col(more)
        own = (first + added * worst) / count
        square = (second + added * worst**2) / count
        spread = (square - own**2) * count / (count - 1)
        # What is lost in the difference of two moments is no variance.
        spread = pl.when(spread > NO_VARIANCE * own**2).then(spread).otherwise(0.0)
        mean, variance = mean + own, variance + spread / count
    if loss.by_score_prior is not None:
        variance = variance + slope**2 * (1 / pl.col("positives") + 1 / pl.col("negatives"))
    enough = (pl.col("positives") > 1) & (pl.col("negatives") > 1)
    return mean, pl.when(enough).then(variance * loss.scale**2)


def _limits(
    measure: Measure, estimate: pl.Expr, variance: pl.Expr | None, method: str, level: float
) -> Limits:
    """Limits on the logarithmic scale of a loss, or of what a skill is short of 1."""
    defined = estimate.is_not_null()
    if variance is None:
        nothing = pl.lit(None, pl.Float64)
        note = pl.when(defined).then(pl.lit(measure.no_limits))
        return Limits(nothing, nothing, nothing, note)
    error = pl.when(~pl.col(FRACTIONAL) & defined).then(variance.sqrt())
    falls = measure.bounds[0] is None
    loss = 1 - estimate if falls else estimate
    if method == "wald":
        ends = [loss - normal(level) * error, loss + normal(level) * error]
    else:
        few = pl.min_horizontal("positives", "negatives") - 1
        factor = (student(few, level) * error / loss).exp()
        ends = [loss / factor, loss * factor]
    lower, upper = (1 - end for end in reversed(ends)) if falls else ends
    has_limits = (error > 0) & (loss > 0)
    lower, upper = (pl.when(has_limits).then(end.clip(*measure.bounds)) for end in (lower, upper))
    missing = ~has_limits.fill_null(False) & defined
    return Limits(lower, upper, error, pl.when(missing).then(no_limits_note(error)))


def _many_limits(
    part: Sequence[Measure], variances: dict[int, pl.Expr], method: str, level: float
) -> ManyLimits | None:
    nodes = [measure for measure in part if measure.many is not None]
    if not nodes:
        return None
    has_limits = nodes[0].case_loss is not None
    variance = pl.col(VARIANCE) if has_limits else None
    limits = _limits(nodes[0], pl.col(AREA), variance, method, level)
    nothing = pl.lit(None, pl.Float64)
    return ManyLimits(lambda node: variances.get(id(node), nothing), limits, kept=(FRACTIONAL,))
