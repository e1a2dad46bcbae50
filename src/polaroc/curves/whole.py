"""Whether a table has whole curves: every cell of each key, once."""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from math import nan
from typing import Any, Concatenate, cast

import polars as pl

from polaroc.base.backend import Backend, Polars
from polaroc.base.columns import collect_like, curve_keys, engine_for, within
from polaroc.base.private_columns import private
from polaroc.base.tables import as_polars
from polaroc.curves.segments import COUNTS
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.cases import first_keys
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import _P, FrameStep, LazyStep, Quantity, Table

# Sums of weights, and rates, are rounded, to fewer digits in Float32.
TOLERANCE, TOLERANCE_FLOAT32 = 1e-8, 1e-5
ADDED, ANCHORS, POS, NEG, SAME = map(private, ("added", "anchors", "pos", "neg", "same"))
STEPS = tuple(map(private, ("t", "f", "dt", "df")))
FLOATS = Polars(column=lambda name: pl.col(name).cast(pl.Float64))
NUMBERS = (*COUNTS, "tpr", "fpr")
TOTALS = pl.col("positives"), pl.col("negatives")
# Whether all rows of a curve have the same totals: one without cases contradicts no other.
SAME_TOTALS = pl.all_horizontal(total.min().eq_missing(total.max()) for total in TOTALS)
AS_IT_IS = "pass the table that curve(...) or hull(...) returned as it is."


def with_first(
    convert: Callable[[Any], Any], step: Callable[Concatenate[Any, _P], Any]
) -> FrameStep[_P]:
    """Convert the first argument."""
    first, *_ = signature(step).parameters

    @wraps(step)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        given = signature(step).bind(*args, **kwargs)
        frame = given.arguments[first]
        given.arguments[first] = convert(frame)
        return collect_like(frame, step(*given.args, **given.kwargs))

    return cast(FrameStep[_P], wrapper)


def takes_curve(step: LazyStep[_P]) -> FrameStep[_P]:
    """Let a lazy step take any table of whole curves; of all but a LazyFrame it is collected."""
    return with_first(whole_curves, step)


def whole_curves(table: Table) -> pl.LazyFrame:
    """The curves of a table as a LazyFrame; raise where one is not whole.

    A plan cannot raise: there, the totals and rates of a curve that is not whole are null.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> whole_curves(curves[5:].lazy()).collect()["tpr"].null_count()
    16
    """
    frame = as_polars(table)
    lazy = frame.lazy()
    keys, tolerance = curve_keys(lazy), _tolerance(lazy)
    if isinstance(frame, pl.LazyFrame):
        added = within(pl.col(ADDED).sum(), keys)
        is_whole = _is_whole(added, tolerance) & within(SAME_TOTALS, keys)
        names = ("positives", "negatives", "tpr", "fpr")
        nulled = (pl.when(is_whole).then(name).alias(name) for name in names)
        return _with_added(lazy).with_columns(nulled).drop(ADDED, *STEPS)
    sums = _with_added(lazy).group_by(keys).agg(pl.col(ADDED).sum(), SAME_TOTALS.alias(SAME))
    is_each = _is_whole(pl.col(ADDED), tolerance) & pl.col(SAME)
    is_whole = sums.select(is_each.all()).collect(engine=engine_for(frame)).item()
    if not is_whole and frame.height:
        refuse_not_whole(_sums(lazy, keys), keys, tolerance)
    return lazy


def _tolerance(curves: pl.LazyFrame) -> float:
    """How far rounding may take sums and rates from what they are, as a share of them."""
    schema = curves.collect_schema()
    return tolerance_of(any(schema[name] == pl.Float32 for name in NUMBERS))


def tolerance_of(is_short: bool) -> float:
    """The tolerance of curves that have numbers of 32 bits, or have not."""
    return TOLERANCE_FLOAT32 if is_short else TOLERANCE


def _is_whole(added: pl.Expr, tolerance: float) -> pl.Expr:
    return (added - 1).abs() <= tolerance


def _with_added(curves: pl.LazyFrame) -> pl.LazyFrame:
    """With what each row adds to the sum of its key, in `ADDED`: 1 in all for one whole curve."""
    anchor, unranked = pl.col(SCORE).is_null(), TOTALS[0].is_null() & TOTALS[1].is_null()
    added = added_to_whole(_tolerance(curves), anchor, unranked, FLOATS)
    return curves.with_columns(**steps(FLOATS)).with_columns(added.alias(ADDED))


def steps(backend: Backend) -> dict[str, Quantity]:
    """The columns `STEPS` of curves: the rates at the end of each cell, and their steps."""
    pos, neg, _, _, *totals = map(backend.column, COUNTS)
    t, f = map(backend.column, ("tpr", "fpr"))
    ends = [backend.where(all_ > 0, rate, 0.0) for rate, all_ in zip((t, f), totals, strict=True)]
    sizes = [
        backend.where(all_ > 0, count / all_, 0.0)
        for count, all_ in zip((pos, neg), totals, strict=True)
    ]
    return dict(zip(STEPS, (*ends, *sizes), strict=True))


def added_to_whole(
    tolerance: float, is_anchor: Quantity, unranked: Quantity, backend: Backend
) -> Quantity:
    """The part that a row with `STEPS` adds to the sum of its key, which is 1 for one whole curve.

    A cell adds how much higher a curved surface is where the cell ends than where it starts. Cells
    that go on from one another, from (0, 0) to the end of the curve, add up to the height there;
    others do not, but by chance. The anchor adds 1 less that height. A row that contradicts itself
    adds NaN.
    """
    where = backend.where
    pos, neg, tp, fp, positives, negatives = map(backend.column, COUNTS)
    t, f, dt, df = map(backend.column, STEPS)
    # The surface is t² + 2f² + 3tf + 4t + 5f.
    step = dt * (2 * t - dt + 3 * f + 4) + df * (4 * f - 2 * df + 3 * (t - dt) + 5)
    one_class = where(positives > 0, 5.0, where(negatives > 0, 7.0, 0.0))
    height = where((positives > 0) & (negatives > 0), 15.0, one_class)
    at_anchor = where(is_anchor, 1 - height, 0.0)
    most = 1 + tolerance
    sizes = (pos >= 0) & (neg >= 0) & (pos <= positives * most) & (neg <= negatives * most)
    of_tp = abs(tp - t * positives) <= tolerance * positives
    of_fp = abs(fp - f * negatives) <= tolerance * negatives
    of_row = where(sizes & of_tp & of_fp, step + at_anchor, nan)
    return where(unranked, where(is_anchor, 1.0, 0.0), of_row)


def _sums(curves: pl.LazyFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The sums per key that say why a curve is not whole."""
    return (
        _with_added(curves)
        .group_by(keys)
        .agg(
            pl.col(ADDED).sum(),
            pl.col(SCORE).null_count().alias(ANCHORS),
            pl.col("pos").sum().alias(POS),
            pl.col("neg").sum().alias(NEG),
            pl.col("positives", "negatives").max(),
            SAME_TOTALS.alias(SAME),
        )
        .collect()
    )


def refuse_not_whole(sums: pl.DataFrame, keys: Sequence[str], tolerance: float) -> None:
    """Raise for curves that are not whole, from sums of each key: of the first kind there is."""
    found = sums.filter(~(_is_whole(pl.col(ADDED), tolerance) & pl.col(SAME)))
    if found.is_empty():
        return
    several, none = found.filter(pl.col(ANCHORS) > 1), found.filter(pl.col(ANCHORS) == 0)
    if several.height:
        raise InvalidTable(
            f"the table has up to {max(several[ANCHORS])} curves as one, allowed is one per key: "
            f"so many rows begin a curve (a null threshold){first_keys(several, keys)}.",
            hint="was a key column dropped, or were tables concatenated? keep the columns that "
            "tell the curves apart, or add one to each.",
        )
    if none.height:
        added = f", or a column added ({quoted(keys)} are taken for keys)" if keys else ""
        raise InvalidTable(
            "no row begins a curve (a null threshold), needed is one per key"
            f"{first_keys(none, keys)}.",
            hint=f"were rows left out{added}? {AS_IT_IS}",
        )
    short = found.filter((pl.col(POS) - pl.col("positives")).abs()
                         + (pl.col(NEG) - pl.col("negatives")).abs()
                         > tolerance * (pl.col("positives") + pl.col("negatives")))  # fmt: skip
    if short.height:
        pos, neg, positives, negatives = short.select(POS, NEG, "positives", "negatives").row(0)
        raise InvalidTable(
            f"the curve is not whole: its rows have {pos:,} of {positives:,} positives and "
            f"{neg:,} of {negatives:,} negatives{first_keys(short, keys)}.",
            hint=f"were rows left out, or repeated? {AS_IT_IS}",
        )
    raise InvalidTable(
        "the counts, totals and rates of a curve contradict one another"
        f"{first_keys(found, keys)}: tp and fp are pos and neg summed up from the best score on, "
        "tpr and fpr their shares of positives and negatives.",
        hint=f"were some rounded, or changed? {AS_IT_IS}",
    )
