"""Chart of the area under the precision-recall curve against the prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

import polars as pl

from polaroc.base.columns import COVERAGE, MEASURE_COLUMNS, as_lazy, require
from polaroc.base.private_columns import HAVE, SPREAD, private
from polaroc.charts.layers import data, drawn_lines, finished
from polaroc.charts.libraries import alt
from polaroc.charts.lines import Lines, lines
from polaroc.charts.options import checked
from polaroc.charts.theme import SIZE, share_axis, style

LIMITS = ("lower", "upper")
FOLDS = private("folds")
# Relative difference below which priors are equal.
NEAR = 1e-9
FEW = 3
# A share written as in words.
PERCENT_LABEL = "format(100 * datum.value, '.3~r') + ' %'"
# Significant digits, since means differ in the last digits from run to run.
DECIMALS, DIGITS = 6, 9
# Share of the axis that a label needs.
APART = 0.08


@checked
def auprec_by_prior(
    measures: pl.LazyFrame | pl.DataFrame,
    title: str = "Area under the precision-recall curve by prior",
    *,
    colours: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """AUPREC against the prior: how much a model loses as positives get rarer.

    Parameters
    ----------
    measures
        Tidy measures with rows of "auprec" at several priors. The first key
        gives the colour; with more keys, such as folds, each has a thin line
        and their mean a thick one, at the priors they share. Where the table has
        `lower` and `upper`, a key of its own colour has a band between them; the
        limits of single folds, which are none of their mean, are not drawn.
    title
        Heading of the chart.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.LayerChart
        The prior on a logarithmic axis.

    Raises
    ------
    InvalidTable, InvalidArgument
        For anything but the table or the result that the chart shows; for an option outside
        what is allowed, and for more curves than can be told apart, 300 in most charts.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> measures = table.pipe(
    ...     pr.evaluate, truth="truth", score="score", priors=[0.5, 0.1], intervals=True
    ... )
    >>> pr.charts.auprec_by_prior(measures).to_dict()["title"]["subtitle"]
    'band: 95 % interval'
    """
    lazy = as_lazy(measures)
    keys = require(lazy, MEASURE_COLUMNS, source="evaluate(...) or auprec(...)")
    points = _points(lazy, keys)
    single = _lines(points, keys)
    many = len(single.records) > len(single.series)
    encoding = [
        alt.X("x:Q", **_prior_axis(points["prior"].to_list())),
        alt.Y("y:Q", **share_axis("AUPREC")),
        *style(single.series, single.title, colours),
    ]
    subtitle = ""
    if many:
        means = _lines(fold_means(points, keys), keys[:1])
        thin = _drawn(single, encoding, bold=False)
        layers = [thin, _drawn(means, encoding)]
        subtitle = f"thin: each {' · '.join(keys[1:])}; thick: their mean"
    else:
        layers = [_drawn(single, encoding)]
        if LIMITS[0] in points.columns:
            layers.insert(0, _bands(points, keys, encoding))
            subtitle = f"band: {_limits_in_words(lazy)}"
    return finished(layers, title, [subtitle], width=1.3 * SIZE)


def _limits_in_words(measures: pl.LazyFrame) -> str:
    """The name of the limits of a table: intervals of one level, if it says so."""
    if COVERAGE in measures.collect_schema():
        levels = measures.select(pl.col(COVERAGE).unique()).collect().to_series()
        if len(levels) == 1 and levels[0] is not None:
            return f"{100 * levels[0]:.4g} % interval"
    return "from lower to upper limit"


def _points(measures: pl.LazyFrame, keys: list[str]) -> pl.DataFrame:
    """Each key's AUPREC by prior, with its limits where the table has them."""
    present = measures.collect_schema().names()
    limits = list(LIMITS) if all(name in present for name in LIMITS) else []
    numbers = {name: pl.col(name).cast(pl.Float64) for name in limits}
    finite = [pl.when(one.is_finite()).then(one).alias(name) for name, one in numbers.items()]
    return (
        measures.filter(
            (pl.col("measure") == "auprec")
            & pl.col("estimate").is_finite()
            & pl.col("prior").is_not_null()
        )
        .select(*keys, _same_prior(), "estimate", *finite)
        .unique()
        .sort(*keys, "prior", nulls_last=True)
        .collect()
    )


def _prior_axis(priors: Sequence[float]) -> Any:
    """A logarithmic axis that spans the priors, marked in percent."""
    ends = min(priors, default=0.01), max(priors, default=1.0)
    lo, hi = (float(f"{end:.{DIGITS}g}") for end in ends)
    if hi <= lo * (1 + NEAR):
        lo, hi = lo / 2, min(2 * hi, 1.0)
    return {
        "scale": alt.Scale(type="log", domain=[lo, hi], nice=False),
        "axis": alt.Axis(labelExpr=PERCENT_LABEL, values=with_ends(lo, hi)),
        "title": "share of positives in use",
    }


def marks(lo: float, hi: float) -> list[float]:
    """Round numbers from `lo` to `hi`: 1, 2, 5 times powers of ten, or finer where few fit.

    Examples
    --------
    >>> marks(0.01, 0.5)
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    >>> marks(0.35, 0.65)
    [0.4, 0.5, 0.6]
    """
    decades = range(floor(log10(lo)), floor(log10(hi)) + 1)
    for digits in ((1, 2, 5), range(1, 10), [1 + i / 10 for i in range(90)]):
        steps = [round(digit * 10.0**power, 12) for power in decades for digit in digits]
        within = [step for step in steps if lo * (1 - NEAR) <= step <= hi * (1 + NEAR)]
        if len(within) >= FEW:
            return within
    return [lo, hi]


def with_ends(lo: float, hi: float) -> list[float]:
    """The same with both ends, where there is room to label them.

    Examples
    --------
    >>> with_ends(0.1, 0.9)
    [0.1, 0.2, 0.5, 0.9]
    """
    steps = marks(lo, hi)
    room = (hi / lo) ** APART
    return [lo] * (steps[0] / lo > room) + steps + [hi] * (hi / steps[-1] > room)


def _same_prior() -> pl.Expr:
    """The column of priors, in which 0.05 and 0.05000000000000001 are one."""
    return pl.col("prior").round_sig_figs(DIGITS)


def _lines(points: pl.DataFrame, keys: Sequence[str], value: str = "estimate") -> Lines:
    """A line per key of a column against the prior."""
    return lines(points.with_columns(pl.col(value).round(DECIMALS)), keys, "prior", value)


def _drawn(drawn: Lines, encoding: Sequence[Any], *, bold: bool = True) -> alt.Chart:
    """Lines against the prior."""
    tooltip = [
        alt.Tooltip("line:N", title="key"),
        alt.Tooltip("x:Q", title="prior", format=".3~%"),
        alt.Tooltip("y:Q", title="AUPREC", format=".3f"),
    ]
    width, opacity = (2.5, 1) if bold else (0.8, 0.35)
    return drawn_lines(
        data(drawn.records), *encoding, tooltip,
        strokeWidth=width, strokeOpacity=opacity, point=bold,
    )  # fmt: skip


def _bands(points: pl.DataFrame, keys: Sequence[str], encoding: Sequence[Any]) -> alt.Chart:
    """A pale band from `lower` to `upper` for each key, broken where they are null."""
    low, high = (_lines(points, keys, limit) for limit in ("lower", "upper"))
    records = [
        {**below, "top": above["y"]} for below, above in zip(low.records, high.records, strict=True)
    ]
    return (
        data(records)
        .transform_flatten(["x", "y", "top", "at"])
        .mark_area(opacity=0.18, clip=True)
        .encode(*encoding, alt.Y2("top:Q"), alt.Detail("id:N"))
    )


def fold_means(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Per value of the first key and prior, the mean over all others, with one SD to either side.

    At a prior that not all folds of a model have there is none: it would be over other folds.

    Examples
    --------
    >>> rows = pl.DataFrame({"model": ["A"] * 3, "fold": [1, 2, 3], "prior": [0.1] * 3,
    ...     "estimate": [0.25, 0.5, 0.75]})
    >>> fold_means(rows, ["model", "fold"]).row(0)
    ('A', 0.1, 0.5, 0.25, 0.75)
    """
    first = list(keys[:1])
    estimate = pl.col("estimate")
    sizes = rows.select(*keys, pl.lit(0).alias(FOLDS)).unique()
    sizes = sizes.group_by(*first or [FOLDS]).agg(pl.len().alias(HAVE))
    sizes = sizes.select(*first, pl.col(HAVE).alias(FOLDS))
    means = rows.group_by(*first, "prior").agg(
        estimate.mean(), estimate.std().alias(SPREAD), pl.len().alias(HAVE)
    )
    complete = (
        means.lazy()
        .join(sizes.lazy(), on=first or pl.lit(0), nulls_equal=True)
        .filter(pl.col(HAVE) == pl.col(FOLDS))
    )
    limits = (estimate - pl.col(SPREAD)).alias("lower"), (estimate + pl.col(SPREAD)).alias("upper")
    named = [*first, "prior"]
    result = complete.with_columns(limits).select(*named, "estimate", "lower", "upper")
    return result.sort(named, nulls_last=True).collect()
