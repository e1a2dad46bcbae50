from pathlib import Path

import numpy as np
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.thresholds.constraints import (
    AT_LEAST,
    LIMITED,
    Constraints,
    promise,
    resolve_constraints,
)

RATES = {
    "recall": pr.rates.recall, "precision": pr.rates.precision, "npv": pr.rates.npv,
    "specificity": pr.rates.specificity, "accuracy": pr.rates.accuracy, "error": pr.rates.error,
    "informedness": pr.rates.informedness, "fnr": pr.rates.fnr, "posfrac": pr.rates.posfrac,
    "fpr": lambda t, f, skew: f,
}  # fmt: skip


def test_every_rate_that_can_be_limited_is_tested_and_documented():
    assert set(RATES) == set(LIMITED)
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "promise.md").read_text()
    assert [name for name in LIMITED if f"`{name}`" not in guide] == []
    assert [name for name in LIMITED if name not in pr.operating_points.__doc__] == []


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize("ends", [(0.02, 0.3), (0.4, 0.95), (0.2, 0.2)])
@pytest.mark.parametrize("limit", [0.15, 0.6, 0.9])
def test_the_ends_of_a_range_stand_for_every_prior_of_it(name, ends, limit):
    rng = np.random.default_rng(3)
    t, f = rng.random((2, 2000))
    rates = np.array([RATES[name](t, f, pr.skew(p)) for p in np.linspace(*ends, 101)])
    everywhere = (rates >= limit if name in AT_LEAST else rates <= limit).all(axis=0)
    kept = np.all(list(Constraints({name: limit}, ends).kept(t, f, 1.0)), axis=0)
    assert np.array_equal(kept, everywhere)
    assert everywhere.any()


def test_a_point_on_a_limit_keeps_it():
    kept = Constraints({"precision": 0.75, "fpr": 0.1}).kept(0.9, 0.1, 3.0)
    assert all(kept)
    assert not all(Constraints({"precision": 0.75}).kept(0.0, 0.0, 3.0))
    # Of 1 positive and 3 negatives 0.4 and 0.6, one of four.
    assert all(Constraints({"posfrac": 0.25}).kept(0.4, 0.2, 3.0))


@pytest.mark.parametrize("rule", ["max_recall", "informedness"])
def test_calling_nothing_positive_is_no_threshold(rule):
    # The best score is a negative's: with hardly any false alarms nothing may be called positive.
    table = {"truth": [0, 1, 0, 1, 0, 0], "score": [6, 5, 4, 3, 2, 1]}
    points = pr.operating_points(
        pr.curve(table, truth="truth", score="score"), rule, priors=0.3, constraints={"fpr": 0.01}
    )
    assert points.select("threshold", "tpr", "fpr").row(0) == (None, None, None)


@pytest.mark.parametrize(
    ("limits", "priors", "sentence"),
    [
        ({"precision": 0.8}, (0.05, 0.2),
         "With 95 % confidence at least 8 of 10 alarms are right, as long as 5 to 20 % are "
         "positive."),
        ({"recall": 0.995, "posfrac": 0.05}, 0.1,
         "With 95 % confidence at least 995 of 1,000 positives are found and at most 5 of 100 "
         "cases raise an alarm, as long as 10 % are positive."),
        ({"fpr": 0.01234567, "fnr": 0.1, "informedness": 0.5}, (0.1, 0.2),
         "With 95 % confidence at most 1.23457 % of the negatives raise an alarm, at most 1 of 10 "
         "positives are missed and recall is above the false positive rate by at least 0.5."),
    ],
)  # fmt: skip
def test_promises_are_sentences(limits, priors, sentence):
    assert promise(limits, 0.95, priors) == sentence


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({}, "constraints is {}"),
        ("precision", "constraints is 'precision'"),
        ({"ppv": 0.8}, "constraints has 'ppv'(.|\n)*did you mean 'precision'"),
        ({"precision": 80}, "precision = 80, allowed is 0 < precision < 1"),
        ({"recall": None}, "recall = None"),
        ({"recall": 0.5}, "recall is limited twice: to 0.5 in constraints, and to the target 0.8"),
    ],
)
def test_constraints_that_mean_nothing_are_refused(constraints, message):
    with pytest.raises(InvalidArgument, match=message) as refusal:
        resolve_constraints(constraints, "recall", 0.8, None)
    assert "Hint: " in str(refusal.value)


def test_constraints_over_a_belief_need_its_ends():
    kept = resolve_constraints({"recall": 0.5}, "cost", None, pr.uniform(0.05, 0.2))
    assert kept.ends == pytest.approx((0.05, 0.2))
    with pytest.raises(InvalidArgument, match=r"a belief without ends.*\s.*over=\(0\.05, 0\.20\)"):
        resolve_constraints({"recall": 0.5}, "cost", None, pr.beta(2, 18))


TWENTY = pr.datasets.twenty_scores()
ROLES = {"truth": "truth", "score": "score"}


@pytest.mark.parametrize(
    ("rule", "target"), [("recall", 1), ("precision", 1), ("precision", 0), ("fpr", 0), ("fpr", 1),
                         ("capacity", 1)],
)  # fmt: skip
def test_targets_of_none_and_all_are_kept_over_a_range_as_at_each_prior(rule, target):
    where = ["threshold", "tpr", "fpr"]
    points = pr.operating_points(TWENTY, rule, target=target, over=(0.05, 0.2), **ROLES)
    for prior in (0.05, 0.2):
        at = pr.operating_points(TWENTY, rule, target=target, priors=prior, **ROLES)
        assert points.select(where).rows() == at.select(where).rows()


@pytest.mark.parametrize("target", [0, 1])
def test_none_and_all_cannot_be_promised(target):
    with pytest.raises(InvalidArgument, match=f"^target is {target}, of which no sample") as error:
        pr.operating_points(TWENTY, "recall", target=target, confidence=0.9, **ROLES)
    assert "constraints" not in str(error.value)
