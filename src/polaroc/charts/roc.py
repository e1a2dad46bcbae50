"""Charts of ROC curves."""

from typing import TYPE_CHECKING

import polars as pl

from polaroc.charts.iso import iso_label_layers, iso_line_layer, iso_lines
from polaroc.charts.layers import chance_diagonal, curves, data
from polaroc.charts.lines import straight_lines, thinned
from polaroc.charts.theme import SIZE, finished
from polaroc.columns import as_lazy, curve_keys

if TYPE_CHECKING:
    import altair as alt


def roc(
    curve: pl.LazyFrame | pl.DataFrame,
    title: str = "ROC curves",
    iso: pl.LazyFrame | pl.DataFrame | None = None,
) -> "alt.LayerChart":
    """ROC curves: true against false positive rate, one line per key.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`. The first key gives the colour; keys
        without positives or without negatives have no curve.
    title
        Heading of the chart.
    iso
        Lines of equal precision, F or cost to draw behind, at one prior: the
        result of `iso_lines`.

    Returns
    -------
    altair.LayerChart
        The lines over the chance diagonal, drawn through as few points as keep
        every point of the curve within half a pixel at 800 pixels.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a curve are missing; for more than 300 curves.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> pr.charts.roc(curves).to_dict()["title"]
    'ROC curves'
    """
    import altair as alt

    lazy = as_lazy(curve)
    keys = curve_keys(lazy)
    drawn = straight_lines(thinned(lazy, keys, "fpr", "tpr"), keys, "fpr", "tpr")
    rocs = curves(data(drawn.records), drawn, "false positive rate", "true positive rate (recall)")
    layers: list[alt.Chart] = [chance_diagonal(), rocs]
    heading: str | alt.TitleParams = title
    if iso is not None:
        equal = iso_lines(iso, "fpr", "tpr")
        labels = iso_label_layers(data(equal.labels))
        layers = [iso_line_layer(data(equal.records)), *layers, *labels]
        heading = alt.TitleParams(title, subtitle=equal.caption)
    return finished(alt.layer(*layers).properties(width=SIZE, height=SIZE, title=heading))
