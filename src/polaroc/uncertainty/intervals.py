"""Standard errors and confidence intervals of the measures of one curve."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import attach, curve_keys, lazily
from polaroc.base.private_columns import FRACTIONAL, PSEUDO_PLACE, ROW, WEIGHT, private
from polaroc.base.statistics import ROUNDING, logit_ends, normal, student
from polaroc.curves.segments import CELLS
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, check_choice
from polaroc.measures.catalog import DEFAULT_PRIORS, select_measures
from polaroc.measures.spec import Measure
from polaroc.measures.table import AREA, VARIANCE, Limits, ManyLimits, per_key, tidy
from polaroc.predictions.row_checks import UNRANKED
from polaroc.predictions.table import Predictions
from polaroc.priors.beliefs import Belief
from polaroc.typing import Interpolation, Priors
from polaroc.uncertainty.influence import (
    covariance,
    covariances,
    root_of_variance,
    std_error,
    with_influence,
)
from polaroc.uncertainty.pseudo_cases import NONE, at_both_ends

METHODS = ("logit", "wald")
PERFECT = "perfect score: lower limit from the numbers of cases"
NOT_COUNTS = "weights are not counts of cases: no interval"
TAKEN_FOR_COUNTS = "weights taken for counts of cases"


@lazily
def intervals(
    curve: pl.LazyFrame,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    measures: str | Sequence[str] | None = None,
    method: str = "logit",
    level: float = 0.95,
) -> pl.LazyFrame:
    """The measures of each curve with standard errors and confidence intervals.

    They answer how far a measure of this fitted model may be off because the
    test set is a sample: cases are taken as independent, weights as counts of
    equal cases, the totals of the classes and the priors as given (so is
    ``"observed"``, at its value). Cases that are alike, such as those of one
    patient, need `bootstrap` with `cluster`; sampling weights have no interval
    here, and whole numbers among them cannot be told from counts.

    Parameters
    ----------
    curve
        The result of `curve`; weights, if any, are counts of cases, and `note`
        says that they were taken for such.
    priors, over, interpolation, measures
        As in `evaluate`; interpolation ``"hull"`` has no interval.
    method
        ``"wald"``: estimate ± z standard errors, cut at 0 and 1; ``"logit"``:
        the same of its log-odds, so that limits stay within (0, 1), with the
        quantile of Student's t at one degree of freedom less than there are
        cases of the rarer class. Either is taken of the sample, and of the
        sample with half a case more of each class, ranked worst, and ranked
        best; the widest limits count. By resampling: see `bootstrap`.
    level
        Coverage aimed at, in (0, 1).

    Returns
    -------
    Frame of the kind given
        Tidy measures as from `evaluate`, with `lower`, `upper` and `std_error`,
        Float64, after `estimate`. They are null with one positive or one
        negative, with weights that are not whole numbers, and where all cases
        have the same influence; `note` says so. For areas of exactly 1, of a
        perfect score, `lower` is a bound from the numbers of cases alone.

    Raises
    ------
    InvalidArgument, InvalidTable
        For an argument outside what is allowed; where the columns of a curve
        are missing.

    See Also
    --------
    bootstrap : Intervals from resampled test sets.
    evaluate : All measures of predictions in one pass.

    Notes
    -----
    Standard errors are those of the infinitesimal jackknife with the divisors
    n − 1 per class, from the cells; for the AUC they are DeLong's (1988). At
    the balanced points of `sens`, `accsens` and `equal_error` the slope of the
    ROC is that of a chord over some two standard errors: theirs are rough.

    A sample says nothing of what ranks beyond its best and its worst case. The
    half cases, as many as Jeffreys' prior adds to either side of a share, stand
    for that: without them intervals miss where negatives are few for the
    prior, where positives are few and where a score is nearly perfect. Where
    cases abound they change nothing.

    Nominal 0.95 held the truth in 0.925 to 1 of samples, 0.98 in the mean, over
    20 to 500 positives, 1 to 200 negatives per positive, AUC 0.8 to 0.995,
    continuous scores and five levels, for the AUC, AUPREC at priors 0.5 to 0.01
    and IAUPREC (``tests/benchmarks/coverage.py``; 200 to 800 samples of each
    kind). They lean to the wide side where cases are few.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson, "Comparing the areas under two or more correlated
    receiver operating characteristic curves: a nonparametric approach", 1988.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> sure = curves.pipe(pr.intervals, measures="auc")
    >>> sure.select(pl.col("estimate", "lower", "upper", "std_error").round(3)).row(0)
    (0.68, 0.307, 0.903, 0.127)
    """
    keys = curve_keys(curve)
    check_choice("method", method, METHODS)
    check_share("level", level)
    check_interpolation(interpolation)
    selected = select_measures(measures, priors, over, interpolation).measures
    parts = (CELLS.pos, CELLS.neg, CELLS.fp)
    fractional = pl.any_horizontal(part != part.floor() for part in parts).alias(FRACTIONAL)
    note = pl.when(pl.col("positives").is_null()).then(pl.lit(UNRANKED)).alias("note")
    return with_limits(curve.with_columns(fractional, note), keys, selected, method, level)


def with_limits(
    curves: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    method: str,
    level: float,
) -> pl.LazyFrame:
    """The tidy measures of curves, which have the columns `note` and `FRACTIONAL`, with limits."""
    # Anchors keep keys without positives.
    segments = curves.filter((pl.col("pos") > 0) | pl.col("threshold").is_null())
    parts = list({part.name: part for measure in measures for part in measure.parts}.values())
    said_of_key = {"note": pl.col("note").first(), FRACTIONAL: pl.col(FRACTIONAL).any()}
    also = covariances(measures) | said_of_key
    placed = [*keys, PSEUDO_PLACE]
    moved = with_influence(at_both_ends(segments), placed, parts)
    wide, measures = _as_columns(per_key(moved, placed, measures, also), measures)
    single = [measure for measure in measures if measure.many is None]
    errors = {private(f"error_{i}"): std_error(measure) for i, measure in enumerate(single)}
    columns = [
        limits(measure, pl.col(error), method, level)
        for measure, error in zip(single, errors, strict=True)
    ]
    of_many = _many_limits(measures, method, level)
    rows = tidy(wide.with_columns(**errors), placed, measures, columns, of_many)
    return with_counts_note(_widest(rows, keys))


def with_counts_note(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Tidy measures with limits, with a note where weights were taken as counts."""
    if not rows.collect_schema()["positives"].is_float():
        return rows
    counts = pl.when(pl.col("lower").is_not_null()).then(pl.lit(TAKEN_FOR_COUNTS))
    note = pl.concat_str("note", counts, separator="; ", ignore_nulls=True).replace("", None)
    return rows.with_columns(note.alias("note"))


def _widest(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """The rows without pseudo-cases, with the widest of the limits without and with them.

    Rows are in order, as many for each key and place.
    """
    numbered = rows.with_columns(pl.int_range(pl.len()).over(*keys, PSEUDO_PLACE).alias(ROW))
    lower, upper = (pl.coalesce(name, "estimate") for name in ("lower", "upper"))
    own = pl.col("lower").is_not_null() & (pl.col("estimate") < 1 - ROUNDING)
    ends = {"lower": lower.min(), "upper": upper.max()}
    return (
        numbered.with_columns(
            pl.when(own).then(end.over(*keys, ROW)).otherwise(name).alias(name)
            for name, end in ends.items()
        )
        .filter(pl.col(PSEUDO_PLACE) == NONE)
        .drop(PSEUDO_PLACE, ROW)
    )


def _many_limits(measures: Sequence[Measure], method: str, level: float) -> ManyLimits | None:
    """Limits at many priors, by interpolating variances like areas."""
    node = next((measure for measure in measures if measure.many is not None), None)
    if node is None:
        return None
    at_prior = replace(node, estimate=pl.col(AREA))
    error = root_of_variance(pl.col(VARIANCE))
    return ManyLimits(_variance, limits(at_prior, error, method, level), kept=(FRACTIONAL,))


def _variance(node: Measure) -> pl.Expr:
    if not node.parts:
        return pl.lit(None, pl.Float64)
    (part,) = node.parts
    return pl.col(covariance(part, part))


def _as_columns(
    wide: pl.LazyFrame, measures: Sequence[Measure]
) -> tuple[pl.LazyFrame, list[Measure]]:
    """Estimates and slopes as columns, which keeps the plans of limits small."""
    columns, named = {}, []
    for i, measure in enumerate(measures):
        columns[private(f"estimate_{i}")] = measure.estimate
        parts = []
        for j, part in enumerate(measure.parts):
            columns[private(f"slope_{i}_{j}")] = part.slope
            parts.append(replace(part, slope=pl.col(private(f"slope_{i}_{j}"))))
        estimate = pl.col(private(f"estimate_{i}"))
        named.append(replace(measure, estimate=estimate, parts=tuple(parts)))
    return wide.with_columns(**columns), named


def limits(measure: Measure, std_error: pl.Expr, method: str, level: float) -> Limits:
    """Limits of a measure from its standard error, and a note where it has none.

    An estimate of 0 or 1, and one that all cases have the same influence on,
    has a standard error of zero, which does not measure its uncertainty.
    """
    counted = ~pl.col(FRACTIONAL)
    error, estimate = pl.when(counted).then(std_error).otherwise(None), measure.estimate
    has_limits = (error > 0) & (estimate > 0) & (estimate < 1)
    if method == "wald":
        z = normal(level)
        ends = (estimate - z * error).clip(0, 1), (estimate + z * error).clip(0, 1)
    else:
        quantile = student(pl.min_horizontal("positives", "negatives") - 1, level)
        ends = logit_ends(estimate, quantile * error / (estimate * (1 - estimate)))
    lower, upper = (pl.when(has_limits).then(end).otherwise(None) for end in ends)
    untold = ~has_limits.fill_null(False) & estimate.is_not_null()
    note = pl.when(untold).then(_why_none(error)).otherwise(None)
    if measure.perfect_lower_limit is not None:
        perfect = counted & (estimate >= 1 - ROUNDING) & (error == 0)
        lower = pl.when(perfect).then(measure.perfect_lower_limit((1 - level) / 2)).otherwise(lower)
        upper = pl.when(perfect).then(pl.lit(1.0)).otherwise(upper)
        note = pl.when(perfect).then(pl.lit(PERFECT)).otherwise(note)
    return Limits(lower, upper, error, note)


def flagged(frame: pl.LazyFrame, predictions: Predictions) -> pl.LazyFrame:
    """A frame with `FRACTIONAL`: whether a weight of their key is not a whole number."""
    if not predictions.weighted:
        return frame.with_columns(pl.lit(False).alias(FRACTIONAL))
    weight = pl.col(WEIGHT)
    fractional = (weight != weight.floor()).any().alias(FRACTIONAL)
    flags = predictions.valid_rows.group_by(predictions.keys).agg(fractional)
    return attach(frame, flags, predictions.keys, required=False)


def check_counts(
    predictions: Predictions,
    hint: str = "leave intervals out, or weight out, or bootstrap the rows yourself.",
) -> None:
    """Raise on weights that are not counts of cases."""
    if not predictions.weighted:
        return
    fractions = predictions.valid_rows.filter(pl.col(WEIGHT) != pl.col(WEIGHT).floor())
    weight, count = fractions.select(pl.first(WEIGHT), pl.len()).collect().row(0)
    if count:
        raise InvalidPredictions(
            f"{count} weights are not whole numbers, such as {weight}; intervals need weights that "
            "count cases.",
            hint=hint,
        )


def check_interpolation(interpolation: str) -> None:
    """Raise on the hull, which is not a smooth function of the cases."""
    check_choice("interpolation", interpolation, get_args(Interpolation))
    if interpolation == "hull":
        raise InvalidArgument(
            "interpolation is 'hull': the hull is fitted to the test data, and no interval "
            "of it is valid.",
            hint=Hint("use {interpolation}.", interpolation="exact"),
        )


def _why_none(error: pl.Expr) -> pl.Expr:
    return (
        pl.when(pl.col(FRACTIONAL)).then(pl.lit(NOT_COUNTS))
        .when(pl.col("positives") <= 1).then(pl.lit("one positive: no standard error"))
        .when(pl.col("negatives") <= 1).then(pl.lit("one negative: no standard error"))
        .when(error.is_null()).then(pl.lit("no derivative here: no interval"))
        .otherwise(pl.lit("no spread among the cases: no interval"))
    )  # fmt: skip
