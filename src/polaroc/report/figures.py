"""The figures of a report: which charts it shows of its evidence, and what they show in words."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc import charts
from polaroc.charts.lines import MOST_LINES
from polaroc.report.evidence import Evidence
from polaroc.report.thresholds import shown_priors
from polaroc.report.words import percent
from polaroc.surfaces import surface
from polaroc.texts import visible

if TYPE_CHECKING:
    import altair as alt

MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart to show.

    Attributes
    ----------
    name
        Its id on the page.
    chart
        The chart.
    caption
        How to read it.
    alt
        What is seen in it, with the values.
    """

    name: str
    chart: "alt.TopLevelMixin"
    caption: str
    alt: str

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as Vega-Lite that says what it shows to those who cannot see it."""
        spec: dict[str, Any] = self.chart.to_dict()
        spec["description"] = self.alt
        # One description instead of a thousand marks to walk through.
        config = spec.setdefault("config", {})
        for part in ("mark", "axis", "legend", "title"):
            config.setdefault(part, {})["aria"] = False
        shown: dict[str, Any] = _shown(spec)
        return shown


def _shown(part: Any) -> Any:
    """A specification whose names hold nothing that would turn or hide other text."""
    if isinstance(part, str):
        return visible(part)
    if isinstance(part, dict):
        return {_shown(name): _shown(value) for name, value in part.items()}
    if isinstance(part, list) and not (part and isinstance(part[0], float)):
        return [_shown(value) for value in part]
    return part


def figures(evidence: Evidence, makers: "tuple[Maker, ...]") -> list[Figure]:
    """Those of the figures that the evidence allows."""
    made = (maker(evidence) for maker in makers)
    return [figure for figure in made if figure is not None]


def auprec_by_prior(evidence: Evidence) -> Figure | None:
    """What rarity costs each model."""
    rows = evidence.measures.filter(
        (pl.col("measure") == "auprec") & pl.col("prior").is_in(_judged(evidence).implode())
    )
    if rows["prior"].n_unique() < 2:
        return None
    many = bool(evidence.question.blocks)
    return Figure(
        "auprec-by-prior",
        charts.auprec_by_prior(
            _led(rows, evidence), "Area under the precision-recall curve by share of positives"
        ),
        "How much of each model is left as positives get rarer. "
        + ("Thin lines are single blocks, thick lines their mean." if many else ""),
        _falls(rows, evidence),
    )


def roc(evidence: Evidence) -> Figure | None:
    """The curves everything is made from."""
    if evidence.intake is None:
        return None
    curves, single = _curves(evidence)
    return Figure(
        "roc",
        charts.roc(curves, "ROC curves"),
        "Recall against false alarms, whatever the share of positives. "
        + ("A line for each block." if single else "All rows of a model in one curve."),
        f"ROC curves. {_means(evidence, 'auc', 'Area under the curve (AUC)')}",
    )


def precision_recall(evidence: Evidence) -> Figure | None:
    """Precision against recall at a low, a middle and a high prior."""
    if evidence.intake is None:
        return None
    priors = shown_priors(evidence.question.over)
    pooled = evidence.intake.curves([evidence.question.between])
    listed = ", ".join(percent(prior) for prior in priors)
    return Figure(
        "pr",
        charts.pr(surface(pooled, priors), "Precision-recall curves by share of positives"),
        "The same curves where positives are rare and less rare; dashed: the precision of calling "
        "everything positive. All rows of a model in one curve.",
        f"Precision against recall at {listed} positives. {_expected(evidence)}",
    )


Maker = Callable[[Evidence], Figure | None]
OVER_THE_RANGE: tuple[Maker, ...] = (auprec_by_prior,)
CURVES: tuple[Maker, ...] = (precision_recall, roc)


def _judged(evidence: Evidence) -> pl.Series:
    """The priors at which models are judged one by one."""
    if evidence.choice is not None:
        return evidence.choice.priors["prior"].unique()
    return evidence.measures["prior"].unique()


def _led(rows: pl.DataFrame, evidence: Evidence) -> pl.DataFrame:
    """The rows with the column of the models first, which gives the colour."""
    keys = evidence.question.keys
    return rows.select(*keys, pl.exclude(keys))


def _curves(evidence: Evidence) -> tuple[pl.DataFrame, bool]:
    """A curve per block, or per model where those would be too many; and which it is."""
    assert evidence.intake is not None
    keys = evidence.question.keys
    single = len(keys) > 1 and evidence.measures.select(keys).n_unique() <= MOST_LINES
    return evidence.intake.curves(keys if single else keys[:1]), single


def _falls(rows: pl.DataFrame, evidence: Evidence) -> str:
    """How far the mean of each model falls over the range."""
    low, high = rows["prior"].min(), rows["prior"].max()
    between = evidence.question.between
    means = (
        rows.group_by(between, "prior")
        .agg(pl.col("estimate").mean())
        .filter(pl.col("prior").is_in([low, high]))
    )
    said = []
    for model in _first(evidence):
        of_model = means.join(model.to_frame(), on=between, how="semi", nulls_equal=True)
        at = dict(of_model.select("prior", "estimate").iter_rows())
        if at.get(low) is not None and at.get(high) is not None:
            said.append(
                f"{model[0]} from {at[low]:.3f} at {percent(float(low))} positives to "  # type: ignore[arg-type]
                f"{at[high]:.3f} at {percent(float(high))}"  # type: ignore[arg-type]
            )
    return f"Mean area under the precision-recall curve (AUPREC): {_listed(said, evidence)}."


def _means(evidence: Evidence, column: str, told: str) -> str:
    pairs = zip(evidence.models, evidence.ranking[column], strict=True)
    said = [f"{model} {value:.3f}" for model, value in pairs if value is not None]
    return f"{told}: {_listed(said[:MOST_NAMED], evidence)}."


def _expected(evidence: Evidence) -> str:
    return _means(evidence, "expected", "Expected area under the curve")


def _first(evidence: Evidence) -> Iterator[pl.Series]:
    for place in range(min(len(evidence.models), MOST_NAMED)):
        yield evidence.models[place : place + 1]


def _listed(said: list[str], evidence: Evidence) -> str:
    rest = len(evidence.models) - MOST_NAMED
    return "; ".join([*said, *([f"and {rest} more"] if rest > 0 else [])])
