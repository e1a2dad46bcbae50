"""Panels by prior."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from polaroc.charts.theme import prior_label

if TYPE_CHECKING:
    import altair as alt

WIDE = 3
# Pixels between two panels: the last label of one axis and the first of the next keep apart.
APART = 26


def columns_of(panels: int) -> int:
    """How many panels stand side by side: as many as leave few places empty.

    Examples
    --------
    >>> [columns_of(panels) for panels in (1, 2, 3, 4, 5)]
    [1, 2, 3, 2, 3]
    """
    return 2 if panels == WIDE + 1 else max(1, min(WIDE, panels))


def panels_of(points: pl.DataFrame, keys: Sequence[str]) -> pl.Expr:
    """The panel of each row: its prior, or "observed" where keys have their own."""
    curves = points.select(keys).n_unique() if keys else 1
    sharing = points.select(*keys, "prior").unique().group_by("prior").len()
    shared = sharing.filter(pl.col("len") == curves)["prior"].implode()
    panel = pl.when(pl.col("prior").is_in(shared)).then(prior_label(pl.col("prior")))
    return panel.otherwise(pl.lit("π as observed"))


def in_panels(
    layers: "alt.LayerChart | alt.FacetChart", panels: Sequence[str], columns: int
) -> "alt.FacetChart":
    """The layers once per panel, of which the records name theirs; all share one table."""
    import altair as alt

    facet = alt.Facet("panel:N", sort=list(panels), title=None)
    chart = layers.facet(facet, columns=columns, spacing=APART)
    # Shared axes would be drawn below empty panels.
    return chart.resolve_axis(x="independent", y="independent") if len(panels) % columns else chart
