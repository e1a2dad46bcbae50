"""Chart of the dominance of curves."""

from typing import Any

import polars as pl

from polaroc.base.columns import as_lazy
from polaroc.charts.layers import data, finished
from polaroc.charts.libraries import alt
from polaroc.charts.options import checked
from polaroc.charts.theme import folds_name
from polaroc.errors import InvalidTable

# Pixels of a cell, and the letters of a name that fit above it.
CELL, SHORT = 64, 8
RELATIONS = ("dominates", "dominated", "equal", "crosses")
MIRRORED = {"dominates": "dominated", "dominated": "dominates"}
# From the background to the darkest blue with legible text.
SHADES = ("#F4F6F8", "#0B4A78")


@checked
def dominance(
    relations: pl.LazyFrame | pl.DataFrame, title: str = "Which curve dominates which"
) -> "alt.LayerChart":
    """A table of models against models: how often one dominates the other.

    Parameters
    ----------
    relations
        The result of `dominance`.

    Returns
    -------
    altair.LayerChart
        In each cell the number of folds in which the model of the
        row dominates that of the column, of those in which both have a curve; where
        there is one, their relation in a word.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.satellite_predictions().pipe(
    ...     pr.curve, truth="truth", score="score"
    ... )
    >>> chart = pr.charts.dominance(pr.dominance(curves))
    >>> chart.to_dict()["title"]["subtitle"]
    'in how many folds the row dominates the column'
    """
    table, model, blocks = _pairs_of_models(as_lazy(relations).collect())
    models = pl.concat([table[:, -3], table[:, -2].alias(table.columns[-3])]).unique()
    names = [str(model) for model in models.sort(nulls_last=True)]
    records = _cells(table, single=not blocks)
    across: dict[str, Any] = {"scale": alt.Scale(domain=names)}
    row = alt.Y("row:N", **across, axis=_axis(), title=model)
    angle = -30 if max(map(len, names), default=0) > SHORT else 0
    column = alt.X("column:N", **across, axis=_axis(orient="top", labelAngle=angle), title=None)
    shade = alt.Color(
        "share:Q", scale=alt.Scale(domain=[0, 1], range=list(SHADES)), legend=None
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("row:N"),
        alt.Tooltip("column:N"),
        *(alt.Tooltip(f"{relation}:Q") for relation in RELATIONS),
    ]
    base = data(records).encode(row, column, tooltip)
    cells = base.mark_rect(stroke="white", strokeWidth=2).encode(shade)
    ink = alt.condition("datum.share > 0.65", alt.value("#FFFFFF"), alt.value("#1B1F24"))
    text = base.mark_text(fontSize=12).encode(alt.Text("relation_label:N"), color=ink)
    kind = (
        f"in how many {folds_name(blocks)} the row dominates the column"
        if blocks
        else "what the row does to the column"
    )
    size = CELL * max(len(names), 1)
    return finished([cells, text], title, [kind], width=size, height=0.6 * size)


def _pairs_of_models(table: pl.DataFrame) -> tuple[pl.DataFrame, str, list[str]]:
    """The pairs with their relation, the column of the models and those of the folds."""
    names = table.columns
    pair = names[-4:-2]
    has_result_columns = names[-2:] == ["relation", "crossings"] and len(pair) == 2
    if not has_result_columns or not (pair[0].endswith("_a") and pair[1].endswith("_b")):
        raise InvalidTable(
            f"the table has the columns {', '.join(map(repr, names)) or 'none'}, expected are two "
            "of models, 'relation' and 'crossings' at its end.",
            hint="pass the result of dominance(...).",
        )
    return table.select(*pair, "relation"), pair[0].removesuffix("_a"), names[:-4]


def _cells(table: pl.DataFrame, *, single: bool) -> list[dict[str, Any]]:
    """A cell for each ordered pair of models."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for first, second, relation in table.rows():
        for row, column, relation_of_row in (
            (first, second, relation), (second, first, MIRRORED.get(relation, relation)),
        ):  # fmt: skip
            cell = counts.setdefault((str(row), str(column)), dict.fromkeys(RELATIONS, 0))
            if relation_of_row is not None:
                cell[relation_of_row] += 1
    return [_cell(*names, cell, single) for names, cell in counts.items()]


def _cell(row: str, column: str, cell: dict[str, int], single: bool) -> dict[str, Any]:
    known = sum(cell.values())
    words = [relation for relation, count in cell.items() if count]
    label = (words[0] if words else "–") if single else f"{cell['dominates']} of {known}"
    share = cell["dominates"] / known if known else None
    return {"row": row, "column": column, "relation_label": label, "share": share, **cell}


def _axis(**look: Any) -> "alt.Axis":
    return alt.Axis(grid=False, ticks=False, domain=False, labelLimit=200, **look)
