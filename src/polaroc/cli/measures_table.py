"""Measures as a table for a terminal, and the notes on them."""

from collections.abc import Iterator, Sequence
from itertools import compress

import polars as pl

from polaroc.base.columns import within
from polaroc.base.private_columns import AT, LACKING, private
from polaroc.base.rounding import number
from polaroc.base.text_tables import FoldedTable, table
from polaroc.measures.catalog import CATALOG, label
from polaroc.measures.table import humanize_note
from polaroc.typing import Prior

MAX_ROWS = 40


def measures_table(
    measures: pl.DataFrame,
    keys: Sequence[str],
    priors: Sequence[Prior],
    measure_names: Sequence[str] | None = None,
) -> FoldedTable:
    """One line per key; where there are several keys, the mean (SD) over all but the first.

    Measures at priors are shown at `priors`, the first of those they were taken at. Shown are
    the measures that were named, by default the common ones.
    """
    mean, sd = private("mean"), private("sd")
    shown = list(keys[:1])
    # The files hold all measures; these fit a terminal.
    in_summary = [name for name, one in CATALOG.items() if one.in_summary]
    if measure_names is not None:
        in_summary = [name for name in CATALOG if name in measure_names]
    # Measures come in the same order for all keys.
    place = within(pl.int_range(pl.len()), keys).alias(AT)
    groups = (
        measures.with_columns(place)
        .filter(pl.col("measure").is_in(in_summary))
        .group_by([*shown, AT, "measure"], maintain_order=True)
        .agg(
            pl.col("estimate").mean().alias(mean),
            pl.col("estimate").std().alias(sd),
            pl.col("estimate").null_count().alias(LACKING),
        )
        .sort(AT, maintain_order=True)
    )
    parts = groups.partition_by(shown, maintain_order=True) if shown else [groups]
    rows = [
        [
            *(part[key][0] for key in shown),
            *(_cell(*pair) for pair in part.select(mean, sd, LACKING).rows()),
        ]
        for part in parts
    ]
    places = {name: iter(priors) for name in in_summary if CATALOG[name].at_priors}
    headings = [_heading(name, places.get(name)) for name in (parts[0]["measure"] if parts else [])]
    columns = [*shown, *headings]
    # A column without a name is one all the same.
    has_room = [column is not None for column in columns]
    rows = [list(compress(row, has_room)) for row in rows]
    named = [column for column in columns if column is not None]
    over_keys = f", mean (SD) over {', '.join(keys[1:])}" if len(keys) > 1 else ""
    more = f"; the first {MAX_ROWS} of {len(rows)}" if len(rows) > MAX_ROWS else ""
    return table(f"Measures{over_keys}{more}", named, rows[:MAX_ROWS], len(shown))


def _heading(measure: str, priors: Iterator[Prior] | None) -> str | None:
    """The heading of a measure, at the next of its priors; None where it is not shown."""
    if priors is None:
        return label(measure)
    prior = next(priors, None)
    if prior is None:
        return None
    return f"{label(measure)} {prior if isinstance(prior, str) else f'{prior:g}'}"


def _cell(mean: float | None, sd: float | None, lacking: int) -> str | None:
    if mean is None:
        return None
    text = f"{number(mean)}" if sd is None else f"{number(mean)} ({number(sd)})"
    return f"{text} without {lacking}" if lacking else text


def commonest_notes(table: pl.DataFrame, of: str = "estimate", most: int = 5) -> list[str]:
    """The notes of measures, or of something else that has a row each, the commonest first."""
    kinds = humanize_note(pl.col("note").str.split("; ").explode())
    counts = table.drop_nulls("note").select(kinds.alias("note")).group_by("note").len()
    ordered = counts.sort("len", "note", descending=[True, False])
    lines = [f"Note on {count} {of}(s): {note}" for note, count in ordered.head(most).rows()]
    if ordered.height > most:
        lines.append(f"… and {ordered.height - most} kinds of note more, in the column 'note'.")
    return lines
