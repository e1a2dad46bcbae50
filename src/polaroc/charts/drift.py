"""Charts of operating points that move with the prior."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import as_lazy, curve_keys, require
from polaroc.base.names import key_text
from polaroc.charts.layers import chance_diagonal, curves, data, finished
from polaroc.charts.libraries import alt
from polaroc.charts.lines import DIGITS, FEWER_KEYS, straight_lines, thinned
from polaroc.charts.options import checked
from polaroc.charts.theme import prior_label, share_axis, style
from polaroc.curves.whole import whole_curves
from polaroc.errors import Hint, InvalidArgument
from polaroc.thresholds.operating_points import POINTS

SHAPES = ("triangle-up", "circle", "square", "diamond", "cross", "triangle-down")
MAX_POINTS = 1_000
MEAN_CAPTION = (
    "small: each {}; large: their mean, joined from the lowest share of positives to the highest"
)
SINGLE_CAPTION = (
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
) -> "alt.LayerChart":
    """Operating points at several priors in ROC space, as in AccSens Fig. 3.

    Parameters
    ----------
    points
        The result of `operating_points` at up to six priors, such as the ends of a
        range and 0.5, where the balanced point is that of equal error. The first key
        gives the colour, the prior the shape. Keys without a point have none.
    curve
        The result of `curve`, of which to draw the ROC curves behind.

    Returns
    -------
    altair.LayerChart
        The points on axes from 0 to 1, those of the lowest and the highest prior
        joined. Where a colour has several curves, such as folds, these are pale and
        small, and their means large and joined.

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
        roc = whole_curves(curve)
        roc_keys = curve_keys(roc)
        tables.append(thinned(roc, roc_keys, "fpr", "tpr"))
    drawn, *lines_behind = pl.collect_all(tables)
    priors = drawn.select("prior", "label").unique().sort("prior")["label"].to_list()
    _check(len(priors), drawn.height)
    first, *others = keys or [""]
    series = drawn["series"].unique(maintain_order=True).to_list()
    shade, *dashes = style(series, first, colours)
    shape = alt.Shape(
        "label:N",
        scale=alt.Scale(domain=priors, range=list(SHAPES[: len(priors)])),
        legend=alt.Legend(title=None, symbolFillColor="#555555", symbolOpacity=1),
    )
    single = _placed(drawn, shade)
    tooltip = _tooltip("curve" if keys else None)
    behind = [_behind(lines, roc_keys, colours) for lines in lines_behind]
    if drawn.select("series", "line").n_unique() == len(series):
        marks = single.mark_point(filled=True, size=110, opacity=1, stroke="white", strokeWidth=1)
        layers = [
            *behind,
            _joined(single, priors, dashes, 1.5),
            marks.encode(shape, tooltip=tooltip),
        ]
        subtitle = SINGLE_CAPTION
    else:
        mean = _placed(_means(drawn), shade)
        pale = single.mark_point(filled=True, size=24, opacity=0.35, strokeWidth=0)
        bold = mean.mark_point(filled=True, size=150, opacity=1, stroke="white", strokeWidth=1.5)
        layers = [
            *(lines.mark_line(strokeWidth=0.5, strokeOpacity=0.2) for lines in behind),
            pale.encode(shape, tooltip=tooltip),
            _joined(mean, priors, dashes, 2),
            bold.encode(shape, tooltip=_tooltip(f"mean of {first}", mean=True)),
        ]
        subtitle = MEAN_CAPTION.format(" · ".join(others))
    return finished([chance_diagonal(), *layers], title, [subtitle])


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
            pl.format("{}", pl.col("threshold").round_sig_figs(6)).alias("threshold"),
        )
    )


def _means(drawn: pl.DataFrame) -> pl.DataFrame:
    """The means of a colour's points, at the priors where all its curves have one."""
    return (
        drawn.group_by("series", "label", "prior", maintain_order=True)
        .agg(pl.len(), pl.col("x", "y").mean().round(DIGITS))
        .filter(pl.col("len") == pl.col("len").max().over("series"))
        .with_columns(pl.col("series").alias("line"))
    )


def _placed(points: pl.DataFrame, shade: "alt.Color | alt.StrokeDash") -> "alt.Chart":
    """Points in the colour of their series."""
    return data(points.to_dicts()).encode(
        alt.X("x:Q", **share_axis("false positive rate")),
        alt.Y("y:Q", **share_axis("true positive rate (recall)")),
        shade,
    )


def _joined(
    points: "alt.Chart", priors: Sequence[str], dashes: Sequence[Any], width: float
) -> "alt.Chart":
    """Lines from the lowest share of positives to the highest, dashed where colours repeat."""
    ends = [priors[0], priors[-1]] if priors else []
    return (
        points.transform_filter(alt.FieldOneOfPredicate("label", ends))
        .mark_line(strokeDash=JOINED, strokeWidth=width)
        .encode(*dashes, alt.Detail("line:N"), alt.Order("prior:Q"))
    )


def _tooltip(name: str | None, *, mean: bool = False) -> list["alt.Tooltip"]:
    """Tooltip of a point; a mean has no threshold and no precision."""
    named = [] if name is None else [alt.Tooltip("line:N", title=name)]
    at_prior = alt.Tooltip("prior:Q", title="prior", format=".3~p")
    rates = [
        alt.Tooltip("y:Q", title="recall (true positive rate)", format=".4f"),
        alt.Tooltip("x:Q", title="false positive rate", format=".4f"),
    ]
    if mean:
        return [*named, at_prior, *rates]
    threshold = alt.Tooltip("threshold:N", title="call positive if score ≥")
    precision = alt.Tooltip("precision:Q", title="precision at the prior", format=".4f")
    return [*named, at_prior, threshold, *rates, precision]


def _behind(
    curve: pl.DataFrame, keys: Sequence[str], colours: Mapping[str, str] | None
) -> "alt.Chart":
    drawn = straight_lines(curve, keys, "fpr", "tpr")
    names = "false positive rate", "true positive rate (recall)"
    lines = curves(data(drawn.records), drawn, *names, colours=colours)
    return lines.mark_line(strokeWidth=1, strokeOpacity=0.5)


def _check(priors: int, points: int) -> None:
    if priors > len(SHAPES):
        raise InvalidArgument(
            f"there are points at {priors} priors, allowed are {len(SHAPES)}.",
            hint=Hint(
                "give the ends of a range and 0.5: {priors}, not 'observed'.",
                priors=[0.1, 0.5, 0.9],
            ),
        )
    if points > MAX_POINTS:
        raise InvalidArgument(
            f"there are {points} points to draw, allowed are {MAX_POINTS}.",
            hint=FEWER_KEYS,
        )
