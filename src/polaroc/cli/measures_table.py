"""Measures as a table for a terminal, and the notes on them."""

from collections.abc import Iterator, Sequence

import polars as pl

from polaroc.base.columns import within
from polaroc.base.rounding import number
from polaroc.base.text_tables import FoldedTable, table
from polaroc.measures.catalog import CATALOG, label
from polaroc.measures.table import humanize_note
from polaroc.typing import Prior

MAX_ROWS = 40
# Working columns.
PLACE, MEAN, SD, MISSING = "_place", "_mean", "_sd", "_missing"


def measures_table(
    measures: pl.DataFrame,
    keys: Sequence[str],
    priors: Sequence[Prior],
    names: Sequence[str] | None = None,
) -> FoldedTable:
    """One row per value of the first key, with the mean (SD) over the other keys.

    Measures at priors are shown at `priors`, the first of those they were taken at; `names` are
    the measures to show, by default the common ones.
    """
    by = list(keys[:1])
    wanted = [name for name, one in CATALOG.items() if one.in_summary]
    if names is not None:
        wanted = [name for name in CATALOG if name in names]
    # Measures come in the same order for all keys.
    groups = (
        measures.with_columns(within(pl.int_range(pl.len()), keys).alias(PLACE))
        .filter(pl.col("measure").is_in(wanted))
        .group_by([*by, PLACE, "measure"], maintain_order=True)
        .agg(
            pl.col("estimate").mean().alias(MEAN),
            pl.col("estimate").std().alias(SD),
            pl.col("estimate").null_count().alias(MISSING),
        )
        .sort(PLACE, maintain_order=True)
    )
    parts = groups.partition_by(by, maintain_order=True) if by else [groups]
    remaining = {name: iter(priors) for name in wanted if CATALOG[name].at_priors}
    headings = [
        _heading(name, remaining.get(name)) for name in (parts[0]["measure"] if parts else [])
    ]
    rows = [
        [
            *(part[key][0] for key in by),
            *(
                _cell(*cell)
                for cell, heading in zip(
                    part.select(MEAN, SD, MISSING).rows(), headings, strict=True
                )
                if heading is not None
            ),
        ]
        for part in parts
    ]
    over_keys = f", mean (SD) over {', '.join(keys[1:])}" if len(keys) > 1 else ""
    more = f"; the first {MAX_ROWS} of {len(rows)}" if len(rows) > MAX_ROWS else ""
    columns = [*by, *(heading for heading in headings if heading is not None)]
    return table(f"Measures{over_keys}{more}", columns, rows[:MAX_ROWS], len(by))


def _heading(measure: str, priors: Iterator[Prior] | None) -> str | None:
    """The heading of a measure, at the next of its priors; None if it is not shown."""
    if priors is None:
        return label(measure)
    prior = next(priors, None)
    if prior is None:
        return None
    return f"{label(measure)} {prior if isinstance(prior, str) else f'{prior:g}'}"


def _cell(mean: float | None, sd: float | None, missing: int) -> str | None:
    if mean is None:
        return None
    text = f"{number(mean)}" if sd is None else f"{number(mean)} ({number(sd)})"
    return f"{text} without {missing}" if missing else text


def commonest_notes(rows: pl.DataFrame, of: str = "estimate", most: int = 5) -> list[str]:
    """The notes of measures, or of other rows, the commonest first."""
    kinds = humanize_note(pl.col("note").str.split("; ").explode())
    counts = rows.drop_nulls("note").select(kinds.alias("note")).group_by("note").len()
    ordered = counts.sort("len", "note", descending=[True, False])
    lines = [f"Note on {count} {of}(s): {note}" for note, count in ordered.head(most).rows()]
    if ordered.height > most:
        lines.append(f"… and {ordered.height - most} kinds of note more, in the column 'note'.")
    return lines
