"""Chart of precision against recall."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from polaroc import rates
from polaroc.charts.iso import IsoLines, iso_label_layers, iso_line_layer, iso_lines
from polaroc.charts.layers import curves, data
from polaroc.charts.lines import straight_lines, thinned
from polaroc.charts.theme import GREY, SIZE, finished, prior_label
from polaroc.columns import CURVE, GRID, PRIVATE, as_lazy, require

if TYPE_CHECKING:
    import altair as alt

PANEL = PRIVATE + "panel"
CHANCE = PRIVATE + "chance"
BETWEEN = 100
WIDE_STEP = 1 / 800


def pr(
    surface: pl.LazyFrame | pl.DataFrame,
    title: str = "Precision-recall curves",
    iso: pl.LazyFrame | pl.DataFrame | None = None,
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

    Returns
    -------
    altair.FacetChart
        Lines that follow the exact interpolation between ROC points (D&G §3),
        with the precision of chance, π, in each panel; thinned as in `roc`.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a surface are missing; for more than 300 curves, or
        iso lines at a prior that has no panel.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> chart = curves.pipe(pr.surface, priors=[0.5, 0.1]).pipe(pr.charts.pr)
    >>> chart.to_dict()["title"]
    'Precision-recall curves'
    """
    import altair as alt

    lazy = as_lazy(surface)
    needed = (*CURVE, *GRID, "precision")
    keys = _keys_of_surface(lazy, require(lazy, needed, source="surface(...)"))
    told_apart = [*keys, "prior"]
    points = thinned(lazy, told_apart, "tpr", "precision", keep=["fpr", "skew"])
    bent = _interpolated(points, told_apart).with_columns(*_panels(points, keys))
    ordered = bent.sort("prior", descending=True, maintain_order=True)
    drawn = straight_lines(ordered, keys, "tpr", "precision", const=["prior", PANEL, CHANCE])
    panels = ordered[PANEL].unique(maintain_order=True).to_list()
    equal = IsoLines([], "") if iso is None else iso_lines(iso, "tpr", "precision", panels)
    # All layers of a facet share one table.
    base = data([*drawn.records, *equal.records])
    of_curves = base.transform_filter("!isValid(datum.iso)") if equal.records else base
    lines_drawn = curves(of_curves, drawn, "recall", "precision", panels=len(panels))
    chance = of_curves.mark_rule(color=GREY, strokeDash=[4, 4])
    layers = [chance.encode(alt.Y("mean(chance):Q")), lines_drawn]
    if equal.records:
        of_iso = base.transform_filter("isValid(datum.iso)")
        layers = [iso_line_layer(of_iso), *layers, *iso_label_layers(of_iso)]
    width = SIZE if len(panels) == 1 else 0.7 * SIZE
    heading = alt.TitleParams(title, subtitle=equal.caption) if equal.records else title
    return finished(
        alt.layer(*layers)
        .properties(width=width, height=width)
        .facet(alt.Facet("panel:N", sort=panels, title=None), columns=2)
        .properties(title=heading)
    )


def _keys_of_surface(frame: pl.LazyFrame, others: Sequence[str]) -> list[str]:
    """The keys of a surface, which appends prior, skew and any rates to its curve."""
    names = frame.collect_schema().names()
    return [name for name in others if names.index(name) < names.index("prior")]


def _panels(points: pl.DataFrame, keys: Sequence[str]) -> list[pl.Expr]:
    """The panel of each line, and its chance: a prior, or "observed" where keys have their own."""
    curves = points.select(keys).n_unique() if keys else 1
    sharing = points.select(*keys, "prior").unique().group_by("prior").len()
    shared = sharing.filter(pl.col("len") == curves)["prior"].implode()
    rounded = pl.col("prior").round_sig_figs(3)
    panel = pl.when(pl.col("prior").is_in(shared)).then(prior_label(pl.col("prior")))
    return [panel.otherwise(pl.lit("π as observed")).alias(PANEL), rounded.alias(CHANCE)]


def _interpolated(points: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Points added where the hyperbola between two ROC points could be seen to bend.

    They are spaced evenly in recall and again in precision, as the hyperbola may
    be steep at one end and flat at the other.
    """
    row, step, along = (PRIVATE + name for name in ("row", "step", "share"))
    before = [pl.col(name).shift(1).over(keys).alias(PRIVATE + name) for name in ("tpr", "fpr")]
    t0, f0, t1, f1 = (pl.col(name) for name in (PRIVATE + "tpr", PRIVATE + "fpr", "tpr", "fpr"))
    skewed = pl.col("skew")
    called = t0 + skewed * f0
    bends = (t1 - t0 > WIDE_STEP) & (called > 0)
    steps = [step / (BETWEEN + 1) for step in range(1, BETWEEN + 1)]
    ends = [rates.precision(t0, f0, skewed), rates.precision(t1, f1, skewed)]
    level = ends[0] + pl.col(step) * (ends[1] - ends[0])
    at_level = (level * called - t0) / ((t1 - t0) - level * (t1 - t0 + skewed * (f1 - f0)))
    share = pl.col(along)
    t, f = t0 + share * (t1 - t0), f0 + share * (f1 - f0)
    placed = points.with_row_index(row).with_columns(before)
    bent = placed.filter(bends).join(pl.DataFrame({step: steps}), how="cross")
    added = (
        pl.concat(
            [bent.with_columns(pl.col(step).alias(along)), bent.with_columns(at_level.alias(along))]
        )
        .filter((share > 0) & (share < 1))
        .with_columns(t.alias("tpr"), rates.precision(t, f, skewed).alias("precision"))
        .drop(step)
    )
    whole = placed.with_columns(pl.lit(1.0).alias(along))
    return pl.concat([whole, added]).sort(row, along)
