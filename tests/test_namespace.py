import inspect

import polars as pl
import pytest
from agreement import assert_same_numbers

import polaroc as pr
from polaroc import namespace

TWENTY = pr.datasets.twenty_scores()


@pytest.mark.parametrize("frame", [TWENTY, TWENTY.lazy()])
def test_methods_are_the_functions(frame):
    chained = frame.proc.curve(truth="truth", score="score").proc.auprec(0.1, interpolation="hull")
    called = pr.auprec(pr.curve(frame, truth="truth", score="score"), 0.1, interpolation="hull")
    assert type(chained) is type(called)
    assert_same_numbers(chained.lazy().collect(), called.lazy().collect())


@pytest.mark.parametrize("name", namespace.steps())
def test_every_step_is_public_and_documented(name):
    method = getattr(TWENTY.proc, name)
    assert name in pr.__all__
    assert name in dir(pl.DataFrame().proc)
    assert method.__doc__ == getattr(pr, name).__doc__


# Functions of numbers, which are no steps.
OF_NUMBERS = {
    "beta", "pr_from_roc", "prior",
    "prior_grid", "roc_from_pr", "skew", "uniform",
}  # fmt: skip


def test_every_function_of_a_table_is_a_step():
    functions = {name for name in pr.__all__ if inspect.isfunction(getattr(pr, name))}
    assert functions - OF_NUMBERS == set(namespace.steps())


def test_a_notebook_shows_what_there_is():
    assert repr(TWENTY.lazy().proc).startswith("polaroc on a LazyFrame: accsens, achievable, ")


def test_what_is_no_step_is_said():
    with pytest.raises(AttributeError, match="it has accsens"):
        _ = TWENTY.proc.roc
