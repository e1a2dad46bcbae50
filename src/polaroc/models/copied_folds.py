"""Folds that are copies of others, such as a repeat with the same seed: they are evidence once."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from polaroc.base.columns import HAVE, SIZE, private
from polaroc.base.text import listed_rows
from polaroc.predictions.cases import Cases

SUM, MIX = private("sum"), private("mix")
# What makes a row of predictions, or of measures.
CONTENT = (
    "model", "case", "truth", "score", "count", "weight", "measure", "prior", "estimate",
)  # fmt: skip
# Fewer distinct scores, estimates or cases of a class may be alike in two folds by chance.
DISTINCT, FEWEST = 10, 20


def without_copies(cases: Cases[pl.DataFrame]) -> tuple[Cases[pl.DataFrame], list[str]]:
    """Predictions, or measures, with each fold once, and a warning where some are copies."""
    if not cases.fold:
        return cases, []
    # Numbers of rows differ where cases do not.
    content = cases.rows.drop("case") if cases.is_numbered else cases.rows
    is_named = cases.case is not None and not (cases.is_numbered or cases.is_default("case"))
    copies, note = copied_folds(content, cases.fold, is_named=is_named)
    kept = cases.rows.join(copies, on=["fold"], how="anti", nulls_equal=True, maintain_order="left")
    return replace(cases, rows=kept), [f"{note}. Each is used once."] * bool(copies.height)


def copied_folds(
    rows: pl.DataFrame, folds: Sequence[str], *, is_named: bool = False
) -> tuple[pl.DataFrame, str]:
    """The folds with the rows, in any order, of an earlier one, and a note that counts them.

    Folds of few distinct scores are told apart only if their cases are named.
    """
    are_scores = "score" in rows.columns
    number = pl.col("score" if are_scores else "estimate").cast(pl.Float64, strict=False)
    distinct = number if are_scores else number.filter((number != 0) & (number != 1))
    enough = pl.lit(is_named) | (distinct.n_unique() >= DISTINCT)
    for name in {"positives", "negatives"} & {*rows.columns}:
        enough &= pl.col(name).min() >= FEWEST
    row = pl.struct(name for name in CONTENT if name in rows.columns).hash()
    by_fold = rows.group_by(folds).agg(
        row.sum().alias(SUM), row.bitwise_xor().alias(MIX), pl.len().alias(SIZE),
        enough.alias(HAVE),
    ).sort(folds, nulls_last=True)  # fmt: skip
    is_copy = pl.col(HAVE) & ~pl.struct(SUM, MIX, SIZE).is_first_distinct()
    copies = by_fold.filter(is_copy).select(folds)
    same = "cases and scores" if are_scores else "estimates of all models"
    return copies, (
        f"{copies.height} of {by_fold.height} folds are copies of others, with the same {same}, as "
        f"where a repeat had the same seed: {listed_rows(copies, 3)}"
    )
