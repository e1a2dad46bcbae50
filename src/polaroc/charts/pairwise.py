"""Chart of the differences of each two models with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import polars as pl

from polaroc.charts.layers import data
from polaroc.charts.libraries import alt
from polaroc.charts.options import checked
from polaroc.charts.theme import GREY, INK, SIZE, filled, measure_name, with_theme
from polaroc.errors import InvalidTable
from polaroc.models.comparison import (
    Comparison,
    first_pairs,
    interval_rule,
    is_significant,
    letters,
    shortened,
)

ROW = 24


@checked
def pairs(
    comparison: Comparison,
    title: str = "Which models differ",
    *,
    colours: Mapping[str, str] | None = None,
) -> alt.VConcatChart:
    """Models with letters, and each difference of two with its interval.

    Parameters
    ----------
    comparison
        The result of `compare`.
    title
        Heading of the chart.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.VConcatChart
        Above, the estimate of each model with its interval, the best first, and letters: models
        that share one do not differ significantly. Below, the difference of each pair, first minus
        second, with its adjusted interval and a line at zero; filled if the two models differ
        significantly, which is where that interval excludes zero. With more than 45 pairs, those of
        the best model are drawn first, the closest ahead, then those with the least p-values.

    Raises
    ------
    InvalidTable, InvalidArgument
        For anything but the table or the result that the chart shows; for an option outside
        what is allowed, and for more curves than can be told apart, 300 in most charts.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", over=(0.05, 0.20)
    ... )
    >>> chart = pr.charts.pairs(pr.compare(measures, test_train_ratio=0.25))
    >>> chart.to_dict()["title"]["subtitle"][0]
    'above: mean over folds with its 95 % interval'
    """
    if not isinstance(comparison, Comparison):
        raise InvalidTable(
            f"got a {type(comparison).__name__}, allowed is a Comparison.",
            hint="pass the result of compare(...).",
        )
    shown, which = first_pairs(comparison)
    captions = [
        f"above: {estimates_in_words(comparison)}",
        "models that share a letter do not differ significantly",
        *f"below: {interval_rule(comparison)} (filled)".split("; "),
    ]
    if which:
        captions.append(which.strip(" ()"))
    heading = alt.TitleParams(title, subtitle=captions)
    panels = _models(comparison, colours), _forest(shown, comparison)
    return with_theme(alt.vconcat(*panels, spacing=24).properties(title=heading))


def estimates_in_words(comparison: Comparison) -> str:
    """The name of the points and bars of each model."""
    interval = f"with its {100 * comparison.level:g} % interval"
    if comparison.target == "trained":
        return f"estimate {interval}"
    return f"mean over folds {interval}"


def _models(
    comparison: Comparison, colours: Mapping[str, str] | None
) -> alt.LayerChart | alt.FacetChart:
    """The estimate of each model and its letters, in the colours of the models."""
    models = comparison.models["model"]
    records = [
        {"series": str(model), "x": _finite(estimate), "low": _finite(lower),
         "high": _finite(upper), "letters": shortened(text)}
        for model, estimate, lower, upper, text in zip(
            models, *comparison.models.select("estimate", "lower", "upper"), letters(comparison),
            strict=True,
        )
    ]  # fmt: skip
    names = [str(model) for model in models]
    series = [str(model) for model in models.sort(nulls_last=True)]
    tint = filled(series, "model", "circle", colours)
    tint["legend"] = None
    tooltip = [
        alt.Tooltip("series:N", title="model"),
        alt.Tooltip("x:Q", title="estimate", format=".4f"),
        alt.Tooltip("low:Q", title="lower", format=".4f"),
        alt.Tooltip("high:Q", title="upper", format=".4f"),
        alt.Tooltip("letters:N"),
    ]
    rows = alt.Y("series:N", **_rows(names))
    across: dict[str, Any] = {
        "scale": alt.Scale(zero=False),
        "title": measure_name(comparison.measure),
        "axis": alt.Axis(tickCount=6, format=".4~g"),
    }
    base = data(records).encode(rows, tint, tooltip)
    bars = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", **across), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=90, opacity=1).encode(alt.X("x:Q", **across))
    text = (
        data(records)
        .mark_text(align="left", dx=10, fontSize=13, fontWeight="bold", color=INK)
        .encode(rows, alt.XValue("width"), alt.Text("letters:N"))
    )
    return alt.layer(bars, points, text).properties(width=SIZE, height=ROW * len(names))


def _forest(shown: pl.DataFrame, comparison: Comparison) -> alt.LayerChart | alt.FacetChart:
    """The difference of each pair with its interval, and a line at zero."""
    names = _pair_names(shown)
    columns = ["difference", "adjusted_lower", "adjusted_upper", "p_adjusted"]
    significant = shown.select(is_significant(comparison)).to_series()
    records = [
        {"pair": name, "x": _finite(difference), "low": _finite(lower), "high": _finite(upper),
         "p": _finite(p), "apart": is_apart}
        for name, (difference, lower, upper, p), is_apart in zip(
            names, shown.select(columns).rows(), significant, strict=True
        )
    ]  # fmt: skip
    tooltip = [
        alt.Tooltip("pair:N"),
        alt.Tooltip("x:Q", title="difference", format="+.4f"),
        alt.Tooltip("low:Q", title="adjusted lower", format="+.4f"),
        alt.Tooltip("high:Q", title="adjusted upper", format="+.4f"),
        alt.Tooltip("p:Q", title="adjusted p", format=".3~g"),
    ]
    across: dict[str, Any] = {
        "title": f"difference in {measure_name(comparison.measure)}: first minus second",
        "axis": alt.Axis(tickCount=6, format=".4~g"),
    }
    base = data(records).encode(alt.Y("pair:N", **_rows(names)), tooltip)
    bars = base.mark_rule(strokeWidth=1.5, color=INK).encode(
        alt.X("low:Q", **across), alt.X2("high:Q")
    )
    fill = alt.Fill(
        "apart:N", scale=alt.Scale(domain=[True, False], range=[INK, "white"]), legend=None
    )
    points = base.mark_point(size=80, stroke=INK, strokeWidth=1.5, opacity=1).encode(
        alt.X("x:Q", **across), fill
    )
    zero = data([{"x": 0}]).mark_rule(color=GREY, strokeDash=[4, 4]).encode(alt.X("x:Q"))
    return alt.layer(zero, bars, points).properties(width=SIZE, height=ROW * len(names))


def _rows(names: list[str]) -> dict[str, Any]:
    return {
        "scale": alt.Scale(domain=names),
        "axis": alt.Axis(labelLimit=340, ticks=False, domain=False, grid=True),
        "title": None,
    }


def _pair_names(pairs: pl.DataFrame) -> list[str]:
    """A name for each pair; quoted where names with a minus would look alike."""
    models = [row[:2] for row in pairs.rows()]
    names = [f"{a} − {b}" for a, b in models]
    return names if len(set(names)) == len(names) else [f"{a!r} − {b!r}" for a, b in models]


def _finite(value: float | None) -> float | None:
    """The value, None where Vega could not place it."""
    return value if value is not None and isfinite(value) else None
