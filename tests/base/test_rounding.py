from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polaroc.base.rounding import number, p_in_words, p_value, threshold_text

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SINGLE = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(NUMBERS, NUMBERS)
def test_a_written_threshold_is_between_two_scores(one, other):
    below, threshold = sorted((one, other))
    if below < threshold:
        assert below < float(threshold_text(threshold, below)) <= threshold
    assert float(threshold_text(threshold, -inf)) <= threshold
    assert float(threshold_text(threshold)) == threshold


@given(SINGLE, SINGLE)
def test_a_written_threshold_is_between_scores_of_single_precision(one, other):
    below, threshold = sorted((one, other))
    if below < threshold:
        with np.errstate(over="ignore", under="ignore"):
            written = np.float32(threshold_text(threshold, below))
        assert np.float32(below) < written <= np.float32(threshold)


@pytest.mark.parametrize(
    ("threshold", "below", "written"),
    [
        (0.767285, 0.7661, "0.767"),
        (0.99987, 0.99981, "0.99987"),
        (0.99987, 0.9991, "0.9998"),
        (-1.83818, -inf, "-1.84"),
        (12345.0, 12000.0, "12300"),
        (0.3, 0.1, "0.3"),
        (1e-07, 1e-08, "1e-07"),
        (float("inf"), 3.0, "inf"),
    ],
)
def test_thresholds_have_no_more_digits_than_they_need(threshold, below, written):
    assert threshold_text(threshold, below) == written


@given(st.floats(-1e6, 1e6))
def test_a_number_is_written_with_two_digits_or_more(value):
    written = float(number(value))
    assert written == pytest.approx(value, rel=0.05, abs=1e-300)
    assert abs(written - value) <= 0.0005 * (1 + 1e-9)


@given(st.floats(0, 1))
def test_a_p_value_is_never_written_below_one_in_a_thousand(value):
    if value < 0.001:
        assert (p_value(value), p_in_words(value)) == ("< 0.001", "p < 0.001")
    else:
        assert float(p_value(value)) == pytest.approx(value, rel=0.05)
        assert p_in_words(value) == f"p = {p_value(value)}"
