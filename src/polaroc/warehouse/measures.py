"""The tidy measure table as a query: one pass over the cells, which gives one row per key."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

from polaroc.base.columns import MEASURE_COLUMNS, OVER
from polaroc.base.private_columns import COUNT
from polaroc.curves.segments import cells_in, segment_columns
from polaroc.measures.spec import Measure, chunks, ingredients
from polaroc.measures.table import BIAS_RATIO, WARNING
from polaroc.priors.chebyshev import ManyPriors
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import (
    IBIS,
    Column,
    deferred,
    ibis_library,
    literal,
    safe_name,
    to_ibis,
    to_ibis_columns,
)
from polaroc.warehouse.many_priors import (
    WARNING_OF_NODES,
    WHICH,
    at_many_priors,
    node_column,
    row_values,
)
from polaroc.warehouse.notes import BIAS_NOTE, join_notes, no_note, one_class_note, with_bias_note


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
    limits: Mapping[str, Sequence[Column]] | None = None,
) -> IbisTable:
    """One row per key and measure as the tidy measure table."""
    parts = chunks(measures)
    if len(parts) > 1:
        # Only measures without bounds have nodes beside those of others.
        assert not limits
        ranged = any(measure.over for measure in measures)
        tables = [tidy(wide, keys, part, weighted=weighted) for part in parts]
        return ibis_library().union(*(_with_over(table) if ranged else table for table in tables))
    limits = limits or {}
    positives, negatives = deferred("positives"), deferred("negatives")
    both = (positives > 0) & (negatives > 0)
    single, nodes, many = _split_nodes(measures)
    skews = [measures[i].bias_skew for i in single]
    given = {
        "estimate": _where(both, pick_row_value([measures[i].estimate for i in single])),
        "prior": pick_row_value([measures[i].prior for i in single]),
        BIAS_RATIO: _where(both, pick_row_value(skews)) / negatives.nullif(0),
        WARNING: pick_row_value([_warning(both, measures[i]) for i in single], no_note()),
        **{
            name: _where(both, pick_row_value([values[i] for i in single]))
            for name, values in limits.items()
        },
        "measure": pick_row_text([measures[i].name for i in single]),
        OVER: pick_row_text([measures[i].over for i in single]),
    }
    held = {name: value for measure in measures for name, value in measure.held.items()}
    rows = wide.mutate(**to_ibis_columns(held)) if held else wide
    if many is None:
        shown, values = rows.cross_join(literal_rows(WHICH, len(single))), given
    else:
        at_nodes = {
            "estimate": [_where(both, measures[i].estimate) for i in nodes],
            **{name: [_where(both, values[i]) for i in nodes] for name, values in limits.items()},
        }
        columns = {
            node_column(name, i): value
            for name, of in at_nodes.items()
            for i, value in enumerate(of)
        }
        warning = _warning(both, measures[nodes[0]])
        columns[WARNING_OF_NODES] = no_note() if warning is None else warning
        shown = at_many_priors(rows.mutate(**columns), many, len(single), list(at_nodes))
        values = row_values(given, measures[nodes[0]], both, list(at_nodes))
    kind = "float64" if weighted else "int64"
    long = shown.select(
        *keys,
        "note",
        positives=positives.cast(kind),
        negatives=negatives.cast(kind),
        **values,
    )
    notes = deferred("note"), one_class_note(positives, negatives), deferred(BIAS_NOTE)
    shown_columns = {name: deferred(name) for name in MEASURE_COLUMNS[:3]} | {
        name: deferred(name) for name in (*limits, *MEASURE_COLUMNS[3:5])
    }
    shown_columns["note"] = join_notes(*notes, deferred(WARNING))
    if any(measure.over for measure in measures):
        shown_columns[OVER] = deferred(OVER)
    return with_bias_note(long).select(*keys, **shown_columns)


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
    if measure.warning is None:
        return None
    note = no_note()
    for warning in (measure.second_warning, measure.warning):
        if warning is not None:
            condition, text = warning
            note = (both & to_ibis(condition)).ifelse(text, note)
    return note
