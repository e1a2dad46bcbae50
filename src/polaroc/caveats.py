"""What the tests assume, and how often they were wrong where nothing differs.

The rates are those of ``python tests/benchmarks/error_rates.py`` (`just error-rates`).
"""

from math import exp, lgamma

from polaroc.designs import Design
from polaroc.pairs import Pairs
from polaroc.plans import Plan

SETTING = "3 models, 20 hold-outs 80/20 of 150 + 450 cases"


def of_design(design: Design, pairs: Pairs, plan: Plan) -> list[str]:
    """What is to be said of the tests of a balanced table."""
    blocks, models = design.table.shape
    if plan.target == "algorithm":
        said = algorithm(blocks, plan.test_train_ratio or 0.0)
    else:
        said = dataset()
        least = exp((1 - blocks) * lgamma(models + 1))
        if least > plan.alpha:
            said.append(
                f"With {models} models on {blocks} blocks a permutation p-value cannot be below "
                f"{least:.2g}: that test can find nothing at α = {plan.alpha:g}."
            )
    if plan.adjust == "tukey":
        said.append(TUKEY)
    if pairs.constant.any():
        which = [
            f"{design.models[int(a)]!r} and {design.models[int(b)]!r}"
            for a, b in zip(pairs.first[pairs.constant], pairs.second[pairs.constant], strict=True)
        ]
        said.append(
            f"{'; '.join(which[:5])} differ by the same amount in every block: there is no "
            "variation to judge by, and p = 0 is the formula's limit, not a probability."
        )
    return said


def algorithm(blocks: int, test_train_ratio: float) -> list[str]:
    """What is to be said of tests for algorithms."""
    asked = (
        "It asks whether the algorithms would differ if trained anew on other samples of this size."
    )
    if test_train_ratio == 0:
        return [
            f"{asked} test_train_ratio=0 takes the {blocks} blocks as independent: that holds "
            "where no two share training or test cases, such as different datasets."
        ]
    worth = 1 / (1 / blocks + test_train_ratio)
    turned = (
        f"test_train_ratio={test_train_ratio:.3g} means more test than training cases: is it "
        "turned around?"
    )
    return [
        *([turned] if test_train_ratio > 1 else []),
        f"{asked} With test_train_ratio={test_train_ratio:.3g} the {blocks} blocks, which share "
        f"cases, count as {worth:.1f} independent ones.",
        f"Measured false-positive rate at α = 0.005 where algorithms are equal ({SETTING}): 0.005 "
        "for linear discriminants; liberal, 0.03, for an unstable learner (nearest neighbour), for "
        "which one stratified 10-fold gave 0.003.",
    ]


def dataset() -> list[str]:
    """What is to be said of tests for one dataset."""
    return [
        "It asks whether the procedures differ on this dataset, over further splits of it; of "
        "another sample it says nothing.",
        f"Measured false-positive rate at α = 0.005 ({SETTING}): 0.004 to 0.006 where the "
        "procedures are equal on the dataset; 0.27 to 0.37 where the algorithms are equal over the "
        "population: for that question take target='algorithm'.",
    ]


def trained() -> list[str]:
    """What is to be said of tests for fitted models."""
    return [
        "It asks whether these fitted models differ on cases like these, which must be "
        "independent; of models trained anew it says nothing.",
    ]


def picked(models: int, measure: str) -> str:
    """What is to be said of the number of a model that was picked for it."""
    return (
        f"The expected {measure} of the first model is likely too high, because it is the highest "
        f"of {models}: chance helped to make it so. With equal models, in simulation (30 "
        "hold-outs), the highest was too high by 0.034 of 2 models, 0.052 of 3 and 0.095 of 10; "
        "with more cases it is less."
    )


TUKEY = (
    "Tukey's test takes one error for all pairs: where one of three models varied five times as "
    "much as the others, it found a false difference at α = 0.05 in 0.07 of cases, and in 0.11 "
    "with five models. adjust='holm' does not."
)


def views(named: str) -> str:
    """What is to be said of an F whose error is made of several views of one number."""
    return (
        f"values at several {named} are views of one number, not observations: in simulation "
        f"({SETTING}) this p-value was below 0.005 in 0.14 (3 priors) to 0.79 (16 priors) of "
        "cases where the procedures were equal"
    )


TWO_WAY = (
    f"in simulation ({SETTING}) this p-value was below 0.005 in 0.006 of cases where the "
    "procedures were equal on the dataset, and in 0.37 where the algorithms were equal over the "
    "population"
)
