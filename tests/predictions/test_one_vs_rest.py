"""One problem for each of several classes."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal
from sklearn.metrics import average_precision_score, roc_auc_score

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

DATA = pl.read_csv(
    Path(__file__).parents[1] / "reference" / "data" / "yardstick_hpc_cv.csv"
).rename({"Resample": "fold"})
CLASSES = ["VF", "F", "M", "L"]
KINDS = ["healthy", "ill", "sick"]
SICK = pl.DataFrame({
    "dx": ["healthy", "ill", "sick", "ill", None], "patient": [1, 2, 2, 3, 3],
    "weight": [1.0, 2.0, 1.0, 3.0, 1.0], "healthy": [0.9, 0.1, 0.2, 0.3, 0.1],
    "ill": [0.1, 0.8, 0.3, 0.6, 0.1], "sick": [0.0, 0.1, 0.5, 0.1, 0.8],
})  # fmt: skip


def by_class(table, **roles):
    """The results of `check` for each class, rows of no class left out."""
    return pr.one_vs_rest(table, nulls="drop", **roles).pipe(pr.check)


def test_measures_of_classes_are_those_of_scikit_learn():
    cases = pr.one_vs_rest(DATA, truth="obs", scores=CLASSES)
    found = pr.evaluate(cases, priors="observed", interpolation="step")
    assert found.height == 10 * 4 * 2
    fold = DATA.filter(fold="Fold03")
    for name in CLASSES:
        truth, score = (fold["obs"] == name).to_numpy(), fold[name].to_numpy()
        own = found.filter(pl.col("fold") == "Fold03", pl.col("class") == name)
        expected = [roc_auc_score(truth, score), average_precision_score(truth, score)]
        assert own["estimate"].to_list() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(CLASSES)])
def test_classes_have_the_type_of_the_labels(kind, lazy):
    table = DATA.with_columns(pl.col("obs").cast(kind))
    found = by_class(table.lazy() if lazy else table, truth="obs", scores=CLASSES, fold=None)
    assert found.schema["class"] == kind
    totals = dict(found.with_columns(pl.col("class").cast(pl.String))
                  .select("class", "positives").rows())  # fmt: skip
    assert totals == dict(DATA["obs"].value_counts().rows())
    assert found["rows"].to_list() == [DATA.height] * 4


def test_a_class_without_scores_is_not_taken_for_the_rest():
    roles = {"truth": "obs", "scores": CLASSES[:3], "fold": None}
    lacking = (DATA["obs"] == "L").sum()
    assert by_class(DATA, **roles)["missing"].to_list() == [lacking] * 3
    for table in (DATA, DATA.lazy()):
        with pytest.raises(InvalidPredictions, match=f"{3 * lacking} null truths"):
            pr.one_vs_rest(table, **roles).collect()


DIGITS = pl.DataFrame(
    {"t": [0, 1, 2, 1], "0": [0.9, 0.2, 0.1, 0.3], "1": [0.1, 0.8, 0.2, 0.4],
     "2": [0.0, 0.1, 0.7, 0.3]}
)  # fmt: skip


def test_columns_are_named_as_their_classes_or_mapped():
    named = by_class(DIGITS, truth="t", scores=["0", "1", "2"])
    assert_frame_equal(named, by_class(DIGITS, truth="t", scores={0: "0", 1: "1", 2: "2"}))
    assert named.select("class", "positives", "highest").rows() == [
        (0, 1, 0.9), (1, 2, 0.8), (2, 1, 0.7)
    ]  # fmt: skip
    assert named.schema["class"] == pl.Int64
    truths = DIGITS.select(pl.col("t") == 0, true="0", false="1")
    found = by_class(truths, truth="t", scores=["true", "false"])
    assert found.select("class", "positives", "highest").rows() == [(False, 3, 0.8), (True, 1, 0.9)]


@pytest.mark.parametrize(
    ("ends", "labels"),
    [
        ("p_{}", KINDS), ("{}_p", KINDS), ("the {} score", KINDS), ("s{}s", KINDS),
        ("ill {}", KINDS), ("p_{}", [0, 1, 2]), ("{}_p", [0.0, 1.0, 2.0]), ("s{}s", [0, 1, 2]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("there", [KINDS, KINDS[:2]])
def test_columns_are_matched_without_what_their_names_share(ends, labels, there):
    table = SICK.filter(pl.col("dx").is_in(there) | pl.col("dx").is_null())
    table = table.with_columns(pl.col("dx").replace_strict(dict(zip(KINDS, labels, strict=True))))
    words = [f"{label:g}" if isinstance(label, float) else label for label in labels]
    columns = {kind: ends.format(word) for kind, word in zip(KINDS, words, strict=True)}
    named = table.rename(columns)
    mapping = dict(zip(labels, columns.values(), strict=True))
    expected = by_class(named, truth="dx", scores=mapping, weight="weight")
    for frame in (named, named.lazy()):
        found = by_class(frame, truth="dx", scores=[*columns.values()], weight="weight")
        assert_frame_equal(found, expected)
    assert expected["class"].to_list() == labels
    assert expected["positives"].sum() == table.drop_nulls()["weight"].sum()
    assert expected["missing"].to_list() == [1] * 3


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime])
def test_labels_that_are_days_need_a_mapping(kind):
    names = ["2024-01-01", "2024-01-02"]
    days = pl.Series("day", [date(2024, 1, 1), date(2024, 1, 2)] * 2).cast(kind)
    table = pl.DataFrame({"day": days, **{name: [0.1, 0.9, 0.8, 0.2] for name in names}})
    with pytest.raises(InvalidArgument, match="mapping"):
        by_class(table, truth="day", scores=names)
    mapping = dict(zip(days.head(2), names, strict=True))
    assert by_class(table, truth="day", scores=mapping)["positives"].to_list() == [2, 2]


@pytest.mark.parametrize("lazy", [False, True])
def test_the_table_has_a_row_per_case_and_class(lazy):
    # Of these columns some have names of the result, and one is a pattern to Polars.
    table = SICK.with_columns(score=7, fold=1).rename({"patient": "*"})
    table = table.lazy() if lazy else table
    result = pr.one_vs_rest(table, truth="dx", scores=KINDS, nulls="drop")
    assert isinstance(result.rows, pl.LazyFrame if lazy else pl.DataFrame)
    of_ill = result.rows.lazy().collect().filter(pl.col("class") == "ill")
    assert of_ill["score"].to_list() == SICK["ill"].to_list()
    assert of_ill["truth"].to_list() == [False, True, False, True, None]
    assert of_ill["case"].to_list() == [0, 1, 2, 3, 4]


def test_rows_are_cases_where_nothing_else_tells_cases_or_models_apart():
    for roles, numbered in (({}, True), ({"case": None}, False), ({"model": "patient"}, False)):
        result = pr.one_vs_rest(SICK, truth="dx", scores=KINDS, nulls="drop", **roles)
        assert ("case" in repr(result)) == numbered


PLACES = SICK.drop_nulls().with_columns(
    site=pl.Series(["n", "n", "s", "s"]), model=pl.lit("tree"), fold=pl.Series([1, 2, 1, 2])
)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("counted_by", ["weight", "count"])
def test_all_roles_are_those_of_the_cases_given(counted_by, lazy):
    table = PLACES.rename({"weight": "n"}).with_columns(pl.col("n").cast(pl.Int64))
    roles = {"by": "site", "cluster": "patient", counted_by: "n"}
    # The labels of a table in memory are no truth of cases.
    given = (pr.cases(table.lazy(), truth="dx", **roles),) if lazy else (table,)
    options = {"measure": "auc", "intervals": True}
    cases = pr.one_vs_rest(*given, scores=KINDS, **{} if lazy else roles | {"truth": "dx"})
    found = pr.evaluate(cases, **options).lazy().collect()
    assert found.columns[:4] == ["site", "class", "model", "fold"]
    parts = [
        pr.evaluate(
            table.with_columns(pl.col("dx") == kind, pl.lit(kind).alias("class")),
            truth="dx", score=kind, **roles | {"by": ["site", "class"]}, **options,
        )
        for kind in KINDS
    ]  # fmt: skip
    expected = pl.concat(parts).sort("site", "class", "model", "fold")
    assert_same_numbers(found.drop("note"), expected.drop("note"))


@pytest.mark.parametrize("other", [pl.Float64, pl.UInt64])
def test_scores_of_different_types_lose_nothing(other):
    large = DIGITS.with_columns(pl.Series("0", [2**53 + 1, 2**53, 1, 0]), pl.col("1").cast(other))
    for table in (large, large.lazy()):
        for nulls in ("raise", "drop"):
            with pytest.raises(InvalidPredictions, match=r"1 inexact score.*class=0"):
                pr.one_vs_rest(table, truth="t", scores=["0", "1", "2"], nulls=nulls).collect()
    whole = DIGITS.with_columns(pl.Series("0", [9, 2, 1, 3]))
    found = pr.one_vs_rest(whole, truth="t", scores=["0", "1", "2"]).pipe(pr.check)
    assert found["highest"].to_list() == [9, 0.8, 0.7]
    # The truth of a case is another one in each class.
    assert not found["note"].fill_null("").str.contains("two truths").any()
