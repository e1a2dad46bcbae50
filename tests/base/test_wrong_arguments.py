import datetime
import inspect
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import PolarocError

FOLDS = pl.DataFrame(
    {
        "model": ["A"] * 6 + ["B"] * 6,
        "fold": [1, 2] * 6,
        "case": [0, 1, 2, 3, 4, 5] * 2,
        "truth": [1, 1, 0, 1, 0, 0] * 2,
        "score": [0.9, 0.8, 0.7, 0.6, 0.3, 0.1, 0.9, 0.2, 0.7, 0.6, 0.3, 0.1],
    }
)
TEST = FOLDS.drop("fold")
# The first fold alone tells the models apart.
A, B = TEST.partition_by("model")
WIDE = A.select("case", "truth", A="score", B=B["score"])
OTHERS = TEST.with_columns(score=1 - pl.col("score"), case=pl.col("case") + 9)
NAMES = {"truth": "truth", "score": "score"}
OVER = {"over": (0.1, 0.2)}
CURVES = pr.curve(TEST, **NAMES)
PILOT = pr.simulate(auc=[0.8, 0.9], positives=6, negatives=9, tables=1).drop("table")
BY_FOLD = pr.curve(FOLDS, **NAMES)
MEASURES = pr.evaluate(FOLDS, **NAMES, priors=[0.1, 0.2], **OVER)
SURFACE = pr.surface(BY_FOLD, 0.1)
KEYED = {**NAMES}
GATED = {"champion": "A", "challenger": "B"}
# Calls that are right, by function; the first argument is named as in its signature.
CALLS = {
    "curve": [{"cases": TEST, **KEYED}],
    "evaluate": [
        {"cases": TEST, **KEYED, **OVER}, {"cases": TEST.lazy(), **KEYED},
        {"cases": WIDE, "truth": "truth", "score": ["A", "B"], "intervals": True},
    ],
    "cases": [{"frame": TEST, **NAMES}, {"frame": WIDE, "truth": "truth", "score": ["A", "B"]}],
    "check": [
        {"cases": TEST, **KEYED}, {"cases": WIDE, "truth": "truth", "score": ["A", "B"]},
    ],
    "simulate": [
        {"pilot": PILOT, **NAMES, "positives": 6, "negatives": 9, "tables": 2},
        {"pilot": None, "auc": 0.8, "models": 2, "tables": 2, "clusters": 9, "correlation": 0.3},
        {"pilot": None, "auc": [0.8, 0.9], "tables": 2, "rows_per_cluster": 3,
         "cluster_correlation": 0.3},
    ],
    "hull": [{"curve": CURVES}], "auc": [{"curve": CURVES}], "auprec": [{"curve": CURVES}],
    "iauprec": [{"curve": CURVES, **OVER}], "sens": [{"curve": CURVES, **OVER}],
    "accsens": [{"curve": CURVES, **OVER}],
    "achievable": [{"curve": CURVES, "priors": 0.1}], "surface": [{"curve": CURVES, "priors": 0.1}],
    "operating_points": [{"curve": CURVES}, {"curve": CURVES, "rule": "recall", "target": 0.5}],
    "cost_curve": [{"curve": CURVES, "probability_cost": 3}],
    "decision_curve": [{"curve": CURVES, "thresholds": 3}],
    "expected_cost": [{"curve": CURVES, **OVER}],
    "mean_curve": [{"curve": BY_FOLD, "n": 3}, {"curve": SURFACE, "n": 3}],
    "dominance": [{"curve": CURVES}],
    "calibration": [{"cases": TEST, **KEYED}],
    "probabilities": [
        {"cases": OTHERS, "curve": CURVES, "score": "score", "priors": 0.1},
    ],
    "apply_thresholds": [
        {"cases": OTHERS, "points": pr.operating_points(CURVES), **KEYED},
    ],
    "estimate_prior": [{"reference": TEST, "deployed": OTHERS, **NAMES, "method": "confusion"}],
    "monitor": [{"reference": TEST, "deployed": FOLDS, **KEYED, "points": 0.5, "time": "fold"}],
    "one_vs_rest": [{"cases": WIDE, "truth": "truth", "scores": {0: "A", 1: "B"}}],
    "compare": [
        {"cases": MEASURES, "test_train_ratio": 0},
        {"cases": TEST, "measure": "auc", "target": "trained", "case": "case", **NAMES},
        {"cases": FOLDS, "measure": "auc", "test_train_ratio": 0, **NAMES},
    ],
    "choose": [
        {"cases": MEASURES}, {"cases": FOLDS, **NAMES, **OVER, "case": "case"},
        {"cases": TEST, **NAMES, **OVER, "case": "case"},
        {"cases": TEST, **NAMES, **OVER, "measure": "expected_cost", "tuning": OTHERS},
    ],
    "anova": [{"table": MEASURES, "response": "iauprec", "factors": ["model", "fold"]}],
    "gate": [
        {"cases": MEASURES, **GATED, "test_train_ratio": 0.25, **OVER},
        {"cases": TEST, **GATED, **NAMES, "measure": "auc", "case": "case"},
    ],
    "report": [
        {"frame": TEST, "path": "a.html", **NAMES, **OVER, "case": "case", "tuning": OTHERS},
        {"frame": MEASURES, "path": "b.html"},
    ],
    "prior_grid": [{"lo": 0.1, "hi": 0.2, "n": 3}], "uniform": [{"lo": 0.1, "hi": 0.2}],
    "beta": [{"a": 1.0, "b": 2.0}],
}  # fmt: skip
# Arithmetic on whatever has arithmetic.
OF_QUANTITIES = {"pr_from_roc", "roc_from_pr", "prior", "skew"}
WRONG = (
    "typo", "", ["typo"], ("typo",), ["model", "model"], {"model": "typo"}, {"truth": [1, 0]},
    None, True, -1, 0, 3, 0.5, 1e-320, float("nan"), float("-inf"), 10**400, 1j, Decimal("0.5"),
    [], [0.5, 0.5], (0.2, 0.1), [None], [[0.1]], [0.1, "x"], set(), range(2), b"x", object(), int,
    datetime.date(2026, 1, 1), len, np.ones((2, 2)), np.array(["model"]), pl.Series("s", [0.1]),
    pl.Series(["a"]), pl.col("truth"), pl.col("typo"), pl.lit(1), TEST, TEST.lazy(), pl.DataFrame(),
    pl.DataFrame({"prior": [None]}), Fraction(1, 3), np.bool_(True), np.float32(0.5), "x" * 300,
    "{x}", "\x00", "0i", {"typo": 0.5}, {None: 1}, pl.struct("truth", "score"), pl.all(), ...,
    iter([]),
)  # fmt: skip
FAST = ("curve", "cases", "hull", "surface", "dominance")


def called(function, arguments):
    """The function with its first argument by place, as tables are given."""
    first, *others = arguments
    found = function(arguments[first], **{name: arguments[name] for name in others})
    return found.collect() if isinstance(found, pl.LazyFrame) else found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "right"),
    [
        pytest.param(name, right, id=f"{name}-{i}", marks=() if name in FAST else pytest.mark.slow)
        for name, calls in CALLS.items()
        for i, right in enumerate(calls)
    ],
)
def test_what_is_wrong_is_refused_with_a_hint_or_taken(name, right, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = getattr(pr, name)
    called(function, right)
    chance = random.Random(f"{name} {sorted(right)}")
    for argument in inspect.signature(function).parameters:
        wrong = chance.choice(WRONG)
        # A function of the user's may raise what it likes.
        if argument in ("tell", "progress") and callable(wrong):
            continue
        try:
            called(function, right | {argument: wrong})
        except PolarocError:
            pass
        except Exception as other:
            pytest.fail(f"{argument}={wrong!r} ends in {type(other).__name__}: {other}")


def test_every_function_is_called():
    functions = {name for name in pr.__all__ if inspect.isroutine(getattr(pr, name))}
    assert functions == set(CALLS) | OF_QUANTITIES
