"""The tidy measure table as a query: one pass over the cells; areas at many priors from nodes."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from math import log
from typing import Any

from polaroc.base.columns import EFFECTIVE, MEASURE_COLUMNS, OVER
from polaroc.base.private_columns import COUNT, PRIVATE
from polaroc.curves.segments import cells_in, segment_columns
from polaroc.measures.spec import Measure, chunks, ingredients
from polaroc.measures.table import BIAS_RATIO, WARNING
from polaroc.priors.chebyshev import MAX_SKEW, ManyPriors, cuts
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import (
    IBIS,
    Column,
    deferred,
    ibis_library,
    is_among,
    literal,
    safe_name,
    to_ibis,
    to_ibis_columns,
    total,
)
from polaroc.warehouse.notes import BIAS_NOTE, join_notes, no_note, one_class_note, with_bias_note

# The position of a measure that is not interpolated.
WHICH = PRIVATE + "which"
# The prior of an interpolated row; −1, −2, … for measures that are not interpolated.
ROW_CODE = PRIVATE + "code"
SKEW, LOG, NODE_WEIGHT, WEIGHT_SUM = (PRIVATE + name for name in ("skew", "log", "share", "shares"))
# The warning of the measure that is interpolated.
WARNING_OF_NODES = PRIVATE + "warning_of_nodes"
AREA = safe_name(PRIVATE + "estimate")
# Replaces the distance 0 of a prior that coincides with a node, as a divisor.
TINY_DISTANCE = 1e-200


def node_column(i: int) -> str:
    """The column with the estimate at a node."""
    return f"{AREA}_node_{i}"


def at_many_priors(rows: IbisTable, many: ManyPriors, single: int) -> IbisTable:
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
    return crossed.mutate(**{AREA: _interpolated(many, of_piece)})


def row_values(given: Mapping[str, Any], node: Measure, both: Any) -> dict[str, Any]:
    """The columns of the rows that `at_many_priors` gives."""
    ibis = ibis_library()
    bias_ratio = both.ifelse(deferred(SKEW), literal(None)) / deferred(EFFECTIVE).nullif(0)
    if node.bias_skew is None:
        bias_ratio = literal(None)
    bounds = [None if bound is None else literal(bound) for bound in node.bounds]
    other: dict[str, Any] = {
        "measure": ibis.literal(node.name),
        "prior": deferred(ROW_CODE),
        BIAS_RATIO: bias_ratio,
        WARNING: deferred(WARNING_OF_NODES),
        OVER: ibis.literal(None, type="string"),
        "estimate": deferred(AREA).clip(*bounds),
    }
    interpolated = deferred(ROW_CODE) > 0
    return {name: interpolated.ifelse(other[name], value) for name, value in given.items()}


def _node_weight(node: float | None, weight: float) -> Any:
    """The barycentric weight of a node, before division by the sum over its piece."""
    assert node is not None
    distance = deferred(LOG) - literal(log(node))
    return 1 / (distance == literal(0)).ifelse(literal(TINY_DISTANCE), distance) * literal(weight)


def _interpolated(many: ManyPriors, of_piece: Sequence[range]) -> Any:
    values = []
    for i, own in enumerate(of_piece):
        start = deferred(node_column(own[0]))
        # Weighted differences of a constant are exactly zero, weighted sums are rounded.
        moved = [
            deferred(f"{NODE_WEIGHT}_{node}") * (deferred(node_column(node)) - start)
            for node in own[1:]
        ]
        sum_ = deferred(f"{WEIGHT_SUM}_{i}")
        values.append(start + total(moved) / sum_ if moved else start)
    below = [
        (deferred(LOG) < literal(cut), value)
        for cut, value in zip(cuts(many.pieces), values, strict=False)
    ]
    return ibis_library().cases(*below, else_=values[-1]) if below else values[-1]


def per_key(
    cells: IbisTable,
    keys: Sequence[str],
    measures: Sequence[Measure],
    extra: Mapping[str, Any],
    kept: Any,
) -> IbisTable:
    """Per key: its totals, the sums and minima that the measures need, and `extra` aggregates.

    Of cells without positives, which have no area, those that are `kept` keep a key in the result
    that has no others, and what `extra` is taken of.
    """
    columns, sums, least = ingredients(measures)
    if not any(measure.every_cell for measure in measures):
        cells = cells.filter((deferred("pos") > 0) | kept)
    totals = {name: deferred(name).cast("float64") for name in ("positives", "negatives")}
    counts = {
        name: deferred(name).cast("float64") for name in ("pos", "neg", "tp", "fp") if sums or least
    }
    rows = cells.mutate(**totals, **counts).mutate(**segments())
    if columns:
        rows = rows.mutate(**to_ibis_columns(columns))
    sums_per_key = rows.aggregate(
        by=keys,
        **{COUNT: ibis_library()._.count()},
        **{name: deferred(name).max() for name in totals},
        **{safe_name(name): to_ibis(part).sum() for name, part in sums.items()},
        **{safe_name(name): to_ibis(part).min() for name, part in least.items()},
        **extra,
    )
    # Without the view ibis computes the count in a separate query over all cells.
    return sums_per_key.view().filter(deferred(COUNT) > 0).drop(COUNT)


def segments() -> dict[str, Any]:
    """Each cell's segment by column name."""
    return to_ibis_columns(segment_columns(cells_in(IBIS)))


def tidy(
    wide: IbisTable,
    keys: Sequence[str],
    measures: Sequence[Measure],
    *,
    weighted: bool,
) -> IbisTable:
    """One row per key and measure as the tidy measure table."""
    parts = chunks(measures)
    if len(parts) > 1:
        ranged = any(measure.over for measure in measures)
        tables = [tidy(wide, keys, part, weighted=weighted) for part in parts]
        return ibis_library().union(*(_with_over(table) if ranged else table for table in tables))
    positives, negatives = deferred("positives"), deferred("negatives")
    both = (positives > 0) & (negatives > 0)
    effective = deferred(EFFECTIVE)
    if EFFECTIVE not in wide.columns:
        wide = wide.mutate(**{EFFECTIVE: negatives})
    single, nodes, many = _split_nodes(measures)
    skews = [measures[i].bias_skew for i in single]
    given = {
        "estimate": _where(both, pick_row_value([measures[i].estimate for i in single])),
        "prior": pick_row_value([measures[i].prior for i in single]),
        BIAS_RATIO: _where(both, pick_row_value(skews)) / effective.nullif(0),
        WARNING: pick_row_value([_warning(both, measures[i]) for i in single], no_note()),
        "measure": pick_row_text([measures[i].name for i in single]),
        OVER: pick_row_text([measures[i].over for i in single]),
    }
    held = {name: value for measure in measures for name, value in measure.held.items()}
    rows = wide.mutate(**to_ibis_columns(held)) if held else wide
    if many is None:
        shown, values = rows.cross_join(literal_rows(WHICH, len(single))), given
    else:
        columns = {
            node_column(i): _where(both, measures[node].estimate) for i, node in enumerate(nodes)
        }
        warning = _warning(both, measures[nodes[0]])
        columns[WARNING_OF_NODES] = no_note() if warning is None else warning
        shown = at_many_priors(rows.mutate(**columns), many, len(single))
        values = row_values(given, measures[nodes[0]], both)
    shown = _without_repeats(shown, [measures[i].prior for i in single], many)
    kind = "float64" if weighted else "int64"
    long = shown.select(
        *keys,
        "note",
        positives=positives.cast(kind),
        negatives=negatives.cast(kind),
        **values,
    )
    notes = deferred("note"), one_class_note(positives, negatives), deferred(BIAS_NOTE)
    shown_columns = {name: deferred(name) for name in MEASURE_COLUMNS[:5]}
    shown_columns["note"] = join_notes(*notes, deferred(WARNING))
    if any(measure.over for measure in measures):
        shown_columns[OVER] = deferred(OVER)
    return with_bias_note(long).select(*keys, **shown_columns)


def _without_repeats(rows: IbisTable, priors: Sequence[Any], many: ManyPriors | None) -> IbisTable:
    """The rows without those at observed priors that are also among the given ones."""
    observed = [i for i, prior in enumerate(priors) if isinstance(prior, Column)]
    given = [prior for prior in priors if isinstance(prior, float)]
    given += [] if many is None else [prior for prior in many.priors if prior is not None]
    if not observed or not given:
        return rows
    positives, negatives = deferred("positives"), deferred("negatives")
    own = positives / (positives + negatives).nullif(0)
    return rows.filter(~(deferred(WHICH).isin(observed) & is_among(own, given)))


def _with_over(table: IbisTable) -> IbisTable:
    if OVER in table.columns:
        return table
    return table.mutate(**{OVER: ibis_library().literal(None, type="string")})


def _split_nodes(measures: Sequence[Measure]) -> tuple[list[int], list[int], ManyPriors | None]:
    """Positions of the measures that are shown, and of the nodes; the priors of the nodes."""
    many = next((measure.many for measure in measures if measure.many is not None), None)
    nodes = [i for i, measure in enumerate(measures) if measure.many is not None]
    # The measure after the nodes is at each key's own prior, if requested.
    nodes = nodes[: sum(len(piece.skews) for piece in many.pieces)] if many is not None else []
    return [i for i in range(len(measures)) if i not in set(nodes)], nodes, many


def literal_rows(name: str, count: int) -> IbisTable:
    """A table of the numbers 0 to `count` − 1 made of literals only."""
    ibis = ibis_library()
    first, *others = (ibis.literal(i).name(name).as_table() for i in range(count))
    return ibis.union(first, *others) if others else first


def pick_row_value(values: Sequence[Any], missing: Any = None) -> Any:
    """The value at the position that the column `WHICH` of a row has, None being missing."""
    missing = literal(None) if missing is None else missing
    present = [(i, _value(value)) for i, value in enumerate(values) if value is not None]
    return deferred(WHICH).cases(*present, else_=missing) if present else missing


def pick_row_text(values: Sequence[str | None]) -> Any:
    """The text at the position that the column `WHICH` of a row has."""
    ibis = ibis_library()
    runs = [(text, len(list(own))) for text, own in groupby(values)]
    ends = accumulate(length for _, length in runs)
    texts = [ibis.literal(text, type="string") for text, _ in runs]
    if len(texts) < 2:
        return texts[0] if texts else no_note()
    below = [(deferred(WHICH) < end, text) for end, text in zip(ends, texts[:-1], strict=False)]
    return ibis.cases(*below, else_=texts[-1])


def _value(value: Any) -> Any:
    return literal(value) if isinstance(value, int | float) else to_ibis(value)


def _where(condition: Any, value: object) -> Any:
    return condition.ifelse(to_ibis(value), literal(None))


def _warning(both: Any, measure: Measure) -> Any:
    note = no_note()
    for condition, text in reversed(measure.warnings):
        note = (both & to_ibis(condition)).ifelse(text, note)
    return note if measure.warnings else None
