"""Charts of ROC curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polaroc.base.columns import curve_keys
from polaroc.base.tables import as_polars
from polaroc.charts.layers import (
    band_layer,
    band_lines,
    band_tooltips,
    chance_diagonal,
    curves,
    data,
    finished,
    overlay,
)
from polaroc.charts.libraries import alt
from polaroc.charts.lines import refuse_many, straight_lines, thinned
from polaroc.charts.options import checked
from polaroc.charts.tooltips import curve_tooltips, tooltip_records, tooltip_rows
from polaroc.curves.mean import mean_curve
from polaroc.curves.whole import whole_curves


@checked
def roc(
    curve: pl.LazyFrame | pl.DataFrame,
    title: str = "ROC curves",
    *,
    band: str | Sequence[str] | pl.LazyFrame | pl.DataFrame | None = None,
    hull: pl.LazyFrame | pl.DataFrame | None = None,
    colours: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """ROC curves: true against false positive rate, one line per key.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`. The first key gives the colour; keys
        without positives or without negatives have no curve.
    title
        Heading of the chart.
    band
        The key or keys, such as "fold", over which to draw the mean curve with a band
        of one standard deviation to either side, in place of single curves; or the
        result of `mean_curve`, for another band.
    hull
        The result of `hull`, to draw dashed over the curves.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.LayerChart
        The lines over the chance diagonal, drawn through as few points as keep
        every point of the curve within half a pixel at 800 pixels, or within 1.3
        pixels where there are more than 40 lines.

    Raises
    ------
    InvalidTable, InvalidArgument
        For anything but the table or the result that the chart shows; for an option outside
        what is allowed, and for more curves than can be told apart, 300 in most charts.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> pr.charts.roc(curves).to_dict()["title"]
    'ROC curves'
    """
    table = as_polars(curve)
    keys = curve_keys(whole_curves(table))
    if band is None:
        refuse_many(table)
    layers: list[alt.Chart | alt.LayerChart] = [chance_diagonal()]
    captions = []
    names = "false positive rate", "true positive rate (recall)"
    # Collect together: both tables must come from the same rows.
    tables = [_drawn(table, keys, band)]
    others: list[str] = []
    if hull is not None:
        above = as_polars(hull)
        others = curve_keys(whole_curves(above))
        tables.append(thinned(above.lazy(), others, "fpr", "tpr"))
    points, *hulls = pl.collect_all(tables)
    if band is None:
        drawn = straight_lines(points, keys, "fpr", "tpr")
        records = tooltip_records(tooltip_rows(points, keys, "fpr", "tpr"), keys)
        tooltips = curve_tooltips(data(records), keys, "fpr", "tpr")
    else:
        drawn, caption = band_lines(points, "fpr", "tpr")
        captions.append(caption)
        layers.append(band_layer(data(drawn.records), drawn, colours))
        tooltips = band_tooltips(data(drawn.records), drawn, *names)
    layers.append(curves(data(drawn.records), drawn, *names, colours=colours))
    for outer in hulls:
        dashed = straight_lines(outer, others, "fpr", "tpr")
        layers.append(overlay(data(dashed.records), drawn, colours))
        captions.append("dashed: convex hull")
    return finished([*layers, tooltips], title, captions)


def _drawn(
    curve: pl.LazyFrame | pl.DataFrame,
    keys: Sequence[str],
    band: str | Sequence[str] | pl.LazyFrame | pl.DataFrame | None,
) -> pl.LazyFrame:
    """The points of the curves that are drawn, or of their means."""
    if band is None:
        return thinned(curve.lazy(), keys, "fpr", "tpr")
    if isinstance(band, pl.DataFrame | pl.LazyFrame):
        return band.lazy()
    return mean_curve(curve.lazy(), band)
