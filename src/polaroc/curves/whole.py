"""Whether a table has whole curves: every cell of each key, once."""

from collections.abc import Sequence
from math import nan

import polars as pl

from polaroc.base.columns import curve_keys, engine_for, with_first, within
from polaroc.base.private_columns import private
from polaroc.base.tables import as_polars
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import first_keys
from polaroc.typing import _P, FrameStep, LazyStep, Table

# Sums of weights, and rates, are rounded, to fewer digits in Float32.
TOLERANCE, TOLERANCE_FLOAT32 = 1e-8, 1e-5
ADDED, ANCHORS, POS, NEG, AGREE, SAME = map(
    private, ("added", "anchors", "pos", "neg", "agree", "same")
)
STEPS = tuple(map(private, ("t", "f", "dt", "df")))
TOTALS = pl.col("positives"), pl.col("negatives")
COUNTS = ("pos", "neg", "tp", "fp", "positives", "negatives")
# Whether all rows of a curve have the same totals: one without cases contradicts no other.
SAME_TOTALS = pl.all_horizontal(total.min().eq_missing(total.max()) for total in TOTALS)
AS_IT_IS = "pass the table that curve(...) or hull(...) returned as it is."


def takes_curve(step: LazyStep[_P]) -> FrameStep[_P]:
    """Let a lazy step take any table of whole curves; of all but a LazyFrame it is collected."""
    return with_first(lambda table, _: whole_curves(table), step)


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
        raise _not_whole(frame, keys)
    return lazy


def _tolerance(curves: pl.LazyFrame) -> float:
    """How far rounding may take sums and rates from what they are, as a share of them."""
    schema = curves.collect_schema()
    is_short = any(schema[name] == pl.Float32 for name in (*COUNTS, "tpr", "fpr"))
    return TOLERANCE_FLOAT32 if is_short else TOLERANCE


def _is_whole(added: pl.Expr, tolerance: float) -> pl.Expr:
    return (added - 1).abs() <= tolerance


def _rates_agree(tolerance: float) -> pl.Expr:
    """Whether the rates are what the counts say; without cases of a class they are null."""
    return pl.all_horizontal(
        (pl.col(count) - pl.col(rate).fill_null(0.0) * total).abs() <= tolerance * total
        for count, rate, total in zip(("tp", "fp"), ("tpr", "fpr"), TOTALS, strict=True)
    )


def _with_added(curves: pl.LazyFrame) -> pl.LazyFrame:
    """With what each row adds to the sum of its key, in `ADDED`: 1 in all for one whole curve.

    A cell adds how much higher a curved surface is where the cell ends than where it starts. Cells
    that go on from one another, from (0, 0) to the end of the curve, add up to the height there;
    others do not, but by chance. The anchor adds 1 less that height. A row that contradicts itself
    adds NaN.
    """
    t, f, dt, df = map(pl.col, STEPS)
    # The surface is t² + 2f² + 3tf + 4t + 5f.
    step = dt * (2 * t - dt + 3 * f + 4) + df * (4 * f - 2 * df + 3 * (t - dt) + 5)
    both = [total > 0 for total in TOTALS]
    height = pl.when(both[0] & both[1]).then(15.0).when(both[0]).then(5.0).when(both[1]).then(7.0)
    at_anchor = pl.when(pl.col(SCORE).is_null()).then(1 - height.otherwise(0.0)).otherwise(0.0)
    consistent = (pl.col("pos") >= 0) & (pl.col("neg") >= 0) & _rates_agree(_tolerance(curves))
    unranked = TOTALS[0].is_null() & TOTALS[1].is_null()
    return curves.with_columns(
        pl.col("tpr").cast(pl.Float64).fill_null(0.0).alias(STEPS[0]),
        pl.col("fpr").cast(pl.Float64).fill_null(0.0).alias(STEPS[1]),
        (pl.col("pos").cast(pl.Float64) / TOTALS[0]).fill_nan(0.0).alias(STEPS[2]),
        (pl.col("neg").cast(pl.Float64) / TOTALS[1]).fill_nan(0.0).alias(STEPS[3]),
    ).with_columns(
        pl.when(unranked)
        .then(pl.col(SCORE).is_null().cast(pl.Float64))
        .when(consistent)
        .then(step + at_anchor)
        .otherwise(nan)
        .alias(ADDED)
    )


def _not_whole(curves: pl.DataFrame, keys: Sequence[str]) -> InvalidTable:
    """The error of curves that are not whole: of the first kind that there is."""
    tolerance = _tolerance(curves.lazy())
    found = (
        _with_added(curves.lazy())
        .group_by(keys)
        .agg(
            pl.col(ADDED).sum(),
            pl.col(SCORE).null_count().alias(ANCHORS),
            pl.col("pos").sum().alias(POS),
            pl.col("neg").sum().alias(NEG),
            pl.col("positives", "negatives").max(),
            _rates_agree(tolerance).all().alias(AGREE),
            SAME_TOTALS.alias(SAME),
        )
        .filter(~(_is_whole(pl.col(ADDED), tolerance) & pl.col(SAME)))
        .collect()
    )
    several, none = found.filter(pl.col(ANCHORS) > 1), found.filter(pl.col(ANCHORS) == 0)
    if several.height:
        return InvalidTable(
            f"the table has up to {max(several[ANCHORS])} curves as one, allowed is one per key: "
            f"so many rows begin a curve (a null threshold){first_keys(several, keys)}.",
            hint="was a key column dropped, or were tables concatenated? keep the columns that "
            "tell the curves apart, or add one to each.",
        )
    if none.height:
        added = f", or a column added ({quoted(keys)} are taken for keys)" if keys else ""
        return InvalidTable(
            "no row begins a curve (a null threshold), needed is one per key"
            f"{first_keys(none, keys)}.",
            hint=f"were rows left out{added}? {AS_IT_IS}",
        )
    short = found.filter((pl.col(POS) - pl.col("positives")).abs()
                         + (pl.col(NEG) - pl.col("negatives")).abs()
                         > tolerance * (pl.col("positives") + pl.col("negatives")))  # fmt: skip
    if short.height:
        pos, neg, positives, negatives = short.select(POS, NEG, "positives", "negatives").row(0)
        return InvalidTable(
            f"the curve is not whole: its rows have {pos:,} of {positives:,} positives and "
            f"{neg:,} of {negatives:,} negatives{first_keys(short, keys)}.",
            hint=f"were rows left out, or repeated? {AS_IT_IS}",
        )
    other = found.filter(~pl.col(SAME))
    if other.height:
        return InvalidTable(
            "positives or negatives are not the same in all rows of a curve"
            f"{first_keys(other, keys)}.",
            hint=AS_IT_IS,
        )
    wrong = found.filter(~pl.col(AGREE))
    if wrong.height:
        return InvalidTable(
            "tpr or fpr is not the share of tp in positives, or of fp in negatives"
            f"{first_keys(wrong, keys)}.",
            hint=f"were they rounded, or changed? {AS_IT_IS}",
        )
    return InvalidTable(
        f"tp and fp are not pos and neg summed up from the best score on{first_keys(found, keys)}.",
        hint=AS_IT_IS,
    )
