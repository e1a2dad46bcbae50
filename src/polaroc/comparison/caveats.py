"""What the tests assume, and how often they err where models are equal: figures of simulations."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import isinf
from pathlib import Path
from typing import Any

import polars as pl

from polaroc.base.rounding import percent
from polaroc.comparison.design import FoldValues, Layout, Plan
from polaroc.errors import Hint
from polaroc.measures.catalog import CATALOG
from polaroc.measures.scoring import CASE_LOSSES
from polaroc.uncertainty.evidence import CASES, Contrasts, Evidence

HERE = Path(__file__).parent
SAMPLE = "AUC, 80 + 240 cases"
ERRS = "How often the test errs was measured where"
FOUND = "at levels of 95 and 99.5 % it found a difference in at most"
# Numbers of models with which rates were measured; of more, those of the last are quoted.
MODELS = (2, 3, 10)
# Tolerance of a ratio against a measured design, so that 0.11 matches 10 folds.
SAME_RATIO = 0.005
# Between linear discriminants, the largest lead for which its chance of being found was counted.
LEAD = 0.07
# Rates where models are equal, at α = 0.05 and 0.005, by what they were measured with.
# Between algorithms, whether the 99 % interval of one lies above 1.25 α, and the share found of a
# lead: `just error-rates --table`.
DESIGN_RATES = HERE / "design_rates.csv"
# For two fitted models, by measure, cases and correlation of the scores: `just gate --only equal`.
TRAINED_RATES = HERE / "trained_rates.csv"
# For P-ROC's analyses of variance, equal on the dataset or over the population: `just test-rates`.
ANOVA_RATES = HERE / "anova_rates.csv"
HOLD_OUTS = 20
SETTING = f"3 models, {HOLD_OUTS} hold-outs 80/20 of 150 + 450 cases"
ASSUMPTION = (
    "The test asks whether the algorithms would differ if trained again on other samples of this "
    "size. "
)
UNKNOWN = "How often the test errs for {!r} was not measured."
UNPAIRED = "How often the test errs was not measured for models with test sets of their own."
OF_CLUSTERS = "How often the test errs depends on the clusters, and was not measured for these."
# The covariance of more models was not tried.
MAX_MODELS = 10


@dataclass(frozen=True)
class MeasuredFolds:
    """Folds for which rates were measured."""

    name: str
    words: str
    folds: int
    per_repeat: int  # 0 of hold-outs
    ratio: float
    named: bool = False  # whether the same numbers of folds may be others

    def are(self, layout: Layout, ratio: float | None) -> bool:
        """Whether these are the folds, as far as their numbers tell, and the ratio if known."""
        if layout.folds != self.folds or abs(self.ratio - (ratio or self.ratio)) > SAME_RATIO:
            return False
        if layout.kind is None:
            # Without a ratio so many hold-outs; other numbers may be of any folds.
            return not self.named and (ratio is not None or not self.per_repeat)
        if layout.kind == "hold-outs":
            return not self.per_repeat
        return layout.per_repeat == self.per_repeat


MEASURED = (
    MeasuredFolds("one 10-fold", "one stratified 10-fold", 10, 10, 1 / 9),
    MeasuredFolds("ten 10-folds", "ten stratified 10-folds", 100, 10, 1 / 9),
    MeasuredFolds("5 hold-outs", "5 hold-outs 80/20", 5, 0, 1 / 4, named=True),
    MeasuredFolds("20 hold-outs", "20 hold-outs 80/20", 20, 0, 1 / 4),
    MeasuredFolds("30 hold-outs", "30 hold-outs 80/20", 30, 0, 1 / 4),
    MeasuredFolds("5x2", "five stratified 2-folds", 10, 2, 1.0),
)


def of_table(table: FoldValues, pairs: Contrasts, plan: Plan, evidence: Evidence) -> list[str]:
    """Warnings on the tests of a balanced table."""
    layout, models = table.layout, len(table.models)
    warnings = [ASSUMPTION + evidence.doubts[0], *evidence.doubts[1:]]
    if plan.halves and layout.kind is None:
        warnings.append(
            "Nothing says whether the folds test every case equally often, so they count as "
            "hold-outs, whose means vary more. Name their repeats in a key 'repeat', as "
            "cross_val_predictions does: the test may then find more."
        )
    if plan.halves and models > MAX_MODELS:
        warnings.append(
            f"The test was tried with up to {MAX_MODELS} models, not with {models}: leave out "
            "those that do not matter."
        )
    if plan.halves or plan.test_train_ratio:
        warnings.append(measured_rates(plan, layout, models))
    if plan.test_train_ratio and not plan.halves:
        warnings += better_folds(plan, layout)
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
    about = (
        f"The test is about {evidence.about}. It says nothing about models that are trained again."
    )
    if not paired:
        return about, UNPAIRED
    moved = evidence.moved
    of_cases = measure in CASE_LOSSES and moved is not None and moved.units == CASES
    known = of_cases or isinf(evidence.freedom)
    return about, trained_rates(measure) if known else OF_CLUSTERS


def views(named: str, folds: int) -> str:
    """Warning on an F whose residual holds several views of one number."""
    views = f"values at several {named} are views of one number, not observations"
    if folds != HOLD_OUTS:
        return f"{views}: how far this p-value is too small was not measured for {folds} fold(s)"
    few, many = (_rates(ANOVA_RATES)[f"3-way, {count} priors",]["dataset"][0] for count in (3, 16))
    return (
        f"{views}: in simulation ({SETTING}) this p-value was below 0.005 in {few:g} (3 priors) to "
        f"{many:g} (16 priors) of cases where the procedures were equal"
    )


def two_way(folds: int) -> str:
    """Warning on the p-value of the two-way analysis."""
    if folds != HOLD_OUTS:
        return (
            "it treats folds, which may share cases, as independent observations; how often it "
            f"errs was not measured for {folds} folds"
        )
    on_dataset, over_population = (rate for (rate,) in _rates(ANOVA_RATES)["2-way",].values())
    return (
        f"in simulation ({SETTING}) this p-value was below 0.005 in {on_dataset:g} of cases where "
        f"the procedures were equal on the dataset, and in {over_population:g} where the "
        "algorithms were equal over the population"
    )


def measured_rates(plan: Plan, layout: Layout, models: int) -> str:
    """The rates of the test on such folds where algorithms are equal."""
    known = _folds(plan, layout)
    tried = next((number for number in MODELS if number >= models), MODELS[-1])
    test = "" if known is None else known.name
    test += (", halves" if plan.halves else "") + (", guarded" if plan.guarded else "")
    rates = _rates(DESIGN_RATES).get((test, tried, 0.0))
    if known is None or rates is None:
        more = " and halves" if plan.halves else ""
        return (
            "How often the test errs where algorithms are equal was not measured for "
            f"{layout.folds} folds{more} like these."
        )
    halves = ", 25 splits into halves" if plan.halves else ""
    text = f"{ERRS} algorithms are equal ({known.words}{halves}, {tried} models, {SAMPLE}): {FOUND}"
    within, above = ({n: r for n, r in rates.items() if r[2] == is_so} for is_so in (False, True))
    parts = [f"{_most(some.values())} with {_joined(some)}" for some in (within, above) if some]
    text = f"{text} {'; in up to '.join(parts)}."
    if above:
        these = "this learner and its" if len(above) == 1 else "these last learners and their"
        text += f" So it errs too often with {these} like."
    return text


def trained_rates(measure: str) -> str:
    """The rates of the test of two fitted models that are equal."""
    sizes = _rates(TRAINED_RATES)
    is_known = any(key[0] == measure for key in sizes)
    if not (is_known or measure in CATALOG):
        return UNKNOWN.format(measure)
    known = measure if is_known else "iauprec"
    rates = [
        f"{_most(found.values())} with {positives:,} + {negatives:,} cases"
        for (of, positives, negatives), found in sizes.items()
        if of == known
    ]
    equal = {"auc": "", "iauprec": "IAUPREC over 5 to 20 %, at an "}.get(known)
    same = "curve, at an " if equal is None else equal
    text = f"{ERRS} two fitted models have the same {same}AUC of 0.90: {FOUND} {', '.join(rates)}."
    if known == "iauprec":
        text += " So with few cases it errs too often; gate takes wider limits there."
    return text if known == measure else f"{UNKNOWN.format(measure)} {text}"


def better_folds(plan: Plan, layout: Layout) -> list[str]:
    """What ten 10-folds with halves would bring, where these folds were measured."""
    known = _folds(plan, layout)
    if known is None:
        return []
    best, rates = "ten 10-folds, halves", _rates(DESIGN_RATES)
    own, found = (_most(rates[name, 2, LEAD].values()) for name in (known.name, best))
    errors = _most(rates[best, 2, 0.0].values())
    lead = (
        f"Such folds find a lead of {LEAD} between linear discriminants in {own} of samples. Ten "
        "10-folds with "
    )
    ends = f" find it in {found}, and err in at most {errors} with the learners tried."
    return [
        Hint(
            f"{lead}compare({{halves}}) and sklearn.half_split_predictions{ends}",
            command_line=f"{lead}`polaroc compare --halves`{ends}",
            halves=...,
        )
    ]


@cache
def _rates(file: Path) -> dict[tuple[Any, ...], dict[Any, tuple[float, ...]]]:
    """The rates of a file, by its first columns, then by the last of those before the rates."""
    table = pl.read_csv(file)
    place = next(i for i, name in enumerate(table.columns) if name.startswith("at_"))
    found: dict[tuple[Any, ...], dict[Any, tuple[float, ...]]] = {}
    for row in table.rows():
        found.setdefault(row[: place - 1], {})[row[place - 1]] = row[place:]
    return found


def _most(rates: Iterable[tuple[float, ...]]) -> str:
    # What counts of some hundreds to thousands of samples tell.
    most = (max(shares) for shares in list(zip(*rates, strict=True))[:2])
    return " and ".join(percent(round(share, 3 if share < 0.1 else 2), 2) for share in most)


def _folds(plan: Plan, layout: Layout) -> MeasuredFolds | None:
    if plan.test_train_ratio is None and layout.kind is None:
        return None
    return next((one for one in MEASURED if one.are(layout, plan.test_train_ratio)), None)


def _joined(learners: Iterable[str]) -> str:
    *names, last = learners
    return f"{', '.join(names)} and {last}" if names else last
