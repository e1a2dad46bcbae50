import numpy as np
import polars as pl
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

RNG = np.random.default_rng(0)
Y = np.arange(61) % 3 == 0
X = RNG.normal(size=(61, 3)) + Y[:, None]
MODELS = {"linear": LinearDiscriminantAnalysis(), "naive": GaussianNB()}
SMALL = {"splits": 3, "folds": 2, "repeats": 2}


@pytest.fixture(scope="module")
def table():
    return pr.sklearn.half_split_predictions(MODELS, X, Y, **SMALL)


def test_halves_share_no_case_and_each_repeat_tests_a_half_once(table):
    assert table.columns == [
        "model", "split", "half", "repeat", "fold", "case", "truth", "score"
    ]  # fmt: skip
    own = table.filter(model="naive")
    assert (
        own.group_by("split", "repeat")
        .agg(pl.col("case").sort())
        .select((pl.col("case").list.len() == 61) & (pl.col("case").list.n_unique() == 61))["case"]
        .all()
    )
    for _, split in own.group_by("split"):
        halves = [set(split.filter(half=half)["case"]) for half in (1, 2)]
        assert not halves[0] & halves[1]
        assert {len(half & set(np.flatnonzero(Y))) for half in halves} <= {10, 11}
    assert (
        own.group_by("split", "half").agg(pl.col("fold").unique().sort())["fold"].to_list()
        == [[1, 2, 3, 4]] * 6
    )
    assert own.select("fold", "repeat").unique().sort("fold")["repeat"].to_list() == [1, 1, 2, 2]
    assert (own["truth"] == Y[own["case"]]).all()


def test_halves_are_folds_by_their_names(table):
    cases = pr.cases(table, truth="truth", score="score")
    assert cases.fold == ("split", "half", "repeat", "fold")
    assert (cases.model, cases.case) == ("model", "case")


def test_scores_are_those_of_models_fitted_on_the_rest_of_the_half(table):
    fold = table.filter(model="naive", split=2, half=1, fold=3)
    rest = table.filter(pl.col("fold") == 4, model="naive", split=2, half=1)["case"].to_numpy()
    fitted = GaussianNB().fit(X[rest], Y[rest])
    expected = fitted.predict_proba(X[fold["case"]])[:, 1]
    assert fold["score"].to_numpy() == pytest.approx(expected)


@pytest.mark.long
@pytest.mark.slow
def test_the_seed_and_the_number_of_jobs(table):
    again = pr.sklearn.half_split_predictions(MODELS, X, Y, n_jobs=2, **SMALL)
    assert again.equals(table)
    other = pr.sklearn.half_split_predictions(MODELS, X, Y, seed=1, **SMALL)
    assert not other.equals(table)


def test_progress_and_weights():
    calls = []
    weight = RNG.random(61)
    table = pr.sklearn.half_split_predictions(
        GaussianNB(), X, Y, sample_weight=weight, progress=lambda *done: calls.append(done), **SMALL
    )
    assert calls[-1] == (24, 24)
    assert (table["weight"] == weight[table["case"]]).all()


def test_from_predictions_to_a_comparison_and_a_gate(table):
    columns = {"truth": "truth", "score": "score"}
    whole = pr.sklearn.cross_val_predictions(MODELS, X, Y, cv=3)
    measures = [pr.evaluate(one, **columns, measures="auc") for one in (whole, table)]
    found = pr.compare(measures[0], "auc", halves=measures[1], level=0.95)
    row = found.pairs.row(0, named=True)
    assert found.omnibus["df2"].item() == pytest.approx(1 / (1 / 3 + 1 / 20))
    models = {"champion": "linear", "challenger": "naive"}
    for tables, given in ((measures, {}), ((whole, table), columns)):
        gated = pr.gate(tables[0], **models, measure="auc", halves=tables[1], **given)
        assert (gated.lower, gated.upper) == pytest.approx((-row["upper"], -row["lower"]))
    both = pr.gate(whole, **models, measure="auc", halves=table, case="case", **columns)
    assert (both.lower, both.upper) == (gated.lower, gated.upper)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"splits": 1}, "splits is 1"),
        ({"folds": 1}, "folds is 1"),
        ({"repeats": 0}, "repeats is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(arguments, found):
    with pytest.raises(InvalidArgument, match=found):
        pr.sklearn.half_split_predictions(MODELS, X, Y, **arguments)


def test_too_few_cases_are_refused():
    with pytest.raises(InvalidPredictions, match="smaller class has 8 cases, needed are 10") as e:
        pr.sklearn.half_split_predictions(MODELS, X[:24], Y[:24])
    assert "folds=4" in str(e.value)
