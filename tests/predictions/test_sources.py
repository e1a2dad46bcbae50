from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.dataset as ds
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

rng = np.random.default_rng(3)
ROWS = 120
TABLE = pl.DataFrame(
    {
        "model": ["A", "B"] * (ROWS // 2),
        "patient": np.arange(ROWS) // 4,
        "y": rng.integers(0, 2, ROWS),
        "p": rng.integers(0, 40, ROWS) / 40,
        "w": rng.integers(1, 4, ROWS),
        "feature": rng.random(ROWS),
    }
)
ROLES = {"truth": "y", "score": "p"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for model in ("A", "B"):
        rows = TABLE.filter(model=model)
        Path(f"hive/model={model}").mkdir(parents=True)
        rows.drop("model").write_parquet(f"hive/model={model}/part-0.parquet")
        rows.write_csv(f"{model}.csv")
    TABLE.write_parquet("all.parquet")
    return tmp_path


SOURCES = [
    "all.parquet", Path("all.parquet"), "hive", Path("hive"), "hive/*/*.parquet",
    ["A.csv", Path("B.csv")], ("A.csv", "B.csv"), "*.csv",
]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_files_are_cases(folder, source):
    expected = pr.evaluate(TABLE, **ROLES, weight="w", measures="auc")
    assert_frame_equal(pr.evaluate(source, **ROLES, weight="w", measures="auc"), expected)
    cases = pr.cases(source, **ROLES, weight="w")
    assert cases.model == "model"
    assert isinstance(cases.table, pl.LazyFrame)
    lazily = cases.pipe(pr.evaluate, measures="auc")
    assert isinstance(lazily, pl.LazyFrame)
    assert_frame_equal(lazily.collect(), expected)


def test_every_kind_of_function_takes_files(folder):
    asked = {"curve": {}, "check": {},
             "evaluate": {"measures": "auc", "cluster": "patient"}}  # fmt: skip
    for name, others in asked.items():
        function = getattr(pr, name)
        found, expected = (function(one, **ROLES, **others) for one in ("all.parquet", TABLE))
        assert type(found) is type(expected)
        if isinstance(found, pl.DataFrame):
            assert_frame_equal(found, expected)
        else:
            assert found == expected
    in_parts = pr.evaluate("all.parquet", **ROLES, measures="auc", memory="1GB")
    assert_frame_equal(in_parts, pr.evaluate(TABLE, **ROLES, measures="auc"))


def test_rows_that_share_a_patient_are_said_of_files_too(folder):
    found = pr.evaluate("all.parquet", **ROLES, measures="auc", intervals=True)
    assert found["note"].str.contains("rows with the same 'patient'").all()


def test_columns_without_a_role_are_not_read(folder):
    pl.read_parquet("all.parquet").with_columns(feature=pl.lit("text")).write_parquet("all.parquet")
    damaged = bytearray(Path("all.parquet").read_bytes())
    text = damaged.index(b"text")
    damaged[text - 8 : text + 4] = bytes(12)
    Path("all.parquet").write_bytes(damaged)
    with pytest.raises(pl.exceptions.PolarsError):
        pl.read_parquet("all.parquet")
    assert pr.evaluate("all.parquet", **ROLES, measures="auc").height == 2


def test_probabilities_keep_all_columns_of_files(folder):
    curve = pr.curve(TABLE.with_columns(p=1 - pl.col("p")), **ROLES)
    found = pr.probabilities("all.parquet", curve, score="p", priors=0.1)
    assert_frame_equal(found, pr.probabilities(TABLE, curve, score="p", priors=0.1))
    dataset = ds.dataset("all.parquet")
    assert_frame_equal(pr.probabilities(dataset, curve, score="p", priors=0.1), found)


def test_keys_in_text_files_stay_as_they_are_written(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("fold,site,y,p\n1.1,007,1,.9\n1.10,7,0,.5\n1.1,007,0,.2\n1.10,7,1,.7\n")
    sites = pr.evaluate(file, **ROLES, by="site", fold=None, measures="auc")
    assert sites["site"].to_list() == ["007", "7"]
    found = pr.evaluate(file, **ROLES, fold="fold", measures="auc")
    assert found["fold"].to_list() == ["1.1", "1.10"]
    assert found["estimate"].to_list() == [1, 1]


@pytest.mark.parametrize(
    ("source", "found", "hint"),
    [
        ("none.parquet", "no file matches 'none.parquet'", "check the path"),
        ("empty", "the folder 'empty' holds no file", "name the files"),
        (["all.parquet", "none"], "no file matches 'none'", "check the path"),
        ("scores.xlsx", "the format of 'scores.xlsx'", "Parquet"),
        ("postgres://me@host/scores", "no file matches", "ibis.connect"),
        ("s3://scores/all.parquet", "no file matches", "pl.scan_parquet"),
    ],
)
@pytest.mark.parametrize("function", [pr.cases, pr.evaluate, pr.check])
def test_files_that_cannot_be_read_are_said(folder, function, source, found, hint):
    Path("empty").mkdir()
    Path("scores.xlsx").write_bytes(b"PK")
    with pytest.raises(InvalidArgument, match=rf"(?s){found}.*Hint: .*{hint}"):
        function(source, **ROLES)


def test_what_is_no_path_is_no_table_either(folder):
    for source in ([], [1, 0], ["all.parquet", 1], 5):
        with pytest.raises(InvalidTable, match="Hint: "):
            pr.cases(source, **ROLES)
    with pytest.raises(InvalidArgument, match=r"(?s)'z'.*the table has 'model', 'patient'"):
        pr.cases("all.parquet", truth="y", score="z")
    with pytest.raises(InvalidArgument, match=r"(?s)truth is not given.*Hint: name its column"):
        pr.evaluate("all.parquet")


def test_files_are_printed_without_reading_rows(folder):
    words = repr(pr.cases("hive", **ROLES))
    assert words.startswith("a lazy table\ntruth  'y'\nscore  'p'\nmodel  'model' (by default")


FACTS = {"score_prior": [0, 1.2, "obs", None, True], "test_train_ratio": [-1, "1/4", float("inf")]}


@pytest.mark.parametrize(("fact", "values"), FACTS.items())
def test_facts_are_checked_where_they_are_said(fact, values):
    for value in values:
        for function in (pr.cases, pr.evaluate, pr.curve):
            with pytest.raises(InvalidArgument, match=f"(?s)^{fact} is .*Hint: "):
                function(TABLE, **ROLES, **{fact: value})


def test_roles_of_cases_change():
    table = TABLE.rename({"patient": "case"})
    cases = pr.cases(table, **ROLES, weight="w", score_prior=0.3)
    assert (cases.model, cases.case) == ("model", "case")
    pooled = pr.cases(cases, model=None)
    assert pooled.table is table
    assert (pooled.model, pooled.case, pooled.weight) == (None, "case", "w")
    assert pooled.score_prior == 0.3
    # What was said or found before stays so.
    other = pr.cases(pooled, by="case", weight=None)
    assert (other.model, other.case, other.by, other.weight) == (None, None, ("case",), None)
    assert pr.cases(pooled, model=...).model == "model"
    assert cases.model == "model"
    asked = {"measures": "auc", "priors": 0.1}
    expected = pr.evaluate(table, **ROLES, model=None, **asked)
    assert_frame_equal(pr.evaluate(pr.cases(pooled, weight=None), **asked), expected)
    with pytest.raises(InvalidArgument, match="no column 'nothing'"):
        pr.cases(cases, by="nothing")
    beside = pr.evaluate(cases, by="case", **asked)
    assert_frame_equal(beside, pr.evaluate(pr.cases(cases, by="case"), **asked))


def test_functions_of_other_tables_say_to_read_the_file_first(folder):
    with pytest.raises(InvalidTable, match=r"(?s)got a path.*'all.parquet'.*pl\.scan_parquet"):
        pr.auc("all.parquet")


def test_measures_are_read_from_files_too(tmp_path):
    random, case = np.random.default_rng(1), np.arange(400)
    table = pl.DataFrame({"case": case, "y": case % 2, "fold": case // 4 % 5})
    table = pl.concat(
        table.with_columns(model=pl.lit(model), p=pl.Series(random.random(400)) + pl.col("y") / by)
        for model, by in (("A", 2), ("B", 3))
    )
    measures = pr.evaluate(table, **ROLES, measures="auc", priors=0.1)
    measures.write_parquet(tmp_path / "measures.parquet")
    expected, found = (
        pr.compare(one, "auc", test_train_ratio=0.25).pairs
        for one in (measures, tmp_path / "measures.parquet")
    )
    assert_frame_equal(found, expected)
