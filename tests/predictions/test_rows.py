"""Rows that cannot be ranked, and how often a row counts: scores, weights and counts."""

from datetime import date
from functools import partial
from math import inf, nan

import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions

NAMES = {"truth": "truth", "score": "score"}
SOUND = pl.DataFrame({
    "k": ["a"] * 4 + ["b"] * 4, "truth": [1, 0, 1, 0] * 2, "score": [4.0, 3.0, 2.0, 1.0] * 2,
    "weight": [1.0] * 8,
})  # fmt: skip
ROLES = NAMES | {"by": "k", "weight": "weight"}


def spoiled(column, values, dtype=None):
    """The sound table with other last values of key b."""
    kept = SOUND[column].to_list()[: 8 - len(values)]
    dtype = dtype or SOUND.schema[column]
    return SOUND.with_columns(pl.Series(column, [*kept, *values], dtype=dtype, strict=False))


# A table, the rows that have a value missing, and the words for it.
MISSING = [
    (spoiled("score", [None, None, None]), [5, 6, 7], "3 null scores"),
    (spoiled("score", [nan, 1.0]), [6], "1 NaN score"),
    (spoiled("score", [nan, None]), [6, 7], "1 null score, 1 NaN score"),
    (spoiled("truth", [None]), [7], "1 null truth"),
    (spoiled("truth", [1.0, nan], pl.Float64), [7], "1 null truth"),
    (spoiled("truth", ["None", None], pl.Categorical), [6, 7], "2 null truths"),
    (spoiled("weight", [None, 1]), [6], "1 null weight"),
]
WRONG = [
    (spoiled("truth", [-1, 7]), "2 unclear truth labels"),
    (spoiled("truth", [0.5], pl.Float64), "1 unclear truth label"),
    (spoiled("weight", [-1.0]), "1 invalid weight"),
    (spoiled("weight", [-1e-300, nan, inf]), "3 invalid weights"),
    (spoiled("weight", [1e141]), "1 invalid weight"),
]
every_case = pytest.mark.parametrize(
    ("table", "words"), [(table, words) for table, _, words in MISSING] + WRONG
)
missing = pytest.mark.parametrize(("table", "rows", "words"), MISSING)
wrong = pytest.mark.parametrize(("table", "words"), WRONG)


@every_case
@pytest.mark.parametrize("function", [pr.curve, pr.evaluate])
def test_rows_that_cannot_be_ranked_are_refused(function, table, words):
    with pytest.raises(InvalidPredictions) as caught:
        function(table, **ROLES)
    assert words in str(caught.value)
    assert "in 1 key(s): k='b'" in str(caught.value)
    assert "Hint: " in str(caught.value)


@every_case
def test_of_a_lazy_curve_totals_and_measures_of_that_key_are_null(table, words):
    curve = pr.curve(table.lazy(), **ROLES)
    totals = curve.select("k", "positives", "negatives", "tpr", "fpr").collect()
    of_b = totals.filter(k="b").drop("k")
    assert of_b.null_count().row(0) == (of_b.height,) * 4
    assert totals.filter(k="a").select("positives", "negatives").unique().rows() == [(2, 2)]
    # One of four pairs is in the wrong order.
    areas = pr.auc(curve).collect().sort("k")
    assert areas["estimate"].to_list() == [0.75, None]
    assert areas["note"][1]


@every_case
@pytest.mark.parametrize("by", ["k", ()], ids=["by key", "one key"])
def test_a_lazy_evaluation_has_no_number_of_such_rows(table, words, by):
    asked = ROLES | {"by": by, "over": (0.1, 0.2)}
    try:
        found = pr.evaluate(table.lazy(), **asked).collect()
    except InvalidPredictions as error:
        # One step of the plan computes all, and can raise when it is collected.
        message = str(error)
    else:
        of_b = found.filter(pl.lit(True) if by == () else pl.col("k") == "b")
        columns = of_b.select("estimate", "positives", "negatives")
        assert columns.null_count().row(0) == (of_b.height,) * 3
        message = " ".join(of_b["note"])
    assert words in message


def test_the_first_keys_are_named():
    table = pl.DataFrame({"model": "m", "fold": [5, 4, 3, 2, 1], "truth": 1, "score": [None] * 5})
    with pytest.raises(InvalidPredictions, match=r"5 null .* in 5 key.*fold=1;.*fold=2;.*2 more"):
        pr.curve(table)


@missing
@pytest.mark.parametrize("lazy", [False, True])
def test_missing_values_are_dropped_if_asked_and_noted(table, rows, words, lazy):
    frame = table.lazy() if lazy else table
    found = pr.evaluate(frame, **ROLES, nulls="drop").lazy().collect()
    notes = found.filter(k="b")["note"]
    assert all("dropped" in note and words in note for note in notes)
    assert not found.filter(k="a")["note"].str.contains("dropped").any()
    kept = pr.evaluate(SOUND.filter(~pl.int_range(8).is_in(rows)), **ROLES)
    assert_same_numbers(found.drop("note"), kept.drop("note"))


@missing
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        partial(pr.operating_points, rule="threshold", target=2.5),
        partial(pr.expected_cost, over=(0.1, 0.3)),
        partial(pr.decision_curve, thresholds=[0.5]),
    ],
    ids=["operating_points", "expected_cost", "decision_curve"],
)
def test_functions_of_curves_say_how_many_rows_were_dropped(table, rows, words, function, lazy):
    table = table.with_columns(pl.col("score") / 10)
    found = function(table.lazy() if lazy else table, **ROLES, nulls="drop").lazy().collect()
    # Without negatives a decision curve has no row.
    assert found["k"].to_list() == ["a", "b"] or words == "3 null scores"
    says_so = pl.col("note").str.contains(f"dropped {words}").fill_null(False)
    assert found.filter(says_so).equals(found.filter(k="b"))


@missing
@pytest.mark.parametrize("lazy", [False, True])
def test_check_counts_missing_values(table, rows, words, lazy):
    found = pr.check(table.lazy() if lazy else table, **ROLES)
    assert found.select("k", "rows", "missing").rows() == [("a", 4, 0), ("b", 4, len(rows))]
    assert words in found["note"][1]
    columns = ["k", "positives", "negatives", "prior", "scores", "lowest", "highest"]
    kept = pr.check(SOUND.filter(~pl.int_range(8).is_in(rows)), **ROLES)
    assert_frame_equal(found.select(columns), kept.select(columns))


@wrong
def test_wrong_values_are_never_dropped(table, words):
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidPredictions, match=words):
            pr.evaluate(frame, **ROLES, nulls="drop").lazy().collect()
        with pytest.raises(InvalidPredictions, match=rf"(?s){words}.*k='b'"):
            pr.check(frame, **ROLES)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_key_all_of_whose_rows_are_dropped_keeps_its_place(lazy):
    table = spoiled("score", [None] * 4)
    found = pr.evaluate(table.lazy() if lazy else table, **ROLES, nulls="drop")
    of_b = found.lazy().collect().filter(k="b")
    assert of_b["estimate"].null_count() == of_b.height > 0
    assert set(of_b["note"]) == {"dropped 4 null scores; no positives, no negatives"}
    assert of_b.select("positives", "negatives").unique().row(0) == (0, 0)


@pytest.mark.parametrize("role", ["score", "weight", "count"])
@pytest.mark.parametrize("value", [b"1", True, date(2024, 1, 1), [1], {"a": 1}, "1"], ids=str)
def test_scores_weights_and_counts_are_numbers(role, value):
    table = SOUND.with_columns(pl.Series(role, [value] * 8))
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidPredictions, match=f"{role} column '{role}'"):
            pr.evaluate(frame, **NAMES | {role: role})


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (["inf", None, "oops", "later"], "'oops' in row 3"),
        # A missing value is likely not what is wrong.
        (["NA", "0.5", "later", ""], "'later' in row 3"),
        (["0.9", "0,1", "none"], "'0,1' in row 2"),
        (["0.9", "0.1", "0.2", "0.3"], r"is String, allowed are numbers\.\n"),
        (["0.9", "", "0.2"], r"is String, allowed are numbers\.\n"), ([], "String"),
    ],
)  # fmt: skip
def test_of_scores_that_are_text_the_first_that_is_no_number_is_named(scores, words):
    table = SOUND[: len(scores)].with_columns(score=pl.Series(scores, dtype=pl.String))
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidPredictions, match=words):
            pr.evaluate(frame, **NAMES)


# --- scores ------------------------------------------------------------------------------------


def test_infinite_scores_are_ordered_and_zeros_are_one_score():
    table = pl.DataFrame({"truth": [1, 0, 1, 0, 1, 0], "score": [inf, 2.0, 0.0, -0.0, -1.0, -inf]})
    curve = pr.curve(table, **NAMES)
    assert curve.select("threshold", "tp", "fp").rows() == [
        (None, 0, 0), (inf, 1, 0), (2, 1, 1), (0, 2, 2), (-1, 3, 2), (-inf, 3, 3)
    ]  # fmt: skip
    report = pr.check(table, **NAMES)
    assert report.select("scores", "lowest", "highest").row(0) == (5, -inf, inf)


@pytest.mark.parametrize("scores", [[2**53, 2**53 - 1], [2**62 + 2**10, 0], [5, -(2**63)]])
def test_large_whole_scores_that_a_float_holds_are_allowed(scores):
    table = pl.DataFrame({"truth": [1, 0], "score": pl.Series(scores, dtype=pl.Int64)})
    assert pr.curve(table, **NAMES)["threshold"].to_list() == [None, *scores]


# --- weights and counts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "words"),
    [(0.5, "1 invalid count"), (-1, "1 invalid count"), (2**53 + 2, "1 invalid count"),
     (None, "1 null count")],
)  # fmt: skip
def test_a_count_is_a_whole_number(last, words):
    table = SOUND.with_columns(n=pl.Series([1] * 7 + [last], strict=False))
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidPredictions, match=words):
            pr.evaluate(frame, **NAMES, count="n").lazy().collect()
    if last is None:
        found = pr.evaluate(table, **NAMES, count="n", nulls="drop", measure="auc")
        assert found.select("positives", "negatives").row(0) == (4, 3)
        # A row without a count is one row.
        assert pr.check(table, **NAMES, count="n").select("rows", "missing").row(0) == (8, 1)


def test_weights_may_be_zero():
    zero = pr.evaluate(SOUND.with_columns(weight=pl.lit(0)), **ROLES)
    assert zero["estimate"].null_count() == zero.height
    assert zero["note"].str.contains("no positives, no negatives").all()


@pytest.mark.parametrize("size", [1e-150, 1e140])
def test_small_and_large_weights_are_as_ones(size):
    found, ones = (
        pr.evaluate(SOUND.with_columns(weight=pl.lit(one)), **ROLES, intervals=True)
        for one in (size, 1.0)
    )
    columns = "measure", "prior", "estimate", "lower", "upper", "std_error", "note"
    assert_frame_equal(found.select(columns), ones.select(columns))
