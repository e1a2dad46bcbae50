"""Charts of measures: areas by prior, and accuracy against prior sensitivity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10, sqrt
from typing import Any

import polars as pl

from polaroc.base.columns import (
    COVERAGE,
    ERROR,
    HAVE,
    MEASURE_COLUMNS,
    SENS,
    as_lazy,
    join_by_key,
    require,
)
from polaroc.charts.layers import (
    band_layer,
    data,
    key_style,
    line_layer,
    lines,
    named_rows,
    tooltips,
)
from polaroc.charts.theme import SIZE, share_axis, with_theme
from polaroc.charts.vega import alt, unchecked
from polaroc.measures.sensitivity import accsens_arcs, check_weights
from polaroc.models.measure_rows import rows_of
from polaroc.typing import PolarsFrame

LIMITS = ["lower", "upper"]
# A share written as in words.
PERCENT_LABEL = "format(100 * datum.value, '.3~r') + ' %'"
# Priors are the same up to rounding; share of the axis that a label needs.
DIGITS, APART = 9, 0.08


@unchecked
def auprec_by_prior(
    measures: PolarsFrame,
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
        *key_style(points, keys, colours),
        tooltips(keys, {"x": ("prior", ".3~%"), "y": ("AUPREC", ".3f")}, "key"),
    ]
    bold, caption = {"strokeWidth": 2.5, "strokeOpacity": 1, "point": True}, ""
    if len(keys) > 1 and points.select(keys).n_unique() > points[keys[0]].n_unique():
        folds = lines(points, keys, x="prior", y="estimate")
        means = lines(_means(points, keys), keys[:1], x="prior", y="estimate")
        pale = {"strokeWidth": 0.8, "strokeOpacity": 0.35}
        layers = [
            line_layer(data(folds, "x", "y"), folds, *channels, **pale),
            line_layer(data(means, "x", "y"), means, *channels, **bold),
        ]
        caption = f"thin: each {' · '.join(keys[1:])}; thick: their mean"
    else:
        limits = [name for name in LIMITS if name in points.columns]
        drawn = lines(points, keys, limits, x="prior", y="estimate")
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
    present = measures.collect_schema()
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


PALE, LABEL = "#BDBDBD", "#6E6E6E"
ERROR_TITLE = "1 − AUC over the range"
# The margin of the labels of arcs as a share of an axis.
EDGE = 0.05


@unchecked
def accsens_plane(
    measures: PolarsFrame,
    title: str = "Accuracy and prior sensitivity",
    *,
    weights: tuple[float, float] = (1, 1),
    colours: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """Error against prior sensitivity, with lines of equal AccSens; best at the origin.

    Parameters
    ----------
    measures
        Tidy measures with rows of "auc_range" and "sens", as `evaluate` gives them
        with ``over=(0.05, 0.20)``. The first key gives the colour; with more keys,
        such as folds, each has a small point and their mean a large one.
    title
        Heading of the chart.
    weights
        Weights (w_e, w_s) ≥ 0 of the area and of Sens in AccSens, not both 0.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.LayerChart
        One minus the area over the range against Sens, on two axes of one scale
        that end where the points do: at equal weights the lines are circles.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the table has no rows of both measures; for weights outside what is allowed; where
        `colours` lacks a model.

    Notes
    -----
    AccSens Eq. 4. A mean over folds lies where the means of error and Sens are,
    which is not the mean of AccSens.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> measures = table.pipe(pr.evaluate, truth="truth", score="score", over=(0.1, 0.9))
    >>> pr.charts.accsens_plane(measures).to_dict()["title"]["subtitle"]
    ['grey: equal AccSens']
    """
    check_weights(weights)
    table = as_lazy(measures).collect()
    area, distance = (rows_of(table, name) for name in ("auc_range", "sens"))
    keys = area.keys
    error = area.frame.select(*keys, (1 - pl.col("estimate")).alias(ERROR))
    sens = distance.frame.select(*keys, pl.col("estimate").alias(SENS))
    both = join_by_key(error, sens, keys, "inner")
    points = both.drop_nulls([ERROR, SENS]).unique().sort(pl.all(), nulls_last=True)
    means = points
    if keys:
        means = points.group_by(keys[:1]).agg(pl.col(ERROR, SENS).mean())
        means = means.sort(keys[:1], nulls_last=True)
    # The axes end at the next round step beyond the furthest point.
    furthest = max([*points[ERROR], *points[SENS]], default=1.0)
    step = _round_step(furthest / 10)
    end = min(round(max(ceil(1.02 * furthest / step), 1) * step, 12), 1.0)
    axis: dict[str, Any] = {
        "scale": alt.Scale(domain=[0, end], nice=False),
        "axis": alt.Axis(grid=False, tickCount=5, format="~g"),
    }
    shown = {"x": (ERROR_TITLE, ".3f"), "y": ("Sens", ".3f")}
    shared = [
        alt.X("x:Q", **axis, title=ERROR_TITLE),
        alt.Y("y:Q", **axis, title="Sens"),
        *key_style(means, keys, colours, points=True),
        tooltips(keys, shown, "key"),
    ]
    places = pl.col(ERROR).alias("x"), pl.col(SENS).alias("y")
    large, small = (
        data(named_rows(rows, rows_keys, *places).to_dicts())
        .mark_point(filled=True, **marks)
        .encode(*shared)
        for rows, rows_keys, marks in (
            (means, keys[:1], {"size": 120, "opacity": 1, "stroke": "white"}),
            (points, keys, {"size": 24, "opacity": 0.4}),
        )
    )
    layers = [*_arc_layers(weights, end), large]
    captions = ["grey: equal AccSens"]
    if tuple(weights) != (1, 1):
        captions[0] += f", weights {weights[0]:g} and {weights[1]:g}"
    if points.height > means.height:
        layers.insert(1, small)
        captions.append(f"small: each {' · '.join(keys[1:])}; large: their mean")
    return with_theme(alt.layer(*layers).properties(width=SIZE, height=SIZE), title, captions)


def _arc_layers(weights: tuple[float, float], end: float) -> list[alt.Chart]:
    """The arcs through a square that ends at `end`, each labelled near its lower right edge."""
    furthest = end * sqrt(sum(weights) / 2)
    # About six arcs.
    step = _round_step(furthest / 6)
    levels = [round(i * step, 12) for i in range(1, ceil(furthest / step))]
    arcs = accsens_arcs(levels, weights)
    low, high = EDGE * end, (1 - EDGE) * end
    inside = pl.all_horizontal(pl.col("error", "sens").is_between(low, high))
    places = arcs.filter(inside).unique("level", keep="first", maintain_order=True)
    records = lines(arcs, ["level"], x="error", y="sens")
    line = line_layer(
        data(records, "x", "y"), records, alt.X("x:Q"), alt.Y("y:Q"),
        color=PALE, strokeWidth=1, clip=True,
    )  # fmt: skip
    named = [{"x": error, "y": sens, "label": f"{level:g}"} for level, error, sens in places.rows()]
    text = data(named).mark_text(fontSize=10, color=LABEL)
    return [line, text.encode(alt.X("x:Q"), alt.Y("y:Q"), alt.Text("label:N"))]


def _round_step(least: float) -> float:
    """The next number of 1, 2 or 5 times a power of ten, from `least` on."""
    power = 10.0 ** floor(log10(least)) if least > 0 else 0.01
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least * (1 - 1e-9))
