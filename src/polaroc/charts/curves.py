"""Charts of ROC curves and of precision against recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import polars as pl

from polaroc import rates
from polaroc.base.columns import CURVE, GRID, PANEL, as_lazy, curve_keys, require
from polaroc.base.tables import as_polars
from polaroc.charts.layers import (
    Records,
    band_layer,
    chance_diagonal,
    data,
    level_line,
    line_layer,
    panels_by_prior,
    side_by_side,
    tooltips,
)
from polaroc.charts.libraries import alt, unchecked
from polaroc.charts.lines import lines, refuse_more, series_of
from polaroc.charts.theme import SIZE, prior_label, share_axis, style, with_theme
from polaroc.charts.thinning import line_points, thinned
from polaroc.curves.surface import surface as make_surface
from polaroc.curves.surface import surface_keys
from polaroc.curves.whole import whole_curves
from polaroc.errors import InvalidArgument

TITLES = {
    "fpr": "false positive rate",
    "tpr": "recall (true positive rate)",
    "precision": "precision",
}
SHOWN = {"tpr": (TITLES["tpr"], ".4f"), "fpr": (TITLES["fpr"], ".4~g")}
DASHED = {"strokeWidth": 1.5, "strokeOpacity": 1, "strokeDash": [5, 3]}
THRESHOLD = {"threshold": ("call positive if score ≥", "")}
LIMITS = ("lower", "upper")
# The columns of `mean_curve` that are no keys.
OF_MEANS = (*GRID, "fpr", "tpr", "precision", "sd", *LIMITS, "level", "curves", "interval")


@unchecked
def roc(
    curve: pl.LazyFrame | pl.DataFrame,
    title: str = "ROC curves",
    *,
    hull: pl.LazyFrame | pl.DataFrame | None = None,
    colours: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """ROC curves: true against false positive rate, one line per key.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`; or that of `mean_curve`, whose limits are drawn as a
        band. The first key gives the colour; keys without positives or without negatives have
        no curve.
    title
        Heading of the chart.
    hull
        The result of `hull`, to draw dashed over the curves.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.LayerChart
        The lines over the chance diagonal, drawn through as few points as keep
        every point of the curve within half a pixel.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a curve are missing, or its rows are not whole; for more than 300
        curves; where `colours` lacks a model.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> pr.charts.roc(curves).to_dict()["title"]["text"]
    'ROC curves'
    """
    table = as_polars(curve)
    if "curves" in table.lazy().collect_schema():
        keys, plans = _mean_keys(table), [table.lazy()]
    else:
        whole = whole_curves(table)
        keys = curve_keys(whole)
        plans = [thinned(whole, keys, "fpr", "tpr")]
    outer_keys: list[str] = []
    if hull is not None:
        outer = whole_curves(as_polars(hull))
        outer_keys = curve_keys(outer)
        plans.append(thinned(outer, outer_keys, "fpr", "tpr"))
    # Collect together: both tables must come from the same rows.
    points, *hulls = pl.collect_all(plans)
    above = [
        record
        for rows in hulls
        for record in lines(line_points(rows, outer_keys, ["fpr", "tpr"]), outer_keys, "fpr", "tpr")
    ]
    channels = style(series_of(points, keys), keys[0] if keys else "", colours)
    chart = _curves(points, keys, "fpr", "tpr", channels, chance_diagonal(), above)
    captions = [_caption(points), "dashed: convex hull" if above else ""]
    return with_theme(chart.properties(width=SIZE, height=SIZE), title, captions)


@unchecked
def pr(
    surface: pl.LazyFrame | pl.DataFrame,
    title: str = "Precision-recall curves",
    *,
    achievable: pl.LazyFrame | pl.DataFrame | None = None,
    colours: Mapping[str, str] | None = None,
) -> alt.ConcatChart:
    """Precision-recall curves, one panel per prior, one line per key.

    Parameters
    ----------
    surface
        The result of `surface`, with its column `precision`; or that of `curve`, which is drawn
        at the share of positives among its cases; or that of `mean_curve` of a surface, whose
        limits are drawn as a band. The first key gives the colour.
    title
        Heading of the chart.
    achievable
        The result of `achievable` at the same priors, to draw dashed over the curves.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.ConcatChart
        Lines that follow the exact interpolation between ROC points (D&G §4), with the
        precision of chance, π, in each panel; thinned as in `roc`.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a surface are missing; for more than 300 curves, or
        achievable curves at a prior that has no panel; where `colours` lacks a model.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> chart = curves.pipe(pr.surface, priors=[0.5, 0.1]).pipe(pr.charts.pr)
    >>> chart.to_dict()["title"]["text"]
    'Precision-recall curves'
    """
    table = as_lazy(surface)
    names = table.collect_schema().names()
    means = "curves" in names
    if "precision" not in names and {*CURVE} <= {*names}:
        table = as_lazy(make_surface(table, "observed"))
    require(table, ("precision", *GRID), source="surface(...)")
    keys = _mean_keys(table) if means else surface_keys(table)
    plans = [table if means else thinned(table, [*GRID, *keys], "tpr", "precision")]
    outer_keys: list[str] = []
    if achievable is not None:
        outer = as_lazy(achievable)
        outer_keys = require(outer, (*GRID, "tpr", "fpr", "precision"), source="achievable(...)")
        plans.append(outer.with_columns(prior_label(pl.col("prior")).alias(PANEL)))
    # Collect together: both tables must come from the same rows.
    points, *others = pl.collect_all(plans)
    refuse_more(points.select(*keys, "prior").n_unique())
    panels = panels_by_prior(points, keys)
    outer_curves = {
        name: rows for one in others for (name,), rows in one.group_by(PANEL, maintain_order=True)
    }
    if unknown := outer_curves.keys() - panels.keys():
        raise InvalidArgument(
            f"achievable has curves at {', '.join(sorted(unknown))}; the panels are "
            f"{', '.join(panels)}.",
            hint="make them at the priors of the surface.",
        )
    channels = style(series_of(points, keys), keys[0] if keys else "", colours)
    charts = {}
    for name, panel in panels.items():
        chance = level_line(fmean(panel["prior"].unique()))
        above = []
        if name in outer_curves:
            above = lines(outer_curves[name], outer_keys, "tpr", "precision", const=GRID)
        charts[name] = _curves(panel, keys, "tpr", "precision", channels, chance, above)
    captions = [_caption(points), "dashed: achievable curve" if others else ""]
    return with_theme(side_by_side(charts), title, captions)


def _mean_keys(means: pl.DataFrame | pl.LazyFrame) -> list[str]:
    return [name for name in means.lazy().collect_schema().names() if name not in OF_MEANS]


def _curves(
    points: pl.DataFrame,
    keys: Sequence[str],
    x: str,
    y: str,
    channels: Sequence[Any],
    chance: alt.Chart,
    above: list[dict[str, Any]],
) -> alt.LayerChart:
    """Curves with tooltips, or means with their bands, over chance and below dashed lines."""
    at_prior = y == "precision"
    const = ["prior"] if at_prior else []
    if "curves" in points.columns:
        arrays: list[str] = [*LIMITS]
        drawn = points
        shown = {
            "x": (TITLES[x], ".3~f"), "y": (f"mean {TITLES[y]}", ".4f"),
            "lower": ("band from", ".4f"), "upper": ("band to", ".4f"),
        }  # fmt: skip
    else:
        arrays = ["threshold", "fpr"] if at_prior else ["threshold"]
        bent = rates.precision(pl.col("tpr"), pl.col("fpr"), pl.col("skew")).alias("precision")
        drawn = line_points(
            points, [*const, *keys], [x, y], bent.fill_nan(None) if at_prior else None
        )
        tpr, fpr = ("x", "fpr") if at_prior else ("y", "x")
        shown = THRESHOLD | {tpr: SHOWN["tpr"], fpr: SHOWN["fpr"]}
        if at_prior:
            shown |= {"y": ("precision", ".4f"), "prior": ("at a prior of", ".3~p")}
    records = lines(drawn, keys, x, y, arrays, const)
    across = "recall" if at_prior else TITLES[x]
    axes = alt.X("x:Q", **share_axis(across)), alt.Y("y:Q", **share_axis(TITLES[y]))
    base, over = alt.Chart().encode(*axes), data(above, "x", "y").encode(*axes)
    known = base.transform_filter(f"isValid(datum.{arrays[0]})")
    layers = [
        chance,
        *([band_layer(alt.Chart().encode(axes[0]), channels[0])] if arrays[0] == "lower" else []),
        line_layer(base, records, *channels),
        *([line_layer(over, above, channels[0], **DASHED)] if above else []),
        # Invisible points.
        known.mark_point(filled=True, size=150, opacity=0, aria=False).encode(
            tooltip=tooltips(keys, shown)
        ),
    ]
    return alt.LayerChart(
        layer=layers,
        data=alt.Data(values=Records(records)),
        transform=[alt.FlattenTransform(flatten=["x", "y", *arrays])],
    )


def _caption(points: pl.DataFrame) -> str:
    """How many curves a mean is of, and its band; none of single curves."""
    if "curves" not in points.columns or points.is_empty():
        return ""
    counts = points["curves"].unique().sort().to_list()
    count = " to ".join(map(str, dict.fromkeys([counts[0], counts[-1]])))
    return f"mean of {count} curves {points['interval'][0]}"
