import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from sizes import replicates

import polaroc as pr

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "error_rates.py"))
REPLICATES = replicates(80, 40)
CORRECTED = ["F_NB", "Nadeau-Bengio t + Holm"]


@pytest.fixture(scope="module")
def below():
    """How many replicates have p < α, by null, test and α."""
    return {
        (null, *row[:2]): row[2]
        for null in SCRIPT["NULLS"]
        for row in SCRIPT["rates"](SCRIPT["simulate"](null, replicates=REPLICATES))
        .select("test", "alpha", "below")
        .iter_rows()
    }


def at_most(rate: float) -> int:
    """A count that a true rate exceeds once in 10,000 times."""
    return int(binom.isf(1e-4, REPLICATES, rate))


def at_least(rate: float) -> int:
    return int(binom.ppf(1e-4, REPLICATES, rate))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("null", SCRIPT["NULLS"])
@pytest.mark.parametrize("test", CORRECTED)
def test_the_default_keeps_its_rate_under_both_nulls(below, null, test):
    assert below[null, test, 0.005] <= at_most(0.01)
    assert below[null, test, 0.05] <= at_most(0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "dataset", "population"),
    [("3-way, K = 3", 0.3, 0.7), ("3-way, K = 16", 0.8, 0.9), ("2-way on IAUPREC", 0, 0.2)],
)
def test_analyses_of_variance_err_as_often_as_is_said(below, test, dataset, population):
    assert below["dataset", test, 0.05] >= at_least(dataset)
    assert below["population", test, 0.05] >= at_least(population)


def test_p_values_are_those_of_the_package():
    values = np.random.default_rng(0).normal(size=(6, 3, 4)) * 0.05 + 0.5
    table = pl.DataFrame(
        [
            {"model": m, "fold": j, "prior": (k + 1) / 10, "measure": "auprec", "estimate": v}
            for (j, m, k), v in np.ndenumerate(values)
        ]
    )
    found = pr.anova(table).table.filter(term="model")["p_value"].item()
    assert SCRIPT["three_way"](values) == pytest.approx(found, rel=1e-9)
    overall = values[:, :, 0]
    told = SCRIPT["p_values"](values, values, overall, 0.25)
    measures = table.filter(prior=0.1).with_columns(prior=pl.lit(None, pl.Float64))
    corrected = pr.compare(measures, "auprec", test_train_ratio=0.25)
    assert told["F_NB"] == pytest.approx(corrected.omnibus["p_value"].item())
    least = corrected.pairs["p_adjusted"].min()
    assert told["Nadeau-Bengio t + Holm"] == pytest.approx(least)


def test_hold_outs_and_folds_are_stratified():
    rng, truth = np.random.default_rng(0), SCRIPT["TRUTH"]
    for tested in (SCRIPT["hold_outs"](rng, 20, 0.2), SCRIPT["k_folds"](rng, 5)):
        assert (tested[:, truth].sum(axis=1) == 30).all()
        assert (tested[:, ~truth].sum(axis=1) == 90).all()
    assert (SCRIPT["k_folds"](rng, 5).sum(axis=0) == 1).all()


def test_repeated_folds_test_each_case_as_often():
    tested = SCRIPT["k_folds"](np.random.default_rng(0), 5, 3)
    assert tested.shape == (15, 600)
    assert (tested.sum(axis=0) == 3).all()
    setting = SCRIPT["Setting"](folds=5, repeats=3)
    assert (setting.count, setting.ratio) == (15, 0.25)


# Test sets that share a deviation with twice the variance of their own are worth 1/(1/10 + 2).
@pytest.mark.parametrize(("shared", "expected"), [(0, 10), (2, 1 / 2.1)])
def test_the_worth_of_test_sets(shared, expected):
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(4000, 10, 3)) + shared**0.5 * rng.normal(size=(4000, 1, 3))
    count, error = SCRIPT["worth"](drawn)
    assert count == pytest.approx(expected, abs=4 * error)
    assert 0 < error < 0.1 * expected
