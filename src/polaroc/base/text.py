"""Tables and sentences for a terminal, plain text and notebooks."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf, log10
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

WIDTH = 80
# Probabilities nearer to 1 are not told apart.
ALMOST = 0.995
# Per cent from which on a share differs from all by rounding only.
ALL = 100 - 1e-9
# Beginnings of cells that spreadsheets read as formulas, except plain numbers.
FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[+-]?\d+(\.\d+)?$"

# Between words, and after _, - or / before a letter: numbers such as -1e-05 stay whole.
BREAKS = re.compile(r"(?<=\s)|(?=\s)|(?<=\w[_/-])(?=[^\W\d_])")

# A title, headings, rows, and how many of the first columns are keys.
Block: TypeAlias = tuple[str, list[str], list[list[str | None]], int]


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], keys: int
) -> "FoldedTable":
    """A table whose first `keys` columns are text and whose others are numbers."""
    cells = [
        ["–" if value is None else escape_control(str(value)) for value in row] for row in rows
    ]
    return FoldedTable(title, [escape_control(column) for column in columns], cells, keys)


@dataclass(frozen=True)
class FoldedTable:
    """A table that is folded between words, never inside one that fits the terminal.

    Columns that do not fit beside each other follow below, with the keys again.
    """

    title: str
    headings: list[str]
    rows: list[list[str]]
    keys: int

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[RenderableType]":
        places = range(len(self.headings))
        texts = [
            [heading, *cells] for heading, *cells in zip(self.headings, *self.rows, strict=True)
        ]
        least = [max(_width(part) for text in column for part in _parts(text)) for column in texts]
        whole = [max(map(_width, column)) for column in texts]
        keys, others = list(places[: self.keys]), list(places[self.keys :])
        title = self.title
        while True:
            count = len(others)
            while (
                count > 1
                and _beside(least[i] for i in (*keys, *others[:count])) > options.max_width
            ):
                count -= 1
            shown = [*keys, *others[:count]]
            widths = _narrowed({i: (least[i], whole[i]) for i in shown}, options.max_width)
            yield self._drawn(title, {i: texts[i] for i in shown}, widths)
            others, title = others[count:], ""
            if not others:
                return

    def _drawn(
        self, title: str, texts: Mapping[int, list[str]], widths: Mapping[int, int]
    ) -> "Table":
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        drawn = Table(
            title=Text(title) if title else None, title_justify="left", header_style="bold",
            box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False,
        )  # fmt: skip
        columns = []
        for i, column in texts.items():
            heading, *cells = (Text(_folded(text, widths[i])) for text in column)
            drawn.add_column(
                heading, justify="left" if i < self.keys else "right", overflow="fold",
                width=widths[i],
            )  # fmt: skip
            columns.append(cells)
        for row in zip(*columns, strict=True):
            drawn.add_row(*row)
        return drawn


def _beside(widths: Iterable[int]) -> int:
    """The width of columns with an edge on either side, and two spaces between them."""
    return sum(width + 2 for width in widths)


def _narrowed(widths: Mapping[int, tuple[int, int]], limit: int) -> dict[int, int]:
    """The widths of columns, of which each has a least and a whole one, within a limit."""
    narrowed = {i: whole for i, (_, whole) in widths.items()}
    while _beside(narrowed.values()) > limit:
        # Where not even the longest words fit, they are broken.
        spare = [i for i in narrowed if narrowed[i] > widths[i][0]] or list(narrowed)
        widest = max(spare, key=narrowed.__getitem__)
        if narrowed[widest] == 1:
            break
        narrowed[widest] -= 1
    return narrowed


def _width(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))


def _parts(text: str) -> list[str]:
    """The pieces between which a text may be folded.

    Examples
    --------
    >>> _parts("random_forest-large 2")
    ['random_', 'forest-', 'large', ' ', '2']
    """
    return BREAKS.split(text)


def _folded(text: str, width: int) -> str:
    """A text with line breaks between pieces where it would be wider.

    Examples
    --------
    >>> _folded("random_forest-large 2", 14)
    'random_forest-\\nlarge 2'
    """
    lines = [""]
    for part in _parts(text):
        if _width(lines[-1] + part) > width and lines[-1]:
            lines[-1] = lines[-1].rstrip(" ")
            lines.append("")
        lines[-1] += part if lines[-1] or part != " " else ""
    return "\n".join(lines)


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
    """A number with fixed decimals, None of None."""
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


def short_threshold(threshold: float, below: float | None = None) -> str:
    """A threshold in as few digits as select the same cases, of which `below` is the next score.

    Rounded down, two digits or more, and nearer to the threshold than to the next score: so scores
    of single precision are on the same side of it, too.

    Examples
    --------
    >>> short_threshold(0.767285, 0.7661), short_threshold(-1.83818, -1.8382), short_threshold(3.0)
    ('0.767', '-1.83818', '3')
    """
    from decimal import ROUND_FLOOR, Context, Decimal
    from math import isfinite

    if not isfinite(threshold):
        return f"{threshold:g}"
    least = -inf if below is None else (below + threshold) / 2
    for digits in range(2 if below is not None else 3, 18):
        rounded = float(
            Context(prec=digits, rounding=ROUND_FLOOR).plus(Decimal(repr(float(threshold))))
        )
        if least < rounded <= threshold:
            return repr(rounded).removesuffix(".0")
    return repr(threshold)


def p_value(value: float | None) -> str | None:
    """A p-value to two digits, never as 0 where it is not."""
    return None if value is None else "0" if value == 0 else f"{value:.2g}"


def percent(share: float, digits: int = 3) -> str:
    """A share in per cent, to so many digits, not rounded to all.

    Examples
    --------
    >>> percent(0.125), percent(0.9999), percent(1.0)
    ('12.5 %', '99.99 %', '100 %')
    """
    text = f"{100 * share:.{digits}g}"
    if text == "100" and 100 * share < ALL:
        text = f"{100 * share:.{decimals_below(100 * share)}f}"
    return f"{text} %"


def decimals_below(value: float) -> int:
    """How many decimals a number a little below 100 needs not to be rounded to it.

    Examples
    --------
    >>> decimals_below(99.7), decimals_below(99.95)
    (1, 2)
    """
    return -floor(log10(100 - value))


def probability(value: float | None) -> str | None:
    """A probability in whole per cent, not rounded to none or all.

    Examples
    --------
    >>> probability(0.784), probability(0.0004), probability(0.9996)
    ('78 %', '< 1 %', '> 99 %')
    """
    if value is None:
        return None
    if value < 1 - ALMOST:
        return "< 1 %"
    return "> 99 %" if value >= ALMOST else f"{100 * value:.0f} %"


def block_tables(blocks: Iterator[Block]) -> "Iterator[RenderableType]":
    """Titles and rich tables, one after the other."""
    # A title above the table: inside a narrow one it would wrap.
    for title, columns, rows, keys in blocks:
        yield title
        yield table("", columns, rows, keys)
