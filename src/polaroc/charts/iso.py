"""Iso lines of precision, F or cost behind curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from polaroc.base.columns import as_lazy
from polaroc.charts.layers import drawn_lines
from polaroc.charts.libraries import alt
from polaroc.charts.lines import DIGITS
from polaroc.charts.theme import SIZE, prior_label
from polaroc.errors import InvalidArgument, InvalidTable

NAMES = {"f_measure": "F", "loss": "cost"}
PALE, INK = "#BDBDBD", "#6E6E6E"
# Pixels of a label: width of a letter, height, margin, overhang on the right; width of the
# smallest square.
LETTER, HEIGHT, MARGIN, OVERHANG, SMALLEST = 5.5, 12, 5, 14, 0.7 * SIZE
LABEL = ("label", "label_x", "label_y")
LabelPlace: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class IsoLines:
    """Lines to draw: records with `iso`, `panel`, `x`, `y`, `at`, `label`, `label_x`, `label_y`."""

    records: list[dict[str, Any]]
    caption: str

    @property
    def labels(self) -> list[dict[str, Any]]:
        """The records without the lines."""
        return [{name: record[name] for name in LABEL} for record in self.records]


def iso_lines(
    iso: pl.LazyFrame | pl.DataFrame, x: str, y: str, panels: Sequence[str] | None = None
) -> IsoLines:
    """The lines of an iso table, each with a place for its label.

    Parameters
    ----------
    iso
        The result of `polaroc.iso_lines`.
    x, y
        The columns of the space that is drawn.
    panels
        The panels there are, each for a prior; without them there is room for the
        lines of one prior.
    """
    line_keys = ["rate", "level", "prior"]
    table = as_lazy(iso).collect()
    missing = [name for name in (*line_keys, x, y) if name not in table.columns]
    if missing:
        raise InvalidTable(
            f"iso has no column {', '.join(map(repr, missing))}; it has "
            f"{', '.join(map(repr, table.columns)) or 'no columns'}.",
            hint=f"pass the result of iso_lines(...) in the space of {y} against {x}.",
        )
    lines = table.with_columns(prior_label(pl.col("prior")).alias("panel"))
    priors = lines["panel"].unique(maintain_order=True).to_list()
    _check_priors(priors, panels)
    rates: list[str] = lines["rate"].unique(maintain_order=True).to_list()
    names = [NAMES.get(rate, rate) for rate in rates]
    placed: dict[str, list[LabelPlace]] = {}
    records = []
    for i, line in enumerate(lines.partition_by(line_keys, maintain_order=True)):
        rate, level, panel = (line[name][0] for name in ("rate", "level", "panel"))
        points = list(zip(line[x].round(DIGITS), line[y].round(DIGITS), strict=True))
        label = f"{NAMES.get(rate, rate)} {level:.3g}" if len(names) > 1 else f"{level:.3g}"
        others = placed.setdefault(panel, [])
        others.append(_label_place(points, len(label), others))
        records.append(
            {
                "iso": i,
                "panel": panel,
                "x": [point[0] for point in points],
                "y": [point[1] for point in points],
                "at": list(range(len(points))),
                "label": label,
                "label_x": others[-1][0],
                "label_y": others[-1][1],
            }
        )
    at = "" if panels is not None else f" at {', '.join(priors)}"
    return IsoLines(records, f"grey: equal {' or '.join(names)}{at}" if records else "")


def _check_priors(priors: Sequence[str], panels: Sequence[str] | None) -> None:
    if panels is None and len(priors) > 1:
        raise InvalidArgument(
            f"iso has lines at {', '.join(priors)}, allowed is one prior.",
            hint="draw one chart per prior: lines of several priors would lie too close together.",
        )
    unknown = [prior for prior in priors if panels is not None and prior not in panels]
    if panels is not None and unknown:
        raise InvalidArgument(
            f"iso has lines at {', '.join(unknown)}; the panels are {', '.join(panels)}.",
            hint="make iso lines at the priors of the surface.",
        )


def iso_line_layer(base: "alt.Chart") -> "alt.Chart":
    """The lines, to go behind the curves; `base` holds their records."""
    axes = alt.X("x:Q"), alt.Y("y:Q")
    return drawn_lines(base, *axes, per="iso", color=PALE, strokeWidth=1, clip=True)


def iso_label_layers(base: "alt.Chart") -> list["alt.Chart"]:
    """Their labels, to go before the curves; `base` holds the records, or the labels of them."""
    text = base.encode(alt.X("label_x:Q"), alt.Y("label_y:Q"), alt.Text("label:N"))
    halo = text.mark_text(fontSize=10, stroke="white", strokeWidth=4, strokeJoin="round")
    return [halo, text.mark_text(fontSize=10, color=INK)]


def _label_place(
    line: Sequence[tuple[float, float]], letters: int, taken: Sequence[LabelPlace]
) -> LabelPlace:
    """The last point of a line where a label fits, or overlaps least, and the label's width."""
    width, height, free = (pixels / SMALLEST for pixels in (LETTER * letters, HEIGHT, MARGIN))
    first, last = width / 2, 1 + OVERHANG / SMALLEST - width / 2
    within = [(min(max(x, first), last), y) for x, y in line]

    def clearance(at: tuple[float, float]) -> float:
        """Distance of a label to the next or to the edges; negative where they overlap."""
        x, y = at
        apart = [max(abs(x - u) - (width + w) / 2, abs(y - v) - height) for u, v, w in taken]
        return min(min(y, 1 - y) - height / 2, *apart, 1.0) - free

    fitting = [at for at in within if clearance(at) >= 0]
    x, y = fitting[-1] if fitting else max(within, key=clearance)
    return x, y, width
