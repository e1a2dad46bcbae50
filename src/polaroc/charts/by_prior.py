"""Chart of the area under the precision-recall curve against the prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import polars as pl

from polaroc.base.columns import COVERAGE, HAVE, MEASURE_COLUMNS, as_lazy, require
from polaroc.charts.layers import band_layer, data, line_layer, tooltips
from polaroc.charts.libraries import alt, unchecked
from polaroc.charts.lines import lines, series_of
from polaroc.charts.theme import SIZE, share_axis, style, with_theme

LIMITS = ["lower", "upper"]
# A share written as in words.
PERCENT_LABEL = "format(100 * datum.value, '.3~r') + ' %'"
# Priors are the same up to rounding; share of the axis that a label needs.
DIGITS, APART = 9, 0.08


@unchecked
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
        Where the columns of measures are missing; for more than 300 lines; where `colours`
        lacks a model.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> measures = table.pipe(
    ...     pr.evaluate, truth="truth", score="score", priors=[0.5, 0.1], intervals=True
    ... )
    >>> pr.charts.auprec_by_prior(measures).to_dict()["title"]["subtitle"]
    ['band: 95 % interval']
    """
    lazy = as_lazy(measures)
    keys = require(lazy, MEASURE_COLUMNS, source="evaluate(...) or auprec(...)")
    points = _points(lazy, keys)
    channels = [
        alt.X("x:Q", **_prior_axis(points["prior"].to_list())),
        alt.Y("y:Q", **share_axis("AUPREC")),
        *style(series_of(points, keys), keys[0] if keys else "", colours),
        tooltips(keys, {"x": ("prior", ".3~%"), "y": ("AUPREC", ".3f")}, "key"),
    ]
    bold, caption = {"strokeWidth": 2.5, "strokeOpacity": 1, "point": True}, ""
    if len(keys) > 1 and points.select(keys).n_unique() > points[keys[0]].n_unique():
        folds = lines(points, keys, "prior", "estimate")
        means = lines(_means(points, keys), keys[:1], "prior", "estimate")
        pale = {"strokeWidth": 0.8, "strokeOpacity": 0.35}
        layers = [
            line_layer(data(folds, "x", "y"), folds, *channels, **pale),
            line_layer(data(means, "x", "y"), means, *channels, **bold),
        ]
        caption = f"thin: each {' · '.join(keys[1:])}; thick: their mean"
    else:
        limits = [name for name in LIMITS if name in points.columns]
        drawn = lines(points, keys, "prior", "estimate", limits)
        base = data(drawn, "x", "y", *limits)
        layers = [line_layer(base, drawn, *channels, **bold)]
        if limits:
            layers.insert(0, band_layer(base, channels[0], *channels[2:-1]))
            caption = f"band: {_limits_in_words(lazy)}"
    chart = alt.layer(*layers).properties(width=1.3 * SIZE, height=SIZE)
    return with_theme(chart, title, [caption])


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
    limits = [pl.col(name).cast(pl.Float64) for name in LIMITS if {*LIMITS} <= {*present}]
    is_area = pl.col("measure") == "auprec", pl.col("estimate").is_finite()
    return (
        measures.filter(*is_area, pl.col("prior").is_not_null())
        .select(
            *keys,
            pl.col("prior").round_sig_figs(DIGITS),
            "estimate",
            *(pl.when(limit.is_finite()).then(limit) for limit in limits),
        )
        .unique()
        .sort(*keys, "prior", nulls_last=True)
        .collect()
    )


def _means(points: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The mean of each first key, at the priors that all of its folds have."""
    first = keys[0]
    folds = pl.struct(keys).n_unique().over(first).alias(HAVE)
    means = (
        points.with_columns(folds)
        .group_by(first, "prior", HAVE)
        .agg(pl.col("estimate").mean(), pl.len())
    )
    return means.filter(pl.col("len") == pl.col(HAVE)).sort(first, "prior", nulls_last=True)


def _prior_axis(priors: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis that spans the priors, marked in per cent at its ends and 1, 2, 5, …"""
    lo, hi = min(priors, default=0.01), max(priors, default=1.0)
    if lo == hi:
        lo, hi = lo / 2, min(2 * hi, 1.0)
    room = (hi / lo) ** APART
    powers = range(floor(log10(lo)), ceil(log10(hi)))
    marks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    values = [lo, *(mark for mark in marks if lo * room < mark < hi / room), hi]
    return {
        "scale": alt.Scale(type="log", domain=[lo, hi], nice=False),
        "axis": alt.Axis(labelExpr=PERCENT_LABEL, values=values),
        "title": "share of positives in use",
    }
