"""How often tests find a difference where models are equal, by design: figures of simulations."""

from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import polars as pl

from polaroc.base.rounding import percent
from polaroc.comparison.design import Plan
from polaroc.comparison.layout import Layout
from polaroc.errors import Hint

HERE = Path(__file__).parent
SAMPLE = "2 models, AUC, 80 + 240 cases"
FOUND = "at levels of 95 and 99.5 % it found a difference"
# Tolerance of a ratio against a measured design, so that 0.11 matches 10 folds.
SAME_RATIO = 0.005
LEARNERS = {
    "discriminant": "linear discriminants",
    "logistic": "logistic regression",
    "nearest": "nearest neighbours",
    "nearest label": "labels of nearest neighbours",
    "prototypes": "random prototypes",
    "picker": "pickers of one feature",
    "tree": "decision trees",
    "shallow tree": "shallow decision trees",
    "boosting": "gradient boosting",
}
# Rates where models are equal, at α = 0.05 and 0.005, and the files of their figures.
# Between algorithms, and the share found of a lead: `just error-rates --table`.
DESIGN_RATES = HERE / "design_rates.csv"
# Of pairs by Holm's method, three procedures that are equal on the dataset: `just test-rates --null
# dataset --draws 0`.
DATASET_RATES = HERE / "dataset_rates.csv"
# Of two fitted models, by measure, cases and correlation of the scores: `just gate --only equal`.
TRAINED_RATES = HERE / "trained_rates.csv"
# A rate is surely above α where its 99 % interval lies wholly above so many times α.
TIMES, QUANTILE = 1.25, NormalDist().inv_cdf(0.995)


@dataclass(frozen=True)
class MeasuredDesign:
    """Folds for which rates were measured."""

    name: str
    words: str
    folds: int
    per_repeat: int  # 0 of hold-outs
    ratio: float
    named: bool = False  # whether the same numbers of folds may be another design

    def has_folds(self, layout: Layout) -> bool:
        """Whether these are the folds, as far as their numbers tell."""
        if layout.kind is None:
            # So many hold-outs; other numbers may be of any design.
            return not self.per_repeat and not self.named and layout.folds == self.folds
        same_kind = layout.kind == ("k-fold" if self.per_repeat else "hold-outs")
        same_folds = layout.kind != "k-fold" or layout.per_repeat == self.per_repeat
        return same_kind and same_folds and layout.folds == self.folds

    def matches(self, plan: Plan, layout: Layout) -> bool:
        """Whether these are the folds."""
        kind = "k-fold" if self.per_repeat else "hold-outs"
        same_kind = layout.kind == kind or (layout.kind is None and not self.named)
        same_folds = layout.kind != "k-fold" or layout.per_repeat == self.per_repeat
        ratio = plan.test_train_ratio
        same_ratio = (
            abs(self.ratio - ratio) <= SAME_RATIO
            if ratio is not None
            else (plan.halves and layout.kind is not None)
        )
        return same_kind and same_folds and same_ratio and layout.folds == self.folds


DESIGNS = (
    MeasuredDesign("one 10-fold", "one stratified 10-fold", 10, 10, 1 / 9),
    MeasuredDesign("ten 10-folds", "ten stratified 10-folds", 100, 10, 1 / 9),
    MeasuredDesign("5 hold-outs", "5 hold-outs 80/20", 5, 0, 1 / 4, named=True),
    MeasuredDesign("20 hold-outs", "20 hold-outs 80/20", 20, 0, 1 / 4),
    MeasuredDesign("30 hold-outs", "30 hold-outs 80/20", 30, 0, 1 / 4),
    MeasuredDesign("5x2", "five stratified 2-folds", 10, 2, 1.0),
)


def measured_rates(plan: Plan, layout: Layout, models: int) -> str:
    """The rates of the test on such folds where algorithms are equal."""
    design = _design(plan, layout)
    rates = {} if design is None else _equal(_test(design, plan), 2)
    if design is None or not rates:
        more = " and halves" if plan.halves else ""
        return (
            "How often the test errs where algorithms are equal was not measured for "
            f"{layout.folds} folds{more} like these."
        )
    test, above = _test(design, plan), _surely_above(rates)
    within = {name: rate for name, rate in rates.items() if name not in above}
    listed = [f"at most {_most(list(within.values()))} with {_joined(list(within))}"]
    listed += [f"{_shares(*rates[name][:2])} with {LEARNERS[name]}" for name in above]
    halves = ", 25 splits into halves" if plan.halves else ""
    text = (
        "How often the test errs was measured where algorithms are equal "
        f"({design.words}{halves}, {SAMPLE}): "
        f"{FOUND} in {'; in '.join(listed)}."
    )
    if above:
        these = "this learner" if len(above) == 1 else "these last learners"
        text += f" So it errs too often with {these} and their like."
    return text + (_with_more_models(test, above) if models > 2 else "")


def _with_more_models(test: str, above: list[str]) -> str:
    """The rates of a test of more than two algorithms; `above` are known already."""
    by_models = {models: _equal(test, models) for models in (3, 10)}
    (few, least), (many, most) = (
        max(((name, rate.at_05) for name, rate in rates.items()), key=lambda one: one[1])
        for rates in by_models.values()
    )
    of_few = "" if few == many else f" models of {LEARNERS[few]}"
    text = (
        f" With more models it did at 95 % in up to {percent(round(least, 2), 2)} of samples with "
        f"3{of_few}, {percent(round(most, 2), 2)} with 10 models of {LEARNERS[many]}."
    )
    surely = dict.fromkeys(name for rates in by_models.values() for name in _surely_above(rates))
    if more := [name for name in surely if name not in above]:
        text += f" So it errs too often with more than two models of {_joined(more)}."
    return text


def dataset_rates(layout: Layout) -> str | None:
    """The rates of the test for one dataset on such folds, None where they were not measured."""
    design = next((one for one in DESIGNS if one.has_folds(layout)), None)
    if design is None:
        return None
    rates = _dataset()[design.name]
    return (
        "How often the test errs was measured where procedures are equal on the dataset "
        f"({design.words}, 3 models, IAUPREC): {FOUND} in at most "
        f"{_most(list(rates.values()))} with {_joined(list(rates))}."
    )


def trained_rates(measure: str) -> str:
    """The rates of the test of two fitted models that are equal."""
    known = measure if measure in _trained() else "iauprec"
    rates = [
        f"{_most(found)} with {positives:,} + {negatives:,} cases"
        for (positives, negatives), found in _trained()[known].items()
    ]
    equal = "" if known == "auc" else "IAUPREC over 5 to 20 %, at an "
    text = (
        "How often the test errs was measured where two fitted models have the same "
        f"{equal}AUC of 0.90: {FOUND} in {'; in '.join(rates)}."
    )
    if known != "auc":
        text += " So with few cases it errs too often; gate takes wider limits there."
    unknown = f"How often the test errs for {measure!r} was not measured. "
    return text if known == measure else unknown + text


def better_design(plan: Plan, layout: Layout) -> list[str]:
    """What another design would bring, where both were measured."""
    design = _design(plan, layout)
    if design is None:
        return []
    own, repeats, best = (
        [round(share, 2) for share in _counted()[name, 2, True]["discriminant"][:2]]
        for name in (design.name, "ten 10-folds", "ten 10-folds, halves")
    )
    power = (
        f"A lead of 0.07 of linear discriminants is found on such folds in {_shares(*own)} of "
        "samples; on ten 10-folds, with "
    )
    errs = ""
    if design.name == "one 10-fold":
        unstable = _joined(_surely_above(_equal("ten 10-folds", 2)))
        alone = _shares(*repeats)
        errs = f" Ten 10-folds alone find it in {alone}, but err too often with {unstable}."
    errors = _most([*_equal("ten 10-folds, halves", 2).values()])
    ends = (
        f", in {_shares(*best)}, and that errs in at most {errors} with the learners tried.{errs}"
    )
    return [
        Hint(
            f"{power}compare({{halves}}) and sklearn.half_split_predictions{ends}",
            command_line=f"{power}`polaroc compare --halves`{ends}",
            halves=...,
        )
    ]


class Rates(NamedTuple):
    """The shares of samples with a difference at both α."""

    at_05: float
    at_005: float
    above: bool = False  # whether one of them surely is above its α


Learners = dict[str, Rates]


@cache
def _counted() -> dict[tuple[str, int, bool], Learners]:
    """Rates of each learner, by test, number of models and whether one leads."""
    found: dict[tuple[str, int, bool], Learners] = {}
    for test, models, lead, learner, of, *below in pl.read_csv(DESIGN_RATES).rows():
        at_05, at_005 = (count / of for count in below)
        above = _is_above(at_05, of, 0.05) or _is_above(at_005, of, 0.005)
        found.setdefault((test, models, lead > 0), {})[learner] = Rates(at_05, at_005, above)
    return found


@cache
def _dataset() -> dict[str, Learners]:
    """Rates of the test for one dataset of each learner, by folds."""
    found: dict[str, Learners] = {}
    for folds, learner, *rates in pl.read_csv(DATASET_RATES).rows():
        found.setdefault(folds, {})[learner] = Rates(*rates)
    return found


@cache
def _trained() -> dict[str, dict[tuple[int, int], list[Rates]]]:
    """Rates of the test of two fitted models, by measure and numbers of cases."""
    found: dict[str, dict[tuple[int, int], list[Rates]]] = {}
    for measure, positives, negatives, _, *rates in pl.read_csv(TRAINED_RATES).rows():
        found.setdefault(measure, {}).setdefault((positives, negatives), []).append(Rates(*rates))
    return found


def _is_above(rate: float, of: int, alpha: float) -> bool:
    # Wilson's interval, which the recipe draws.
    square = QUANTILE**2 / of
    reach = QUANTILE * sqrt(rate * (1 - rate) / of + square / (4 * of))
    return (rate + square / 2 - reach) / (1 + square) > TIMES * alpha


def _equal(test: str, models: int) -> Learners:
    return _counted().get((test, models, False), {})


def _surely_above(rates: Learners) -> list[str]:
    return [name for name, rate in rates.items() if rate.above]


def _most(rates: list[Rates]) -> str:
    return _shares(max(rate.at_05 for rate in rates), max(rate.at_005 for rate in rates))


def _shares(at_05: float, at_005: float) -> str:
    # Three decimals are what counts of some hundreds to thousands of samples tell.
    return f"{percent(round(at_05, 3), 2)} and {percent(round(at_005, 3), 2)}"


def _design(plan: Plan, layout: Layout) -> MeasuredDesign | None:
    return next((one for one in DESIGNS if one.matches(plan, layout)), None)


def _test(design: MeasuredDesign, plan: Plan) -> str:
    halves = ", halves" if plan.halves else ""
    return design.name + halves + (", guarded" if plan.guarded else "")


def _joined(learners: list[str]) -> str:
    names = [LEARNERS[name] for name in learners]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
