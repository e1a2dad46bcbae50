"""Chart of the differences of each two models with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.charts.layers import data, tooltips
from polaroc.charts.theme import GREY, INK, SIZE, measure_name, style, with_theme
from polaroc.charts.vega import alt, unchecked
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
AXIS = {"tickCount": 6, "format": ".4~g"}


@unchecked
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
        For anything but a `Comparison`; where `colours` lacks a model.

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
        which.strip(" ()"),
    ]
    panels = _models(comparison, colours), _forest(shown, comparison)
    return with_theme(alt.vconcat(*panels, spacing=24), title, captions)


def estimates_in_words(comparison: Comparison) -> str:
    """The name of the points and bars of each model."""
    interval = f"with its {100 * comparison.level:g} % interval"
    if comparison.target == "trained":
        return f"estimate {interval}"
    return f"mean over folds {interval}"


def _models(comparison: Comparison, colours: Mapping[str, str] | None) -> Any:
    """The estimate of each model with its interval and letters, in the colours of the models."""
    table = comparison.models
    names = [str(model) for model in table["model"]]
    records = _records(
        names, table.select(x="estimate", low="lower", high="upper"),
        letters=[shortened(text) for text in letters(comparison)],
    )  # fmt: skip
    series = [str(model) for model in table["model"].sort(nulls_last=True)]
    tint = style(series, "model", colours, points=True)[0].legend(None)
    across = alt.X(
        "x:Q", scale=alt.Scale(zero=False), title=measure_name(comparison.measure), axis=AXIS
    )
    base = data(records).encode(_rows(names))
    shown = {
        "x": ("estimate", ".4f"), "low": ("lower", ".4f"), "high": ("upper", ".4f"),
        "letters": ("letters", ""),
    }  # fmt: skip
    bars, points = _intervals(base, across, tooltips(names, shown, "model"), filled=True)
    text = base.mark_text(align="left", dx=10, fontSize=13, fontWeight="bold", color=INK)
    layers = (
        bars.encode(tint),
        points.encode(tint),
        text.encode(alt.XValue("width"), alt.Text("letters:N")),
    )
    return alt.layer(*layers).properties(width=SIZE, height=ROW * len(names))


def _forest(shown: pl.DataFrame, comparison: Comparison) -> Any:
    """The difference of each pair with its interval, and a line at zero."""
    models = [row[:2] for row in shown.rows()]
    names = [f"{a} − {b}" for a, b in models]
    if len(set(names)) < len(names):
        # Names with a minus would look alike.
        names = [f"{a!r} − {b!r}" for a, b in models]
    numbers = shown.select(
        x="difference", low="adjusted_lower", high="adjusted_upper", p="p_adjusted"
    )
    apart = shown.select(is_significant(comparison)).to_series().to_list()
    title = f"difference in {measure_name(comparison.measure)}: first minus second"
    base = data(_records(names, numbers, apart=apart)).encode(_rows(names))
    across = alt.X("x:Q", title=title, axis=AXIS)
    fields = {
        "x": ("difference", "+.4f"), "low": ("adjusted lower", "+.4f"),
        "high": ("adjusted upper", "+.4f"), "p": ("adjusted p", ".3~g"),
    }  # fmt: skip
    bars, points = _intervals(base, across, tooltips(names, fields, "pair"), stroke=INK)
    scale = alt.Scale(domain=[True, False], range=[INK, "white"])
    points = points.encode(alt.Fill("apart:N", scale=scale, legend=None))
    zero = data([{"x": 0}]).mark_rule(color=GREY, strokeDash=[4, 4]).encode(alt.X("x:Q"))
    layers = zero, bars.encode(alt.ColorValue(INK)), points
    return alt.layer(*layers).properties(width=SIZE, height=ROW * len(names))


def _records(names: Sequence[str], numbers: pl.DataFrame, **more: Sequence[Any]) -> list[Any]:
    """A record per row of a panel; null where a number has no place."""
    finite = numbers.select(pl.when(pl.all().is_finite()).then(pl.all()))
    columns = {"series": names, "line": names, **more}
    return finite.hstack([pl.Series(name, column) for name, column in columns.items()]).to_dicts()


def _intervals(
    base: alt.Chart, across: alt.X, tooltip: list[alt.Tooltip], **mark: Any
) -> tuple[alt.Chart, alt.Chart]:
    """Bars from `low` to `high`, and points at `x`."""
    low = across.copy()
    low.shorthand = "low:Q"
    bars = base.mark_rule(strokeWidth=2).encode(low, alt.X2("high:Q"), tooltip=tooltip)
    points = base.mark_point(size=80, opacity=1, strokeWidth=1.5, **mark)
    return bars, points.encode(across, tooltip=tooltip)


def _rows(names: list[str]) -> alt.Y:
    """An axis with a row per name."""
    axis = alt.Axis(labelLimit=340, ticks=False, domain=False, grid=True)
    return alt.Y("series:N", scale=alt.Scale(domain=names), axis=axis, title=None)
