"""Tables and sentences for a terminal, plain text and notebooks."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polaroc.base.text import escape_control

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

WIDTH = 80
# Notes of a summary, and where the others are.
MOST_NOTES, MORE_NOTES = 3, "in .warnings"

# Between words, and after _, - or / before a letter: numbers such as -1e-05 stay whole.
BREAKS = re.compile(r"(?<=\s)|(?=\s)|(?<=\w[_/-])(?=[^\W\d_])")


class Summarised:
    """A result that shows itself: the same sentences and tables in a terminal and a notebook."""

    @property
    def shown(self) -> "list[RenderableType]":
        """Sentences and tables, for a terminal of any width."""
        raise NotImplementedError

    def summary(self) -> str:
        """All of it as text for a terminal of 80 columns."""
        return plain(self.shown)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return "".join(
            part.html if isinstance(part, FoldedTable) else html_line(str(part))
            for part in self.shown
            if part
        )


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], keys: int
) -> "FoldedTable":
    """A table whose first `keys` columns are text and whose others are numbers."""
    cells = [
        ["–" if value is None else escape_control(str(value)) for value in row] for row in rows
    ]
    headings = [escape_control(column) for column in columns]
    return FoldedTable(escape_control(title), headings, cells, keys)


def table_of(
    title: str,
    frame: "pl.DataFrame",
    forms: Mapping[str, Callable[[Any], str | None]],
    keys: int = 1,
) -> "FoldedTable":
    """Some columns of a frame under their names, each value written by the form of its column."""
    rows = [
        [form(value) for form, value in zip(forms.values(), row, strict=True)]
        for row in frame.select(*forms).iter_rows()
    ]
    return table(title, list(forms), rows, keys)


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
        from rich.text import Text

        places = range(len(self.headings))
        texts = [
            [heading, *cells] for heading, *cells in zip(self.headings, *self.rows, strict=True)
        ]
        least = [max(_width(part) for text in column for part in _parts(text)) for column in texts]
        whole = [max(map(_width, column)) for column in texts]
        keys, others = list(places[: self.keys]), list(places[self.keys :])
        if self.title:
            # Above the table: inside a narrow one it would wrap.
            yield Text(self.title)
        while True:
            count = len(others)
            while (
                count > 1
                and _beside(least[i] for i in (*keys, *others[:count])) > options.max_width
            ):
                count -= 1
            shown = [*keys, *others[:count]]
            widths = _narrowed({i: (least[i], whole[i]) for i in shown}, options.max_width)
            yield self._drawn({i: texts[i] for i in shown}, widths)
            others = others[count:]
            if not others:
                return

    def _drawn(self, texts: Mapping[int, list[str]], widths: Mapping[int, int]) -> "Table":
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        drawn = Table(
            header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False,
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

    @property
    def html(self) -> str:
        """The table as HTML, every name and value escaped."""
        from html import escape

        head = "".join(f"<th>{escape(heading)}</th>" for heading in self.headings)
        lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.rows]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return (
            f"<table><caption>{escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


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


def noted(lines: Iterable[str]) -> list[str]:
    """The first notes of a summary, which change what is decided, and how many more there are.

    Examples
    --------
    >>> noted(["One.", "Two.", "Three.", "Four."])
    ['Note: One.', 'Note: Two.', 'Note: Three.', 'Note: 1 more, in .warnings.']
    """
    # As a sum, in which hints go on naming arguments as they are asked for.
    notes = ["Note: " + line for line in dict.fromkeys(lines)]
    rest = len(notes) - MOST_NOTES
    return notes if rest < 1 else [*notes[:MOST_NOTES], f"Note: {rest} more, {MORE_NOTES}."]


def markdown_text(value: object) -> str:
    """A value as Markdown shows it: on one line, its marks as they stand.

    Examples
    --------
    >>> print(markdown_text("my_model|<b>"), markdown_text("_seen_"))
    my_model\\|&lt;b> \\_seen\\_
    """
    text = " ".join(escape_control(str(value)).split()).replace("<", "&lt;")
    return re.sub(r"([\\`*\[\]|]|(?<!\w)_|_(?!\w))", r"\\\1", text)


def markdown_table(columns: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table as Markdown, its first column text and the others numbers.

    Examples
    --------
    >>> print(markdown_table(["model", "AUC"], [["svm", "0.9"]]))
    | model | AUC |
    | --- | --: |
    | svm | 0.9 |
    """
    rule = ["---", *["--:"] * (len(columns) - 1)]
    written = [[markdown_text(value) for value in line] for line in (columns, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (written[0], rule, *written[1:]))


def html_line(sentence: str) -> str:
    """A sentence as an HTML paragraph, escaped."""
    from html import escape

    return f"<p>{escape(escape_control(sentence))}</p>"
