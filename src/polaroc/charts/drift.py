"""Charts of operating points that move with the prior."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from polaroc.base.columns import as_lazy, curve_keys, require
from polaroc.base.tables import as_polars
from polaroc.charts.layers import chance_diagonal, data, line_layer, tooltips
from polaroc.charts.libraries import alt, unchecked
from polaroc.charts.lines import FEWER_KEYS, lines, named_rows, series_of
from polaroc.charts.theme import DARK, SIZE, prior_label, share_axis, style, with_theme
from polaroc.charts.thinning import line_points, thinned
from polaroc.curves.whole import whole_curves
from polaroc.errors import InvalidArgument
from polaroc.thresholds.operating_points import POINTS

SHAPES = ("triangle-up", "circle", "square", "diamond", "cross", "triangle-down")
MAX_POINTS = 1_000
CAPTION = (
    "straight: from the lowest share of positives to the highest; Sens is that distance over √2"
)
SHOWN = {
    "prior": ("prior", ".3~p"),
    "threshold": ("call positive if score ≥", ""),
    "y": ("recall (true positive rate)", ".4f"),
    "x": ("false positive rate", ".4f"),
    "precision": ("precision at the prior", ".4f"),
}


@unchecked
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
    keys = require(as_lazy(points), POINTS, source="operating_points(...)")
    # Collect together: both tables must come from the same rows.
    plans, curve_names = [as_lazy(points)], []
    if curve is not None:
        whole = whole_curves(as_polars(curve))
        curve_names = curve_keys(whole)
        plans.append(thinned(whole, curve_names, "fpr", "tpr"))
    table, *curves = pl.collect_all(plans)
    known = table.drop_nulls(["tpr", "prior"]).sort(*keys, "prior", nulls_last=True)
    drawn = named_rows(
        known,
        keys,
        prior_label(pl.col("prior")).alias("label"),
        pl.col("prior"),
        pl.col("fpr").alias("x"),
        pl.col("tpr").alias("y"),
        pl.col("precision"),
        pl.format("{}", pl.col("threshold")).alias("threshold"),
    )
    priors = drawn.sort("prior")["label"].unique(maintain_order=True).to_list()
    _check(len(priors), drawn.height)
    channels = style(series_of(known, keys), keys[0] if keys else "", colours)
    shape = alt.Shape(
        "label:N",
        scale=alt.Scale(domain=priors, range=list(SHAPES[: len(priors)])),
        legend=alt.Legend(title=None, symbolFillColor=DARK, symbolOpacity=1),
    )
    axes = (
        alt.X("x:Q", **share_axis("false positive rate")),
        alt.Y("y:Q", **share_axis("recall (true positive rate)")),
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
        records = lines(line_points(rows, curve_names, ["fpr", "tpr"]), curve_names, "fpr", "tpr")
        pale = {"strokeWidth": 1, "strokeOpacity": opacity / 2}
        behind = line_layer(data(records, "x", "y"), records, *axes, *channels, **pale)
        layers.insert(1, behind)
    return with_theme(alt.layer(*layers).properties(width=SIZE, height=SIZE), title, [CAPTION])


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
