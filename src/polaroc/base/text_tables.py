"""Tables and sentences for a terminal, plain text and notebooks."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from polaroc.base.text import escape_control

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

# Breaks are between words, and after _, - or / before a letter: -1e-05 stays whole.
BREAKS = re.compile(r"(?<=\s)|(?=\s)|(?<=\w[_/-])(?=[^\W\d_])")
# The number of notes in a summary, and where the others are.
MOST_NOTES, MORE_NOTES = 5, "in .warnings"


class Result:
    """The result of a verb, as the same sentences and tables in a terminal and a notebook.

    Attributes
    ----------
    answer
        The main result, in one to three sentences.
    tables
        The tables of numbers by name, each with its columns.
    warnings
        Sentences on the assumptions and limits of the numbers.
    """

    # Attributes that are single values, such as a verdict: JSON has them beside the tables.
    facts: ClassVar[tuple[str, ...]] = ()
    # Attributes that are tables.
    table_names: ClassVar[tuple[str, ...]]

    @property
    def tables(self) -> "dict[str, pl.DataFrame]":
        """The tables of numbers, by name."""
        return {name: getattr(self, name) for name in self.table_names}

    @property
    def shown(self) -> "list[RenderableType]":
        """Sentences and tables, for a terminal of any width."""
        raise NotImplementedError

    def summary(self) -> str:
        """The result as text for a terminal of 80 columns, without colours."""
        from io import StringIO

        from rich.console import Console

        written = StringIO()
        console = Console(
            file=written, width=80, highlight=False, markup=False, color_system=None,
            force_terminal=False, emoji=False,
        )  # fmt: skip
        for part in self.shown:
            console.print(escape_control(part) if isinstance(part, str) else part)
        return "\n".join(line.rstrip() for line in written.getvalue().splitlines())

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return "".join(
            part.html
            if isinstance(part, FoldedTable)
            else f"<p>{escape(escape_control(str(part)))}</p>"
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
    """A table of the columns of a frame that have a form, a function that writes their values."""
    rows = [
        [form(value) for form, value in zip(forms.values(), row, strict=True)]
        for row in frame.select(*forms).iter_rows()
    ]
    return table(title, list(forms), rows, keys)


@dataclass(frozen=True)
class FoldedTable:
    """A table for a terminal or a notebook.

    Columns for which a terminal has no room follow below, with the keys again.
    """

    title: str
    headings: list[str]
    rows: list[list[str]]
    keys: int

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[RenderableType]":
        from rich.box import SIMPLE_HEAD
        from rich.cells import cell_len
        from rich.table import Table
        from rich.text import Text

        if self.title:
            # As text above the table, since a title would wrap at the width of the table.
            yield Text(self.title)
        columns = list(zip(self.headings, *self.rows, strict=True))
        # The longest piece of each column, with two spaces between columns.
        least = [2 + max(map(cell_len, BREAKS.split("\n".join(column)))) for column in columns]
        keys, others = [*range(self.keys)], [*range(self.keys, len(columns))]
        while True:
            count = max(len(others), 1)
            while count > 1 and sum(least[i] for i in keys + others[:count]) > options.max_width:
                count -= 1
            shown = keys + others[:count]
            widths = {i: 2 + max(map(cell_len, "\n".join(columns[i]).split("\n"))) for i in shown}
            while sum(widths.values()) > options.max_width and max(widths.values()) > 3:
                # If not even the longest pieces fit, they are broken.
                spare = [i for i in shown if widths[i] > least[i]] or shown
                widths[max(spare, key=widths.__getitem__)] -= 1
            drawn = Table(
                header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
            )
            cells = [[_folded(text, widths[i] - 2) for text in columns[i]] for i in shown]
            for i, (heading, *_) in zip(shown, cells, strict=True):
                drawn.add_column(
                    heading, justify="left" if i < self.keys else "right", overflow="fold",
                    width=widths[i] - 2,
                )  # fmt: skip
            for row in list(zip(*cells, strict=True))[1:]:
                drawn.add_row(*row)
            yield drawn
            others = others[count:]
            if not others:
                return

    @property
    def html(self) -> str:
        """The table as HTML, every name and value escaped."""
        head = "".join(f"<th>{escape(heading)}</th>" for heading in self.headings)
        lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.rows]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return (
            f"<table><caption>{escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _folded(text: str, width: int) -> "Text":
    """A text with line breaks between pieces where it would be wider."""
    from rich.cells import cell_len
    from rich.text import Text

    lines = [""]
    for piece in BREAKS.split(text):
        if lines[-1] and cell_len(lines[-1] + piece) > width:
            lines[-1] = lines[-1].rstrip(" ")
            lines.append("")
        lines[-1] += piece if lines[-1] or piece != " " else ""
    return Text("\n".join(lines))


def noted(lines: Iterable[str]) -> list[str]:
    """The first notes of a summary, and the number of those that are left out."""
    notes = ["Note: " + line for line in dict.fromkeys(lines)]
    rest = len(notes) - MOST_NOTES
    return notes if rest < 1 else [*notes[:MOST_NOTES], f"Note: {rest} more, {MORE_NOTES}."]
