"""Probabilities from scores of any kind, at any prior, through the hull of a tuning curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Unpack

import polars as pl

from polaroc.base.checks import check_bool
from polaroc.base.columns import (
    HAS_BOTH,
    IS_SAME,
    KEY_INDEX,
    ROW,
    check_shared_keys,
    column_names,
    curve_keys,
    join_by_key,
    private,
    refuse_clash,
    with_key_types,
    within,
)
from polaroc.base.tables import as_polars
from polaroc.curves.curve import whole_curves
from polaroc.curves.hull import hulls_of
from polaroc.curves.surface import at_priors
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable, quoted
from polaroc.predictions.cases import Cases, as_cases, frame_of_cases
from polaroc.predictions.columns import Columns, named_columns
from polaroc.predictions.row_checks import ROW_ERRORS, SCORE, UNRANKED
from polaroc.predictions.table import one_class_note
from polaroc.priors.grids import OBSERVED, some_priors
from polaroc.typing import PolarsFrame, Prior, Priors, Table

SAME_SCORES = "the scores of the tuning table: was the curve made of these cases?"
NO_CURVE = "there is no curve for this key"
ADDED = ("prior", "probability", "note")
OF_ROW, ROW_NOTE, GIVEN = (private(name) for name in ("score_of_row", "row_note", "given"))
# The least score of a block, and its likelihood ratio.
LEAST, RATIO = private("least"), private("ratio")
# The number of cases of a class that a block without any counts as having (Jeffreys' prior).
ABSENT = 0.5


@frame_of_cases
def probabilities(
    table: Table | Cases[Any],
    curve: Table,
    *,
    priors: Priors,
    same_table: bool = False,
    **columns: Unpack[Columns],
) -> PolarsFrame:
    """The probability of each case at each prior, from scores of any kind.

    The hull of a ROC curve is isotonic regression: each of its segments is a range of
    scores with one likelihood ratio, its slope. A likelihood ratio times the odds of a
    prior are the odds at that prior. So a curve of tuning cases calibrates the scores of
    other cases, at any prior; labels of these are not needed.

    Parameters
    ----------
    table
        Cases that the curve was not made of, with or without labels: any table that `cases` takes,
        or its result. Their scores, one column of them, are of the models of the curve. Scores
        between two segments belong to the lower one; those beyond the ends of the curve to the
        segment at that end.
    curve
        The result of `curve` on a tuning table. Its keys must be among those of the cases.
    priors
        Priors in (0, 1), or ``"observed"`` for that of the tuning table; one, several,
        or a prior grid.
    same_table
        Whether the very table that the curve was made of is meant.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind of the cases
        The rows and columns of their table, in order, once per prior, with `prior`
        Float64; `probability` Float64 in (0, 1), null where there is no score or no
        curve with both classes, as is an observed prior; `note` String, null, or why.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing, where it has a key that the cases lack,
        and where the scores are those of the tuning table (a lazy plan says it in
        `note`).
    InvalidPredictions, InvalidArgument
        For scores that are missing (of a lazy plan, `note` says so) or not numeric; for
        priors outside what is allowed, and columns named as those of the result.

    Notes
    -----
    At the prior of the tuning table this is scikit-learn's `IsotonicRegression` (Zadrozny
    and Elkan 2002; Fawcett and Niculescu-Mizil 2007), as a step function, with one exception:
    where all tuning cases of a segment are of one class, which only the first and the last
    segment can be, isotonic regression says 1 or 0 without evidence for certainty. Such a
    segment counts as having half a case of the other class, as Jeffreys' prior for a share has,
    but never passes the segment beside it. Weights of the curve are taken as counts of cases.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> tuning = pr.datasets.twenty_scores()
    >>> curves = pr.curve(tuning, truth="truth", score="score")
    >>> use = pl.DataFrame({"case": [1, 2], "score": [0.7, 0.3]})
    >>> found = pr.probabilities(use, curves, score="score", priors=[0.5, 0.05])
    >>> found.select("case", "prior", pl.col("probability").round(3)).rows()
    [(1, 0.5, 0.75), (1, 0.05, 0.136), (2, 0.5, 0.333), (2, 0.05, 0.026)]
    """
    check_bool("same_table", same_table)
    tuned = whole_curves(curve)
    shared = curve_keys(tuned)
    cases, names = _rows(table, columns)
    check_shared_keys(shared, cases.keys, "the curve")
    if isinstance(cases.rows, pl.DataFrame):
        invalid = cases.rows[ROW_NOTE].drop_nulls()
        if len(invalid):
            raise InvalidPredictions(
                f"{len(invalid)} of {cases.rows.height} rows cannot be scored: {invalid[0]}.",
                hint="drop such rows first: frame.drop_nulls(...), or correct them.",
            )
    resolved: list[Prior] = [OBSERVED if one is None else one for one in some_priors(priors)]
    # Cached, since another reading of the source may give other rows.
    rows = cases.rows.lazy().with_row_index(ROW).cache()
    tuned = with_key_types(tuned, rows.collect_schema(), shared)
    same = pl.LazyFrame({IS_SAME: [False]})
    if not same_table:
        same = _is_tuning_table(rows, tuned, shared)
    in_blocks = _in_blocks(rows, hull_blocks(tuned, shared), shared).sort(ROW)
    is_scored = pl.col(OF_ROW).is_not_null()
    no_curve = pl.when(is_scored & pl.col("positives").is_null()).then(pl.lit(NO_CURVE))
    probable = (
        at_priors(in_blocks, resolved)
        .join(same, how="cross", maintain_order="left")
        .select(
            *(pl.col(GIVEN).struct.field(name) for name in names), "prior",
            probability=pl.when(is_scored).then(pl.col(RATIO) / (pl.col(RATIO) + pl.col("skew"))),
            note=pl.when(IS_SAME).then(pl.lit(SAME_SCORES)).otherwise(
                pl.coalesce(ROW_NOTE, "note", no_curve)
            ),
            **{IS_SAME: IS_SAME},
        )
    )  # fmt: skip
    if isinstance(cases.rows, pl.LazyFrame):
        return probable.drop(IS_SAME)
    collected = probable.collect()
    if collected[IS_SAME].any():
        refuse_tuning_table()
    return collected.drop(IS_SAME)


def _rows(table: Any, columns: Mapping[str, Any]) -> tuple[Cases[Any], list[str]]:
    """Cases with a score in `OF_ROW`, why it is missing, and the columns as given, named."""
    if isinstance(table, Cases):
        table, columns = table.source, {**table.columns, **columns}
    frame = as_polars(table)
    names = frame.collect_schema().names()
    refuse_clash(names, ADDED)
    if len(column_names(columns.get("score", "score"), "score")) > 1:
        raise InvalidArgument(
            f"score names the columns {quoted(columns['score'])}, allowed is one.",
            hint="bring the scores into one column beside the model of each: frame.unpivot(...).",
        )
    # Also columns that do not affect the result have to exist.
    named_columns(columns, frame.collect_schema())
    of_rows = {**columns, "truth": None, "positive": None, "weight": None, "count": None}
    whole = frame.with_columns(pl.struct(pl.all()).alias(GIVEN))
    cases = as_cases(whole, of_rows, needs=["score"], keep=[GIVEN], validate=False)
    note: pl.Expr = pl.lit(None, pl.String)
    for code in cases.errors:
        note = pl.when(pl.col("error") == code).then(pl.lit(ROW_ERRORS[code])).otherwise(note)
    score = pl.when(pl.col("error").is_null()).then("score")
    rows = cases.rows.with_columns(note.alias(ROW_NOTE), score.alias(OF_ROW))
    return replace(cases, rows=rows.select(GIVEN, *cases.keys, ROW_NOTE, OF_ROW)), names


def refuse_tuning_table() -> NoReturn:
    """Raise for cases that the curve was made of."""
    raise InvalidTable(
        "the scores are those of the tuning table: probabilities of the cases that the curve "
        "was made of are too good.",
        hint="give other cases, or same_table=True.",
    )


def _in_blocks(rows: pl.LazyFrame, blocks: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Each row with the block of its key that its score is in."""
    blocks = blocks.cache()
    # `join_asof` matches no null keys, and needs at least one key.
    index = blocks.select(keys or pl.lit(0)).unique().with_row_index(KEY_INDEX).cache()
    in_order = join_by_key(rows, index, keys).sort(OF_ROW, nulls_last=True)
    known = join_by_key(blocks, index, keys, "inner").drop(keys).sort(LEAST)
    return in_order.join_asof(
        known, left_on=OF_ROW, right_on=LEAST, by=KEY_INDEX, check_sortedness=False
    )


def _is_tuning_table(rows: pl.LazyFrame, curve: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """One row, `IS_SAME`: whether every key has the scores of its curve, each as often."""
    in_use, tuned = private("in_use"), private("tuned")
    scores = rows.group_by(*keys, pl.col(OF_ROW).alias(SCORE)).agg(pl.len().alias(in_use))
    cells = curve.filter(pl.col(SCORE).is_not_null()).select(
        *keys, SCORE, (pl.col("pos") + pl.col("neg")).alias(tuned)
    )
    if keys:
        cells = cells.join(rows.select(keys).unique(), on=keys, how="semi", nulls_equal=True)
    both = scores.join(cells, on=[*keys, SCORE], how="full", nulls_equal=True)
    as_often = pl.col(in_use) == pl.col(tuned)
    if curve.collect_schema()["pos"].is_float():
        # Sums of weights cannot be compared with numbers of cases.
        as_often = pl.col(in_use).is_not_null() & pl.col(tuned).is_not_null()
    return both.select((as_often.fill_null(False).all() & (pl.len() > 0)).alias(IS_SAME))


def hull_blocks(curve: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Per key the blocks of its hull, best first, with `LEAST`, `RATIO`, its totals and `note`.

    The last block has no least score. Keys that cannot be calibrated have blocks without a
    ratio, and a note.
    """
    pos, neg, positives, negatives = map(pl.col, ("pos", "neg", "positives", "negatives"))
    # Slopes fall along a hull: only its ends can be of a single class.
    only_pos, only_neg = neg == 0, pos == 0
    in_block = [pl.when(one == 0).then(ABSENT).otherwise(one) for one in (pos, neg)]
    ratio = (in_block[0] / positives) / (in_block[1] / negatives)
    below, above = (within(pl.col(RATIO).shift(by), keys) for by in (-1, 1))
    unranked = pl.when(positives.is_null()).then(pl.lit(UNRANKED))
    last = within(pl.col(SCORE) == pl.col(SCORE).min(), keys)
    return (
        hulls_of(curve, keys)
        .filter(pl.col(SCORE).is_not_null())
        .with_columns(pl.when(HAS_BOTH).then(ratio).alias(RATIO))
        .with_columns(
            # The half case must not move the ratio of a block past that of its neighbour.
            pl.when(only_pos & HAS_BOTH)
            .then(pl.max_horizontal(RATIO, below))
            .when(only_neg & HAS_BOTH)
            .then(pl.min_horizontal(RATIO, above))
            .otherwise(RATIO)
            .alias(RATIO),
            pl.when(last).then(float("-inf")).otherwise(SCORE).alias(LEAST),
            pl.coalesce(unranked, one_class_note()).alias("note"),
        )
        .select(*keys, LEAST, RATIO, "positives", "negatives", "note")
    )
