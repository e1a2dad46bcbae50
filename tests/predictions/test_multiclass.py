from datetime import date
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.metrics import average_precision_score, roc_auc_score

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

CASES = pl.read_csv(Path(__file__).parents[1] / "reference" / "data" / "yardstick_hpc_cv.csv")
CLASSES = ["VF", "F", "M", "L"]
NAMES = {"truth": "truth", "score": "score"}


def one_vs_rest(*cases, **roles):
    return pr.one_vs_rest(*cases, **roles).table


def test_classes_are_those_of_scikit_learn():
    cases = pr.cases(CASES, truth="obs", by="Resample").pipe(pr.one_vs_rest, scores=CLASSES)
    found = pr.evaluate(cases, priors="observed", interpolation="step")
    assert found.height == 10 * 4 * 2
    fold = CASES.filter(Resample="Fold03")
    for name in CLASSES:
        truth, score = (fold["obs"] == name).to_numpy(), fold[name].to_numpy()
        own = found.filter(pl.col("Resample") == "Fold03", pl.col("class") == name)["estimate"]
        expected = [roc_auc_score(truth, score), average_precision_score(truth, score)]
        assert own.to_list() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(CLASSES)])
def test_labels_of_every_type(kind):
    table = CASES.with_columns(pl.col("obs").cast(kind))
    long = one_vs_rest(table, truth="obs", scores=CLASSES)
    assert long.schema["class"] == kind
    assert long["truth"].sum() == CASES.height


def test_numbers_as_classes():
    table = pl.DataFrame({"digit": [0, 1, 2], "p0": [9.0, 0.0, 0.0], "p1": [0.0, 9.0, 0.0]})
    table = table.with_columns(p2=9.0 - pl.col("p0") - pl.col("p1"))
    long = one_vs_rest(table.lazy(), truth="digit", scores={0: "p0", 1: "p1", 2: "p2"})
    assert long.collect_schema() == long.collect().schema
    assert long.collect().filter(pl.col("truth"))["class"].sort().to_list() == [0, 1, 2]


def test_a_class_without_scores_is_not_taken_for_the_rest():
    long = one_vs_rest(CASES, truth="obs", scores=CLASSES[:3])
    assert long["truth"].null_count() == 3 * (CASES["obs"] == "L").sum()
    with pytest.raises(InvalidPredictions, match="null truth"):
        pr.evaluate(long, **NAMES, by="class")


@pytest.mark.parametrize(
    "arguments",
    [{"truth": "obs", "scores": ["VF"]}, {"truth": "obs", "scores": ["VF", "X"]},
     {"truth": "nope", "scores": CLASSES}],
)  # fmt: skip
def test_what_is_missing_is_refused(arguments):
    with pytest.raises(InvalidArgument, match="Hint:"):
        one_vs_rest(CASES, **arguments)


def test_names_of_columns_are_classes_of_any_type():
    table = pl.DataFrame({"t": [0, 1, 2, 1], "0": [0.9, 0.2, 0.1, 0.3], "1": [0.1, 0.8, 0.2, 0.4],
                          "2": [0.0, 0.1, 0.7, 0.3]})  # fmt: skip
    named = one_vs_rest(table, truth="t", scores=["0", "1", "2"])
    assert_frame_equal(named, one_vs_rest(table, truth="t", scores={0: "0", 1: "1", 2: "2"}))
    assert named.schema["class"] == pl.Int64
    with pytest.raises(InvalidArgument, match=r"the labels 0, 1, 2: which column(.|\n)*mapping"):
        one_vs_rest(table.rename({"2": "two"}), truth="t", scores=["0", "1", "two"])


KINDS = ["healthy", "ill", "sick"]
SICK = pl.DataFrame(
    {
        "dx": ["healthy", "ill", "sick", "ill", None],
        "patient": [1, 2, 2, 3, 3],
        "weight": [1.0, 2.0, 1.0, 3.0, 1.0],
        "healthy": [0.9, 0.1, 0.2, 0.3, 0.1],
        "ill": [0.1, 0.8, 0.3, 0.6, 0.1],
        "sick": [0.0, 0.1, 0.5, 0.1, 0.8],
    }
)
DIGITS = dict(zip(KINDS, range(3), strict=True))


@pytest.mark.product
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("ends", ["p_{}", "{}_p", "the {} score", "s{}s", "ill {}"])
@pytest.mark.parametrize("labels", [KINDS, [0, 1, 2], [0.0, 1.0, 2.0]])
@pytest.mark.parametrize("there", [KINDS, KINDS[:2]])
def test_columns_are_matched_to_labels_without_what_their_names_share(ends, labels, there, lazy):
    table = SICK.filter(pl.col("dx").is_in(there) | pl.col("dx").is_null())
    table = table.with_columns(pl.col("dx").replace_strict(dict(zip(KINDS, labels, strict=True))))
    words = [f"{label:g}" if isinstance(label, float) else str(label) for label in labels]
    columns = {kind: ends.format(word) for kind, word in zip(KINDS, words, strict=True)}
    named = table.rename(columns)
    found = one_vs_rest(
        named.lazy() if lazy else named, truth="dx", scores=[*columns.values()], weight="weight"
    )
    mapping = dict(zip(labels, columns.values(), strict=True))
    expected = one_vs_rest(named, truth="dx", scores=mapping, weight="weight")
    assert_frame_equal(found.lazy().collect(), expected, check_row_order=False)
    assert expected["truth"].sum() == table["dx"].count()
    assert expected["class"].unique().sort().to_list() == labels


@pytest.mark.parametrize(
    "scores",
    [
        ["p_healthy", "p_ill", "p_sik"], {"helthy": "p_healthy", "ill": "p_ill", "sick": "p_sik"},
        ["p_sik", "weight"], {None: "p_ill", "sick": "p_sik"}, {1: "p_ill", 2: "p_sik"},
    ],
)  # fmt: skip
def test_a_misspelt_class_is_told_the_labels(scores):
    table = SICK.rename({"healthy": "p_healthy", "ill": "p_ill", "sick": "p_sik"})
    with pytest.raises(InvalidArgument, match="the labels 'healthy', 'ill', 'sick'") as refused:
        one_vs_rest(table, truth="dx", scores=scores)
    assert refused.value.hint.arguments["scores"].keys() == set(KINDS)


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime])
def test_labels_that_are_days_need_a_mapping(kind):
    names = ["2024-01-01", "2024-01-02"]
    days = pl.Series("day", [date(2024, 1, 1), date(2024, 1, 2)] * 2).cast(kind)
    table = pl.DataFrame({"day": days, **{name: [0.1, 0.9, 0.8, 0.2] for name in names}})
    with pytest.raises(InvalidArgument, match=r"(?s)cannot be told.*Hint: give a mapping"):
        one_vs_rest(table, truth="day", scores=names)
    found = one_vs_rest(table, truth="day", scores=dict(zip(days.head(2), names, strict=True)))
    assert found["truth"].sum() == 4


def test_what_can_be_matched_in_two_ways_is_refused():
    table = pl.DataFrame({"t": ["a1", "a2", "1", "2"], "p_a1": [0.1] * 4, "p_a2": [0.2] * 4})
    with pytest.raises(InvalidArgument, match="cannot be told"):
        one_vs_rest(table, truth="t", scores=["p_a1", "p_a2"])


def test_other_columns_stay():
    table = SICK.with_columns(score=7, fold=1, other=pl.Series([object()] * 5, dtype=pl.Object))
    found = one_vs_rest(table, truth="dx", scores=KINDS)
    assert found.columns == [
        "fold", "class", "truth", "score", "id", "patient", "weight", "other"
    ]  # fmt: skip
    assert found.filter(pl.col("class") == "ill")["weight"].equals(SICK["weight"])
    assert found["score"].max() == 0.9
    clustered = pr.cases(table, truth="dx", cluster="patient")
    assert one_vs_rest(clustered, scores=KINDS).columns == found.columns
    weighted = one_vs_rest(table, truth="dx", scores=KINDS, weight="patient")
    assert weighted["weight"].to_list() == [1, 2, 2, 3, 3] * 3


def test_models_and_folds_come_first_and_are_found_again():
    table = SICK.with_columns(model=pl.lit("tree"), fold=1)
    long = one_vs_rest(table, truth="dx", scores=KINDS)
    assert long.columns[:3] == ["model", "fold", "class"]
    measures = pr.evaluate(long, **NAMES, by="class", measures="auc", nulls="drop")
    assert measures.columns[:3] == ["class", "model", "fold"]


PLACES = SICK.drop_nulls().with_columns(
    site=pl.Series(["n", "n", "s", "s"]), year=pl.Series([1, 2, 1, 2]), m=pl.lit("tree"),
    f=pl.Series([1, 2, 1, 2]), part=pl.lit("all"),
)  # fmt: skip
ROLES = {"model": "m", "fold": "f", "by": "part", "cluster": "patient",
         "weight": "weight"}  # fmt: skip


@pytest.mark.parametrize("lazy", [False, True])
def test_cases_of_classes_have_all_roles(lazy):
    given = pr.cases(PLACES.lazy() if lazy else PLACES, truth="dx", **ROLES)
    found = given.pipe(pr.one_vs_rest, scores=KINDS)
    roles = ROLES | NAMES | {"by": ("part", "class"), "fold": ("f",)}
    assert {role: getattr(found, role) for role in roles} == roles
    assert type(found.table) is type(given.table)
    table = one_vs_rest(PLACES, truth="dx", scores=KINDS, **ROLES)
    assert_frame_equal(found.table.lazy().collect(), table, check_row_order=False)
    again = pr.evaluate(table, **ROLES | NAMES | {"by": ["part", "class"]})
    assert_frame_equal(found.pipe(pr.evaluate).lazy().collect(), again)


@pytest.mark.parametrize("roles", [{"model": "m"}, {"case": None}])
def test_rows_are_no_cases_where_models_have_some_each_or_none_is_said(roles):
    found = pr.cases(PLACES, truth="dx", **roles).pipe(pr.one_vs_rest, scores=KINDS)
    assert found.case is None
    assert "id" not in found.table.columns


@pytest.mark.parametrize("role", ["case", "cluster"])
def test_a_role_whose_column_would_be_lost_is_refused(role):
    table = SICK.rename({"patient": "score"})
    with pytest.raises(InvalidArgument, match="the column 'score' is also a column of the result"):
        one_vs_rest(table, truth="dx", scores=KINDS, **{role: "score"})


def test_other_columns_whose_names_are_patterns_stay():
    rows = pl.DataFrame({"truth": ["x", "y"], "x": [0.1, 0.2], "y": [0.3, 0.1], "*": [1, 2]})
    made = pr.one_vs_rest(rows, truth="truth", scores=["x", "y"]).table
    assert made["*"].to_list() == [1, 2, 1, 2]
