"""Influence of single cases on a measure, from which standard errors follow.

The influence of a case is how much the measure would change, per unit of weight
and times the number of its class, if the case weighed a little more (the
infinitesimal jackknife). Cases of one class with one score have it in common,
so the segments of a curve are enough.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, zip_longest

import polars as pl

from polaroc.base.columns import within
from polaroc.base.joins import attach
from polaroc.base.private_columns import FRACTIONAL, private
from polaroc.measures.polars_gradients import LEVEL, SIDES, Gradient
from polaroc.measures.spec import GradientTerm, Measure
from polaroc.measures.table import per_key
from polaroc.predictions.row_checks import SCORE

NOT_COUNTS = "weights are not counts of cases: no interval"
# Smaller variances are rounding error, since measures are of order 1.
NO_VARIANCE = 1e-26
# Number of gradients that are computed in one step of the plan.
BATCH_SIZE = 16


def with_influence(
    segments: pl.LazyFrame, keys: Sequence[str], terms: Sequence[GradientTerm]
) -> pl.LazyFrame:
    """Segments with the influence of their cases on each term, up to a constant per class.

    One row per segment, worst score first; per term the influence of its positives, of its
    negatives, and of the negatives on the level run before it, whose number is in `LEVEL`.
    """
    has_area = (pl.col("pos") > 0).fill_null(False)
    end = pl.when(has_area).then(pl.col("fp"))
    above = within(end.shift(-1).backward_fill(), keys).fill_null(0)
    ordered = segments.sort(SCORE, nulls_last=True).with_columns(
        pl.when(has_area).then(pl.col("fp") - pl.col("neg") - above).otherwise(0).alias(LEVEL)
    )
    gradients = {term.name: term.in_columns(keys) for term in terms}
    for batch in _batches(gradients):
        ordered = _with_derivatives(ordered, batch, has_area)
    influences = {}
    for term in terms:
        t0, f0, dt, df = (pl.col(column(term, side)) for side in SIDES)
        # Cases of a segment move the start of all segments below it.
        below_t, below_f = (within(own.cum_sum(), keys) - own for own in (t0, f0))
        influences[column(term, "pos")] = dt + below_t
        influences[column(term, "neg")] = df + below_f
        influences[column(term, "level")] = f0 + below_f
    return ordered.with_columns(**influences)


def _batches(gradients: Mapping[str, Gradient]) -> Iterator[dict[str, Gradient]]:
    """Batches of gradients whose stages have different column names, which keeps plans short."""
    batch: dict[str, Gradient] = {}
    names: set[str] = set()
    for term, gradient in gradients.items():
        own = {name for stage in gradient.stages for name in stage}
        if batch and (len(batch) == BATCH_SIZE or own & names):
            yield batch
            batch, names = {}, set()
        batch[term] = gradient
        names |= own
    if batch:
        yield batch


def _with_derivatives(
    frame: pl.LazyFrame, gradients: Mapping[str, Gradient], has_area: pl.Expr
) -> pl.LazyFrame:
    sides = {
        f"{term}_{side}": pl.when(has_area).then(getattr(gradient, side)).otherwise(0.0)
        for term, gradient in gradients.items()
        for side in SIDES
    }
    stages = [gradient.stages for gradient in gradients.values()]
    for stages_of_terms in zip_longest(*stages, fillvalue={}):
        frame = frame.with_columns(
            **{name: of for stage in stages_of_terms for name, of in stage.items()}
        )
    return frame.with_columns(**sides).drop(
        name for stages_of_term in stages for stage in stages_of_term for name in stage
    )


def influence(
    cells: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure]
) -> pl.LazyFrame:
    """All cells of curves, without anchors, with the influence of their cases on each measure.

    Its columns are named by `influence_column`; the mean over each class is zero.
    """
    slopes = {
        private(f"slope_{i}_{j}"): term.slope
        for i, measure in enumerate(measures)
        for j, term in enumerate(measure.gradient_terms)
    }
    terms = {term.name: term for measure in measures for term in measure.gradient_terms}
    joined = with_influence(cells, keys, list(terms.values()))
    if slopes:
        areas = [measure for measure in measures if measure.gradient_terms]
        wide = per_key(cells, keys, areas).select(*keys, **slopes)
        joined = attach(joined, wide, keys)
    combined, centred = {}, {}
    for i, measure in enumerate(measures):
        loss = measure.case_loss
        if loss is not None:
            joined = joined.with_columns(**loss.columns)
        for name, total in (("pos", "positives"), ("neg", "negatives")):
            value = pl.col(influence_column(i, name))
            if loss is None:
                combined[influence_column(i, name)] = pl.sum_horizontal(
                    pl.col(private(f"slope_{i}_{j}")) * pl.col(column(term, name))
                    for j, term in enumerate(measure.gradient_terms)
                )
            else:
                own_loss = loss.positive if name == "pos" else loss.negative
                # A score of 0 or 1 may be infinitely wrong for cases that are not there.
                combined[influence_column(i, name)] = (
                    pl.when(pl.col(name) > 0).then(loss.scale * own_loss).otherwise(0.0)
                )
            mean = within((pl.col(name) * value).sum(), keys) / pl.col(total)
            centred[influence_column(i, name)] = value - mean
    own = cells.collect_schema().names()
    return joined.with_columns(**combined).with_columns(**centred).select(*own, *centred)


def influence_column(i: int, name: str) -> str:
    """The column with the influence of cases of a class on the measure numbered i."""
    return private(f"on_{i}_{name}")


def covariances(measures: Sequence[Measure]) -> dict[str, pl.Expr]:
    """Per key, from `with_influence`: the covariances of the terms of each measure.

    Class totals are fixed and the divisors are n − 1 per class: for the AUC this is DeLong's
    variance.
    """
    pairs = {
        covariance(a, b): (a, b)
        for measure in measures
        for a, b in combinations_with_replacement(measure.gradient_terms, 2)
    }
    return {name: _covariance(*pair) for name, pair in pairs.items()}


def covariance(a: GradientTerm, b: GradientTerm) -> str:
    """The column that holds the covariance of two terms."""
    return f"{a.name}_with{b.name}"


def std_error(measure: Measure) -> pl.Expr:
    """The standard error of a measure, from the columns of `covariances`; null where it has none.

    It is null with one positive or one negative, and zero where all cases of a
    class have the same influence.
    """
    if not measure.gradient_terms:
        return pl.lit(None, pl.Float64)
    variance = pl.sum_horizontal(
        (1 if a is b else 2) * a.slope * b.slope * pl.col(covariance(a, b))
        for a, b in combinations_with_replacement(measure.gradient_terms, 2)
    )
    return root_of_variance(variance)


def root_of_variance(variance: pl.Expr) -> pl.Expr:
    """The standard error; null without two cases of each class, zero for a rounding error."""
    enough = (pl.col("positives") > 1) & (pl.col("negatives") > 1) & variance.is_not_nan()
    return pl.when(enough).then(
        pl.when(variance > NO_VARIANCE).then(variance).otherwise(0.0).sqrt()
    )


def column(term: GradientTerm, what: str) -> str:
    """A column of `with_influence`: what a term has for "pos", "neg", "level" or a side."""
    return f"{term.name}_{what}"


def _covariance(a: GradientTerm, b: GradientTerm) -> pl.Expr:
    positives, negatives = pl.col("positives").max(), pl.col("negatives").max()
    pos, neg, level = pl.col("pos"), pl.col("neg"), pl.col(LEVEL)
    # Negatives below all positives have no influence and no level run.
    rest = negatives - pl.col("fp").max()

    def centred(term: GradientTerm) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
        on_pos, on_neg, on_level = (pl.col(column(term, what)) for what in ("pos", "neg", "level"))
        mean_pos = (pos * on_pos).sum() / positives
        mean_neg = (neg * on_neg + level * on_level).sum() / negatives
        return on_pos - mean_pos, on_neg - mean_neg, on_level - mean_neg, mean_neg

    (pos_a, neg_a, level_a, mean_a), (pos_b, neg_b, level_b, mean_b) = centred(a), centred(b)
    among_positives = (pos * pos_a * pos_b).sum()
    among_negatives = (neg * neg_a * neg_b + level * level_a * level_b).sum() + (
        rest * mean_a * mean_b
    )
    return among_positives / (positives * (positives - 1)) + among_negatives / (
        negatives * (negatives - 1)
    )


def no_limits_note(error: pl.Expr) -> pl.Expr:
    """Note on why there are no limits, from a standard error."""
    return (
        pl.when(pl.col(FRACTIONAL)).then(pl.lit(NOT_COUNTS))
        .when(pl.col("positives") <= 1).then(pl.lit("one positive: no standard error"))
        .when(pl.col("negatives") <= 1).then(pl.lit("one negative: no standard error"))
        .when(error.is_null()).then(pl.lit("no derivative here: no interval"))
        .otherwise(pl.lit("no spread among the cases: no interval"))
    )  # fmt: skip
