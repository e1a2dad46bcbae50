import inspect

import polars as pl
import pytest
from agreement import assert_same_numbers

import polaroc as pr
import polaroc.namespace

TWENTY = pr.datasets.twenty_scores()
# Functions of numbers, which are no steps.
OF_NUMBERS = {"beta", "pr_from_roc", "prior", "prior_grid", "roc_from_pr", "skew", "uniform"}


@pytest.mark.parametrize("frame", [TWENTY, TWENTY.lazy()])
def test_methods_are_the_functions(frame):
    chained = frame.proc.curve(truth="truth", score="score").proc.auprec(0.1, interpolation="hull")
    called = pr.auprec(pr.curve(frame, truth="truth", score="score"), 0.1, interpolation="hull")
    assert type(chained) is type(called)
    assert_same_numbers(chained.lazy().collect(), called.lazy().collect())


def test_every_function_of_a_table_is_a_step_with_its_documentation():
    functions = {name for name in pr.__all__ if inspect.isfunction(getattr(pr, name))}
    assert functions - OF_NUMBERS == set(dir(pl.DataFrame().proc))
    for name in functions - OF_NUMBERS:
        assert getattr(TWENTY.proc, name).__doc__ == getattr(pr, name).__doc__


def test_a_notebook_and_an_error_show_what_there_is():
    assert repr(TWENTY.lazy().proc).startswith("polaroc on a LazyFrame: accsens, achievable, ")
    with pytest.raises(AttributeError, match="it has accsens"):
        _ = TWENTY.proc.roc
