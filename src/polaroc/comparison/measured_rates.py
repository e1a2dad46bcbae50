"""How often tests for algorithms find a difference, by design, in simulation (`just error-rates`)."""

from dataclasses import dataclass

from polaroc.comparison.design import Plan
from polaroc.comparison.layout import Layout
from polaroc.errors import Hint

SAMPLE = "2 models, AUC, 80 + 240 cases"
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
}
# Rates at α = 0.05 and 0.005 of learners in this order, where algorithms are equal, and the share
# found at 0.05 and 0.005 of a lead of 0.07 between linear discriminants.
RATES: dict[str, tuple[list[tuple[float, float]], tuple[float, float]]] = {}
# Learners for which a rate is surely above 1.25 α: its 99 % interval lies wholly beyond.
ABOVE: dict[str, list[str]] = {}


@dataclass(frozen=True)
class MeasuredDesign:
    """Folds for which rates were measured."""

    name: str
    words: str
    blocks: int
    folds: int  # of a repeat, 0 of hold-outs
    ratio: float
    named: bool = False  # whether the same numbers of folds may be another design

    def matches(self, plan: Plan, layout: Layout) -> bool:
        """Whether these are the folds."""
        kind = "k-fold" if self.folds else "hold-outs"
        same_kind = layout.kind == kind or (layout.kind is None and not self.named)
        same_folds = layout.kind != "k-fold" or layout.folds == self.folds
        ratio = plan.test_train_ratio
        same_ratio = (
            abs(self.ratio - ratio) <= SAME_RATIO
            if ratio is not None
            else (plan.halves and layout.kind is not None)
        )
        return same_kind and same_folds and same_ratio and layout.blocks == self.blocks


DESIGNS = (
    MeasuredDesign("one 10-fold", "one stratified 10-fold", 10, 10, 1 / 9),
    MeasuredDesign("ten 10-folds", "ten stratified 10-folds", 100, 10, 1 / 9),
    MeasuredDesign("5 hold-outs", "5 hold-outs 80/20", 5, 0, 1 / 4, named=True),
    MeasuredDesign("20 hold-outs", "20 hold-outs 80/20", 20, 0, 1 / 4),
    MeasuredDesign("30 hold-outs", "30 hold-outs 80/20", 30, 0, 1 / 4),
    MeasuredDesign("5x2", "five stratified 2-folds", 10, 2, 1.0),
)


def measured_rates(plan: Plan, layout: Layout) -> str:
    """The rates of the test on such folds where algorithms are equal."""
    design = _design(plan, layout)
    test = None if design is None else _test(design, plan)
    if design is None or test not in RATES:
        more = " and halves" if plan.halves else ""
        return (
            f"How often it errs where algorithms are equal was not measured for {layout.blocks} "
            f"folds{more} like these."
        )
    rates, _ = RATES[test]
    listed = "; ".join(
        f"{one:.2g} and {other:.1g} for {learner}"
        for learner, (one, other) in zip(LEARNERS.values(), rates, strict=True)
    )
    halves = ", 25 splits into halves" if plan.halves else ""
    text = (
        f"Measured false-positive rates at α = 0.05 and 0.005 where algorithms are equal "
        f"({design.words}{halves}, {SAMPLE}): {listed}."
    )
    if above := [LEARNERS[name] for name in ABOVE.get(test, [])]:
        text += (
            f" It errs clearly more often than α says with {_joined(above)}: do not rely on it with "
            "such learners."
        )
    return text


def better_design(plan: Plan, layout: Layout) -> list[str]:
    """What another design would bring, where both were measured."""
    design = _design(plan, layout)
    if design is None or design.name not in RATES:
        return []
    own = RATES[design.name][1]
    best = RATES["ten 10-folds, halves"][1]
    repeats = RATES["ten 10-folds"][1]
    said = Hint(
        f"Of a difference of 0.07 between linear discriminants such folds find {own[0]:.2f} at "
        f"α = 0.05 and {own[1]:.2f} at 0.005 ({SAMPLE}); ten 10-folds with {{halves}}, from "
        f"sklearn.half_split_predictions, find {best[0]:.2f} and {best[1]:.2f}, and err no more "
        "than they say with any of these learners",
        halves=None,
    )
    if design.name == "one 10-fold":
        said += (
            f"; ten repeats of this 10-fold alone {repeats[0]:.2f} and {repeats[1]:.2f}, but err "
            f"too often with {_joined([LEARNERS[name] for name in ABOVE['ten 10-folds']])}"
        )
    return [said + "."]


def _design(plan: Plan, layout: Layout) -> MeasuredDesign | None:
    return next((one for one in DESIGNS if one.matches(plan, layout)), None)


def _test(design: MeasuredDesign, plan: Plan) -> str:
    halves = ", halves" if plan.halves else ""
    return design.name + halves + (", guarded" if plan.guarded else "")


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
