import json
import re

import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
PREDICTIONS = ["--truth", "truth", "--score", "score"]
RATIO = ["--test-train-ratio", "0.25"]
OVER = ["--over", "0.05", "0.2"]


def polaroc(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def measured(**arguments):
    return pr.evaluate(TABLE, truth="truth", score="score", by=["model", "fold"], **arguments)


@pytest.fixture
def files(tmp_path):
    measured(over=(0.05, 0.2), priors=pr.prior_grid(0.05, 0.2, 4)).write_parquet(
        tmp_path / "measures.parquet"
    )
    TABLE.write_parquet(tmp_path / "predictions.parquet")
    return tmp_path


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("grid", [[], ["--grid", 16]])
def test_every_command_has_one_expected_auprec(tmp_path, files, suffix, grid):
    raw = [files / "predictions.parquet", *PREDICTIONS]
    asked = ["--over", 0.02, 0.1, *grid, "--no-charts", "--out", tmp_path / "out"]
    assert polaroc("evaluate", *raw, *asked).exit_code == 0
    stored = tmp_path / "out" / f"measures.{suffix}"
    means = measured(over=(0.02, 0.1)).filter(measure="iauprec").group_by("model")
    expected = dict(means.agg(pl.col("estimate").mean()).iter_rows())

    def of_choice(*arguments: object) -> dict[str, float]:
        result = polaroc("choose", *arguments, "--json")
        assert result.exit_code == 0, result.output
        return {row["model"]: row["mean"] for row in json.loads(result.stdout)["models"]}

    assert of_choice(stored) == pytest.approx(expected, abs=1e-12)
    assert of_choice(stored, "--over", 0.02, 0.1) == pytest.approx(expected, abs=1e-12)
    assert of_choice(*raw, "--over", 0.02, 0.1) == pytest.approx(expected, abs=1e-12)
    tested = json.loads(polaroc("compare", stored, *RATIO, "--json").stdout)["letters"]
    assert {row["model"]: row["mean"] for row in tested} == pytest.approx(expected, abs=1e-12)
    page = tmp_path / "page.html"
    assert polaroc("report", stored, "--out", page).exit_code == 0
    said = re.sub(r"<[^>]+>|\s+", " ", page.read_text())
    assert f"is {expected['A']:.3f} over 2 to 10 % positives" in said
    known = polaroc("choose", stored).stdout
    assert ("regrets are not known" in in_one_line(known)) == (not grid)


def test_the_call_that_makes_what_lacks_is_one_of_the_command_line(tmp_path, files):
    measured(over=(0.02, 0.1)).write_parquet(tmp_path / "few.parquet")
    for command in ("choose", "report"):
        result = polaroc(command, tmp_path / "few.parquet", *OVER)
        assert result.exit_code == 2
        said = in_one_line(result.output)
        assert "Hint: `polaroc evaluate ... --over 0.05 0.2 --grid 16 --out FOLDER`." in said
        assert "pr." not in said
    told = polaroc("choose", tmp_path / "few.parquet").output
    assert "--over 0.02 0.1 --grid 16" in in_one_line(told)
    raw = [files / "predictions.parquet", *PREDICTIONS, "--grid", 16]
    assert "there is no range of priors" in polaroc("evaluate", *raw).output


def test_a_grid_is_written_and_not_printed(tmp_path, files):
    asked = ["--no-fold", *OVER, "--grid", 9, "--prior", 0.1, "--out", tmp_path / "out"]
    result = polaroc("evaluate", files / "predictions.parquet", *PREDICTIONS, *asked, "--no-charts")
    assert result.exit_code == 0, result.output
    assert result.output.count("AUPREC 0.") == 1
    written = pl.read_parquet(tmp_path / "out" / "measures.parquet").filter(measure="auprec")
    grid = pr.prior_grid(0.05, 0.2, 9)["prior"].to_list()
    assert sorted(written["prior"].unique()) == pytest.approx(sorted({0.1, *grid}))


def test_compare_takes_every_option(files):
    result = polaroc(
        "compare", files / "measures.parquet", "--test-train-ratio", 0.25,
        "--level", 0.9, "--measure", "auc",
        "--model", "fold", "--fold", "model", "--out", files / "out",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = pr.compare(
        pl.read_parquet(files / "measures.parquet"), "auc", model="fold", fold="model",
        test_train_ratio=0.25, level=0.9,
    )  # fmt: skip
    pairs = pl.read_csv(files / "out" / "pairs.csv")
    assert pairs["lower"].to_list() == pytest.approx(found.pairs["lower"].to_list())
    omnibus = pl.read_csv(files / "out" / "omnibus.csv")
    assert omnibus["p_value"].to_list() == pytest.approx(found.omnibus["p_value"].to_list())
    assert (files / "out" / "summary.txt").read_text() == found.summary() + "\n"
    assert pl.read_csv(files / "out" / "letters.csv").height == 4


@pytest.mark.alike(6)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", "MEASURES"], "--test-train-ratio 0.25"),
        (["compare", "PREDICTIONS"], "the table holds no measures"),
        (["compare", "PREDICTIONS", *PREDICTIONS, *RATIO], "for example --over 0.05 0.20"),
        (["compare", "PREDICTIONS", "--truth", "truth"], "score is not given"),
        (["compare", "MEASURES", *RATIO, "--weight", "w"], "'weight' is for predictions"),
        (["compare", "MEASURES", *RATIO, "--measure", "nope"], "no measure 'nope'"),
        (["compare", "MEASURES", *RATIO, "--measure", "auprec"], "--prior 0.1"),
        (["compare", "MEASURES", *RATIO, "--prior", "5%"], "--prior is '5%'"),
        (["compare", "MEASURES", *RATIO, "--fold", "nope"], "no column 'nope'"),
        (["compare", "HOLES", *RATIO], "leave such folds out"),
        (["choose", "PREDICTIONS", *PREDICTIONS], "give --over 0.05 0.20"),
        (["choose", "MEASURES", "--over", "0.01", "0.2"], "leaves the priors"),
        (["choose", "MEASURES", "--no-fold", "--fold", "fold"], "leave one of them out"),
        (["choose", "none.csv"], "no file matches"),
    ],
)
def test_bad_input_is_one_message(files, arguments, said):
    holes = pl.read_parquet(files / "measures.parquet").filter(
        (pl.col("model") != "B") | (pl.col("fold") != 2)
    )
    holes.write_parquet(files / "holes.parquet")
    result = polaroc(
        *(files / f"{word.lower()}.parquet" if word.isupper() else word for word in arguments)
    )
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert "Hint:" in result.output
    assert "Traceback" not in result.output
