"""Figures of a report: their data, captions and colours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polaroc import charts
from polaroc.base.text import escape_control
from polaroc.reports.evidence import Evidence, drawn

if TYPE_CHECKING:
    import altair as alt

# Number of models in captions, and of lines that can be distinguished.
MOST_NAMED, MOST_DRAWN = 5, 12


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart to show."""

    name: str  # its id on the page
    chart: "alt.TopLevelMixin"
    caption: str
    alt: str  # what is seen, with the values
    models: int | None = None  # None: all that figures show

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as Vega-Lite with a text alternative."""
        spec: dict[str, Any] = self.chart.to_dict()
        spec["description"] = self.alt
        # A single description for screen readers, instead of one per mark.
        config = spec.setdefault("config", {})
        for part in ("mark", "axis", "legend", "title"):
            config.setdefault(part, {})["aria"] = False
        shown: dict[str, Any] = _shown(spec)
        return shown


Maker: TypeAlias = Callable[[Evidence], Figure | None]


def figures(evidence: Evidence, makers: Sequence[Maker]) -> list[Figure]:
    """The figures that the evidence allows, with a limited number of models."""
    seen, total = drawn(evidence, MOST_DRAWN), len(evidence.models)
    made = (maker(seen) for maker in makers)
    return [_counted(figure, len(seen.models), total) for figure in made if figure is not None]


def _counted(figure: Figure, models: int, total: int) -> Figure:
    """A figure whose caption notes the number of omitted models."""
    shown = models if figure.models is None else figure.models
    if shown == total:
        return figure
    caption = (
        f"{figure.caption} Drawn are the best {shown} of {total} models; tables and tests have all."
    )
    return replace(figure, caption=caption)


def colours(evidence: Evidence) -> dict[str, str]:
    """The same colour for a model in every chart."""
    return charts.palette(evidence.models)


def means_in_words(evidence: Evidence, column: str, label: str) -> str:
    """The value of each of the first models in a column of the ranking."""
    pairs = zip(evidence.models, evidence.ranking[column], strict=True)
    means = [f"{model} {value:.3f}" for model, value in pairs if value is not None]
    return f"{label}: {listed(means[:MOST_NAMED], evidence)}."


def first_models(evidence: Evidence) -> Iterator[pl.Series]:
    """The models named in captions, each as a series."""
    for place in range(min(len(evidence.models), MOST_NAMED)):
        yield evidence.models[place : place + 1]


def listed(sentences: Sequence[str], evidence: Evidence) -> str:
    """Phrases on the first models, and the number of further models."""
    rest = len(evidence.models) + evidence.undrawn - MOST_NAMED
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
