import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

TABLE = pr.datasets.satellite_predictions().filter(fold=1).drop("fold")
COLUMNS = ["--truth", "truth", "--score", "score"]
COSTS = ["--cost-fn", 20, "--cost-fp", 5, "--cost-review", 1, "--over", 0.05, 0.2]


def polaroc(*arguments: object):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    for part, name in enumerate(("tuning", "test")):
        half = TABLE.filter(pl.col("case") % 2 == part).drop("case")
        half.write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def test_the_answer_is_said_with_the_table(files):
    saved = files / "ways.json"
    chosen = polaroc("three-ways", files / "tuning.parquet", *COLUMNS, *COSTS, "--out", saved)
    assert chosen.exit_code == 0, chosen.output
    ways = pr.three_ways(
        pl.read_parquet(files / "tuning.parquet"), truth="truth", score="score", cost_fn=20,
        cost_fp=5, cost_review=1, over=(0.05, 0.2),
    )  # fmt: skip
    said = " ".join(chosen.output.split())
    for model, answer in ways.select("model", "answer").rows():
        assert f"{model}: {answer}" in said
    judged = polaroc("three-ways", files / "test.parquet", *COLUMNS, "--apply", saved)
    assert judged.exit_code == 0, judged.output
    assert judged.output != chosen.output


def test_what_no_pair_can_keep_is_not_written(files):
    saved = files / "ways.json"
    asked = ["--constraint", "recall=0.99", "--constraint", "precision=0.99", "--reviews", 1]
    result = polaroc(
        "three-ways", files / "tuning.parquet", *COLUMNS, *asked, "--volume", 9, "--out", saved
    )
    assert result.exit_code == 3
    assert "no threshold keeps the constraints" in result.output
    assert not saved.exists()


def test_what_is_no_pair_is_refused(files):
    single = files / "threshold.json"
    polaroc("threshold", files / "tuning.parquet", *COLUMNS, "--out", single)
    for given, said in ((single, "holds single thresholds"), (0.3, "there is no such file")):
        result = polaroc("three-ways", files / "test.parquet", *COLUMNS, "--apply", given)
        assert result.exit_code == 2
        assert said in " ".join(result.output.split())
        assert "polaroc three-ways --out" in " ".join(result.output.split())
    both = ["--apply", single, "--out", files / "other.json"]
    assert polaroc("three-ways", files / "test.parquet", *COLUMNS, *both).exit_code == 2
