import numpy as np
import pytest
from scipy.stats import beta

from polaroc.thresholds import all_thresholds
from polaroc.thresholds.all_thresholds import limits_at_all_thresholds, simultaneous_coverage


def test_fourier_transforms_give_the_coverage_that_sums_give(monkeypatch):
    by_transforms = simultaneous_coverage(300_000, 1e-3)
    monkeypatch.setattr(all_thresholds, "LONG", 300_000)
    assert simultaneous_coverage(300_000, 1e-3) == pytest.approx(by_transforms, abs=1e-12)


@pytest.mark.parametrize("local", [0.3, 0.05])
def test_two_order_statistics_in_closed_form(local):
    (a, c), (b, d) = (beta.ppf(share, [1, 2], [2, 1]) for share in (local / 2, 1 - local / 2))
    # Of the unit square, twice the part above the diagonal with a ≤ u ≤ b and c ≤ v ≤ d.
    u = np.linspace(a, b, 2_000_001)
    expected = 2 * np.trapezoid(np.clip(d - np.maximum(u, c), 0, None), u)
    assert simultaneous_coverage(2, local) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [7, 60])
def test_coverage_of_order_statistics_by_simulation(n):
    order = np.arange(1, n + 1)
    drawn = np.sort(np.random.default_rng(n).random((40_000, n)), axis=1)
    low, high = (beta.ppf(share, order, n + 1 - order) for share in (0.005, 0.995))
    held = ((low <= drawn) & (drawn <= high)).all(axis=1).mean()
    error = (held * (1 - held) / 40_000) ** 0.5
    assert simultaneous_coverage(n, 0.01) == pytest.approx(held, abs=4 * error)


def test_limits_hold_at_once_for_many_cases_too():
    n, runs = 1500, 1000
    counts = np.arange(n + 1)
    low, high = limits_at_all_thresholds(counts, n, 0.9)
    drawn = np.sort(np.random.default_rng(0).random((runs, n)), axis=1)
    held = ((low[1:] <= drawn) & (drawn <= high[:-1])).all(axis=1).mean()
    assert held == pytest.approx(0.9, abs=4 * (0.9 * 0.1 / runs) ** 0.5)


@pytest.mark.parametrize("total", [1, 2, 30, 2_000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_all_limits_hold_at_once_at_least_as_often_as_said(total, level):
    held = simultaneous_coverage(total, all_thresholds._local_level(total, level))
    assert level - 1e-12 < held < level + 0.01
