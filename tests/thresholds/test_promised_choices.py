"""Promises of the model that is picked, and at an estimated prior, in a few samples."""

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from simulations import promises
from sizes import replicates

import polaroc as pr

NAMES = {"truth": "truth", "score": "score", "model": "model"}
ASKED = {"rule": "max_recall", "priors": 0.1, "constraints": {"precision": 0.4}}


def models(count: int = 3, seed: int = 0, positives: int = 60, negatives: int = 540):
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    return pl.concat(
        pl.DataFrame(
            {"model": f"m{i}", "case": np.arange(truth.size), "truth": truth,
             "score": rng.normal(2.4 * truth)}
        )
        for i in range(count)
    )  # fmt: skip


def test_the_model_that_is_picked_keeps_its_promise_where_models_share_the_error():
    runs = replicates(1000, 250)
    rng = np.random.default_rng(11)
    broken, _ = promises.of_picked(rng, promises.Scores(None), 8, 0.0, runs)
    own, shared = broken.mean(axis=0)
    error = (0.05 * 0.95 / runs) ** 0.5
    assert (shared < 0.05 + 3 * error).all()
    # Picked by its area on other cases each model might have the whole error.
    assert own[2] < 0.05 + 3 * error
    assert (own[:2] > 0.15).all()


@pytest.mark.slow
def test_at_an_estimated_prior_a_promise_is_broken_no_more_often_than_said():
    runs = replicates(1000, 150)
    rng = np.random.default_rng(12)
    found = promises.of_estimate(rng, None, (50, 450), 5_000, 0.05, runs)
    assert found.broken.mean() < 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert found.held.mean() > 0.95 - 3 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.parametrize("limits", [{"precision": 0.4}, {"recall": 0.8}])
def test_models_share_the_error_and_curves_do_not(limits):
    table, asked = models(), ASKED | {"constraints": limits}
    together = pr.operating_points(table, **NAMES, **asked, confidence=0.9)
    curves = pr.curve(table, **NAMES)
    alone = pr.operating_points(curves, **asked, confidence=1 - 0.1 / 3)
    assert_same_numbers(together.drop("promise"), alone.drop("promise"))
    assert together["promise"].str.contains("With 90 % confidence").all()
    each = pr.operating_points(curves, **asked, confidence=0.9)
    if "precision" in limits:
        assert (each["threshold"] < together["threshold"]).any()
    one = pr.operating_points(table.filter(model="m1"), **NAMES, **asked, confidence=0.9)
    assert_same_numbers(one, each.filter(model="m1"))


def test_columns_of_scores_are_models_and_by_is_none():
    table = models(2)
    first, second = table.partition_by("model")
    wide = first.select("case", "truth", m0="score").with_columns(m1=second["score"])
    asked = ASKED | {"confidence": 0.9}
    of_columns = pr.operating_points(wide, truth="truth", score=["m0", "m1"], **asked)
    assert_same_numbers(of_columns, pr.operating_points(table, **NAMES, **asked))
    sites = table.rename({"model": "site"})
    by_site = pr.operating_points(sites, truth="truth", score="score", by="site", **asked)
    curves = pr.curve(table, **NAMES)
    each = pr.operating_points(curves, **asked)
    assert_same_numbers(by_site.rename({"site": "model"}), each)


def test_models_are_counted_within_each_by_and_whatever_their_own_estimates():
    table = models(4).with_columns(site=pl.col("model").replace({"m0": "x"}).str.head(1))
    asked = ASKED | {"confidence": 0.9}
    points = pr.operating_points(table, **NAMES, by="site", **asked)
    for site, count in (("x", 1), ("m", 3)):
        own = pr.curve(table.filter(site=site), **NAMES, by="site")
        expected = pr.operating_points(own, **ASKED, confidence=1 - 0.1 / count)
        assert_same_numbers(points.filter(site=site).drop("promise"), expected.drop("promise"))
    estimates = pl.DataFrame(
        {"model": ["m1", "m2"], "method": "em", "prior": [0.1, 0.2], "lower": [0.08, 0.15],
         "upper": [0.12, 0.25], "level": 0.95}
    )  # fmt: skip
    two = table.filter(pl.col("model").is_in(["m1", "m2"])).drop("site")
    at_own = ASKED | {"priors": estimates}
    together = pr.operating_points(two, **NAMES, **at_own, confidence=0.9)
    alone = pr.operating_points(pr.curve(two, **NAMES), **at_own, confidence=0.95)
    assert_same_numbers(together.drop("promise"), alone.drop("promise"))


def test_choose_shares_the_error_once():
    tuning, test = models(3, seed=1), models(3, seed=2).with_columns(pl.col("case") + 1_000)
    asked = {"over": (0.1, 0.2), "constraints": {"precision": 0.3}, "confidence": 0.9}
    roles = NAMES | {"case": "case"}
    plain = pr.choose(test, **roles, tuning=tuning, **asked)
    # With clusters the promise is one of cases, not of curves; each row is one.
    clustered = pr.choose(test, **roles, cluster="case", tuning=tuning, **asked)
    at = ["model", "threshold"]
    assert_same_numbers(
        clustered.models.select(at).sort("model"), plain.models.select(at).sort("model")
    )
