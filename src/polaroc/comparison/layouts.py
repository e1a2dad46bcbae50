"""The balanced table of an analysis of variance: one number per combination of factors."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import polars as pl

from polaroc.base.checks import check_text
from polaroc.base.private_columns import LEVEL, RESPONSE
from polaroc.comparison.measure_rows import listed_rows, rows_of
from polaroc.errors import InvalidArgument, InvalidTable, quoted
from polaroc.typing import Array

PRIOR = "prior"


@dataclass(frozen=True, eq=False)
class Layout:
    """One number per combination of the levels of some factors.

    Attributes
    ----------
    factors
        Their columns; the first is what is compared.
    values
        The numbers, one axis per factor.
    """

    factors: tuple[str, ...]
    values: "Array"

    @property
    def views(self) -> tuple[str, ...]:
        """The factors whose levels are views of one number: priors, else those past the second."""
        return (PRIOR,) if PRIOR in self.factors[1:] else self.factors[2:]

    @property
    def blocks(self) -> tuple[str, ...]:
        """The factors whose levels are test sets."""
        return tuple(factor for factor in self.factors[1:] if factor not in self.views)

    @property
    def per_block(self) -> "Array":
        """The means over the views, blocks × what is compared."""
        axes = tuple(self.factors.index(view) for view in self.views)
        means = self.values.mean(axis=axes) if axes else self.values
        table: Array = means.reshape(len(means), -1).T
        return table

    def degrees(self, term: tuple[str, ...]) -> int:
        """The degrees of freedom of a term."""
        sizes = dict(zip(self.factors, self.values.shape, strict=True))
        return prod(sizes[factor] - 1 for factor in term)


def _cells(frame: pl.DataFrame, response: str, factors: Sequence[str]) -> pl.DataFrame:
    """The factors and the response of every used row."""
    check_text("response", response, "auprec")
    if response in frame.columns:
        if not frame.schema[response].is_numeric():
            raise InvalidArgument(
                f"response {response!r} is {frame.schema[response]}, allowed are numbers.",
                hint="name a measure or a numeric column.",
            )
        rows, column = frame, pl.col(response)
    elif "measure" in frame.columns:
        selected = rows_of(frame, response)
        rows, column = selected.frame, pl.col("estimate")
        if PRIOR in factors:
            rows = rows.filter(pl.col(PRIOR).is_in(selected.fixed_priors))
    else:
        raise InvalidArgument(
            f"there is no column {response!r}; the table has {quoted(frame.columns)}.",
            hint="name the numeric column to analyse as response.",
        )
    return rows.select(*factors, column.cast(pl.Float64).alias(RESPONSE))


def layout_of(frame: pl.DataFrame, response: str, factors: tuple[str, ...]) -> Layout:
    """The response of every combination of factors; raise unless each occurs once."""
    import numpy as np

    cells = _cells(frame, response, factors)
    levels = [cells.select(factor).unique().sort(factor, nulls_last=True) for factor in factors]
    _check_complete(cells, levels, factors)
    placed = cells
    for i, level in enumerate(levels):
        numbered = level.with_row_index(f"{LEVEL}_{i}")
        placed = placed.join(numbered, on=level.columns, how="left", nulls_equal=True)
    values = np.empty([level.height for level in levels])
    at = tuple(placed[f"{LEVEL}_{i}"].to_numpy() for i in range(len(levels)))
    values[at] = placed[RESPONSE].to_numpy()
    return Layout(factors, values)


def _check_complete(
    cells: pl.DataFrame, levels: Sequence[pl.DataFrame], factors: tuple[str, ...]
) -> None:
    single = [factor for factor, level in zip(factors, levels, strict=True) if level.height < 2]
    if single:
        raise InvalidArgument(
            f"{quoted(single)} has fewer than two values.",
            hint="leave it out of the factors.",
        )
    counts = cells.group_by(factors).agg(pl.len().alias(LEVEL))
    repeated = counts.filter(pl.col(LEVEL) > 1).sort(factors)
    full = levels[0]
    for level in levels[1:]:
        full = full.join(level, how="cross")
    problems = []
    missing = full.join(cells, on=factors, how="anti", nulls_equal=True).sort(factors)
    null = cells.filter(~pl.col(RESPONSE).is_finite().fill_null(False)).sort(factors)
    if missing.height:
        problems.append(
            f"{missing.height} of {full.height} cells are missing: {listed_rows(missing)}"
        )
    if null.height:
        problems.append(f"{null.height} estimates are null: {listed_rows(null.select(factors))}")
    if repeated.height:
        listed = listed_rows(repeated.select(factors))
        problems.append(f"{repeated.height} cells have several rows: {listed}")
    if problems:
        raise InvalidTable(
            f"{'; '.join(problems)}.",
            hint="each combination of the factors needs one number: filter, or name as a factor "
            "what tells rows apart.",
        )
