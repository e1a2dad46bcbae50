"""Folds that are copies of others, such as a repeat with the same seed: they are evidence once."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from polaroc.base.private_columns import HAVE, SIZE, private
from polaroc.base.text import listed_rows
from polaroc.predictions.cases import Cases

SUM, MIX = private("sum"), private("mix")
# Fewer distinct scores, estimates or cases of a class may be alike in two folds by chance.
DISTINCT, FEWEST = 10, 20


def without_copies(cases: Cases[pl.DataFrame]) -> tuple[Cases[pl.DataFrame], list[str]]:
    """Predictions, or measures, with each fold once, and a warning where some are copies."""
    rows, case = cases.rows, None if cases.is_numbered else cases.case
    if not cases.fold:
        return cases, []
    if cases.truth is None:
        copies, note = copied_measures(rows, cases.fold)
    else:
        content = [name for name in ("model", case, "truth", "score", "count", "weight")
                   if name in rows.columns]  # fmt: skip
        # Cases that are named tell folds apart however few their scores are.
        is_known = case is not None and not cases.is_default("case")
        enough = pl.lit(True) if is_known else pl.col("score").n_unique() >= DISTINCT
        copies, note = _copied(rows, cases.fold, content, enough, "cases and scores")
    if copies.is_empty():
        return cases, []
    kept = rows.join(copies, on=["fold"], how="anti", nulls_equal=True, maintain_order="left")
    return replace(cases, rows=kept), [f"{note}. Each is used once."]


def copied_measures(measures: pl.DataFrame, folds: Sequence[str]) -> tuple[pl.DataFrame, str]:
    """The folds that have the estimates of an earlier one, and a note that counts them."""
    estimate = pl.col("estimate").cast(pl.Float64, strict=False)
    enough = estimate.filter((estimate != 0) & (estimate != 1)).n_unique() >= DISTINCT
    for name in {"positives", "negatives"} & {*measures.columns}:
        enough &= pl.col(name).min() >= FEWEST
    content = [name for name in ("model", "measure", "prior", "estimate")
               if name in measures.columns]  # fmt: skip
    return _copied(measures, folds, content, enough, "estimates of all models")


def _copied(
    rows: pl.DataFrame, folds: Sequence[str], content: Sequence[str], enough: pl.Expr, same: str
) -> tuple[pl.DataFrame, str]:
    """The folds whose rows have the same content, in any order, as those of an earlier one."""
    row, contents = pl.struct(content).hash(), (SUM, MIX, SIZE)
    by_fold = (
        rows.group_by(folds)
        .agg(row.sum().alias(SUM), row.bitwise_xor().alias(MIX), pl.len().alias(SIZE),
             enough.alias(HAVE))
        .sort(folds, nulls_last=True)
    )  # fmt: skip
    is_copy = pl.col(HAVE) & ~pl.struct(contents).is_first_distinct()
    copies = by_fold.filter(is_copy).select(folds)
    return copies, (
        f"{copies.height} of {by_fold.height} folds are copies of others, with the same {same}, as "
        f"where a repeat had the same seed: {listed_rows(copies, 3)}"
    )
