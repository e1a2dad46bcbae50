"""Comparison of fitted models on the cases of one test set."""

from dataclasses import replace
from math import isinf

import polars as pl

from polaroc.base.joins import as_key
from polaroc.base.names import noted_by_kind
from polaroc.comparison import caveats, omnibus
from polaroc.comparison.checks import check_estimates, too_few_cases
from polaroc.comparison.compared import Compared
from polaroc.comparison.delong import pairs_of, single_measure
from polaroc.comparison.design import Plan
from polaroc.comparison.letters import check_result_name, letter_frame
from polaroc.comparison.measure_rows import below_chance
from polaroc.comparison.measured_rates import trained_rates
from polaroc.comparison.result import Comparison
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, higher_is_better
from polaroc.predictions.row_checks import DROP_ROWS
from polaroc.priors.beliefs import Belief
from polaroc.typing import Prior
from polaroc.uncertainty.adjusted import holm_factors
from polaroc.uncertainty.evidence import Evidence, quantile
from polaroc.uncertainty.scored_cases import ComparedCases, read_cases
from polaroc.uncertainty.test_sets import of_test_set

UNMEASURED = "How often the test errs was not measured for models with test sets of their own."


def compare_trained(
    given: Compared,
    measure: str,
    plan: Plan,
    *,
    prior: Prior | None,
    over: tuple[float, float] | Belief | None,
) -> Comparison:
    """The comparison of the models as they are, paired by case; see `compare`."""
    check_result_name(given.model)
    at: Prior = "observed" if prior is None else prior
    cases = read_cases(given.cases, DROP_ROWS)
    measured = evaluate(
        given.cases, measures=sorted({measure, "auc"}), priors=at, over=over, intervals="wald"
    )
    at_prior = f" at prior {at}" if measure in CATALOG and CATALOG[measure].at_priors else ""
    one = single_measure(measure, at, over, "exact", given.cases.score_prior)
    result = of_cases(
        cases, of_test_set(cases.only, [one]), measured, measure, plan,
        label=f"{measure}{at_prior}", descending=higher_is_better(measure),
    )  # fmt: skip
    left_out = () if given.left_out is None else (given.left_out,)
    return replace(result, warnings=(*left_out, *result.warnings))


def of_cases(
    cases: ComparedCases,
    evidence: Evidence,
    measured: pl.DataFrame,
    measure: str,
    plan: Plan,
    *,
    label: str,
    descending: bool = True,
) -> Comparison:
    """The comparison from evidence on the measure, and the measures with their errors."""
    model = cases.model
    estimates = measured.filter(measure=measure)
    check_estimates(estimates, model, measure)
    models = estimates[model]
    pairs = pairs_of(cases, [evidence], plan.level)
    if pairs["p_adjusted"].null_count():
        raise too_few_cases()
    pairs = _with_adjusted_limits(pairs, plan.level, evidence.freedom)
    significant = _significant_pairs(pairs, models, plan.level)
    greatest = pl.col("statistic").abs().max()
    largest, least = pairs.select(greatest, pl.col("p_adjusted").min()).row(0)
    return Comparison(
        # They differ where a pair does, adjusted for the number of pairs.
        omnibus=omnibus.frame([omnibus.Outcome(
            "largest |z|, Holm" if isinf(evidence.freedom) else "largest |t|, Holm", largest, None,
            None if isinf(evidence.freedom) else evidence.freedom, least,
        )]),
        pairs=pairs,
        letters=letter_frame(
            models, estimates["estimate"].to_numpy(), estimates["std_error"].to_numpy(),
            significant, descending=descending,
        ),
        warnings=(
            caveats.trained(evidence),
            UNMEASURED if cases.case is None else trained_rates(measure),
            *noted_by_kind(estimates.drop_nulls("note").select(model, "note").rows()),
            *below_chance(measured, measure),
        ),
        measure=label,
        model=model,
        fold=(),
        case=cases.case,
        size=cases.only.size,
        plan=plan,
        higher_is_better=descending,
    )  # fmt: skip


def _significant_pairs(
    pairs: pl.DataFrame, models: pl.Series, level: float
) -> list[tuple[int, int]]:
    """The pairs that differ, by the places of their models."""
    places = {as_key([model]): place for place, model in enumerate(models)}
    significant = pairs.filter(pl.col("p_adjusted") < 1 - level)
    compared = significant.select(f"{models.name}_a", f"{models.name}_b")
    return [(places[as_key([a])], places[as_key([b])]) for a, b in compared.iter_rows()]


def _with_adjusted_limits(pairs: pl.DataFrame, level: float, freedom: float) -> pl.DataFrame:
    """Limits that leave out zero where the adjusted p-value is below 1 − level, only there."""
    factors = holm_factors(pairs["p_value"].to_numpy())
    reach = pl.Series(quantile(1 - (1 - level) / factors, freedom)) * pairs["std_error"]
    return pairs.with_columns(
        (pairs["difference"] - reach).alias("lower"), (pairs["difference"] + reach).alias("upper")
    )
