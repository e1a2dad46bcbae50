"""Model and threshold together, by expected cost on cases that took no part in choosing them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import refuse_clash
from polaroc.base.private_columns import private
from polaroc.base.text import capitalised, named, noted_by_kind
from polaroc.curves.curve import curve
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted
from polaroc.inference.evidence import Evidence, no_evidence
from polaroc.inference.scored_cases import ScoredCases, model_column, read_cases
from polaroc.inference.test_sets import evidence_at_thresholds
from polaroc.models.choice import Choice, choice_among
from polaroc.models.inputs import read_inputs
from polaroc.models.posterior import COLUMNS, Posterior, posterior
from polaroc.models.stakes import Stakes, cost_in_words, how_sure_of_cost, take_first
from polaroc.predictions.cases import Cases, same_columns
from polaroc.priors.grids import skew
from polaroc.priors.in_use import ESTIMATE
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.named_rates import EXPECTED_COST, rate_at
from polaroc.thresholds.tuning_cases import refuse_tuning_cases, shared_with_tuning, with_model_type
from polaroc.typing import Array, Table

AT, KNOWN, WHY = (private(name) for name in ("at", "known", "why"))
# Exact limits of the cost, as `apply_thresholds` gives them.
COST_LIMITS = ("cost_lower", "cost_upper")
OF_THRESHOLD = ("threshold", "tpr", "fpr", *COST_LIMITS)
NOT_PROMISED = "no threshold can be promised: "


def choose_with_tuning(
    cases: Cases[Any], tuning: Table | Cases[Any] | None, stakes: Stakes, *, level: float
) -> Choice:
    """The model that costs least at the threshold chosen for it on `tuning`, any table."""
    if cases.truth is None:
        raise InvalidArgument(
            f"measure is {EXPECTED_COST!r}, which is taken of predictions, and truth and score are "
            "not given.",
            hint="give truth='truth' and score='score'.",
        )
    if tuning is None:
        raise InvalidArgument(
            f"measure is {EXPECTED_COST!r}, and there are no cases to choose thresholds on.",
            hint="give tuning=: predictions on cases that take no part otherwise; or fold='fold', "
            "where models were fitted anew in each fold.",
        )
    cases = cases.collect()
    # Thresholds that cost least need no clusters, those with a promise do.
    optional = ("model", "fold", "case", *(("cluster",) if stakes.confidence is None else ()))
    tuned = same_columns(cases, tuning, may_lack=optional).collect()
    tuned = with_model_type(tuned, cases)
    for one in (cases, tuned):
        _refuse_folds(one)
    shared = shared_with_tuning(cases, tuned)
    if stakes.confidence is None:
        tuned = replace(tuned, cluster=None)
    choice = choose_by_cost(cases, tuned, stakes, level=level)
    return replace(choice, warnings=(*shared, *choice.warnings))


def choose_by_cost(
    cases: Cases[Any], tuned: Cases[pl.DataFrame], stakes: Stakes, *, level: float
) -> Choice:
    """The same of predictions in memory, of which it is known whether they share cases."""
    given = read_inputs(cases)
    own, model = given.cases, given.model
    refuse_clash([model], (*COLUMNS, *OF_THRESHOLD, "mean", "prior", "regret", "best"))
    model_column(tuned)
    tuned = replace(tuned, fold=())
    curves = curve(tuned)
    own_curves = curve(own)
    models = own_curves[model].n_unique()
    if models < 2:
        raise InvalidArgument(
            f"{model!r} has {models} value(s), a choice needs two.",
            hint="operating_points(...) chooses the threshold of one model.",
        )
    refuse_tuning_cases(own_curves, curves, [model])
    lacking: list[object] = []
    if curves.schema[model] == own_curves.schema[model]:
        given_models, tuned_models = (
            table[model].unique().sort().to_list() for table in (own_curves, curves)
        )
        lacking = [one for one in given_models if one not in tuned_models]
    if lacking:
        raise InvalidPredictions(
            f"tuning has no cases of {quoted(lacking)}, so that there is no threshold to judge.",
            hint="give their predictions, or leave these models out.",
        )
    thresholds = stakes.thresholds(tuned)
    judged = _judged(own, model, thresholds, stakes, level)
    rated = judged.filter(KNOWN)
    evidence = _measured(own, rated, stakes)
    warnings = [*given.warnings]
    return _choice(judged, rated, stakes, evidence, level, warnings, (own_curves, curves))


def _refuse_folds(cases: Cases[pl.DataFrame]) -> None:
    several = [fold for fold in cases.fold if cases.rows[fold].n_unique() > 1]
    if several:
        raise InvalidArgument(
            f"{quoted(several)} has several values: models of folds are fitted anew, and a "
            "threshold belongs to one fitted model.",
            hint="keep one of the values, or drop the column if its values are not those of folds.",
        )


def _judged(
    own: Cases[pl.DataFrame], model: str, thresholds: pl.DataFrame, stakes: Stakes, level: float
) -> pl.DataFrame:
    """Rates of each model at its threshold, and exact limits of its cost, or why it has none."""
    priors: float | pl.DataFrame = stakes.belief.mean
    if (estimate := stakes.estimate) is not None:
        priors = estimate.select(name for name in ESTIMATE if name in estimate.columns)
    # The same table is refused before; equal rates of other cases are chance.
    judged = apply_thresholds(
        own, thresholds, same_table=True, intervals=True, level=level, priors=priors,
        cost_fn=stakes.fn, cost_fp=stakes.fp,
    )  # fmt: skip
    # Why there is no point, the points say.
    none = thresholds.filter(pl.col("share").is_null())
    why = none.select(pl.col(model).cast(judged.schema[model]), pl.col("note").alias(WHY))
    return judged.join(
        why, on=[model], how="left", nulls_equal=True, maintain_order="left"
    ).with_columns(
        pl.coalesce(WHY, "note").alias("note"),
        (pl.col("tpr").is_not_null() & pl.col("fpr").is_not_null()).alias(KNOWN),
    )


def _measured(own: Cases[pl.DataFrame], rated: pl.DataFrame, stakes: Stakes) -> Evidence:
    """Evidence on what the models that have rates cost."""
    if rated.is_empty():
        return no_evidence("no model has a threshold")
    cost = rate_at(EXPECTED_COST, skew(stakes.belief.mean), stakes.fn, stakes.fp)
    return evidence_at_thresholds(_scored(own, rated), rated["threshold"].to_list(), cost)


def _scored(cases: Cases[pl.DataFrame], rated: pl.DataFrame) -> ScoredCases:
    """The cases, scored by the models that have rates."""
    compared = read_cases(cases, unpaired=cases.case is None)
    models = rated.to_series(0).cast(compared.kind).to_list()
    return compared.scored.of([compared.scored.models.index(model) for model in models])


def _choice(
    judged: pl.DataFrame,
    rated: pl.DataFrame,
    stakes: Stakes,
    evidence: Evidence,
    level: float,
    warnings: Sequence[str],
    curves: Sequence[pl.DataFrame],
) -> Choice:
    measured, models = stakes.expected(rated), rated.to_series(0)
    known = posterior(evidence, higher=False, level=level)
    if known is not None:
        exact = (rated[name].to_numpy() for name in COST_LIMITS)
        known = of_costs(known, measured.expected[0], *exact)
    unrated = judged.filter(~pl.col(KNOWN))
    lacking = unrated.select(models.name, "note")

    def answer(ranked: pl.DataFrame, threshold: str | None) -> str:
        if ranked.is_empty():
            return _why_none(judged)
        said = _sentence(ranked, threshold, stakes, is_bound=evidence.is_bound)
        return said + _without_threshold(judged)

    of_rates = rated.select(models.name, pl.lit(None, pl.Float64).alias("sens"), *OF_THRESHOLD)
    choice = choice_among(
        models, measured, evidence, known, of_rates, answer,
        name="cost", limits=(0.0, None), level=level,
        unranked=unrated.select(models.name, *OF_THRESHOLD[:3]), curves=curves,
        last=(
            *([] if stakes.estimate is None else [stakes.belief.interval_note]),
            *(f"No cost of {noted}" for noted in noted_by_kind(lacking.rows())),
            *warnings,
        ),
        comparison=None, measure=EXPECTED_COST, folds=(), fold_count=1,
    )  # fmt: skip
    return choice if choice.threshold is None else replace(choice, promise=stakes.promise())


def of_costs(known: Posterior, means: "Array", lower: "Array", upper: "Array") -> Posterior:
    """The posterior of costs, from that of their negatives and exact limits of each cost.

    The costs of few errors are not normal, and exact limits do not allow for a model having been
    picked: they are widened by as much as its mean is corrected.
    """
    corrected = known.expected - means
    return known._replace(
        lower=np.fmin(known.lower, lower + np.minimum(corrected, 0)),
        upper=np.fmax(known.upper, upper + np.maximum(corrected, 0)),
    )


def _why_none(judged: pl.DataFrame) -> str:
    """Why no model has a threshold."""
    notes = judged.drop_nulls("note").select(judged.columns[0], "note")
    is_promise = notes["note"].str.starts_with(NOT_PROMISED).all()
    start = NOT_PROMISED if is_promise else "no model has a threshold that may be used: "
    start = capitalised(start)
    reasons = notes.with_columns(pl.col("note").str.strip_prefix(NOT_PROMISED))
    if reasons["note"].n_unique() == 1:
        return f"{start}{reasons['note'][0]}."
    return f"{start}{' '.join(noted_by_kind(reasons.rows()))}"


def _sentence(
    ranked: pl.DataFrame, threshold: str | None, stakes: Stakes, *, is_bound: bool
) -> str:
    """Which model with which threshold, what that does and costs, and how sure it is."""
    act = "raise no alarm" if threshold is None else f"act on scores from {threshold}"
    sure = how_sure_of_cost(ranked, stakes, is_bound=is_bound)
    return f"{take_first(ranked)}, and {act}. {cost_in_words(ranked, stakes)} {sure}".rstrip()


def _without_threshold(judged: pl.DataFrame) -> str:
    """The models of which no threshold keeps to the constraints: they are not compared."""
    models = judged.filter(pl.col("note").str.starts_with(NOT_PROMISED)).to_series(0).to_list()
    if not models:
        return ""
    have = "has" if len(models) == 1 else "have"
    return f" {named(models)} {have} no threshold that keeps to the constraints."
