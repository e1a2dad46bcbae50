"""What `monitor` finds on simulated days."""

import numpy as np
import pytest
from simulations import in_use

OVER, DAYS = (0.05, 0.2), 120


def assessed(seed, priors, drift="none", sizes=(1_000, 9_000)):
    rng = np.random.default_rng(seed)
    known = in_use.reference(rng, sizes)
    return in_use.assessed(known, in_use.above(rng, known, priors, drift), OVER)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(50, 450), (1_000, 9_000)])
def test_nothing_is_said_while_the_prior_stays_in_its_range(sizes):
    moving = 0.12 + 0.07 * np.sin(np.arange(DAYS) / 9)
    for seed in range(8):
        found = assessed(seed, moving, sizes=sizes)
        assert found.prior_alarms() == found.threshold_alarms() == [None] * DAYS
        _, (lower, upper) = found.quantities()["prior"]
        assert ((lower <= moving) & (moving <= upper)).all()


@pytest.mark.alike
@pytest.mark.parametrize(("prior", "within"), [(0.5, 1), (0.3, 10)])
def test_a_prior_that_left_its_range_is_noticed_soon(prior, within):
    priors = np.where(np.arange(DAYS) < 60, 0.1, prior)
    for seed in range(5):
        day = in_use.first(assessed(seed, priors).prior_alarms())
        assert 60 < day <= 60 + within


@pytest.mark.parametrize(
    "drift", ["all scores 0.5 higher", "negatives 0.4 higher", "scores 1.3 times as wide"]
)
def test_drift_that_is_no_prior_shift_is_noticed_within_ten_days(drift):
    for seed in range(5):
        alarms = assessed(seed, np.full(10, 0.1), drift).prior_alarms()
        assert any(alarm and alarm.startswith("more than the prior has") for alarm in alarms)


@pytest.mark.alike(2)
@pytest.mark.parametrize("sd", [0.05, 0.15])
@pytest.mark.parametrize("sizes", [(200, 1_800), (1_000, 9_000)])
def test_days_that_differ_as_those_of_the_reference_raise_no_alarm(sd, sizes):
    for seed in range(3):
        rng, ends = np.random.default_rng(seed), np.full(DAYS, OVER[1])
        found = in_use.year_of_days(rng, sizes, ends, sd, named=True)
        assert found.prior_alarms() == found.threshold_alarms() == [None] * DAYS
        _, (lower, upper) = found.quantities()["prior"]
        assert ((lower <= ends) & (ends <= upper)).all()


def test_days_that_differ_raise_alarms_where_they_are_not_told_apart():
    for seed in range(3):
        rng, priors = np.random.default_rng(seed), np.full(DAYS, 0.1)
        found = in_use.year_of_days(rng, (1_000, 9_000), priors, 0.15, named=False)
        assert in_use.first(found.prior_alarms()) is not None


@pytest.mark.parametrize(("sd", "within"), [(0.1, 32), (0.15, 40)])
def test_a_prior_that_left_its_range_is_noticed_though_days_differ(sd, within):
    for seed in range(3):
        rng, priors = np.random.default_rng(seed), np.where(np.arange(90) < 40, 0.1, 0.4)
        found = in_use.year_of_days(rng, (1_000, 9_000), priors, sd, named=True)
        assert 40 < in_use.first(found.prior_alarms()) <= 40 + within


@pytest.mark.parametrize(("over", "is_said"), [((0.08, 0.125), True), ((0.02, 0.5), False)])
def test_a_prior_that_grew_is_said_where_it_left_its_range(over, is_said):
    for seed in range(3):
        rng, priors = np.random.default_rng(seed), np.where(np.arange(60) < 30, 0.1, 0.2)
        known = in_use.reference(rng, (1_000, 9_000))
        called = in_use.above(rng, known, priors, "none")
        found = in_use.assessed(known, called, over)
        day = in_use.first(found.prior_alarms())
        assert (day is not None and 30 < day <= 40) == is_said
        assert is_said or found.threshold_alarms() == [None] * 60
