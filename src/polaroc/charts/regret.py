"""Chart of the regret of each model against the prior."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.charts.chosen import WIDTH, of_choice
from polaroc.charts.layers import data
from polaroc.charts.legends import repeat
from polaroc.charts.options import checked
from polaroc.charts.over_prior import DECIMALS, lines_by_prior, prior_axis, prior_lines
from polaroc.charts.theme import SIZE, finished, style
from polaroc.charts.wording import measure_name
from polaroc.choice.result import Choice

if TYPE_CHECKING:
    import altair as alt

BESIDE = 90
ROOM = 1.08
TICKS = 6
# Pixels per model with its name below.
EACH = 15


@checked
def regret(
    choice: Choice,
    title: str = "Regret by prior",
    *,
    colours: Mapping[str, str] | None = None,
) -> "alt.HConcatChart":
    """How far each model is below the best one at each prior.

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
    altair.HConcatChart
        Regret against the prior on a logarithmic axis, a diamond at each model's
        worst; beside it, from the mean (point) to the worst regret (diamond) of
        each model, in the same scale.

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
    >>> chart = pr.charts.regret(pr.choose(measures))
    >>> len(chart.to_dict()["hconcat"])
    2
    """
    import altair as alt

    table, between = of_choice(choice)
    drawn = lines_by_prior(table, [between], "regret")
    regrets = choice.models.select(pl.max_horizontal("mean_regret", "worst_regret").max())
    top = ROOM * round(regrets.to_series()[0], DECIMALS) or 1.0
    scale = alt.Scale(domain=[0, top], nice=False)
    label = f"{measure_name(choice.measure)} below the best mean"
    tint = style(drawn.series, drawn.title, colours)
    encoding = [
        alt.X("x:Q", **prior_axis(table["prior"].to_list())),
        alt.Y("y:Q", scale=scale, title=label, axis=alt.Axis(format="~g", tickCount=TICKS)),
    ]
    worst = table.sort("regret", descending=True, maintain_order=True).unique(
        between, keep="first", maintain_order=True
    )
    worst = worst.sort(between, nulls_last=True)
    marks = [
        {"series": str(model), "line": str(model), "x": prior, "y": value}
        for model, prior, value in worst.select(between, "prior", "regret").rows()
    ]
    diamonds = _diamonds(marks, [*encoding, tint[0]])
    main = alt.layer(prior_lines(drawn, [*encoding, *tint], "regret", points=False), diamonds)
    heading = alt.TitleParams(title, subtitle="diamond: worst; right: mean (point) to worst regret")
    return finished(
        alt.hconcat(
            main.properties(width=WIDTH, height=SIZE),
            _mean_and_worst(choice, drawn.series, tint[0], scale, colours),
            spacing=16,
        ).properties(title=heading)
    )


def _diamonds(records: list[dict[str, Any]], encoding: list[Any]) -> "alt.Chart":
    import altair as alt

    return (
        data(records)
        .mark_point(shape="diamond", filled=True, size=150, opacity=1)
        .encode(
            *encoding,
            [
                alt.Tooltip("series:N", title="key"),
                alt.Tooltip("y:Q", title="worst regret", format=".4f"),
            ],
        )
    )


def _mean_and_worst(
    choice: Choice,
    series: list[str],
    tint: Any,
    scale: "alt.Scale",
    colours: Mapping[str, str] | None,
) -> "alt.LayerChart | alt.FacetChart":
    import altair as alt

    between = choice.models.columns[0]
    table = choice.models.select(between, pl.col("mean_regret", "worst_regret").round(DECIMALS))
    table = table.sort(between, nulls_last=True)
    records = [
        {"series": str(model), "y": mean, "top": worst} for model, mean, worst in table.rows()
    ]
    place = alt.X(
        "series:N", scale=alt.Scale(domain=series), title="mean to worst",
        axis=alt.Axis(
            labels=repeat(series, colours), labelAngle=-90, labelLimit=90, ticks=False, grid=False
        ),
    )  # fmt: skip
    bare = alt.Axis(labels=False, ticks=False, domain=False, tickCount=TICKS)
    vertical = alt.Y("y:Q", scale=scale, axis=bare, title=None)
    tooltip = [
        alt.Tooltip("series:N", title=between),
        alt.Tooltip("y:Q", title="mean regret", format=".4f"),
        alt.Tooltip("top:Q", title="worst regret", format=".4f"),
    ]
    base = data(records).encode(place, vertical, tint, tooltip)
    points = base.mark_point(filled=True, size=60, opacity=1)
    bars = base.mark_rule(strokeWidth=2.5, opacity=0.5).encode(alt.Y2("top:Q"))
    worst = [{**record, "y": record["top"]} for record in records]
    tips = _diamonds(worst, [place, vertical, tint])
    wide = max(BESIDE, EACH * len(series)) if repeat(series, colours) else BESIDE
    return alt.layer(bars, points, tips).properties(width=wide, height=SIZE)
