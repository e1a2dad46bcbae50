"""Chart of accuracy against prior sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log10, sqrt
from typing import Any

import polars as pl

from polaroc.base.columns import ERROR, SENS, as_lazy
from polaroc.charts.layers import data, line_layer, tooltips
from polaroc.charts.libraries import alt, unchecked
from polaroc.charts.lines import lines, named_rows, series_of
from polaroc.charts.theme import SIZE, style, with_theme
from polaroc.measures.sensitivity import accsens_arcs, check_weights
from polaroc.models.measure_rows import rows_of

PALE, LABEL = "#BDBDBD", "#6E6E6E"
ERROR_TITLE = "1 − AUC over the range"
# Approximate number of arcs, and the margin of their labels as a share of an axis.
ARCS = 6
EDGE = 0.05


@unchecked
def accsens_plane(
    measures: pl.LazyFrame | pl.DataFrame,
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
    both = error.join(sens, on=keys, nulls_equal=True) if keys else error.join(sens, how="cross")
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
        *style(series_of(means, keys), keys[0] if keys else "", colours, points=True),
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
    step = _round_step(furthest / ARCS)
    levels = [round(i * step, 12) for i in range(1, ceil(furthest / step))]
    arcs = accsens_arcs(levels, weights)
    low, high = EDGE * end, (1 - EDGE) * end
    inside = pl.all_horizontal(pl.col("error", "sens").is_between(low, high))
    places = arcs.filter(inside).unique("level", keep="first", maintain_order=True)
    records = lines(arcs, ["level"], "error", "sens")
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
