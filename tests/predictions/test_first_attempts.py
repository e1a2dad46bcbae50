"""The first call of somebody who knows other libraries works, or says what to write."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import PolarocError

CHANCE = np.random.default_rng(7)
Y = np.repeat([1, 0], [60, 140])
A, B = CHANCE.normal(Y * 1.5), CHANCE.normal(Y)
TABLES = {
    "polars": pl.DataFrame({"y": Y, "a": A, "b": B}),
    "pandas": pd.DataFrame({"y": Y, "a": A, "b": B}, index=[f"c{i}" for i in range(200)]),
    "mapping": {"y": Y, "a": A, "b": B},
}
# By function, what it needs besides the columns.
OF_ONE = {
    "cases": {}, "check": {}, "curve": {}, "evaluate": {"measures": "auc"},
    "operating_points": {}, "calibration": {}, "decision_curve": {},
}  # fmt: skip
OF_MODELS = {
    "choose": {"over": (0.05, 0.2)}, "compare": {"measure": "auc"},
    "gate": {"champion": "a", "challenger": "b", "measure": "auc"},
}  # fmt: skip


def advised(call, **names):
    """What the hint of a refused call says to write, called."""
    with pytest.raises(PolarocError) as caught:
        call()
    written = re.search(r"write (pr\.\w+)\((.*)\)\.$", str(caught.value), re.DOTALL)
    assert written, str(caught.value)
    return lambda **more: eval(
        f"{written[1]}({written[2]}, **more)", names | {"pr": pr, "more": more}
    )


def numbers(result):
    """A result as tables to be compared."""
    tables = [result] if isinstance(result, pl.DataFrame) else vars(result).values()
    found = [
        pl.DataFrame(one) for one in tables if isinstance(one, pl.DataFrame | pd.DataFrame | dict)
    ]
    return found or [pl.DataFrame({"shown": [str(result)]})]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_ONE | OF_MODELS)
@pytest.mark.parametrize("kind", TABLES)
def test_roles_by_place_are_told_by_name(name, kind):
    function, needed = getattr(pr, name), (OF_ONE | OF_MODELS)[name]
    scores = "a" if name in OF_ONE else {"first": "a", "b": "b"}
    if name == "gate":
        needed = needed | {"champion": "first"}
    # Functions that have arguments without a name take as many, whatever they are.
    table = TABLES[kind]
    write = advised(lambda: function(table, "y", scores, "x"), table=table)
    right = function(table, truth="y", score=scores, **needed)
    for one, other in zip(numbers(write(**needed)), numbers(right), strict=True):
        assert_frame_equal(one, other)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["evaluate", "curve", "cases", "check"])
@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series, list])
def test_arrays_are_told_to_be_columns(name, kind):
    function, y, p = getattr(pr, name), kind(Y), kind(A)
    right = numbers(function({"truth": y, "score": p}, truth="truth", score="score"))
    for call in (lambda: function(y, p), lambda: function(y), lambda: function([y, p])):
        for one, other in zip(numbers(advised(call, y=y, p=p)()), right, strict=True):
            assert_frame_equal(one, other)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", [{"y_true": Y, "y_score": A}, {"truth": Y, "score": A}])
def test_arrays_by_the_names_of_scikit_learn_are_told_to_be_columns(given):
    right = pr.evaluate(TABLES["mapping"], truth="y", score="a")
    assert_frame_equal(advised(lambda: pr.evaluate(**given), y=Y, p=A)(), right)


@pytest.mark.filterwarnings("ignore")
def test_the_scores_of_several_models_are_told_to_be_columns():
    right = pr.choose(
        {"truth": Y, "a": A, "b": B}, truth="truth", score=["a", "b"], over=(0.1, 0.2)
    )
    for call in (lambda: pr.choose(Y, A, B), lambda: pr.choose(Y, {"a": A, "b": B})):
        found = advised(call, y=Y, p_a=A, p_b=B)(over=(0.1, 0.2))
        assert_frame_equal(found.models, right.models)


@pytest.mark.parametrize(
    ("call", "write"),
    [
        (lambda table: pr.auc(table), "pr.curve(table, truth='truth', score='score')"),
        (lambda table: pr.surface(table, 0.1), "pr.curve(table, truth='truth', score='score')"),
        (lambda _: pr.auc(Y, A), "pr.curve({'truth': y, 'score': p}"),
        (lambda table: pr.charts.roc(table), "pr.curve(table, truth='truth', score='score')"),
        (lambda table: pr.charts.roc(table, truth="y", score="a"), "pr.curve(table, truth="),
        (lambda _: pr.charts.roc(Y, A), "pr.curve(table, truth="),
        (lambda table: pr.charts.pr(table), "pr.surface(pr.curve(table, truth="),
        (lambda table: pr.charts.roc(pr.cases(table, truth="y", score="a")), "pr.curve(cases)"),
        (lambda _: pr.evaluate({"y": Y, "p": np.c_[A, B]}, truth="y", score="p"), "[:, 1]"),
        (lambda table: pr.evaluate(table, y_true="y", y_score="a"), "'truth', 'score'"),
        (lambda table: pr.evaluate(table, truth="y", score="a", prevalence=0.1), "'priors'"),
        (lambda table: pr.expected_cost(table, truth="y", score="a"), "over=(0.05, 0.20)"),
        (lambda table: pr.choose(table, truth="y", score=["a", "b"], over=(0.1, 0.2),
                                 cost_fn=pd.Series(A, name="amount")), "give that as `weight`"),
    ],
)  # fmt: skip
def test_what_to_write_is_said(call, write):
    with pytest.raises(PolarocError, match=re.escape(write)):
        call(TABLES["polars"])


@pytest.mark.parametrize("labels", [("fraud", "ok"), (1, 2), (-1, 1)])
def test_no_label_is_suggested_as_positive(labels):
    table = pl.DataFrame({"y": [labels[one] for one in Y], "p": A})
    with pytest.raises(PolarocError) as caught:
        pr.curve(table, truth="y", score="p")
    assert f"has the labels {labels[0]!r}, {labels[1]!r}" in caught.value.found
    # Which of two labels is positive only the user knows.
    assert "positive=...;" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("roc_auc_score", "evaluate(..., measures='auc')"),
        ("average_precision_score", "evaluate(..., measures='auprec')"),
        ("roc_curve", "curve(...)"), ("precision_recall_curve", "charts.pr(curve(...))"),
        ("plot", "charts.roc(curve(...))"), ("evaluat", "evaluate"),
    ],
)  # fmt: skip
def test_a_name_that_is_not_there_is_told(name, meant):
    with pytest.raises(AttributeError, match=re.escape(meant)):
        getattr(pr, name)


def test_a_curve_is_drawn_at_the_prior_of_its_cases():
    curves = pr.curve(TABLES["polars"], truth="y", score=["a", "b"])
    drawn, said = pr.charts.pr(curves), pr.charts.pr(pr.surface(curves, "observed"))
    assert drawn.to_dict() == said.to_dict()
