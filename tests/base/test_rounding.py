import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polaroc.base.rounding import short_threshold

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SINGLE = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(NUMBERS, NUMBERS)
def test_a_written_threshold_is_between_two_scores(one, other):
    below, threshold = sorted((one, other))
    if below < threshold:
        assert below < float(short_threshold(threshold, below)) <= threshold
    assert float(short_threshold(threshold)) <= threshold


@given(SINGLE, SINGLE)
def test_a_written_threshold_is_between_scores_of_single_precision(one, other):
    below, threshold = sorted((one, other))
    if below < threshold:
        with np.errstate(over="ignore", under="ignore"):
            written = np.float32(short_threshold(threshold, below))
        assert np.float32(below) < written <= np.float32(threshold)


@pytest.mark.parametrize(
    ("threshold", "below", "written"),
    [
        (0.767285, 0.7661, "0.767"),
        (0.99987, 0.99981, "0.99987"),
        (0.99987, 0.9991, "0.9998"),
        (-1.83818, None, "-1.84"),
        (12345.0, 12000.0, "12300"),
        (0.3, 0.1, "0.3"),
        (1e-07, 1e-08, "1e-07"),
        (float("inf"), 3.0, "inf"),
    ],
)
def test_thresholds_have_no_more_digits_than_they_need(threshold, below, written):
    assert short_threshold(threshold, below) == written
