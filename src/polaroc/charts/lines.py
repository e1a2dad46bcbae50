"""Lines as plain records, each with the arrays of its points."""

from collections.abc import Sequence
from math import isinf
from typing import Any

import polars as pl

from polaroc.base.text import key_text
from polaroc.errors import InvalidArgument

MAX_LINES = 300
FEWER_KEYS = "draw fewer models or files: filter the keys that matter."
DIGITS = 5  # significant


def refuse_more(count: int, most: int = MAX_LINES, hint: str = FEWER_KEYS) -> None:
    """Refuse more curves than can be told apart."""
    if count > most:
        raise InvalidArgument(
            f"there are {count:,} curves to draw, allowed are {most:,}.", hint=hint
        )


def lines(
    points: pl.DataFrame,
    keys: Sequence[str],
    x: str,
    y: str,
    arrays: Sequence[str] = (),
    const: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Points in order as a record per line: its names, `x`, `y` and further `arrays`.

    The columns of `const` are the same along a line.
    """
    shown = [name for name in (x, y, *arrays) if name != "threshold"]
    rounded = points.with_columns(pl.col(shown).round_sig_figs(DIGITS))
    by = [*keys, *const]
    groups = rounded.partition_by(by, maintain_order=True) if by else [rounded]
    refuse_more(len(groups))
    return [
        {
            "id": i,
            "series": name_of(group, keys[:1]),
            "line": name_of(group, keys),
            "x": group[x].to_list(),
            "y": group[y].to_list(),
            **{name: in_json(group[name]) for name in arrays},
            **{name: group[name][0] for name in const},
        }
        for i, group in enumerate(groups)
        if group.height
    ]


def name_of(curve: pl.DataFrame, keys: Sequence[str]) -> str:
    """The name of a curve: the values of its keys."""
    return " · ".join(str(curve[key][0]) for key in keys)


def named_rows(table: pl.DataFrame, keys: Sequence[str], *columns: pl.Expr) -> pl.DataFrame:
    """Rows with the names of their first key and of all their keys."""
    names = [key_text(key) for key in keys] or [pl.lit("")]
    line = pl.concat_str(names, separator=" · ").alias("line")
    return table.select(names[0].alias("series"), line, *columns)


def series_of(table: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """The names that have a colour: the values of the first key, sorted."""
    return [*map(str, table[keys[0]].unique().sort(nulls_last=True))] if keys else [""]


def in_json(values: pl.Series) -> list[Any]:
    """Numbers for JSON, which has no infinity."""
    return [
        value if value is None or not isinf(value) else "∞" if value > 0 else "−∞"
        for value in values
    ]
