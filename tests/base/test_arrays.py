import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polaroc.base.arrays import ARRAYS
from polaroc.base.backend import POLARS

NUMBERS = st.lists(st.floats(0.1, 10), min_size=1, max_size=5)


def everything(backend):
    """A formula with every operator and function, in which parts are shared."""
    x, y = backend.column("x"), backend.column("y")
    shared = 2 - x * (y + 1)
    root = abs(-shared) ** 0.5
    larger = backend.where((x > y) & (x >= 1), root / x, 3 / y)
    small = backend.where((x < y) & (y <= 5), backend.log1p(shared**2), backend.log(y))
    least = backend.minimum(backend.clip(x, 1, 2), y)
    return backend.total([larger, small, least, shared - 1, 1 + root])


@given(NUMBERS, st.randoms())
def test_formulas_of_arrays_are_those_of_polars(numbers, random):
    table = pl.DataFrame({"x": numbers, "y": random.sample(numbers, len(numbers))})
    arrays = {name: table[name].to_numpy() for name in table.columns}
    formula = everything(ARRAYS)
    for _ in range(2):
        found = formula.value(arrays)
        assert found == pytest.approx(table.select(everything(POLARS)).to_series(), rel=1e-12)


def test_a_shared_part_is_computed_once():
    calls = []

    def column(x):
        calls.append(1)
        return np.log1p(x)

    x = ARRAYS.column("x")
    part = ARRAYS.log1p(x)
    object.__setattr__(part, "function", column)
    total = (part + 1) * (part - 1) + part
    assert total.value({"x": np.zeros(3)}).tolist() == [-1, -1, -1]
    assert len(calls) == 1


def test_what_no_condition_names_is_missing():
    positive = ARRAYS.where(ARRAYS.column("x") == 1, 1.0)
    assert np.isnan(positive.value({"x": np.array([1.0, 2.0])})).tolist() == [False, True]
