"""Chart of the best model at each prior."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.private_columns import HIGH, LEFT, LOW, RIGHT, SHARE
from polaroc.charts.chosen import WIDTH, of_choice
from polaroc.charts.layers import data
from polaroc.charts.legends import INK, filled, repeat
from polaroc.charts.options import checked
from polaroc.charts.over_prior import DECIMALS, prior_axis
from polaroc.charts.theme import PERCENT, SIZE, finished, share_axis
from polaroc.charts.wording import folds_name, measure_name
from polaroc.choice.result import Choice

if TYPE_CHECKING:
    import altair as alt

STRIP = 28


@checked
def winner_map(
    choice: Choice,
    title: str = "Best model by prior",
    *,
    colours: Mapping[str, str] | None = None,
) -> "alt.VConcatChart":
    """Which model is the best at each prior, and in what share of the folds.

    Parameters
    ----------
    choice
        The result of `choose`.
    title
        Heading of the chart.
    colours
        From name to colour, as `palette` gives them, for the same in every chart.

    Returns
    -------
    altair.VConcatChart
        Above, a strip in the colour of the model with the best mean, halved where
        two tie; below, the share of the blocks in which each model is the best,
        which add up to 1 (left out where each model was measured once). Each prior
        of the choice stands for those nearer to it than to the next, on the
        logarithmic axis.

    Raises
    ------
    InvalidTable
        For anything but a choice.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", by=["model", "fold"],
    ...     priors=pr.prior_grid(0.05, 0.20, 4),
    ... )
    >>> chart = pr.charts.winner_map(pr.choose(measures))
    >>> [panel["encoding"]["y"]["title"] for panel in chart.to_dict()["vconcat"]]
    ['best mean', 'share of folds won']
    """
    import altair as alt

    table, between = of_choice(choice)
    whole = pl.lit(1.0) / pl.col("best").sum().over("prior")
    best = _stacked(table, pl.when("best").then(whole).otherwise(0.0))
    series = [str(model) for model in table[between].unique(maintain_order=True)]
    tint = filled(series, between, "square", colours)
    bare = alt.Axis(
        labels=False, ticks=False, domain=False, grid=False, titleAngle=0, titleAlign="right",
        titleBaseline="middle",
    )  # fmt: skip
    folds = folds_name(choice.block)
    many = table["share"].null_count() == 0
    strip = {
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": bare,
        "title": "best mean" if many else "best",
    }
    named = repeat(series, colours)
    cells = _cells(best, between, strip, tint, alone=not many)
    panels = [_named(cells, best, between, named).properties(width=WIDTH, height=STRIP)]
    if many:
        won = _stacked(table, pl.col("share"))
        vertical = share_axis(f"share of {folds} won")
        panels.append(
            _named(_cells(won, between, vertical, tint), won, between, named).properties(
                width=WIDTH, height=0.75 * SIZE
            )
        )
    label = measure_name(choice.measure)
    subtitle = f"above: best mean {label}; below: share of {folds} each is the best in"
    heading = alt.TitleParams(title, subtitle=subtitle if many else f"best {label}")
    return finished(alt.vconcat(*panels, spacing=10).properties(title=heading))


def _stacked(table: pl.DataFrame, share: pl.Expr) -> pl.DataFrame:
    """The cell of each model and prior: `share` high, the first model on top."""
    priors = table["prior"].unique().sort()
    middle = (priors * priors.shift(-1)).sqrt()
    ends = pl.DataFrame(
        {
            "prior": priors,
            LEFT: middle.shift(1).fill_null(priors[0]),
            RIGHT: middle.fill_null(priors[-1]),
        }
    )
    above = share.cum_sum().over("prior")
    placed = table.with_columns(share.alias(SHARE), (1 - above).alias(LOW))
    cells = placed.with_columns((pl.col(LOW) + pl.col(SHARE)).alias(HIGH)).join(ends, on="prior")
    return cells.with_columns(pl.col(LOW, HIGH).round(DECIMALS))


def _named(
    cells: "alt.Chart", table: pl.DataFrame, between: str, named: bool
) -> "alt.Chart | alt.LayerChart | alt.FacetChart":
    """The cells, each model with its name in the middle of where it has most, if wanted."""
    import altair as alt

    if not named:
        return cells
    records = []
    for (model,), part in table.filter(pl.col(SHARE) > 0).group_by(between, maintain_order=True):
        widest = part.filter(pl.col(SHARE) == pl.col(SHARE).max())
        low, high, prior = widest.select(LOW, HIGH, "prior").row(widest.height // 2)
        records.append({"series": str(model), "x": prior, "y": (low + high) / 2})
    text = data(records).encode(alt.X("x:Q"), alt.Y("y:Q"), alt.Text("series:N"))
    halo = text.mark_text(fontSize=12, stroke="white", strokeWidth=4, strokeJoin="round")
    return alt.layer(cells, halo, text.mark_text(fontSize=12, color=INK))


def _cells(
    table: pl.DataFrame, between: str, vertical: dict[str, Any], tint: Any, *, alone: bool = True
) -> "alt.Chart":
    """Cells in the colours of the models; an axis of priors only below the last panel."""
    import altair as alt

    names = {LEFT: "x", RIGHT: "right", LOW: "y", HIGH: "top"}
    values = ["prior", "mean", "regret", "share"]
    records = [
        {"series": str(model), **{name: part[column].to_list() for column, name in names.items()},
         **part.select(values).to_dict(as_series=False)}
        for (model,), part in table.filter(pl.col(SHARE) > 0).group_by(between, maintain_order=True)
    ]  # fmt: skip
    across = prior_axis(table["prior"].to_list())
    across["axis"].grid = False
    if not alone:
        across = across | {"axis": None}
    return (
        data(records)
        .transform_flatten([*names.values(), *values])
        # Strokes cover the seams that smoothing leaves between neighbours.
        .mark_rect(strokeWidth=0.6)
        .encode(
            alt.X("x:Q", **across),
            alt.X2("right:Q"),
            alt.Y("y:Q", **vertical),
            alt.Y2("top:Q"),
            tint,
            alt.Stroke("series:N", scale=tint["scale"], legend=tint["legend"]),
            [
                alt.Tooltip("series:N", title=between),
                alt.Tooltip("prior:Q", format=".3~%"),
                alt.Tooltip("mean:Q", title="mean", format=".3f"),
                alt.Tooltip("regret:Q", title="regret", format=".4f"),
                alt.Tooltip("share:Q", title="share won", format=PERCENT),
            ],
        )
    )
