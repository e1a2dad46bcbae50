"""Tooltips along curves, on invisible points."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import PRIVATE
from polaroc.charts.libraries import alt
from polaroc.charts.lines import groups_of, name_of
from polaroc.charts.saving import INVISIBLE_LAYER
from polaroc.typing import Array

# Points per curve and in all, which keeps charts small, and the area of a point in square
# pixels.
PER_CURVE, IN_ALL, AREA = 60, 1_500, 150
RATE_DIGITS, SCORE_DIGITS = 4, 6
RATES = ("fpr", "tpr", "precision")


def tooltip_points(
    points: pl.DataFrame, keys: Sequence[str], x: str, y: str, const: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Records of points along each curve, as arrays of thresholds and rates."""
    groups = groups_of(points.filter(pl.col("threshold").is_not_null()), [*keys, *const])
    most = min(PER_CURVE, IN_ALL // max(1, len(groups)))
    records = []
    for group in groups:
        spaced = group[_evenly_spaced(group[x].to_numpy(), group[y].to_numpy(), most)]
        scores = spaced["threshold"].round_sig_figs(SCORE_DIGITS)
        records.append(
            {
                "line": name_of(group, keys) if group.height else "",
                "threshold": in_json(scores),
                **{
                    rate: spaced[rate].round_sig_figs(RATE_DIGITS).to_list()
                    for rate in RATES
                    if rate in spaced.columns
                },
                **{name.removeprefix(PRIVATE): group[name][0] for name in const},
            }
        )
    return records


def in_json(scores: pl.Series) -> list[float | str | None]:
    """Scores for JSON, which has no infinity."""
    return [
        score if score is None or isfinite(score) else "∞" if score > 0 else "−∞"
        for score in scores
    ]


def tooltip_layer(
    base: "alt.Chart", x: str, y: str, tooltip: Sequence["alt.Tooltip"], arrays: Sequence[str]
) -> "alt.Chart":
    """Invisible points with tooltips, the top layer; `base` holds their records."""
    return (
        base.transform_flatten(list(arrays))
        .mark_point(filled=True, size=AREA, opacity=0, aria=False)
        .encode(alt.X(f"{x}:Q"), alt.Y(f"{y}:Q"), tooltip=list(tooltip))
        .properties(name=INVISIBLE_LAYER)
    )


def curve_tooltips(base: "alt.Chart", keys: Sequence[str], x: str, y: str) -> "alt.Chart":
    """The layer of the records of `tooltip_points`, with the prior where precision is drawn."""
    at_prior = y == "precision"
    tooltip = [
        *([alt.Tooltip("line:N", title="curve")] if keys else []),
        alt.Tooltip("threshold:N", title="call positive if score ≥"),
        alt.Tooltip("tpr:Q", title="recall (true positive rate)", format=".4f"),
        alt.Tooltip("fpr:Q", title="false positive rate", format=".4~g"),
    ]
    if at_prior:
        tooltip += [
            alt.Tooltip("precision:Q", format=".4f"),
            alt.Tooltip("prior:Q", title="at a prior of", format=".3~p"),
        ]
    return tooltip_layer(base, x, y, tooltip, ["threshold", *RATES[: 2 + at_prior]])


def _evenly_spaced(x: "Array", y: "Array", most: int) -> "Array":
    """Indices of a limited number of points, evenly spaced along the line."""
    along = np.cumsum(np.hypot(np.diff(x, prepend=x[:1]), np.diff(y, prepend=y[:1])))
    length = along[-1] if along[-1:].any() else 1
    place = np.minimum(along * most // length, most - 1)
    return np.flatnonzero(np.diff(place, prepend=-1))
