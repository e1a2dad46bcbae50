"""How often tests for algorithms find a difference, by design: figures of `just error-rates`."""

from dataclasses import dataclass

from polaroc.base.rounding import percent
from polaroc.comparison.design import Plan
from polaroc.comparison.layout import Layout
from polaroc.errors import Hint

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
# Learners with enough samples, in the order of RATES.
QUOTED = (
    "discriminant",
    "logistic",
    "nearest",
    "nearest label",
    "prototypes",
    "picker",
    "boosting",
)
# Per test and learner the rates at α = 0.05 and 0.005 where two algorithms are equal.
RATES: dict[str, tuple[tuple[float, float], ...]] = {
    "one 10-fold": (
        (0.010, 0.000),
        (0.002, 0.000),
        (0.054, 0.006),
        (0.032, 0.003),
        (0.024, 0.001),
        (0.070, 0.008),
        (0.007, 0.000),
    ),
    "ten 10-folds": (
        (0.038, 0.003),
        (0.045, 0.004),
        (0.150, 0.035),
        (0.102, 0.023),
        (0.008, 0.001),
        (0.163, 0.045),
        (0.051, 0.004),
    ),
    "5 hold-outs": (
        (0.053, 0.002),
        (0.047, 0.002),
        (0.091, 0.009),
        (0.077, 0.006),
        (0.021, 0.001),
        (0.082, 0.010),
        (0.050, 0.007),
    ),
    "20 hold-outs": (
        (0.053, 0.006),
        (0.063, 0.008),
        (0.146, 0.030),
        (0.089, 0.013),
        (0.005, 0.001),
        (0.109, 0.018),
        (0.054, 0.004),
    ),
    "30 hold-outs": (
        (0.051, 0.006),
        (0.076, 0.006),
        (0.160, 0.038),
        (0.092, 0.019),
        (0.005, 0.000),
        (0.096, 0.020),
        (0.057, 0.004),
    ),
    "5x2": (
        (0.042, 0.004),
        (0.037, 0.002),
        (0.084, 0.014),
        (0.030, 0.003),
        (0.002, 0.000),
        (0.025, 0.002),
        (0.026, 0.000),
    ),
    "one 10-fold, halves": (
        (0.033, 0.002),
        (0.035, 0.002),
        (0.043, 0.003),
        (0.052, 0.007),
        (0.041, 0.001),
        (0.069, 0.007),
        (0.026, 0.000),
    ),
    "5 hold-outs, halves": (
        (0.055, 0.004),
        (0.049, 0.002),
        (0.043, 0.003),
        (0.057, 0.006),
        (0.052, 0.007),
        (0.051, 0.002),
        (0.047, 0.004),
    ),
    "30 hold-outs, halves": (
        (0.044, 0.002),
        (0.049, 0.002),
        (0.042, 0.006),
        (0.045, 0.005),
        (0.026, 0.002),
        (0.031, 0.002),
        (0.028, 0.001),
    ),
    "ten 10-folds, halves": (
        (0.034, 0.002),
        (0.029, 0.002),
        (0.043, 0.005),
        (0.047, 0.006),
        (0.014, 0.001),
        (0.074, 0.006),
        (0.028, 0.000),
    ),
    "ten 10-folds, halves, guarded": (
        (0.020, 0.001),
        (0.022, 0.000),
        (0.042, 0.005),
        (0.043, 0.004),
        (0.004, 0.000),
        (0.068, 0.006),
        (0.014, 0.000),
    ),
}
# Learners of which a rate surely is above 1.25 α: its 99 % interval lies wholly beyond.
ABOVE: dict[str, tuple[str, ...]] = {
    "ten 10-folds": (
        "nearest",
        "nearest label",
        "picker",
    ),
    "5 hold-outs": (
        "nearest",
        "nearest label",
        "picker",
    ),
    "20 hold-outs": (
        "nearest",
        "nearest label",
        "picker",
    ),
    "30 hold-outs": (
        "nearest",
        "nearest label",
        "picker",
    ),
    "5x2": ("nearest",),
}
# The same of more than two algorithms, where it is not of two.
ABOVE_OF_MORE: dict[str, tuple[str, ...]] = {"one 10-fold, halves": ("picker",)}
# The largest rate at α = 0.05 with three and with ten algorithms, and of which learner.
MORE_MODELS: dict[str, dict[int, tuple[str, float]]] = {
    "one 10-fold": {3: ("picker", 0.06), 10: ("picker", 0.08)},
    "ten 10-folds": {3: ("picker", 0.20), 10: ("nearest", 0.31)},
    "5 hold-outs": {3: ("nearest", 0.09), 10: ("nearest", 0.15)},
    "20 hold-outs": {3: ("nearest", 0.19), 10: ("nearest", 0.31)},
    "30 hold-outs": {3: ("nearest", 0.20), 10: ("nearest", 0.33)},
    "5x2": {3: ("nearest", 0.09), 10: ("nearest", 0.14)},
    "one 10-fold, halves": {3: ("picker", 0.08), 10: ("nearest", 0.06)},
    "5 hold-outs, halves": {3: ("nearest label", 0.05), 10: ("nearest label", 0.04)},
    "30 hold-outs, halves": {3: ("nearest label", 0.05), 10: ("nearest label", 0.05)},
    "ten 10-folds, halves": {3: ("picker", 0.06), 10: ("nearest label", 0.08)},
    "ten 10-folds, halves, guarded": {3: ("picker", 0.06), 10: ("nearest label", 0.08)},
}
# The share found of a lead of 0.07 between linear discriminants, at both α.
POWER: dict[str, tuple[float, float]] = {
    "one 10-fold": (0.36, 0.05),
    "ten 10-folds": (0.75, 0.40),
    "5 hold-outs": (0.34, 0.05),
    "20 hold-outs": (0.69, 0.31),
    "30 hold-outs": (0.72, 0.36),
    "5x2": (0.63, 0.22),
    "one 10-fold, halves": (0.67, 0.26),
    "5 hold-outs, halves": (0.49, 0.15),
    "30 hold-outs, halves": (0.68, 0.27),
    "ten 10-folds, halves": (0.70, 0.30),
    "ten 10-folds, halves, guarded": (0.66, 0.22),
}

# Of two fitted models that are equal, by measure and cases: the rates at both α
# (`just gate --only equal`).
TRAINED: dict[str, dict[tuple[int, int], tuple[float, float]]] = {
    "auc": {(20, 80): (0.030, 0.000), (50, 450): (0.062, 0.007), (200, 1800): (0.048, 0.003)},
    "iauprec": {(20, 80): (0.083, 0.015), (50, 450): (0.075, 0.005), (200, 1800): (0.060, 0.010)},
}

# Of pairs by Holm's method, three procedures that are equal on the dataset: the largest rates at
# both α of these learners (`just test-rates --null dataset`).
STABLE, BOTH = ("discriminant",), ("discriminant", "nearest")
DATASET: dict[str, tuple[tuple[str, ...], float, float]] = {
    "one 10-fold": (BOTH, 0.058, 0.005),
    "ten 10-folds": (STABLE, 0.023, 0.003),
    "5 hold-outs": (BOTH, 0.042, 0.006),
    "20 hold-outs": (BOTH, 0.058, 0.007),
    "30 hold-outs": (STABLE, 0.052, 0.004),
    "5x2": (BOTH, 0.048, 0.007),
}


@dataclass(frozen=True)
class MeasuredDesign:
    """Folds for which rates were measured."""

    name: str
    words: str
    blocks: int
    folds: int  # of a repeat, 0 of hold-outs
    ratio: float
    named: bool = False  # whether the same numbers of folds may be another design

    def has_folds(self, layout: Layout) -> bool:
        """Whether these are the folds, as far as their numbers tell."""
        if layout.kind is None:
            # So many hold-outs; other numbers may be of any design.
            return not self.folds and not self.named and layout.blocks == self.blocks
        same_kind = layout.kind == ("k-fold" if self.folds else "hold-outs")
        same_folds = layout.kind != "k-fold" or layout.folds == self.folds
        return same_kind and same_folds and layout.blocks == self.blocks

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


def measured_rates(plan: Plan, layout: Layout, models: int) -> str:
    """The rates of the test on such folds where algorithms are equal."""
    design = _design(plan, layout)
    test = None if design is None else _test(design, plan)
    if design is None or test not in RATES:
        more = " and halves" if plan.halves else ""
        return (
            "How often the test errs where algorithms are equal was not measured for "
            f"{layout.blocks} folds{more} like these."
        )
    rates: dict[str, tuple[float, float]] = dict(zip(QUOTED, RATES[test], strict=True))
    above = ABOVE.get(test, ())
    within = [name for name in QUOTED if name not in above]
    most = (max(rates[name][place] for name in within) for place in (0, 1))
    listed = [f"at most {_shares(*most)} with {_joined([LEARNERS[name] for name in within])}"]
    listed += [f"{_shares(*rates[name])} with {LEARNERS[name]}" for name in above]
    halves = ", 25 splits into halves" if plan.halves else ""
    text = (
        "How often the test errs was measured where algorithms are equal "
        f"({design.words}{halves}, {SAMPLE}): "
        f"{FOUND} in {'; in '.join(listed)}."
    )
    if above:
        these = "this learner" if len(above) == 1 else "these last learners"
        text += f" So it errs too often with {these} and their like."
    if models > 2:
        (few, least), (many, most_of) = MORE_MODELS[test].values()
        of_few = "" if few == many else f" models of {LEARNERS[few]}"
        text += (
            f" With more models it did at 95 % in up to {percent(least, 2)} of samples with "
            f"3{of_few}, {percent(most_of, 2)} with 10 models of {LEARNERS[many]}."
        )
        if test in ABOVE_OF_MORE:
            these = _joined([LEARNERS[name] for name in ABOVE_OF_MORE[test]])
            text += f" So it errs too often with more than two models of {these}."
    return text


def dataset_rates(layout: Layout) -> str | None:
    """The rates of the test for one dataset on such folds, None where they were not measured."""
    design = next((one for one in DESIGNS if one.has_folds(layout)), None)
    if design is None:
        return None
    learners, *rates = DATASET[design.name]
    return (
        "How often the test errs was measured where procedures are equal on the dataset "
        f"({design.words}, 3 models, IAUPREC): {FOUND} in at most "
        f"{_shares(rates[0], rates[1])} with {_joined([LEARNERS[name] for name in learners])}."
    )


def trained_rates(measure: str) -> str:
    """The rates of the test of two fitted models that are equal."""
    known = measure if measure in TRAINED else "iauprec"
    rates = [
        f"{_shares(*rate)} with {positives:,} + {negatives:,} cases"
        for (positives, negatives), rate in TRAINED[known].items()
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
    if design is None or design.name not in POWER:
        return []
    own, repeats, best = (
        POWER[name] for name in (design.name, "ten 10-folds", "ten 10-folds, halves")
    )
    power = (
        f"A lead of 0.07 of linear discriminants is found on such folds in {_shares(*own)} of "
        "samples; on ten 10-folds, with "
    )
    errs = ""
    if design.name == "one 10-fold":
        unstable = _joined([LEARNERS[name] for name in ABOVE["ten 10-folds"]])
        alone = _shares(*repeats)
        errs = f" Ten 10-folds alone find it in {alone}, but err too often with {unstable}."
    ends = f", in {_shares(*best)}, and that errs clearly too often with no learner here.{errs}"
    return [
        Hint(
            f"{power}compare({{halves}}) and sklearn.half_split_predictions{ends}",
            command_line=f"{power}`polaroc compare --halves`{ends}",
            halves=...,
        )
    ]


def _shares(at_05: float, at_005: float) -> str:
    return f"{percent(at_05, 2)} and {percent(at_005, 2)}"


def _design(plan: Plan, layout: Layout) -> MeasuredDesign | None:
    return next((one for one in DESIGNS if one.matches(plan, layout)), None)


def _test(design: MeasuredDesign, plan: Plan) -> str:
    halves = ", halves" if plan.halves else ""
    return design.name + halves + (", guarded" if plan.guarded else "")


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
