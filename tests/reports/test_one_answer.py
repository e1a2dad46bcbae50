"""A report answers a request as `choose` does."""

import json

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument

OVER = (0.05, 0.1)
ROLES = {"truth": "truth", "score": "score"}
FOLDS = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
ONE = FOLDS.filter(fold=1).drop("fold")
HALVES = [ONE.filter(pl.col("case") % 2 == half) for half in (0, 1)]
RATIO = {"test_train_ratio": 0.25}


def scores(seed: int) -> pl.DataFrame:
    """Of "steep" some positives lie above all negatives; "broad" has the larger area."""
    rng = np.random.default_rng(seed)
    truth, number = np.arange(800) < 200, np.arange(800)
    noise = rng.normal(size=800)
    steep = np.where(number < 80, 4 + 0.3 * noise, 0.8 * noise + 0.3 * truth)
    broad = rng.normal(size=800) + 1.9 * truth
    table = pl.DataFrame({"case": number + 1000 * seed, "truth": truth, "steep": steep})
    return table.with_columns(broad=broad).unpivot(
        ["steep", "broad"], index=["case", "truth"], variable_name="model", value_name="score"
    )


TUNING, TEST = scores(1), scores(2)


def reported(folder, table, **asked) -> dict:
    path = pr.report(table, path=folder / "report.json", **ROLES, over=OVER, **asked)
    return json.loads(path.read_text())


REQUESTS = {
    "area, one test set": (ONE, {}, {}),
    "area, folds": (FOLDS, RATIO, RATIO),
    "cost, tuning": (HALVES[0], {"tuning": HALVES[1], "cost_fn": 10}, ...),
    "cost, folds": (FOLDS, {"cost_fn": 10, **RATIO}, ...),
    "precision": pytest.param(
        TEST,
        {"tuning": TUNING, "precision": 0.5},
        {"tuning": TUNING, "constraints": {"precision": 0.5}, "confidence": 0.95},
        marks=pytest.mark.xfail(strict=True, reason="ends with the issue 'What people see'"),
    ),
    "cost, one test set": pytest.param(
        TEST,
        {"cost_fn": 10},
        {"cost_fn": 10},
        marks=pytest.mark.xfail(
            strict=True, raises=InvalidArgument, reason="ends with the issue 'What people see'"
        ),
    ),
}


@pytest.mark.parametrize(
    ("table", "of_report", "of_choose"), REQUESTS.values(), ids=REQUESTS.keys()
)
def test_a_report_takes_the_model_that_choose_takes(tmp_path, table, of_report, of_choose):
    same = of_report if of_choose is ... else of_choose
    said = reported(tmp_path, table, **of_report)
    choice = pr.choose(table, **ROLES, over=OVER, **same)
    assert said["models"][0] == choice.bayes
    chance = choice.models["probability_best"][0]
    assert f"with a probability of {100 * chance:.0f} %" in " ".join(said["answer"])
    if choice.threshold is not None:
        scores = table.filter(model=choice.bayes)["score"]
        shown = said["tables"]["thresholds"]["columns"]["threshold"]
        called = scores >= float(shown[len(shown) // 2])
        assert called.equals(scores >= choice.threshold)


@pytest.mark.xfail(strict=True, reason="ends with the issue 'One door'")
def test_cases_of_our_own_predictions_count_without_being_named(tmp_path):
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    X, y = make_classification(300, weights=[0.8], random_state=0, flip_y=0.1)
    models = {"logistic": LogisticRegression(), "bayes": GaussianNB()}
    table = pr.sklearn.cross_val_predictions(models, X, y, cv=5)
    named = reported(tmp_path, table, case="case")
    assert reported(tmp_path, table)["answer"] == named["answer"]
