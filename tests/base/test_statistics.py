import numpy as np
import polars as pl
import pytest
from scipy import stats

from polaroc.base.statistics import binomial_band, student


@pytest.mark.parametrize(("count", "size"), [(0, 7), (3, 7), (7, 7), (2, 10_000)])
@pytest.mark.parametrize("error", [0.05, 1e-9])
def test_limits_are_those_of_clopper_and_pearson(count, size, error):
    band = binomial_band(np.array([count]), size, error)
    expected = stats.binomtest(count, size).proportion_ci(1 - error, method="exact")
    assert (band.lower[0], band.upper[0]) == pytest.approx(expected, rel=1e-6)


def test_limits_of_fractional_counts_are_quantiles_of_beta_distributions():
    count, size = 0.4, 6.5
    band = binomial_band(count, size, 0.1)
    assert band.lower == pytest.approx(stats.beta.ppf(0.05, count, size - count + 1), rel=1e-9)
    assert band.upper == pytest.approx(stats.beta.isf(0.05, count + 1, size - count), rel=1e-9)


# The cube of 2¹⁹, times 384, is zero in 64 bits; weights may add up to more than these hold.
@pytest.mark.parametrize("freedom", [1, 39, 40, 2**19, 2**22, 3_000_000, 1e200])
def test_quantiles_of_students_t_are_right_for_any_number_of_cases(freedom):
    found = pl.select(student(pl.lit(freedom), 0.9)).item()
    assert found == pytest.approx(stats.t.ppf(0.95, freedom), rel=1e-6)
