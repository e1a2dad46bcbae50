"""Figures of a report: their data, captions and colours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc import charts
from polaroc.base.columns import HAS_BOTH, join_by_key
from polaroc.base.text import named, number, percent, with_limits
from polaroc.charts.layers import data, line_layer, lines, tooltips
from polaroc.charts.measures import PERCENT_LABEL
from polaroc.charts.pairwise import estimates_in_words
from polaroc.charts.theme import COLOURS, SIZE, style, with_theme
from polaroc.charts.vega import escape_names
from polaroc.evaluation.evaluate import evaluate
from polaroc.models.comparison import first_pairs, interval_rule
from polaroc.models.inputs import cases_among, rows_among
from polaroc.predictions.cases import Cases
from polaroc.priors.grids import OBSERVED
from polaroc.probability.calibration import calibration_curve
from polaroc.reports.findings import Findings
from polaroc.reports.tables import ReportTable, column

if TYPE_CHECKING:
    import altair as alt

# Number of models in captions.
MAX_NAMED = 5
# Letters of a name that a legend has room for; pixels of a letter, and of what stands beside.
MAX_LETTERS, LETTER, SIDE = 40, 7, 20
POOLED = "; the rows of all folds of a model are in one curve"
# Least range of the slider of the explorer.
SLIDER = (0.001, 0.999)
# Height of the strip of the best model, as a share of the greatest value.
STRIP = 0.03
# Models whose probabilities are shown, and rows up to which they are.
MAX_CURVES, MAX_ROWS = 3, 2_000_000
BRIER = {
    "brier": "Brier score", "calibration_loss": "can be repaired", "refinement_loss": "stays",
}  # fmt: skip


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
        return escape_names(spec)

    @property
    def title(self) -> str:
        """Its heading."""
        return str(self.spec["usermeta"]["polaroc_title"])


def colours_of(findings: Findings) -> dict[str, str]:
    """The same colour for a model in every chart, the best model first."""
    in_order = findings.models.unique().sort(nulls_last=True)
    assigned = {str(model): COLOURS[i % len(COLOURS)] for i, model in enumerate(in_order)}
    return {str(model): assigned[str(model)] for model in findings.models}


def listed(sentences: Sequence[str], findings: Findings) -> str:
    """Phrases on the first models, and the number of further models."""
    rest = len(findings.models) + findings.undrawn - MAX_NAMED
    return "; ".join([*sentences[:MAX_NAMED], *([f"and {rest} more"] if rest > 0 else [])])


def explorer(findings: Findings) -> Figure | None:
    """Curves at a prior set by a slider."""
    if findings.curves is None:
        return None
    low, start, high = findings.request.priors
    colours = colours_of(findings)
    chart = charts.explorer(
        findings.curves, "Every threshold at any share of positives", prior=start,
        over=(min(SLIDER[0], low), max(SLIDER[1], high)), colours=colours,
    )  # fmt: skip
    caption = (
        "Move the slider to any share of positives, and point at a curve for a threshold and what "
        f"it does{POOLED if findings.folds > 1 else ''}."
    )
    shown = f"ROC and precision-recall curves of {named([*colours])}"
    alternative = f"{shown}, at first with {percent(start)} positives."
    return Figure("explorer", chart, caption, alternative, [*colours], wide=True)


def by_prior(findings: Findings) -> Figure | None:
    """The cost or AUPREC of each model against the prior, with a strip of the best model."""
    rows = findings.by_prior.drop_nulls("mean").sort("prior")
    if rows["prior"].n_unique() < 2:
        return None
    colours, sentences = colours_of(findings), []
    for model in findings.models.head(MAX_NAMED).to_frame().iter_slices(1):
        of_model = rows_among(rows, model).select("prior", "mean").rows()
        if of_model:
            (least, low), (most, high) = of_model[0], of_model[-1]
            sentences.append(
                f"{model.item()} from {number(low)} at {percent(least)} positives to "
                f"{number(high)} at {percent(most)}"
            )
    seen = listed(sentences, findings)
    strip = ". The strip at the foot has the colour of the best model" if len(colours) > 1 else ""
    if findings.by_cost:
        name = findings.judged_by
        chart = _costs(rows, colours, name)
        chart.layer.extend(_strip(rows, colours, STRIP * max(0, *rows["mean"])))
        return Figure(
            "cost-by-prior", chart,
            f"The {name} per case of each model, at the threshold that was set for it{strip}.",
            f"Expected {name} per case: {seen}.", [*colours], wide=True,
        )  # fmt: skip
    measures = rows.select(
        "model", "prior", measure=pl.lit("auprec"), estimate="mean", positives=0, negatives=0,
        note=pl.lit(None, pl.String),
    )  # fmt: skip
    heading = "Area under the precision-recall curve by share of positives"
    chart = charts.auprec_by_prior(measures, heading, colours=colours)
    if strip:
        chart.layer.extend(_strip(rows, colours, STRIP))
    caption = f"How much of each model is left as positives get rarer{strip}."
    area = "Mean area" if findings.folds > 1 else "Area"
    alternative = f"{area} under the precision-recall curve (AUPREC): {seen}."
    return Figure("auprec-by-prior", chart, caption, alternative, [*colours], wide=True)


def _costs(rows: pl.DataFrame, colours: Mapping[str, str], name: str) -> "alt.LayerChart":
    """The cost per case of each model, or the errors of one kind, which is linear in the prior."""
    from polaroc.charts.vega import alt

    drawn, axis = lines(rows, ["model"], x="prior", y="mean"), alt.Axis(labelExpr=PERCENT_LABEL)
    line = line_layer(
        data(drawn, "x", "y"), drawn,
        alt.X("x:Q", title="share of positives in use", axis=axis,
              scale=alt.Scale(zero=False, nice=False)),
        alt.Y("y:Q", title=f"expected {name} per case", scale=alt.Scale(zero=True)),
        *style([*colours], "model", colours),
        tooltips(["model"], {"x": ("prior", ".3~%"), "y": (name, ".3")}, "model"),
        strokeWidth=2.5,
    )  # fmt: skip
    chart = alt.layer(line).properties(width=1.3 * SIZE, height=SIZE)
    return with_theme(chart, f"Expected {name} by share of positives")


def _strip(rows: pl.DataFrame, colours: Mapping[str, str], height: float) -> "list[alt.Chart]":
    """The best model at each prior, as a strip on the axis of priors."""
    from polaroc.charts.vega import alt

    best = rows.filter("best").unique("prior", keep="first", maintain_order=True).sort("prior")
    priors = best["prior"].to_list()
    ends = [priors[0], *(sqrt(a * b) for a, b in pairwise(priors)), priors[-1]]
    won: dict[str, list[dict[str, float]]] = {}
    for model, low, high in zip(best["model"], ends, ends[1:], strict=False):
        won.setdefault(colours[str(model)], []).append({"from": low, "to": high})
    foot = {"x": "from:Q", "x2": "to:Q", "y": alt.datum(0), "y2": alt.datum(height)}
    return [
        data(records).mark_rect(clip=True, color=colour).encode(**foot)
        for colour, records in won.items()
    ]


def pairs(findings: Findings) -> Figure | None:
    """Differences of pairs of models."""
    comparison = findings.comparison
    if comparison is None:
        return None
    shown, _ = first_pairs(comparison, MAX_NAMED)
    first = shown.select("model_a", "model_b", "difference", "adjusted_lower", "adjusted_upper")
    sentences = [f"{a} − {b} {with_limits(*limits)}" for a, b, *limits in first.iter_rows()]
    rest = comparison.pairs.height - len(sentences)
    more = [f"and {rest} more"] if rest else []
    colours = colours_of(findings)
    return Figure(
        "pairs-chart",
        charts.pairs(comparison, "Differences between the models", colours=colours),
        f"Above, {estimates_in_words(comparison)}: models that share a letter do not differ "
        f"significantly; below, {interval_rule(comparison)}.",
        f"Differences (adjusted intervals): {'; '.join([*sentences, *more])}.",
        [*colours],
        wide=True,
        labels=[f"{a} − {b}" for a, b, *_ in first.iter_rows()],
    )


def reliability(findings: Findings) -> tuple[Figure, ReportTable] | str:
    """Reliability of the scores of the first three models, or why it is not shown."""
    cases, audit, request = findings.cases, findings.audit, findings.request
    if cases is None or audit is None or findings.curves is None:
        return ""
    first = findings.ranking.select("model").head(MAX_CURVES)
    keys = rows_among(first, _with_probabilities(audit))
    others = first.join(keys, on="model", how="anti", nulls_equal=True)["model"].to_list()
    lacking = f"The scores of {named(others)} are no probabilities" if others else ""
    if keys.is_empty() or not keys["model"][:1].equals(first["model"][:1], null_equal=True):
        return f"{lacking}, so it is not shown how often they are right."
    if audit["rows"].sum() > MAX_ROWS:
        return f"How often probabilities are right is not shown for more than {MAX_ROWS:,} rows."
    prior = request.belief.mean
    table = _brier_table(cases, keys, prior)
    curves = rows_among(findings.curves, keys)
    scores = calibration_curve(curves, [prior], score_prior=cases.score_prior, level=request.level)
    band = (
        "; the shadow is where the line would be, score by score, in "
        f"{percent(request.level)} of samples of independent cases if the scores were right"
    )
    if cases.in_clusters:
        # The band is that of independent cases.
        scores = scores.with_columns(
            pl.lit(None, pl.Float64).alias(end) for end in ("lower", "upper")
        )
        band = ""
    right_at = "the share of positives of the data"
    if cases.score_prior != OBSERVED:
        right_at = f"{percent(float(cases.score_prior))} positives"
    colours, shown = colours_of(findings), [str(model) for model in keys["model"]]
    scored = zip(shown, table.columns["Brier score"], strict=True)
    brier = "; ".join(f"{model} {score}" for model, score in scored)
    figure = Figure(
        "reliability",
        charts.reliability(
            scores, "When it says 30 %, how often is it right?",
            colours={name: colours[name] for name in shown},
        ),
        "The share of positives among cases by what their score says, which is right on the "
        f"diagonal{band}{POOLED if findings.folds > 1 else ''}. Scores are taken to be right at "
        f"{right_at}. The mean squared error (Brier score) has a part that can be repaired and one "
        f"that stays; skill is what they save over one guess for all."
        + (f" {lacking}: left out here." if others else ""),
        f"Share of positives by score, with {percent(prior)} positives. Brier score: {brier}.",
        shown,
    )  # fmt: skip
    return figure, table


def _with_probabilities(audit: pl.DataFrame) -> pl.DataFrame:
    """The models whose scores are probabilities, and no labels, of cases of both classes."""
    low, high = pl.col("lowest"), pl.col("highest")
    by_model = audit.group_by("model").agg(
        pl.col("positives", "negatives").sum(), low.min(), pl.max("highest", "scores")
    )
    are_labels = (low == 0) & (high == 1) & (pl.col("scores") <= 2)
    return by_model.filter(HAS_BOTH, low >= 0, high <= 1, ~are_labels).select("model")


def _brier_table(cases: Cases[pl.DataFrame], models: pl.DataFrame, prior: float) -> ReportTable:
    """The Brier scores of models at a prior, their parts, and the skill."""
    names = [*BRIER, "brier_skill"]
    measured = evaluate(
        cases_among(replace(cases, fold=()), models), measure=names, priors=prior,
        score_prior=cases.score_prior,
    )  # fmt: skip
    estimates = {name: pl.col("estimate").filter(measure=name).first() for name in names}
    wide = join_by_key(models, measured.group_by("model").agg(**estimates), ["model"])
    columns = {"model": column(wide["model"])}
    columns |= {name: column(wide[of], lambda x: number(x, 4)) for of, name in BRIER.items()}
    columns["skill"] = [
        None if one is None else f"{100 * one:.0f} %" for one in wide["brier_skill"]
    ]
    caption = f"How far the probabilities are off at {percent(prior)} positives"
    return ReportTable("probabilities", caption, columns)
