"""Figures of curves: at any prior, over the range, and of the drift of operating points."""

import polars as pl

from polaroc import charts
from polaroc.base.rounding import percent
from polaroc.comparison.compared import rows_among
from polaroc.curves.curve import curve
from polaroc.curves.hull import achievable, hulls
from polaroc.priors.grids import prior_grid
from polaroc.reports.figures import (
    Figure,
    Maker,
    colours,
    first_models,
    listed,
    means_in_words,
    model_names,
)
from polaroc.reports.findings import Findings
from polaroc.reports.thresholds import shown_priors
from polaroc.thresholds.operating_points import operating_points

# Heat maps of many models would fill pages; on a grid that looks smooth in so small a panel.
MAX_PANELS, ROWS, RECALLS, AT_RECALL, SAME = 4, 15, 41, 0.8, 1e-9
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
        f"{means_in_words(findings, 'expected', 'Area under the precision-recall curve')}",
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


def surface(findings: Findings) -> Figure | None:
    """Precision by recall and prior, of the first models."""
    if findings.curves is None:
        return None
    priors = shown_priors(findings.question.over)
    if len(priors) < 2:
        return None
    shown = findings.models.head(MAX_PANELS).to_frame()
    few = hulls(rows_among(findings.curves, shown).lazy()).collect()
    few_names = model_names(findings)[:MAX_PANELS]
    grid = achievable(few, prior_grid(priors[0], priors[-1], ROWS, "log"), recall=RECALLS)
    all_shown = len(few_names) == len(findings.models) + findings.undrawn
    which = "Precision" if all_shown else "The best models: precision"
    chart = charts.surface(grid, "Achievable precision by recall and share of positives")
    chart.facet.sort = [f"{name} " for name in few_names]
    return Figure(
        "surface",
        chart,
        f"{which} of the best mixture of thresholds in hindsight; lines join equal precision.",
        f"Achievable precision at recall {AT_RECALL:g}: {_achieved(grid, findings)}.",
        few_names,
        wide=True,
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
    return Figure(
        "operating-drift",
        charts.operating_drift(
            points, curves, "Where the balance of errors moves with the share of positives",
            colours=colours(findings),
        ),
        "Where missed positives are as many as false alarms, from the lowest share of positives to "
        "the highest.",
        _drift(points, findings), model_names(findings),
    )  # fmt: skip


CURVES: tuple[Maker, ...] = (explorer, roc, operating_drift, surface)


def _achieved(grid: pl.DataFrame, findings: Findings) -> str:
    """The precision of each model at one recall, at the ends of the range."""
    at = grid.filter((pl.col("tpr") - AT_RECALL).abs() < SAME).sort("prior")
    sentences = []
    for model in first_models(findings):
        rows = rows_among(at, model.to_frame())
        ends = rows.select("prior", "precision").rows()
        if ends and ends[0][1] is not None:
            low, high = (
                f"{value:.3f} with {percent(prior)} positives"
                for prior, value in (ends[0], ends[-1])
            )
            sentences.append(f"{model[0]} {low}, {high}")
    return "; ".join(sentences)


def _drift(points: pl.DataFrame, findings: Findings) -> str:
    """Where the balanced point of each model is at the ends of the range."""
    sentences = []
    low, high = points["prior"].min(), shown_priors(findings.question.over)[-1]
    for model in first_models(findings):
        rows = rows_among(points, model.to_frame())
        at = {prior: (tpr, fpr) for prior, tpr, fpr in rows.select("prior", "tpr", "fpr").rows()}
        if at.get(low, (None,))[0] is not None and at.get(high, (None,))[0] is not None:
            sentences.append(
                f"{model[0]} from recall {at[low][0]:.3f} and false positive rate "
                f"{at[low][1]:.3f} to {at[high][0]:.3f} and {at[high][1]:.3f}"
            )
    ends = f"from {percent(float(low))} to {percent(high)} positives"  # type: ignore[arg-type]
    return f"Balanced points {ends}: {listed(sentences, findings)}."
