"""Figures of the models over the range of priors, and of their differences."""

import polars as pl

from polaroc import charts
from polaroc.base.rounding import limit, percent
from polaroc.charts.pairwise import spread_in_words
from polaroc.comparison.answer import changes
from polaroc.comparison.choice import Choice
from polaroc.comparison.compared import rows_among
from polaroc.comparison.result import first_pairs, interval_rule
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
from polaroc.reports.findings import Findings


def auprec_by_prior(findings: Findings) -> Figure | None:
    """AUPREC of each model against the prior."""
    judged = findings.measures if findings.choice is None else findings.choice.priors
    # Slightly widened, since digits are rounded.
    prior = pl.col("prior")
    low, high = judged.select(low=prior.min() * (1 - 1e-9), high=prior.max() * (1 + 1e-9)).row(0)
    rows = findings.measures.filter(measure="auprec").filter(prior.is_between(low, high))
    if rows["prior"].n_unique() < 2:
        return None
    return Figure(
        "auprec-by-prior",
        charts.auprec_by_prior(
            _drawn(rows, findings),
            "Area under the precision-recall curve by share of positives",
            colours=colours(findings),
        ),
        f"How much of each model is left as positives get rarer{_folds_in_words(findings)}.",
        _falls(rows, findings),
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
        "at each share of positives; beside it from the mean (point) to the worst (diamond).",
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
        f"{a} − {b} {d:.3f} ({limit(lo)} to {limit(hi)})" for a, b, d, lo, hi in first.iter_rows()
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


def _falls(rows: pl.DataFrame, findings: Findings) -> str:
    """How far the mean of each model falls over the range."""
    low, high = rows["prior"].min(), rows["prior"].max()
    means = (
        rows.group_by(findings.question.model, "prior")
        .agg(pl.col("estimate").mean())
        .filter(pl.col("prior").is_in([low, high]))
    )
    sentences = []
    for model in first_models(findings):
        of_model = rows_among(means, model.to_frame())
        at = dict(of_model.select("prior", "estimate").iter_rows())
        if at.get(low) is not None and at.get(high) is not None:
            sentences.append(
                f"{model[0]} from {at[low]:.3f} at "
                f"{percent(float(low))} positives to "  # type: ignore[arg-type]
                f"{at[high]:.3f} at {percent(float(high))}"  # type: ignore[arg-type]
            )
    area = "Mean area" if findings.folds > 1 else "Area"
    return f"{area} under the precision-recall curve (AUPREC): {listed(sentences, findings)}."
