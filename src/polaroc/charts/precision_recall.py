"""Chart of precision against recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from polaroc import rates
from polaroc.base.columns import CURVE, GRID, as_lazy, require
from polaroc.base.private_columns import CHANCE, PANEL
from polaroc.base.tables import as_polars
from polaroc.charts.layers import (
    band_layer,
    band_lines,
    band_tooltips,
    curves,
    data,
    in_panels,
    overlay,
    panels_of,
)
from polaroc.charts.libraries import alt
from polaroc.charts.lines import (
    DIGITS,
    MANY_LINES,
    PIXELS,
    STRAIGHT,
    Lines,
    line_starts,
    lines,
    moved_back,
    refuse_many,
    steps_between,
    straight_lines,
    straightened,
    thinned,
)
from polaroc.charts.options import checked
from polaroc.charts.theme import GREY, SIZE, prior_label, with_captions, with_theme
from polaroc.charts.tooltips import curve_tooltips, tooltip_records, tooltip_rows
from polaroc.curves.mean import mean_curve
from polaroc.curves.surface import surface as make_surface
from polaroc.curves.surface import surface_keys
from polaroc.errors import InvalidArgument
from polaroc.typing import Array

COLUMNS = 2
# How far apart points stand along a hyperbola, within the half pixel that `lines` allows in all.
STEP, STEP_OF_MANY = 0.05 / PIXELS, 0.2 / PIXELS
# Of the 1.6 pixels of many lines, all but what rounding and chords take, and what thinning takes of
# a chart that stands alone.
STRAIGHT_OF_MANY, THINNED_OF_MANY = 1.34, 0.75


@checked
def pr(
    surface: pl.LazyFrame | pl.DataFrame,
    title: str = "Precision-recall curves",
    *,
    band: str | Sequence[str] | pl.LazyFrame | pl.DataFrame | None = None,
    achievable: pl.LazyFrame | pl.DataFrame | None = None,
    colours: Mapping[str, str] | None = None,
) -> alt.FacetChart:
    """Precision-recall curves, one panel per prior, one line per key.

    Parameters
    ----------
    surface
        The result of `surface`, with its column `precision`; or that of `curve`, which is drawn
        at the share of positives among its cases. The first key gives the colour.
    title
        Heading of the chart.
    band
        The key or keys, such as "fold", over which to draw the mean curve with a band
        of one standard deviation to either side, in place of single curves; or the
        result of `mean_curve`, for another band.
    achievable
        The result of `achievable` at the same priors, to draw dashed over the curves.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.FacetChart
        Lines that follow the exact interpolation between ROC points (D&G §4),
        with the precision of chance, π, in each panel; thinned as in `roc`, more
        than 40 lines to within 1.6 pixels; each of several panels has 560 pixels, not 800.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a surface are missing; for more than 300 curves,
        achievable curves at a prior that has no panel, or a `band` over folds that
        do not share their priors.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> chart = curves.pipe(pr.surface, priors=[0.5, 0.1]).pipe(pr.charts.pr)
    >>> chart.to_dict()["title"]
    'Precision-recall curves'
    """
    given = as_polars(surface)
    table = _at_own_prior(given)
    require(table.lazy(), ("precision",), source="surface(...)")
    keys = surface_keys(table.lazy())
    if band is None:
        refuse_many(given)
    # Collect together: both tables must come from the same rows.
    tables = _tables(table, keys, band)
    outer_keys: list[str] = []
    if achievable is not None:
        outer = as_lazy(achievable)
        outer_keys = require(outer, (*GRID, "tpr", "fpr", "precision"), source="achievable(...)")
        tables.append(outer.with_columns(prior_label(pl.col("prior")).alias(PANEL)))
    points, *others = pl.collect_all(tables)
    if band is None:
        drawn, panels, tooltips = _curves(points, keys)
        caption = ""
    else:
        if not isinstance(band, pl.DataFrame | pl.LazyFrame):
            _refuse_other_priors(others.pop(0), keys, band)
        drawn, panels, caption = _means(points)
        tooltips = []
    above = [] if achievable is None else _achievable(others[0], outer_keys, panels)
    kinds = {"curve": drawn.records, "overlay": above, "tooltip": tooltips}
    base = data([{**line, "kind": kind} for kind, lines in kinds.items() for line in lines])
    by_kind = {kind: base.transform_filter(f"datum.kind === '{kind}'") for kind in kinds}
    chance = by_kind["curve"].mark_rule(color=GREY, strokeDash=[4, 4])
    layers = [
        chance.encode(alt.Y("mean(chance):Q")),
        *([] if band is None else [band_layer(by_kind["curve"], drawn, colours)]),
        curves(by_kind["curve"], drawn, "recall", "precision", panels=len(panels), colours=colours),
        *([overlay(by_kind["overlay"], drawn, colours)] if above else []),
        curve_tooltips(by_kind["tooltip"], keys, "tpr", "precision")
        if band is None
        else band_tooltips(by_kind["curve"], drawn, "recall", "precision"),
    ]
    width = SIZE * _size(panels)
    captions = [caption, "dashed: achievable curve" if above else ""]
    chart = alt.layer(*layers).properties(width=width, height=width)
    columns = min(COLUMNS, len(panels)) or 1
    return with_theme(
        in_panels(chart, panels, columns).properties(title=with_captions(title, captions))
    )


def _at_own_prior(table: pl.LazyFrame | pl.DataFrame) -> pl.LazyFrame | pl.DataFrame:
    """A surface as it is; a curve at the prior of its cases."""
    names = table.lazy().collect_schema().names()
    if "precision" in names or not {*CURVE} <= {*names}:
        return table
    return make_surface(table.lazy(), "observed")


def _size(panels: Sequence[str]) -> float:
    """The size of a panel, as a share of a chart that stands alone."""
    return 1 if len(panels) == 1 else 0.7


def _tables(
    surface: pl.LazyFrame | pl.DataFrame,
    keys: Sequence[str],
    band: str | Sequence[str] | pl.LazyFrame | pl.DataFrame | None,
) -> list[pl.LazyFrame]:
    """The points of the curves to draw; or of their means, and the priors of the curves."""
    if band is None:
        kept = ["fpr", "skew"]
        return [thinned(surface.lazy(), ["prior", *keys], "tpr", "precision", kept)]
    if isinstance(band, pl.DataFrame | pl.LazyFrame):
        return [band.lazy()]
    one_reading = surface.lazy().cache()
    return [mean_curve(one_reading, band), one_reading.select(*keys, "prior").unique()]


def _refuse_other_priors(
    seen: pl.DataFrame, keys: Sequence[str], band: str | Sequence[str]
) -> None:
    if seen.height < seen["prior"].n_unique() * seen.select(keys).n_unique():
        raise InvalidArgument(
            f"band is {band!r}, but the curves to average are not all at the same priors.",
            hint="give priors that all share, not 'observed'.",
        )


def _curves(
    points: pl.DataFrame, keys: Sequence[str]
) -> tuple[Lines, list[str], list[dict[str, Any]]]:
    """Curves as lines, their panels, and records of tooltips."""
    starts = line_starts(points, ["prior", *keys])
    named = points[starts[:-1]].select(*keys, "prior")
    named = named.with_columns(
        panels_of(named, keys).alias(PANEL), pl.col("prior").round_sig_figs(3).alias(CHANCE)
    )
    panels = named.sort("prior", descending=True)[PANEL].unique(maintain_order=True).to_list()
    size = _size(panels)
    line = np.repeat(np.arange(named.height), np.diff(starts))
    few = named.height <= MANY_LINES
    x, y, line = _filled_in(points, line, STEP if few else STEP_OF_MANY)
    starts = np.searchsorted(line, np.arange(named.height + 1))
    tolerance = STRAIGHT / size if few else STRAIGHT_OF_MANY / size - THINNED_OF_MANY
    kept = straightened(x, y, starts=starts, tolerance=tolerance)
    straight = named[line[kept]].with_columns(
        pl.Series("tpr", x[kept]).round(DIGITS), pl.Series("precision", y[kept]).round(DIGITS)
    )
    by_line = [False] * len(keys)
    ordered = straight.sort(
        "prior", *keys, descending=[True, *by_line], nulls_last=True, maintain_order=True
    )
    drawn = lines(ordered, keys, "tpr", "precision", ["prior", PANEL, CHANCE])
    shown = tooltip_rows(points, ["prior", *keys], "tpr", "precision")
    exact = rates.precision(pl.col("tpr"), pl.col("fpr"), pl.col("skew")).alias("precision")
    labelled = shown.join(named, on=["prior", *keys], nulls_equal=True, maintain_order="left")
    by_curve = labelled.sort(*keys, "prior", nulls_last=True, maintain_order=True)
    tooltips = tooltip_records(by_curve.with_columns(exact), keys, const=["prior", PANEL])
    return drawn, panels, tooltips


def _means(table: pl.DataFrame) -> tuple[Lines, list[str], str]:
    """The mean curves as lines, the panels they are in, and a caption."""
    label = prior_label(pl.col("prior")).alias(PANEL)
    chance = pl.col("prior").round_sig_figs(3).alias(CHANCE)
    means = table.sort("prior", descending=True, maintain_order=True).with_columns(label, chance)
    const = ["prior", PANEL, CHANCE]
    drawn, caption = band_lines(means, "tpr", "precision", const)
    return drawn, means[PANEL].unique(maintain_order=True).to_list(), caption


def _achievable(
    labelled: pl.DataFrame, keys: Sequence[str], panels: Sequence[str]
) -> list[dict[str, Any]]:
    """Records of achievable curves, each in the panel of its prior."""
    unknown = [name for name in labelled[PANEL].unique() if name not in panels]
    if unknown:
        raise InvalidArgument(
            f"achievable has curves at {', '.join(unknown)}; the panels are {', '.join(panels)}.",
            hint="make them at the priors of the surface.",
        )
    ordered = labelled.sort(*keys, "prior", nulls_last=True, maintain_order=True)
    return straight_lines(ordered, keys, "tpr", "precision", const=["prior", PANEL]).records


def _filled_in(points: pl.DataFrame, line: Array, step: float) -> tuple[Array, Array, Array]:
    """Recall, precision and line of the points, and of more where precision bends between two."""
    t, f, skew, y = (points[name].to_numpy() for name in ("tpr", "fpr", "skew", "precision"))
    height = np.abs(np.diff(y, prepend=y[:1])) * (np.diff(line, prepend=-1) == 0)
    row, before = steps_between(t, height, step)
    recall, alarms = (moved_back(axis, row, before) for axis in (t, f))
    with np.errstate(invalid="ignore"):
        exact = rates.precision(recall, alarms, skew[row])
    return recall, np.where(before > 0, exact, y[row]), line[row]
