"""Figures of a report: their data, captions and colours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc import charts
from polaroc.base.rounding import number, percent, with_limits
from polaroc.charts.pairwise import estimates_in_words
from polaroc.charts.saving import escape_names
from polaroc.charts.theme import COLOURS
from polaroc.models.comparison import first_pairs, interval_rule
from polaroc.models.inputs import rows_among
from polaroc.reports.findings import Findings
from polaroc.reports.ranking import AREA
from polaroc.reports.tables import ReportTable
from polaroc.reports.thresholds import shown_priors

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
        }
        if self.labels:
            longest = min(max(map(len, self.labels)), MAX_LETTERS)
            layout["polaroc_side"] = SIDE + LETTER * longest
        spec["usermeta"] = spec.get("usermeta", {}) | layout
        # A single description for screen readers, instead of one per mark.
        config = spec.setdefault("config", {})
        for part in ("mark", "axis", "legend", "title"):
            config.setdefault(part, {})["aria"] = False
        shown: dict[str, Any] = escape_names(spec)
        return shown

    @property
    def title(self) -> str:
        """Its heading."""
        return str(self.spec["usermeta"]["polaroc_title"])


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page: what it says, a figure and a table."""

    answer: str = ""
    figure: Figure | None = None
    table: ReportTable | None = None


def model_names(findings: Findings) -> list[str]:
    """The names of the models, the best first."""
    return [str(model) for model in findings.models]


def colours(findings: Findings) -> dict[str, str]:
    """The same colour for a model in every chart, the best model first."""
    in_order = findings.models.unique().sort(nulls_last=True)
    assigned = {str(model): COLOURS[i % len(COLOURS)] for i, model in enumerate(in_order)}
    return {name: assigned[name] for name in model_names(findings)}


def first_models(findings: Findings) -> Iterator[pl.Series]:
    """The models named in captions, each as a series."""
    for place in range(min(len(findings.models), MAX_NAMED)):
        yield findings.models[place : place + 1]


def listed(sentences: Sequence[str], findings: Findings) -> str:
    """Phrases on the first models, and the number of further models."""
    rest = len(findings.models) + findings.undrawn - MAX_NAMED
    return "; ".join([*sentences, *([f"and {rest} more"] if rest > 0 else [])])


POOLED = "; the rows of all folds of a model are in one curve"
# Least range of the slider of the explorer.
SLIDER = (0.001, 0.999)


def explorer(findings: Findings) -> Figure | None:
    """Curves at a prior set by a slider."""
    if findings.curves is None:
        return None
    priors = shown_priors(findings.question.over)
    start = priors[len(priors) // 2]
    lo, hi = SLIDER
    pairs_of_models = zip(findings.models, findings.ranking[AREA], strict=True)
    means = [f"{model} {number(area)}" for model, area in pairs_of_models if area is not None]
    return Figure(
        "explorer",
        charts.explorer(
            findings.curves,
            "Every threshold at any share of positives",
            prior=start,
            over=(min(lo, priors[0]), max(hi, priors[-1])),
            colours=colours(findings),
        ),
        "Move the slider to any share of positives, and point at a curve for a threshold and what "
        f"it does{POOLED if findings.folds > 1 else ''}.",
        f"ROC and precision-recall curves, at first with {percent(start)} positives. "
        f"Area under the precision-recall curve: {listed(means[:MAX_NAMED], findings)}.",
        model_names(findings),
        wide=True,
    )


def auprec_by_prior(findings: Findings) -> Figure | None:
    """AUPREC of each model against the prior."""
    judged = findings.measures if findings.choice is None else findings.choice.priors
    # Slightly widened, since digits are rounded.
    prior = pl.col("prior")
    low, high = judged.select(low=prior.min() * (1 - 1e-9), high=prior.max() * (1 + 1e-9)).row(0)
    rows = findings.measures.filter(measure="auprec").filter(prior.is_between(low, high))
    if rows["prior"].n_unique() < 2:
        return None
    means = rows.group_by(findings.question.model, "prior").agg(pl.col("estimate").mean())
    known = means.drop_nulls("estimate")
    area = "Mean area" if findings.folds > 1 else "Area"
    return Figure(
        "auprec-by-prior",
        charts.auprec_by_prior(
            _drawn(rows, findings),
            "Area under the precision-recall curve by share of positives",
            colours=colours(findings),
        ),
        f"How much of each model is left as positives get rarer{_folds_in_words(findings)}.",
        f"{area} under the precision-recall curve (AUPREC): {_over_the_range(known, findings)}.",
        model_names(findings),
        wide=True,
    )


def pairs(findings: Findings) -> Figure | None:
    """Differences of pairs of models."""
    if findings.comparison is None:
        return None
    shown, _ = first_pairs(findings.comparison, MAX_NAMED)
    first = shown.select(*shown.columns[:2], "difference", "adjusted_lower", "adjusted_upper")
    sentences = [f"{a} − {b} {with_limits(*limits)}" for a, b, *limits in first.iter_rows()]
    rest = findings.comparison.pairs.height - len(sentences)
    more = [f"and {rest} more"] if rest else []
    rule = interval_rule(findings.comparison)
    return Figure(
        "pairs-chart",
        charts.pairs(
            findings.comparison, "Differences between the models", colours=colours(findings)
        ),
        f"Above, {estimates_in_words(findings.comparison)}; below, {rule}.",
        f"Differences (adjusted intervals): {'; '.join([*sentences, *more])}.",
        model_names(findings),
        wide=True,
        labels=[f"{a} − {b}" for a, b, *_ in shown.iter_rows()],
    )


# How many lines of single folds can still be seen.
MAX_SINGLE = 300


def _drawn(rows: pl.DataFrame, findings: Findings) -> pl.DataFrame:
    """The rows with the models first, which give the colour; of many folds only their mean."""
    keys = findings.question.keys
    # Limits are known of the mean over the range only.
    rows = rows.drop("lower", "upper", strict=False)
    if not _too_many_folds(findings):
        return rows.select(*keys, pl.exclude(keys))
    model = findings.question.model
    return (
        rows.group_by(model, "measure", "prior")
        .agg(
            pl.col("estimate").mean(),
            pl.col("positives", "negatives").sum(),
            pl.lit(None, pl.String).alias("note"),
        )
        .sort(model, "measure", "prior", nulls_last=True)
    )


def _too_many_folds(findings: Findings) -> bool:
    return len(findings.models) * findings.folds > MAX_SINGLE


def _folds_in_words(findings: Findings) -> str:
    """How folds are drawn, where there are any."""
    if findings.folds < 2:
        return ""
    if _too_many_folds(findings):
        return f"; drawn are means over the {findings.folds:,} folds"
    return "; thin lines are single folds, thick lines their mean"


def _over_the_range(rows: pl.DataFrame, findings: Findings) -> str:
    """A sentence on the first models at the lowest and the highest prior."""
    sentences = []
    for model in first_models(findings):
        own = rows_among(rows, model.to_frame()).sort("prior").rows(named=True)
        if own:
            least, most = (percent(own[place]["prior"]) for place in (0, -1))
            low, high = (number(own[place]["estimate"]) for place in (0, -1))
            sentences.append(f"{model[0]} from {low} at {least} positives to {high} at {most}")
    return listed(sentences, findings)
