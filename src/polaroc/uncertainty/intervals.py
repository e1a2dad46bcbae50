"""Standard errors and confidence intervals of the measures of one curve."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import curve_keys, with_level
from polaroc.base.joins import attach
from polaroc.base.private_columns import FRACTIONAL, PSEUDO_PLACE, ROW, WEIGHT, private
from polaroc.base.statistics import ROUNDING, logit_ends, normal, student
from polaroc.curves.segments import CELLS
from polaroc.curves.whole import takes_curve
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, check_choice
from polaroc.measures.catalog import DEFAULT_PRIORS, select_measures
from polaroc.measures.spec import Measure
from polaroc.measures.table import AREA, VARIANCE, Limits, ManyLimits, per_key, tidy
from polaroc.predictions.dependence import with_note
from polaroc.predictions.row_checks import UNRANKED
from polaroc.predictions.table import Predictions
from polaroc.priors.beliefs import Belief
from polaroc.typing import Interpolation, Prior, Priors
from polaroc.uncertainty.case_losses import loss_limits
from polaroc.uncertainty.polars_influence import (
    covariance,
    covariances,
    no_limits_note,
    root_of_variance,
    std_error,
    with_influence,
)
from polaroc.uncertainty.pseudo_cases import NONE, curves_with_pseudo_cases

METHODS = ("logit", "wald")
PERFECT = "perfect score: lower limit from the numbers of cases"
TAKEN_FOR_COUNTS = "weights taken for counts of cases"


@takes_curve
def intervals(
    curve: pl.LazyFrame,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    measures: str | Sequence[str] | None = None,
    method: str = "logit",
    level: float = 0.95,
    score_prior: Prior = "observed",
) -> pl.LazyFrame:
    """The measures of each curve with standard errors and confidence intervals.

    The intervals are for the sampling error of the test set, for a fitted model:
    cases are taken as independent, weights as counts of equal cases, class totals
    and priors as fixed (``"observed"`` too, at its value). Dependent cases, such as
    those of one patient, need `bootstrap` with `cluster`, and sampling weights need it
    with `weight`; those that are whole numbers cannot be distinguished from
    counts here.

    Parameters
    ----------
    curve
        The result of `curve`; weights, if any, are taken as counts of cases, which
        `note` says.
    priors, over, interpolation, measures, score_prior
        As in `evaluate`; interpolation ``"hull"`` has no interval.
    method
        ``"wald"``: estimate ± z standard errors, cut at 0 and 1; ``"logit"``:
        the same of its log-odds, so that limits stay within (0, 1), with the
        quantile of Student's t at one degree of freedom less than there are
        cases of the rarer class. Both are computed for the sample as it is, and with
        half a case of each class added at the worst or at the best rank; the widest
        limits are returned. For resampling see `bootstrap`.
    level
        Nominal coverage, in (0, 1).

    Returns
    -------
    Frame of the kind given
        Tidy measures as from `evaluate`, with `lower`, `upper`, `level` and `std_error`,
        Float64, after `estimate`. Limits are null with one positive or one
        negative, with weights that are not whole numbers, and where all cases
        have the same influence; `note` says so. For areas of exactly 1, of a
        perfect score, `lower` is a bound from the numbers of cases alone.

    Notes
    -----
    Standard errors are those of the infinitesimal jackknife with the divisors
    n − 1 per class, from the cells; for the AUC they are those of
    DeLong, DeLong and Clarke-Pearson (1988). At
    the balanced points of `sens`, `accsens` and `equal_error` the slope of the
    ROC is estimated by a chord over about two standard errors, so that their
    standard errors are approximate: limits at level 0.95 held in 0.85 of samples at worst,
    in 0.96 on average (``tests/benchmarks/coverage.py --balanced``).

    A sample has no information on scores beyond its best and its worst case. The
    half cases, as many as Jeffreys' prior adds to either side of a share, represent
    them: without them intervals are too narrow where negatives are few for the
    prior, where positives are few and where a score is nearly perfect. With many
    cases they make no difference.

    In simulations, intervals at level 0.95 covered the true value in 92.5 to 100 % of
    samples, 98 % on average, for 20 to 500 positives, 1 to 200 negatives per
    positive, AUC 0.8 to 0.995, continuous scores and five levels, for the AUC,
    AUPREC at priors 0.5 to 0.01 and IAUPREC (``tests/benchmarks/coverage.py``; 200
    to 800 samples each). With few cases they are rather too wide.

    The Brier score, the log loss and the Brier skill are means of the losses of single
    cases. Their limits are symmetric in the logarithm of the mean loss, and the widest of
    those of the sample as it is and with one more case of either class, of no loss or of a
    great one (the greatest there can be; for the log loss, which has no bound, one nat more
    than the greatest loss of the class). Where `score_prior` is ``"observed"``, the error of
    that prior is in them. The losses after calibration by the hull, "calibration_loss" and
    "refinement_loss", have no interval: they are biased by the hull, and the former is
    irregular at 0.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> limits = curves.pipe(pr.intervals, measures="auc")
    >>> limits.select(pl.col("estimate", "lower", "upper", "std_error").round(3)).row(0)
    (0.68, 0.307, 0.903, 0.127)
    """
    keys = curve_keys(curve)
    check_choice("method", method, METHODS)
    check_share("level", level)
    check_interpolation(interpolation)
    selected = select_measures(
        measures, priors, over, interpolation, score_prior=score_prior
    ).measures
    counts = (CELLS.pos, CELLS.neg, CELLS.fp)
    fractional = pl.any_horizontal(count != count.floor() for count in counts).alias(FRACTIONAL)
    note = pl.when(pl.col("positives").is_null()).then(pl.lit(UNRANKED)).alias("note")
    return with_limits(curve.with_columns(fractional, note), keys, selected, method, level)


def with_limits(
    curves: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    method: str,
    level: float,
) -> pl.LazyFrame:
    """Tidy measures with limits, from curves that have the columns `note` and `FRACTIONAL`."""
    areas = [measure for measure in measures if measure.is_area]
    losses = [measure for measure in measures if not measure.is_area]
    parts = [_area_limits(curves, keys, areas, method, level)] if areas else []
    if losses:
        parts.append(loss_limits(curves, keys, losses, method, level))
    if len(parts) == 1:
        return with_level(with_counts_note(parts[0]), level)
    names = list(dict.fromkeys(measure.name for measure in measures))
    place = pl.col("measure").replace_strict(names, range(len(names)))
    rows = pl.concat(parts, how="diagonal")
    # The rows of a measure are in order, also where Polars cannot tell.
    ordered = rows.sort(*keys, place, nulls_last=True, maintain_order=True)
    return with_level(with_counts_note(ordered), level)


def _area_limits(
    curves: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    method: str,
    level: float,
) -> pl.LazyFrame:
    # Anchors keep keys without positives.
    segments = curves.filter((pl.col("pos") > 0) | pl.col("threshold").is_null())
    terms = list(
        {term.name: term for measure in measures for term in measure.gradient_terms}.values()
    )
    key_notes = {"note": pl.col("note").first(), FRACTIONAL: pl.col(FRACTIONAL).any()}
    extra = covariances(measures) | key_notes
    placed = [*keys, PSEUDO_PLACE]
    moved = with_influence(curves_with_pseudo_cases(segments), placed, terms)
    wide, measures = _as_columns(per_key(moved, placed, measures, extra), measures)
    single = [measure for measure in measures if measure.many is None]
    errors = {private(f"error_{i}"): std_error(measure) for i, measure in enumerate(single)}
    columns = [
        limits(measure, pl.col(error), method, level)
        for measure, error in zip(single, errors, strict=True)
    ]
    many_limits = _many_limits(measures, method, level)
    rows = tidy(wide.with_columns(**errors), placed, measures, columns, many_limits)
    return _widest(rows, keys)


def with_counts_note(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Tidy measures with limits, with a note where weights were taken as counts."""
    if not rows.collect_schema()["positives"].is_float():
        return rows
    return with_note(rows, TAKEN_FOR_COUNTS, pl.col("lower").is_not_null())


def _widest(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """The rows without pseudo-cases, with the widest of the limits without and with them.

    The rows are sorted, with the same measures for each key and place.
    """
    numbered = rows.with_columns(pl.int_range(pl.len()).over(*keys, PSEUDO_PLACE).alias(ROW))
    lower, upper = (pl.coalesce(name, "estimate") for name in ("lower", "upper"))
    has_limits = pl.col("lower").is_not_null() & (pl.col("estimate") < 1 - ROUNDING)
    ends = {"lower": lower.min(), "upper": upper.max()}
    return (
        numbered.with_columns(
            pl.when(has_limits).then(end.over(*keys, ROW)).otherwise(name).alias(name)
            for name, end in ends.items()
        )
        .filter(pl.col(PSEUDO_PLACE) == NONE)
        .drop(PSEUDO_PLACE, ROW)
    )


def _many_limits(measures: Sequence[Measure], method: str, level: float) -> ManyLimits | None:
    """Limits at many priors, from interpolated areas and variances."""
    node = next((measure for measure in measures if measure.many is not None), None)
    if node is None:
        return None
    at_prior = replace(node, estimate=pl.col(AREA))
    error = root_of_variance(pl.col(VARIANCE))
    return ManyLimits(_variance, limits(at_prior, error, method, level), kept=(FRACTIONAL,))


def _variance(node: Measure) -> pl.Expr:
    if not node.gradient_terms:
        return pl.lit(None, pl.Float64)
    (term,) = node.gradient_terms
    return pl.col(covariance(term, term))


def _as_columns(
    wide: pl.LazyFrame, measures: Sequence[Measure]
) -> tuple[pl.LazyFrame, list[Measure]]:
    """Put estimates and slopes into columns, which keeps the expressions of limits small."""
    columns, with_columns = {}, []
    for i, measure in enumerate(measures):
        columns[private(f"estimate_{i}")] = measure.estimate
        terms = []
        for j, term in enumerate(measure.gradient_terms):
            columns[private(f"slope_{i}_{j}")] = term.slope
            terms.append(replace(term, slope=pl.col(private(f"slope_{i}_{j}"))))
        estimate = pl.col(private(f"estimate_{i}"))
        with_columns.append(replace(measure, estimate=estimate, gradient_terms=tuple(terms)))
    return wide.with_columns(**columns), with_columns


def limits(measure: Measure, std_error: pl.Expr, method: str, level: float) -> Limits:
    """Limits of a measure from its standard error, and a note where it has none.

    The standard error is zero at an estimate of 0 or 1, or if all cases have the same
    influence; it does not measure the uncertainty then.
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
    missing = ~has_limits.fill_null(False) & estimate.is_not_null()
    note = pl.when(missing).then(no_limits_note(error)).otherwise(None)
    if measure.perfect_lower_limit is not None:
        perfect = counted & (estimate >= 1 - ROUNDING) & (error == 0)
        lower = pl.when(perfect).then(measure.perfect_lower_limit((1 - level) / 2)).otherwise(lower)
        upper = pl.when(perfect).then(pl.lit(1.0)).otherwise(upper)
        note = pl.when(perfect).then(pl.lit(PERFECT)).otherwise(note)
    return Limits(lower, upper, error, note)


def with_fractional_flag(frame: pl.LazyFrame, predictions: Predictions) -> pl.LazyFrame:
    """A frame with `FRACTIONAL`: whether any weight of the key is not a whole number."""
    if not predictions.weighted:
        return frame.with_columns(pl.lit(False).alias(FRACTIONAL))
    weight = pl.col(WEIGHT)
    fractional = (weight != weight.floor()).any().alias(FRACTIONAL)
    flags = predictions.valid_rows.group_by(predictions.keys).agg(fractional)
    return attach(frame, flags, predictions.keys, required=False)


def check_counts(
    predictions: Predictions,
    hint: str = "leave intervals out, or weight out; for sampling weights take bootstrap with "
    "weight, given predictions.",
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
    """Raise for the hull, which is not a smooth function of the cases."""
    check_choice("interpolation", interpolation, get_args(Interpolation))
    if interpolation == "hull":
        raise InvalidArgument(
            "interpolation is 'hull': the hull is fitted to the test data, and no interval "
            "of it is valid.",
            hint=Hint("use {interpolation}.", interpolation="exact"),
        )
