import numpy as np
import polars as pl
import pytest
from scipy import stats
from sizes import replicates

import polaroc as pr
from polaroc.deployment.estimators import (
    SHIFTED,
    Labelled,
    Unlabelled,
    _fitted,
    mixture_distance,
    mixture_p_value,
)

NAMES = {"truth": "truth", "score": "score", "method": "confusion"}
# What 1,000 reference cases and 2,000 deployed ones must show at level 0.05.
DRIFTS = {
    "all scores": (lambda x, y: x + 0.5, 0.95),
    "negatives": (lambda x, y: x + 0.4 * ~y, 0.95),
    "positives": (lambda x, y: x - 1.0 * y, 0.71),
    "spread": (lambda x, y: 1.4 * x, 0.82),
}


def drawn(rng, size, prior, digits=None):
    truth = rng.random(size) < prior
    score = rng.normal(size=size) + 2 * truth
    return (score if digits is None else score.round(digits)), truth


def p_value(reference, deployed):
    (score, truth), (used, _) = reference, deployed
    values = np.unique(score)[::-1]
    pos, neg = (
        np.array([(score[truth == kind] == one).sum() for one in values]) for kind in (True, False)
    )
    distinct, count = np.unique(used, return_counts=True)
    return mixture_p_value(
        Labelled(values, pos.astype(float), neg.astype(float)),
        Unlabelled(distinct[::-1], count[::-1].astype(float)),
    )


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "use", "digits"), [(0.3, 0.1, None), (0.05, 0.5, None), (0.3, 0.01, 0)]
)
def test_a_shift_of_the_prior_alone_is_found_as_rarely_as_the_level_says(prior, use, digits):
    rng, runs = np.random.default_rng(1), replicates(200, 80)
    small = [
        p_value(drawn(rng, 200, prior, digits), drawn(rng, 500, use, digits)) for _ in range(runs)
    ]
    for level in (0.05, 0.2):
        assert np.mean(np.array(small) <= level) * runs <= stats.binom.ppf(0.999, runs, level)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("drift", DRIFTS)
def test_drift_that_is_no_mixture_is_found(drift):
    change, power = DRIFTS[drift]
    rng, runs = np.random.default_rng(2), replicates(40, 15)
    found = 0
    for _ in range(runs):
        score, truth = drawn(rng, 2_000, 0.2)
        found += p_value(drawn(rng, 1_000, 0.3), (change(score, truth), truth)) <= 0.05
    assert found >= stats.binom.ppf(0.001, runs, power)


def test_a_mixture_in_which_no_count_differs_has_no_distance():
    pos, neg = np.array([6.0, 3.0, 1.0]), np.array([10.0, 20.0, 70.0])
    for prior in (0.0, 0.25, 1.0):
        mixed = 10_000 * (prior * pos / pos.sum() + (1 - prior) * neg / neg.sum())
        assert mixture_distance(pos, neg, mixed) == pytest.approx(0, abs=1e-20)
    assert mixture_distance(pos, neg, np.array([0.0, 10_000, 0.0])) > 10


def test_below_one_per_cent_there_is_no_interval_and_a_note_says_why():
    rng = np.random.default_rng(3)
    score, truth = drawn(rng, 1_000, 0.3)
    reference = pl.DataFrame({"score": score, "truth": truth})
    mixed, moved = (pl.DataFrame({"score": drawn(rng, 2_000, 0.2)[0] + by}) for by in (0, 0.7))
    plain = pr.estimate_prior(reference, mixed, **NAMES).row(0, named=True)
    assert plain["shift_p"] > SHIFTED
    assert plain["lower"] < 0.2 < plain["upper"]
    assert plain["note"] is None
    row = pr.estimate_prior(reference, moved, **NAMES).row(0, named=True)
    assert row["shift_p"] == 0.001
    assert row["prior"] is not None
    assert row["lower"] is row["upper"] is row["std_error"] is None
    assert row["note"].startswith("more than the prior has shifted: no mixture of the positives")


def test_each_key_has_the_p_value_that_it_has_alone():
    rng = np.random.default_rng(4)
    tables = []
    for size in (400, 900):
        cases = {model: drawn(rng, size, 0.3) for model in ("A", "B")}
        rows = [
            pl.DataFrame({"model": model, "score": score, "truth": truth})
            for model, (score, truth) in cases.items()
        ]
        tables.append(pl.concat(rows))
    both = pr.estimate_prior(*tables, **NAMES, model="model")
    for model in ("A", "B"):
        alone = pr.estimate_prior(*(t.filter(model=model) for t in tables), **NAMES)
        of_both = both.filter(model=model)["shift_p"].item()
        assert alone["shift_p"].item() == pytest.approx(of_both, rel=1e-12)


def test_scores_that_are_all_the_same_have_no_p_value():
    one = pl.DataFrame({"truth": [True, False], "score": [0.5, 0.5]})
    assert pr.estimate_prior(one, one, **NAMES)["shift_p"].item() is None


@pytest.mark.alike
@pytest.mark.parametrize("prior", [0.01, 0.5])
def test_few_labelled_cases_beside_many_scores_find_no_drift_too_often(prior):
    rng, runs = np.random.default_rng(3), replicates(300, 100)
    truth = np.arange(40) < 20

    def labels(truth):
        return (rng.normal(size=truth.size) + 1.5 * truth > 0.7).astype(float)

    deployed = [rng.random(2_000) < prior for _ in range(runs)]
    p_values = np.array([p_value((labels(truth), truth), (labels(one), one)) for one in deployed])
    for level in (0.05, 0.2):
        assert (p_values <= level).sum() <= stats.binom.ppf(0.999, runs, level)


def test_the_likelihood_may_be_greatest_next_to_a_prior_of_one():
    # Steps from a prior of one would stay there; the last bin has negatives only.
    positive, negative = np.array([100.0, 900, 0]), np.array([0.0, 0, 100])
    unlabelled = np.array([130.0, 869, 1])
    assert 0.99 < _fitted(positive, negative, unlabelled)[2] < 1
