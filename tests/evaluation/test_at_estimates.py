import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
CASES = pr.datasets.satellite_predictions().filter(fold=1)


def estimates(**columns) -> pl.DataFrame:
    given = {
        "model": ["A", "B", "C"], "prior": [0.1, 0.2, 0.3],
        "lower": [0.05, 0.1, 0.2], "upper": [0.2, 0.3, 0.4],
    }  # fmt: skip
    return pl.DataFrame(given | columns)


def auprec(priors, **arguments) -> pl.DataFrame:
    return pr.evaluate(CASES, **NAMES, priors=priors, **arguments).filter(measure="auprec")


def at(prior: float, model: str, **arguments) -> dict:
    found = auprec(prior, **arguments).filter(pl.col("model") == model)
    return found.row(0, named=True)


def test_each_key_at_its_own_estimate():
    found = auprec(estimates())
    assert found.select("model", "prior").rows() == [("A", 0.1), ("B", 0.2), ("C", 0.3)]
    for model, prior, value in found.select("model", "prior", "estimate").rows():
        assert value == pytest.approx(at(prior, model)["estimate"], abs=1e-12)


def test_limits_reach_to_those_at_the_ends_of_the_interval():
    row = auprec(estimates(), intervals=True).row(0, named=True)
    low, high = (at(prior, "A", intervals=True) for prior in (0.05, 0.2))
    assert row["lower"] == pytest.approx(low["lower"], abs=1e-12)
    assert row["upper"] == pytest.approx(high["upper"], abs=1e-12)
    assert row["std_error"] is None


def test_other_measures_and_the_order_of_rows_stay():
    arguments = NAMES | {"intervals": True, "over": (0.1, 0.2)}
    found = pr.evaluate(CASES, **arguments, priors=estimates())
    plain = pr.evaluate(CASES, **arguments, priors=0.1)
    assert found.schema == plain.schema
    assert found.select("model", "measure").equals(plain.select("model", "measure"))
    same = pl.col("measure") != "auprec"
    assert_same_numbers(found.filter(same), plain.filter(same))
    lazy = pr.evaluate(CASES.lazy(), **arguments, priors=estimates().lazy())
    assert lazy.collect_schema() == found.schema
    # The two are collected by different engines.
    assert_frame_equal(lazy.collect(), found, rel_tol=1e-12)


def test_what_was_not_estimated_is_said():
    some = estimates(prior=[0.1, None, 0.0]).filter(pl.col("model") != "A")
    found = auprec(some, intervals=True)
    assert found["estimate"].to_list() == [None] * 3
    assert found["note"].to_list() == [
        "the prior was not estimated", "the prior was not estimated",
        "the estimated prior is 0 or 1",
    ]  # fmt: skip
    unsure = auprec(estimates(lower=[None] * 3, upper=[None] * 3), intervals=True)
    assert unsure["estimate"].is_not_null().all()
    assert unsure["lower"].is_null().all()
    assert set(unsure["note"]) == {"the estimated prior has no interval: none at it"}


def test_an_interval_that_begins_at_zero():
    found = auprec(estimates(lower=[0.0, 0.1, 0.2]), intervals=True).row(0, named=True)
    assert found["lower"] == 0
    assert found["upper"] == pytest.approx(at(0.2, "A", intervals=True)["upper"])


@pytest.mark.slow
def test_intervals_at_an_estimated_prior_cover_with_50_reference_positives():
    runs, prior, distance = 60, 0.2, 2.0
    rng = np.random.default_rng(4)
    truth = np.tile(np.arange(250) < 50, (runs, 1))
    used = rng.random((runs, 1000)) < prior

    def table(positive):
        raw = rng.normal(size=positive.shape) + distance * positive
        run = np.repeat(np.arange(runs), positive.shape[1])
        return pl.DataFrame({"run": run, "truth": positive.ravel(), "score": raw.ravel()})

    test, use = table(truth), table(used).drop("truth")
    columns = {"truth": "truth", "score": "score", "by": "run"}
    # The reference is the test table itself: the harder case.
    found = pr.estimate_prior(test, use, **columns)
    measures = pr.evaluate(test, **columns, priors=found, intervals=True, measure="auprec")
    many = rng.normal(size=400_000) + distance * (np.arange(400_000) % 2)
    large = pr.curve({"truth": np.arange(400_000) % 2, "score": many}, truth="truth", score="score")
    expected = pr.auprec(large, prior)["estimate"].item()
    held = measures.select(pl.lit(expected).is_between("lower", "upper").mean()).item()
    assert held >= 0.93 - 3 * (0.93 * 0.07 / runs) ** 0.5
