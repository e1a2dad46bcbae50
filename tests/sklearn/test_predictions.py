import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import polaroc as pr
from polaroc.sklearn import cross_val_predictions

X, Y = make_classification(60, n_features=4, weights=[0.6], flip_y=0.1, random_state=5)
GROUPS = np.arange(60) // 4
WEIGHT = np.random.default_rng(1).integers(1, 5, 60).astype(float)
SCHEMA = {
    "model": pl.String, "repeat": pl.Int64, "fold": pl.Int64, "case": pl.Int64,
    "truth": pl.Boolean, "score": pl.Float64,
}  # fmt: skip
NAIVE = {"naive": GaussianNB()}


def splits_of(table):
    """The test set of each fold, and whether the folds of each repeat share no case."""
    folds = table.group_by("fold").agg(pl.col("case").sort()).sort("fold")
    assert (table.group_by("model", "repeat").agg(pl.col("case").is_unique().all())["case"]).all()
    return folds


SPLITTERS = {
    "number": (3, 3, 1),
    "KFold": (KFold(4), 4, 1),
    "RepeatedStratifiedKFold": (
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), 6, 2,
    ),
    "ShuffleSplit": (ShuffleSplit(3, test_size=0.5, random_state=0), 3, 3),
    "GroupKFold": (GroupKFold(3), 3, 1),
    "LeaveOneOut": (LeaveOneOut(), 60, 1),
    "pairs": ([(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))], 2, 1),
    "masks": ([(np.arange(60) < 40, np.arange(60) >= 40)], 1, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", SPLITTERS)
def test_any_splitter(name):
    cv, folds, repeats = SPLITTERS[name]
    groups = GROUPS if name == "GroupKFold" else None
    table = cross_val_predictions(NAIVE, X, Y, cv=cv, groups=groups)
    if groups is not None:
        assert (table["group"] == GROUPS[table["case"]]).all()
        table = table.drop("group")
    assert dict(table.schema) == SCHEMA
    assert_frame_equal(table, table.sort("model", "fold", "case"))
    assert table["fold"].unique().to_list() == list(range(1, folds + 1))
    assert table["repeat"].unique().to_list() == list(range(1, repeats + 1))
    assert (table["truth"] == pl.Series(Y == 1).gather(table["case"])).all()
    splitter = cv if hasattr(cv, "split") else StratifiedKFold(cv) if cv == 3 else None
    splits = cv if splitter is None else splitter.split(X, Y, groups)
    expected = [np.sort(np.arange(60)[test]).tolist() for _, test in splits]
    assert splits_of(table)["case"].to_list() == expected


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (GaussianNB(), "predict_proba"),
        (LinearSVC(), "decision_function"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "predict_proba"),
    ],
)
def test_scores_are_those_of_cross_val_predict(estimator, method):
    table = cross_val_predictions(estimator, X, Y, cv=4).sort("case")
    expected = cross_val_predict(estimator, X, Y, cv=4, method=method)
    assert np.allclose(table["score"], expected[:, 1] if expected.ndim == 2 else expected)


def test_the_positive_label_can_be_named():
    words = np.where(Y == 1, "bad", "good")
    for model in (GaussianNB(), LinearSVC()):
        good, bad = (
            cross_val_predictions(model, X, words, pos_label=label) for label in ("good", "bad")
        )
        assert (bad["truth"] == pl.Series(Y == 1).gather(bad["case"])).all()
        assert (good["truth"] != bad["truth"]).all()
        turned = 1 - bad["score"] if isinstance(model, GaussianNB) else -bad["score"]
        assert np.allclose(good["score"], turned)


@pytest.mark.parametrize(
    ("features", "target"),
    [
        (X.tolist(), Y.tolist()), (sparse.coo_matrix(X), Y),
        (pd.DataFrame(X, index=np.arange(60)[::-1]), pd.Series(Y == 1, index=np.arange(60)[::-1])),
        (pl.DataFrame(X), pl.Series(Y)), (pl.DataFrame(X).to_arrow(), Y),
    ],
    ids=["list", "sparse", "pandas", "polars", "pyarrow"],
)  # fmt: skip
def test_any_kind_of_table(features, target):
    model = {"m": LogisticRegression()}
    assert_frame_equal(
        cross_val_predictions(model, features, target, cv=3),
        cross_val_predictions(model, X, Y, cv=3),
    )


def test_columns_of_data_frames_are_known_to_pipelines():
    from sklearn.compose import make_column_transformer

    columns = make_column_transformer((StandardScaler(), ["b"]))
    for kind in (pd.DataFrame, pl.DataFrame):
        frame = kind({"a": X[:, 0], "b": X[:, 1]})
        table = cross_val_predictions(make_pipeline(columns, GaussianNB()), frame, Y, cv=3)
        expected = cross_val_predictions(GaussianNB(), X[:, [1]], Y, cv=3)
        assert np.allclose(table["score"], expected["score"])


def test_models_have_names():
    pipeline = make_pipeline(StandardScaler(), LinearSVC())
    models = [GaussianNB(), GaussianNB(var_smoothing=0.1), pipeline]
    table = cross_val_predictions(models, X, Y, cv=3)
    assert table["model"].unique().sort().to_list() == ["GaussianNB 1", "GaussianNB 2", "LinearSVC"]
    assert not hasattr(models[0], "classes_")
    one, other = (
        table.filter(model=name).drop("model", "score") for name in ("GaussianNB 1", "LinearSVC")
    )
    assert_frame_equal(one, other)


def test_weights_train_and_are_kept():
    table = cross_val_predictions(NAIVE, X, Y, cv=3, sample_weight=WEIGHT.tolist())
    assert table.columns == [*SCHEMA, "weight"]
    assert table.sort("case")["weight"].to_list() == WEIGHT.tolist()
    expected = cross_val_predict(
        GaussianNB(), X, Y, cv=3, params={"sample_weight": WEIGHT}, method="predict_proba"
    )
    assert np.allclose(table.sort("case")["score"], expected[:, 1])
    assert not np.allclose(table["score"], cross_val_predictions(NAIVE, X, Y, cv=3)["score"])


def test_metadata_goes_where_it_is_requested():
    plain = cross_val_predictions(NAIVE, X, Y, cv=3)
    weighted = cross_val_predictions(NAIVE, X, Y, cv=3, sample_weight=WEIGHT)
    with config_context(enable_metadata_routing=True):
        for requested, expected in ((True, weighted), (False, plain)):
            step = GaussianNB().set_fit_request(sample_weight=requested)
            models = {"naive": make_pipeline(step)}
            table = cross_val_predictions(models, X, Y, cv=3, sample_weight=WEIGHT)
            assert np.allclose(table["score"], expected["score"])
        named = {"naive": GaussianNB().set_fit_request(sample_weight="mine")}
        table = cross_val_predictions(named, X, Y, cv=3, params={"mine": WEIGHT})
        assert np.allclose(table["score"], weighted["score"])
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_val_predictions(GaussianNB(), X, Y, sample_weight=WEIGHT)
        near = cross_val_predictions(KNeighborsClassifier(), X, Y, cv=3, sample_weight=WEIGHT)
        assert "weight" in near.columns


@pytest.mark.parametrize("kind", [list, pl.Series, pd.Categorical], ids=str)
def test_groups_are_in_the_table_and_clusters_of_cases(kind):
    groups = kind([f"patient {number}" for number in GROUPS])
    table = cross_val_predictions(NAIVE, X, Y, cv=GroupKFold(3), groups=groups)
    expected = [f"patient {case // 4}" for case in table["case"]]
    assert table["group"].cast(pl.String).to_list() == expected
    cases = pr.cases(table, truth="truth", score="score", cluster="group")
    assert (cases.model, cases.fold, cases.case) == ("model", ("fold",), "case")
    assert pr.evaluate(cases, measure="auc", intervals=True).height == 3


def test_other_arguments_of_fit_are_passed():
    class Noting(GaussianNB):
        def fit(self, X, y, note=None, each=None):
            assert (note, len(each)) == ("all", len(y))
            return super().fit(X, y)

    params = {"note": "all", "each": list(range(60))}
    table = cross_val_predictions({"naive": Noting()}, X, Y, cv=3, params=params)
    assert_frame_equal(table, cross_val_predictions(NAIVE, X, Y, cv=3))


def test_the_table_is_evaluated_and_compared():
    models = {"naive": GaussianNB(), "logistic": LogisticRegression()}
    table = cross_val_predictions(models, X, Y, cv=5)
    measures = pr.evaluate(table, truth="truth", score="score", over=(0.05, 0.2))
    pairs = pr.compare(measures, measure="iauprec", test_train_ratio=1 / 4).pairs
    assert pairs.height == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"X": X[1:]}, "inconsistent numbers of samples"),
        ({"groups": GROUPS[1:]}, "inconsistent numbers of samples"),
        ({"sample_weight": WEIGHT[1:]}, "inconsistent numbers of samples"),
        ({"cv": 1}, "n_splits=2 or more"),
        ({"estimators": GaussianNB}, "estimator instance"),
    ],
)
def test_errors_of_scikit_learn_stay_as_they_are(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        cross_val_predictions(**{"estimators": GaussianNB(), "X": X, "y": Y} | arguments)
