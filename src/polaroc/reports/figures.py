"""Figures of a report: their data, captions and colours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polaroc import charts
from polaroc.base.rounding import number, percent, significant
from polaroc.charts.pairwise import spread_in_words
from polaroc.charts.saving import escape_names
from polaroc.charts.theme import COLOURS
from polaroc.comparison.answer import changes
from polaroc.comparison.choice import Choice
from polaroc.comparison.compared import rows_among
from polaroc.comparison.result import first_pairs, interval_rule
from polaroc.curves.curve import curve
from polaroc.reports.findings import Findings, drawn
from polaroc.reports.ranking import AREA
from polaroc.reports.tables import ReportTable
from polaroc.reports.thresholds import shown_priors
from polaroc.thresholds.operating_points import operating_points

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
    """A part of a page: what it says, a figure, a table, and remarks below them."""

    answer: str = ""
    remarks: Sequence[str] = ()
    figure: Figure | None = None
    table: ReportTable | None = None


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
    in_digits = significant if findings.by_cost else number
    means = [f"{model} {in_digits(value)}" for model, value in pairs if value is not None]
    return f"{label}: {listed(means[:MAX_NAMED], findings)}."


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
        f"{means_in_words(findings, AREA, 'Area under the precision-recall curve')}",
        model_names(findings),
        wide=True,
    )


def roc(findings: Findings) -> Figure | None:
    """ROC curves."""
    if findings.cases is None:
        return None
    folds = findings.question.folds if findings.folds > 1 else []
    curves = curve(findings.cases)
    return Figure(
        "roc",
        charts.roc(curves, "ROC curves", band=folds or None, colours=colours(findings)),
        "Recall against the false alarm rate, whatever the share of positives"
        f"{': the mean over folds, with a band of one SD' if folds else ''}.",
        f"ROC curves. {means_in_words(findings, 'auc', 'Area under the ROC curve (AUC)')}",
        model_names(findings),
    )


def operating_drift(findings: Findings) -> Figure | None:
    """Drift of balanced operating points over the range."""
    if findings.curves is None:
        return None
    priors = shown_priors(findings.question.over)
    if len(priors) < 2:
        return None
    curves = findings.curves
    # Where errors of both kinds weigh the same the balanced point is that of equal error.
    equal = [0.5] if priors[0] < 0.5 < priors[-1] else []
    points = operating_points(curves, priors=sorted({*priors, *equal}))
    known = points.drop_nulls("tpr")
    return Figure(
        "operating-drift",
        charts.operating_drift(
            points, curves, "Where the balance of errors moves with the share of positives",
            colours=colours(findings),
        ),
        "Where there are as many missed positives as false alarms, from the lowest share of "
        "positives to the highest.",
        f"Balanced points: {_over_the_range(known, DRIFTS, findings)}.", model_names(findings),
    )  # fmt: skip


CURVES: tuple[Maker, ...] = (explorer, roc, operating_drift)


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
        f"{area} under the precision-recall curve (AUPREC): "
        f"{_over_the_range(known, FALLS, findings)}.",
        model_names(findings),
        wide=True,
    )


def winner_map(findings: Findings) -> Figure | None:
    """The best model at each prior; None where the page says that it is one at all of them."""
    choice = findings.choice
    if choice is None or not _over_priors(choice):
        return None
    best = choice.priors.filter("best")
    sentences = changes(choice.priors)
    if not sentences and findings.folds == 1:
        return None
    low, high = (percent(float(prior)) for prior in (best["prior"][0], best["prior"][-1]))
    sentences = sentences or [
        f"The best at every share of positives from {low} to {high} is "
        f"{best[findings.question.model][0]}."
    ]
    return Figure(
        "winner-map",
        charts.winner_map(choice, "Best model by share of positives", colours=colours(findings)),
        f"The model {'that costs least' if findings.by_cost else 'with the largest area'} at each "
        "share of positives"
        f"{', and below it the share of folds that each model wins' if findings.folds > 1 else ''}"
        f"{'; blank where it is not drawn' if findings.undrawn else ''}.",
        sentences[0],
        model_names(findings),
    )


def regret(findings: Findings) -> Figure | None:
    """Regret of each model against the prior."""
    if findings.choice is None or not _over_priors(findings.choice):
        return None
    return Figure(
        "regret",
        charts.regret(findings.choice, "Regret by share of positives", colours=colours(findings)),
        f"How much {'more a model costs per case than' if findings.by_cost else LOST} the best one "
        "at each share of positives; diamonds are at the worst.",
        means_in_words(findings, "worst_regret", "Worst regret over the range"),
        model_names(findings),
        wide=True,
    )


def accsens_plane(findings: Findings) -> Figure | None:
    """Error against prior sensitivity."""
    rows = findings.measures.filter(pl.col("estimate").is_not_null())
    if not {"auc_range", "sens", "accsens"} <= set(rows["measure"]):
        return None
    return Figure(
        "accsens-plane",
        charts.accsens_plane(
            _drawn(rows, findings),
            title="Error over the range and prior sensitivity",
            colours=colours(findings),
        ),
        "Further left are fewer errors over the range, further down errors that shift less with "
        f"the share of positives{_folds_in_words(findings, 'points')}.",
        means_in_words(findings, "sens", "Sens"),
        model_names(findings),
    )


def pairs(findings: Findings) -> Figure | None:
    """Differences of pairs of models."""
    if findings.comparison is None:
        return None
    shown, _ = first_pairs(findings.comparison, MAX_NAMED)
    first = shown.select(*shown.columns[:2], "difference", "adjusted_lower", "adjusted_upper")
    sentences = [
        f"{a} − {b} {number(d)} ({number(lo)} to {number(hi)})"
        for a, b, d, lo, hi in first.iter_rows()
    ]
    rest = findings.comparison.pairs.height - len(sentences)
    more = [f"and {rest} more"] if rest else []
    rule = interval_rule(findings.comparison.plan)
    return Figure(
        "pairs-chart",
        charts.pairs(
            findings.comparison, "Differences between the models", colours=colours(findings)
        ),
        f"Above, {spread_in_words(findings.comparison)}, which is no interval; below, {rule}.",
        f"Differences (adjusted intervals): {'; '.join([*sentences, *more])}.",
        model_names(findings),
        wide=True,
        labels=[f"{a} − {b}" for a, b, *_ in shown.iter_rows()],
    )


DRIFTS = (
    "from recall {low[tpr]} and false positive rate {low[fpr]} with {least} positives to "
    "{high[tpr]} and {high[fpr]} with {most}"
)
FALLS = "from {low[estimate]} at {least} positives to {high[estimate]} at {most}"
LOST = "area a model loses against"
# How many lines or points of single folds can still be seen.
MAX_SINGLE = 300
OVER_THE_RANGE: tuple[Maker, ...] = (auprec_by_prior, regret, winner_map, accsens_plane)
DIFFERENCES: tuple[Maker, ...] = (pairs,)


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


def _folds_in_words(findings: Findings, marks: str = "lines") -> str:
    """How folds are drawn, where there are any."""
    if findings.folds < 2:
        return ""
    if _too_many_folds(findings):
        return f"; drawn are means over the {findings.folds:,} folds"
    one, mean = ("thin", "thick") if marks == "lines" else ("small", "large")
    return f"; {one} {marks} are single folds, {mean} {marks} their mean"


def _over_priors(choice: Choice) -> bool:
    """Whether models were compared at several priors."""
    known = not choice.models["worst_regret"].null_count()
    return known and choice.priors["prior"].n_unique() > 1


def _over_the_range(rows: pl.DataFrame, words: str, findings: Findings) -> str:
    """What the rows of each of the first models say of the lowest and the highest prior."""
    sentences = []
    for model in first_models(findings):
        own = rows_among(rows, model.to_frame()).sort("prior").rows(named=True)
        if own:
            least, most = (percent(own[place]["prior"]) for place in (0, -1))
            low, high = (
                {name: number(own[place].get(name)) for name in ("tpr", "fpr", "estimate")}
                for place in (0, -1)
            )
            said = words.format(low=low, high=high, least=least, most=most)
            sentences.append(f"{model[0]} {said}")
    return listed(sentences, findings)
