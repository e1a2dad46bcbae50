"""Tables and sentences for a terminal, plain text and notebooks."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

WIDTH = 80
# Beginnings of cells that spreadsheets read as formulas, except plain numbers.
FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[+-]?\d+(\.\d+)?$"

# A title, headings, rows, and how many of the first columns are keys.
Block: TypeAlias = tuple[str, list[str], list[list[str | None]], int]


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], keys: int
) -> "Table":
    """A table whose first `keys` columns are text and whose others are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        title=Text(title) if title else None, title_justify="left", header_style="bold",
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip
    for i, column in enumerate(columns):
        drawn.add_column(
            Text(escape_control(column)), justify="left" if i < keys else "right", overflow="fold"
        )
    for row in rows:
        drawn.add_row(
            *(Text("–" if value is None else escape_control(str(value))) for value in row)
        )
    return drawn


def escape_control(text: str) -> str:
    """Text with control characters spelled out, which a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def is_utf8(text: str) -> bool:
    """Whether text has no byte of another encoding, as names of files and arguments may.

    Examples
    --------
    >>> is_utf8("scores"), is_utf8(b"sc\\xf6res".decode(errors="surrogateescape"))
    (True, False)
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def escape_spreadsheet(table: pl.DataFrame) -> pl.DataFrame:
    """A table for CSV files, with an apostrophe before what a spreadsheet would compute.

    Examples
    --------
    >>> escape_spreadsheet(pl.DataFrame({"model": ["=1+1", "-1", "A"]}))["model"].to_list()
    ["'=1+1", '-1', 'A']
    """

    def spelled(text: pl.Expr) -> pl.Expr:
        risky = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
        return pl.when(risky).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)

    table = table.with_columns(
        _as_text(column)
        for column in table
        if column.dtype.is_nested() or column.dtype == pl.Binary
    )
    kinds = (pl.String, pl.Categorical, pl.Enum)
    texts = [name for name, kind in table.schema.items() if kind in kinds]
    safe = table.with_columns(spelled(pl.col(name).cast(pl.String)).alias(name) for name in texts)
    names = pl.Series("name", table.columns, dtype=pl.String)
    headings = names.to_frame().select(spelled(pl.col("name"))).to_series()
    return safe.rename(dict(zip(names, headings, strict=True)))


def _as_text(column: pl.Series) -> pl.Series:
    """Lists, structs and bytes as text, since CSV has no form for them."""

    def word(value: object) -> str:
        return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)

    words = [None if value is None else word(value) for value in column.to_list()]
    return pl.Series(column.name, words, pl.String)


def plain(parts: Sequence["RenderableType"], width: int = WIDTH) -> str:
    """Tables and sentences as text of a given width, without colours."""
    from io import StringIO

    from rich.console import Console

    written = StringIO()
    console = Console(
        file=written, width=width, highlight=False, markup=False, color_system=None,
        force_terminal=False, emoji=False,
    )  # fmt: skip
    for part in parts:
        console.print(escape_control(part) if isinstance(part, str) else part)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def html_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table as HTML, every name and value escaped."""
    from html import escape

    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = [
        "".join(f"<td>{escape('–' if value is None else str(value))}</td>" for value in row)
        for row in rows
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<table><caption>{escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def html_lines(lines: Sequence[str]) -> str:
    """Sentences as HTML paragraphs, escaped."""
    from html import escape

    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def number(value: float | None, digits: int = 3) -> str | None:
    """A number with fixed decimals; null and infinite values as words."""
    return None if value is None else f"{value:.{digits}f}"


def limit(value: float | None, digits: int = 3) -> str | None:
    """A limit of an interval to so many decimals, never as 0 where it is not.

    Examples
    --------
    >>> limit(0.01234), limit(-0.000312), limit(0.0)
    ('0.012', '-0.00031', '0.000')
    """
    if value is None or value == 0 or abs(value) >= 0.5 * 10**-digits:
        return number(value, digits)
    return f"{value:.2g}"


def chance(value: float | None) -> str | None:
    """A p-value to two digits, never as 0 where it is not."""
    return None if value is None else "0" if value == 0 else f"{value:.2g}"


def block_tables(blocks: Iterator[Block]) -> "Iterator[RenderableType]":
    """Titles and rich tables, one after the other."""
    # A title above the table: inside a narrow one it would wrap.
    for title, columns, rows, keys in blocks:
        yield title
        yield table("", columns, rows, keys)
