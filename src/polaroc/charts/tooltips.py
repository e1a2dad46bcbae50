"""Tooltips along curves, on invisible points."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import polars as pl

from polaroc.base.columns import within
from polaroc.base.private_columns import PLACE, PRIVATE
from polaroc.charts.libraries import alt
from polaroc.charts.lines import groups_of, name_of

# Points per curve and in all, which keeps charts small, and the area of a point in square
# pixels.
PER_CURVE, IN_ALL, AREA = 60, 1_500, 150
RATE_DIGITS = 4
SHOWN_RATES = ("fpr", "tpr", "precision")


def tooltip_rows(points: pl.DataFrame, names: Sequence[str], x: str, y: str) -> pl.DataFrame:
    """A limited number of points of each line, evenly spaced along it, none without a threshold."""
    known = points.drop_nulls("threshold")
    most = min(PER_CURVE, IN_ALL // max(1, known.select(names).n_unique() if names else 1))
    steps = (pl.col(x).diff() ** 2 + pl.col(y).diff() ** 2).sqrt().fill_null(0)
    along = steps.cum_sum()
    share = (along / along.max()).fill_nan(0) * most
    place = within(share.floor().clip(upper_bound=most - 1), names).alias(PLACE)
    spaced = known.with_columns(place).unique([*names, PLACE], keep="first", maintain_order=True)
    return spaced.drop(PLACE)


def tooltip_records(
    rows: pl.DataFrame, keys: Sequence[str], const: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Records of rows, one for each curve; `const` are the same along one."""
    shown = [name for name in SHOWN_RATES if name in rows.columns]
    rounded = rows.with_columns(pl.col(shown).round_sig_figs(RATE_DIGITS))
    return [
        {
            "line": name_of(group, keys) if group.height else "",
            "threshold": in_json(group["threshold"]),
            **{name: group[name].to_list() for name in shown},
            **{name.removeprefix(PRIVATE): group[name][0] for name in const},
        }
        for group in groups_of(rounded, [*keys, *const])
    ]


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
    )


def curve_tooltips(base: "alt.Chart", keys: Sequence[str], x: str, y: str) -> "alt.Chart":
    """The layer of the records of `tooltip_records`, with the prior where precision is drawn."""
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
    return tooltip_layer(base, x, y, tooltip, ["threshold", *SHOWN_RATES[: 2 + at_prior]])
