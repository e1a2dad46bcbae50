"""All measures of a prediction table in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_bool, check_share, refuse_unused, unless
from polaroc.curves.kernel import ranked
from polaroc.errors import InvalidArgument
from polaroc.evaluation.at_estimates import at_estimates, priors_and_ends
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
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import is_estimate
from polaroc.priors.in_use import check_level
from polaroc.typing import Interpolation, Prior, Priors, Table


@frame_of_cases
def evaluate(
    table: Table | Cases[Any],
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    intervals: bool = False,
    level: float = 0.95,
    measure: str | Sequence[str] | None = None,
    score_prior: Prior = "observed",
    memory: Memory | None = None,
    progress: Progress | bool | None = None,
    **columns: Unpack[Columns],
) -> pl.DataFrame | pl.LazyFrame:
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
    they are squared (Obuchowski 1997), half of what a cluster with the class has of it stands in
    for the half cases, and quantiles are Student's, with one degree of freedom less
    than there are clusters with cases of the class that fewer clusters have. Clusters of one case
    each, and weights that are equal within each class, leave limits as they are without them.

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
    estimates = priors.lazy().collect() if is_estimate(priors) else None
    if estimates is not None and intervals:
        check_level(estimates, level)
    grid = priors.collect() if isinstance(priors, pl.LazyFrame) else priors
    measures = select_measures(
        measure, grid if estimates is None else priors_and_ends(estimates), over, interpolation,
        score_prior=score_prior,
    )  # fmt: skip
    report = progress_callback(progress)

    def made() -> pl.DataFrame:
        measured = _measured(cases, measures, level if intervals else None, memory, report)
        if cases.count is not None:
            measured = measured.cast({"positives": pl.Int64, "negatives": pl.Int64})
        return measured if estimates is None else at_estimates(measured.lazy(), estimates).collect()

    if isinstance(cases.rows, pl.DataFrame):
        return made()
    known = read(cases, once=True)
    kinds = known.rows.collect_schema()
    schema = tidy_schema(
        {name: kinds[name] for name in known.keys}, measures, weighted=known.sampled,
        limits=intervals,
    )  # fmt: skip
    # A function of the rows of the plan would hold all of them: this one is of a single row.
    return pl.LazyFrame({"row": [0]}).map_batches(
        lambda _: made(), schema=schema, predicate_pushdown=False, projection_pushdown=False,
        slice_pushdown=False,
    )  # fmt: skip


def check_intervals(
    intervals: bool, level: float, interpolation: str, memory: Memory | None = None
) -> None:
    """Raise for arguments that do not go with intervals, or without them."""
    check_bool("intervals", intervals)
    if not intervals:
        refuse_unused("for intervals", "intervals is False", level=unless(0.95, level))
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
        found = ranked(predictions, merged=may_merge(measures))
        wide = sums_of_ranked(found, predictions, measures)
        rows = all_rows(wide.lazy(), predictions.keys, measures).collect(engine="in-memory")
        limits = limits_of_ranked(found, wide, predictions, measures, level)
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
