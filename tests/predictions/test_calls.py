"""What a refused call says to write."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

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
        (lambda table: pr.evaluate(table, y_true="y", y_score="a"), "no argument 'y_true'"),
        (lambda _: pr.evaluate(Y, A), "got a numpy.ndarray"),
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


def test_a_curve_is_drawn_at_the_prior_of_its_cases():
    curves = pr.curve(TABLES["polars"], truth="y", score=["a", "b"])
    drawn, said = pr.charts.pr(curves), pr.charts.pr(pr.surface(curves, "observed"))
    assert drawn.to_dict() == said.to_dict()
