"""The input of commands: results folders, wide tables, and text of other formats."""

import json

import polars as pl
import pytest
from command_line import polaroc
from polars.testing import assert_frame_equal

import polaroc as pr

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 3)
COLUMNS = {"truth": "truth", "score": "score"}
PREDICTIONS = ["--truth", "truth", "--score", "score"]
OVER = ["--over", 0.05, 0.2]
# One test set, a column of scores per model.
MODELS = TABLE.filter(fold=1).sort("case").partition_by("model", as_dict=True)
WIDE = MODELS["A",].select(
    "truth", *(table["score"].alias(model) for (model,), table in sorted(MODELS.items()))
)
SCORES = {"a": "A", "second": "B"}
WIDE_COLUMNS = ["--truth", "truth", "--score", "a=A", "--score", "second=B"]


def as_json(*arguments: object):
    result = polaroc(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*arguments: object) -> str:
    result = polaroc(*arguments)
    assert result.exit_code == 2, result.output
    assert "Hint:" in result.output
    return " ".join(result.output.split())


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "results"
    file = folder.parent / "predictions.parquet"
    TABLE.write_parquet(file)
    asked = [*PREDICTIONS, *OVER, "--grid", 8, "--out", folder]
    assert polaroc("evaluate", file, *asked).exit_code == 0
    assert {"measures.csv", "measures.parquet"} <= {path.name for path in folder.iterdir()}
    return folder


def same(one: list[dict], other: list[dict], schema: pl.Schema) -> None:
    assert_frame_equal(
        pl.DataFrame(one, schema=schema), pl.DataFrame(other, schema=schema), abs_tol=1e-9
    )


def leaves(value: object, *place: object):
    """Each value of a document with its place."""
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for name, one in inner:
            yield from leaves(one, *place, name)
    else:
        yield place, value


def test_a_results_folder_is_one_table(results):
    measures = pl.read_parquet(results / "measures.parquet")
    compared = as_json("compare", results, "--test-train-ratio", 0.25)
    models = pr.compare(measures, test_train_ratio=0.25).models
    assert_frame_equal(pl.DataFrame(compared["models"], schema=models.schema), models)
    chosen = as_json("choose", results)
    assert chosen["answer"] == pr.choose(measures).answer
    drawn = polaroc("chart", "auprec_by_prior", results, "--out", "-")
    assert drawn.exit_code == 0, drawn.output


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_columns_of_text_files_are_joined_by_name(tmp_path, suffix):
    separator = "," if suffix == "csv" else "\t"
    names, folds = TABLE.columns, TABLE.partition_by("fold", maintain_order=True)
    for i, fold in enumerate(folds):
        turned = fold.select(names[i:] + names[:i])
        turned.write_csv(tmp_path / f"{i}.{suffix}", separator=separator)
    asked = [*PREDICTIONS, "--case", "case"]
    expected = pr.check(TABLE, **COLUMNS)
    same(as_json("check", tmp_path, *asked), expected.to_dicts(), expected.schema)
    folds[0].drop("case").write_csv(tmp_path / f"9.{suffix}", separator=separator)
    said = refused("check", tmp_path, *asked)
    assert f"9.{suffix}' and" in said
    assert f"0.{suffix}' only one has 'case'" in said


def test_a_column_whose_name_has_an_equals_sign(tmp_path):
    WIDE.select("truth", pl.col("A").alias("k=1")).write_parquet(tmp_path / "p.parquet")
    rows = as_json("evaluate", tmp_path / "p.parquet", "--truth", "truth", "--score", "k=1")
    assert "model" not in rows[0]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("truth;score\n1;0,9\n0;0,1\n", [], "on the command line with --decimal ,"),
        ("truth,score\n1,0,9\n0,0,1\n", [], "decimal commas need ';' between the fields"),
        ("truth,score,note\n1,0,9\n0,0,1\n", ["--decimal", ","], "separate the fields by ';'"),
        ("truth;score\n1;0.9\n", ["--decimal", ","], "allowed are numbers"),
    ],
)
def test_other_marks_are_told_with_the_option(tmp_path, text, options, said):
    (tmp_path / "p.csv").write_text(text)
    assert said in refused("evaluate", tmp_path / "p.csv", *PREDICTIONS, *options)


def test_labels_mean_the_same_in_all_commands(tmp_path):
    words = {1: "yes", 0: "no"}
    truth = pl.col("truth").cast(pl.Int8).replace_strict(words, return_dtype=pl.String)
    some = pl.when(pl.int_range(pl.len()) % 7 == 0, ~pl.col("truth")).then(pl.lit("maybe"))
    TABLE.with_columns(truth=some.otherwise(truth)).write_parquet(tmp_path / "p.parquet")
    asked = [tmp_path / "p.parquet", *PREDICTIONS, "--positive", "yes"]
    out = ["--out", tmp_path / "x.html"]
    compare = ["compare", *OVER, "--test-train-ratio", 0.25]
    for command in (["check"], ["choose", *OVER], compare, ["chart", "roc", *out]):
        result = polaroc(*command, *asked)
        assert result.exit_code == 0, result.output
        assert result.output.count("count as negative: 'maybe', 'no'") == 1
