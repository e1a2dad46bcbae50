"""Whether rows are not independent, since they share a case."""

from typing import Any

import polars as pl

from polaroc.base.private_columns import COUNT, SIZE
from polaroc.base.text import joined_notes
from polaroc.errors import quoted
from polaroc.predictions.cases import Cases

# A column of fewer values divides the cases, as kinds of devices do.
MIN_VALUES = 10
# Of more rows some are looked at first, and values are counted to about 1 %.
LOOKED_AT = 10_000


def dependence(cases: Cases[Any], *, of_measures: bool = True) -> str | None:
    """Note on rows of a key that share a case; None where none do.

    A lazy table is not read for it, and nothing is said where clusters are named. What is
    `of_measures` takes `cluster`.

    Examples
    --------
    >>> from polaroc.predictions.cases import cases
    >>> table = pl.DataFrame({"case": [*range(10)] * 2, "y": [0, 1] * 10, "p": [0.5] * 20})
    >>> print(dependence(cases(table, truth="y", score="p"))[:46])
    rows with the same 'case' are not independent
    """
    rows, case = cases.rows, cases.case
    # Whoever names clusters knows.
    has_cluster = cases.cluster is not None
    if case is None or has_cluster or isinstance(rows, pl.LazyFrame):
        return None
    if (found := _most_shared(rows.select(*cases.keys, case), case)) is None:
        return None
    name = quoted(cases.names.get("case", ["case"]))
    return (
        f"rows with the same {name} are not independent ({found[0]} values on "
        f"{found[1]:,} rows), so limits, tests and promises are too sure: "
        f"{f'name it as cluster={name}, or ' if of_measures else ''}take one row of each"
    )


def _most_shared(rows: pl.DataFrame, name: str) -> tuple[str, int] | None:
    """Values and rows of the key in which most rows share a value of a column, if any do."""
    count, is_large = pl.col(name).n_unique(), rows.height > LOOKED_AT
    if is_large:
        # Rows of a patient are beside one another, or scattered.
        parts = rows.head(LOOKED_AT), rows.sample(LOOKED_AT, seed=0)
        if not any(_shared(part, name, count).height for part in parts):
            return None
        count = pl.col(name).approx_n_unique()
    worst = _shared(rows, name, count).filter(pl.col(COUNT) >= MIN_VALUES)
    if worst.is_empty():
        return None
    values, size = worst.row(0)
    return f"about {float(f'{values:.2g}'):,.0f}" if is_large else f"{values:,}", size


def _shared(rows: pl.DataFrame, name: str, count: pl.Expr) -> pl.DataFrame:
    """Values and rows of the keys with several rows of a value, those with most such rows first."""
    known = rows.lazy().filter(pl.col(name).is_not_null())
    keys = [key for key in rows.columns if key != name]
    counts = known.group_by(keys or [pl.lit(0)]).agg(count.alias(COUNT), pl.len().alias(SIZE))
    more = pl.col(SIZE).cast(pl.Int64) - pl.col(COUNT)
    return counts.filter(more > 0).sort(more, SIZE, descending=True).select(COUNT, SIZE).collect()


def with_note(rows: pl.LazyFrame, note: str | None, where: pl.Expr) -> pl.LazyFrame:
    """Rows with one more note `where` it applies."""
    if note is None:
        return rows
    return rows.with_columns(joined_notes("note", pl.when(where).then(pl.lit(note))))


def several_folds(cases: Cases[Any]) -> list[str]:
    """The columns that tell folds apart; none where there is one fold."""
    folds = [*cases.fold]
    if not folds or cases.rows.lazy().select(folds).unique().collect().height < 2:
        return []
    return folds
