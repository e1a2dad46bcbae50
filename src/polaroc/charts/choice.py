"""Charts of a choice over uncertain priors: regret, and the best model at each prior."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

import polars as pl

from polaroc.base.private_columns import HIGH, LEFT, LOW, RIGHT, SHARE
from polaroc.charts.layers import data, finished
from polaroc.charts.libraries import alt
from polaroc.charts.options import check_result, checked
from polaroc.charts.over_prior import DECIMALS, lines_by_prior, prior_axis, prior_lines, same_prior
from polaroc.charts.theme import (
    INK,
    PERCENT,
    SIZE,
    assigned_colours,
    filled,
    folds_name,
    measure_name,
    share_axis,
    shares_colours,
    style,
    with_theme,
)
from polaroc.comparison.choice import Choice, judged_models
from polaroc.errors import Hint, InvalidTable

HEADROOM = 1.08
STRIP_HEIGHT = 28
WIDTH = 1.3 * SIZE
# Four digits: areas are below 1, costs have any scale.
TIP = ".4~g"
# Share of the height that a line of text needs.
LINE = 0.04
# Names at the ends of the axis of priors do not pass them.
IN_LEFT_HALF = "scale('x', datum.x) < 0.5 * width"


@checked
def regret(
    choice: Choice,
    title: str = "Regret by prior",
    *,
    colours: Mapping[str, str] | None = None,
) -> "alt.LayerChart":
    """How far each model is from the best one at each prior: below its area, above its cost.

    Parameters
    ----------
    choice
        The result of `choose`.

    Returns
    -------
    altair.LayerChart
        Regret against the prior on a logarithmic axis, a diamond at each model's worst, with the
        names of models that share a colour, where there is room.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score",
    ...     priors=pr.prior_grid(0.05, 0.20, 4),
    ... )
    >>> chart = pr.charts.regret(pr.choose(measures))
    >>> chart.to_dict()["title"]["subtitle"]
    'diamond: worst'
    """
    table, model = table_of_choice(choice)
    decimals = _decimals(choice)
    drawn = lines_by_prior(table, [model], "regret", decimals)
    regrets = choice.models.select(pl.max_horizontal("mean_regret", "worst_regret").max())
    top = HEADROOM * round(regrets.to_series()[0], decimals) or 1.0
    scale = alt.Scale(domain=[0, top], nice=False)
    side = "below" if choice.higher_is_better else "above"
    label = f"{_measured(choice)} {side} the best mean"
    tint = style(drawn.series, drawn.title, colours)
    encoding = [
        alt.X("x:Q", **prior_axis(table["prior"].to_list())),
        alt.Y("y:Q", scale=scale, title=label, axis=alt.Axis(format="~g", tickCount=6)),
    ]
    worst = table.sort("regret", descending=True, maintain_order=True).unique(
        model, keep="first", maintain_order=True
    )
    worst = worst.sort(model, nulls_last=True)
    marks = [
        {"series": str(model), "line": str(model), "x": prior, "y": value}
        for model, prior, value in worst.select(model, "prior", "regret").rows()
    ]
    tooltip = [
        alt.Tooltip("series:N", title="key"),
        alt.Tooltip("y:Q", title="worst regret", format=TIP),
    ]
    diamonds = data(marks).mark_point(shape="diamond", filled=True, size=150, opacity=1)
    layers = [
        prior_lines(drawn, [*encoding, *tint], "regret", points=False),
        diamonds.encode(*encoding, tint[0], tooltip),
    ]
    assigned = assigned_colours(drawn.series, colours)
    shades = [assigned[one] for one in drawn.series]
    alike = {one for one in drawn.series if shades.count(assigned[one]) > 1}
    if named := [mark for mark in _apart(marks, top) if mark["series"] in alike]:
        align, dx = (
            alt.ExprRef(f"{IN_LEFT_HALF} ? {one}") for one in ("'left' : 'right'", "12 : -12")
        )
        layers += _names(named, encoding, align=align, dx=dx)
    return finished(layers, title, ["diamond: worst"], width=WIDTH)


def _apart(marks: Sequence[dict[str, Any]], top: float) -> list[dict[str, Any]]:
    """The marks beside which there is room for a line of text."""
    return [
        mark
        for mark in marks
        if all(one is mark or abs(one["y"] - mark["y"]) > LINE * top for one in marks)
    ]


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

    Returns
    -------
    altair.VConcatChart
        Above, a strip in the colour of the model with the best mean, halved where
        two tie; below, the share of the folds in which each model is the best,
        which add up to 1 (left out where each model was measured once). Each prior
        of the choice stands for those nearer to it than to the next, on the
        logarithmic axis.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score",
    ...     priors=pr.prior_grid(0.05, 0.20, 4),
    ... )
    >>> chart = pr.charts.winner_map(pr.choose(measures))
    >>> [panel["encoding"]["y"]["title"] for panel in chart.to_dict()["vconcat"]]
    ['best mean', 'share of folds won']
    """
    table, model = table_of_choice(choice)
    tied_share = pl.lit(1.0) / pl.col("best").sum().over("prior")
    best = _stacked(table, pl.when("best").then(tied_share).otherwise(0.0))
    series = [str(model) for model in table[model].unique(maintain_order=True)]
    tint = filled(series, model, "square", colours)
    no_axis = alt.Axis(
        labels=False, ticks=False, domain=False, grid=False, titleAngle=0, titleAlign="right",
        titleBaseline="middle",
    )  # fmt: skip
    folds = folds_name(choice.folds)
    many = table["share"].null_count() == 0
    strip = {
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": no_axis,
        "title": "best mean" if many else "best",
    }
    names_needed = shares_colours(series, colours)
    cells = _cells(best, model, strip, tint, alone=not many)
    panels = [
        _with_names(cells, best, model, names_needed).properties(width=WIDTH, height=STRIP_HEIGHT)
    ]
    if many:
        won = _stacked(table, pl.col("share"))
        vertical = share_axis(f"share of {folds} won")
        panels.append(
            _with_names(_cells(won, model, vertical, tint), won, model, names_needed).properties(
                width=WIDTH, height=0.75 * SIZE
            )
        )
    label = _measured(choice)
    subtitle = f"above: best mean {label}; below: share of {folds} that each wins"
    heading = alt.TitleParams(title, subtitle=subtitle if many else f"best {label}")
    return with_theme(alt.vconcat(*panels, spacing=10).properties(title=heading))


def _stacked(table: pl.DataFrame, share: pl.Expr) -> pl.DataFrame:
    """The cell of each model and prior, of height `share`, stacked from the first model down."""
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


def _with_names(
    cells: "alt.Chart", table: pl.DataFrame, model: str, names_needed: bool
) -> "alt.Chart | alt.LayerChart | alt.FacetChart":
    """The cells; if `names_needed`, each model's name is in the middle of its largest cells."""
    if not names_needed:
        return cells
    records = []
    for (one,), part in table.filter(pl.col(SHARE) > 0).group_by(model, maintain_order=True):
        widest = part.filter(pl.col(SHARE) == pl.col(SHARE).max())
        low, high, prior = widest.select(LOW, HIGH, "prior").row(widest.height // 2)
        records.append({"series": str(one), "x": prior, "y": (low + high) / 2})
    return alt.layer(cells, *_names(records, [alt.X("x:Q"), alt.Y("y:Q")]))


def _names(
    records: list[dict[str, Any]], places: Sequence[Any], **mark_options: Any
) -> list["alt.Chart"]:
    """The names of models at their places, on a halo."""
    text = data(records).encode(*places, alt.Text("series:N"))
    halo = text.mark_text(
        fontSize=12, stroke="white", strokeWidth=4, strokeJoin="round", **mark_options
    )
    return [halo, text.mark_text(fontSize=12, color=INK, **mark_options)]


def _cells(
    table: pl.DataFrame, model: str, vertical: dict[str, Any], tint: Any, *, alone: bool = True
) -> "alt.Chart":
    """Cells in the colours of the models; with an axis of priors only if `alone`."""
    names = {LEFT: "x", RIGHT: "right", LOW: "y", HIGH: "top"}
    values = ["prior", "mean", "regret", "share"]
    records = [
        {"series": str(one), **{name: part[column].to_list() for column, name in names.items()},
         **part.select(values).to_dict(as_series=False)}
        for (one,), part in table.filter(pl.col(SHARE) > 0).group_by(model, maintain_order=True)
    ]  # fmt: skip
    across = prior_axis(table["prior"].to_list())
    across["axis"].grid = False
    if not alone:
        across = across | {"axis": None}
    return (
        data(records)
        .transform_flatten([*names.values(), *values])
        # Strokes cover the gaps that anti-aliasing leaves between neighbours.
        .mark_rect(strokeWidth=0.6)
        .encode(
            alt.X("x:Q", **across),
            alt.X2("right:Q"),
            alt.Y("y:Q", **vertical),
            alt.Y2("top:Q"),
            tint,
            alt.Stroke("series:N", scale=tint["scale"], legend=tint["legend"]),
            [
                alt.Tooltip("series:N", title=model),
                alt.Tooltip("prior:Q", format=".3~%"),
                alt.Tooltip("mean:Q", title="mean", format=TIP),
                alt.Tooltip("regret:Q", title="regret", format=TIP),
                alt.Tooltip("share:Q", title="share won", format=PERCENT),
            ],
        )
    )


def table_of_choice(choice: Choice) -> tuple[pl.DataFrame, str]:
    """The models at each prior, in the order of the models, and the name of their column.

    Rounded to visible digits, as in other charts against the prior.
    """
    check_result(choice, Choice, "choose")
    model = choice.models.columns[0]
    if judged_models(choice)["worst_regret"].null_count() or choice.priors["prior"].n_unique() < 2:
        raise InvalidTable(
            f"the choice has {choice.priors['prior'].n_unique()} prior(s) of the range, too few to "
            "draw the best model at each prior.",
            hint=Hint(
                "evaluate with priors=pr.prior_grid(lo, hi, 16) over the whole range, and choose "
                "again.",
                command_line="evaluate with --grid 16.",
            ),
        )
    rounded = same_prior(), pl.col("mean", "regret").round(_decimals(choice))
    table = choice.priors.with_columns(rounded)
    return table.sort(model, "prior", nulls_last=True), model


def _measured(choice: Choice) -> str:
    """What the models are judged by, as text."""
    return "cost per case" if choice.is_by_cost else measure_name(choice.measure)


def _decimals(choice: Choice) -> int:
    """Decimals up to which differences can be seen: costs have any scale, areas are below 1."""
    top = float(choice.priors.select(pl.col("mean").max().fill_null(0)).item())
    if choice.higher_is_better or top == 0:
        return DECIMALS
    return max(DECIMALS - floor(log10(top)), 0)
