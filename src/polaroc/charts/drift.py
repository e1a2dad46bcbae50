"""Charts of operating points that move with the prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import as_lazy, curve_keys, require
from polaroc.base.tables import as_polars
from polaroc.base.text import key_text
from polaroc.charts.layers import chance_diagonal, curves, data, finished
from polaroc.charts.libraries import alt
from polaroc.charts.lines import FEWER_KEYS, refuse_many, straight_lines, thinned
from polaroc.charts.options import checked
from polaroc.charts.theme import prior_label, share_axis, style
from polaroc.curves.whole import whole_curves
from polaroc.errors import InvalidArgument
from polaroc.thresholds.operating_points import POINTS

SHAPES = ("triangle-up", "circle", "square", "diamond", "cross", "triangle-down")
MAX_POINTS = 1_000
CAPTION = (
    "straight: from the lowest share of positives to the highest; Sens is that distance over √2"
)
JOINED = [5, 3]


@checked
def operating_drift(
    points: pl.LazyFrame | pl.DataFrame,
    curve: pl.LazyFrame | pl.DataFrame | None = None,
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
    lazy = as_lazy(points)
    keys = require(lazy, POINTS, source="operating_points(...)")
    # Collect together: both tables must come from the same rows.
    tables, roc_keys = [_labelled(lazy, keys)], []
    if curve is not None:
        behind = as_polars(curve)
        roc = whole_curves(behind)
        roc_keys = curve_keys(roc)
        refuse_many(behind)
        tables.append(thinned(roc, roc_keys, "fpr", "tpr"))
    drawn, *lines_behind = pl.collect_all(tables)
    priors = drawn.select("prior", "label").unique().sort("prior")["label"].to_list()
    _check(len(priors), drawn.height)
    series = drawn["series"].unique(maintain_order=True).to_list()
    shade, *dashes = style(series, keys[0] if keys else "", colours)
    shape = alt.Shape(
        "label:N",
        scale=alt.Scale(domain=priors, range=list(SHAPES[: len(priors)])),
        legend=alt.Legend(title=None, symbolFillColor="#555555", symbolOpacity=1),
    )
    many = drawn.select("series", "line").n_unique() > len(series)
    base = data(drawn.to_dicts()).encode(
        alt.X("x:Q", **share_axis("false positive rate")),
        alt.Y("y:Q", **share_axis("true positive rate (recall)")),
        shade,
    )
    size, opacity, stroke = (24, 0.35, 0) if many else (110, 1, 1)
    marks = base.mark_point(
        filled=True, size=size, opacity=opacity, stroke="white", strokeWidth=stroke
    )
    layers = [
        chance_diagonal(),
        *(_behind(lines, roc_keys, colours, opacity / 2) for lines in lines_behind),
        _joined(base, priors, dashes, opacity),
        marks.encode(shape, tooltip=_tooltip(named=bool(keys))),
    ]
    return finished(layers, title, [CAPTION])


def _labelled(points: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Points with the names of their first key (`series`) and of all keys (`line`)."""
    labels = [key_text(key) for key in keys] or [pl.lit("")]
    return (
        points.filter(pl.col("tpr").is_not_null() & pl.col("prior").is_not_null())
        .sort(*keys, "prior", nulls_last=True)
        .select(
            labels[0].alias("series"),
            pl.concat_str(labels, separator=" · ").alias("line"),
            prior_label(pl.col("prior")).alias("label"),
            "prior",
            pl.col("fpr").alias("x"),
            pl.col("tpr").alias("y"),
            "precision",
            pl.format("{}", pl.col("threshold")).alias("threshold"),
        )
    )


def _joined(
    points: alt.Chart, priors: Sequence[str], dashes: Sequence[Any], opacity: float
) -> alt.Chart:
    """Lines from the lowest share of positives to the highest, dashed where colours repeat."""
    ends = [priors[0], priors[-1]] if priors else []
    return (
        points.transform_filter(alt.FieldOneOfPredicate("label", ends))
        .mark_line(strokeDash=JOINED, strokeWidth=1.5, strokeOpacity=opacity)
        .encode(*dashes, alt.Detail("line:N"), alt.Order("prior:Q"))
    )


def _tooltip(*, named: bool) -> list[alt.Tooltip]:
    return [
        *([alt.Tooltip("line:N", title="curve")] if named else []),
        alt.Tooltip("prior:Q", title="prior", format=".3~p"),
        alt.Tooltip("threshold:N", title="call positive if score ≥"),
        alt.Tooltip("y:Q", title="recall (true positive rate)", format=".4f"),
        alt.Tooltip("x:Q", title="false positive rate", format=".4f"),
        alt.Tooltip("precision:Q", title="precision at the prior", format=".4f"),
    ]


def _behind(
    curve: pl.DataFrame, keys: Sequence[str], colours: Mapping[str, str] | None, opacity: float
) -> alt.Chart:
    drawn = straight_lines(curve, keys, "fpr", "tpr")
    names = "false positive rate", "true positive rate (recall)"
    lines = curves(data(drawn.records), drawn, *names, colours=colours)
    return lines.mark_line(strokeWidth=1, strokeOpacity=opacity)


def _check(priors: int, points: int) -> None:
    if priors > len(SHAPES):
        raise InvalidArgument(
            f"there are points at {priors} priors, allowed are {len(SHAPES)}.",
            hint="give the ends of a range and 0.5: priors=[0.1, 0.5, 0.9], not 'observed'.",
        )
    if points > MAX_POINTS:
        raise InvalidArgument(
            f"there are {points} points to draw, allowed are {MAX_POINTS}.",
            hint=FEWER_KEYS,
        )
