"""Cases in the private columns in which they are ranked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.columns import CLUSTER, ROW_ERROR, TRUTH, WEIGHT, Engine, engine_for
from polaroc.base.text import joined_notes
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE


@dataclass(frozen=True)
class Predictions:
    """A prediction table in private columns: keys, score, truth, weight, row error.

    Attributes
    ----------
    rows
        Every input row. `ROW_ERROR` is null for a valid row, else the code of the error.
    weighted, sampled
        Whether rows have a `WEIGHT`, and whether it is a sampling weight and not a count.
    possible_errors, fatal
        The codes that can occur, and those for which no result is computed.
    engine
        The engine by which the rows are collected.
    """

    rows: pl.LazyFrame
    keys: list[str]
    weighted: bool
    sampled: bool
    possible_errors: list[int]
    fatal: list[int]
    engine: Engine

    @property
    def weight(self) -> pl.Expr:
        """The weight or count of a row, 1 where there is none."""
        return pl.col(WEIGHT) if self.weighted else pl.lit(1, pl.Int64)

    @property
    def valid_rows(self) -> pl.LazyFrame:
        """Rows without errors."""
        rows = self.rows.filter(pl.col(ROW_ERROR).is_null()) if self.possible_errors else self.rows
        return rows.drop(ROW_ERROR)

    @property
    def counted_rows(self) -> pl.LazyFrame:
        """Rows without errors, with the positives `pos` and negatives `neg` that each counts."""
        truth = pl.col(TRUTH)
        return self.valid_rows.with_columns(pos=truth * self.weight, neg=~truth * self.weight)

    @property
    def cases(self) -> pl.LazyFrame:
        """The valid rows, repeated by their counts; of sampled rows those with a weight above 0."""
        if not self.weighted:
            return self.valid_rows
        weighing = self.valid_rows.filter(pl.col(WEIGHT) > 0)
        return weighing if self.sampled else _each_case(weighing)


def read(
    cases: Cases[Any], *, also: Sequence[str] = (), clustered: bool = False, once: bool = False
) -> Predictions:
    """The rows of cases, valid or not, in the private columns by which they are ranked.

    Parameters
    ----------
    also
        Further columns, as the last keys.
    clustered
        Whether there is a column `CLUSTER`: where the cases have none, each row is one.
    once
        Whether the rows are read only once, and need not be cached.
    """
    rows, keys = cases.rows.lazy(), [*cases.keys, *also]
    if clustered and cases.cluster is None:
        rows = rows.with_row_index("cluster")
    error = pl.col("error") if "error" in rows.collect_schema() else pl.lit(None, pl.UInt8)
    rows = rows.select(
        *keys,
        (pl.lit(1.0) if cases.score is None else pl.col("score")).alias(SCORE),
        # Scores in use have no labels; they are read as positives.
        (pl.lit(True) if cases.truth is None else pl.col("truth")).alias(TRUTH),
        *([] if cases.counted_by is None else [pl.col(cases.counted_by).alias(WEIGHT)]),
        error.alias(ROW_ERROR),
        *([pl.col("cluster").alias(CLUSTER)] if clustered else []),
    )
    in_memory = isinstance(cases.rows, pl.DataFrame)
    return Predictions(
        # A second reading of a plan may give other rows, and counts and ranks must agree.
        rows if in_memory or once else rows.cache(), keys, cases.counted_by is not None,
        cases.weight is not None, [*cases.errors], cases.fatal, engine_for(cases.rows),
    )  # fmt: skip


def _each_case(counted: pl.LazyFrame, weight: str = WEIGHT) -> pl.LazyFrame:
    """Valid rows with counts, repeated: a row for each case."""
    copies = pl.int_ranges(pl.col(weight).cast(pl.Int64)).alias(weight)
    return counted.with_columns(copies).explode(weight, empty_as_null=False).drop(weight)


def each_counted(cases: Cases[Any]) -> Cases[Any]:
    """The cases with a row for each, where rows have a count."""
    if cases.count is None:
        return cases
    held = cases.collect()
    rows = _each_case(held.rows.lazy().filter(pl.col("count") > 0), "count").collect()
    return replace(held, rows=rows, count=None)


def one_class_note() -> pl.Expr:
    """Note on an absent class, else null, from the columns of totals."""
    classes = "positives", "negatives"
    absent = [pl.when(pl.col(name) == 0).then(pl.lit(f"no {name}")) for name in classes]
    return joined_notes(*absent, separator=", ")
