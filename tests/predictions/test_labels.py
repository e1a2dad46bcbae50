"""The same rule for labels in every function: a positive one is named, others are told."""

import re

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions, PolarocWarning

RNG = np.random.default_rng(8)
TRUTH = RNG.random(300) < 0.4
TABLE = pl.DataFrame({"truth": TRUTH, "a": RNG.normal(TRUTH), "b": RNG.normal(TRUTH / 2)})
ONE = {"truth": "truth", "score": "a"}
TWO = {"truth": "truth", "score": ["a", "b"]}
CALLS = {
    "curve": lambda table, **labels: pr.curve(table, **ONE, **labels),
    "evaluate": lambda table, **labels: pr.evaluate(table, **ONE, **labels),
    "operating_points": lambda table, **labels: pr.operating_points(
        table, "recall", target=0.8, **ONE, **labels
    ),
    "decision_curve": lambda table, **labels: pr.decision_curve(table, priors=0.1, **ONE, **labels),
    "compare": lambda table, **labels: pr.compare(table, "auc", **TWO, **labels).pairs,
    "choose": lambda table, **labels: pr.choose(table, over=(0.1, 0.3), **TWO, **labels).models,
    "gate": lambda table, **labels: pl.DataFrame(
        [pr.gate(table, champion="a", challenger="b", measure="auc", margin=0.1, **TWO,
                 **labels).difference]
    ),
}  # fmt: skip
every_call = pytest.mark.parametrize("name", CALLS)


def labelled(positive, negative, lost=None):
    """The table with other labels, the first three of them `lost`."""
    words = pl.when("truth").then(pl.lit(positive)).otherwise(pl.lit(negative))
    if lost is not None:
        words = pl.when(pl.int_range(pl.len()) < 3).then(pl.lit(lost)).otherwise(words)
    return TABLE.with_columns(words.alias("truth"))


@every_call
@pytest.mark.parametrize("labels", [("1", "0"), ("true", "false"), (1, 0)], ids=str)
def test_clear_labels_are_taken_as_they_are(name, labels):
    assert_frame_equal(CALLS[name](labelled(*labels)), CALLS[name](TABLE))


@every_call
@pytest.mark.parametrize("labels", [("fraud", "ok"), ("ok", "fraud"), (1, 2), (1, -1)], ids=str)
def test_of_other_labels_the_positive_one_is_named(name, labels):
    table = labelled(*labels)
    with pytest.raises(InvalidPredictions) as caught:
        CALLS[name](table)
    for label in labels:
        assert repr(label) in caught.value.found
        assert f"positive={label!r}" not in caught.value.hint
    assert_frame_equal(CALLS[name](table, positive=labels[0]), CALLS[name](TABLE))


@every_call
@pytest.mark.parametrize("positive", [{}, {"positive": "yes"}], ids=["clear", "named"])
def test_a_text_of_a_missing_truth_is_missing(name, positive):
    words = ("yes", "no") if positive else ("1", "0")
    table = labelled(*words, lost="NA")
    with pytest.raises(InvalidPredictions, match=r"null truth.*: 'NA'"):
        CALLS[name](table, **positive)
    found = CALLS[name](table, **positive, nulls="drop")
    expected = CALLS[name](TABLE[3:])
    noteless = [column for column in expected.columns if column != "note"]
    assert_frame_equal(found.select(noteless), expected.select(noteless))


@every_call
def test_labels_that_may_be_misspelt_are_told(name):
    table = labelled("yes", "no", lost="Yes")
    said = "2 labels of the truth column 'truth' count as negative: 'Yes', 'no'."
    with pytest.warns(PolarocWarning, match=re.escape(said)):
        CALLS[name](table, positive="yes")
    said = "No row has the positive label 'sure'; the truth column 'truth' has the labels 'Yes', "
    with pytest.warns(PolarocWarning, match=re.escape(said)):
        CALLS[name](table, positive=["yes", "Yes", "sure"])
