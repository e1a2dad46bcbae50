"""The tables of a report, laid out and escaped by great_tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from polaroc.base.text import chance, escape_control, limit, number

if TYPE_CHECKING:
    from markupsafe import Markup

NOTHING = "–"
Column: TypeAlias = Sequence[str | None]


@dataclass(frozen=True, eq=False)
class ReportTable:
    """A table to show.

    Attributes
    ----------
    name
        Its id on the page, of letters and hyphens.
    caption
        What it holds.
    columns
        By heading: a column of text, or of numbers as text, null where there is
        nothing.
    keys
        How many columns, from the left, name the rows.
    words
        Other headings whose columns are words, not numbers.
    """

    name: str
    caption: str
    columns: Mapping[str, Column]
    keys: int = 1
    words: tuple[str, ...] = ()

    @property
    def html(self) -> "Markup":
        """The table as HTML, in the page's one style."""
        return rendered(self)


def rendered(report_table: ReportTable) -> "Markup":
    """The table as HTML: headings with scopes, a caption, every name and value escaped."""
    from great_tables import GT
    from markupsafe import Markup

    # Names of columns become ids, headings are text: columns are numbered.
    names = [f"c{i}" for i in range(len(report_table.columns))]
    labels = [escape_control(heading) for heading in report_table.columns]
    shown = [
        [NOTHING if value is None else escape_control(value) for value in column]
        for column in report_table.columns.values()
    ]
    frame = pl.DataFrame(shown, schema=dict.fromkeys(names, pl.String), orient="col")
    left = [
        name
        for i, (name, heading) in enumerate(zip(names, report_table.columns, strict=True))
        if i < report_table.keys or heading in report_table.words
    ]
    right = [name for name in names if name not in left]
    table = (
        GT(frame, rowname_col=names[0], id=report_table.name)
        .tab_stubhead(labels[0])
        .cols_label(dict(zip(names[1:], labels[1:], strict=True)))
        .cols_align("left", columns=left)
        .cols_align("right", columns=right)
        .as_raw_html()
    )
    # What is before the table is a style sheet; the page has its own.
    inner = table[table.index("<table") : table.rindex("</table>") + len("</table>")]
    before, after = inner.split("<thead>", 1)
    caption = Markup("<caption>{}</caption>").format(escape_control(report_table.caption))
    return Markup(before) + caption + Markup("<thead>" + after)


def numbers(values: pl.Series, digits: int = 3) -> Column:
    """Numbers to so many decimals."""
    return [number(value, digits) for value in values]


def limits(values: pl.Series, digits: int = 3) -> Column:
    """Limits of intervals, never as 0 where they are not."""
    return [limit(value, digits) for value in values]


def percents(values: pl.Series, digits: int = 0) -> Column:
    """Shares in per cent, to so many decimals."""
    return [None if value is None else f"{100 * value:.{digits}f} %" for value in values]


def texts(values: pl.Series) -> Column:
    """Names as text."""
    return [str(value) for value in values]


def chances(values: pl.Series) -> Column:
    """P-values to two digits."""
    return [chance(value) for value in values]
