from datetime import date
from math import inf, nan

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import (
    InvalidArgument,
    InvalidPredictions,
    InvalidTable,
    PolarocError,
    PolarocWarning,
)

NAMES = {"truth": "truth", "score": "score"}
COUNTS = dict.fromkeys(("rows", "missing", "positives", "negatives"), pl.Int64)
REPORT = COUNTS | {
    "prior": pl.Float64, "scores": pl.Int64, "lowest": pl.Float64, "highest": pl.Float64,
    "note": pl.String,
}  # fmt: skip

SOUND = pl.DataFrame(
    {
        "k": ["a"] * 4 + ["b"] * 4,
        "truth": [1, 0, 1, 0] * 2,
        "score": [4.0, 3.0, 2.0, 1.0] * 2,
        "weight": [1.0] * 8,
    }
)


def spoiled(column: str, values: list, dtype: pl.DataType | None = None) -> pl.DataFrame:
    """The sound table, with the last values of key b replaced."""
    kept = SOUND[column].to_list()[: 8 - len(values)]
    dtype = dtype or SOUND.schema[column]
    return SOUND.with_columns(pl.Series(column, [*kept, *values], dtype=dtype, strict=False))


EAGER = {
    "curve": lambda table, **kwargs: pr.curve(table, **NAMES, **kwargs),
    "evaluate": lambda table, **kwargs: pr.evaluate(table, **NAMES, **kwargs),
    "check": lambda table, **kwargs: pr.check(table, **NAMES, **kwargs),
}

MISSING = [
    (spoiled("score", [None]), "1 null score"),
    (spoiled("score", [None, None, None]), "3 null scores"),
    (spoiled("score", [nan, 0.5]), "1 NaN score"),
    (spoiled("score", [nan, nan]), "2 NaN scores"),
    (spoiled("score", [nan, None]), "1 null score, 1 NaN score"),
    (spoiled("truth", [None]), "1 null truth"),
    (spoiled("truth", [1.0, nan], pl.Float64), "1 null truth"),
    (spoiled("truth", ["0", None], pl.String), "1 null truth"),
    (spoiled("truth", ["NA", "n/a"], pl.String), "2 null truths"),
    (spoiled("truth", ["nan", "", " "], pl.String), "3 null truths"),
    (spoiled("truth", ["None", None], pl.Categorical), "2 null truths"),
    (spoiled("weight", [None, 1]), "1 null weight"),
    (spoiled("score", [nan]).with_columns(SOUND["truth"].replace(0, None)), "null truth"),
]
IS_NUMBER = [
    pl.col(name).cast(pl.String).cast(pl.Float64, strict=False).fill_nan(None).is_not_null()
    for name in ("truth", "score", "weight")
]
WRONG = [
    (spoiled("truth", [2]), "1 unclear truth label"),
    (spoiled("truth", [-1, 7]), "2 unclear truth labels"),
    (spoiled("truth", [0.5], pl.Float64), "1 unclear truth label"),
    (spoiled("truth", ["yes"], pl.String), "1 unclear truth label"),
    (spoiled("weight", [-1.0]), "1 invalid weight"),
    (spoiled("weight", [-1e-300, nan, inf]), "3 invalid weights"),
    (spoiled("score", [2**53 + 1], pl.Int64), "1 inexact score"),
    (spoiled("score", [2**63 - 1, 2**53 + 3], pl.Int64), "2 inexact scores"),
    (spoiled("score", [2**64 - 1], pl.UInt64), "1 inexact score"),
]
ANY = MISSING[:-1] + WRONG


@pytest.mark.parametrize("name", sorted(set(EAGER) - {"check"}))
@pytest.mark.parametrize(("table", "said"), ANY)
def test_rows_that_cannot_be_ranked_are_an_error(name, table, said):
    with pytest.raises(InvalidPredictions) as caught:
        EAGER[name](table, by="k", weight="weight")
    text = str(caught.value)
    assert said in text
    assert "in 1 key(s): k='b'" in text
    assert "\nHint: " in text


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("table", "said"), WRONG)
def test_check_refuses_values_that_are_wrong(table, said, lazy):
    with pytest.raises(InvalidPredictions, match=rf"(?s){said}.* in 1 key\(s\): k='b'"):
        EAGER["check"](table.lazy() if lazy else table, by="k", weight="weight")


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("table", "said"), MISSING)
def test_check_counts_missing_values_and_audits_the_other_rows(table, said, lazy):
    found = EAGER["check"](table.lazy() if lazy else table, by="k", weight="weight")
    whole = table.filter(pl.all_horizontal(IS_NUMBER))
    assert found["missing"].sum() == table.height - whole.height > 0
    assert found["rows"].sum() == table.height
    assert any(said in note for note in found["note"].drop_nulls())
    kept = EAGER["check"](whole, by="k", weight="weight")
    columns = ["k", "positives", "negatives", "prior", "scores", "lowest", "highest"]
    assert_frame_equal(found.select(columns), kept.select(columns))
    assert (found["rows"] - found["missing"]).equals(kept["rows"], check_names=False)


def test_the_first_keys_are_named():
    keys = pl.DataFrame({"model": ["m"] * 5, "fold": [5, 4, 3, 2, 1]})
    table = keys.with_columns(truth=pl.lit(1), score=pl.lit(None, pl.Float64))
    with pytest.raises(InvalidPredictions) as caught:
        EAGER["curve"](table)
    text = str(caught.value)
    assert text.startswith("5 null scores in 5 key(s): model='m', fold=1; model='m', fold=2; ")
    assert "and 2 more." in text


@pytest.mark.parametrize("by", ["k", ()], ids=["by key", "without keys"])
@pytest.mark.parametrize(("table", "said"), ANY)
def test_a_plan_of_measures_raises_the_same_error_when_it_is_collected(table, said, by):
    asked = {"by": by, "weight": "weight", "over": (0.1, 0.2)}
    plan = EAGER["evaluate"](table.lazy(), **asked)
    with pytest.raises(InvalidPredictions, match=said) as of_plan:
        plan.collect()
    with pytest.raises(InvalidPredictions) as of_frame:
        EAGER["evaluate"](table, **asked)
    assert str(of_plan.value) == str(of_frame.value)


def test_a_null_key_is_a_key_like_others():
    table = spoiled("score", [None]).with_columns(pl.col("k").replace("b", None))
    with pytest.raises(InvalidPredictions, match=r"1 null score in 1 key\(s\): k=None"):
        EAGER["curve"](table, by="k")
    found = EAGER["evaluate"](table.lazy(), by="k", measures="auc", nulls="drop").collect()
    assert found.sort("k").select("k", "positives", "note").rows() == [
        (None, 2, "dropped 1 null score"),
        ("a", 2, None),
    ]


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("table", "said"), MISSING)
def test_missing_values_may_be_dropped(table, said, lazy):
    how = {"by": "k", "weight": "weight", "nulls": "drop"}
    found = EAGER["evaluate"](table.lazy() if lazy else table, **how).lazy().collect()
    notes = found.filter(k="b")["note"]
    assert all(note.startswith("dropped ") and said in note for note in notes)
    kept = EAGER["evaluate"](table.filter(pl.all_horizontal(IS_NUMBER)), by="k", weight="weight")
    same = ["k", "measure", "prior", "estimate", "positives", "negatives"]
    b, kept_b = found.filter(k="b"), kept.filter(k="b")
    assert b.select(same).rows() == kept_b.select(same).rows() or kept_b["estimate"].to_list() == (
        pytest.approx(b["estimate"].to_list(), rel=1e-12)
    )


@pytest.mark.parametrize(("table", "said"), WRONG)
def test_wrong_values_are_never_dropped(table, said):
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidPredictions, match=said):
            EAGER["evaluate"](frame, weight="weight", nulls="drop").lazy().collect()


@pytest.mark.parametrize("lazy", [False, True])
def test_a_key_all_of_whose_rows_are_dropped_keeps_its_place(lazy):
    table = spoiled("score", [None] * 4)
    found = EAGER["evaluate"](table.lazy() if lazy else table, by="k", nulls="drop")
    of_b = found.lazy().collect().filter(k="b")
    assert of_b["estimate"].null_count() == of_b.height == 5
    assert set(of_b["note"]) == {"dropped 4 null scores; no positives, no negatives"}
    assert of_b.select("positives", "negatives").unique().row(0) == (0, 0)


def test_nulls_is_one_of_two_words():
    with pytest.raises(InvalidArgument, match=r"(?s)nulls is 'keep', .*\nHint: "):
        EAGER["curve"](SOUND, nulls="keep")


# --- labels ------------------------------------------------------------------------------------

POINTS = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]


@pytest.mark.parametrize(
    "truth",
    [
        [True, False, True, False],
        [1, 0, 1, 0],
        pl.Series([1, 0, 1, 0], dtype=pl.UInt8),
        pl.Series([1, 0, 1, 0], dtype=pl.Int128),
        pl.Series([1, 0, 1, 0], dtype=pl.Decimal(4, 1)),
        [1.0, 0.0, 1.0, -0.0],
        pl.Series([1, 0, 1, 0], dtype=pl.Float32),
        ["1", "0", "1", "0"],
        ["true", "False", "TRUE", "false"],
        ["true", "0", "1", "False"],
        pl.Series(["1", "0", "1", "0"], dtype=pl.Categorical),
        pl.Series(["true", "false", "true", "false"], dtype=pl.Enum(["false", "true"])),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_labels_that_are_clear(truth, lazy):
    table = pl.DataFrame({"truth": truth, "score": [4, 3, 2, 1]})
    found = EAGER["curve"](table.lazy() if lazy else table).lazy().collect()
    assert found.select("tp", "fp").rows() == POINTS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "positive"),
    [
        (["cat", "dog", "cat", "dog"], "cat"),
        (["cat", "dog", "fox", "dog"], ["cat", "fox"]),
        (["cat", "dog", "fox", "dog"], ("fox", "cat")),
        (pl.Series(["cat", "dog", "cat", "dog"], dtype=pl.Categorical), "cat"),
        (pl.Series(["cat", "dog", "cat", "dog"], dtype=pl.Enum(["dog", "cat"])), ["cat"]),
        ([2, 1, 2, 1], 2),
        ([-1, 1, -1, 1], -1),
        ([3, 1, 2, 1], [2, 3]),
        ([2, 1, 2, 1], 2.0),
        (pl.Series([2, 1, 2, 1], dtype=pl.UInt8), 2),
        (pl.Series([2, 1, 2, 1], dtype=pl.Int8), [2]),
        ([2.0, 1.0, 2.0, 1.0], 2.0),
        ([2.0, 1.0, 2.0, 1.0], 2),
        ([1.0, 0.0, 1.0, 0.0], 1),
        ([0.5, 1.0, 2.0, 1.0], [0.5, 2]),
        ([1, 0, 1, 0], 1),
        ([0, 1, 0, 1], 0),
        ([True, False, True, False], True),
        ([False, True, False, True], False),
        (["0", "1", "0", "1"], "0"),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_positive_names_the_positive_labels(truth, positive, lazy):
    table = pl.DataFrame({"truth": truth, "score": [4, 3, 2, 1]})
    table = table.lazy() if lazy else table
    found = EAGER["curve"](table, positive=positive).lazy().collect()
    assert found.select("tp", "fp").rows() == POINTS


@pytest.mark.parametrize(
    ("truth", "labels"),
    [
        ([1, 2, 1, 2], "1, 2"),
        ([-1, 1, -1, 1], "-1, 1"),
        ([0, 1, 2, 0], "0, 1, 2"),
        (["no", "yes", "no", "yes"], "'no', 'yes'"),
        (["0", "1", "-", "NA"], "'-', '0', '1'"),
        (list("abcd"), "'a', 'b', 'c', 'd'"),
        ([0.0, 1.0, 0.5, 1.0], "0.0, 0.5, 1.0"),
    ],
)
def test_labels_that_are_not_clear_are_named(truth, labels):
    table = pl.DataFrame({"truth": truth, "score": [4, 3, 2, 1]})
    for name in EAGER:
        with pytest.raises(InvalidPredictions) as caught:
            EAGER[name](table)
        assert f"(the truth column 'truth' has the labels {labels})" in str(caught.value)
        assert "\nHint: name the positive label(s), positive=...; without" in str(caught.value)


@pytest.mark.parametrize(
    ("truth", "positive", "kind"),
    [
        ([1, 0, 1, 0], "1", InvalidArgument),
        ([1, 0, 1, 0], True, InvalidArgument),
        ([1, 0, 1, 0], [1, "0"], InvalidArgument),
        ([1, 0, 1, 0], [], InvalidArgument),
        ([1.0, 0.0, 1.0, 0.0], "1", InvalidArgument),
        (["1", "0", "1", "0"], 1, InvalidArgument),
        (["1", "0", "1", "0"], ["1", 0], InvalidArgument),
        ([True, False, True, False], 1, InvalidArgument),
        ([True, False, True, False], "true", InvalidArgument),
        ([1, 0, 1, 0], range(10**6), InvalidArgument),
        ([1, 0, 1, 0], 2, InvalidPredictions),
        ([1, 0, 1, 0], [2, 1.5], InvalidPredictions),
        (["cat", "dog", "cat", "cow"], "Cat", InvalidPredictions),
        (["cat", "dog", "cat", "cow"], ["emu", "gnu"], InvalidPredictions),
    ],
)
def test_positive_labels_that_cannot_be_are_refused(truth, positive, kind):
    table = pl.DataFrame({"truth": truth, "score": [4, 3, 2, 1]})
    for name in EAGER:
        with pytest.raises(kind, match=r"(?s)positive .*\nHint: "):
            EAGER[name](table, positive=positive)


MISSING_TEXTS = ("NA", "N/A", "n/a", "na", "NaN", "nan", "<NA>", "#N/A", "NULL", "null", "None")
YES_NO = pl.DataFrame({"truth": ["yes", "no"] * 3, "score": [6.0, 5, 2, 4, 3, 1]})


@pytest.mark.parametrize(
    ("text", "dtype"),
    [*((text, pl.String) for text in (*MISSING_TEXTS, "", "  ", " NA ")), ("NA", pl.Categorical)],
)
def test_a_text_of_a_missing_truth_is_no_negative(text, dtype):
    lacking = pl.DataFrame({"truth": [text, text], "score": [5.5, 3.5]})
    table = pl.concat([YES_NO, lacking]).with_columns(pl.col("truth").cast(dtype))
    for function in EAGER.values():
        expected = function(YES_NO, positive="yes").lazy().collect()
        if function is EAGER["check"]:
            assert function(table, positive="yes")["missing"].item() == 2
            continue
        with pytest.raises(InvalidPredictions) as caught:
            function(table, positive="yes")
        said = f"2 null truths (texts of missing values in the truth column 'truth': {text!r})"
        assert said in str(caught.value)
        for frame in (table, table.lazy()):
            found = function(frame, positive="yes", nulls="drop").lazy().collect()
            assert_frame_equal(
                found.drop("note", strict=False), expected.drop("note", strict=False)
            )
    measures = EAGER["evaluate"](table, positive="yes", nulls="drop", measures="auc")
    # 3 + 1 + 1 of 9 pairs of a positive and a negative are in order.
    assert measures["estimate"].item() == 5 / 9
    assert "dropped 2 null truths" in measures["note"].item()
    # A plan cannot raise.
    curve = EAGER["curve"](table.lazy(), positive="yes").collect()
    assert curve.select(pl.col("positives", "negatives", "tpr", "fpr").null_count()).row(0) == (
        (curve.height,) * 4
    )


def test_a_text_of_a_missing_truth_that_is_named_is_a_label():
    table = pl.DataFrame({"truth": ["NA", "no", "None", "no"], "score": [4, 3, 2, 1]})
    found = EAGER["curve"](table, positive=["NA", "None"])
    assert found.select("tp", "fp").rows() == POINTS
    none = table.with_columns(pl.col("truth").replace({"NA": "mild", "None": "mild", "no": "none"}))
    assert EAGER["curve"](none, positive="mild").select("tp", "fp").rows() == POINTS


def test_labels_0_and_1_and_a_missing_one_need_no_positive():
    table = pl.DataFrame({"truth": ["1", "0", "NA", "1", "0"], "score": [5, 4, 3, 2, 1]})
    with pytest.raises(InvalidPredictions, match=r"1 null truth(.|\n)*Hint: drop such rows"):
        EAGER["curve"](table)
    assert EAGER["curve"](table, nulls="drop").select("tp", "fp").rows() == POINTS


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("truth", "positive", "said"),
    [
        (["yes", "no", "Yes", "NA"], "yes",
         "2 labels of the truth column 'truth' count as negative: 'Yes', 'no'."),
        (["cat", "dog", "fox", "cow"], ["cat", "fox"], "2 labels of .*: 'cow', 'dog'."),
        ([1, 2, 3, 2], 1, "2 labels of .*: 2, 3."),
        ([1.0, nan, 3.0, 2.0], 1, "2 labels of .*: 2.0, 3.0."),
        (["pos", "neg", "sure", "neg"], ["pos", "suer"],
         "No row has the positive label 'suer'; the truth column 'truth' has the labels 'neg', "
         "'pos', 'sure'."),
        ([2, 1, 2, 1], [2, 300], "No row has the positive label 300; .* the labels 1, 2."),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_labels_that_may_be_misspelt_are_told(truth, positive, said, lazy):
    table = pl.DataFrame({"truth": truth, "score": [4, 3, 2, 1]})
    frame = table.lazy() if lazy else table
    for name in ("evaluate", "check"):
        with pytest.warns(PolarocWarning, match=said) as caught:
            EAGER[name](frame, positive=positive, nulls="drop").lazy().collect()
        # It is shown beside the line of the user.
        assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize(
    ("truth", "positive"),
    [(["no", "no"], "yes"), (["no", "no"], ["yes", "sure"]), (["no", "NA"], "yes"),
     (["yes", "yes"], "yes"), ([0, 1], 1), (["yes", "no"], ["yes", "yes"])],
)  # fmt: skip
def test_one_class_and_one_other_label_are_as_they_should_be(truth, positive):
    table = pl.DataFrame({"truth": truth, "score": [2, 1]})
    EAGER["evaluate"](table, positive=positive, nulls="drop")


def test_a_single_label_may_be_the_negative_one():
    table = pl.DataFrame({"truth": ["dog", "dog"], "score": [4, 3]})
    assert EAGER["curve"](table, positive="cat")["fp"].to_list() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [pl.Date, pl.List(pl.Int64), pl.Binary])
def test_truth_of_a_type_without_labels_is_refused(dtype):
    truth = pl.Series("truth", [None, None], dtype=dtype)
    table = pl.DataFrame([truth, pl.Series("score", [1.0, 2.0])])
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidPredictions, match=r"(?s)the truth column 'truth' is .*\nHint: "):
            EAGER["curve"](frame)


@pytest.mark.parametrize("column", ["truth", "score", "weight"])
def test_a_column_of_nulls_only_is_missing(column):
    table = SOUND.with_columns(pl.lit(None).alias(column))
    with pytest.raises(InvalidPredictions, match=f"8 null {column}"):
        EAGER["curve"](table, weight="weight")
    with pytest.raises(InvalidPredictions, match=f"8 null {column}"):
        EAGER["evaluate"](table.lazy(), weight="weight").collect()
    dropped = EAGER["evaluate"](table, weight="weight", nulls="drop")
    assert dropped["note"][0].startswith(f"dropped 8 null {column}")


@pytest.mark.parametrize("column", ["score", "weight"])
@pytest.mark.parametrize("values", ["text", True, date(2024, 1, 1)])
@pytest.mark.parametrize("lazy", [False, True])
def test_numbers_must_be_numbers(column, values, lazy):
    table = SOUND.with_columns(pl.lit(values).alias(column))
    with pytest.raises(InvalidPredictions, match=rf"(?s){column} column '{column}' is .*\nHint: "):
        EAGER["curve"](table.lazy() if lazy else table, weight="weight")


@pytest.mark.parametrize(
    "scores", [[2**53, 2**53 - 1], [2**60, -(2**53)], [2**62 + 2**10, 0], [5, -(2**63)]]
)
def test_large_whole_scores_that_a_float_holds_are_allowed(scores):
    table = pl.DataFrame({"truth": [1, 0], "score": pl.Series(scores, dtype=pl.Int64)})
    assert EAGER["curve"](table)["threshold"].to_list() == [None, *scores]


def test_weights_whose_total_is_infinite_are_refused():
    table = SOUND.with_columns(weight=pl.lit(1e308))
    with pytest.raises(InvalidPredictions, match=r"(?s)weight.*\nHint: "):
        EAGER["evaluate"](table, weight="weight")


# --- columns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", ["curve", "evaluate", "check"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"truth": "label"}, "no column 'label'; the table has 'k', 'truth', 'score', 'weight'"),
        ({"score": "p"}, "no column 'p'"),
        ({"weight": "w"}, "no column 'w'"),
        ({"by": "model"}, "no column 'model'"),
        ({"by": ["k", "fold"]}, "no column 'fold'"),
        ({"by": ["k", "k"]}, "'k'"),
        *(
            ({"by": name}, f"apart is '{name}', reserved")
            for name in (
                "threshold", "pos", "neg", "tp", "fp", "positives", "negatives", "tpr", "fpr",
                "prior", "skew", "precision", "measure", "estimate", "lower", "upper",
                "std_error", "note", "__polaroc_truth",
            )
        ),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_are_refused(name, arguments, said, lazy):
    function = {"curve": pr.curve, "evaluate": pr.evaluate, "check": pr.check}[name]
    table = SOUND
    if "reserved" in said:
        table = SOUND.with_columns(pl.col("k").alias(arguments["by"]))
    with pytest.raises(InvalidArgument) as caught:
        function(table.lazy() if lazy else table, **(NAMES | arguments))
    assert said in str(caught.value)
    assert "\nHint: " in str(caught.value)


@pytest.mark.parametrize("name", EAGER)
@pytest.mark.parametrize(
    "frame", [SOUND.to_dicts, SOUND.to_numpy, lambda: None, lambda: SOUND["score"]]
)
def test_what_is_no_table_is_refused(name, frame):
    with pytest.raises(
        InvalidTable,
        match=r"(?s)allowed are Polars, pandas.*a mapping",
    ):
        EAGER[name](frame())


def test_errors_are_value_errors_of_one_kind():
    for kind in (InvalidArgument, InvalidPredictions, InvalidTable):
        assert issubclass(kind, PolarocError)
        assert issubclass(kind, ValueError)


# --- check -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lazy", [False, True])
def test_check_reports_what_each_key_holds(lazy):
    table = pl.DataFrame(
        {
            "k": ["b", "a", "b", "b", "c", "c", "a", None],
            "truth": [1, 1, 0, 0, 0, 0, 1, 1],
            "score": [-0.0, inf, 0.0, 3.0, 2.0, 2.0, -inf, 1.0],
        }
    )
    report = EAGER["check"](table.lazy() if lazy else table, by="k")
    assert isinstance(report, pl.DataFrame)
    assert report.schema == {"k": pl.String, **REPORT}
    by_key = {row[0]: row[1:] for row in report.rows()}
    assert by_key == {
        "a": (2, 0, 2, 0, 1.0, 2, -inf, inf, "no negatives"),
        "b": (3, 0, 1, 2, 1 / 3, 2, 0.0, 3.0, None),
        "c": (2, 0, 0, 2, 0.0, 1, 2.0, 2.0, "no positives; constant score"),
        None: (1, 0, 1, 0, 1.0, 1, 1.0, 1.0, "no negatives; constant score"),
    }


def test_check_without_keys_has_one_row():
    report = EAGER["check"](pr.datasets.twenty_scores())
    assert report.schema == REPORT
    assert report.select("rows", "positives", "negatives", "prior").rows() == [(20, 10, 10, 0.5)]


def test_check_counts_weights():
    table = SOUND.with_columns(weight=pl.Series([0.5, 2, 0.5, 2, 0, 1, 0, 1]))
    report = EAGER["check"](table, by="k", weight="weight")
    assert report.select("rows", "positives", "negatives", "prior", "note").rows() == [
        (4, 1.0, 4.0, 0.2, None),
        (4, 0.0, 2.0, 0.0, "no positives"),
    ]


def test_check_of_weights_that_are_all_zero():
    report = EAGER["check"](SOUND.with_columns(weight=pl.lit(0)), weight="weight")
    assert report.select("positives", "negatives", "prior", "note").rows() == [
        (0, 0, None, "no positives, no negatives")
    ]


@pytest.mark.parametrize("keys", [[], ["k"], ["k", "weight"]])
@pytest.mark.parametrize("lazy", [False, True])
def test_check_of_an_empty_table_is_empty(keys, lazy):
    table = SOUND.clear()
    report = EAGER["check"](table.lazy() if lazy else table, by=keys)
    assert report.is_empty()
    assert report.schema == {key: table.schema[key] for key in keys} | REPORT


CASES = pl.DataFrame(
    {
        "fold": [1, 1, 1, 1, 2, 2, 2, 3, 3],
        "case": ["a", "b", "b", "b", "a", "b", "c", "d", None],
        "truth": [1, 0, 0, 0, 1, 0, 1, 1, 0],
        "score": [4, 3, 2, 1, 4, 3, 2, 1, 5],
    }
)


@pytest.mark.parametrize("lazy", [False, True])
def test_check_says_which_cases_are_there_twice(lazy):
    table = CASES.lazy() if lazy else CASES
    assert pr.check(table, truth="truth", score="score")["note"].to_list() == [
        "2 rows repeat a case", None, "1 rows without a case",
    ]  # fmt: skip
    assert pr.check(table, truth="truth", score="score", case=None)["note"].null_count() == 3


def test_check_says_which_cases_have_two_truths():
    table = CASES.with_columns(truth=pl.when(pl.col("fold") == 2).then(0).otherwise("truth"))
    assert pr.check(table, truth="truth", score="score", case="case")["note"].to_list() == [
        "2 rows repeat a case; 1 cases have two truths",
        "no positives; 1 cases have two truths",
        "1 rows without a case",
    ]
    assert pr.check(table, truth="truth", score="score", fold=None)["note"].to_list() == [
        "1 rows without a case; 4 rows repeat a case; 1 cases have two truths"
    ]


def test_check_names_the_case_that_cannot_be_ranked():
    table = CASES.with_columns(truth=pl.when(pl.col("case") == "c").then(7).otherwise("truth"))
    with pytest.raises(InvalidPredictions, match=r"fold=2, case='c'"):
        pr.check(table, truth="truth", score="score", case="case")


@pytest.mark.parametrize("name", ["*", "^s.*$", "^$"])
@pytest.mark.parametrize("place", ["truth", "score", "by", "weight"])
def test_names_that_polars_reads_as_patterns_are_refused(name, place):
    asked = {"truth": "truth", "score": "s", "by": "k", "weight": "w"}
    table = pl.DataFrame({"truth": [0, 1], "s": [0.1, 0.9], "k": [1, 1], "w": [1.0, 2.0]})
    table = table.rename({asked[place]: name})
    with pytest.raises(InvalidArgument, match=r"a pattern(.|\n)*rename it first"):
        pr.evaluate(table, **{**asked, place: name})


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("word", ["NA", "0,5,1", "5%", "oops", "", "1e400", "-1e309"])
def test_the_first_score_that_is_no_number_is_named(word, lazy):
    table = pl.DataFrame({"truth": [0, 1, 1, 0], "s": ["inf", None, word, "later"]})
    named = "'later' in row 4" if word in ("NA", "") else f"'{word}' in row 3"
    said = f"column 's' is String(.|\n)*; {named} is none"
    with pytest.raises(InvalidPredictions, match=said):
        pr.evaluate(table.lazy() if lazy else table, truth="truth", score="s")


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (["0,9", "0,1"], "'0,9' in row 1", r"decimal_comma=True"),
        (["0,9", "none"], "'none' in row 2", "write all of them as numbers"),
        (["0,9", "0.1", "none"], "'none' in row 3", "write all of them as numbers"),
    ],
)
def test_a_number_with_a_decimal_comma_is_named_after_what_is_none(words, said, hint):
    table = pl.DataFrame({"truth": [i % 2 for i in range(len(words))], "s": words})
    with pytest.raises(InvalidPredictions, match=f"{said}(.|\n)*{hint}"):
        pr.evaluate(table, truth="truth", score="s")


def test_text_is_no_score_even_of_numbers_or_of_nothing():
    table = pl.DataFrame({"truth": [0, 1], "s": ["0.1", "0.2"]})
    with pytest.raises(InvalidPredictions, match="the score column 's' is String, allowed are"):
        pr.evaluate(table, truth="truth", score="s")
    with pytest.raises(InvalidPredictions, match="no rows, and the score column 's' is"):
        pr.evaluate(table.clear(), truth="truth", score="s")


@pytest.mark.parametrize(
    "kind", [pl.Float16, pl.Float32, pl.Float64, pl.Decimal(10, 2), pl.Decimal(38, 20)], ids=str
)
@pytest.mark.parametrize("lazy", [False, True])
def test_a_label_of_one_tenth_is_that_of_any_precision(kind, lazy):
    values = pl.Series(["0.1", "0.29", "0.29", "0.1"])
    truth = values.cast(kind) if kind == pl.Decimal else values.cast(pl.Float64).cast(kind)
    table = pl.DataFrame({"truth": truth, "score": [4, 3, 2, 1]})
    frame = table.lazy() if lazy else table
    for positive, total in ((0.1, 2), (0.29, 2), ([0.1, 0.29], 4)):
        found = pr.curve(frame, truth="truth", score="score", positive=positive)
        assert found.lazy().collect()["positives"][0] == total
    with pytest.raises(InvalidPredictions, match=r"no row has the positive label 0\.2;"):
        pr.curve(table, truth="truth", score="score", positive=0.2)


def test_swapped_truth_and_score_are_suspected():
    swapped = {"truth": [i / 100 for i in range(100)], "score": [0, 1] * 50}
    with pytest.raises(InvalidPredictions, match="are truth and score swapped"):
        pr.evaluate(swapped, truth="truth", score="score")


def test_three_classes_are_for_one_vs_rest():
    with pytest.raises(InvalidPredictions, match="one_vs_rest"):
        pr.evaluate({"t": [0, 1, 2], "p": [0.1, 0.2, 0.3]}, truth="t", score="p")
