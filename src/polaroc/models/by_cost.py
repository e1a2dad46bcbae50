"""Model and threshold together, by expected cost on cases that did not set the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.columns import with_level
from polaroc.base.text import named, noted_by_kind, one_name
from polaroc.curves.curve import curve
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted
from polaroc.inference.evidence import NO_CASE, Evidence, evidence_from_folds, no_evidence
from polaroc.inference.test_sets import evidence_at_thresholds
from polaroc.models.choice import Candidates, Choice, caveats, certainty, ranked_models
from polaroc.models.fold_thresholds import (
    ON_OTHERS,
    doubts_of_folds,
    judged_on_other_folds,
    rates_across_folds,
    read_folds,
)
from polaroc.models.inputs import Inputs, check_model, of_keys
from polaroc.models.measure_rows import fold_values, rows_of
from polaroc.models.paired_cases import read_cases
from polaroc.models.sentences import (
    count_tied,
    describe_priors,
    first_words,
    three_digits,
    two_digits,
)
from polaroc.predictions.cases import Cases, same_columns
from polaroc.priors.beliefs import Belief, Over, resolve_belief
from polaroc.thresholds.apply_thresholds import (
    apply_thresholds,
    shared_with_tuning,
    with_model_type,
)
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.rules import Need
from polaroc.thresholds.saved import threshold_texts
from polaroc.typing import Array, Table

EXPECTED_COST = "expected_cost"
# Priors at which costs are compared within a range: regrets are largest at its ends.
GRID = 25
# Positives, at the least, among the cases of which the answer speaks.
MIN_POSITIVES = 10


class Costs(NamedTuple):
    """Costs of wrong calls, the range or belief of the prior, and constraints."""

    fn: float
    fp: float
    over: Over
    constraints: Mapping[str, float] | None = None
    confidence: float | None = None

    @property
    def belief(self) -> Belief:
        """The belief about the prior."""
        return resolve_belief(self.over)

    @property
    def priors(self) -> Array:
        """Where models are compared one by one; costs are linear in the prior."""
        return np.unique(np.linspace(*self.belief.range, GRID))

    @property
    def cases(self) -> int:
        """The number of cases that the answer is about."""
        cases = 1000
        while cases * self.belief.mean < MIN_POSITIVES:
            cases *= 10
        return cases


def choose_with_tuning(
    inputs: Inputs, tuning: Table | Cases[Any], costs: Costs, *, as_read: Cases[Any], level: float
) -> Choice:
    """The model that costs least at the threshold chosen for it on `tuning`, any table.

    `as_read` are the cases before some were left out, with whose columns `tuning` is read.
    """
    as_read = as_read.collect()
    # Thresholds that cost least need no clusters, those with a promise do.
    optional = ("model", "fold", "case", *(("cluster",) if costs.confidence is None else ()))
    tuned = with_model_type(same_columns(as_read, tuning, may_lack=optional).collect(), as_read)
    if several := [*inputs.folds, *(one for one in tuned.fold if tuned.rows[one].n_unique() > 1)]:
        raise InvalidArgument(
            f"{quoted(several)} has several values: models of folds are fitted anew, and a "
            "threshold belongs to one fitted model.",
            hint="keep one of the values, or drop the column if its values are not those of folds.",
        )
    shared, cases = shared_with_tuning(as_read, tuned), inputs.cases
    tuned = replace(tuned, fold=(), cluster=tuned.cluster if costs.confidence else None)
    check_model(tuned)
    models = cases.rows.select("model").unique()
    lacking = models.join(tuned.rows, on="model", how="anti", nulls_equal=True)
    if lacking.height:
        raise InvalidPredictions(
            f"tuning has no cases of {quoted(lacking['model'].sort().to_list())}.",
            hint="give their predictions, or leave these models out.",
        )
    rates, promise = _rates(cases, tuned, costs, level)
    has_rates = pl.col("tpr").is_not_null() & pl.col("fpr").is_not_null()
    rated, unrated = rates.filter(has_rates), rates.filter(~has_rates)
    reasons = noted_by_kind(unrated.select("model", "note").rows())
    evidence, prior = no_evidence(NO_CASE), costs.belief.mean
    if rated.height and cases.case is not None:
        scored = read_cases(cases)
        known = rated["model"].cast(cases.rows["model"].dtype)
        evidence = evidence_at_thresholds(
            scored.of([list(scored.models).index(one) for one in known]),
            rated["threshold"].to_list(), prior * costs.fn, (1 - prior) * costs.fp,
        )  # fmt: skip
    missed, alarms = costs.fn * (1 - rated["tpr"].to_numpy()), costs.fp * rated["fpr"].to_numpy()
    choice = _choice(
        rated, unrated, evidence, missed[None], alarms[None], costs, level, (cases, tuned),
        [*(f"No cost of {reason}" for reason in reasons), *inputs.warnings],
    )  # fmt: skip
    choice = replace(choice, warnings=(*shared, *choice.warnings))
    if rated.is_empty():
        return replace(choice, answer=f"No model has a threshold. {' '.join(reasons)}")
    return choice if choice.threshold is None else replace(choice, promise=promise)


def _rates(
    cases: Cases[pl.DataFrame], tuned: Cases[pl.DataFrame], costs: Costs, level: float
) -> tuple[pl.DataFrame, str | None]:
    """Rates of each model at its threshold, and exact limits of its cost, or why it has none.

    The promise, if any, is that of all models: they hold at once.
    """
    thresholds: pl.DataFrame = operating_points(
        tuned, "cost", over=costs.over, constraints=costs.constraints,
        confidence=costs.confidence, cost_fn=costs.fn, cost_fp=costs.fp,
    )  # fmt: skip
    belief = costs.belief
    priors: float | pl.DataFrame = belief.mean
    if belief.is_estimate and belief.ends is not None:
        lower, upper = belief.ends
        priors = pl.DataFrame({"prior": [belief.mean], "lower": [lower], "upper": [upper]})
    # The same table is refused before; equal rates of other cases are chance.
    rates: pl.DataFrame = apply_thresholds(
        cases, thresholds, same_table=True, intervals=True, level=level, priors=priors,
        cost_fn=costs.fn, cost_fp=costs.fp,
    )  # fmt: skip
    if costs.confidence is None:
        return rates, None
    promises = thresholds["promise"].drop_nulls().to_list()
    return rates, promises[0] if promises else None


def choose_by_cost_of_folds(inputs: Inputs, costs: Costs, *, level: float) -> Choice:
    """The model that costs least at thresholds that other folds set."""
    cases, (fold,), rows, beside, folds_of = inputs.cases, inputs.folds, [], [], {}
    at = costs.belief.mean
    need = Need("cost", (at,), 0, costs.fn, costs.fp)
    for name in cases.rows.select("model").unique().sort("model").iter_slices(1):
        of_model = of_keys(cases, name)
        folds = folds_of[name.item()] = read_folds(of_model)
        held_out = rates_across_folds(folds, [need])
        (threshold,), tpr, fpr = folds.thresholds([need]), held_out.tpr[0], held_out.fpr[0]
        beside.append((threshold, float(tpr.mean()), float(fpr.mean())))
        keys = of_model.rows.select(fold).unique().sort(fold, nulls_last=True)
        positives, negatives = folds.totals(keys.height)
        # The cost is linear between the priors 0 and 1, where it is that of one class.
        rows += [
            name.join(keys, how="cross").with_columns(
                measure=pl.lit(EXPECTED_COST), prior=prior,
                estimate=pl.Series(values, dtype=pl.Float64),
                positives=pl.Series(positives), negatives=pl.Series(negatives),
            )
            for prior, values in ((0.0, costs.fp * fpr), (1.0, costs.fn * (1 - tpr)))
        ]  # fmt: skip
    table = fold_values(rows_of(pl.concat(rows), EXPECTED_COST), (0.0, 1.0))
    table.check_folds()
    alarms, missed = np.moveaxis(table.values, -1, 0)
    evidence = evidence_from_folds(
        at * missed + (1 - at) * alarms, inputs.test_train_ratio, table.models
    )
    lower, upper = (np.maximum(ends[0], 0) for ends in evidence.limits(level))
    names = ["threshold", "tpr", "fpr"]
    rated = pl.DataFrame(beside, dict.fromkeys(names, pl.Float64), orient="row").with_columns(
        table.models, cost_lower=pl.Series(lower), cost_upper=pl.Series(upper)
    )
    choice = _choice(
        rated, rated.clear(), evidence, missed, alarms, costs, level, [replace(cases, fold=())],
        [*inputs.warnings, *table.warnings, judged_on_other_folds(len(missed))],
        folds=inputs.folds,
    )  # fmt: skip
    doubts = doubts_of_folds(folds_of[choice.bayes], has_case=cases.case is not None)
    return replace(choice, warnings=(*choice.warnings, *doubts))


def _choice(
    rated: pl.DataFrame, unrated: pl.DataFrame, evidence: Evidence, missed: Array, alarms: Array,
    costs: Costs, level: float, tables: Sequence[Cases[Any]], warnings: list[str], *,
    folds: tuple[str, ...] = (),
) -> Choice:  # fmt: skip
    """The choice among the models that are rated, from costs of missed and of alarms by fold."""
    at_priors, mean = costs.priors, costs.belief.mean
    candidates = Candidates(
        rated["model"], evidence, mean * missed + (1 - mean) * alarms,
        (rated["cost_lower"].to_numpy(), rated["cost_upper"].to_numpy()),
        at_priors * missed[..., None] + (1 - at_priors) * alarms[..., None], tuple(at_priors),
        higher=False, bounds=(0.0, inf),
    )  # fmt: skip
    ranked, priors = ranked_models(candidates, level)
    shown = rated.select("model", "threshold", "tpr", "fpr", "cost_lower", "cost_upper")
    ranked = ranked.join(shown, on=["model"], how="left", nulls_equal=True, maintain_order="left")
    table = pl.concat([ranked, unrated.select(shown.columns[:4])], how="diagonal")
    table = with_level(table.drop("level"), level)
    curves: list[Any] = [curve(one) for one in tables]
    texts = threshold_texts(table, ["model"], *curves)
    words = cost = sure = answer = ""
    notes = [costs.belief.interval_note] * costs.belief.is_estimate
    if ranked.height:
        # Of models that cost the same one only, to which the threshold belongs.
        words = first_words(ranked if count_tied(ranked) == 1 else ranked[:1])
        act = f"act on scores from {texts[0]}" if texts[0] is not None else "raise no alarm"
        if folds and texts[0] is not None:
            act = f"set the threshold of the final model to cost least. {ON_OTHERS[:-1]}"
        cost = _cost_in_words(ranked, costs)
        in_alarms = ranked.with_columns(pl.col("expected_loss") * costs.cases / costs.fp)
        sure = certainty(candidates, in_alarms, level, f" false alarms per {costs.cases:,} cases")
        answer = f"{words}, and {act}. {cost} {sure}".rstrip()
        notes = [*caveats(candidates, ranked, priors, "cost"), *notes]
    return Choice(
        answer, table.with_columns(level=pl.lit(level)), priors, (*notes, *warnings), None,
        costs.belief, EXPECTED_COST, folds, len(missed), level, words, sure, cost,
        threshold_texts=dict(zip(table["model"], texts, strict=True)),
    )  # fmt: skip


def _cost_in_words(ranked: pl.DataFrame, costs: Costs) -> str:
    """Errors of the first model per number of cases, their cost, and the next model, in words.

    All numbers are as measured. The total is that of the numbers shown, so that it adds up.
    """
    cost, tpr, fpr = ranked.select("mean", "tpr", "fpr").row(0)
    prior, tied, cases = costs.belief.mean, count_tied(ranked), costs.cases
    missed = three_digits(cases * prior * (1 - tpr))
    alarms = three_digits(cases * (1 - prior) * fpr)
    shown_missed, shown_alarms = (float(shown.replace(",", "")) for shown in (missed, alarms))
    as_many = three_digits(shown_missed * costs.fn / costs.fp + shown_alarms)
    where = describe_priors(costs.over)
    sentence = (
        f"Of {cases:,} cases, {where}, it misses on average {missed} of {cases * prior:,.0f} "
        f"positives and raises {alarms} false alarm{'' if alarms == '1' else 's'}, which costs as "
        f"much as about {as_many} false alarms"
    )
    models = ranked["model"]
    if tied > 1:
        sentence += f", as much as {named(models[1:tied].to_list(), 'and')}"
    if tied < ranked.height:
        other, lead = one_name(models[tied]), ranked["mean"][tied] - cost
        sentence += f", {two_digits(lead * cases / costs.fp)} fewer than with {other}"
    return f"{sentence}."
