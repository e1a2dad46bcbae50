"""Folds that are copies of others, such as a repeat with the same seed: they are evidence once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from polaroc.base.columns import COVERAGE, INTERVAL
from polaroc.base.private_columns import HAVE, private
from polaroc.base.text import listed_rows
from polaroc.predictions.cases import Cases

ROW, SUM, MIX, SIZE = (private(name) for name in ("row", "sum", "mix", "size"))
# Columns of measures that do not tell what was measured.
BESIDE = (*INTERVAL, COVERAGE, "note")
# Fewer distinct scores, estimates or cases of a class may be alike in two folds by chance.
DISTINCT, DISTINCT_IN_REPEAT, FEWEST = 10, 5, 20


class Copies(NamedTuple):
    """The keys of folds, or repeats, that are copies of earlier ones, and a sentence on them."""

    keys: pl.DataFrame
    note: str


def without_copies(
    cases: Cases[pl.DataFrame], model: str, folds: Sequence[str]
) -> tuple[Cases[pl.DataFrame], list[str]]:
    """Predictions, or measures, with each fold once, and a warning where some are copies."""
    if not folds:
        return cases, []
    is_measured = cases.truth is None
    copies = copied_measures(cases.rows, folds) if is_measured else _copied(cases, model, folds)
    if copies is None:
        return cases, []
    kept = cases.rows.join(
        copies.keys, on=copies.keys.columns, how="anti", nulls_equal=True, maintain_order="left"
    )
    return replace(cases, rows=kept), [f"{copies.note}. Each is used once."]


def copied_measures(measures: pl.DataFrame, folds: Sequence[str]) -> Copies | None:
    """The folds that have the estimates of another one; else such repeats as a whole."""
    shown = [name for name in measures.columns if name not in (*folds, *BESIDE)]
    rows, what = measures.select(*folds, *shown), "the same estimates of all models"
    estimate = pl.col("estimate").cast(pl.Float64, strict=False)
    distinct = estimate.filter((estimate != 0) & (estimate != 1)).n_unique()
    sizes = [pl.col(name).min() for name in ("positives", "negatives") if name in shown]
    if len(sizes) == 2:
        enough = (distinct >= DISTINCT) & (pl.min_horizontal(sizes) >= FEWEST)
        if (copies := _repeated(rows, folds, enough, "folds", what)) is not None:
            return copies
    for fold in folds if len(folds) > 1 else ():
        own, enough = rows.select(fold, *shown), distinct >= DISTINCT_IN_REPEAT
        if (copies := _repeated(own, [fold], enough, f"values of {fold!r}", what)) is not None:
            return copies
    return None


def _copied(cases: Cases[pl.DataFrame], model: str, folds: Sequence[str]) -> Copies | None:
    """The folds that have the cases and scores of another one."""
    # Numbers of rows are not those of cases.
    case = None if cases.is_numbered else cases.case
    columns = [model, case, cases.truth, "score", cases.counted_by]
    # Cases that are named tell folds apart however few their scores are.
    is_known = case is not None and not cases.is_default("case")
    enough = pl.lit(True) if is_known else pl.col("score").n_unique() >= DISTINCT
    rows = cases.rows.select(*folds, *(name for name in columns if name is not None))
    return _repeated(rows, folds, enough, "folds", "the same cases and scores")


def _repeated(
    rows: pl.DataFrame, keys: Sequence[str], enough: pl.Expr, units: str, what: str
) -> Copies | None:
    """The values of the keys that have the same rows, in any order, as an earlier one."""
    row, content = pl.struct(pl.exclude(keys)).hash(), (SUM, MIX, SIZE)
    contents = (
        rows.group_by(keys)
        .agg(
            row.sum().alias(SUM), row.bitwise_xor().alias(MIX), pl.len().alias(SIZE),
            enough.alias(HAVE),
        )
        .sort(keys, nulls_last=True)
    )  # fmt: skip
    is_copy = pl.col(HAVE) & (pl.int_range(pl.len()).over(content) > 0)
    copies = contents.filter(is_copy).select(keys)
    if copies.is_empty():
        return None
    return Copies(
        copies,
        f"{copies.height} of {contents.height} {units} are copies of others, with {what}, as where "
        f"a repeat had the same seed: {listed_rows(copies, 3)}",
    )
