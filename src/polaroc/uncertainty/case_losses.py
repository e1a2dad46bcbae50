"""Standard errors and intervals of measures that are means of the losses of single cases."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import attach
from polaroc.base.private_columns import FRACTIONAL, private
from polaroc.base.statistics import normal, student
from polaroc.measures.functions import table_sums
from polaroc.measures.spec import CaseLoss, Measure, chunks
from polaroc.measures.table import AREA, VARIANCE, Limits, ManyLimits, in_order_of_parts, tidy
from polaroc.uncertainty.influence import no_limits_note

# The moments of the losses of a class, and the derivative by the score prior.
MOMENTS = tuple(private(f"loss_{name}") for name in ("p", "pp", "n", "nn", "d"))
# Of the mean loss of a case, relative to which a smaller variance is rounding.
NO_VARIANCE = 1e-13


def loss_limits(
    curves: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure], method: str, level: float
) -> pl.LazyFrame:
    """Tidy measures with limits, from curves that have the columns `note` and `FRACTIONAL`."""
    key_notes = {"note": pl.col("note").first(), FRACTIONAL: pl.col(FRACTIONAL).any()}
    wide = table_sums(curves, keys, measures, key_notes)
    variances = {}
    for i, measure in enumerate(measures):
        if measure.case_loss is not None:
            moments = _moments(curves, keys, measure.case_loss, i)
            wide = attach(wide, moments, keys, required=False)
            variances[id(measure)] = _variance(measure.case_loss, i)
    parts = []
    for part in chunks(measures):
        single = [measure for measure in part if measure.many is None]
        limits = [_limits(one, one.estimate, variances.get(id(one)), method, level) for one in single]
        parts.append(tidy(wide, keys, part, limits, _many_limits(part, variances, method, level)))
    return in_order_of_parts(parts, keys)


def _moments(
    curves: pl.LazyFrame, keys: Sequence[str], loss: CaseLoss, number: int
) -> pl.LazyFrame:
    """Per key the moments of the losses of each class."""
    sums = {}
    for count, value, names in (
        ("pos", loss.positive, MOMENTS[:2]),
        ("neg", loss.negative, MOMENTS[2:4]),
    ):
        present = pl.when(pl.col(count) > 0)
        for power, name in enumerate(names, 1):
            sums[f"{name}_{number}"] = present.then(pl.col(count) * value**power).sum()
    if loss.by_score_prior is not None:
        sums[f"{MOMENTS[4]}_{number}"] = loss.by_score_prior.fill_nan(0.0).sum()
    return curves.with_columns(**loss.columns).group_by(keys).agg(**sums)


def _variance(loss: CaseLoss, number: int) -> pl.Expr:
    """Of the measure: of the mean of each class, and of the prior that scores are right at.

    Where that prior is the observed one, its log-odds have the variance 1/P + 1/N.
    """
    p, pp, n, nn, d = (pl.col(f"{name}_{number}") for name in MOMENTS)
    variance: pl.Expr = pl.lit(0.0)
    for total, first, second in (("positives", p, pp), ("negatives", n, nn)):
        count = pl.col(total)
        mean = first / count
        spread = (second / count - mean**2) * count / (count - 1)
        # What is lost in the difference of two moments is no variance.
        spread = pl.when(spread > NO_VARIANCE * mean**2).then(spread).otherwise(0.0)
        variance = variance + spread / count
    if loss.by_score_prior is not None:
        variance = variance + d**2 * (1 / pl.col("positives") + 1 / pl.col("negatives"))
    enough = (pl.col("positives") > 1) & (pl.col("negatives") > 1)
    return pl.when(enough).then(variance * loss.scale**2)


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
    lower, upper = (
        pl.when(has_limits).then(end.clip(*measure.bounds)) for end in (lower, upper)
    )
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
