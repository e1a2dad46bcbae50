"""The same numbers from two evaluations."""

import pytest
from polars.testing import assert_frame_equal


def assert_same_numbers(found, expected):
    # Threads add in any order, so that sums may differ in their last digits from run to run.
    assert_frame_equal(found, expected, rel_tol=1e-11, abs_tol=1e-13)


def assert_same_document(found, expected):
    """The same JSON, such as a chart, but for the last digits of numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert_same_document(found[name], value)
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            assert_same_document(*pair)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-13, nan_ok=True)
    else:
        assert found == expected
