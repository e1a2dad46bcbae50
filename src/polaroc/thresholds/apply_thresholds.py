"""Apply thresholds chosen on one table to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polaroc import rates
from polaroc.base.checks import (
    check_bool,
    check_factors,
    check_share,
    one_or_several,
    refuse_unused,
    unless,
)
from polaroc.base.columns import (
    FURTHER,
    OF_THRESHOLDS,
    PRIOR_LIMITS,
    as_lazy,
    check_shared_keys,
    refuse_clash,
    require,
    with_key_types,
    with_level,
)
from polaroc.base.private_columns import PRIVATE, SAME, TRUTH, WEIGHT, private
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.curves.segments import share as share_of
from polaroc.curves.surface import RATES
from polaroc.curves.totals import totals
from polaroc.errors import InvalidTable, check_choice
from polaroc.predictions.cases import Cases, as_cases, frame_of_cases, same_columns
from polaroc.predictions.columns import Columns
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, one_class_note, read
from polaroc.priors.beliefs import Belief
from polaroc.priors.in_use import METHOD, NOT_ESTIMATED, check_level, is_estimate
from polaroc.thresholds.design_effects import read_once, with_effects
from polaroc.thresholds.fixed import Numbers, are_numbers, points_of_numbers
from polaroc.thresholds.interval_columns import (
    ADDED,
    COUNTS,
    limit_columns,
    with_interval_columns,
    with_priors_in_use,
)
from polaroc.thresholds.operating_points import POINTS
from polaroc.thresholds.rate_intervals import Costs
from polaroc.thresholds.tuning_cases import shared_with_tuning
from polaroc.typing import Priors, Table

SAME_TABLE = "as on the tuning table: were the thresholds chosen on these cases?"
# Rules whose thresholds are not searched for on the cases.
NOT_SEARCHED = ("threshold", "posterior")
# Roles that a tuning table may lack: what it shares with these cases they do not tell, or tell by
# the name of their column.
NOT_OF_TUNING = ("fold", "cluster", "count", "weight", "by")
SET_HERE = (
    "rates are as on the tuning table: if the threshold was set on these cases, limits leave that "
    "out, and may hold less often than they say"
)


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
) -> pl.DataFrame | pl.LazyFrame:
    """The rates of thresholds, chosen on another table, on these predictions.

    Parameters
    ----------
    table
        Predictions on cases that the thresholds were not chosen on, one row per case: any table
        that `cases` takes, or its result.
    points
        The result of `operating_points` on a tuning table. Its keys must be
        among those of the cases; thresholds of a model apply to all folds, say, where the
        cases have folds and the points have none. For thresholds in use, one number or a mapping
        from model to number: they are judged at the share of positives of each key, or
        at `priors`.
    same_table
        Whether the very table that the thresholds were chosen on is meant.
    tuning
        The predictions that the thresholds were chosen on, with the same columns or as the result
        of `cases`: `note` says how many cases, or values of `cluster`, are in both tables, by the
        columns that tell them. Both are read at once.
    priors
        The prior in use, in place of that the thresholds were chosen for: priors as in
        `operating_points`; the result of `estimate_prior`, whose keys must be among those of the
        cases; or a belief, `uniform` or `beta`, whose mean becomes the
        `prior`.
    intervals
        Whether to give limits of what the thresholds do.
    rates
        Further rates, by their names in the module `rates`: "specificity", "fnr", "npv",
        "likelihood_ratio_positive", "likelihood_ratio_negative", "f_measure" (F1), "accuracy",
        "error" or "informedness"; one or several.
    level
        Coverage of the intervals, in (0, 1); an estimated prior must have an interval of the same.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm, for `cost`.
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
        Where the prior in use is estimated or a belief, `prior_lower` and `prior_upper`.
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
        the same table (a lazy plan says it in `note`); where all cases of `tuning` are among
        these, or the reverse; where estimated priors have a key that the cases lack.
    InvalidPredictions, InvalidArgument
        As in `curve`; for a level or cost outside what is allowed.

    Notes
    -----
    Precision moves with the prior as in P-ROC Eq. 3. Intervals are for independent cases. Cases
    of a `cluster`, or with a `weight`, count as so many independent ones as tell rates as well, by
    their design effect (Kish 1965; Korn and Graubard 1998). Those
    of `tpr` and `fpr` are those of Clopper and Pearson (1934). Those of `precision`, `posfrac`
    and `cost` meld the distributions behind them (Fay, Proschan and Brittain, 2015): with 20
    cases of a class or more, 0.95 intervals held the truth in 0.95 to 0.99 of samples at every
    pair of rates tried, by full enumeration (``just simulate rates_known``). At a belief they are
    for the prior drawn from it. At an estimated prior its error is in them: a half normal to
    either side for ``method="em"``, and the ends of its interval for others, as its error may
    come from the very cases that judge the threshold: from references of 50 positives on they
    held the truth in 0.93 to 1.00 of samples, the reference being the judged table or another.
    An estimate without an interval has none to carry. Cases that score just the threshold and
    are called with a probability, as by the rule "balanced", count as whichever is worse for a
    limit.

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
    (0.2, 0.0, 0.93)
    """
    check_bool("intervals", intervals)
    check_bool("same_table", same_table)
    check_share("level", level)
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    own_costs: dict[str, Any] = {"cost_fn": unless(1, cost_fn), "cost_fp": unless(1, cost_fp)}
    cases = as_cases(table, columns)
    cases = read_once(cases) if intervals else cases
    predictions = read(cases)
    keys = predictions.keys
    if are_numbers(points):
        points = points_of_numbers(points, totals(predictions), keys)
    further = _further(rates)
    has_point = as_lazy(points).cache()
    realised = _realised(predictions, *_placed(predictions, has_point, priors, level))
    of_points = priors is None and PRIOR_LIMITS[0] in has_point.collect_schema()
    estimates = priors if is_estimate(priors) else has_point if of_points else None
    if estimates is not None:
        check_level(estimates, level)
    has_limits = isinstance(priors, Belief) or estimates is not None
    shown = [*POINTS, *(PRIOR_LIMITS if has_limits else ()), *further]
    skewed = (1 - pl.col("prior")) / pl.col("prior")
    realised = realised.with_columns(
        RATES[name](pl.col("tpr"), pl.col("fpr"), skewed).fill_nan(None).alias(name)
        for name in further
    )
    if not intervals:
        refuse_unused(
            "for intervals", "intervals is False",
            level=None if has_limits else unless(0.95, level), **own_costs,
        )  # fmt: skip
    else:
        shown += [*ADDED, *limit_columns(further)]
        has_limits = True
        with_clusters = with_effects(realised, cases, keys)
        realised = with_interval_columns(
            with_clusters, priors, level, Costs(cost_fn, cost_fp), further
        )
        doubt = dependence(cases)
        has_limits_here = pl.any_horizontal(pl.col("tpr_lower", "fpr_lower").is_not_null())
        realised = with_note(realised, doubt, has_limits_here)
        is_set_here = pl.col(SAME) & ~pl.col("rule").is_in(NOT_SEARCHED) & has_limits_here
        realised = with_note(realised, SET_HERE if same_table else None, is_set_here)
    if tuning is not None and not same_table:
        chosen_on = same_columns(cases, tuning, without=NOT_OF_TUNING)
        for warning in shared_with_tuning(cases.collect(), chosen_on.collect()):
            has_threshold = pl.col("share").is_not_null()
            realised = with_note(realised, warning.removesuffix("."), has_threshold)
    refuse_clash(keys, shown)
    if not same_table:
        note = pl.when(pl.col(SAME).all()).then(pl.lit(SAME_TABLE)).otherwise("note")
        realised = realised.with_columns(note.alias("note"))
    result = realised.select(*keys, *shown)
    result = with_level(result, level) if has_limits else result
    if same_table or not isinstance(cases.rows, pl.DataFrame):
        return cases.like(result)
    collected = result.collect()
    refuse_same_table(collected, "give other cases, or same_table=True.")
    return collected


def refuse_same_table(judged: pl.DataFrame, hint: str = "give other cases.") -> None:
    """Refuse judged thresholds of which all do just what they did on their tuning table."""
    if judged.height and judged["note"].eq_missing(pl.Series([SAME_TABLE])).all():
        raise InvalidTable(
            "every rate and total comes out just as on the tuning table: the thresholds would be "
            "judged on the cases they were chosen on.",
            hint=hint,
        )


def _further(names: object) -> list[str]:
    """The further rates that are asked for; raise for one that is unknown."""
    if names is None:
        return []
    asked = one_or_several(names)
    for name in asked:
        check_choice("rates", name, FURTHER)
    return list(dict.fromkeys(asked))


def _placed(
    table: Predictions, points: pl.LazyFrame, priors: Priors | Belief | None, level: float
) -> tuple[pl.LazyFrame, list[str]]:
    """The points at the priors in use, with the keys that they share with a table, and these."""
    given = require(points, POINTS, source="operating_points(...)")
    # Points that were applied before, or are those of `expected_cost`, have further columns.
    shared = [key for key in given if key in table.keys or key not in OF_THRESHOLDS]
    check_shared_keys(shared, table.keys, "the points")
    kinds = table.rows.collect_schema()
    typed = with_key_types(points, kinds, shared)
    placed = with_priors_in_use(typed, priors, table.keys, level)
    present = placed.collect_schema().names()
    shared = [key for key in table.keys if key in present]
    return with_key_types(placed, kinds, shared), shared


def _realised(table: Predictions, points: pl.LazyFrame, shared: Sequence[str]) -> pl.LazyFrame:
    """The points with their rates on a table, and whether all equal the tuned ones."""
    limit, share = pl.col(private("at")), pl.col("share")
    tuned = [private(name) for name in ("tpr", "fpr", "positives", "negatives")]
    placed = [*PRIOR_LIMITS, METHOD]
    tuned_points = points.select(
        *shared, "rule", "prior", "share", *placed,
        pl.col("threshold").alias(private("at")),
        *(pl.col(name.removeprefix(PRIVATE)).alias(name) for name in tuned),
    ).unique()  # fmt: skip
    # Join by values, since rows of a lazy table have no stable number.
    join_keys = [*table.keys, "rule", "prior", "share", *placed, private("at"), *tuned]
    called = (
        table.valid_rows.join(tuned_points, on=shared or pl.lit(0), nulls_equal=True)
        .group_by(join_keys)
        .agg(_called(limit, share, weighted=table.weighted))
    )
    counts = totals(table).select(*table.keys, "positives", "negatives", "note")
    positives, negatives = pl.col("positives"), pl.col("negatives")
    has_point = share.is_not_null()
    t = pl.when(has_point & (positives > 0)).then(share_of(pl.col("tpr"), positives))
    f = pl.when(has_point & (negatives > 0)).then(share_of(pl.col("fpr"), negatives))
    realised = [pl.col(name.removeprefix(PRIVATE)) for name in tuned]
    equal = [
        (a - pl.col(b)).abs() <= ROUNDING * a.abs() for a, b in zip(realised, tuned, strict=True)
    ]
    skewed = (1 - pl.col("prior")) / pl.col("prior")
    return (
        counts.join(tuned_points, on=shared or pl.lit(0), how="left", nulls_equal=True)
        .join(called, on=join_keys, how="left", nulls_equal=True)
        .with_columns(t.alias("tpr"), f.alias("fpr"))
        .with_columns(
            rates.precision(pl.col("tpr"), pl.col("fpr"), skewed).fill_nan(None).alias("precision"),
            limit.alias("threshold"),
            _note_on_calls(),
            pl.all_horizontal(equal).fill_null(False).alias(SAME),
        )
        .sort(*table.keys, "prior", "rule", "threshold", nulls_last=True)
    )


def _called(limit: pl.Expr, share: pl.Expr, *, weighted: bool) -> list[pl.Expr]:
    """The cases called positive: of positives, in `tpr`, of negatives, in `fpr`, and `COUNTS`."""
    weight = pl.col(WEIGHT) if weighted else pl.lit(1, pl.Int64)
    pos, neg = pl.col(TRUTH) * weight, ~pl.col(TRUTH) * weight
    # Without a threshold nothing is called positive.
    above = (pl.col(SCORE) > limit).fill_null(False)
    tied = (pl.col(SCORE) == limit).fill_null(False)
    called = above.cast(pl.Float64) + tied.cast(pl.Float64) * share
    surely, perhaps = above | (tied & (share >= 1)), above | (tied & (share > 0))
    least_and_most = ((pos, surely), (pos, perhaps), (neg, surely), (neg, perhaps))
    return [
        (called * pos).sum().alias("tpr"),
        (called * neg).sum().alias("fpr"),
        *(
            (is_called.fill_null(False) * cases).sum().cast(pl.Float64).alias(name)
            for name, (cases, is_called) in zip(COUNTS, least_and_most, strict=True)
        ),
    ]


def _note_on_calls() -> pl.Expr:
    """Note on the rows and classes of a key and on its point."""
    lack = (
        pl.when(pl.col("rule").is_null())
        .then(pl.lit("there is no point for this key"))
        .when(pl.col("share").is_null())
        .then(pl.lit("no point was chosen"))
        .when(pl.col("prior").is_null())
        .then(pl.lit(NOT_ESTIMATED))
    )
    absent = one_class_note(pl.col("positives"), pl.col("negatives"))
    return joined_notes("note", absent, lack)
