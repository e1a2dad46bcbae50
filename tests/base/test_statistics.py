import numpy as np
import pytest
from scipy import stats

from polaroc.base.statistics import binomial_band


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
