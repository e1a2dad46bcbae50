"""Model and threshold together, by expected cost on cases that did not set the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.checks import refuse_unused
from polaroc.base.columns import with_level
from polaroc.base.text import named, noted_by_kind, one_name
from polaroc.curves.curve import curve
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted
from polaroc.inference.evidence import NO_CASE, Evidence, evidence_from_folds, no_evidence
from polaroc.inference.test_sets import evidence_at_thresholds
from polaroc.models.choice import (
    BY_COST,
    Choice,
    caveats,
    count_tied,
    first_words,
    how_sure,
    two_digits,
)
from polaroc.models.fold_thresholds import (
    ON_OTHERS,
    judged_on_other_folds,
    rates_across_folds,
    read_folds,
    threshold_command,
    warnings_on_folds,
)
from polaroc.models.inputs import Inputs, cases_among, check_model
from polaroc.models.measure_rows import describe_priors, fold_values, rows_of
from polaroc.models.paired_cases import read_cases
from polaroc.models.ranking import Candidates, ranked_models
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
# The rule for thresholds by the quantity that models are judged by.
RULE_FOR = {
    EXPECTED_COST: "cost", "missed_positives": "max_recall", "false_alarms": "fewest_alarms",
}  # fmt: skip
# Priors at which costs are compared within a range: regrets are largest at its ends.
GRID_SIZE = 25


class Costs(NamedTuple):
    """Costs of wrong calls, the range or belief of the prior, and constraints.

    A cost of zero leaves the number of the other errors: constraints without costs.
    """

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
        """The priors at which models are compared; between them costs are linear."""
        return np.unique(np.linspace(*self.belief.range, GRID_SIZE))

    @property
    def measure(self) -> str:
        """The name of the quantity that models are judged by, a key of `BY_COST`."""
        if self.fn and self.fp:
            return EXPECTED_COST
        return "missed_positives" if self.fn else "false_alarms"

    @property
    def unit(self) -> str:
        """The errors in which differences are counted, of cost `each`."""
        return "false alarms" if self.fp else "missed positives"

    @property
    def each(self) -> float:
        """The cost of one of the errors of `unit`."""
        return self.fp or self.fn

    @property
    def cases(self) -> int:
        """The number of cases that the answer is about."""
        cases = 1000
        # Positives, at the least, among the cases of which the answer speaks.
        while cases * self.belief.mean < 10:
            cases *= 10
        return cases


def choose_with_tuning(
    inputs: Inputs, tuning: Table | Cases[Any], costs: Costs, *, as_read: Cases[Any], level: float
) -> Choice:
    """The model that costs least at the threshold chosen for it on `tuning`, any table.

    `as_read` are the cases before some were left out, with whose columns `tuning` is read.
    """
    cases, as_read = inputs.cases, as_read.collect()
    # Thresholds that cost least need no clusters, those with a promise do.
    optional = ("model", "fold", "case", *(("cluster",) if costs.confidence is None else ()))
    tuned = with_model_type(same_columns(as_read, tuning, may_lack=optional).collect(), as_read)
    if cases.fold or (tuned.fold and tuned.rows["fold"].n_unique() > 1):
        raise InvalidArgument(
            "'fold' has several values: models of folds are fitted anew, and a threshold belongs "
            "to one fitted model.",
            hint="keep one of the values, or drop the column if its values are not those of folds.",
        )
    shared = shared_with_tuning(as_read, tuned)
    tuned = replace(tuned, fold=(), cluster=tuned.cluster if costs.confidence else None)
    check_model(tuned)
    models = cases.rows.select("model").unique()
    lacking = models.join(tuned.rows, on="model", how="anti", nulls_equal=True)
    if lacking.height:
        raise InvalidPredictions(
            f"tuning has no cases of {quoted(lacking['model'].sort().to_list())}.",
            hint="give their predictions, or leave these models out.",
        )
    thresholds: pl.DataFrame = operating_points(
        tuned, RULE_FOR[costs.measure], over=costs.over, constraints=costs.constraints,
        confidence=costs.confidence, cost_fn=costs.fn or 1, cost_fp=costs.fp or 1,
    )  # fmt: skip
    belief, prior = costs.belief, costs.belief.mean
    priors: float | pl.DataFrame = prior
    if belief.is_estimate and belief.ends is not None:
        lower, upper = belief.ends
        priors = pl.DataFrame({"prior": [prior], "lower": [lower], "upper": [upper]})
    # `shared_with_tuning` refuses the same table; equal rates of other cases are chance.
    rates: pl.DataFrame = apply_thresholds(
        cases, thresholds, same_table=True, intervals=True, level=level, priors=priors,
        cost_fn=costs.fn, cost_fp=costs.fp,
    )  # fmt: skip
    # Ties in errors of one kind are broken by those of the other.
    rates = rates.sort("fpr") if costs.fn else rates.sort("tpr", descending=True)
    has_rates = pl.col("tpr").is_not_null() & pl.col("fpr").is_not_null()
    rated = rates.filter(has_rates)
    reasons = noted_by_kind(rates.filter(~has_rates).select("model", "note").rows())
    evidence = no_evidence(NO_CASE)
    if rated.height and cases.case is not None:
        scored = read_cases(cases)
        known = rated["model"].cast(cases.rows["model"].dtype)
        evidence = evidence_at_thresholds(
            scored.of([list(scored.models).index(one) for one in known]),
            rated["threshold"].to_list(), prior * costs.fn, (1 - prior) * costs.fp,
        )  # fmt: skip
    missed, alarms = costs.fn * (1 - rated["tpr"].to_numpy()), costs.fp * rated["fpr"].to_numpy()
    choice = _choice(
        rates, evidence, missed[None], alarms[None], costs, level, (cases, tuned),
        [*(f"No cost of {reason}" for reason in reasons), *inputs.warnings],
    )  # fmt: skip
    choice = replace(choice, warnings=(*shared, *choice.warnings))
    if rated.is_empty():
        return replace(choice, answer=f"No model has a threshold. {' '.join(reasons)}")
    if reasons:
        choice = replace(choice, answer=f"{choice.answer} This leaves out {' '.join(reasons)}")
    if costs.confidence is None or choice.threshold is None:
        return choice
    # The promises of all models hold at once.
    promise = thresholds["promise"].drop_nulls()[0]
    return replace(choice, promise=promise, answer=f"{choice.answer} {promise}")


def choose_by_cost_of_folds(inputs: Inputs, costs: Costs, *, level: float) -> Choice:
    """The model that costs least at thresholds that other folds set."""
    cases, at = inputs.cases, costs.belief.mean
    if not cases.fold:
        raise InvalidArgument(
            f"measure is {EXPECTED_COST!r}, and there are no cases to choose thresholds on.",
            hint="give tuning=: predictions on cases that take no part otherwise; or fold='fold', "
            "where models were fitted anew in each fold.",
        )
    refuse_unused(
        "for thresholds set on tuning", "there are folds",
        constraints=costs.constraints, confidence=costs.confidence,
    )  # fmt: skip
    (fold,) = cases.fold
    need, rates, rows, folds_of = Need("cost", (at,), 0, costs.fn, costs.fp), [], [], {}
    for name in cases.rows.select("model").unique().sort("model", nulls_last=True).iter_slices(1):
        of_model = cases_among(cases, name)
        folds = folds_of[name.item()] = read_folds(of_model)
        (threshold,), ((tpr,), (fpr,)) = folds.thresholds([need]), rates_across_folds(folds, [need])
        rates.append(
            name.with_columns(
                threshold=pl.lit(threshold, pl.Float64), tpr=pl.lit(tpr.mean()),
                fpr=pl.lit(fpr.mean()),
            )
        )  # fmt: skip
        keys = of_model.rows.select(fold).unique().sort(fold, nulls_last=True)
        positives, negatives = folds.totals(keys.height)
        # The cost is linear in the prior; at 0 and 1 it is that of one class.
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
        at * missed + (1 - at) * alarms, cases.test_train_ratio, table.models
    )
    lower, upper = (pl.Series(np.maximum(ends[0], 0)) for ends in evidence.limits(level))
    choice = _choice(
        pl.concat(rates).with_columns(cost_lower=lower, cost_upper=upper),
        evidence, missed, alarms, costs, level, [replace(cases, fold=())],
        [*inputs.warnings, *table.warnings, judged_on_other_folds(len(missed))],
        folds=cases.fold,
    )  # fmt: skip
    of_thresholds = warnings_on_folds(folds_of[choice.bayes], has_case=cases.case is not None)
    to_set = (
        "To set it on labelled scores of the final model: operating_points(cases, 'cost', "
        f"priors={at:.4g}, cost_fn={costs.fn:g}, cost_fp={costs.fp:g}), or "
        f"{threshold_command(need)}."
    )
    return replace(choice, to_set=to_set, warnings=(*choice.warnings, *of_thresholds))


def _choice(
    rates: pl.DataFrame, evidence: Evidence, missed: Array, alarms: Array, costs: Costs,
    level: float, tables: Sequence[Cases[Any]], warnings: Sequence[str], *,
    folds: tuple[str, ...] = (),
) -> Choice:  # fmt: skip
    """The choice among the models that have rates, from costs of missed and of alarms by fold."""
    at, mean, rated = costs.priors, costs.belief.mean, rates.drop_nulls(["tpr", "fpr"])
    candidates = Candidates(
        rated["model"], evidence, mean * missed + (1 - mean) * alarms,
        (rated["cost_lower"].to_numpy(), rated["cost_upper"].to_numpy()),
        at * missed[..., None] + (1 - at) * alarms[..., None], at.tolist(),
        higher=False, bounds=(0.0, inf),
    )  # fmt: skip
    ranked, priors = ranked_models(candidates, level)
    shown = rates.select("model", "threshold", "tpr", "fpr", "cost_lower", "cost_upper")
    table = ranked.join(
        shown, on=["model"], how="full", coalesce=True, nulls_equal=True,
        maintain_order="left_right",
    )  # fmt: skip
    curves: list[Any] = [curve(one) for one in tables]
    texts = threshold_texts(table, ["model"], *curves)
    words = cost = sure = answer = ""
    notes = [costs.belief.interval_note] * costs.belief.is_estimate
    if ranked.height:
        # The threshold belongs to one model, even if several cost the same.
        words = first_words(ranked if count_tied(ranked) == 1 else ranked[:1])
        act = f"act on scores from {texts[0]}" if texts[0] is not None else "raise no alarm"
        if folds and texts[0] is not None:
            act = f"set the threshold of the final model to cost least. {ON_OTHERS[:-1]}"
        cost = _cost_in_words(table[: ranked.height], costs)
        in_errors = ranked.with_columns(pl.col("expected_loss") * costs.cases / costs.each)
        name, unit = BY_COST[costs.measure], f" {costs.unit} per {costs.cases:,} cases"
        sure = how_sure(candidates, in_errors, level, name, unit)
        answer = f"{words}, and {act}. {cost} {sure}".rstrip()
        notes = [*caveats(candidates, ranked, priors, name), *notes]
    return Choice(
        answer, with_level(table, level), priors, (*notes, *warnings), None, costs.belief,
        costs.measure, folds, len(missed), level, words, sure, cost,
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
    misses = f"misses on average {missed} of {cases * prior:,.0f} positives"
    raises = f"raises {alarms} false alarm{'' if alarms == '1' else 's'}"
    # The errors that models are compared by come last.
    errors = f"{misses} and {raises}" if costs.fp else f"{raises} and {misses}"
    sentence = f"Of {cases:,} cases, {describe_priors(costs.over)}, it {errors}"
    if costs.measure == EXPECTED_COST:
        as_many = three_digits(shown_missed * costs.fn / costs.fp + shown_alarms)
        sentence += f", which costs as much as about {as_many} false alarms"
    models = ranked["model"]
    if tied > 1:
        sentence += f", as with {named(models[1:tied].to_list(), 'and')}"
    if tied < ranked.height:
        other, lead = one_name(models[tied]), ranked["mean"][tied] - cost
        sentence += f", {two_digits(lead * cases / costs.each)} fewer than with {other}"
    return f"{sentence}."


def three_digits(value: float) -> str:
    """A count of cases, which may be a mean: whole from 100 on, below to three digits.

    Examples
    --------
    >>> three_digits(1234.5), three_digits(13.566), three_digits(0.0123), three_digits(10.0)
    ('1,234', '13.6', '0.0123', '10')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
