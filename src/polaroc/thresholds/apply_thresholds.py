"""Thresholds that were chosen on one table, judged on the cases of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_bool, check_factors, check_share, is_number, one_or_several
from polaroc.base.columns import (
    FURTHER,
    IS_SAME,
    OF_THRESHOLDS,
    PRIOR_LIMITS,
    PRIVATE,
    RESERVED,
    TRUTH,
    as_lazy,
    check_shared_keys,
    join_by_key,
    private,
    require,
    with_key_types,
    with_level,
)
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.curves.segments import rate
from polaroc.curves.surface import at_priors
from polaroc.curves.totals import totals
from polaroc.errors import InvalidTable, check_choice, quoted
from polaroc.predictions.cases import Cases, as_cases, frame_of_cases, same_columns
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, one_class_note, read
from polaroc.priors.beliefs import Belief
from polaroc.priors.in_use import NOT_ESTIMATED, check_level
from polaroc.thresholds.operating_points import POINTS
from polaroc.thresholds.rate_limits import (
    COUNTS,
    limit_columns,
    notes_on_limits,
    rate_at,
    read_once,
    with_limits,
)
from polaroc.typing import PolarsFrame, Priors, Table

Numbers = float | Mapping[str, float | None]
# Rules whose thresholds are not searched for on the cases.
NOT_SEARCHED = ("threshold", "posterior")
SET_HERE = (
    "rates are as on the tuning table: if the threshold was set on these cases, limits leave that "
    "out, and may hold less often than they say"
)
# The number of a point, and its threshold and rates on the tuning table.
POINT, AT, WHY = private("point"), private("at"), private("why")
# Nothing called positive is a point, too: then the rates on the tuning table are 0, and not null.
HAS_POINT = pl.any_horizontal(pl.col(AT, private("tpr")).is_not_null())
TUNED = ("tpr", "fpr", "positives", "negatives")
# Without a column of cases, scores identify them if at least this share is distinct, and there are
# this many: the chance that other cases have the same ones is then below one in a million.
DISTINCT_SHARE, MIN_CASES = 0.9, 10
SHARED = {
    "case": "where they are the same cases, thresholds were judged on cases that they were chosen "
    "on.",
    "cluster": "where they are the same ones, new ones may do worse than the rates say.",
}


@frame_of_cases
def apply_thresholds(
    table: Table | Cases[Any],
    points: Table | Numbers,
    *,
    same_table: bool = False,
    tuning: Table | Cases[Any] | None = None,
    priors: Priors | Belief | None = None,
    intervals: bool = False,
    rates: str | Sequence[str] | None = None,
    level: float = 0.95,
    cost_fn: float = 1,
    cost_fp: float = 1,
    **columns: Unpack[Columns],
) -> PolarsFrame:
    """The rates of thresholds, chosen on another table, on these predictions.

    Parameters
    ----------
    table
        Predictions on cases that the thresholds were not chosen on, one row per case: any table
        that `cases` takes, or its result.
    points
        The result of `operating_points` on a tuning table. Its keys must be
        among those of the cases; thresholds of a model apply to all folds, say, where the
        cases have folds and the points have none. For thresholds in use, one number, a mapping
        from model to number, or a table of keys and a `threshold`: they are judged at the share of
        positives of each key, or at `priors`.
    same_table
        Whether the very table that the thresholds were chosen on is meant.
    tuning
        The predictions that the thresholds were chosen on, with the same columns or as the result
        of `cases`: `note` says how many cases, or values of `cluster`, are in both tables, by the
        columns that tell them. Both are read at once.
    priors
        The prior in use, in place of that the thresholds were chosen for: priors in (0, 1), or
        ``"observed"`` for the share of positives of each key here; one, several, or a prior grid;
        the result of `estimate_prior`, whose keys must be among those of the cases; or a belief,
        `uniform` or `beta`, whose mean becomes the `prior`.
    intervals
        Whether to give limits of what the thresholds do.
    rates
        Further rates, by their names in the module `rates`: "specificity", "fnr", "npv",
        "likelihood_ratio_positive", "likelihood_ratio_negative", "f_measure" (F1), "accuracy",
        "error" or "informedness"; one or several.
    level
        Coverage of the intervals, in (0, 1); an estimated prior must have an interval of the same.
    cost_fn, cost_fp
        Costs ≥ 0 of a missed positive and of a false alarm, for `cost`.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind of the cases
        The columns of `operating_points` for every key and point, with `tpr`,
        `fpr`, `precision`, `positives` and `negatives` as they come out here;
        `note` is null, or says that a class is absent, that rows cannot be ranked
        or were dropped, that the points have none for a key, why there is no interval, that
        limits leave out that the threshold was set on these very cases, or which cases are in
        `tuning`, too.
        Where the prior in use is estimated or a belief, `prior_lower` and `prior_upper`, of a
        belief the ends of its middle part of the probability `level`.
        With intervals also, all Float64: `posfrac`, the share of cases called positive;
        `cost` per case, cost_fn·π(1−t) + cost_fp·(1−π)f; and `tpr_lower`, `tpr_upper`,
        `fpr_…`, `precision_…`, `posfrac_…`, `cost_…`, of which the first two need cases of
        their own class only. Each of the `rates` has a column of its
        name, null where it is 0/0, and with intervals its limits; a likelihood ratio may be
        infinite.
        With limits of either kind also `level`.

    Raises
    ------
    InvalidTable
        Where `points` lacks a column, has a key that the cases lack, or where
        every rate and total comes out just as on the tuning table: then it is
        the same table (of a lazy table when it is collected); where all cases of `tuning` are
        among these, or the reverse; where estimated priors have a key that the cases lack.
    InvalidPredictions, InvalidArgument
        As in `curve`; for a level or cost outside what is allowed.

    Notes
    -----
    Precision moves with the prior as in P-ROC Eq. 3. Intervals are for independent cases. Cases
    of a `cluster`, or with a `weight`, count as so many independent ones as tell rates as well, by
    their design effect (Kish 1965; Korn and Graubard 1998). Those
    of `tpr` and `fpr` are those of Clopper and Pearson (1934). Those of `precision`, `posfrac`
    and `cost` meld the distributions behind them (Fay, Proschan and Brittain, 2015), by quantiles
    of 2,048 pairs. With 20 cases of a class or more, 0.95 intervals held the truth in 0.95 to 0.99
    of samples at every pair of rates tried, by full enumeration (``just simulate rates_known``).
    If the prior is estimated or a belief, they are the widest of those at `prior`, `prior_lower`
    and `prior_upper`, since the error of an estimate may come from the very cases that judge the
    threshold: from references of 50 positives on they
    held the truth in 0.93 to 1.00 of samples, the reference being the judged table or another.
    An estimate without an interval has none to carry.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> tuning = pr.datasets.twenty_scores()
    >>> curves = pr.curve(tuning, truth="truth", score="score")
    >>> points = pr.operating_points(curves, "recall", target=0.5)
    >>> test = pl.DataFrame({"truth": [1, 1, 0, 0], "score": [0.8, 0.2, 0.6, 0.1]})
    >>> realised = pr.apply_thresholds(test, points, truth="truth", score="score")
    >>> realised.select("threshold", "tpr", "fpr").row(0)
    (0.54, 0.5, 0.5)

    How sure one can be of precision where 10 to 30 % are positive:

    >>> judged = pr.apply_thresholds(
    ...     test, points, truth="truth", score="score", priors=pr.uniform(0.1, 0.3),
    ...     intervals=True,
    ... )
    >>> judged.select(pl.col("precision", "precision_lower", "precision_upper").round(2)).row(0)
    (0.2, 0.0, 0.96)
    """
    check_bool("intervals", intervals)
    check_bool("same_table", same_table)
    check_share("level", level)
    cost_fn, cost_fp = check_factors(or_zero=True, cost_fn=cost_fn, cost_fp=cost_fp)
    further = [] if rates is None else list(dict.fromkeys(one_or_several(rates)))
    for name in further:
        check_choice("rates", name, FURTHER)
    cases = as_cases(table, columns)
    cases = read_once(cases) if intervals else cases
    predictions = read(cases)
    keys = predictions.keys
    judged, has_interval = _at_priors(predictions, points_of(points), priors, level)
    t, f, prior = map(pl.col, ("tpr", "fpr", "prior"))
    more = [*(("posfrac", "cost") if intervals else ()), *further]
    limited = ["tpr", "fpr", "precision", *more] if intervals else []
    judged = (
        judged.with_columns(
            rate_at(name, t, f, (1 - prior) / prior, cost_fn, cost_fp).fill_nan(None).alias(name)
            for name in ("precision", *more)
        )
        .sort(*keys, "prior", "rule", "threshold", nulls_last=True)
        .map_batches(
            lambda rows: _checked(rows, same_table), predicate_pushdown=False,
            projection_pushdown=False, slice_pushdown=False,
        )
    )  # fmt: skip
    notes = [
        one_class_note(),
        pl.when(pl.col("rule").is_null())
        .then(pl.lit("there is no point for this key"))
        .when(pl.col("threshold").is_null())
        .then(pl.coalesce(WHY, pl.lit("no point was chosen")))
        .when(prior.is_null() & has_interval)
        .then(pl.lit(NOT_ESTIMATED)),
    ]
    if intervals:
        judged = with_limits(judged, cases, keys, limited, level, cost_fn, cost_fp)
        is_limited = pl.any_horizontal(pl.col("tpr_lower", "fpr_lower").is_not_null())
        is_set_here = pl.col(IS_SAME) & ~pl.col("rule").is_in(NOT_SEARCHED) & is_limited
        notes += [
            *notes_on_limits(cases, is_limited),
            pl.when(is_set_here & same_table).then(pl.lit(SET_HERE)),
        ]
    if tuning is not None and not same_table:
        chosen_on = same_columns(
            cases, tuning, without=("fold", "count", "weight", "by"),
            may_lack=("model", "case", "cluster"),
        )  # fmt: skip
        for warning in shared_with_tuning(cases.collect(), chosen_on.collect()):
            notes.append(pl.when(HAS_POINT).then(pl.lit(warning.removesuffix("."))))
    result = judged.with_columns(joined_notes("note", *notes)).select(
        *keys, *POINTS, *(PRIOR_LIMITS if has_interval else ()), *more, *limit_columns(limited)
    )  # fmt: skip
    return cases.like(with_level(result, level) if has_interval or intervals else result)


def points_of(points: Table | Numbers) -> pl.LazyFrame:
    """Thresholds in use as a table of points, whose rates on a tuning table are not known."""
    if isinstance(points, Mapping) and all(
        one is None or is_number(one) for one in points.values()
    ):
        table = pl.LazyFrame({"model": [*points], "threshold": [*points.values()]})
    elif is_number(points):
        table = pl.LazyFrame({"threshold": [points]})
    else:
        table = as_lazy(points)
    require(table, ["threshold"], source="operating_points(...)")
    # A point without a prior is taken at the prior in use.
    added = {
        "rule": pl.lit("threshold"),
        "note": pl.lit(None, pl.String),
        **dict.fromkeys(TUNED, pl.lit(None, pl.Float64)),
    }
    present = table.collect_schema()
    return table.with_columns(
        pl.col("threshold").cast(pl.Float64),
        **{name: value for name, value in added.items() if name not in present},
    )


def _at_priors(
    table: Predictions, points: pl.LazyFrame, priors: Priors | Belief | None, level: float
) -> tuple[pl.LazyFrame, bool]:
    """The points judged at the priors in use, with limits, and whether these are an interval."""
    if isinstance(priors, Belief):
        lower, upper = priors.quantile([(1 - level) / 2, (1 + level) / 2])
        priors = pl.DataFrame({"prior": [priors.mean], "lower": [lower], "upper": [upper]})
    if priors is None and "prior" not in points.collect_schema():
        priors = "observed"
    if priors is None:
        judged = _judged(table, points)
    else:
        without = points.drop("prior", *PRIOR_LIMITS, strict=False)
        judged = at_priors(_judged(table, without), priors)
    if PRIOR_LIMITS[0] not in judged.collect_schema():
        return judged.with_columns(prior_lower="prior", prior_upper="prior"), False
    estimates: Any = points if priors is None else priors
    check_level(estimates, level)
    return judged, True


def _judged(table: Predictions, points: pl.LazyFrame) -> pl.LazyFrame:
    """The points with their rates on a table, and whether these equal the tuned ones: `IS_SAME`."""
    # Results of this function and of `expected_cost` have further columns, which are no keys.
    present = points.collect_schema()
    shared = [name for name in present if name not in RESERVED | OF_THRESHOLDS]
    check_shared_keys(shared, table.keys, "the points")
    priors = [name for name in ("prior", *PRIOR_LIMITS) if name in present]
    placed = (
        with_key_types(points, table.rows.collect_schema(), shared)
        .select(
            *shared, "rule", *priors, pl.col("threshold").alias(AT),
            pl.when(pl.col("threshold").is_null()).then("note").alias(WHY),
            pl.col(TUNED).name.prefix(PRIVATE),
        )
        .unique()
        .with_row_index(POINT)
        .cache()
    )  # fmt: skip
    truth = pl.col(TRUTH)
    # Without a threshold nothing is called positive.
    is_called = (pl.col(SCORE) >= pl.col(AT)).fill_null(False)
    called = (
        join_by_key(table.valid_rows, placed, shared, "inner", maintain_order="none")
        .group_by(*table.keys, POINT)
        .agg(
            (is_called & of_class).mul(table.weight).sum().alias(name)
            for name, of_class in zip(COUNTS, (truth, ~truth), strict=True)
        )
    )
    as_tuned = [
        (pl.col(name) - pl.col(private(name))).abs() <= ROUNDING * pl.col(name).abs()
        for name in TUNED
    ]
    # Sums of weights are rounded; where all cases of a class are called, its rate is 1.
    counts = [
        pl.when(pl.col(name) < (1 - ROUNDING) * pl.col(total)).then(name).otherwise(total)
        for name, total in zip(COUNTS, ("positives", "negatives"), strict=True)
    ]
    return (
        totals(table)
        .select(*table.keys, "positives", "negatives", "note")
        .pipe(join_by_key, placed, shared)
        .pipe(join_by_key, called, [*table.keys, POINT])
        .with_columns(*(pl.when(HAS_POINT).then(count) for count in counts), threshold=AT)
        .with_columns(tpr=rate(COUNTS[0], "positives"), fpr=rate(COUNTS[1], "negatives"))
        .with_columns(pl.all_horizontal(as_tuned).fill_null(False).alias(IS_SAME))
    )


def _checked(judged: pl.DataFrame, same_table: bool) -> pl.DataFrame:
    """The rows; raise for what is no threshold or prior, and if all are as on another table."""
    if judged["threshold"].is_nan().any() or not judged["prior"].is_between(0, 1).all():
        raise InvalidTable(
            "a threshold is NaN, or a prior is not from 0 to 1.", hint="correct the points."
        )
    if not same_table and judged.height and judged[IS_SAME].all():
        raise InvalidTable(
            "every rate and total comes out just as on the tuning table: the thresholds would "
            "be judged on the cases they were chosen on.",
            hint="give other cases, or same_table=True.",
        )
    return judged


def with_model_type(tuning: Cases[pl.DataFrame], cases: Cases[pl.DataFrame]) -> Cases[pl.DataFrame]:
    """The tuning cases, with the names of models in the type that they have in the other cases."""
    if tuning.model is None or cases.model is None:
        return tuning
    rows = with_key_types(tuning.rows.lazy(), cases.rows.schema, [tuning.model])
    return replace(tuning, rows=rows.collect())


def shared_with_tuning(cases: Cases[pl.DataFrame], tuning: Cases[pl.DataFrame]) -> list[str]:
    """Warnings of cases and clusters in both tables; raise where one table is in the other."""
    _refuse_contained(cases, with_model_type(tuning, cases))
    warnings = []
    for role, warning in SHARED.items():
        if role not in cases.names or role not in tuning.names:
            continue
        judged, tuned = cases.rows[role], tuning.rows[role]
        kinds = judged.dtype, tuned.dtype
        if kinds[0] != kinds[1] and not all(kind.is_integer() for kind in kinds):
            continue
        values = judged.drop_nulls().unique()
        if both := values.is_in(tuned.unique().implode()).sum():
            name = quoted(cases.names[role])
            warnings.append(
                f"{both:,} of the {len(values):,} values of {name} are in tuning, too: {warning}"
            )
    return warnings


def _refuse_contained(cases: Cases[pl.DataFrame], tuning: Cases[pl.DataFrame]) -> None:
    """Refuse tables of which one has all cases of the other, by their names or their scores."""
    kinds = tuning.rows.schema
    same = {"model", "truth", "score"} & {*cases.rows.columns} & {*kinds}
    has_case = "case" in cases.names and "case" in tuning.names
    for on in [[*same, "case"], [*same]] if has_case else [[*same]]:
        if any(cases.rows.schema[name] != kinds[name] for name in on):
            continue
        judged, tuned = (table.rows.group_by(on).len() for table in (cases, tuning))
        both = judged.join(tuned, on=on, nulls_equal=True)
        count = both.select(pl.min_horizontal("len", "len_right").sum()).item()
        is_within, has_within = (count == table.rows.height for table in (cases, tuning))
        are_identified = "case" in on or all(
            table.rows.height >= MIN_CASES and groups.height >= DISTINCT_SHARE * table.rows.height
            for table, groups in ((cases, judged), (tuning, tuned))
        )
        if count and (is_within or has_within) and (are_identified or is_within == has_within):
            which = ("tuning", "the predictions") if has_within else ("the predictions", "tuning")
            raise InvalidTable(
                f"all cases of {which[0]} are among {which[1]}: the thresholds would be judged on "
                "the cases they were chosen on.",
                hint="give other cases as tuning.",
            )
