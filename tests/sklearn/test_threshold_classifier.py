import pickle

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score, roc_curve
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.sklearn import PriorThresholdClassifier, scorer

X, Y = make_classification(300, n_features=5, weights=[0.6], flip_y=0.2, random_state=4)
WEIGHT = np.random.default_rng(2).integers(1, 5, len(Y)).astype(float)
# The first scikit-learn 1.9 expects TunedThresholdClassifierCV to fail; the other has labels of
# several kinds, of which none is told to be positive.
EXPECTED = {"check_classifiers_train", "check_classifiers_classes"}


def checks():
    # Most checks have the labels 0 and 1, some 1 and 2.
    model = PriorThresholdClassifier(LogisticRegression(C=1), prior=0.3, cv=2, pos_label=1)
    return [
        pytest.param(estimator, check, id=f"{check.func.__name__}-{number}")
        for number, (estimator, check) in enumerate(estimator_checks_generator(model))
        # Arrays of other libraries are not taken, nor claimed to be.
        if check.func.__name__ not in EXPECTED and "array_api" not in check.func.__name__
    ]


# scikit-learn casts infinite labels before it refuses them.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize(("estimator", "check"), checks())
def test_it_keeps_scikit_learn_conventions(estimator, check):
    check(estimator)


def expected_costs(scores, prior, cost_fn=1.0, weight=None):
    """The expected cost at each threshold, from scikit-learn's curve."""
    fpr, tpr, thresholds = roc_curve(Y, scores, sample_weight=weight, drop_intermediate=False)
    costs = prior * cost_fn * (1 - tpr) + (1 - prior) * fpr
    return dict(zip(thresholds, costs, strict=True))


@pytest.mark.parametrize("prior", [0.02, 0.3, 0.7, "observed"])
@pytest.mark.parametrize(("estimator", "method"), [
    (GaussianNB(), "predict_proba"), (LinearSVC(), "decision_function"),
])  # fmt: skip
def test_the_threshold_costs_least_at_the_prior(prior, estimator, method):
    model = PriorThresholdClassifier(estimator, prior=prior, cost_fn=4, cv=3).fit(X, Y)
    scores = cross_val_predict(estimator, X, Y, cv=3, method=method)
    scores = scores[:, 1] if scores.ndim == 2 else scores
    costs = expected_costs(scores, Y.mean() if prior == "observed" else prior, cost_fn=4)
    assert costs[model.threshold_] == pytest.approx(min(costs.values()))


def test_over_a_belief_the_expected_cost_is_least():
    belief = pr.beta(2, 18)
    model = PriorThresholdClassifier(GaussianNB(), over=belief, cost_fn=9, cv=3).fit(X, Y)
    scores = cross_val_predict(GaussianNB(), X, Y, cv=3, method="predict_proba")[:, 1]
    at = [
        expected_costs(scores, prior, cost_fn=9)
        for prior in beta(2, 18).ppf((np.arange(40) + 0.5) / 40)
    ]
    costs = {threshold: np.mean([one[threshold] for one in at]) for threshold in at[0]}
    # The grid of the belief is coarse.
    assert costs[model.threshold_] == pytest.approx(min(costs.values()), abs=1e-3)
    middle = PriorThresholdClassifier(GaussianNB(), over=(0.05, 0.15), cost_fn=9, cv=3).fit(X, Y)
    point = PriorThresholdClassifier(GaussianNB(), prior=0.1, cost_fn=9, cv=3).fit(X, Y)
    assert middle.threshold_ == point.threshold_


def test_recall_is_met_out_of_fold():
    model = PriorThresholdClassifier(
        GaussianNB(), over=(0.02, 0.1), rule="recall", target=0.9, cv=3
    ).fit(X, Y)
    scores = cross_val_predict(GaussianNB(), X, Y, cv=3, method="predict_proba")[:, 1]
    above = scores[scores > model.threshold_].min()
    assert recall_score(Y, scores >= model.threshold_) >= 0.9 > recall_score(Y, scores >= above)


def test_it_predicts_by_the_threshold_and_leaves_probabilities():
    model = PriorThresholdClassifier(GaussianNB(), prior=0.05).fit(X, Y)
    plain = GaussianNB().fit(X, Y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert np.array_equal(model.predict_log_proba(X), plain.predict_log_proba(X))
    assert not hasattr(model, "decision_function")
    assert np.array_equal(model.predict(X), plain.predict_proba(X)[:, 1] >= model.threshold_)
    # Fewer alarms where positives are rarer.
    assert model.predict(X).sum() < plain.predict(X).sum()
    machine = PriorThresholdClassifier(LinearSVC(), prior=0.05).fit(X, Y)
    assert np.array_equal(machine.decision_function(X), LinearSVC().fit(X, Y).decision_function(X))


def test_the_positive_label_can_be_named():
    words = np.where(Y == 1, "bad", "good")
    for estimator in (GaussianNB(), LinearSVC()):
        given = {"prior": 0.1, "cv": 3}
        numbers = PriorThresholdClassifier(estimator, **given).fit(X, Y)
        bad = PriorThresholdClassifier(estimator, pos_label="bad", **given).fit(X, words)
        assert bad.threshold_ == pytest.approx(numbers.threshold_)
        assert np.array_equal(bad.predict(X) == "bad", numbers.predict(X) == 1)
        with pytest.raises(InvalidArgument, match=r"'bad', 'good', and pos_label is None"):
            PriorThresholdClassifier(estimator, **given).fit(X, words)
        good = PriorThresholdClassifier(estimator, pos_label="good", **given).fit(X, words)
        assert (good.predict(X) == "bad").sum() > (bad.predict(X) == "bad").sum()


def test_nothing_is_called_where_that_costs_least():
    model = PriorThresholdClassifier(DummyClassifier(), prior=0.1).fit(X, Y)
    assert model.threshold_ == np.inf
    assert model.predict(X).sum() == 0


def test_a_fitted_classifier_keeps_its_fit():
    fitted = GaussianNB().fit(X[:150], Y[:150])
    model = PriorThresholdClassifier(fitted, prior=0.1, cv="prefit").fit(X[150:], Y[150:])
    assert model.estimator_ is fitted
    scores = fitted.predict_proba(X[150:])[:, 1]
    table = pl.DataFrame({"truth": Y[150:], "score": scores})
    curves = pr.curve(table, truth="truth", score="score")
    by_hand = pr.operating_points(curves, "cost", priors=0.1)
    assert model.threshold_ == by_hand["threshold"].item()
    with pytest.raises(NotFittedError):
        PriorThresholdClassifier(GaussianNB(), prior=0.1, cv="prefit").fit(X, Y)


def test_weights_count():
    model = PriorThresholdClassifier(GaussianNB(), prior=0.2, cv=3).fit(X, Y, sample_weight=WEIGHT)
    scores = cross_val_predict(
        GaussianNB(), X, Y, cv=3, method="predict_proba", params={"sample_weight": WEIGHT}
    )[:, 1]
    costs = expected_costs(scores, 0.2, weight=WEIGHT)
    assert costs[model.threshold_] == pytest.approx(min(costs.values()))
    whole = GaussianNB().fit(X, Y, sample_weight=WEIGHT)
    assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_groups_go_to_the_splitter():
    groups = np.arange(len(Y)) // 5
    model = PriorThresholdClassifier(GaussianNB(), prior=0.2, cv=GroupKFold(3))
    folds = list(GroupKFold(3).split(X, Y, groups))
    expected = clone(model).set_params(cv=folds).fit(X, Y).threshold_
    assert model.fit(X, Y, groups=groups).threshold_ == expected


def test_metadata_is_routed():
    with config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=False)
        model = PriorThresholdClassifier(inner, prior=0.2, cv=3).set_fit_request(sample_weight=True)
        scoring = scorer("auc").set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"cost_fn": [1, 5]}, cv=3, scoring=scoring)
        best = search.fit(X, Y, sample_weight=WEIGHT).best_estimator_
        assert np.array_equal(best.predict_proba(X), GaussianNB().fit(X, Y).predict_proba(X))
        with pytest.raises(TypeError, match="unexpected argument"):
            model.fit(X, Y, nonsense=WEIGHT)
    scores = cross_val_predict(GaussianNB(), X, Y, cv=3, method="predict_proba")[:, 1]
    costs = expected_costs(scores, 0.2, cost_fn=best.cost_fn, weight=WEIGHT)
    assert costs[best.threshold_] == pytest.approx(min(costs.values()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "recall", "target": 0.5, "confidence": 0.9}, "thresholds of folds promise"),
        ({"rule": "recall", "target": 0.999, "confidence": 0.9, "cv": 0.5}, "chose no threshold"),
        ({"rule": "precision", "target": 1.0, "estimator": DummyClassifier()}, "no threshold"),
    ],
)
def test_what_it_cannot_do_is_refused_when_it_is_fitted(arguments, message):
    given = {"estimator": GaussianNB(), "prior": 0.01, "cv": 3} | arguments
    with pytest.raises(InvalidArgument, match=message):
        PriorThresholdClassifier(**given).fit(X, Y)


def test_it_is_pickled():
    model = PriorThresholdClassifier(GaussianNB(), over=(0.05, 0.2), cv=3).fit(X, Y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_a_promise_is_made_on_cases_that_the_classifier_never_saw():
    asked = {"prior": 0.1, "rule": "recall", "target": 0.5, "confidence": 0.9}
    held_out = PriorThresholdClassifier(GaussianNB(), cv=0.5, **asked).fit(X, Y)
    train, tune = next(
        StratifiedShuffleSplit(n_splits=1, test_size=0.5, random_state=0).split(X, Y)
    )
    fitted = GaussianNB().fit(X[train], Y[train])
    prefit = PriorThresholdClassifier(fitted, cv="prefit", **asked).fit(X[tune], Y[tune])
    assert held_out.threshold_ == prefit.threshold_
    assert np.array_equal(held_out.predict_proba(X), fitted.predict_proba(X))
    promise = "With 90 % confidence at least 5 of 10 positives are found."
    assert held_out.operating_point_["promise"].item() == promise
    plain = PriorThresholdClassifier(fitted, cv="prefit", **asked | {"confidence": None})
    assert held_out.threshold_ < plain.fit(X[tune], Y[tune]).threshold_


def test_a_promise_allows_for_groups():
    fitted = GaussianNB().fit(X, Y)
    asked = {"rule": "recall", "target": 0.5, "confidence": 0.9}
    model = PriorThresholdClassifier(fitted, prior=0.1, cv="prefit", **asked)
    of_cases = model.fit(X, Y).threshold_
    # Four copies of each case promise no more than the case does.
    copies = np.repeat(np.arange(len(Y)), 4)
    assert model.fit(X[copies], Y[copies]).threshold_ > of_cases
    assert model.fit(X[copies], Y[copies], groups=copies).threshold_ <= of_cases
    groups = np.arange(len(Y)) // 4
    table = {"truth": Y, "score": fitted.predict_proba(X)[:, 1], "group": groups}
    expected = pr.operating_points(table, **asked, cluster="group")["threshold"].item()
    assert model.fit(X, Y, groups=groups).threshold_ == expected


def test_scores_of_balanced_training_are_right_at_one_half():
    estimator = LogisticRegression(class_weight="balanced")
    asked = {"prior": 0.05, "rule": "posterior", "cost_fn": 10, "cv": 3}
    model = PriorThresholdClassifier(estimator, **asked, score_prior=0.5).fit(X, Y)
    scores = cross_val_predict(estimator, X, Y, cv=3, method="predict_proba")[:, 1]
    # Odds of 19 negatives for each positive, divided by 10: 1.9/2.9.
    assert model.threshold_ == pytest.approx(scores[scores >= 1.9 / 2.9].min())
