"""Chart of accuracy against prior sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log10, sqrt
from typing import Any

import polars as pl

from polaroc.base.columns import as_lazy
from polaroc.base.private_columns import ERROR, SENS
from polaroc.charts.by_prior import DECIMALS
from polaroc.charts.layers import data, drawn_lines, finished
from polaroc.charts.libraries import alt
from polaroc.charts.options import checked
from polaroc.charts.theme import point_style
from polaroc.measures.sensitivity import accsens_arcs, check_weights
from polaroc.models.measure_rows import rows_of

PALE, INK = "#BDBDBD", "#6E6E6E"
ERROR_TITLE = "1 − AUC over the range"
# Approximate number of arcs, and the margin of their labels as a share of an axis.
ARCS = 6
EDGE = 0.05


@checked
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
        For anything but the table or the result that the chart shows; for an option outside
        what is allowed, and for more curves than can be told apart, 300 in most charts.

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
    'grey: equal AccSens'
    """
    check_weights(weights)
    table = as_lazy(measures).collect()
    area, distance = (rows_of(table, name) for name in ("auc_range", "sens"))
    keys = area.keys
    points = _errors_and_sens(area.frame, distance.frame, keys)
    means = _means(points, keys)
    many = points.height > means.height
    end = _end(max([*points[ERROR], *points[SENS]], default=1.0))
    series = [str(model) for model in means[keys[0]]] if keys else []
    axis: dict[str, Any] = {
        "scale": alt.Scale(domain=[0, end], nice=False),
        "axis": alt.Axis(grid=False, tickCount=5, format="~g"),
    }
    shared = [
        alt.X("x:Q", **axis, title=ERROR_TITLE),
        alt.Y("y:Q", **axis, title="Sens"),
        *point_style(series, keys[0] if keys else "", colours),
    ]
    arcs = data(_arcs(weights, end))
    layers: list[Any] = [_arc_layer(arcs)]
    if many:
        layers.append(_point_layer(points, keys, shared, size=24, opacity=0.4))
    layers += _label_layers(arcs)
    layers.append(_point_layer(means, keys[:1], shared, size=120, opacity=1, stroke="white"))
    given = tuple(weights) != (1, 1)
    captions = [
        f"grey: equal AccSens{f', weights {weights[0]:g} and {weights[1]:g}' if given else ''}",
        f"small: each {' · '.join(keys[1:])}; large: their mean" if many else "",
    ]
    return finished(layers, title, captions)


def _errors_and_sens(area: pl.DataFrame, sens: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """The keys that have both, with their error and Sens."""
    errors = area.lazy().select(*keys, (1 - pl.col("estimate")).alias(ERROR))
    both = errors.join(
        sens.lazy().select(*keys, pl.col("estimate").alias(SENS)),
        on=keys or pl.lit(0),
        nulls_equal=True,
    )
    points = both.drop_nulls([ERROR, SENS]).unique().collect()
    return points.sort(keys, nulls_last=True) if keys else points


def _means(points: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    if not keys:
        return points
    means = points.group_by(keys[:1]).agg(pl.col(ERROR, SENS).mean().round(DECIMALS))
    return means.sort(keys[:1], nulls_last=True)


def _point_layer(
    points: pl.DataFrame, keys: list[str], shared: list[Any], **mark_options: Any
) -> alt.Chart:
    records = []
    for *values, error, sens in points.select(*keys, ERROR, SENS).rows():
        names = [str(value) for value in values]
        series = names[0] if names else ""
        records.append({"series": series, "line": " · ".join(names), "x": error, "y": sens})
    tooltip = [
        alt.Tooltip("line:N", title="key"),
        alt.Tooltip("x:Q", title=ERROR_TITLE, format=".3f"),
        alt.Tooltip("y:Q", title="Sens", format=".3f"),
    ]
    return data(records).mark_point(filled=True, **mark_options).encode(*shared, tooltip)


def _arc_layer(base: alt.Chart) -> alt.Chart:
    """The arcs, behind the points."""
    axes = alt.X("x:Q"), alt.Y("y:Q")
    return drawn_lines(base, *axes, color=PALE, strokeWidth=1, clip=True)


def _label_layers(base: alt.Chart) -> list[alt.Chart]:
    """The labels of the arcs, before small points and behind large ones."""
    text = base.encode(alt.X("label_x:Q"), alt.Y("label_y:Q"), alt.Text("label:N"))
    halo = text.mark_text(fontSize=10, stroke="white", strokeWidth=4, strokeJoin="round")
    return [halo, text.mark_text(fontSize=10, color=INK)]


def _arcs(weights: tuple[float, float], end: float) -> list[dict[str, Any]]:
    """The arcs through a square that ends at `end`, each labelled near its lower right edge."""
    by_error, by_sens = weights
    furthest = end * sqrt((by_error + by_sens) / 2)
    step = _round_step(furthest / ARCS)
    levels, most = [round(i * step, 12) for i in range(1, ceil(furthest / step))], (1 - EDGE) * end
    records = []
    for i, arc in enumerate(accsens_arcs(levels, weights).partition_by("level")):
        x, y = arc["error"].to_list(), arc["sens"].to_list()
        inside = [at for at in zip(x, y, strict=True) if EDGE * end <= min(at) and max(at) <= most]
        place = inside[0] if inside else (None, None)
        records.append(
            {"id": i, "x": x, "y": y, "at": list(range(len(x))), "label": f"{levels[i]:g}",
             "label_x": place[0], "label_y": place[1]}
        )  # fmt: skip
    return records


def _end(most: float) -> float:
    """The end of the axes: the next round step beyond the furthest point."""
    step = _round_step(most / 10)
    return min(round(max(ceil(1.02 * most / step), 1) * step, 12), 1.0)


def _round_step(least: float) -> float:
    """The next number of 1, 2 or 5 times a power of ten, from `least` on."""
    power = 10.0 ** floor(log10(least)) if least > 0 else 0.01
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least * (1 - 1e-9))
