"""Model and threshold together, by expected cost on cases that did not set the threshold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import with_level
from polaroc.base.private_columns import private
from polaroc.base.text import capitalised, named, noted_by_kind, one_name
from polaroc.curves.curve import curve
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted
from polaroc.inference.evidence import NO_CASE, Evidence, evidence_from_folds, no_evidence
from polaroc.inference.test_sets import evidence_at_thresholds
from polaroc.models.answer import (
    changes,
    count_tied,
    describe_priors,
    first_words,
    how_sure,
    three_digits,
    two_digits,
)
from polaroc.models.choice import Choice, certainty, ranked_models
from polaroc.models.fold_thresholds import (
    ON_OTHERS,
    doubts_of_folds,
    judged_on_other_folds,
    rates_across_folds,
    read_folds,
)
from polaroc.models.fold_values import fold_values
from polaroc.models.inputs import Inputs, check_model, of_keys, read_inputs
from polaroc.models.measure_rows import rows_of
from polaroc.models.paired_cases import read_cases
from polaroc.models.posterior import Posterior, at_least_own, posterior
from polaroc.models.regret import GRID, ExpectedMeasures, one_prior, priors_to_evaluate
from polaroc.predictions.cases import Cases, same_columns
from polaroc.priors.beliefs import Belief, Over, discrete, resolve_belief
from polaroc.priors.grids import prior_grid, skew
from polaroc.priors.in_use import ESTIMATE
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.constraints import promise, resolve_constraints
from polaroc.thresholds.named_rates import EXPECTED_COST, rate_at
from polaroc.thresholds.need import Need
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.promises import NOT_PROMISED
from polaroc.thresholds.texts import threshold_texts
from polaroc.thresholds.tuning_cases import shared_with_tuning, with_model_type
from polaroc.typing import Array, Table

WHY = private("why")
# Exact limits of the cost, as `apply_thresholds` gives them.
COST_LIMITS = ("cost_lower", "cost_upper")
# Positives, at the least, among the cases of which the answer speaks.
MIN_POSITIVES = 10


class Costs(NamedTuple):
    """Costs of wrong calls, the range or belief of the prior, and constraints."""

    fn: float
    fp: float
    at: float | None  # a single prior, in place of a range or belief
    over: Over | None
    constraints: Mapping[str, float] | None
    confidence: float | None
    estimate: pl.DataFrame | None = None  # whose belief `over` is

    @property
    def belief(self) -> Belief:
        """The belief about the prior."""
        return resolve_belief(self.over) if self.at is None else discrete([self.at])

    @property
    def priors(self) -> tuple[float, ...]:
        """Where models are compared one by one; regrets are largest at the ends of a range."""
        if isinstance(self.over, tuple):
            return tuple(prior_grid(*self.over, GRID)["prior"])
        return priors_to_evaluate(self.belief, self.belief.priors)

    def expected(self, missed: "Array", alarms: "Array") -> ExpectedMeasures:
        """Costs at every prior of folds × models, from those per positive and per negative."""
        grid = tuple(sorted({*self.belief.priors, *self.priors}))
        values = np.stack([prior * missed + (1 - prior) * alarms for prior in grid], axis=-1)
        return ExpectedMeasures(values, grid, self.belief, self.priors, higher=False)


def costs_of(
    cost_fn: float,
    cost_fp: float,
    over: Over | None,
    constraints: Mapping[str, float] | None = None,
    confidence: float | None = None,
    estimate: pl.DataFrame | None = None,
) -> Costs:
    """The arguments of `choose` that are for costs, checked."""
    if over is None:
        raise InvalidArgument(
            f"measure is {EXPECTED_COST!r}, which is taken over priors, and over is not given.",
            hint="give over=(0.05, 0.20), a belief, or one prior twice.",
        )
    if confidence is not None:
        check_share("confidence", confidence)
    at = one_prior(over)
    return Costs(
        cost_fn, cost_fp, at, over if at is None else None, constraints, confidence, estimate
    )


def choose_with_tuning(
    cases: Cases[Any], tuning: Table | Cases[Any] | None, costs: Costs, *, level: float
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
    optional = ("model", "fold", "case", *(("cluster",) if costs.confidence is None else ()))
    tuned = with_model_type(same_columns(cases, tuning, may_lack=optional).collect(), cases)
    for one in (cases, tuned):
        if several := [fold for fold in one.fold if one.rows[fold].n_unique() > 1]:
            raise InvalidArgument(
                f"{quoted(several)} has several values: models of folds are fitted anew, and a "
                "threshold belongs to one fitted model.",
                hint="keep one of the values, or drop the column if its values are not those of "
                "folds.",
            )
    shared = shared_with_tuning(cases, tuned)
    if costs.confidence is None:
        tuned = replace(tuned, cluster=None)
    choice = choose_by_cost(cases, tuned, costs, level=level)
    return replace(choice, warnings=(*shared, *choice.warnings))


def choose_by_cost(
    cases: Cases[Any], tuned: Cases[pl.DataFrame], costs: Costs, *, level: float
) -> Choice:
    """The same of predictions in memory, of which it is known whether they share cases."""
    inputs = read_inputs(cases)
    cases, model = inputs.cases, "model"
    check_model(tuned)
    tuned = replace(tuned, fold=())
    curves: Any = curve(cases)
    tuned_curves: Any = curve(tuned)
    if curves[model].n_unique() < 2:
        raise InvalidArgument(
            f"{model!r} has {curves[model].n_unique()} value(s), a choice needs two.",
            hint="operating_points(...) chooses the threshold of one model.",
        )
    if tuned_curves.schema[model] == curves.schema[model]:
        lacking = curves.select(model).unique().sort(model).join(
            tuned_curves, on=[model], how="anti", nulls_equal=True, maintain_order="left"
        )  # fmt: skip
        if lacking.height:
            raise InvalidPredictions(
                f"tuning has no cases of {quoted(lacking[model].to_list())}, so that there is no "
                "threshold to judge.",
                hint="give their predictions, or leave these models out.",
            )
    judged = _judged(cases, tuned, costs, level)
    is_rated = pl.col("tpr").is_not_null() & pl.col("fpr").is_not_null()
    rated, unrated = judged.filter(is_rated), judged.filter(~is_rated)
    models = rated[model]
    measured = costs.expected(
        costs.fn * (1 - rated["tpr"].to_numpy()[None]), costs.fp * rated["fpr"].to_numpy()[None]
    )
    evidence = no_evidence("no model has a threshold" if rated.is_empty() else NO_CASE)
    if rated.height and cases.case is not None:
        scored = read_cases(cases)
        places = [list(scored.models).index(one) for one in models.cast(cases.rows["model"].dtype)]
        cost = rate_at(EXPECTED_COST, skew(costs.belief.mean), costs.fn, costs.fp)
        evidence = evidence_at_thresholds(scored.of(places), rated["threshold"].to_list(), cost)
    known = posterior(evidence, higher=False, level=level)
    if known is not None:
        exact = (rated[name].to_numpy() for name in COST_LIMITS)
        known = of_costs(known, measured.expected[0], *exact)
    choice = _choice(
        models, measured, evidence, known, costs, level,
        rated.select(model, "threshold", "tpr", "fpr", *COST_LIMITS),
        unrated.select(model, "threshold", "tpr", "fpr"), (curves, tuned_curves),
        (*(f"No cost of {line}" for line in noted_by_kind(unrated.select(model, "note").rows())),
         *inputs.warnings),
    )  # fmt: skip
    answer = choice.answer if rated.height else _why_none(judged)
    limits = resolve_constraints(costs.constraints, costs.over)
    promised = None
    if costs.confidence is not None and choice.threshold is not None:
        promised = promise(limits.limits, costs.confidence, costs.at or limits.ends)
    not_promised = unrated.filter(pl.col("note").str.starts_with(NOT_PROMISED))[model].to_list()
    if not_promised and rated.height:
        have = "has" if len(not_promised) == 1 else "have"
        answer += f" {named(not_promised)} {have} no threshold that keeps to the constraints."
    return replace(choice, answer=answer, promise=promised)


def _judged(
    cases: Cases[pl.DataFrame], tuned: Cases[pl.DataFrame], costs: Costs, level: float
) -> pl.DataFrame:
    """Rates of each model at its threshold, and exact limits of its cost, or why it has none."""
    # The promises of all models hold at once.
    thresholds: pl.DataFrame = operating_points(
        tuned, "cost", priors=costs.at, over=costs.over, constraints=costs.constraints,
        confidence=costs.confidence, cost_fn=costs.fn, cost_fp=costs.fp,
    )  # fmt: skip
    priors: float | pl.DataFrame = costs.belief.mean
    if (estimate := costs.estimate) is not None:
        priors = estimate.select(name for name in ESTIMATE if name in estimate.columns)
    # The same table is refused before; equal rates of other cases are chance.
    judged = apply_thresholds(
        cases, thresholds, same_table=True, intervals=True, level=level, priors=priors,
        cost_fn=costs.fn, cost_fp=costs.fp,
    )  # fmt: skip
    # Why there is no point, the points say.
    why = thresholds.filter(pl.col("share").is_null()).select(
        pl.col("model").cast(judged.schema["model"]), pl.col("note").alias(WHY)
    )
    return judged.join(
        why, on=["model"], how="left", nulls_equal=True, maintain_order="left"
    ).with_columns(pl.coalesce(WHY, "note").alias("note"))


def choose_by_cost_of_folds(
    inputs: Inputs, costs: Costs, *, test_train_ratio: float | None, level: float
) -> Choice:
    """The model that costs least at thresholds that other folds set, of `ranked_rows`."""
    model, cases = "model", inputs.cases
    kept = resolve_constraints(costs.constraints, costs.over)
    need = Need(
        "cost", (costs.belief.mean,), 0, costs.fn, costs.fp, kept.limits.get("posfrac"),
        kept.ends or (),
    )  # fmt: skip
    rows, thresholds, rates, folds_of = [], [], [], {}
    for value in cases.rows[model].unique().sort():
        name = pl.Series(model, [value], cases.rows.schema[model])
        own = of_keys(cases, name.to_frame())
        folds = folds_of[value] = read_folds(own)
        held_out = rates_across_folds(folds, [need])
        thresholds += folds.thresholds([need])
        rates.append((float(held_out.tpr[0].mean()), float(held_out.fpr[0].mean())))
        # The cost is linear between the priors 0 and 1, where it is that of one class.
        keys = own.rows.select(inputs.folds).unique().sort(inputs.folds, nulls_last=True)
        positives, negatives = folds.totals(keys.height)
        rows += [
            keys.select(
                pl.lit(name).first().alias(model), *inputs.folds, measure=pl.lit(EXPECTED_COST),
                prior=prior, estimate=pl.Series(values, dtype=pl.Float64),
                positives=pl.Series(positives), negatives=pl.Series(negatives),
            )
            for prior, values in (
                (0.0, costs.fp * held_out.fpr[0]), (1.0, costs.fn * (1 - held_out.tpr[0]))
            )
        ]  # fmt: skip
    table = fold_values(rows_of(pl.concat(rows), EXPECTED_COST), (0.0, 1.0))
    table.check_models()
    table.check_folds()
    alarms, missed = np.moveaxis(table.values, -1, 0)
    measured = costs.expected(missed, alarms)
    evidence = evidence_from_folds(measured.expected, test_train_ratio, table.models)
    known = posterior(evidence, higher=False, level=level, limits=(0.0, None))
    known = at_least_own(known, evidence, level)
    lower, upper = np.maximum(evidence.limits(level), 0)[:, 0]
    tpr, fpr = zip(*rates, strict=True)
    columns = {
        "threshold": thresholds, "tpr": tpr, "fpr": fpr, "cost_lower": lower, "cost_upper": upper,
    }  # fmt: skip
    beside = pl.DataFrame(
        [table.models, *(pl.Series(name, own, pl.Float64) for name, own in columns.items())]
    )
    first = ranked_models(table.models, measured, known, (0.0, None)).to_series(0)[0]
    doubts = doubts_of_folds(folds_of[first], has_case=cases.case is not None)
    count = len(table.values)
    return _choice(
        table.models, measured, evidence, known, costs, level, beside, beside.clear(),
        [curve(replace(cases, fold=()))], (*table.warnings, judged_on_other_folds(count), *doubts),
        folds=inputs.folds, fold_count=count,
    )  # fmt: skip


def _choice(
    models: pl.Series,
    measured: ExpectedMeasures,
    evidence: Evidence,
    known: Posterior | None,
    costs: Costs,
    level: float,
    rated: pl.DataFrame,
    unrated: pl.DataFrame,
    curves: Sequence[pl.DataFrame],
    warnings: Iterable[str],
    *,
    folds: tuple[str, ...] = (),
    fold_count: int = 1,
) -> Choice:
    """The choice among models by cost, with their thresholds and rates, on tuning or on folds."""
    ranked = ranked_models(models, measured, known, (0.0, None)).join(
        rated, on=[models.name], how="left", nulls_equal=True, maintain_order="left"
    )
    table = pl.concat([ranked, unrated], how="diagonal")
    texts = threshold_texts(table, [models.name], *curves)
    answer, sure = "", list[str]()
    if ranked.height:
        act = f"act on scores from {texts[0]}"
        if texts[0] is None:
            act = "raise no alarm"
        elif folds:
            act = f"set the threshold of the final model to cost least. {ON_OTHERS[:-1]}"
        certain = how_sure_of_cost(ranked, costs, is_bound=evidence.is_bound)
        answer = f"{take_first(ranked)}, and {act}. {cost_in_words(ranked, costs)} {certain}"
        sure = certainty(ranked, evidence, "cost", higher=False)
    priors = measured.prior_table(models)
    sure += changes(priors)
    if costs.estimate is not None:
        sure.append(costs.belief.interval_note)
    return Choice(
        answer.rstrip(), with_level(table, level), priors, (*sure, *warnings),
        None, costs.belief, EXPECTED_COST, folds, fold_count, level, evidence.is_bound,
        threshold_texts=dict(zip(table.to_series(0), texts, strict=True)),
    )  # fmt: skip


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


# --- Words ---------------------------------------------------------------------------------------


def _why_none(judged: pl.DataFrame) -> str:
    """Why no model has a threshold."""
    notes = judged.drop_nulls("note").select(judged.columns[0], "note")
    is_promise = notes["note"].str.starts_with(NOT_PROMISED).all()
    start = NOT_PROMISED if is_promise else "no model has a threshold that may be used: "
    reasons = notes.with_columns(pl.col("note").str.strip_prefix(NOT_PROMISED))
    if reasons["note"].n_unique() == 1:
        return f"{capitalised(start)}{reasons['note'][0]}."
    return f"{capitalised(start)}{' '.join(noted_by_kind(reasons.rows()))}"


def take_first(ranked: pl.DataFrame) -> str:
    """Which model to take: of those that cost the same one only, to which the threshold belongs."""
    return first_words(ranked if count_tied(ranked) == 1 else ranked[:1])


def cost_in_words(ranked: pl.DataFrame, costs: Costs) -> str:
    """Errors of the first model per number of cases, their cost, and the next model, in words.

    All numbers are as measured. The total is that of the numbers shown, so that it adds up.
    """
    cost, tpr, fpr = ranked.select("mean", "tpr", "fpr").row(0)
    prior, tied = costs.belief.mean, count_tied(ranked)
    cases = _cases_in_words(prior)
    missed = three_digits(cases * prior * (1 - tpr))
    alarms = three_digits(cases * (1 - prior) * fpr)
    shown_missed, shown_alarms = (float(shown.replace(",", "")) for shown in (missed, alarms))
    as_many = three_digits(shown_missed * costs.fn / costs.fp + shown_alarms)
    sentence = (
        f"Of {cases:,} cases, {describe_priors(costs.over, [prior])}, it misses on average "
        f"{missed} of {cases * prior:,.0f} positives and raises {alarms} false "
        f"alarm{'' if alarms == '1' else 's'}, which costs as much as about {as_many} false alarms"
    )
    models = ranked[ranked.columns[0]]
    if tied > 1:
        sentence += f", as much as {named(models[1:tied].to_list(), 'and')}"
    if tied < ranked.height:
        other, lead = one_name(models[tied]), ranked["mean"][tied] - cost
        sentence += f", {two_digits(lead * cases / costs.fp)} fewer than with {other}"
    return f"{sentence}."


def how_sure_of_cost(ranked: pl.DataFrame, costs: Costs, *, is_bound: bool) -> str:
    """How likely the first model costs least, and what is lost if it does not."""
    cases = _cases_in_words(costs.belief.mean)
    return how_sure(
        ranked.with_columns(pl.col("expected_loss") * cases / costs.fp), is_bound=is_bound,
        higher=False, unit=f" false alarms per {cases:,} cases",
    )  # fmt: skip


def _cases_in_words(prior: float) -> int:
    """The number of cases that the answer is about."""
    cases = 1000
    while cases * prior < MIN_POSITIVES:
        cases *= 10
    return cases
