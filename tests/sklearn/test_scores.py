import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.integrate import quad
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score, precision_recall_curve

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.sklearn import auprec_score, iauprec_score

RNG = np.random.default_rng(7)
TRUTH = RNG.random(200) < 0.3
SCORE = np.round(RNG.normal(TRUTH * 1.2), 1)
WEIGHT = RNG.integers(1, 5, 200)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_steps_at_the_observed_prior_are_average_precision(weight):
    area = auprec_score(TRUTH, SCORE, prior="observed", interpolation="step", sample_weight=weight)
    assert area == pytest.approx(average_precision_score(TRUTH, SCORE, sample_weight=weight))


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_a_prior_is_a_weight_of_the_classes(weight):
    own = np.ones(200) if weight is None else weight
    to_prior = np.where(TRUTH, 0.05 / own[TRUTH].sum(), 0.95 / own[~TRUTH].sum()) * own
    area = auprec_score(TRUTH, SCORE, prior=0.05, interpolation="step", sample_weight=weight)
    assert area == pytest.approx(average_precision_score(TRUTH, SCORE, sample_weight=to_prior))


def test_linear_interpolation_is_the_trapezoid_of_scikit_learns_curve():
    precision, recall, _ = precision_recall_curve(TRUTH, SCORE)
    # Its anchor of precision 1 stands in the place of the limit along the first segment.
    precision[-1] = precision[-2]
    area = auprec_score(TRUTH, SCORE, prior="observed", interpolation="linear")
    assert area == pytest.approx(np.trapezoid(precision[::-1], recall[::-1]))


def test_a_range_is_the_mean_over_its_priors():
    mean = quad(lambda prior: auprec_score(TRUTH, SCORE, prior=prior), 0.05, 0.2, epsabs=1e-6)[0]
    assert iauprec_score(TRUTH, SCORE, over=(0.05, 0.2)) == pytest.approx(mean / 0.15, abs=1e-5)


def test_a_belief_is_taken_for_a_range():
    belief = pr.beta(2, 18)
    each = [auprec_score(TRUTH, SCORE, prior=prior) for prior in belief.priors]
    area = iauprec_score(TRUTH, SCORE, over=belief)
    assert area == pytest.approx(np.dot(each, belief.weights))


@pytest.mark.parametrize(
    "y_true",
    [
        TRUTH.tolist(), TRUTH.astype(float), np.where(TRUTH, "True", "False"),
        np.where(TRUTH, "1", "0").tolist(), pd.Series(TRUTH, dtype="boolean"),
        pd.Series(TRUTH.astype(int), dtype="Int64"), pl.Series(TRUTH).cast(pl.Int8),
    ],
)  # fmt: skip
def test_labels_are_read_as_scikit_learn_reads_them(y_true):
    for score in (SCORE.tolist(), pd.Series(SCORE), pl.Series(SCORE)):
        area = auprec_score(y_true, score, prior=0.1)
        assert area == pytest.approx(auprec_score(TRUTH, SCORE, prior=0.1))


@pytest.mark.parametrize(
    ("kind", "labels"),
    [(np.array, ("fraud", "ok")), (pl.Series, (1, 2)), (np.array, (1, -1)),
     (lambda labels: pd.Series(labels, dtype="category"), ("TRUE", "false"))],
    ids=lambda one: str(one) if isinstance(one, tuple) else "",
)  # fmt: skip
def test_other_labels_need_the_positive_one(kind, labels):
    positive, negative = labels
    y_true = kind([positive if one else negative for one in TRUTH])
    with pytest.raises(InvalidArgument) as caught:
        auprec_score(y_true, SCORE, prior=0.1)
    found = ", ".join(map(repr, sorted(labels)))
    assert f"y_true has the labels {found}, and pos_label is None." in str(caught.value)
    area = auprec_score(y_true, SCORE, prior=0.1, pos_label=positive)
    assert area == pytest.approx(auprec_score(TRUTH, SCORE, prior=0.1))


@pytest.mark.parametrize("missing", ["NA", ""])
def test_a_text_of_a_missing_label_is_no_negative(missing):
    words = np.where(TRUTH, "yes", "no").astype(object)
    words[:3] = missing
    for pos_label in (None, "yes"):
        with pytest.raises(InvalidPredictions, match=f"y_true is missing for 3 cases: {missing!r}"):
            auprec_score(words, SCORE, prior=0.1, pos_label=pos_label)
    named = np.where(TRUTH, missing, "no")
    area = auprec_score(named, SCORE, prior=0.1, pos_label=missing)
    assert area == pytest.approx(auprec_score(TRUTH, SCORE, prior=0.1))


@pytest.mark.parametrize(
    ("y_true", "why"),
    [([0, 0], "no positives"), ([1, 1], "no negatives"), (["false"] * 2, "no positives")],
)
def test_one_class_is_undefined(y_true, why):
    with pytest.warns(UndefinedMetricWarning, match=f"auprec is undefined: {why}"):
        assert np.isnan(auprec_score(y_true, [0.1, 0.2], prior=0.1))
