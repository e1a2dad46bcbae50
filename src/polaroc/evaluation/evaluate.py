"""All measures of a prediction table in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_bool, check_share, none_if, refuse_unused
from polaroc.base.columns import PRIOR_LIMITS, private
from polaroc.base.text import joined_notes
from polaroc.curves.kernel import ranked
from polaroc.errors import InvalidArgument
from polaroc.evaluation.in_parts import sums_within
from polaroc.evaluation.sums import may_merge, sums_of_ranked, sums_of_rows
from polaroc.files.resources import Memory, Progress, progress_callback
from polaroc.inference.intervals import limits_of_ranked, with_limits
from polaroc.measures.catalog import DEFAULT_PRIORS, select_measures
from polaroc.measures.spec import Measure
from polaroc.measures.table import all_rows, tidy, tidy_schema, without_repeats
from polaroc.predictions.audit import dependence, with_note
from polaroc.predictions.cases import Cases, as_cases, frame_of_cases, warn_of_parts
from polaroc.predictions.columns import Columns
from polaroc.predictions.table import read
from polaroc.priors.beliefs import Over
from polaroc.priors.grids import is_estimate
from polaroc.priors.in_use import AT_AN_END, NO_INTERVAL, NOT_ESTIMATED, check_level, with_estimates
from polaroc.typing import Interpolation, PolarsFrame, Prior, Priors, Table


@frame_of_cases
def evaluate(
    table: Table | Cases[Any],
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: Over | None = None,
    interpolation: Interpolation = "exact",
    intervals: bool = False,
    level: float = 0.95,
    measure: str | Sequence[str] | None = None,
    score_prior: Prior = "observed",
    memory: Memory | None = None,
    progress: Progress | bool | None = None,
    **columns: Unpack[Columns],
) -> PolarsFrame:
    """Every measure of every key, in one pass over the predictions.

    Parameters
    ----------
    table
        Predictions, one row per case: any table that `cases` takes, or its result.
    priors
        One or several priors at which AUPREC is taken, in (0, 1), or a prior grid; ``"observed"``
        is the prior of each key, which has no second row where it equals one of the others. Or the
        result of `estimate_prior`, for the estimate of each key; its keys must be among those of
        the cases.
    over
        A range (lo, hi) of priors, or a belief about the prior. Without it there are no measures
        over a range; under a belief there are only IAUPREC, "brier_range" and the like.
    interpolation
        Between two points of the ROC: ``"exact"``, straight in ROC space and so
        a hyperbola in precision-recall space (D&G §4); ``"linear"``, straight
        in precision-recall space (P-ROC Eq. 4); ``"step"``, average precision;
        ``"hull"``, exact on the convex hull of the ROC, the achievable curve.
    intervals
        Whether to give confidence intervals for the sampling error of the test set, for a fitted
        model. With a `cluster`, cases of one cluster are not taken for independent. With a `weight`
        each row is one observation, however much it weighs. Interpolation ``"hull"`` and `memory`
        are not allowed.
    level
        Nominal coverage of the intervals, in (0, 1).
    measure
        Any of "auc", "auprec", "iauprec" (see the functions of these names),
        "sens", "auc_range", "accsens" (see `accsens`; "auc_range" is one minus
        the mean error over the range) and "equal_error" (where FNr = FPr); by
        default all that the arguments allow, but "equal_error" only if `over` is a range. By
        name only, of scores that are probabilities: "brier", "log_loss", "calibration_loss",
        "refinement_loss" and "brier_skill" at each prior, and the mean of each of the first four
        over the range or belief as "brier_range" and so on: scores are re-weighted from
        `score_prior` to the prior that they are taken at.
    score_prior
        The prior at which scores are right as probabilities: a prior in (0, 1), or
        ``"observed"``, each key's own.
    memory
        How much memory may be used: bytes, a size such as ``"4GB"``, or
        ``"auto"`` for 60 % of what is available, the default for a lazy frame of files. The rows
        are counted first; those that do not fit are written to the system's folder of temporary
        files (``TMPDIR``), with up to 24 bytes each, in parts that fit: of whole keys, or of ranges
        of scores of a key that is too large itself. The numbers are the same. The files are removed
        at the end, and those of a run that was killed by the next run.
    progress
        ``True`` for a progress bar, or a function that is called after each part on disk with the
        number of rows done and of all rows.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind given
        Tidy measures, sorted by key, one row per key, measure and prior: the
        keys (`by`, model and fold); `measure` String; `prior` Float64, null where a measure has
        none; `estimate` Float64, null where undefined; with intervals `lower`, `upper`,
        their `level`, and `std_error` Float64; `positives`, `negatives` (Int64, Float64 if
        weighted); `note` String: why the estimate is null or may be biased, and how
        many rows were dropped; null where there is nothing to report. With intervals and without
        `cluster` it also says if rows of a key share a `case`, and are not independent.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve` and `auprec`.
    InvalidTable
        Where estimated priors have a key that the cases lack.

    Notes
    -----
    For a lazy frame the result is a plan of one step, which computes the same when it is collected.
    It then reads only the columns in use, and raises for rows that cannot be ranked.

    Areas under precision-recall curves are those of P-ROC, interpolated as in D&G; "sens" and
    "accsens" are those of AccSens.

    Standard errors are those of the infinitesimal jackknife with the divisors n − 1 per class; for
    the AUC they are those of DeLong, DeLong and Clarke-Pearson (1988). Intervals are symmetric in
    the log-odds of the measure, with the quantile of Student's t at one degree of freedom less than
    there are cases of the rarer class; class totals and priors are taken as fixed. They are
    computed for the sample as it is, and with half a case of each class added at the worst or at
    the best rank, since a sample has no information on scores beyond its best and its worst case;
    the widest limits are returned, so that those of the AUC are wider than DeLong's. At the
    balanced points of "sens", "accsens" and "equal_error" the slope of the ROC is estimated by a
    chord over about two standard errors, so that their standard errors are approximate. Limits are
    null with one positive or one negative, and where all cases have the same influence. For areas
    of exactly 1, `lower` is a bound from the numbers of cases alone. How often intervals held in
    simulation is on the page "How certain" of the documentation.

    The Brier score, the log loss and the Brier skill are means of the losses of single cases. Their
    limits are symmetric in the logarithm of the mean loss, and the widest of those of the sample as
    it is and with one more case of either class, of no loss or of a great one (the greatest there
    can be; for the log loss, which has no bound, two nats more than the greatest loss of the
    class). Where `score_prior` is ``"observed"``, the error of that prior is in them.
    "calibration_loss" and "refinement_loss" have no interval: their hull is fitted to the same
    cases, so that the first is too high and the second too low.

    At an estimated prior, limits are the widest of those at the estimate and at both ends of
    its interval, of the same level: also where the reference of the estimate is this very
    table (``just simulate in_use_carried``). There is no `std_error` then.

    With clusters, the influences of the cases of a class are summed within each cluster before
    they are squared (Obuchowski 1997); half an average cluster of the class is added in place of
    half a case, and Student's t has one degree of freedom less than there are clusters with cases
    of the rarer class. Clusters of one case each, and weights that are equal within each class,
    leave limits as they are without them.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> measures = table.pipe(pr.evaluate, truth="truth", score="score", priors=0.1)
    >>> [(name, round(value, 3)) for name, value in measures.select("measure", "estimate").rows()]
    [('auc', 0.68), ('auprec', 0.35)]

    Arrays go in a mapping, and each model may have a column of scores:

    >>> arrays = {"y": [1, 0, 1, 0], "forest": [0.9, 0.7, 0.6, 0.1], "tree": [0.9, 0.2, 0.1, 0.3]}
    >>> measures = pr.evaluate(arrays, truth="y", score=["forest", "tree"], measure="auc")
    >>> measures.select("model", "estimate").rows()
    [('forest', 0.75), ('tree', 0.5)]
    """
    cases = as_cases(table, columns)
    check_intervals(intervals, level, interpolation, memory)
    needed, estimates = estimates_in(priors)
    if estimates is not None and intervals:
        check_level(estimates, level)
    measures = select_measures(measure, needed, over, interpolation, score_prior=score_prior)
    report = progress_callback(progress)

    def computed() -> pl.DataFrame:
        measured = _measured(cases, measures, level if intervals else None, memory, report)
        if cases.count is not None:
            measured = measured.cast({"positives": pl.Int64, "negatives": pl.Int64})
        return at_estimates(measured.lazy(), estimates).collect()

    if isinstance(cases.rows, pl.DataFrame):
        return computed()
    predictions = read(cases, once=True)
    types = predictions.rows.collect_schema()
    schema = tidy_schema(
        {key: types[key] for key in predictions.keys}, measures, weighted=predictions.sampled,
        limits=intervals,
    )  # fmt: skip
    # A function of the rows of a plan would be given all of them at once: this one has one row.
    return pl.LazyFrame({"row": [0]}).map_batches(
        lambda _: computed(), schema=schema, predicate_pushdown=False, projection_pushdown=False,
        slice_pushdown=False,
    )  # fmt: skip


def check_intervals(
    intervals: bool, level: float, interpolation: str, memory: Memory | None = None
) -> None:
    """Raise for arguments that do not go with intervals, or without them."""
    check_bool("intervals", intervals)
    if not intervals:
        refuse_unused("for intervals", "intervals is False", level=none_if(level, 0.95))
        return
    check_share("level", level)
    if interpolation == "hull":
        raise InvalidArgument(
            "interpolation is 'hull': the hull is fitted to the test data, and no interval "
            "of it is valid.",
            hint="use interpolation='exact'.",
        )
    if memory is not None:
        raise InvalidArgument(
            f"intervals is True and memory is {memory!r}, allowed is one of them.",
            hint="leave memory out, or take the keys a few at a time.",
        )


def _measured(
    cases: Cases[Any],
    measures: Sequence[Measure],
    level: float | None,
    memory: Memory | None,
    report: Progress | None,
) -> pl.DataFrame:
    """The tidy measures of cases, computed now; with intervals where there is a level."""
    if level is not None:
        held = cases.collect()
        predictions = read(held, clustered=held.in_clusters)
        ranked_rows = ranked(predictions, merged=may_merge(measures))
        wide = sums_of_ranked(ranked_rows, predictions, measures)
        rows = all_rows(wide.lazy(), predictions.keys, measures).collect(engine="in-memory")
        limits = limits_of_ranked(ranked_rows, wide, predictions, measures, level)
        limited = with_limits(rows.hstack(limits).lazy(), predictions.keys, level)
        noted = with_note(limited, dependence(held), pl.col("lower").is_not_null())
        return without_repeats(noted, measures).collect()
    if isinstance(cases.rows, pl.DataFrame) and memory is None:
        predictions = read(cases)
        wide = sums_of_rows(predictions, measures)
    else:
        predictions = read(cases, once=True)
        wide = sums_within(cases, measures, "auto" if memory is None else memory, report)
        warn_of_parts(cases, wide)
    return tidy(wide.lazy(), predictions.keys, measures).collect(engine="in-memory")


def estimates_in(priors: Priors) -> tuple[Priors, pl.DataFrame | None]:
    """The priors at which measures are needed, and the estimates, if priors are estimated.

    Needed are then the estimates and the ends of their intervals.
    """
    if not is_estimate(priors):
        return priors.collect() if isinstance(priors, pl.LazyFrame) else priors, None
    estimates = priors.lazy().collect()
    columns = estimates.select("prior", "lower", "upper").iter_columns()
    needed = {value for column in columns for value in column if value is not None}
    return sorted(value for value in needed if 0 < value < 1) or [0.5], estimates


def at_estimates(measures: pl.LazyFrame, estimates: pl.DataFrame | None) -> pl.LazyFrame:
    """Tidy measures at the estimated prior of each key, if there are estimates.

    Those that have no prior are unchanged. Limits are the widest of those at the estimate and at
    the ends of its interval, as the errors of measure and estimate may come from the same cases.
    Where an end is 0 or 1, AUPREC may be anything beyond.
    """
    if estimates is None:
        return measures
    names = measures.collect_schema().names()
    each, order, prior = names[: names.index("measure") + 1], private("order"), pl.col("prior")
    values = [name for name in ("estimate", "lower", "upper", "std_error", "note") if name in names]
    ordered = measures.with_row_index(order).cache()
    at_prior = ordered.filter(prior.is_not_null())
    # One row for each key and measure, whose values are then those at the estimate.
    rows = at_prior.unique(each, keep="first").drop("prior", *values)
    rows = with_estimates(rows, estimates, each[:-1])

    def joined_at(end: str, *columns: str) -> pl.LazyFrame:
        """The rows with their values at the prior, or at an end of its interval."""
        return rows.join(
            at_prior.select(*each, "prior", *columns), left_on=[*each, end],
            right_on=[*each, "prior"], how="left", nulls_equal=True, suffix=private(end),
        )  # fmt: skip

    rows = joined_at("prior", *values)
    if "lower" in names:
        for end in PRIOR_LIMITS:
            rows = joined_at(end, "lower", "upper")
        rows = _with_limits(rows)
    note = (
        pl.when(prior.is_null())
        .then(pl.lit(NOT_ESTIMATED))
        .when((prior <= 0) | (prior >= 1))
        .then(pl.lit(AT_AN_END))
        .otherwise("note")
    )
    others = ordered.filter(prior.is_null())
    both = pl.concat([others, rows.with_columns(note=note).select(order, *names)])
    return both.sort(order, maintain_order=True).select(names)


def _with_limits(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The widest limits of those at the estimate and at both ends of its interval."""
    low, high = map(pl.col, PRIOR_LIMITS)
    is_area = pl.col("measure").str.starts_with("auprec")
    below, above = pl.when(is_area & (low <= 0)), pl.when(is_area & (high >= 1))
    at_low, at_high = map(private, PRIOR_LIMITS)
    lowers = [
        pl.col("lower"),
        below.then(0.0).otherwise("lower" + at_low),
        above.then("lower").otherwise("lower" + at_high),
    ]
    uppers = [
        pl.col("upper"),
        below.then("upper").otherwise("upper" + at_low),
        above.then(1.0).otherwise("upper" + at_high),
    ]
    has_prior = low.is_not_null() & high.is_not_null()
    has_limits = has_prior & pl.all_horizontal(one.is_not_null() for one in (*lowers, *uppers))
    lack = (
        pl.when(~has_prior & pl.col("prior").is_not_null())
        .then(pl.lit(f"{NO_INTERVAL}: none at it"))
        .when(~has_limits & pl.col("lower").is_not_null())
        .then(pl.lit("no interval at an end of that of the prior"))
    )
    return rows.with_columns(
        joined_notes("note", lack),
        lower=pl.when(has_limits).then(pl.min_horizontal(lowers)),
        upper=pl.when(has_limits).then(pl.max_horizontal(uppers)),
        # The standard error of the test set alone would be too small.
        std_error=pl.lit(None, pl.Float64),
    )
