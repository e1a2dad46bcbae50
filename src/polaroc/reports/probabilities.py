"""How often scores that are probabilities are right: a figure, and the parts of their error."""

import polars as pl

from polaroc import charts
from polaroc.base.private_columns import private
from polaroc.base.rounding import percent
from polaroc.base.text import named, one_name
from polaroc.measures.catalog import select_measures
from polaroc.measures.functions import measures_of_curves
from polaroc.models.inputs import rows_among
from polaroc.priors.grids import OBSERVED
from polaroc.probability.calibration_curve import calibration_curve
from polaroc.reports.figures import MAX_DRAWN, POOLED, Figure, Section, colours
from polaroc.reports.findings import Findings, drawn
from polaroc.reports.tables import Column, ReportTable, column, numbers
from polaroc.reports.thresholds import shown_priors
from polaroc.typing import Prior

USABLE = private("usable")
MAX_CURVES, DIGITS, MAX_ROWS = 3, 4, 2_000_000
ENDS = ("lower", "upper")
BRIER_PARTS = {
    "brier": "Brier score",
    "calibration_loss": "can be repaired",
    "refinement_loss": "stays",
}
MEANING = (
    "The mean squared error of the probabilities (Brier score) has two parts: calibration, which "
    "polaroc.probabilities can repair, and refinement, which stays. Skill is the share of the "
    "error that they save, compared with giving every case the share of positives. Scores are "
    "taken to be right at {}, and are re-weighted to other shares."
)
NO_PROBABILITIES = (
    "The scores of {} are no probabilities, so it is not shown how often they are right. "
    "polaroc.probabilities makes probabilities of them, with other cases."
)
LEFT_OUT = " The scores of {} are no probabilities: left out here."
TOO_MANY = (
    f"How often probabilities are right is not shown for more than {MAX_ROWS:,} rows: see "
    "polaroc.calibration."
)


def calibration(findings: Findings) -> Section:
    """How often the scores of the first three models are right, or why that is not shown."""
    if findings.curves is None or findings.audit is None:
        return Section()
    first = findings.models.head(MAX_CURVES)
    keys = rows_among(first.to_frame(), _with_probabilities(findings.audit, first.name))
    if first[:1].is_in(keys.to_series().implode(), nulls_equal=True).not_().item():
        return Section(NO_PROBABILITIES.format(one_name(first[0])))
    if findings.audit["rows"].sum() > MAX_ROWS:
        return Section(TOO_MANY)
    curves = rows_among(findings.curves, keys)
    right_at = findings.score_prior
    table = _table(curves, keys, shown_priors(findings.question.over), right_at)
    where = "the share of positives of the data"
    if right_at != OBSERVED:
        where = f"{percent(float(right_at))} positives"
    others = [one for one in first if one not in keys.to_series()]
    said = MEANING.format(where) + (LEFT_OUT.format(named(others)) if others else "")
    figure = _figure(drawn(findings, MAX_DRAWN), curves, keys, table)
    return Section(said, figure=figure, table=table)


def _with_probabilities(audit: pl.DataFrame, model: str) -> pl.DataFrame:
    """The models of which all scores are from 0 to 1, and not only 0 and 1."""
    lowest, highest = pl.col("lowest").min(), pl.col("highest").max()
    labels = (lowest == 0) & (highest == 1) & (pl.col("scores").max() <= 2)
    both = (pl.col("positives").sum() > 0) & (pl.col("negatives").sum() > 0)
    usable = (lowest >= 0) & (highest <= 1) & ~labels & both
    return audit.group_by(model).agg(usable.alias(USABLE)).filter(USABLE).select(model)


def _table(
    curves: pl.DataFrame, keys: pl.DataFrame, priors: list[float], score_prior: Prior
) -> ReportTable:
    """The Brier score of each model at each prior, its parts and its skill."""
    names = [*BRIER_PARTS, "brier_skill"]
    selected = select_measures(names, priors, None, "exact", score_prior=score_prior)
    long = measures_of_curves(curves.lazy(), selected).collect()
    model, estimate = keys.columns[0], pl.col("estimate")
    estimates = {name: estimate.filter(measure=name).first() for name in names}
    by_prior = long.group_by(model, "prior").agg(**estimates).sort("prior")
    wide = keys.join(by_prior, on=[model], nulls_equal=True, maintain_order="left_right")
    columns: dict[str, Column] = {
        "model": column(wide[model]),
        "positives": column(wide["prior"], percent),
    }
    columns |= {heading: numbers(wide[name], DIGITS) for name, heading in BRIER_PARTS.items()}
    columns["skill"] = [
        None if skill is None else f"{100 * skill:.0f} %" for skill in wide["brier_skill"]
    ]
    return ReportTable("probabilities", "How far the probabilities are off", columns)


def _figure(
    findings: Findings, curves: pl.DataFrame, keys: pl.DataFrame, table: ReportTable
) -> Figure:
    """The share of positives by score, at the prior in the middle of the range."""
    priors, level = shown_priors(findings.question.over), findings.question.level
    middle = priors[len(priors) // 2]
    scores = calibration_curve(curves, [middle], score_prior=findings.score_prior, level=level)
    if findings.question.compared.cases.in_clusters:
        # The band is that of independent cases.
        scores = scores.with_columns(pl.lit(None, pl.Float64).alias(end) for end in ENDS)
    names = [str(model) for model in keys.to_series()]
    band = (
        "; the shadow is where the line would be, score by score, in "
        f"{percent(level)} of samples of independent cases if the scores were right"
    )
    shares = table.columns["positives"]
    errors = [
        f"{model} {error}"
        for model, share, error in zip(
            table.columns["model"], shares, table.columns[BRIER_PARTS["brier"]], strict=True
        )
        if share == percent(middle)
    ]
    return Figure(
        "reliability",
        charts.reliability(
            scores,
            "When it says 30 %, how often is it right?",
            colours={name: colours(findings)[name] for name in names},
        ),
        "The share of positives among cases by what their score says, which is right on the "
        f"diagonal{'' if scores['lower'].is_null().all() else band}"
        f"{POOLED if findings.folds > 1 else ''}.",
        f"Share of positives by score, with {percent(middle)} positives. "
        f"Brier score: {'; '.join(errors)}.",
        names,
    )
