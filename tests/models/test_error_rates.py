"""How often tests find a difference between equal algorithms, in a few samples."""

import pytest
from scipy.stats import binom
from simulations import comparisons


@pytest.mark.slow
@pytest.mark.parametrize(
    ("equal", "three_way", "two_way"),
    [("on the dataset", 0.6, 0.0), ("over the population", 0.9, 0.2)],
)
def test_analyses_of_variance_err_as_often_as_is_said_and_compare_does_not(
    equal, three_way, two_way
):
    runs = 40
    found = {
        row["analysis"]: round(row["differs"] * runs)
        for row in comparisons.of_anova(runs, 0, equal)
    }
    assert found["compare"] <= binom.isf(1e-4, runs, 0.01)
    assert found["anova, 3-way, 16 priors"] >= binom.ppf(1e-4, runs, three_way)
    assert found["anova, 2-way on iauprec"] >= binom.ppf(1e-4, runs, two_way)


@pytest.mark.slow
def test_one_10_fold_keeps_its_level_where_ten_do_not():
    runs = 60
    found = comparisons.of_folds(runs, 7, "nearest neighbours", "40 + 120", 2, 0.0)[0]
    assert round(found["one 10-fold"] * runs) <= binom.isf(1e-3, runs, 0.0625)
    assert round(found["ten 10-folds"] * runs) > binom.isf(0.1, runs, 0.05)


@pytest.mark.slow
def test_equal_models_of_one_test_set_differ_as_rarely_as_promised():
    runs = 100
    for row in comparisons.of_test_set(runs, 0, "200 + 1,800", 0.5):
        assert round(row["at 0.05"] * runs) <= binom.isf(1e-3, runs, 0.05)
