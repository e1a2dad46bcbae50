"""Assumptions of the tests, and their measured false-positive rates.

The rates are those of ``python tests/benchmarks/error_rates.py``.
"""

from math import exp, lgamma

from polaroc.comparison.design import Design, Plan
from polaroc.comparison.half_splits import ModelMeans
from polaroc.comparison.layout import Layout
from polaroc.comparison.measured_rates import better_design, dataset_rates, measured_rates
from polaroc.comparison.pairwise import Pairs
from polaroc.errors import Hint
from polaroc.uncertainty.evidence import Evidence

HOLD_OUTS = 20
SETTING = f"3 models, {HOLD_OUTS} hold-outs 80/20 of 150 + 450 cases"
ASSUMPTION = (
    "The test asks whether the algorithms would differ if trained anew on other samples of this "
    "size."
)
# The covariance of more models was not tried.
MAX_MODELS = 10


def of_design(
    design: Design,
    pairs: Pairs,
    plan: Plan,
    layout: Layout | None = None,
    means: ModelMeans | None = None,
) -> list[str]:
    """Warnings on the tests of a balanced table."""
    blocks, models = design.table.shape
    layout = Layout(blocks) if layout is None else layout
    if means is not None:
        warnings = half_split(models, plan, layout, means)
    elif plan.target == "algorithm":
        warnings = algorithm(plan.test_train_ratio or 0.0, layout, models)
    else:
        warnings = dataset(layout)
        least_p_value = exp((1 - blocks) * lgamma(models + 1))
        if least_p_value > 1 - plan.level:
            warnings.append(
                f"With {models} models on {blocks} folds a permutation p-value cannot be below "
                f"{least_p_value:.2g}: that test can find nothing at a level of "
                f"{100 * plan.level:g} %."
            )
    if plan.adjust == "tukey":
        warnings.append(tukey(blocks))
    if pairs.constant.any():
        constant_pairs = [
            f"{design.models[int(a)]!r} and {design.models[int(b)]!r}"
            for a, b in zip(pairs.first[pairs.constant], pairs.second[pairs.constant], strict=True)
        ]
        warnings.append(
            f"{'; '.join(constant_pairs[:5])} differ by the same amount in every fold: there is no "
            "variation to judge by, and p = 0 is the formula's limit, not a probability."
        )
    return warnings


def trained(evidence: Evidence) -> str:
    """What a comparison of fitted models is about."""
    return f"The test is about {evidence.about}; of models trained anew it says nothing."


def half_split(models: int, plan: Plan, layout: Layout, means: ModelMeans) -> list[str]:
    """Warnings on tests for algorithms with the variance of halves."""
    warnings = [
        f"{ASSUMPTION} Their variance is that of halves of the data, which share no case, with "
        f"{means.df:.3g} degrees of freedom; it takes a variance that halves when the cases double."
    ]
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


def algorithm(test_train_ratio: float, layout: Layout, models: int) -> list[str]:
    """Warnings on tests for algorithms."""
    blocks = layout.blocks
    if test_train_ratio == 0:
        return [
            Hint(
                f"{ASSUMPTION} {{test_train_ratio}} takes the {blocks} folds as independent: that "
                "holds where no two share training or test cases, such as different datasets.",
                test_train_ratio=0,
            )
        ]
    effective_folds = 1 / (1 / blocks + test_train_ratio)
    ratio = float(f"{test_train_ratio:.3g}")
    turned = Hint(
        "{test_train_ratio} means more test than training cases: is it turned around?",
        test_train_ratio=ratio,
    )
    plan = Plan(test_train_ratio=test_train_ratio)
    return [
        *([turned] if test_train_ratio > 1 else []),
        Hint(
            f"{ASSUMPTION} With {{test_train_ratio}} the test counts the {blocks} folds, which "
            f"share cases, as {effective_folds:.1f} independent ones.",
            test_train_ratio=ratio,
        ),
        measured_rates(plan, layout, models),
        *better_design(plan, layout),
    ]


def dataset(layout: Layout) -> list[str]:
    """Warnings on tests for one dataset."""
    measured = dataset_rates(layout)
    if measured is None:
        measured = f"How often the test errs was not measured for {layout.blocks} folds."
    population = (
        f", of which it errs in 0.27 to 0.37 at a level of 99.5 % ({SETTING})"
        if layout.blocks == HOLD_OUTS and layout.kind != "k-fold"
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


def tukey(blocks: int) -> str:
    """Warning on Tukey's test of pairs."""
    rate = (
        ": where one of three models varied five times as much as the others, it found a false "
        f"difference at a level of 95 % in 0.07 of cases ({HOLD_OUTS} folds), and in 0.11 with "
        "five models"
        if blocks == HOLD_OUTS
        else ", and errs where models vary differently; how often was not measured for "
        f"{blocks} folds"
    )
    return Hint(
        f"Tukey's test takes one error for all pairs{rate}. {{adjust}} does not.", adjust="holm"
    )


def views(named: str, blocks: int) -> str:
    """Warning on an F whose residual holds several views of one number."""
    views = f"values at several {named} are views of one number, not observations"
    if blocks != HOLD_OUTS:
        return f"{views}: how far this p-value is too small was not measured for {blocks} fold(s)"
    return (
        f"{views}: in simulation "
        f"({SETTING}) this p-value was below 0.005 in 0.14 (3 priors) to 0.79 (16 priors) of "
        "cases where the procedures were equal"
    )


def two_way(blocks: int) -> str:
    """Warning on the p-value of the two-way analysis."""
    if blocks != HOLD_OUTS:
        return (
            "it takes folds, which may share cases, for independent observations; how often it "
            f"errs was not measured for {blocks} folds"
        )
    return (
        f"in simulation ({SETTING}) this p-value was below 0.005 in 0.006 of cases where the "
        "procedures were equal on the dataset, and in 0.37 where the algorithms were equal over "
        "the population"
    )
