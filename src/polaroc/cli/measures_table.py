"""Measures as a table for a terminal, and the notes on them."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.text import number
from polaroc.base.text_tables import FoldedTable, table
from polaroc.measures.catalog import CATALOG, label
from polaroc.measures.table import humanize_note
from polaroc.typing import Prior

MAX_ROWS = 40
# Observed priors are quotients of counts, or of sums of weights.
SAME_PRIOR = 1e-12


def measures_table(
    measures: pl.DataFrame, keys: Sequence[str], priors: Sequence[Prior], names: Sequence[str]
) -> FoldedTable:
    """One row per value of the first key, with the mean (SD) over the other keys.

    Measures at priors have a column for each of `priors`; of no `names` the common measures are
    shown.
    """
    present, columns = {*measures["measure"]}, dict[str, pl.Expr]()
    for name, spec in CATALOG.items():
        if name not in (names or present) or not (names or spec.in_summary):
            continue
        of_measure = pl.col("measure") == name
        if spec.at_priors:
            columns |= {f"{label(name)} {_text(one)}": of_measure & _is_at(one) for one in priors}
        else:
            columns[label(name)] = of_measure
    cells = []
    for heading, is_shown in columns.items():
        values = pl.col("estimate").filter(is_shown)
        parts = pl.struct(mean=values.mean(), sd=values.std(), missing=values.null_count())
        cells.append(parts.alias(heading))
    # Without a key there is one row.
    groups = measures.group_by(keys[:1], maintain_order=True).agg(cells)
    rows = [
        [_cell(**value) if isinstance(value, dict) else value for value in row]
        for row in groups.head(MAX_ROWS).rows()
    ]
    over_keys = f", mean (SD) over {', '.join(keys[1:])}" if len(keys) > 1 else ""
    more = f"; the first {MAX_ROWS} of {groups.height}" if groups.height > MAX_ROWS else ""
    return table(f"Measures{over_keys}{more}", groups.columns, rows, len(keys[:1]))


def _text(prior: Prior) -> str:
    return prior if isinstance(prior, str) else f"{prior:g}"


def _is_at(prior: Prior) -> pl.Expr:
    """Whether a measure is at a prior; one at an observed prior may be among those at numbers."""
    if not isinstance(prior, str):
        return pl.col("prior") == prior
    observed = pl.col("positives") / (pl.col("positives") + pl.col("negatives"))
    return ((pl.col("prior") - observed).abs() < SAME_PRIOR) | pl.col("prior").is_null()


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
        lines.append(f"Note: {ordered.height - most} more kinds, in the column 'note'.")
    return lines
