"""Model and threshold together, by expected cost on the held-out cases of folds."""

from dataclasses import replace

import numpy as np
import polars as pl

from polaroc.curves.curve import curve
from polaroc.inference.evidence import evidence_from_folds
from polaroc.models.by_cost import COST_LIMITS
from polaroc.models.choice import Choice, choice_among
from polaroc.models.fold_thresholds import (
    ON_OTHERS,
    Folds,
    HeldOutRates,
    doubts_of_folds,
    judged_on_other_folds,
    rates_across_folds,
    read_folds,
)
from polaroc.models.fold_values import fold_values
from polaroc.models.inputs import Inputs, of_keys
from polaroc.models.measure_rows import rows_of
from polaroc.models.posterior import at_least_own, posterior
from polaroc.models.regret import ExpectedMeasures
from polaroc.models.stakes import Stakes, cost_in_words, how_sure_of_cost, take_first
from polaroc.thresholds.constraints import resolve_constraints
from polaroc.thresholds.named_rates import EXPECTED_COST
from polaroc.thresholds.need import Need

# The priors at which the cost is that of one class alone: it is linear between them.
ENDS = (0.0, 1.0)


def choose_by_cost_of_folds(
    given: Inputs,
    stakes: Stakes,
    *,
    test_train_ratio: float | None,
    level: float,
) -> Choice:
    """The model that costs least at thresholds that other folds set, of `ranked_rows`."""
    model, cases = given.model, given.cases
    need = _need(stakes)
    rows, thresholds, folds_of = [], [], {}
    rates: dict[str, list[float]] = {"tpr": [], "fpr": []}
    for value in cases.rows[model].unique().sort():
        one = pl.Series(model, [value], cases.rows.schema[model])
        folds = read_folds(of_keys(cases, one.to_frame()))
        held_out = rates_across_folds(folds, [need])
        rows.append(_costs(folds, given, one, stakes, held_out))
        thresholds += folds.thresholds([need])
        rates["tpr"].append(float(held_out.tpr[0].mean()))
        rates["fpr"].append(float(held_out.fpr[0].mean()))
        folds_of[value] = folds
    table = fold_values(rows_of(pl.concat(rows), EXPECTED_COST), ENDS, model, given.folds)
    table.check_models()
    table.check_folds()
    of_negatives, of_positives = np.moveaxis(table.values, -1, 0)
    grid = tuple(sorted({*stakes.belief.priors, *stakes.priors}))
    values = [prior * of_positives + (1 - prior) * of_negatives for prior in grid]
    measured = ExpectedMeasures(
        np.stack(values, axis=-1), grid, stakes.belief, stakes.priors, higher=False
    )
    evidence = evidence_from_folds(measured.expected, test_train_ratio, table.models)
    known = posterior(evidence, higher=False, level=level, limits=(0.0, None))
    known = at_least_own(known, evidence, level)
    lower, upper = np.maximum(evidence.limits(level), 0)[:, 0]
    columns = {
        "sens": [None] * len(table.models), "threshold": thresholds, **rates,
        **dict(zip(COST_LIMITS, (lower, upper), strict=True)),
    }  # fmt: skip
    beside = pl.DataFrame(
        [table.models, *(pl.Series(name, own, pl.Float64) for name, own in columns.items())]
    )
    first = measured.model_table(table.models, known).to_series(0)[0]
    doubts = doubts_of_folds(folds_of[first], has_case=cases.case is not None)

    def answer(ranked: pl.DataFrame, threshold: str | None) -> str:
        sure = how_sure_of_cost(ranked, stakes, is_bound=evidence.is_bound)
        act = (
            "raise no alarm."
            if threshold is None
            else f"set the threshold of the final model to cost least. {ON_OTHERS}"
        )
        return f"{take_first(ranked)}, and {act} {cost_in_words(ranked, stakes)} {sure}".rstrip()

    return choice_among(
        table.models, measured, evidence, known, beside, answer,
        name="cost", limits=(0.0, None), level=level,
        last=(
            *([] if stakes.estimate is None else [stakes.belief.interval_note]),
            *table.warnings, judged_on_other_folds(len(table.values)), *doubts,
        ),
        comparison=None, measure=EXPECTED_COST, folds=given.folds, fold_count=len(table.values),
        curves=[curve(replace(cases, fold=()))],
    )  # fmt: skip


def _need(stakes: Stakes) -> Need:
    """To cost least, with no more alarms than the constraints allow."""
    kept = resolve_constraints(stakes.constraints, "cost", None, stakes.over)
    mean = (stakes.belief.mean,)
    return Need("cost", mean, 0, stakes.fn, stakes.fp, kept.capacity, kept.ends or ())


def _costs(
    folds: Folds, given: Inputs, model: pl.Series, stakes: Stakes, held_out: HeldOutRates
) -> pl.DataFrame:
    """Costs of a model in each fold per positive and per negative, as tidy measures."""
    per_class = stakes.fp * held_out.fpr[0], stakes.fn * (1 - held_out.tpr[0])
    keys = _folds_of(given, model)
    positives, negatives = folds.totals(keys.height)
    return pl.concat(
        keys.select(
            pl.lit(model).first().alias(model.name), *given.folds,
            measure=pl.lit(EXPECTED_COST), prior=prior,
            estimate=pl.Series(values, dtype=pl.Float64),
            positives=pl.Series(positives), negatives=pl.Series(negatives),
        )
        for prior, values in zip(ENDS, per_class, strict=True)
    )  # fmt: skip


def _folds_of(given: Inputs, model: pl.Series) -> pl.DataFrame:
    """The keys of the folds that a model has, in the order of their numbers."""
    own = of_keys(given.cases, model.to_frame()).rows
    return own.select(given.folds).unique().sort(given.folds, nulls_last=True)
