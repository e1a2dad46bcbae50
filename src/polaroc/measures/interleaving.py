"""Turn a row per key into a row per key and measure, and interpolate areas at many priors."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import polars as pl

from polaroc.base.columns import OVER
from polaroc.base.lazy import np
from polaroc.base.private_columns import PRIVATE
from polaroc.measures.spec import Measure
from polaroc.priors.chebyshev import ManyPriors
from polaroc.priors.grids import skew
from polaroc.typing import Array

# Whether a row is interpolated; its prior and skew, null for the key's own.
IS_MANY, PRIOR, SKEW = (PRIVATE + name for name in ("many", "prior", "skew"))
# The position of its measure among those not interpolated, or of its piece of the priors.
WHICH, PIECE = PRIVATE + "measure", PRIVATE + "piece"
ROW = {
    "measure": pl.String, OVER: pl.String, IS_MANY: pl.Boolean, WHICH: pl.Int64,
    PIECE: pl.Int64, PRIOR: pl.Float64, SKEW: pl.Float64,
}  # fmt: skip


def interleaved(
    rows: pl.LazyFrame,
    kept: Sequence[str],
    columns: Mapping[str, Sequence[pl.Expr]],
    values: Sequence[pl.Series],
) -> pl.LazyFrame:
    """Each row once per row of `values`; `columns` have one expression per row of `values`.

    Concatenate the columns and gather them in the order of the result: exploding lists took
    five times as long.
    """
    named = _named(columns)
    source = rows.select(*kept, **{key: one for of in named.values() for key, one in of.items()})
    count = len(values[0])
    place = pl.int_range(pl.len() * count)
    row, value = place // count, place % count
    return source.select(
        pl.col(kept).gather(row),
        *(pl.lit(of).gather(value) for of in values),
        *(
            _concatenate(list(of)).gather(value * pl.len() + row).alias(name)
            for name, of in named.items()
        ),
    )


def interpolated(
    rows: pl.LazyFrame,
    kept: Sequence[str],
    columns: Mapping[str, Sequence[pl.Expr]],
    nodes: Mapping[str, Sequence[pl.Expr]],
    measures: Sequence[Measure],
) -> pl.LazyFrame:
    """Each row once per measure that is not interpolated, and once per prior.

    Each of `columns` has one expression per measure that is not interpolated, each of `nodes`
    one per node.
    """
    many = next(measure.many for measure in measures if measure.many is not None)
    layout, basis = _row_layout(measures, many)
    named = _named(columns)
    differences = {name: _node_differences(name, values, many) for name, values in nodes.items()}
    source = rows.select(
        *kept,
        **{key: one for of in named.values() for key, one in of.items()},
        **{key: one for slots in differences.values() for of in slots for key, one in of.items()},
    )
    count = layout.height
    place = pl.int_range(pl.len() * count)
    row, value = place // count, place % count
    common = {column.name: pl.lit(column).gather(value) for column in layout}
    which, piece = (common.pop(name) * pl.len() + row for name in (WHICH, PIECE))
    weights = [pl.lit(pl.Series(own)).gather(value) for own in basis[1:]]

    def at_prior(slots: Sequence[Mapping[str, pl.Expr]]) -> pl.Expr:
        start, *others = (_concatenate(list(of)).gather(piece) for of in slots)
        # Add term by term: a sum over all at once holds one column of all rows per term.
        for weight, difference in zip(weights, others, strict=True):
            start = start + weight * difference
        return start

    return source.select(
        pl.col(kept).gather(row),
        *(column.alias(name) for name, column in common.items()),
        *(_concatenate(list(of)).gather(which).alias(name) for name, of in named.items()),
        *(at_prior(slots).alias(name) for name, slots in differences.items()),
    )


def _row_layout(measures: Sequence[Measure], many: ManyPriors) -> tuple[pl.DataFrame, "Array"]:
    """The columns that are the same for every key, and the weights of the nodes (nodes, rows)."""
    rows: list[tuple[object, ...]] = []
    bases, which = [], 0
    for measure in measures:
        named = measure.name, measure.over
        if measure.many is None:
            rows.append((*named, False, which, 0, None, None))
            bases.append(np.zeros((1, many.width)))
            which += 1
        # All nodes follow each other; the first stands for them.
        elif len(rows) == which:
            pieces = many.piece_of.tolist()
            rows += (
                (*named, True, 0, piece, prior, None if prior is None else skew(prior))
                for piece, prior in zip(pieces, many.priors, strict=True)
            )
            bases.append(many.basis)
    basis = np.ascontiguousarray(np.concatenate(bases).T)
    return pl.DataFrame(rows, schema=ROW, orient="row"), basis


def _named(columns: Mapping[str, Sequence[pl.Expr]]) -> dict[str, dict[str, pl.Expr]]:
    return {
        name: {f"{name}{PRIVATE}{i}": value for i, value in enumerate(values)}
        for name, values in columns.items()
    }


def _node_differences(
    name: str, values: Sequence[pl.Expr], many: ManyPriors
) -> list[dict[str, pl.Expr]]:
    """Per slot the nodes of all pieces: the first of each, then differences from the first.

    Weighted differences of a constant are exactly zero, weighted sums are rounded.
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


def _concatenate(columns: Sequence[str]) -> pl.Expr:
    """Columns appended as a balanced tree: the streaming engine loses the order of a long chain."""
    if len(columns) == 1:
        return pl.col(columns[0])
    half = len(columns) // 2
    return _concatenate(columns[:half]).append(_concatenate(columns[half:]))
