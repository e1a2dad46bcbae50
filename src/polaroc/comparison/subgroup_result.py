"""How subgroups differ, and its summary as text and as HTML."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.names import listed
from polaroc.base.rounding import number
from polaroc.base.text_tables import FoldedTable, Summarised, noted, table_of
from polaroc.deployment.period_rates import WORDS as OF_RATES
from polaroc.measures.catalog import label

if TYPE_CHECKING:
    from rich.console import RenderableType

WORDS = OF_RATES | {
    "recall": OF_RATES["tpr"], "observed_over_expected": "observed / expected",
    "calibration_in_the_large": "calibration in the large",
    "calibration_slope": "calibration slope",
}  # fmt: skip
# What a number of a subgroup is told by, beside its keys.
PLACE_OF = ("measure", "prior", "threshold")
MAX_ROWS = 60


@dataclass(frozen=True, eq=False, repr=False)
class Subgroups(Summarised):
    """What a model does in each subgroup, and how far subgroups are apart; made by `subgroups`.

    Attributes
    ----------
    answer
        What differs by more than chance, and by how much, in sentences.
    parts
        One row per key, subgroup, measure, prior and threshold; of all cases first, with null as
        `column` and `subgroup`. The keys (`by`, model and fold); `column`, the column of the
        subgroups, and `subgroup`, String; `measure` String; `prior`, `threshold` Float64, null
        where a measure has none; `estimate`, `lower`, `upper`, their `level`, `std_error`
        Float64; `positives`, `negatives` Int64; `note` String: why a number is null or to be
        doubted, and where the data do not show that subgroups differ.
    gaps
        One row per pair of subgroups, of each measure the largest first: the keys, `column`,
        `measure`, `prior`, `threshold`; `subgroup_a`, `subgroup_b` String; `difference`, first
        minus second, `lower`, `upper`, limits that hold for all pairs of a measure at once with
        the probability `level`, Float64; `apart` Boolean, whether they leave out 0.
    warnings
        What the numbers rest on, in sentences.
    keys
        The names of the keys.
    level
        Of all limits.
    """

    answer: str
    parts: pl.DataFrame
    gaps: pl.DataFrame
    warnings: tuple[str, ...]
    keys: tuple[str, ...]
    level: float

    @property
    def largest(self) -> pl.DataFrame:
        """The largest gap of each key, column and measure."""
        return largest_gaps(self.gaps, self.keys)

    @property
    def shown(self) -> "list[RenderableType]":
        """The summary as sentences and tables."""
        return [self.answer, "", *_tables(self), *noted(self.warnings)]

    def __repr__(self) -> str:
        return f"Subgroups({self.answer!r})"


def largest_gaps(gaps: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """The first gap of each key, column and measure, which is the largest."""
    return gaps.unique([*keys, "column", *PLACE_OF], keep="first", maintain_order=True)


def measure_in_words(measure: str, prior: float | None = None) -> str:
    """The name of a measure in a sentence."""
    at = "" if prior is None else f" at {100 * prior:.3g} % positives"
    return WORDS.get(measure, label(measure)) + at


def answer_of(gaps: pl.DataFrame, parts: pl.DataFrame, keys: tuple[str, ...]) -> str:
    """What differs by more than chance, column by column."""
    columns = parts["column"].drop_nulls().unique(maintain_order=True)
    return " ".join(_answer_for(column, gaps, parts, keys) for column in columns)


def _answer_for(column: str, gaps: pl.DataFrame, parts: pl.DataFrame, keys: tuple[str, ...]) -> str:
    largest = largest_gaps(gaps.filter(column=column), keys)
    if largest.is_empty():
        return f"By {column}: no two subgroups have limits, so that no gap is known."
    count = largest.height
    apart = largest.filter("apart")
    if apart.is_empty():
        numbers = "the one number" if count == 1 else f"any of {count} numbers"
        return (
            f"By {column}: the data do not show that {numbers} differs between subgroups; that is "
            "no proof that they are equal."
        )
    clearest = apart.with_columns(
        clear=pl.col("difference").abs() / (pl.col("upper") - pl.col("lower"))
    ).sort("clear", descending=True, maintain_order=True)
    row = clearest.row(0, named=True)
    own = parts.filter(
        pl.col("column") == column,
        *(
            pl.col(name).eq_missing(pl.lit(row[name], parts.schema[name]))
            for name in (*keys, *PLACE_OF)
        ),
    )
    values = dict(own.select("subgroup", "estimate").iter_rows())
    first, second = row["subgroup_a"], row["subgroup_b"]
    if values[first] < values[second]:
        first, second = second, first
    ends = sorted((abs(row["lower"]), abs(row["upper"])))
    of = listed([str(row[key]) for key in keys], "and")
    measure = measure_in_words(row["measure"], row["prior"])
    rest = f"; {apart.height} of {count} numbers do" if count > 1 else ""
    return (
        f"By {column}: the {measure}{f' of {of}' if of else ''} differs by more than chance, "
        f"{number(values[first])} in {first} and {number(values[second])} in {second}, a gap of "
        f"{number(abs(row['difference']))} ({number(ends[0])} to {number(ends[1])}){rest}."
    )


def _tables(found: Subgroups) -> Iterator[FoldedTable]:
    keys = dict.fromkeys(found.keys, str)
    level = f"{100 * found.level:g} %"
    shown, rest = _first(found.parts)
    yield table_of(
        f"Each subgroup, with {level} limits{rest}",
        _in_words(shown),
        keys | {
            "column": _text, "subgroup": _text, "positives": _count, "negatives": _count,
            "measure": str, **({"threshold": _digits} if shown["threshold"].count() else {}),
            "estimate": number, "lower": number, "upper": number,
        },
        keys=len(keys) + 5,
    )  # fmt: skip
    shown, rest = _first(found.largest)
    yield table_of(
        f"The largest gaps, with limits that hold for all pairs of a measure at {level}{rest}",
        _in_words(shown),
        keys | {
            "column": _text, "measure": str, "subgroup_a": str, "subgroup_b": str,
            "difference": number, "lower": number, "upper": number,
            "apart": lambda is_so: "yes" if is_so else "not shown",
        },
        keys=len(keys) + 4,
    )  # fmt: skip


def _first(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    rest = f"; the first {MAX_ROWS} of {table.height:,} rows" if table.height > MAX_ROWS else ""
    return table.head(MAX_ROWS), rest


def _in_words(table: pl.DataFrame) -> pl.DataFrame:
    names = [measure_in_words(*row) for row in table.select("measure", "prior").iter_rows()]
    return table.with_columns(pl.Series("measure", names, pl.String))


def _text(value: str | None) -> str:
    return "all" if value is None else value


def _count(value: float | None) -> str | None:
    return None if value is None else f"{value:,.6g}"


def _digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"
