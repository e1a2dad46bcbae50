"""Chart of precision against recall."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc import rates
from polaroc.base.columns import GRID, as_lazy, require
from polaroc.base.private_columns import CHANCE, PANEL, private
from polaroc.charts.iso import IsoLines, iso_label_layers, iso_line_layer, iso_lines
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
from polaroc.charts.lines import PIXELS, Lines, straight_lines, thinned
from polaroc.charts.options import checked
from polaroc.charts.theme import GREY, SIZE, prior_label, with_captions, with_theme
from polaroc.charts.tooltips import curve_tooltips, tooltip_points
from polaroc.curves.mean import mean_pr, surface_keys
from polaroc.errors import InvalidArgument

COLUMNS = 2
INSERTED_POINTS = 100
# Distance of a hyperbola from its chord above which points are inserted, within the half
# pixel that `lines` allows in all.
MAX_CHORD_ERROR = 0.05 / PIXELS


@checked
def pr(
    surface: pl.LazyFrame | pl.DataFrame,
    title: str = "Precision-recall curves",
    iso: pl.LazyFrame | pl.DataFrame | None = None,
    *,
    band: str | Sequence[str] | pl.LazyFrame | pl.DataFrame | None = None,
    achievable: pl.LazyFrame | pl.DataFrame | None = None,
    colours: Mapping[str, str] | None = None,
) -> "alt.FacetChart":
    """Precision-recall curves, one panel per prior, one line per key.

    Parameters
    ----------
    surface
        The result of `surface`, with its column `precision`. The first key
        gives the colour.
    title
        Heading of the chart.
    iso
        Lines of equal precision, F or cost to draw behind, in the panels of
        their priors: the result of `iso_lines` with ``space="pr"``.
    band
        The key or keys, such as "fold", over which to draw the mean curve with a band
        of one standard deviation to either side, in place of single curves; or the
        result of `mean_pr`, for another band, or of `pr_band`, for the curves of one test
        set with theirs.
    achievable
        The result of `achievable` at the same priors, to draw dashed over the curves.
    colours
        From name to colour, as `palette` gives them, for the same in every chart.

    Returns
    -------
    altair.FacetChart
        Lines that follow the exact interpolation between ROC points (D&G §3),
        with the precision of chance, π, in each panel; thinned as in `roc`, more
        than 40 lines to within 1.6 pixels; each of several panels has 560 pixels, not 800.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a surface are missing; for more than 300 curves, iso
        lines or achievable curves at a prior that has no panel, or a `band` over
        folds that do not share their priors.

    See Also
    --------
    polaroc.surface : Every point of the curve at every prior.
    charts.roc : ROC curves.
    pr_band : A band that holds the whole true precision-recall curve.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> chart = curves.pipe(pr.surface, priors=[0.5, 0.1]).pipe(pr.charts.pr)
    >>> chart.to_dict()["title"]
    'Precision-recall curves'
    """
    lazy = as_lazy(surface)
    require(lazy, ("precision",), source="surface(...)")
    keys = surface_keys(lazy)
    # Collect together: both tables must come from the same rows.
    tables = _tables(lazy, keys, band)
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
    equal = IsoLines([], "") if iso is None else iso_lines(iso, "tpr", "precision", panels)
    kinds = {"curve": drawn.records, "overlay": above, "iso": equal.records, "tooltip": tooltips}
    base = data([{**line, "kind": kind} for kind, lines in kinds.items() for line in lines])
    by_kind = {kind: base.transform_filter(f"datum.kind === '{kind}'") for kind in kinds}
    chance = by_kind["curve"].mark_rule(color=GREY, strokeDash=[4, 4])
    layers = [
        *([iso_line_layer(by_kind["iso"])] if equal.records else []),
        chance.encode(alt.Y("mean(chance):Q")),
        *([] if band is None else [band_layer(by_kind["curve"], drawn, colours)]),
        curves(by_kind["curve"], drawn, "recall", "precision", panels=len(panels), colours=colours),
        *([overlay(by_kind["overlay"], drawn, colours)] if above else []),
        *(iso_label_layers(by_kind["iso"]) if equal.records else []),
        curve_tooltips(by_kind["tooltip"], keys, "tpr", "precision")
        if band is None
        else band_tooltips(
            by_kind["curve"], drawn, "recall", "precision", averaged="curves" in points.columns
        ),
    ]
    width = SIZE * _size(panels)
    captions = [caption, "dashed: achievable curve" if above else "", equal.caption]
    chart = alt.layer(*layers).properties(width=width, height=width)
    columns = min(COLUMNS, len(panels)) or 1
    return with_theme(
        in_panels(chart, panels, columns).properties(title=with_captions(title, captions))
    )


def _size(panels: Sequence[str]) -> float:
    """The size of a panel, as a share of a chart that stands alone."""
    return 1 if len(panels) == 1 else 0.7


def _tables(
    surface: pl.LazyFrame,
    keys: Sequence[str],
    band: str | Sequence[str] | pl.LazyFrame | pl.DataFrame | None,
) -> list[pl.LazyFrame]:
    """The points of the curves to draw; or of their means, and the priors of the curves."""
    if band is None:
        return [thinned(surface, [*keys, "prior"], "tpr", "precision", keep=["fpr", "skew"])]
    if isinstance(band, pl.DataFrame | pl.LazyFrame):
        return [band.lazy()]
    one_reading = surface.cache()
    return [mean_pr(one_reading, band), one_reading.select(*keys, "prior").unique()]


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
    placed = points.with_columns(
        panels_of(points, keys).alias(PANEL), pl.col("prior").round_sig_figs(3).alias(CHANCE)
    )
    ordered = placed.sort("prior", descending=True, maintain_order=True)
    panels = ordered[PANEL].unique(maintain_order=True).to_list()
    const = ["prior", PANEL, CHANCE]
    drawn = straight_lines(
        _interpolated(ordered, [*keys, "prior"]), keys, "tpr", "precision", const, _size(panels)
    )
    precision = rates.precision(pl.col("tpr"), pl.col("fpr"), pl.col("skew"))
    exact = placed.with_columns(precision.alias("precision"))
    tooltips = tooltip_points(exact, keys, "tpr", "precision", const=["prior", PANEL])
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
    return straight_lines(labelled, keys, "tpr", "precision", const=["prior", PANEL]).records


def _interpolated(points: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The points, with more inserted where the hyperbola between two ROC points is visibly curved.

    They are evenly spaced in recall and, in addition, in precision, since the hyperbola may
    be steep at one end and flat at the other.
    """
    row, step, along = (private(name) for name in ("row", "step", "share"))
    before = [pl.col(name).shift(1).over(keys).alias(private(name)) for name in ("tpr", "fpr")]
    t0, f0, t1, f1 = (pl.col(name) for name in (private("tpr"), private("fpr"), "tpr", "fpr"))
    skewed = pl.col("skew")
    called = t0 + skewed * f0
    steps = [step / (INSERTED_POINTS + 1) for step in range(1, INSERTED_POINTS + 1)]
    ends = [rates.precision(t0, f0, skewed), rates.precision(t1, f1, skewed)]
    # Bound on the chord error: the greatest second derivative, at the start, times dt²/8, but
    # at most the height and width of the segment.
    rise, called_rise = t1 - t0, (t1 - t0) + skewed * (f1 - f0)
    bend = called_rise * (rise * called - called_rise * t0).abs() / (4 * called**3)
    bends = (called > 0) & (
        pl.min_horizontal(bend, rise, (ends[1] - ends[0]).abs()) > MAX_CHORD_ERROR
    )
    level = ends[0] + pl.col(step) * (ends[1] - ends[0])
    at_level = (level * called - t0) / ((t1 - t0) - level * (t1 - t0 + skewed * (f1 - f0)))
    share = pl.col(along)
    t, f = t0 + share * (t1 - t0), f0 + share * (f1 - f0)
    placed = points.with_row_index(row).with_columns(before)
    interpolated = placed.filter(bends).join(pl.DataFrame({step: steps}), how="cross")
    added = (
        pl.concat(
            [
                interpolated.with_columns(pl.col(step).alias(along)),
                interpolated.with_columns(at_level.alias(along)),
            ]
        )
        .filter((share > 0) & (share < 1))
        .with_columns(t.alias("tpr"), rates.precision(t, f, skewed).alias("precision"))
        .drop(step)
    )
    curve_points = placed.with_columns(pl.lit(1.0).alias(along))
    return pl.concat([curve_points, added]).sort(row, along)
