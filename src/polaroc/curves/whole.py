"""Check that a table holds whole curves: one anchor and all cases of each key."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import curve_keys, engine_for, within
from polaroc.base.private_columns import private
from polaroc.base.tables import as_polars
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.cases import first_keys
from polaroc.typing import Table

ANCHORS, IS_WHOLE = private("anchors"), private("is_whole")
SUMMED = ("pos", "neg", "positives", "negatives")


def whole_curves(table: Table) -> pl.LazyFrame:
    """The curves of a table as a LazyFrame; raise if rows are missing or keys are mixed.

    A plan cannot raise: there, the totals and rates of such a key are null.
    """
    frame = as_polars(table)
    curves = frame.lazy()
    keys, schema = curve_keys(curves), curves.collect_schema()
    anchors = pl.col("threshold").null_count()
    sums = (pl.col(name).cast(pl.Float64).sum() for name in ("pos", "neg"))
    totals = (pl.col(name).max() for name in ("positives", "negatives"))
    in_float32 = any(schema[name] == pl.Float32 for name in SUMMED)
    whole = is_whole(anchors, *sums, *totals, in_float32=in_float32)
    if isinstance(frame, pl.LazyFrame):
        kept = pl.when(within(whole, keys))
        nulled = ("positives", "negatives", "tpr", "fpr")
        return curves.with_columns(kept.then(name).alias(name) for name in nulled)
    if frame.height:
        of_keys = curves.group_by(keys).agg(anchors.alias(ANCHORS), whole.alias(IS_WHOLE))
        refuse_broken(of_keys.collect(engine=engine_for(frame)), keys)
    return curves


def is_whole(
    anchors: pl.Expr, pos: pl.Expr, neg: pl.Expr, positives: pl.Expr, negatives: pl.Expr,
    *, in_float32: bool,
) -> pl.Expr:  # fmt: skip
    """Whether a key has one anchor and all its cases, from sums and totals.

    Totals are null if rows of the key cannot be ranked; there is nothing to compare then.
    """
    # Weights are rounded.
    tolerance = 1e-5 if in_float32 else 1e-8
    complete = [
        ((count - total).abs() <= tolerance * total).fill_null(True)
        for count, total in ((pos, positives), (neg, negatives))
    ]
    return (anchors == 1) & complete[0] & complete[1]


def refuse_broken(sums: pl.DataFrame, keys: Sequence[str]) -> None:
    """Raise if a key is not whole, from the columns `ANCHORS` and `IS_WHOLE`."""
    broken = sums.filter(~pl.col(IS_WHOLE))
    if broken.is_empty():
        return
    several, none = broken.filter(pl.col(ANCHORS) > 1), broken.filter(pl.col(ANCHORS) == 0)
    as_returned = "pass the table that curve(...) or hull(...) returned as it is."
    if several.height:
        broken, problem = several, "several rows begin a curve (a null threshold), allowed is one"
        hint = "was a key column dropped, or were tables concatenated? add a column that differs."
    elif none.height:
        broken, problem = none, "no row begins a curve (a null threshold), needed is one"
        added = f", or a column added ({quoted(keys)} are taken for keys)" if keys else ""
        hint = f"were rows left out{added}? {as_returned}"
    else:
        problem = "pos and neg do not add up to positives and negatives"
        hint = f"were rows left out, repeated or changed? {as_returned}"
    raise InvalidTable(f"a curve is not whole: {problem}{first_keys(broken, keys)}.", hint=hint)
