"""No option or role of what says how sure is accepted and ignored."""

import inspect
from functools import cache

import numpy as np
import polars as pl
import pytest
from polars import selectors as cs

import polaroc as pr
from polaroc.errors import PolarocError

rng = np.random.default_rng(6)
CASES, MODELS = 240, "ABC"
NAMES = {"truth": "y", "score": "p", "model": "m", "case": "number"}
OVER = (0.1, 0.3)


def table(folds: int) -> pl.DataFrame:
    """Scores of probabilities by three models; each case is tested once."""
    truth = np.arange(CASES) // 2 % 5 < 2
    fold = np.arange(CASES) // 2 % folds
    parts = [
        pl.DataFrame({
            "y": truth, "m": model, "f": fold, "number": np.arange(CASES),
            "p": 1 / (1 + np.exp(-(1.2 + 0.4 * at) * truth - rng.normal(size=CASES) + 0.5)),
            "patient": np.arange(CASES) // 4, "w": 1 + np.arange(CASES) % 3,
            "part": np.arange(CASES) % 2, "day": np.arange(CASES) % 7,
        })
        for at, model in enumerate(MODELS)
    ]  # fmt: skip
    return pl.concat(parts).with_columns(p=pl.col("p").round(3).clip(0.01, 0.99))


FOLDS = table(4)
ONE = FOLDS.drop("f")
JUDGED, TUNING = (ONE.filter(part=part) for part in (1, 0))

CURVES = pr.curve(ONE, truth="y", score="p", model="m")
FOLD_CURVES = pr.curve(FOLDS, truth="y", score="p", model="m", fold="f")
POINTS = pr.operating_points(CURVES, priors=0.2)
ESTIMATE = pr.estimate_prior(
    TUNING.filter(m="A"), JUDGED.filter(m="A"), truth="y", score="p", method="confusion"
)
TWO = {"champion": "B", "challenger": "A"}
ON_FOLDS = NAMES | {"fold": "f", "test_train_ratio": 1 / 3}
COSTS = {"measure": "expected_cost", "tuning": TUNING, "over": OVER, "cost_fn": 3}

# What is asked of each function, with the least that it needs.
MODES = {
    "evaluate, intervals": (pr.evaluate, ONE, NAMES | {"intervals": True, "over": OVER}),
    "evaluate, losses": (
        pr.evaluate, ONE, NAMES | {"intervals": True, "measures": ["brier"], "priors": 0.2},
    ),
    "evaluate": (pr.evaluate, ONE, NAMES | {"over": OVER}),
    "compare, one test set": (pr.compare, ONE, NAMES | {"measure": "brier", "prior": 0.2}),
    "compare, folds": (pr.compare, FOLDS, ON_FOLDS | {"measure": "auprec", "prior": 0.2}),
    "choose, one test set": (pr.choose, ONE, NAMES | {"over": OVER}),
    "choose, losses": (pr.choose, ONE, NAMES | {"over": OVER, "measure": "brier"}),
    "choose, folds": (pr.choose, FOLDS, ON_FOLDS | {"over": OVER}),
    "choose, costs": (pr.choose, JUDGED, NAMES | COSTS),
    "choose, costs of folds": (
        pr.choose, FOLDS, ON_FOLDS | {"measure": "expected_cost", "over": OVER, "cost_fn": 3},
    ),
    "choose, an estimate": (pr.choose, ONE, NAMES | {"over": ESTIMATE}),
    "gate, one test set": (pr.gate, ONE, NAMES | TWO | {"measure": "brier", "prior": 0.2}),
    "gate, folds": (pr.gate, FOLDS, ON_FOLDS | TWO | {"measure": "auprec", "prior": 0.2}),
    "apply_thresholds": (
        pr.apply_thresholds, ONE,
        {"truth": "y", "score": "p", "model": "m", "points": POINTS, "same_table": True,
         "intervals": True},
    ),
    "apply_thresholds, no intervals": (
        pr.apply_thresholds, ONE,
        {"truth": "y", "score": "p", "model": "m", "points": POINTS, "same_table": True},
    ),
    "operating_points": (
        pr.operating_points, CURVES,
        {"rule": "recall", "target": 0.3, "priors": 0.2, "confidence": 0.9},
    ),
    "operating_points, cost": (pr.operating_points, CURVES, {"rule": "cost", "priors": 0.2}),
    "operating_points, f_measure": (
        pr.operating_points, CURVES, {"rule": "f_measure", "priors": 0.2},
    ),
    "mean_curve": (pr.mean_curve, FOLD_CURVES, {"n": 9, "fold": "f"}),
    "mean_curve, t": (pr.mean_curve, FOLD_CURVES, {"n": 9, "fold": "f", "interval": "t"}),
    "expected_cost": (
        pr.expected_cost, ONE,
        {"truth": "y", "score": "p", "model": "m", "over": 0.4, "intervals": True},
    ),
    "decision_curve": (
        pr.decision_curve, ONE,
        {"truth": "y", "score": "p", "model": "m", "thresholds": 9, "priors": 0.2,
         "intervals": True},
    ),
}  # fmt: skip
# Another value of each option.
OTHER = {
    "priors": 0.3, "prior": 0.3, "over": (0.2, 0.4), "interpolation": "hull", "intervals": False,
    "level": 0.8, "measures": ["auc"], "measure": "auc", "draws": 150, "seed": 3,
    "target": "trained",
    "tuning": TUNING,
    "cost_fn": 2, "cost_fp": 9, "constraints": {"recall": 0.95}, "confidence": 0.8,
    "margin": 0.9, "champion": "C", "challenger": "C", "rule": "max_recall", "beta": 2, "n": 7,
    "same_table": False, "interval": "sd", "points": 0.3, "score_prior": 0.3,
    "test_train_ratio": 0.1, "rates": "npv",
    "thresholds": 7, "cost": 0.3, "every": "2i",
    "cluster": "patient", "weight": "w", "count": "w", "by": "part",
    "time": "week", "nulls": "drop", "positive": False,
}  # fmt: skip
OTHER_OF = {
    ("evaluate", "intervals"): True, ("apply_thresholds, no intervals", "intervals"): True,
    ("operating_points", "target"): 0.5, ("operating_points, cost", "rule"): "recall",
    ("mean_curve", "interval"): "t", ("choose, losses", "measure"): "log_loss",
    ("choose, one test set", "measure"): "brier", ("choose, folds", "measure"): "brier",
    ("choose, an estimate", "measure"): "brier",
    ("choose, costs", "tuning"): TUNING.with_columns(p=1 - pl.col("p")),
    ("compare, one test set", "target"): "algorithm",
}  # fmt: skip
# Roles that these functions are walked over elsewhere, and options of work, not of numbers.
ELSEWHERE = {"truth", "score", "model", "fold", "case", "memory", "progress"}
# It drops rows of which none is lacking.
ELSEWHERE |= {"nulls"}
# What has no bearing on the numbers of modes, as documented.
OF_LOSSES = {"evaluate, losses", "compare, one test set", "choose, losses",
             "gate, one test set", }  # fmt: skip
CORRECTED = {
    "compare, folds", "choose, folds", "gate, folds", "mean_curve, t", "choose, costs of folds",
}  # fmt: skip
REFUSED_BY = {"choose, costs", "mean_curve"}
# Curves have no rows that a role could tell about.
REFUSED_BY |= {mode for mode in MODES if mode.startswith("operating_points")}
NO_BEARING = {
    "score_prior": MODES.keys()
    - OF_LOSSES
    - REFUSED_BY
    - {"decision_curve", "choose, costs of folds"}
    | {mode for mode in MODES if mode.startswith("operating_points")},
    "test_train_ratio": (MODES.keys() - CORRECTED - REFUSED_BY),
    # What is asked for beside is not over a range.
    "over": {"evaluate, losses"},
    # It is compared with the cases, for a note.
    "tuning": {"apply_thresholds", "apply_thresholds, no intervals"},
    # Numbers without limits; and folds say how sure it is.
    "cluster": {
        "evaluate",
        "apply_thresholds, no intervals",
        "compare, folds",
        "choose, folds",
    },
}


@cache
def asked_of(function):
    """The options that are walked, each with its function: the same objects in all its modes."""
    names = list(inspect.signature(function).parameters)[1:]
    return [(function, one) for one in names if one not in ELSEWHERE]


def options(mode: str):
    return [one for _, one in asked_of(MODES[mode][0])]


@cache
def usual(mode: str):
    return outcome(mode)


def outcome(mode: str, **changes):
    function, given, asked = MODES[mode]
    try:
        return numbers(function(given, **asked | changes))
    except PolarocError as error:
        return error


def numbers(result) -> list[pl.DataFrame]:
    """The tables of a result, without what merely repeats what was asked."""
    if isinstance(result, (pl.DataFrame, pl.LazyFrame)):
        tables = [result.lazy().collect()]
    elif hasattr(result, "pairs"):
        tables = [result.omnibus, result.pairs, result.letters]
    elif hasattr(result, "gaps"):
        tables = [result.parts, result.gaps]
    elif hasattr(result, "items"):
        tables = [result.table]
    elif hasattr(result, "models"):
        tests = [] if result.comparison is None else numbers(result.comparison)
        tables = [result.models, result.priors, *tests]
    else:
        shown = ("verdict", "difference", "lower", "upper")
        tables = [pl.DataFrame({name: [getattr(result, name)] for name in shown}, strict=False)]
    # Sums of many numbers differ in the last digit.
    return [
        one.drop("level", "note", "interval", strict=False).with_columns(cs.float().round(9))
        for one in tables
    ]


def same(one, other) -> bool:
    return len(one) == len(other) and all(a.equals(b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_asked_is_answered(mode):
    assert not isinstance(usual(mode), PolarocError), usual(mode)
    assert all(option in OTHER or (mode, option) in OTHER_OF for option in options(mode))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        pytest.param(mode, one, id=f"{mode}-{one[1]}")
        for mode in MODES
        for one in asked_of(MODES[mode][0])
    ],
)
def test_an_option_changes_the_numbers_or_has_no_bearing_or_is_refused(mode, asked):
    _, option = asked
    other = OTHER_OF.get((mode, option), OTHER.get(option))
    found = outcome(mode, **{option: other})
    unchanged = not isinstance(found, PolarocError) and same(found, usual(mode))
    assert unchanged == (mode in NO_BEARING.get(option, set()))
