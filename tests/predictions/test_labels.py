"""Which labels of the truth are positive, negative, missing or unclear."""

from datetime import date, time, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, PolarocWarning

# The curve of a positive, a negative, a positive and a negative, in order.
POINTS = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]
FUNCTIONS = {"curve": pr.curve, "evaluate": pr.evaluate, "check": pr.check}


def labelled(truth):
    return pl.DataFrame({"truth": truth, "score": [4, 3, 2, 1]})


def check_points(truth, **labels):
    for frame in (labelled(truth), labelled(truth).lazy()):
        found = pr.curve(frame, **labels).lazy().collect()
        assert found.select("tp", "fp").rows() == POINTS


CATS = ["cat", "dog", "cat", "dog"]


@pytest.mark.parametrize(
    ("truth", "positive"),
    [
        ([True, False, True, False], None), (pl.Series([1, 0, 1, 0], dtype=pl.UInt8), None),
        (pl.Series([1, 0, 1, 0], dtype=pl.Int128), None), ([1.0, 0.0, 1.0, -0.0], None),
        (pl.Series([1, 0, 1, 0], dtype=pl.Decimal(4, 1)), None), (["1", "0", "1", "0"], None),
        (["true", "False", "TRUE", "false"], None),
        (pl.Series(["1", "0", "1", "0"], dtype=pl.Categorical), None),
        (pl.Series(["true", "false"] * 2, dtype=pl.Enum(["false", "true"])), None),
        (CATS, "cat"), (pl.Series(CATS, dtype=pl.Categorical), "cat"),
        (pl.Series(CATS, dtype=pl.Enum(["dog", "cat"])), ["cat"]),
        (["cat", "dog", "fox", "dog"], ["cat", "fox"]), ([3, 1, 2, 1], (2, 3)),
        ([2, 1, 2, 1], 2), ([2, 1, 2, 1], np.int64(2)), ([-1, 1, -1, 1], -1),
        (pl.Series([2, 1, 2, 1], dtype=pl.UInt8), 2.0), ([2.0, 1.0, 2.0, 1.0], 2),
        ([0.5, 1.0, 2.0, 1.0], [0.5, 2]), ([0, 1, 0, 1], 0), ([True, False, True, False], True),
        ([False, True, False, True], False), (["0", "1", "0", "1"], "0"),
        (["NA", "no", "None", "no"], ["NA", "None"]), (["mild", "none", "mild", "none"], "mild"),
    ],
)  # fmt: skip
def test_labels_are_clear_or_the_positive_ones_are_named(truth, positive):
    check_points(truth, positive=positive)


@pytest.mark.parametrize("kind", [pl.Float32, pl.Float64, pl.Decimal(10, 2)], ids=str)
def test_a_label_of_one_tenth_is_that_of_any_precision(kind):
    words = pl.Series(["0.1", "0.29", "0.1", "0.29"])
    truth = words.cast(kind) if kind == pl.Decimal else words.cast(pl.Float64).cast(kind)
    check_points(truth, positive=0.1)
    with pytest.raises(InvalidPredictions, match=r"0\.2\b"):
        pr.curve(labelled(truth), positive=0.2)


@pytest.mark.parametrize(
    ("truth", "labels"),
    [
        ([1, 2, 1, 2], "1, 2"), ([0, 1, 2, 0], "0, 1, 2"), (["0", "1", "-", "NA"], "'-', '0', '1'"),
        (["no", "yes", "no", "yes"], "'no', 'yes'"), ([0.0, 1.0, 0.5, 1.0], "0.0, 0.5, 1.0"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", FUNCTIONS)
def test_unclear_labels_are_refused_and_named(name, truth, labels):
    with pytest.raises(InvalidPredictions) as caught:
        FUNCTIONS[name](labelled(truth))
    assert f"labels {labels})" in str(caught.value)
    # Which of two labels is positive only the user knows.
    assert "positive=" in str(caught.value)
    assert not any(f"positive={label}" in str(caught.value) for label in labels.split(", "))


BITS, ANIMALS = [1, 0, 1, 0], ["cat", "dog", "cat", "cow"]


@pytest.mark.parametrize(
    ("truth", "positive", "kind"),
    [
        (BITS, "1", InvalidArgument), (BITS, True, InvalidArgument),
        (BITS, [1, "0"], InvalidArgument), (BITS, [], InvalidArgument),
        ([*map(str, BITS)], 1, InvalidArgument),
        ([*map(bool, BITS)], 1, InvalidArgument), ([*map(bool, BITS)], "true", InvalidArgument),
        (BITS, 2, InvalidPredictions), (BITS, [2, 1.5], InvalidPredictions),
        (ANIMALS, "Cat", InvalidPredictions), (ANIMALS, ["emu", "gnu"], InvalidPredictions),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", FUNCTIONS)
def test_positive_labels_that_no_row_can_have_are_refused(name, truth, positive, kind):
    with pytest.raises(kind, match="positive"):
        FUNCTIONS[name](labelled(truth), positive=positive)


@pytest.mark.parametrize(
    ("truth", "positive", "words"),
    [
        (["yes", "no", "Yes", "NA"], "yes", "negative: 'Yes', 'no'"),
        (["cat", "dog", "fox", "cow"], ["cat", "fox"], "negative: 'cow', 'dog'"),
        ([1, 2, 3, 2], 1, "negative: 2, 3"),
        (["pos", "neg", "sure", "neg"], ["pos", "suer"], "'suer'.*'neg', 'pos', 'sure'"),
        ([2, 1, 2, 1], [2, 300], "300.*1, 2"),
    ],
)
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_labels_that_may_be_misspelt_are_named_in_a_warning(truth, positive, words):
    for frame in (labelled(truth), labelled(truth).lazy()):
        for name in ("evaluate", "check"):
            with pytest.warns(PolarocWarning, match=words) as caught:
                FUNCTIONS[name](frame, positive=positive, nulls="drop").lazy().collect()
            # Python shows it beside the line of the user.
            assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize(
    ("truth", "positive", "positives"),
    [
        (["no", "no"], "yes", 0), (["no", "no"], ["yes", "sure"], 0), (["no", "NA"], "yes", 0),
        (["yes", "yes"], "yes", 2), ([0, 1], 1, 1), (["yes", "no"], ["yes", "yes"], 1),
    ],
)  # fmt: skip
def test_two_labels_or_one_give_no_warning(truth, positive, positives):
    table = pl.DataFrame({"truth": truth, "score": [2, 1]})
    found = pr.check(table, positive=positive)
    assert found["positives"].item() == positives
    assert found["negatives"].item() == 2 - positives - found["missing"].item()


# --- missing labels -----------------------------------------------------------------------------

YES_NO = pl.DataFrame({"truth": ["yes", "no"] * 3, "score": [6.0, 5, 2, 4, 3, 1]})


@pytest.mark.parametrize("text", ["NA", "n/a", "<NA>", "NaN", "null", "None", "", "  ", " NA "])
@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_a_text_of_a_missing_label_is_no_negative(text, kind):
    lacking = pl.DataFrame({"truth": [text, text], "score": [5.5, 3.5]})
    table = pl.concat([YES_NO, lacking]).with_columns(pl.col("truth").cast(kind))
    named = {"positive": "yes"}
    assert FUNCTIONS["check"](table, **named)["missing"].item() == 2
    for name in ("curve", "evaluate"):
        with pytest.raises(InvalidPredictions, match="2 null truths") as caught:
            FUNCTIONS[name](table, **named)
        assert repr(text) in str(caught.value)
    for frame in (table, table.lazy()):
        found = FUNCTIONS["curve"](frame, **named, nulls="drop").lazy().collect()
        assert_frame_equal(found, FUNCTIONS["curve"](YES_NO, **named))
        measures = pr.evaluate(frame, **named, nulls="drop", measure="auc")
        measures = measures.lazy().collect()
        # 3 + 1 + 1 of 9 pairs of a positive and a negative are in order.
        assert measures["estimate"].item() == pytest.approx(5 / 9)
        assert "dropped 2 null truths" in measures["note"].item()
    zero_one = table.with_columns(pl.col("truth").cast(pl.String).replace({"yes": "1", "no": "0"}))
    assert pr.check(zero_one)["missing"].item() == 2
    # A plan of a curve cannot raise.
    curve = FUNCTIONS["curve"](table.lazy(), **named).collect()
    assert curve.select("positives", "negatives", "tpr", "fpr").null_count().row(0) == (
        (curve.height,) * 4
    )


MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null"}
WORDS = ["yes", "Yes", " yes", "no", "NA", " na", "nAn ", "n/A", "None", "none", "NuLL", "", "\t"]


@given(st.lists(st.sampled_from([*WORDS, None])), st.sampled_from(["yes", "NA", "None"]))
@settings(deadline=None, max_examples=50)
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_labels_of_tables_in_memory_and_of_plans_are_read_alike(words, positive):
    words = [positive, *words]
    positives = words.count(positive)
    others = [word for word in words if word != positive]
    missing = sum(
        word is None or word.strip().lower() in MISSING or word.strip() == "None" for word in others
    )
    table = pl.DataFrame({"truth": words, "score": 0.5})
    for frame in (table, table.lazy()):
        report = pr.check(frame, positive=positive)
        found = report.select("positives", "negatives", "missing").row(0)
        assert found == (positives, len(others) - missing, missing)


@pytest.mark.parametrize(
    "value", [b"1", date(2020, 1, 1), timedelta(1), time(1), [1], {"a": 1}], ids=str
)
def test_a_truth_of_a_type_without_labels_is_refused(value):
    table = pl.DataFrame({"truth": pl.Series([value, value]), "score": [1, 2]})
    for function in FUNCTIONS.values():
        for frame in (table, table.lazy()):
            with pytest.raises(InvalidPredictions, match="truth"):
                function(frame)
