"""Heat maps of precision over recall and prior."""

from collections.abc import Sequence
from itertools import chain, pairwise
from math import exp, log, sqrt
from typing import Any

import polars as pl

from polaroc.base.columns import GRID, as_lazy, require
from polaroc.charts.iso import LabelPlace, label_place
from polaroc.charts.layers import columns_of, data, drawn_lines, in_panels
from polaroc.charts.libraries import alt
from polaroc.charts.lines import DIGITS, FEWER_CURVES, groups_of
from polaroc.charts.options import checked
from polaroc.charts.over_prior import prior_axis
from polaroc.charts.theme import SIZE, share_axis, with_theme
from polaroc.errors import Hint, InvalidArgument
from polaroc.priors.isolines import PR_POINT, precision_contours

LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)
MAX_PANELS = 12
# Pixels of a letter of a label, and of a panel beside others.
LETTER, NARROW = 6, 0.45 * SIZE


@checked
def surface(
    curve: pl.LazyFrame | pl.DataFrame,
    title: str = "Achievable precision by recall and prior",
    levels: Sequence[float] = LEVELS,
) -> "alt.FacetChart":
    """Precision as a heat map over recall and prior, one panel per key.

    Parameters
    ----------
    curve
        The result of `achievable` at several priors; a grid of 51 recalls and 40
        priors, evenly spaced in their logarithm, looks smooth.
    levels
        Precisions in (0, 1) at which to draw a line.

    Returns
    -------
    altair.FacetChart
        The prior on a logarithmic axis; lines where the curve has exactly a precision.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of an achievable curve are missing; for fewer than two
        priors or recalls, more than 12 keys, or levels outside (0, 1).

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> grid = pr.achievable(curves, pr.prior_grid(0.01, 0.5, 40, "log"), recall=51)
    >>> pr.charts.surface(grid).to_dict()["title"]["text"]
    'Achievable precision by recall and prior'
    """
    lazy = as_lazy(curve)
    keys = require(lazy, (*GRID, *PR_POINT), source="achievable(...)")
    table = lazy.sort(*keys, "prior", "tpr", nulls_last=True).collect()
    parts = groups_of(table, keys)
    # Names of panels become properties of JavaScript objects: a space avoids __proto__.
    names = [" · ".join(str(part[key][0]) for key in keys) + " " for part in parts if part.height]
    _check(table, len(names))
    priors = table["prior"].unique().sort().to_list()
    contours = precision_contours(table, levels) if table.height else table
    width = SIZE if len(names) < 2 else NARROW
    records = [
        *(_cells(name, part, priors) for name, part in zip(names, parts, strict=False)),
        *(
            _lines(name, part, priors, width)
            for name, part in zip(names, groups_of(contours, keys), strict=False)
        ),
    ]
    base = data(list(chain.from_iterable(records)))
    heat = _heat(base, priors, " · ".join(keys) or "curve", narrow=len(names) > 1)
    layers = alt.layer(heat, *_labelled_lines(base)).properties(width=width, height=width)
    heading = alt.TitleParams(title, subtitle="lines: equal precision")
    return with_theme(in_panels(layers, names, columns_of(len(names))).properties(title=heading))


def _heat(base: "alt.Chart", priors: Sequence[float], panel: str, *, narrow: bool) -> "alt.Chart":
    """The cells in the colour of their precision."""
    across = share_axis("recall")
    if narrow:
        across["axis"] = alt.Axis(values=[0, 0.5, 1], format=".1f")
    # Lighter is higher; legible with any colour vision and in grey.
    scale = alt.Scale(scheme="viridis", domain=[0, 1])
    legend = alt.Legend(title="precision", format=".1f", symbolType="square")
    return (
        base.transform_filter("datum.kind === 'cell'")
        .transform_flatten(["x0", "x1", "recall", "precision"])
        .mark_rect(clip=True, strokeWidth=1)
        .encode(
            alt.X("x0:Q", **across),
            alt.Y("y0:Q", **prior_axis(priors)),
            alt.X2("x1:Q"),
            alt.Y2("y1:Q"),
            alt.Color("precision:Q", scale=scale, legend=legend),
            alt.Stroke("precision:Q", scale=scale),
            tooltip=[
                alt.Tooltip("panel:N", title=panel),
                alt.Tooltip("recall:Q", format=".3~f"),
                alt.Tooltip("prior:Q", format=".3~p"),
                alt.Tooltip("precision:Q", format=".3f"),
            ],
        )
    )


def _labelled_lines(base: "alt.Chart") -> list["alt.Chart"]:
    """The lines of equal precision, and their labels in a halo."""
    lines = base.transform_filter("datum.kind === 'line'")
    axes = alt.X("x:Q"), alt.Y("y:Q")
    line = drawn_lines(lines, *axes, per="level", color="#FFFFFF", strokeWidth=1.2, clip=True)
    labelled = base.transform_filter("isValid(datum.label_x)").encode(
        alt.X("label_x:Q"), alt.Y("label_y:Q"), alt.Text("level:N")
    )
    halo = labelled.mark_text(fontSize=11, stroke="#1B1F24", strokeWidth=2.5, strokeJoin="round")
    return [line, halo, labelled.mark_text(fontSize=11, color="#FFFFFF")]


def _check(table: pl.DataFrame, panels: int) -> None:
    for name, column in (("prior", "prior"), ("recall", "tpr")):
        if table.height > 0 and table[column].n_unique() < 2:
            raise InvalidArgument(
                f"there is one {name} only, needed are two or more.",
                hint=Hint(
                    "achievable(curve, prior_grid(0.01, 0.5, 40, 'log'), {recall}).",
                    command_line="give a wider range, or more --grid.",
                    recall=51,
                ),
            )
    if panels > MAX_PANELS:
        raise InvalidArgument(
            f"there are {panels} panels to draw, allowed are {MAX_PANELS}.",
            hint=FEWER_CURVES,
        )


def _cells(name: str, part: pl.DataFrame, priors: Sequence[float]) -> list[dict[str, Any]]:
    """A record per prior, with its cells as arrays; cells meet half-way between grid points."""
    ends = [priors[0], *(sqrt(a * b) for a, b in pairwise(priors)), priors[-1]]
    bottom = dict(zip(priors, pairwise(ends), strict=True))
    records = []
    for (prior,), row in part.group_by("prior", maintain_order=True):
        recalls = row["tpr"].to_list()
        middles = [(a + b) / 2 for a, b in pairwise(recalls)]
        y0, y1 = bottom[prior]
        records.append(
            {
                "kind": "cell",
                "panel": name,
                "prior": prior,
                "y0": y0,
                "y1": y1,
                "x0": [recalls[0], *middles],
                "x1": [*middles, recalls[-1]],
                "recall": recalls,
                "precision": row["precision"].round(DIGITS).to_list(),
            }
        )
    return records


def _lines(
    name: str, part: pl.DataFrame, priors: Sequence[float], width: float
) -> list[dict[str, Any]]:
    """A record per level that lies within the priors, with a free place for its label."""
    records: list[dict[str, Any]] = []
    placed: list[LabelPlace] = []
    lowest, decades = log(priors[0]), log(priors[-1] / priors[0])
    for (level,), line in part.group_by("level", maintain_order=True):
        # Lines are clipped at the edge.
        inside = line.filter(pl.col("prior").is_between(priors[0], priors[-1]))
        if inside.is_empty():
            continue
        drawn = line.with_columns(pl.col("prior").clip(lower_bound=priors[0] / 2))
        label = f"{level:.3g}"
        # From the middle of the line outwards.
        half = inside.height // 2
        points = [
            (recall, (log(prior) - lowest) / decades)
            for recall, prior in inside.select("tpr", "prior").rows()
        ]
        ordered = sorted(points, key=lambda at: -abs(points.index(at) - half))
        placed.append(label_place(ordered, LETTER * len(label), placed, width, 0))
        at_x, at_y, _ = placed[-1]
        records.append(
            {
                "kind": "line",
                "panel": name,
                "level": label,
                "x": drawn["tpr"].to_list(),
                "y": drawn["prior"].to_list(),
                "at": list(range(drawn.height)),
                "label_x": at_x,
                "label_y": exp(lowest + at_y * decades),
            }
        )
    return records
