"""Charts of ROC curves, of precision against recall, and of points on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import polars as pl

from polaroc import rates
from polaroc.base.columns import CURVE, GRID, PANEL, as_lazy, curve_keys, require
from polaroc.base.tables import as_polars
from polaroc.charts.layers import (
    FEWER_KEYS,
    Records,
    band_layer,
    chance_diagonal,
    data,
    key_style,
    level_line,
    line_layer,
    lines,
    named_rows,
    panels_by_prior,
    refuse_more,
    side_by_side,
    tooltips,
)
from polaroc.charts.theme import DARK, PANEL_SIZE, SIZE, prior_label, share_axis, with_theme
from polaroc.charts.thinning import line_points, thinned
from polaroc.charts.vega import alt, unchecked
from polaroc.curves.curve import whole_curves
from polaroc.curves.surface import surface as make_surface
from polaroc.curves.surface import surface_keys
from polaroc.errors import InvalidArgument
from polaroc.thresholds.operating_points import POINTS
from polaroc.typing import PolarsFrame

TITLES = {
    "fpr": "false positive rate",
    "tpr": "recall (true positive rate)",
    "precision": "precision",
}
# What is said of a point.
SHOWN = {
    "prior": ("prior", ".3~p"),
    "threshold": ("call positive if score ≥", ""),
    "tpr": (TITLES["tpr"], ".4f"),
    "fpr": (TITLES["fpr"], ".4~g"),
    "precision": ("precision", ".4f"),
}
# Points at several priors: their shapes, their number, and what is said below.
SHAPES = ("triangle-up", "circle", "square", "diamond", "cross", "triangle-down")
MAX_POINTS = 1_000
DRIFT = "straight: from the lowest share of positives to the highest; Sens is that distance over √2"
DASHED = {"strokeWidth": 1.5, "strokeOpacity": 1, "strokeDash": [5, 3]}
LIMITS = ("lower", "upper")
# The columns of `mean_curve` that are no keys.
OF_MEANS = (*GRID, "fpr", "tpr", "precision", "sd", *LIMITS, "level", "curves", "interval")


@unchecked
def roc(
    curve: PolarsFrame,
    title: str = "ROC curves",
    *,
    hull: PolarsFrame | None = None,
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
    if "curves" in table.collect_schema():
        keys, plans = _mean_keys(table), [table.lazy()]
    else:
        plan, keys = _thinned_curves(table)
        plans = [plan]
    outer_keys: list[str] = []
    if hull is not None:
        plan, outer_keys = _thinned_curves(as_polars(hull))
        plans.append(plan)
    # Collect together: both tables must come from the same rows.
    points, *hulls = pl.collect_all(plans)
    above = [record for rows in hulls for record in _thin_lines(rows, outer_keys)]
    channels = key_style(points, keys, colours)
    chart = _curves(points, keys, "fpr", "tpr", channels, chance_diagonal(), above)
    captions = [_caption(points), "dashed: convex hull" if above else ""]
    return with_theme(chart.properties(width=SIZE, height=SIZE), title, captions)


@unchecked
def pr(
    surface: PolarsFrame,
    title: str = "Precision-recall curves",
    *,
    achievable: PolarsFrame | None = None,
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
    names = table.collect_schema()
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
    channels = key_style(points, keys, colours)
    charts = {}
    for name, panel in panels.items():
        chance = level_line(fmean(panel["prior"].unique()))
        above = []
        if name in outer_curves:
            above = lines(outer_curves[name], outer_keys, (), GRID, x="tpr", y="precision")
        size = SIZE if len(panels) == 1 else PANEL_SIZE
        charts[name] = _curves(panel, keys, "tpr", "precision", channels, chance, above, size)
    captions = [_caption(points), "dashed: achievable curve" if others else ""]
    return with_theme(side_by_side(charts), title, captions)


def _thinned_curves(table: PolarsFrame) -> tuple[pl.LazyFrame, list[str]]:
    """ROC curves of few points, and their keys."""
    curves = whole_curves(table)
    keys = curve_keys(curves)
    return thinned(curves, keys, "fpr", "tpr"), keys


def _mean_keys(means: PolarsFrame) -> list[str]:
    return [name for name in means.collect_schema() if name not in OF_MEANS]


def _curves(
    points: pl.DataFrame,
    keys: Sequence[str],
    x: str,
    y: str,
    channels: Sequence[Any],
    chance: alt.Chart,
    above: list[dict[str, Any]],
    size: int = SIZE,
) -> alt.LayerChart:
    """Curves over chance and below dashed lines, with points to look up; or means with bands."""
    const = ["prior"] if y == "precision" else []
    titles = share_axis("recall" if const else TITLES[x]), share_axis(TITLES[y])
    axes = alt.X("x:Q", **titles[0]), alt.Y("y:Q", **titles[1])
    arrays = list[str]()
    if "curves" in points.columns:
        arrays = [*LIMITS]
        records = lines(points, keys, arrays, const, x=x, y=y)
        looked_up = alt.Chart().transform_filter("isValid(datum.lower)").encode(*axes)
        shown = {
            "x": (TITLES[x], ".3~f"), "y": (f"mean {TITLES[y]}", ".4f"),
            "lower": ("band from", ".4f"), "upper": ("band to", ".4f"),
        }  # fmt: skip
    else:
        bent = rates.precision(pl.col("tpr"), pl.col("fpr"), pl.col("skew")).fill_nan(None)
        drawn = line_points(
            points, [*const, *keys], [x, y], bent.alias(y) if const else None, size=size
        )
        records = lines(drawn, keys, (), const, x=x, y=y)
        names = ["threshold", "tpr", "fpr", *(["precision"] if const else [])]
        known = lines(drawn.drop_nulls("threshold"), keys, names, const)
        looked_up = data(known, *names).encode(
            alt.X(f"{x}:Q", **titles[0]), alt.Y(f"{y}:Q", **titles[1])
        )
        shown = {name: SHOWN[name] for name in (*names, *const)}
    layers = [
        chance,
        *([band_layer(alt.Chart().encode(axes[0]), channels[0])] if arrays else []),
        line_layer(alt.Chart().encode(*axes), records, *channels),
    ]
    if above:
        over = data(above, "x", "y").encode(*axes)
        layers.append(line_layer(over, above, channels[0], **DASHED))
    invisible = looked_up.mark_point(filled=True, size=150, opacity=0, aria=False)
    return alt.LayerChart(
        layer=[*layers, invisible.encode(tooltip=tooltips(keys, shown))],
        data=alt.Data(values=Records(records)),
        transform=[alt.FlattenTransform(flatten=["x", "y", *arrays])],
    )


def _thin_lines(points: pl.DataFrame, keys: Sequence[str]) -> list[dict[str, Any]]:
    """ROC curves as records of few points, without thresholds."""
    return lines(line_points(points, keys, ["fpr", "tpr"]), keys, x="fpr", y="tpr")


def _caption(points: pl.DataFrame) -> str:
    """The number of curves of a mean, and its band; empty for single curves."""
    if "curves" not in points.columns or points.is_empty():
        return ""
    counts = points["curves"].unique().sort().to_list()
    count = " to ".join(map(str, dict.fromkeys([counts[0], counts[-1]])))
    return f"mean of {count} curves {points['interval'][0]}"


@unchecked
def operating_drift(
    points: PolarsFrame,
    curve: PolarsFrame | None = None,
    title: str = "Where operating points drift as the prior changes",
    *,
    colours: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """Operating points at several priors in ROC space, as in AccSens Fig. 3.

    Parameters
    ----------
    points
        The result of `operating_points` at up to six priors, such as the ends of a
        range and 0.5, where the balanced point is that of equal error. The first key
        gives the colour, the prior the shape. Keys without a point have none.
    curve
        The result of `curve`, of which to draw the ROC curves behind.
    title
        Heading of the chart.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.LayerChart
        The points on axes from 0 to 1, those of the lowest and the highest prior
        joined; small and pale where a colour has several curves, such as folds.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of operating points or of a curve are missing; for more than
        six priors or 1000 points.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> points = curves.pipe(pr.operating_points, priors=[0.1, 0.5, 0.9])
    >>> pr.charts.operating_drift(points, curves).to_dict()["title"]["text"]
    'Where operating points drift as the prior changes'
    """
    keys = require(as_lazy(points), POINTS, source="operating_points(...)")
    # Collect together: both tables must come from the same rows.
    plans, curve_names = [as_lazy(points)], list[str]()
    if curve is not None:
        plan, curve_names = _thinned_curves(as_polars(curve))
        plans.append(plan)
    table, *curves = pl.collect_all(plans)
    known = table.drop_nulls(["tpr", "prior"]).sort(*keys, "prior", nulls_last=True)
    drawn = named_rows(
        known,
        keys,
        prior_label(pl.col("prior")).alias("label"),
        pl.col("prior"),
        pl.col("fpr", "tpr", "precision"),
        pl.format("{}", pl.col("threshold")).alias("threshold"),
    )
    priors = drawn.sort("prior")["label"].unique(maintain_order=True).to_list()
    _check(len(priors), drawn.height)
    channels = key_style(known, keys, colours)
    shape = alt.Shape(
        "label:N",
        scale=alt.Scale(domain=priors, range=list(SHAPES[: len(priors)])),
        legend=alt.Legend(title=None, symbolFillColor=DARK, symbolOpacity=1),
    )
    axes = (
        alt.X("fpr:Q", **share_axis(TITLES["fpr"])),
        alt.Y("tpr:Q", **share_axis(TITLES["tpr"])),
    )
    many = drawn.select("series", "line").n_unique() > drawn["series"].n_unique()
    size, opacity, stroke = (24, 0.35, 0) if many else (110, 1, 1)
    base = data(drawn.to_dicts()).encode(*axes, channels[0])
    ends = [priors[0], priors[-1]] if priors else []
    joined = base.transform_filter(alt.FieldOneOfPredicate("label", ends)).mark_line(
        strokeDash=[5, 3], strokeWidth=1.5, strokeOpacity=opacity
    )
    marks = base.mark_point(
        filled=True, size=size, opacity=opacity, stroke="white", strokeWidth=stroke
    )
    layers = [
        chance_diagonal(),
        joined.encode(*channels[1:], alt.Detail("line:N"), alt.Order("prior:Q")),
        marks.encode(shape, tooltip=tooltips(keys, SHOWN)),
    ]
    for rows in curves:
        records = _thin_lines(rows, curve_names)
        pale = {"strokeWidth": 1, "strokeOpacity": opacity / 2}
        base = data(records, "x", "y").encode(alt.X("x:Q"), alt.Y("y:Q"))
        behind = line_layer(base, records, *channels, **pale)
        layers.insert(1, behind)
    return with_theme(alt.layer(*layers).properties(width=SIZE, height=SIZE), title, [DRIFT])


def _check(priors: int, points: int) -> None:
    if priors > len(SHAPES):
        raise InvalidArgument(
            f"there are points at {priors} priors, allowed are {len(SHAPES)}.",
            hint="give the ends of a range and 0.5: priors=[0.1, 0.5, 0.9], not 'observed'.",
        )
    if points > MAX_POINTS:
        raise InvalidArgument(
            f"there are {points} points to draw, allowed are {MAX_POINTS}.", hint=FEWER_KEYS
        )
