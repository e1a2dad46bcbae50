"""The tidy measure table as a query: one pass over the cells."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

from polaroc.base.columns import MEASURE_COLUMNS, OVER
from polaroc.base.private_columns import COUNT, PRIVATE
from polaroc.curves.segments import cells_in, segment_columns
from polaroc.measures.spec import Measure, ingredients
from polaroc.measures.table import BIAS_RATIO, WARNING
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
from polaroc.warehouse.notes import BIAS_NOTE, join_notes, no_note, one_class_note, with_bias_note

# The position of a measure among those of a key.
WHICH = PRIVATE + "which"
# Rows beyond which their numbers are a list, and no union of rows.
FEW_ROWS = 50


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
    rows = cells.mutate(**totals, **counts).mutate(
        **to_ibis_columns(segment_columns(cells_in(IBIS)))
    )
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


def tidy(
    wide: IbisTable,
    keys: Sequence[str],
    measures: Sequence[Measure],
    *,
    weighted: bool,
    limits: Mapping[str, Sequence[Column]] | None = None,
) -> IbisTable:
    """One row per key and measure as the tidy measure table."""
    limits = limits or {}
    positives, negatives = deferred("positives"), deferred("negatives")
    both = (positives > 0) & (negatives > 0)
    held = {name: value for measure in measures for name, value in measure.held.items()}
    rows = wide.mutate(**to_ibis_columns(held)) if held else wide
    bias_skew = _where(both, pick_row_value([one.bias_skew for one in measures]))
    estimates = {"estimate": [one.estimate for one in measures], **limits}
    kind = "float64" if weighted else "int64"
    long = rows.cross_join(literal_rows(WHICH, len(measures))).select(
        *keys,
        "note",
        positives=positives.cast(kind),
        negatives=negatives.cast(kind),
        measure=pick_row_text([one.name for one in measures]),
        prior=pick_row_value([one.prior for one in measures]),
        **{name: _where(both, pick_row_value(values)) for name, values in estimates.items()},
        **{
            BIAS_RATIO: bias_skew / negatives.nullif(0),
            WARNING: pick_row_value([_warning(both, one) for one in measures], no_note()),
            OVER: pick_row_text([one.over for one in measures]),
        },
    )
    notes = deferred("note"), one_class_note(positives, negatives), deferred(BIAS_NOTE)
    shown = {
        name: deferred(name) for name in (*MEASURE_COLUMNS[:3], *limits, *MEASURE_COLUMNS[3:5])
    }
    shown["note"] = join_notes(*notes, deferred(WARNING))
    if any(measure.over for measure in measures):
        shown[OVER] = deferred(OVER)
    return with_bias_note(long).select(*keys, **shown)


def literal_rows(name: str, count: int) -> IbisTable:
    """A table of the numbers 0 to `count` − 1 made of literals only."""
    ibis = ibis_library()
    if count > FEW_ROWS:
        # As text, since some engines take numbers for decimals.
        listed = ibis.literal([str(i) for i in range(count)], type="array<string>")
        rows = listed.unnest().name(name).as_table()
        return rows.select(**{name: deferred(name).cast("int64")})
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
