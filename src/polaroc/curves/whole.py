"""Check that a table holds whole curves: one anchor and all cases of each key."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import curve_keys, engine_for, within
from polaroc.base.tables import as_polars
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.cases import first_keys
from polaroc.typing import Table

# The number of anchors, which have no threshold; sums of cases; and the totals of a key.
SUMMED = ("threshold", "pos", "neg", "positives", "negatives")


def whole_curves(table: Table) -> pl.LazyFrame:
    """The curves of a table as a LazyFrame; raise if rows are missing or keys are mixed.

    A plan cannot raise: there, the totals and rates of such a key are null.
    """
    frame = as_polars(table)
    curves = frame.lazy()
    keys, schema = curve_keys(curves), curves.collect_schema()
    in_float32 = any(schema[name] == pl.Float32 for name in SUMMED[1:])
    sums = [
        pl.col("threshold").null_count(),
        *(pl.col(name).cast(pl.Float64).sum() for name in ("pos", "neg")),
        *(pl.col(name).max() for name in ("positives", "negatives")),
    ]
    if isinstance(frame, pl.LazyFrame):
        kept = pl.when(within(is_whole(sums, in_float32=in_float32), keys))
        nulled = ("positives", "negatives", "tpr", "fpr")
        return curves.with_columns(kept.then(name).alias(name) for name in nulled)
    if frame.height:
        of_keys = curves.group_by(keys).agg(sums).collect(engine=engine_for(frame))
        refuse_broken(of_keys, keys, in_float32=in_float32)
    return curves


def is_whole(sums: Sequence[pl.Expr], *, in_float32: bool) -> pl.Expr:
    """Whether a key has one anchor and all its cases, from its `SUMMED`.

    Its totals are null, and not compared, if some of its rows cannot be ranked.
    """
    anchors, pos, neg, positives, negatives = sums
    # Weights are rounded.
    tolerance = 1e-5 if in_float32 else 1e-8
    has_pos = ((pos - positives).abs() <= tolerance * positives).fill_null(True)
    has_neg = ((neg - negatives).abs() <= tolerance * negatives).fill_null(True)
    return (anchors == 1) & has_pos & has_neg


def refuse_broken(sums: pl.DataFrame, keys: Sequence[str], *, in_float32: bool) -> None:
    """Raise if a key is not whole, from the columns `SUMMED`."""
    whole = is_whole([pl.col(name) for name in SUMMED], in_float32=in_float32)
    broken = sums.filter(~whole).sort(keys) if keys else sums.filter(~whole)
    if broken.is_empty():
        return
    anchors, pos, neg, positives, negatives = broken.select(SUMMED).row(0)
    raise InvalidTable(
        f"a curve is not whole{first_keys(broken, keys)}. {'The first' if keys else 'It'} has "
        f"{anchors} rows without a threshold, needed is one, and {pos:,.12g} of "
        f"{positives or 0:,.12g} positives, {neg:,.12g} of {negatives or 0:,.12g} negatives.",
        hint=f"was a key dropped (the keys are {quoted(keys) or 'none'}), a column added, or were "
        "rows left out, repeated or concatenated? pass the table that curve(...) or hull(...) "
        "returned as it is.",
    )
