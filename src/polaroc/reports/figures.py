"""Figures of a report: their data, captions and colours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polaroc import charts
from polaroc.base.text import escape_control
from polaroc.charts.theme import COLOURS
from polaroc.reports.findings import Findings, drawn

if TYPE_CHECKING:
    import altair as alt

# Number of models in captions, and of those that have a colour of their own.
MAX_NAMED, MAX_DRAWN = 5, len(COLOURS)
# Letters of a name that a legend has room for; pixels of a letter, and of what stands beside.
MAX_LETTERS, LETTER, SIDE = 40, 7, 20


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart to show."""

    name: str  # its id on the page
    chart: "alt.TopLevelMixin"
    caption: str  # one sentence
    alt: str  # what is seen, with the values
    names: Sequence[str]  # those of the legend, or the rows
    wide: bool = False  # as wide as the page
    labels: Sequence[str] = ()  # beside the rows of the chart

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The chart as Vega-Lite with a text alternative, and what its layout depends on."""
        spec: dict[str, Any] = self.chart.to_dict(validate=False)
        spec |= {"description": self.alt, "background": "transparent"}
        # The page has headings of its own.
        heading = spec.pop("title", "")
        layout = {
            "polaroc_title": heading if isinstance(heading, str) else heading["text"],
            "polaroc_letters": min(max(map(len, self.names), default=0), MAX_LETTERS),
            "polaroc_panels": spec.get("columns", len(self.names)),
        }
        if self.labels:
            longest = min(max(map(len, self.labels)), MAX_LETTERS)
            layout["polaroc_side"] = SIDE + LETTER * longest
        spec["usermeta"] = spec.get("usermeta", {}) | layout
        # A single description for screen readers, instead of one per mark.
        config = spec.setdefault("config", {})
        for part in ("mark", "axis", "legend", "title"):
            config.setdefault(part, {})["aria"] = False
        shown: dict[str, Any] = _shown(spec)
        return shown

    @property
    def title(self) -> str:
        """Its heading."""
        return str(self.spec["usermeta"]["polaroc_title"])


Maker: TypeAlias = Callable[[Findings], Figure | None]


def figures(findings: Findings, makers: Sequence[Maker]) -> list[Figure]:
    """The figures that the findings allow, with a limited number of models."""
    seen = drawn(findings, MAX_DRAWN)
    made = (maker(seen) for maker in makers)
    return [figure for figure in made if figure is not None]


def model_names(findings: Findings) -> list[str]:
    """The names of the models, the best first."""
    return [str(model) for model in findings.models]


def colours(findings: Findings) -> dict[str, str]:
    """The same colour for a model in every chart, the best model first."""
    assigned = charts.palette(findings.models)
    return {name: assigned[name] for name in model_names(findings)}


def means_in_words(findings: Findings, column: str, label: str) -> str:
    """The value of each of the first models in a column of the ranking."""
    pairs = zip(findings.models, findings.ranking[column], strict=True)
    digits = "{:.4g}" if findings.by_cost else "{:.3f}"
    means = [f"{model} {digits.format(value)}" for model, value in pairs if value is not None]
    return f"{label}: {listed(means[:MAX_NAMED], findings)}."


def first_models(findings: Findings) -> Iterator[pl.Series]:
    """The models named in captions, each as a series."""
    for place in range(min(len(findings.models), MAX_NAMED)):
        yield findings.models[place : place + 1]


def listed(sentences: Sequence[str], findings: Findings) -> str:
    """Phrases on the first models, and the number of further models."""
    rest = len(findings.models) + findings.undrawn - MAX_NAMED
    return "; ".join([*sentences, *([f"and {rest} more"] if rest > 0 else [])])


def _shown(part: Any) -> Any:
    """A specification with escaped control characters in names."""
    if isinstance(part, str):
        return escape_control(part)
    if isinstance(part, dict):
        return {_shown(name): _shown(value) for name, value in part.items()}
    if isinstance(part, list) and not (part and isinstance(part[0], float)):
        return [_shown(value) for value in part]
    return part
