"""Figures of the models over the range of priors, and of their differences."""

import polars as pl

from polaroc import charts
from polaroc.base.rounding import limit, percent
from polaroc.base.text import capitalised
from polaroc.choice.answer import changes
from polaroc.choice.result import Choice
from polaroc.comparison.result import first_pairs, interval_rule
from polaroc.reports.evidence import Evidence
from polaroc.reports.figures import (
    MAX_NAMED,
    Figure,
    Maker,
    colours,
    first_models,
    listed,
    means_in_words,
    model_names,
)
from polaroc.reports.inputs import within


def auprec_by_prior(evidence: Evidence) -> Figure | None:
    """AUPREC of each model against the prior."""
    judged = evidence.measures if evidence.choice is None else evidence.choice.priors
    # Slightly widened, since digits are rounded.
    prior = pl.col("prior")
    low, high = judged.select(low=prior.min() * (1 - 1e-9), high=prior.max() * (1 + 1e-9)).row(0)
    rows = evidence.measures.filter(measure="auprec").filter(prior.is_between(low, high))
    if rows["prior"].n_unique() < 2:
        return None
    return Figure(
        "auprec-by-prior",
        charts.auprec_by_prior(
            _drawn(rows, evidence),
            "Area under the precision-recall curve by share of positives",
            colours=colours(evidence),
        ),
        f"How much of each model is left as positives get rarer{_folds_in_words(evidence)}.",
        _falls(rows, evidence),
        model_names(evidence),
        wide=True,
    )


def winner_map(evidence: Evidence) -> Figure | None:
    """The best model at each prior."""
    choice = evidence.choice
    if choice is None or not _over_priors(choice):
        return None
    best = choice.priors.filter("best")
    low, high = (percent(float(prior)) for prior in (best["prior"][0], best["prior"][-1]))
    sentences = changes(choice.priors) or [
        f"The best at every share of positives from {low} to {high} is "
        f"{best[evidence.question.model][0]}."
    ]
    return Figure(
        "winner-map",
        charts.winner_map(choice, "Best model by share of positives", colours=colours(evidence)),
        f"The model {'that costs least' if evidence.by_cost else 'with the largest area'} at each "
        "share of positives"
        f"{', and below it the share of folds that each model wins' if evidence.folds > 1 else ''}"
        f"{'; blank where it is not drawn' if evidence.undrawn else ''}.",
        sentences[0],
        model_names(evidence),
    )


def regret(evidence: Evidence) -> Figure | None:
    """Regret of each model against the prior."""
    if evidence.choice is None or not _over_priors(evidence.choice):
        return None
    return Figure(
        "regret",
        charts.regret(evidence.choice, "Regret by share of positives", colours=colours(evidence)),
        f"How much {'more a model costs per case than' if evidence.by_cost else LOST} the best one "
        "at each share of positives; beside it from the mean (point) to the worst (diamond).",
        means_in_words(evidence, "worst_regret", "Worst regret over the range"),
        model_names(evidence),
        wide=True,
    )


def accsens_plane(evidence: Evidence) -> Figure | None:
    """Error against prior sensitivity."""
    rows = evidence.measures.filter(pl.col("estimate").is_not_null())
    if not {"auc_range", "sens", "accsens"} <= set(rows["measure"]):
        return None
    return Figure(
        "accsens-plane",
        charts.accsens_plane(
            _drawn(rows, evidence),
            title="Error over the range and prior sensitivity",
            colours=colours(evidence),
        ),
        "Further left are fewer errors over the range, further down errors that shift less with "
        f"the share of positives{_folds_in_words(evidence, 'points')}.",
        means_in_words(evidence, "sens", "Sens"),
        model_names(evidence),
    )


def pairs(evidence: Evidence) -> Figure | None:
    """Differences of pairs of models."""
    if evidence.comparison is None:
        return None
    shown, _ = first_pairs(evidence.comparison, MAX_NAMED)
    first = shown.select(*shown.columns[:2], "difference", "lower", "upper")
    sentences = [
        f"{a} − {b} {d:.3f} ({limit(lo)} to {limit(hi)})" for a, b, d, lo, hi in first.iter_rows()
    ]
    rest = evidence.comparison.pairs.height - len(sentences)
    rule = interval_rule(evidence.comparison.plan)
    return Figure(
        "pairs-chart",
        charts.pairs(
            evidence.comparison, "Differences between the models", colours=colours(evidence)
        ),
        f"{capitalised(rule)}.",
        f"Differences: {'; '.join([*sentences, *([f'and {rest} more'] if rest else [])])}.",
        model_names(evidence),
        wide=True,
        labels=[f"{a} − {b}" for a, b, *_ in shown.iter_rows()],
    )


LOST = "area a model loses against"
# How many lines or points of single folds can still be seen.
MAX_SINGLE = 300
OVER_THE_RANGE: tuple[Maker, ...] = (auprec_by_prior, regret, winner_map, accsens_plane)
DIFFERENCES: tuple[Maker, ...] = (pairs,)


def _drawn(rows: pl.DataFrame, evidence: Evidence) -> pl.DataFrame:
    """The rows with the models first, which give the colour; of many folds only their mean."""
    keys = evidence.question.keys
    # Limits are known of the mean over the range only.
    rows = rows.drop("lower", "upper", strict=False)
    if not _too_many_folds(evidence):
        return rows.select(*keys, pl.exclude(keys))
    model = evidence.question.model
    return (
        rows.group_by(model, "measure", "prior")
        .agg(
            pl.col("estimate").mean(),
            pl.col("positives", "negatives").sum(),
            pl.lit(None, pl.String).alias("note"),
        )
        .sort(model, "measure", "prior", nulls_last=True)
    )


def _too_many_folds(evidence: Evidence) -> bool:
    return len(evidence.models) * evidence.folds > MAX_SINGLE


def _folds_in_words(evidence: Evidence, marks: str = "lines") -> str:
    """How folds are drawn, where there are any."""
    if evidence.folds < 2:
        return ""
    if _too_many_folds(evidence):
        return f"; drawn are means over the {evidence.folds:,} folds"
    one, mean = ("thin", "thick") if marks == "lines" else ("small", "large")
    return f"; {one} {marks} are single folds, {mean} {marks} their mean"


def _over_priors(choice: Choice) -> bool:
    """Whether models were compared at several priors."""
    known = not choice.models["worst_regret"].null_count()
    return known and choice.priors["prior"].n_unique() > 1


def _falls(rows: pl.DataFrame, evidence: Evidence) -> str:
    """How far the mean of each model falls over the range."""
    low, high = rows["prior"].min(), rows["prior"].max()
    means = (
        rows.group_by(evidence.question.model, "prior")
        .agg(pl.col("estimate").mean())
        .filter(pl.col("prior").is_in([low, high]))
    )
    sentences = []
    for model in first_models(evidence):
        of_model = within(means, model.to_frame())
        at = dict(of_model.select("prior", "estimate").iter_rows())
        if at.get(low) is not None and at.get(high) is not None:
            sentences.append(
                f"{model[0]} from {at[low]:.3f} at "
                f"{percent(float(low))} positives to "  # type: ignore[arg-type]
                f"{at[high]:.3f} at {percent(float(high))}"  # type: ignore[arg-type]
            )
    area = "Mean area" if evidence.folds > 1 else "Area"
    return f"{area} under the precision-recall curve (AUPREC): {listed(sentences, evidence)}."
