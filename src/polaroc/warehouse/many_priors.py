"""Areas at many priors, interpolated by the engine from areas at a few nodes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Any

from polaroc.base.columns import OVER
from polaroc.base.private_columns import PRIVATE
from polaroc.measures.spec import Measure
from polaroc.measures.table import BIAS_RATIO, WARNING
from polaroc.priors.chebyshev import MAX_SKEW, ManyPriors, cuts
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import deferred, ibis_library, literal, safe_name, total

# The position of a measure that is not interpolated.
WHICH = PRIVATE + "which"
# The prior of an interpolated row; −1, −2, … for measures that are not interpolated.
ROW_CODE = PRIVATE + "code"
SKEW, LOG, NODE_WEIGHT, WEIGHT_SUM = (PRIVATE + name for name in ("skew", "log", "share", "shares"))
# The warning of the measure that is interpolated.
WARNING_OF_NODES = PRIVATE + "warning_of_nodes"
# Replaces the distance 0 of a prior that coincides with a node, as a divisor.
TINY_DISTANCE = 1e-200


def node_column(name: str, i: int) -> str:
    """The column with the value of a measure, or of a limit, at a node."""
    return f"{safe_name(PRIVATE + name)}_node_{i}"


def at_many_priors(
    rows: IbisTable, many: ManyPriors, single: int, names: Sequence[str]
) -> IbisTable:
    """Each row once per measure that is not interpolated, and once per prior."""
    priors = [prior for prior in many.priors if prior is not None]
    codes = [*(-float(i) for i in range(1, single + 1)), *priors]
    # As text, since some engines take numbers for decimals.
    listed = ibis_library().literal([repr(code) for code in codes], type="array<string>")
    grid = listed.unnest().name(ROW_CODE).as_table()
    grid = grid.select(**{ROW_CODE: deferred(ROW_CODE).cast("float64")})
    # Codes that are no prior have no logarithm: replace them by any prior.
    prior = (deferred(ROW_CODE) > 0).ifelse(deferred(ROW_CODE), literal(0.5))
    which = (-1 - deferred(ROW_CODE)).cast("int64")
    grid = grid.mutate(**{SKEW: (1 - prior) / prior, WHICH: which})
    bound = literal(MAX_SKEW)
    bounded = (deferred(SKEW) < bound).ifelse(deferred(SKEW), bound)
    crossed = rows.cross_join(grid.mutate(**{LOG: bounded.ln()}))
    weights = [weight for piece in many.pieces for weight in piece.weights]
    nodes = list(zip(many.nodes, weights, strict=False))
    weighted = {
        f"{NODE_WEIGHT}_{i}": _node_weight(node, weight) for i, (node, weight) in enumerate(nodes)
    }
    crossed = crossed.mutate(**weighted)
    of_piece = [range(*ends) for ends in pairwise(many.firsts)]
    sums = {
        f"{WEIGHT_SUM}_{i}": total([deferred(f"{NODE_WEIGHT}_{node}") for node in own])
        for i, own in enumerate(of_piece)
    }
    crossed = crossed.mutate(**sums)
    return crossed.mutate(**{PRIVATE + name: _interpolated(name, many, of_piece) for name in names})


def row_values(
    given: Mapping[str, Any], node: Measure, both: Any, names: Sequence[str]
) -> dict[str, Any]:
    """The columns of the rows that `at_many_priors` gives."""
    ibis = ibis_library()
    bias_ratio = both.ifelse(deferred(SKEW), literal(None)) / deferred("negatives").nullif(0)
    if node.bias_skew is None:
        bias_ratio = literal(None)
    bounds = [None if bound is None else literal(bound) for bound in node.bounds]
    other: dict[str, Any] = {
        "measure": ibis.literal(node.name),
        "prior": deferred(ROW_CODE),
        BIAS_RATIO: bias_ratio,
        WARNING: deferred(WARNING_OF_NODES),
        OVER: ibis.literal(None, type="string"),
        **{name: deferred(PRIVATE + name).clip(*bounds) for name in names},
    }
    interpolated = deferred(ROW_CODE) > 0
    return {name: interpolated.ifelse(other[name], value) for name, value in given.items()}


def _node_weight(node: float | None, weight: float) -> Any:
    """The barycentric weight of a node, before division by the sum over its piece."""
    assert node is not None
    distance = deferred(LOG) - literal(log(node))
    return 1 / (distance == literal(0)).ifelse(literal(TINY_DISTANCE), distance) * literal(weight)


def _interpolated(name: str, many: ManyPriors, of_piece: Sequence[range]) -> Any:
    values = []
    for i, own in enumerate(of_piece):
        start = deferred(node_column(name, own[0]))
        # Weighted differences of a constant are exactly zero, weighted sums are rounded.
        moved = [
            deferred(f"{NODE_WEIGHT}_{node}") * (deferred(node_column(name, node)) - start)
            for node in own[1:]
        ]
        sum_ = deferred(f"{WEIGHT_SUM}_{i}")
        values.append(start + total(moved) / sum_ if moved else start)
    below = [
        (deferred(LOG) < literal(cut), value)
        for cut, value in zip(cuts(many.pieces), values, strict=False)
    ]
    return ibis_library().cases(*below, else_=values[-1]) if below else values[-1]
