"""Apply thresholds chosen on one table to another."""

from collections.abc import Sequence

import polars as pl

from polaroc import rates
from polaroc.base.checks import check_flag
from polaroc.base.columns import (
    as_lazy,
    attach,
    collect_like,
    require,
    takes_table,
    text_keys_of_different_types,
)
from polaroc.base.private_columns import PRIVATE, SAME, TRUTH, WEIGHT, private
from polaroc.base.statistics import ROUNDING
from polaroc.curves.keys import totals
from polaroc.curves.segments import share as share_of
from polaroc.errors import Hint, InvalidTable
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, one_class_note, read
from polaroc.thresholds.operating_points import POINTS
from polaroc.typing import By, Frame, IntoExpr, Label, Nulls, Score, Table

SAME_TABLE = "as on the tuning table: were the thresholds chosen on these cases?"


@takes_table
def apply_thresholds(
    predictions: Frame,
    points: Table,
    *,
    truth: IntoExpr,
    score: Score,
    by: By = (),
    weight: IntoExpr | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
    same_table: bool = False,
) -> Frame:
    """The rates of thresholds, chosen on another table, on these predictions.

    Parameters
    ----------
    predictions
        Predictions on cases that the thresholds were not chosen on: any table that
        `curve` takes.
    points
        The result of `operating_points` on a tuning table. Its keys must be
        among `by`; thresholds of a model apply to all folds, say, where `by`
        has folds and the points have none.
    truth, score, by, weight, positive, nulls
        As in `curve`.
    same_table
        Whether the very table the thresholds were chosen on is meant.

    Returns
    -------
    Frame of the kind of `predictions`
        The columns of `operating_points` for every key and point, with `tpr`,
        `fpr`, `precision`, `positives` and `negatives` as they come out here;
        `note` is null, or says that a class is absent, that rows cannot be ranked
        or were dropped, or that the points have none for a key.

    Raises
    ------
    InvalidTable
        Where `points` lacks a column, has a key that is not in `by`, or where
        every rate and total comes out just as on the tuning table: then it is
        the same table (a lazy plan says it in `note`).
    InvalidPredictions, InvalidArgument
        As in `curve`.

    See Also
    --------
    operating_points : The point that a rule takes at each prior.

    References
    ----------
    Landgrebe, Paclík, Duin, Bradley, "Precision-recall operating characteristic (P-ROC)
    curves in imprecise environments", 2006.

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
    """
    check_flag("same_table", same_table)
    table = read(
        predictions, truth=truth, score=score, by=by, weight=weight, positive=positive, nulls=nulls
    )
    has_point = as_lazy(points).cache()
    shared = require(has_point, POINTS, source="operating_points(...)")
    strange = [key for key in shared if key not in table.keys]
    if strange:
        raise InvalidTable(
            f"the points have the key {', '.join(map(repr, strange))}, which by has not.",
            hint="give by the keys of the points, and any others.",
        )
    realised = _realised(table, _with_key_types(has_point, table, shared), shared)
    if same_table:
        return collect_like(predictions, realised.select(*table.keys, *POINTS))
    note = pl.when(pl.col(SAME).all()).then(pl.lit(SAME_TABLE)).otherwise("note")
    result = realised.with_columns(note.alias("note")).select(*table.keys, *POINTS)
    if isinstance(predictions, pl.DataFrame):
        collected = result.collect()
        if collected.height and collected["note"].eq_missing(pl.Series([SAME_TABLE])).all():
            raise InvalidTable(
                "every rate and total comes out just as on the tuning table: the thresholds would "
                "be judged on the cases they were chosen on.",
                hint=Hint("give other cases, or {same_table}.", same_table=True),
            )
        return collected
    return result


def _with_key_types(points: pl.LazyFrame, table: Predictions, keys: Sequence[str]) -> pl.LazyFrame:
    """Cast keys of the points to the types of the predictions, where they fit."""
    kinds = table.rows.collect_schema()
    differ = text_keys_of_different_types(
        kinds, points.collect_schema(), keys, ("the predictions", "the points")
    )
    for key in differ:
        own = pl.col(key).cast(kinds[key], strict=False)
        points = points.filter(own.is_null() == pl.col(key).is_null()).with_columns(own)
    return points


def _realised(table: Predictions, points: pl.LazyFrame, shared: Sequence[str]) -> pl.LazyFrame:
    """The points with their rates on a table, and whether all equal the tuned ones."""
    limit, share = pl.col(private("at")), pl.col("share")
    tuned = [private(name) for name in ("tpr", "fpr", "positives", "negatives")]
    tuned_points = points.select(
        *shared, "rule", "prior", "share",
        pl.col("threshold").alias(private("at")),
        *(pl.col(name.removeprefix(PRIVATE)).alias(name) for name in tuned),
    ).unique()  # fmt: skip
    # Join by values, since rows of a lazy table have no stable number.
    join_keys = [*table.keys, "rule", "prior", "share", private("at"), *tuned]
    weight = pl.col(WEIGHT) if table.weighted else pl.lit(1, pl.Int64)
    pos, neg = pl.col(TRUTH) * weight, ~pl.col(TRUTH) * weight
    # Without a threshold nothing is called positive.
    above, tied = (pl.col(SCORE) > limit).fill_null(False), (pl.col(SCORE) == limit)
    called = above.cast(pl.Float64) + tied.fill_null(False).cast(pl.Float64) * share
    calls = (
        attach(table.valid_rows, tuned_points, shared)
        .group_by(join_keys)
        .agg((called * pos).sum().alias("tpr"), (called * neg).sum().alias("fpr"))
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
        attach(counts, tuned_points, shared, required=False)
        .join(calls, on=join_keys, how="left", nulls_equal=True)
        .with_columns(t.alias("tpr"), f.alias("fpr"))
        .with_columns(
            rates.precision(pl.col("tpr"), pl.col("fpr"), skewed).fill_nan(None).alias("precision"),
            limit.alias("threshold"),
            _note_on_calls().alias("note"),
            pl.all_horizontal(equal).fill_null(False).alias(SAME),
        )
        .sort(*table.keys, "prior", "rule", "threshold", nulls_last=True)
    )


def _note_on_calls() -> pl.Expr:
    """Note on the rows and classes of a key and on its point."""
    lack = (
        pl.when(pl.col("rule").is_null())
        .then(pl.lit("there is no point for this key"))
        .when(pl.col("share").is_null())
        .then(pl.lit("no point was chosen"))
    )
    absent = one_class_note(pl.col("positives"), pl.col("negatives"))
    note = pl.concat_str("note", absent, lack, separator="; ", ignore_nulls=True)
    return note.replace("", None)
