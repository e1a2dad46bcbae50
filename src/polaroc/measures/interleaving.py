"""A row per key as a row per key and measure, with areas interpolated where priors are many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.columns import OVER, PRIVATE
from polaroc.priors.chebyshev import ManyPriors
from polaroc.priors.grids import skew

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

# Of a row: whether it is interpolated, at which prior and skew, null for the key's own.
IS_MANY, PRIOR, SKEW = (PRIVATE + name for name in ("many", "prior", "skew"))
WHICH, PIECE = PRIVATE + "measure", PRIVATE + "piece"


@dataclass(frozen=True)
class Shown:
    """What the rows of a key show.

    Attributes
    ----------
    names
        Of the measure, by row.
    over
        What the measure is taken over, by row.
    which
        The number of the measure among those that are not interpolated, by row;
        None where it is.
    many, places
        The priors that are interpolated at, and the place among them, by row;
        None where the row is not interpolated.
    """

    names: Sequence[str]
    over: Sequence[str | None]
    which: Sequence[int | None]
    many: ManyPriors
    places: Sequence[int | None]

    @property
    def table(self) -> pl.DataFrame:
        """What the rows of a key have in common with those of other keys."""
        priors = [None if place is None else self.many.priors[place] for place in self.places]
        pieces = [0 if place is None else int(self.many.piece_of[place]) for place in self.places]
        return pl.DataFrame(
            {
                "measure": self.names,
                OVER: self.over,
                IS_MANY: [place is not None for place in self.places],
                WHICH: [which or 0 for which in self.which],
                PIECE: pieces,
                PRIOR: priors,
                SKEW: [None if prior is None else skew(prior) for prior in priors],
            },
            schema_overrides={OVER: pl.String, PRIOR: pl.Float64, SKEW: pl.Float64},
        )

    @property
    def basis(self) -> "Array":
        """What each node of its piece counts in a row; shape (nodes, rows)."""
        import numpy as np

        rows = np.zeros((len(self.places), self.many.width))
        own = np.array([place is not None for place in self.places])
        rows[own] = self.many.basis[[place for place in self.places if place is not None]]
        return np.ascontiguousarray(rows.T)


def interleaved(
    rows: pl.LazyFrame,
    kept: Sequence[str],
    columns: Mapping[str, Sequence[pl.Expr]],
    values: Sequence[pl.Series],
) -> pl.LazyFrame:
    """Each row once per row of `values`; `columns` have an expression for each of these.

    Columns end to end, gathered in this order: lists that are exploded took five
    times as long.
    """
    named = _named(columns)
    held = rows.select(*kept, **{key: one for of in named.values() for key, one in of.items()})
    count = len(values[0])
    place = pl.int_range(pl.len() * count)
    row, value = place // count, place % count
    return held.select(
        pl.col(kept).gather(row),
        *(pl.lit(of).gather(value) for of in values),
        *(
            _end_to_end(list(of)).gather(value * pl.len() + row).alias(name)
            for name, of in named.items()
        ),
    )


def interpolated(
    rows: pl.LazyFrame,
    kept: Sequence[str],
    columns: Mapping[str, Sequence[pl.Expr]],
    nodes: Mapping[str, Sequence[pl.Expr]],
    shown: Shown,
) -> pl.LazyFrame:
    """Each row once per row of `shown`, one after the other.

    By name, `columns` have an expression for each measure that is not interpolated, `nodes` one
    for each node.
    """
    named = _named(columns)
    moved = {name: _moved(name, values, shown.many) for name, values in nodes.items()}
    held = rows.select(
        *kept,
        **{key: one for of in named.values() for key, one in of.items()},
        **{key: one for slots in moved.values() for of in slots for key, one in of.items()},
    )
    count = len(shown.names)
    place = pl.int_range(pl.len() * count)
    row, value = place // count, place % count
    common = {column.name: pl.lit(column).gather(value) for column in shown.table}
    which, piece = (common.pop(name) * pl.len() + row for name in (WHICH, PIECE))
    weights = [pl.lit(pl.Series(own)).gather(value) for own in shown.basis[1:]]

    def at_prior(slots: Sequence[Mapping[str, pl.Expr]]) -> pl.Expr:
        start, *others = (_end_to_end(list(of)).gather(piece) for of in slots)
        # One term after the other: all of them at once are as many columns of all rows.
        for weight, difference in zip(weights, others, strict=True):
            start = start + weight * difference
        return start

    return held.select(
        pl.col(kept).gather(row),
        *(column.alias(name) for name, column in common.items()),
        *(_end_to_end(list(of)).gather(which).alias(name) for name, of in named.items()),
        *(at_prior(slots).alias(name) for name, slots in moved.items()),
    )


def _named(columns: Mapping[str, Sequence[pl.Expr]]) -> dict[str, dict[str, pl.Expr]]:
    return {
        name: {f"{name}{PRIVATE}{i}": value for i, value in enumerate(values)}
        for name, values in columns.items()
    }


def _moved(name: str, values: Sequence[pl.Expr], many: ManyPriors) -> list[dict[str, pl.Expr]]:
    """Per place in a piece the nodes of all pieces: the first, then how the others differ from it.

    So what is constant stays what it is to the last digit.
    """
    firsts = [*many.firsts, len(values)]
    slots = []
    for slot in range(many.width):
        columns = {}
        for piece, (first, end) in enumerate(pairwise(firsts)):
            if end > first:
                # A piece with fewer nodes has none there, and no weight.
                node = values[min(first + slot, end - 1)]
                columns[f"{name}{PRIVATE}{piece}_{slot}"] = node - values[first] if slot else node
        slots.append(columns)
    return slots


def _end_to_end(columns: Sequence[str]) -> pl.Expr:
    """Columns as one, half to half: the streaming engine loses the order of a long chain."""
    if len(columns) == 1:
        return pl.col(columns[0])
    half = len(columns) // 2
    return _end_to_end(columns[:half]).append(_end_to_end(columns[half:]))
