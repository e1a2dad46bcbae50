"""Whether rows are not independent, since they share a case."""

from typing import Any

import polars as pl

from polaroc.base.private_columns import COUNT, SIZE
from polaroc.base.text import joined_notes
from polaroc.errors import quoted
from polaroc.predictions.cases import Cases

MIN_VALUES = 10
# Of more rows some are looked at first, and values are counted to about 1 %.
LOOKED_AT = 10_000


def dependence(cases: Cases[Any]) -> str | None:
    """Note on rows of a key that share a case; None where none do.

    A lazy table is not read for it, and nothing is said where clusters are named.

    Examples
    --------
    >>> from polaroc.predictions.cases import cases
    >>> table = pl.DataFrame({"case": [*range(10)] * 2, "y": [0, 1] * 10, "p": [0.5] * 20})
    >>> print(dependence(cases(table, truth="y", score="p"))[:46])
    rows with the same 'case' are not independent
    """
    case = cases.case
    if case is None or cases.cluster is not None or isinstance(cases.rows, pl.LazyFrame):
        return None
    rows, values = cases.rows.select(*cases.keys, case), pl.col(case).n_unique()
    is_large = rows.height > LOOKED_AT
    if is_large:
        # Rows of a case are beside one another, or scattered.
        parts = rows.head(LOOKED_AT), rows.sample(LOOKED_AT, seed=0)
        if not any(_shared(part, case, values).height for part in parts):
            return None
        values = pl.col(case).approx_n_unique()
    # Columns of fewer values divide the cases, as kinds of devices do.
    worst = _shared(rows, case, values).filter(pl.col(COUNT) >= MIN_VALUES)
    if worst.is_empty():
        return None
    count, size = worst.row(0)
    number = f"about {float(f'{count:.2g}'):,.0f}" if is_large else f"{count:,}"
    name = quoted(cases.names.get("case", ["case"]))
    return (
        f"rows with the same {name} are not independent ({number} values on {size:,} rows), so "
        f"limits, tests and promises are too sure: "
        f"name it as cluster={name}, or take one row of each"
    )


def _shared(rows: pl.DataFrame, case: str, values: pl.Expr) -> pl.DataFrame:
    """Values and rows of the keys with several rows of a case, those with most such rows first."""
    keys = [key for key in rows.columns if key != case]
    known = rows.lazy().filter(pl.col(case).is_not_null()).group_by(keys)
    counts = known.agg(values.cast(pl.Int64).alias(COUNT), pl.len().cast(pl.Int64).alias(SIZE))
    more = pl.col(SIZE) - pl.col(COUNT)
    return counts.filter(more > 0).sort(more, SIZE, descending=True).select(COUNT, SIZE).collect()


def with_note(rows: pl.LazyFrame, note: str | None, where: pl.Expr) -> pl.LazyFrame:
    """Rows with one more note `where` it applies."""
    if note is None:
        return rows
    return rows.with_columns(joined_notes("note", pl.when(where).then(pl.lit(note))))
