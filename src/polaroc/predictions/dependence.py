"""Whether a column of a table shows that its rows are not independent."""

from collections.abc import Collection, Sequence

import polars as pl

from polaroc.base.columns import key_expressions
from polaroc.base.private_columns import COUNT, PRIVATE, SIZE
from polaroc.base.tables import as_polars
from polaroc.predictions.usual_keys import column_names_of, may_be_key, usual_names, usual_units
from polaroc.predictions.wide import score_columns
from polaroc.typing import Score, Table

# A column of fewer values divides the cases, as kinds of devices do.
MIN_VALUES = 10


def dependence(
    table: Table,
    by: object = (),
    taken: Collection[object] = (),
    score: Score | None = None,
    *,
    of_measures: bool = True,
) -> str | None:
    """Note on rows of a key that share a case, a patient or the like; None where none is seen.

    It goes by the usual names of such columns. A lazy table is not read for it. Columns of
    another role, such as truth, are `taken`. For limits `of_measures` there is the bootstrap.

    Examples
    --------
    >>> table = pl.DataFrame({"patient": list(range(10)) * 2, "model": ["A"] * 10 + ["B"] * 10})
    >>> dependence(table), dependence(table.drop("model")) is None
    (None, False)
    """
    frame = as_polars(table)
    if isinstance(frame, pl.LazyFrame):
        return None
    keys = key_expressions(by)
    used = column_names_of([*taken, *keys, *(score_columns(score).values() or [score])])
    free = [name for name in frame.columns if name not in used and not name.startswith(PRIVATE)]
    keys += [pl.col(name) for name in usual_names(free).keys]
    units = [name for name in usual_units(free) if may_be_key(frame.schema[name])]
    for name in units:
        if (found := _most_shared(frame, name, keys)) is not None:
            resampled = f"pr.bootstrap(cluster={name!r}) gives measures limits that hold, or "
            return (
                f"rows with the same {name!r} are not independent ({found[0]:,} values on "
                f"{found[1]:,} rows), so limits and tests are too sure: "
                f"{resampled if of_measures else ''}take one row of each"
            )
    return None


def _most_shared(frame: pl.DataFrame, name: str, keys: Sequence[pl.Expr]) -> tuple[int, int] | None:
    """Values and rows of the key in which most rows share a value of a column, if any do."""
    known = pl.col(name).drop_nulls()
    counts = (
        frame.lazy()
        .group_by(keys or [pl.lit(0)])
        .agg(known.n_unique().alias(COUNT), known.len().alias(SIZE))
        .filter(pl.col(SIZE) > pl.col(COUNT), pl.col(COUNT) >= MIN_VALUES)
    )
    shared = pl.col(SIZE) - pl.col(COUNT)
    worst = counts.sort(shared, SIZE, descending=True).head(1).select(COUNT, SIZE).collect()
    return None if worst.is_empty() else worst.row(0)


def with_note(rows: pl.LazyFrame, note: str | None, where: pl.Expr | None = None) -> pl.LazyFrame:
    """Rows with a note more, all of them or those `where` it applies."""
    if note is None:
        return rows
    more = pl.lit(note) if where is None else pl.when(where).then(pl.lit(note))
    both = pl.concat_str("note", more, separator="; ", ignore_nulls=True).replace("", None)
    return rows.with_columns(both.alias("note"))
