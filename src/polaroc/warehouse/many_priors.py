"""Areas at many priors, interpolated by the engine from those at a few nodes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any

from polaroc.base.columns import OVER
from polaroc.base.private_columns import PRIVATE
from polaroc.measures.table import BIAS_RATIO, WARNING
from polaroc.priors.chebyshev import GREATEST_SKEW, ManyPriors, cuts
from polaroc.warehouse.columns import deferred, ibis_library, literal, safe, total

if TYPE_CHECKING:
    from ibis.expr.types import Table

# The prior of a row; −1, −2, … for measures that are not interpolated.
CODE = PRIVATE + "code"
SKEW, LOG, SHARE, SHARES = (PRIVATE + name for name in ("skew", "log", "share", "shares"))
# Stands for the distance from a node that a prior coincides with.
NEXT_TO_NOTHING = 1e-200


def node_column(name: str, i: int) -> str:
    """The column with what a measure, or a limit, is at a node."""
    return f"{safe(PRIVATE + name)}_node_{i}"


def at_many_priors(rows: "Table", many: ManyPriors, single: int, names: Sequence[str]) -> "Table":
    """Each row once per measure that is not interpolated, and once per prior."""
    priors = [prior for prior in many.priors if prior is not None]
    codes = [*(-float(i) for i in range(1, single + 1)), *priors]
    # As text, for some engines would take a number for a decimal.
    listed = ibis_library().literal([repr(code) for code in codes], type="array<string>")
    grid = listed.unnest().name(CODE).as_table()
    grid = grid.select(**{CODE: deferred(CODE).cast("float64")})
    # No engine is to take the logarithm of what stands for no prior.
    prior = (deferred(CODE) > 0).ifelse(deferred(CODE), literal(0.5))
    grid = grid.mutate(**{SKEW: (1 - prior) / prior})
    bound = literal(GREATEST_SKEW)
    bounded = (deferred(SKEW) < bound).ifelse(deferred(SKEW), bound)
    crossed = rows.cross_join(grid.mutate(**{LOG: bounded.ln()}))
    weights = [weight for piece in many.pieces for weight in piece.weights]
    nodes = list(zip(many.nodes, weights, strict=False))
    shares = {f"{SHARE}_{i}": _share(node, weight) for i, (node, weight) in enumerate(nodes)}
    crossed = crossed.mutate(**shares)
    of_piece = [range(*ends) for ends in pairwise(many.firsts)]
    sums = {
        f"{SHARES}_{i}": total([deferred(f"{SHARE}_{node}") for node in own])
        for i, own in enumerate(of_piece)
    }
    crossed = crossed.mutate(**sums)
    return crossed.mutate(**{PRIVATE + name: _interpolated(name, many, of_piece) for name in names})


def with_many(
    given: Mapping[str, Sequence[Any]], measure: str, both: Any, names: Sequence[str]
) -> dict[str, Any]:
    """The columns of the rows that `at_many_priors` gives."""
    ibis = ibis_library()
    doubt = both.ifelse(deferred(SKEW), literal(None)) / deferred("negatives").nullif(0)
    other: dict[str, Any] = {
        "measure": ibis.literal(measure),
        "prior": deferred(CODE),
        BIAS_RATIO: doubt,
        WARNING: ibis.literal(None, type="string"),
        OVER: ibis.literal(None, type="string"),
        **{name: deferred(PRIVATE + name).clip(literal(0), literal(1)) for name in names},
    }
    return {
        name: ibis.cases(
            *((deferred(CODE) == literal(-1 - i), value) for i, value in enumerate(values)),
            else_=other[name],
        )
        if values
        else other[name]
        for name, values in given.items()
    }


def _share(node: float | None, weight: float) -> Any:
    """What a node counts before division by the sum over its piece."""
    assert node is not None
    away = deferred(LOG) - literal(log(node))
    return 1 / (away == literal(0)).ifelse(literal(NEXT_TO_NOTHING), away) * literal(weight)


def _interpolated(name: str, many: ManyPriors, of_piece: Sequence[range]) -> Any:
    values = []
    for i, own in enumerate(of_piece):
        start = deferred(node_column(name, own[0]))
        # Differences, so that what is constant stays what it is to the last digit.
        moved = [
            deferred(f"{SHARE}_{node}") * (deferred(node_column(name, node)) - start)
            for node in own[1:]
        ]
        sum_ = deferred(f"{SHARES}_{i}")
        values.append(start + total(moved) / sum_ if moved else start)
    below = [
        (deferred(LOG) < literal(cut), value)
        for cut, value in zip(cuts(many.pieces), values, strict=False)
    ]
    return ibis_library().cases(*below, else_=values[-1]) if below else values[-1]
