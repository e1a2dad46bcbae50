import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import polaroc as pr
from polaroc.sklearn import auprec_score, iauprec_score, scorer

X, Y = make_classification(240, n_features=6, weights=[0.7], flip_y=0.2, random_state=3)
WORDS = np.where(Y == 1, "bad", "good")
OVER = (0.02, 0.10)
FOLDS = list(StratifiedKFold(3).split(X, Y))
WEIGHT = np.random.default_rng(0).integers(1, 5, len(Y)).astype(float)


def test_auc_is_scikit_learns():
    ours = cross_val_score(GaussianNB(), X, Y, cv=FOLDS, scoring=scorer("auc"))
    assert np.allclose(ours, cross_val_score(GaussianNB(), X, Y, cv=FOLDS, scoring="roc_auc"))


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
def test_it_is_the_score_of_each_test_set(estimator):
    method = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    found = cross_val_score(estimator, X, Y, cv=FOLDS, scoring=scorer(over=OVER))
    scores = cross_val_predict(estimator, X, Y, cv=FOLDS, method=method)
    scores = scores[:, 1] if scores.ndim == 2 else scores
    expected = [iauprec_score(Y[test], scores[test], over=OVER) for _, test in FOLDS]
    assert found.tolist() == pytest.approx(expected)


def test_either_class_may_be_named_as_positive():
    model = GaussianNB().fit(X, WORDS)
    # The classes are sorted: "bad" comes first.
    scores = model.predict_proba(X)
    for positive, column in (("good", 1), ("bad", 0)):
        given = scorer("auprec", prior=0.1, pos_label=positive)
        expected = auprec_score(["bad", "good"][column] == WORDS, scores[:, column], prior=0.1)
        assert given(model, X, WORDS) == pytest.approx(expected)
    machine = LinearSVC().fit(X, WORDS)
    expected = roc_auc_score(Y == 1, -machine.decision_function(X))
    assert scorer("auc", pos_label="bad")(machine, X, WORDS) == pytest.approx(expected)


HIGHER = ("auc", "auprec", "iauprec", "brier_skill")
LOWER = ("brier", "log_loss", "accsens", "sens")


@pytest.mark.parametrize("measure", [*HIGHER, *LOWER])
def test_less_of_a_loss_is_better(measure):
    model = GaussianNB().fit(X, Y)
    over = {"over": OVER} if measure in ("iauprec", "accsens", "sens") else {}
    scores = model.predict_proba(X)[:, 1]
    table = {"truth": Y, "score": scores}
    value = pr.evaluate(
        table, truth="truth", score="score", measure=measure, priors="observed", **over
    )
    sign = 1 if measure in HIGHER else -1
    assert scorer(measure, **over)(model, X, Y) == pytest.approx(sign * value["estimate"].item())


def counted(model, at=None):
    """Recall and false positive rate of a model on its own cases."""
    called = model.predict(X) == 1 if at is None else model.predict_proba(X)[:, 1] >= at
    return called[Y == 1].mean(), called[Y == 0].mean()


@pytest.mark.parametrize("at", [None, 0.2])
@pytest.mark.parametrize(
    ("measure", "given", "expected"),
    [
        ("expected_cost", {"prior": 0.1, "cost_fn": 10}, lambda t, f: -(1 - t) - 0.9 * f),
        (
            "expected_cost",
            {"over": (0.1, 0.3), "cost_fp": 2},
            lambda t, f: -0.2 * (1 - t) - 1.6 * f,
        ),
        ("net_benefit", {"prior": 0.1, "cost_fn": 4}, lambda t, f: 0.1 * t - 0.9 * f / 4),
        ("recall", {}, lambda t, f: t),
        ("precision", {"prior": 0.1}, lambda t, f: 0.1 * t / (0.1 * t + 0.9 * f)),
        ("error", {"prior": 0.1}, lambda t, f: -0.1 * (1 - t) - 0.9 * f),
    ],
)
def test_rates_and_costs_at_a_threshold(at, measure, given, expected):
    model = GaussianNB().fit(X, Y)
    found = scorer(measure, **given, threshold=at)(model, X, Y)
    assert found == pytest.approx(expected(*counted(model, at)))


def test_at_the_observed_prior_weights_count():
    model = GaussianNB().fit(X, Y)
    found = scorer("accuracy")(model, X, Y, sample_weight=WEIGHT)
    assert found == pytest.approx(model.score(X, Y, WEIGHT))


@pytest.mark.parametrize("labels", [Y, WORDS], ids=["numbers", "words"])
def test_scikit_learn_tunes_a_threshold_by_it(labels):
    positive = 1 if labels is Y else "bad"
    asked = {"prior": 0.05, "cost_fn": 10, "pos_label": positive}
    tuned = TunedThresholdClassifierCV(
        GaussianNB(), scoring=scorer("expected_cost", **asked), cv="prefit", refit=False,
        thresholds=50, store_cv_results=True,
    )  # fmt: skip
    model = GaussianNB().fit(X, labels)
    tuned.estimator = model
    tuned.fit(X, labels)
    scores = model.predict_proba(X)[:, list(model.classes_).index(positive)]
    costs = [
        0.5 * (scores[Y == 1] < at).mean() + 0.95 * (scores[Y == 0] >= at).mean()
        for at in tuned.cv_results_["thresholds"]
    ]
    assert tuned.cv_results_["scores"].tolist() == pytest.approx([-cost for cost in costs])
    assert tuned.best_score_ == pytest.approx(-min(costs))


def test_weights_are_routed_where_they_are_requested():
    with config_context(enable_metadata_routing=True):
        weighted = scorer("auprec", prior=0.1).set_score_request(sample_weight=True)
        plain = scorer("auprec", prior=0.1).set_score_request(sample_weight=False)
        model = GaussianNB().set_fit_request(sample_weight=False)
        results = cross_validate(
            model, X, Y, cv=FOLDS, scoring={"weighted": weighted, "plain": plain},
            params={"sample_weight": WEIGHT},
        )  # fmt: skip
    scores = cross_val_predict(GaussianNB(), X, Y, cv=FOLDS, method="predict_proba")[:, 1]
    for name, weight in (("weighted", WEIGHT), ("plain", np.ones_like(WEIGHT))):
        expected = [
            auprec_score(Y[test], scores[test], prior=0.1, sample_weight=weight[test])
            for _, test in FOLDS
        ]
        assert results[f"test_{name}"].tolist() == pytest.approx(expected)
    assert not np.allclose(results["test_weighted"], results["test_plain"])


def test_it_is_copied_and_pickled_with_what_holds_it():
    search = GridSearchCV(GaussianNB(), {}, scoring=scorer(over=OVER))
    model = GaussianNB().fit(X, Y)
    expected = search.scoring(model, X, Y)
    for copy in (clone(search).scoring, pickle.loads(pickle.dumps(search)).scoring):
        assert copy(model, X, Y) == expected


@pytest.mark.parametrize("given", [{"over": OVER}, {"measure": "recall"}], ids=str)
def test_a_test_set_of_one_class_scores_nan(given):
    split = [(np.arange(len(Y)), np.flatnonzero(Y == 0))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = cross_val_score(GaussianNB(), X, Y, cv=split, scoring=scorer(**given))
    assert np.isnan(values).all()
    assert any("no positives" in str(one.message) for one in caught)


@pytest.mark.parametrize("measure", ["precision", "npv"])
def test_a_rate_of_no_cases_is_nan_with_a_warning(measure):
    model = GaussianNB().fit(X, Y)
    no_case = {"precision": 2.0, "npv": -1.0}[measure]
    with pytest.warns(UndefinedMetricWarning, match=f"{measure} is undefined: 0/0"):
        assert np.isnan(scorer(measure, threshold=no_case)(model, X, Y))


@pytest.mark.parametrize(("measure", "label"), [("specificity", 0), ("recall", 1), ("fnr", 1)])
def test_a_test_set_of_one_class_has_the_rates_of_that_class(measure, label):
    test = np.flatnonzero(label == Y)
    called = GaussianNB().fit(X, Y).predict(X[test])
    expected = np.mean(called == 0) if measure == "fnr" else np.mean(called == label)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = scorer(measure)(GaussianNB().fit(X, Y), X[test], Y[test])
    assert abs(found) == pytest.approx(expected)
