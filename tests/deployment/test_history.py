import numpy as np
import pytest

from polaroc.deployment.history import History
from polaroc.deployment.limits import WINDOWS, Reference, Threshold

REFERENCE = Reference.from_scores(np.arange(9.0), np.arange(9.0), Threshold(1.0, 1.0), 0.05)
CALLED = np.random.default_rng(0).integers(0, 50, size=(100, 3))
CASES = np.random.default_rng(1).integers(50, 90, size=100)


@pytest.mark.parametrize("time", [0, 2, 63, 64, 99])
def test_windows_hold_the_counts_of_the_last_times(time):
    history = History()
    for day in range(100):
        history.add(day, int(CASES[day]), CALLED[day])
    looks = history.at([time], REFERENCE)
    for window, size in enumerate(WINDOWS):
        days = slice(time + 1 - size, time + 1)
        # None until there are as many times.
        known = size <= time + 1
        assert looks.cases[0, window] == (CASES[days].sum() if known else 0)
        assert looks.called[0, window].tolist() == (
            CALLED[days].sum(axis=0).tolist() if known else [0, 0, 0]
        )


@pytest.mark.parametrize("days", [1, 7, 31])
def test_a_window_is_empty_until_there_are_as_many_times(days):
    history = History()
    for day in range(days):
        history.add(day, int(CASES[day]), CALLED[day])
    filled = history.at([days - 1], REFERENCE).cases[0] > 0
    assert filled.tolist() == [size <= days for size in WINDOWS]


def test_a_time_that_came_late_is_in_windows_from_then_on():
    history = History()
    for day in (0, 2, 1, 3):
        history.add(day, int(CASES[day]), CALLED[day])
    looks = history.at([2, 3], REFERENCE)
    two, four = WINDOWS.index(2), WINDOWS.index(4)
    assert looks.cases[:, two].tolist() == [CASES[[0, 2]].sum(), CASES[[2, 3]].sum()]
    assert looks.cases[:, four].tolist() == [0, CASES[:4].sum()]
