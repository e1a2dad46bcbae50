"""Assumptions of the tests, and their measured false-positive rates.

The rates are those of ``python tests/benchmarks/error_rates.py``.
"""

from math import exp, isinf, lgamma

from polaroc.comparison.design import FoldValues, Plan
from polaroc.comparison.layout import Layout
from polaroc.comparison.measured_rates import (
    better_folds,
    dataset_rates,
    measured_rates,
    trained_rates,
)
from polaroc.errors import Hint
from polaroc.uncertainty.evidence import Contrasts, Evidence

HOLD_OUTS = 20
SETTING = f"3 models, {HOLD_OUTS} hold-outs 80/20 of 150 + 450 cases"
ASSUMPTION = (
    "The test asks whether the algorithms would differ if trained anew on other samples of this "
    "size. "
)
UNPAIRED = "How often the test errs was not measured for models with test sets of their own."
OF_CLUSTERS = "How often the test errs depends on the clusters, and was not measured for these."
# The covariance of more models was not tried.
MAX_MODELS = 10


def of_table(table: FoldValues, pairs: Contrasts, plan: Plan, evidence: Evidence) -> list[str]:
    """Warnings on the tests of a balanced table."""
    layout, models = table.layout, len(table.models)
    if plan.halves:
        warnings = half_split(models, plan, layout, evidence)
    elif plan.target == "algorithm":
        warnings = algorithm(plan, layout, models, evidence)
    else:
        warnings = dataset(layout)
        least_p_value = exp((1 - layout.folds) * lgamma(models + 1))
        if least_p_value > 1 - plan.level:
            warnings.append(
                f"With {models} models on {layout.folds} folds a permutation p-value cannot be "
                f"below {least_p_value:.2g}: that test can find nothing at a level of "
                f"{100 * plan.level:g} %."
            )
    if pairs.constant.any():
        constant = (table.models[places[pairs.constant]] for places in (pairs.first, pairs.second))
        named = [f"{a!r} and {b!r}" for a, b in zip(*constant, strict=True)]
        warnings.append(
            f"{'; '.join(named[:5])} differ by the same amount in every fold: there is no "
            "variation to judge by, and p = 0 is the formula's limit, not a probability."
        )
    return warnings


def trained(evidence: Evidence, measure: str, *, paired: bool) -> tuple[str, str]:
    """What a comparison of fitted models is about, and how often it errs if that was measured."""
    about = f"The test is about {evidence.about}; of models trained anew it says nothing."
    if not paired:
        return about, UNPAIRED
    return about, trained_rates(measure) if isinf(evidence.freedom) else OF_CLUSTERS


def half_split(models: int, plan: Plan, layout: Layout, evidence: Evidence) -> list[str]:
    """Warnings on tests for algorithms with the variance of halves."""
    warnings = [ASSUMPTION + evidence.doubts[0]]
    if layout.kind is None:
        warnings.append(
            "Nothing tells whether the folds test every case as often, so they count as hold-outs, "
            "whose means vary more: name their repeats in a key 'repeat', as "
            "cross_val_predictions does, and more may be found."
        )
    if models > MAX_MODELS:
        warnings.append(
            f"The test was tried with up to {MAX_MODELS} models, not with {models}: leave out "
            "those that do not matter."
        )
    return [*warnings, measured_rates(plan, layout, models)]


def algorithm(plan: Plan, layout: Layout, models: int, evidence: Evidence) -> list[str]:
    """Warnings on tests for algorithms."""
    warnings = [ASSUMPTION + evidence.doubts[0], *evidence.doubts[1:]]
    if not plan.test_train_ratio:
        return warnings
    return [*warnings, measured_rates(plan, layout, models), *better_folds(plan, layout)]


def dataset(layout: Layout) -> list[str]:
    """Warnings on tests for one dataset."""
    measured = dataset_rates(layout)
    if measured is None:
        measured = f"How often the test errs was not measured for {layout.folds} folds."
    population = (
        f", of which it errs in 0.27 to 0.37 at a level of 99.5 % ({SETTING})"
        if layout.folds == HOLD_OUTS and layout.kind != "k-fold"
        else ""
    )
    return [
        "The test asks whether the procedures differ on this dataset, over further splits of it; "
        "of another sample it says nothing.",
        Hint(
            f"{measured} Whether the algorithms would differ on other samples is another question"
            f"{population}: for it take {{target}}.",
            target="algorithm",
        ),
    ]


def views(named: str, folds: int) -> str:
    """Warning on an F whose residual holds several views of one number."""
    views = f"values at several {named} are views of one number, not observations"
    if folds != HOLD_OUTS:
        return f"{views}: how far this p-value is too small was not measured for {folds} fold(s)"
    return (
        f"{views}: in simulation "
        f"({SETTING}) this p-value was below 0.005 in 0.14 (3 priors) to 0.79 (16 priors) of "
        "cases where the procedures were equal"
    )


def two_way(folds: int) -> str:
    """Warning on the p-value of the two-way analysis."""
    if folds != HOLD_OUTS:
        return (
            "it takes folds, which may share cases, for independent observations; how often it "
            f"errs was not measured for {folds} folds"
        )
    return (
        f"in simulation ({SETTING}) this p-value was below 0.005 in 0.006 of cases where the "
        "procedures were equal on the dataset, and in 0.37 where the algorithms were equal over "
        "the population"
    )
