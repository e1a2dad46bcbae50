"""Measures by period with their trends, and the summary as text and as HTML."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.rounding import ESTIMATE, number, p_value, with_limits
from polaroc.base.text import capitalised
from polaroc.base.text_tables import Summarised, noted, table
from polaroc.deployment.history import times_in_words
from polaroc.deployment.period_rates import WORDS
from polaroc.measures.catalog import label

if TYPE_CHECKING:
    from rich.console import RenderableType

PER = {"year": "a year", "unit": "per unit of time", "period": "a period"}
SHOWN = 12
ENDS = "estimate", "lower", "upper"


@dataclass(frozen=True, eq=False, repr=False)
class Periods(Summarised):
    """Measures by period, and whether they have a trend; made by `periods`.

    Attributes
    ----------
    table
        One row per key, period, measure and prior, sorted: the keys; `period`, in the type of the
        time; `measure` String; `prior` Float64; `estimate`, `lower`, `upper`, `level`,
        `std_error` Float64; `positives`, `negatives` Int64; `note` String.
    trends
        One row per key, measure and prior: `estimate`, the slope, `lower`, `upper`, `level`,
        `std_error` Float64; `per` String, what the slope is per ("year" of dates, "unit" of
        numbers, "period" of text and of numbers cut into periods); `p_value` Float64 of no slope;
        `p_adjusted` Float64, the same for all trends of the table (Holm); `periods` Int64, how many
        the line goes through; `spread` Float64, the standard deviation of the periods about the
        line beyond chance, null for two; `note` String, null, or why there is no slope.
    warnings
        What the numbers rest on, in sentences.
    level
        Of the limits, each by itself; all trends together are tested at 1 − `level`.
    """

    table: pl.DataFrame
    trends: pl.DataFrame
    warnings: tuple[str, ...] = ()
    level: float = 0.95

    @property
    def answer(self) -> str:
        """Which measures have a trend, one sentence each, or that none is shown; of how many."""
        told = self.trends.filter(pl.col("p_adjusted") < 1 - self.level)
        lines = [_sentence(row, self._keys) for row in told.iter_rows(named=True)]
        tested = self.trends["p_value"].count()
        at_once = f"The p-values allow for {tested} tested trends (Holm)." if tested > 1 else ""
        if lines:
            return " ".join([*lines, at_once]).rstrip()
        periods = self.table["period"].n_unique()
        if periods == 1:
            return "There is one period, and no change to be seen: give a shorter one."
        none = f"Nothing shows that a measure changes over the {periods} periods."
        return f"{none} {at_once}".rstrip()

    @property
    def _keys(self) -> list[str]:
        return self.trends.columns[: self.trends.columns.index("measure")]

    @property
    def shown(self) -> "list[RenderableType]":
        """The answer, the trends, the last periods and the notes."""
        keys, periods = self._keys, self.table["period"].unique().sort()
        shown: list[RenderableType] = [self.answer]
        if self.trends.height:
            headings = [*keys, "measure", "prior", ESTIMATE, "per", "p_adjusted", "spread"]
            shown.append(table("Trends, as slopes", headings, _trend_cells(self), len(keys) + 1))
        rows = self.table.filter(pl.col("period").is_in(periods.tail(SHOWN).implode()))
        rows = rows.sort(*keys, "measure", "prior", "period", nulls_last=True)
        rows = rows.with_columns(times_in_words(rows["period"]))
        lines = [
            [*(row[key] for key in (*keys, "measure", "period")), *_with_limits(row),
             row["positives"]]
            for row in rows.iter_rows(named=True)
        ]  # fmt: skip
        names = [*keys, "measure", "period", "prior", ESTIMATE, "positives"]
        which = f"The last {SHOWN} periods" if len(periods) > SHOWN else "Periods"
        if lines:
            shown.append(table(which, names, lines, len(keys) + 2))
        return [*shown, *noted(self.warnings)]


def trend_in_words(row: dict[str, object], name: str) -> str:
    """A trend as a sentence."""
    slope, lower, upper = (float(str(row[one])) for one in ("estimate", "lower", "upper"))
    way = "grows" if slope > 0 else "falls"
    return f"{name} {way} by {slope_in_words(slope, lower, upper)} {PER[str(row['per'])]}."


def slope_in_words(slope: float, lower: float, upper: float) -> str:
    """A slope that is not 0, and its limits, without their sign.

    Examples
    --------
    >>> slope_in_words(-0.0123, -0.02, -0.005)
    '0.012 (0.005 to 0.02)'
    """
    least, most = sorted((abs(lower), abs(upper)))
    return f"{abs(slope):.2g} ({least:.2g} to {most:.2g})"


def _sentence(row: dict[str, object], keys: list[str]) -> str:
    measure = str(row["measure"])
    free = row["prior"] is None or measure in ("tpr", "fpr")
    at = "" if free else f" at {100 * float(str(row['prior'])):.3g} % positives"
    of = ", ".join(str(row[key]) for key in keys)
    name = f"{WORDS.get(measure, label(measure))}{at}{f' of {of}' if of else ''}"
    return trend_in_words(row, capitalised(name))


def _trend_cells(result: Periods) -> list[list[object]]:
    return [
        [
            *(row[key] for key in (*result._keys, "measure")),
            *_with_limits(row),
            row["per"],
            p_value(row["p_adjusted"]),
            number(row["spread"]),
        ]
        for row in result.trends.iter_rows(named=True)
    ]


def _with_limits(row: dict[str, Any]) -> list[object]:
    prior = None if row["prior"] is None else f"{row['prior']:.3g}"
    return [prior, with_limits(*(row[one] for one in ENDS))]
