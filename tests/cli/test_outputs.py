import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from command_line import polaroc

import polaroc as pr

COLUMNS = ["--truth", "truth", "--score", "score"]
TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2).drop("case")
TUNING, TEST = (TABLE.filter(fold=fold, model="A").drop("fold", "model") for fold in (1, 2))
CALLS = {
    "evaluate": ["evaluate", "p.csv", *COLUMNS],
    "threshold": ["threshold", "tuning.csv", *COLUMNS, "--rule", "youden"],
    "monitor": [
        "monitor", "tuning.csv", "today.csv", *COLUMNS, "--time", "day", "--threshold", "0.5",
    ],
    "compare": ["compare", "p.csv", *COLUMNS, "--measure", "auc", "--test-train-ratio", "0.25"],
    "chart": ["chart", "roc", "p.csv", *COLUMNS],
    "report": ["report", "p.csv", *COLUMNS, "--over", "0.1", "0.3"],
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("p.csv")
    TUNING.write_csv("tuning.csv")
    TEST.select("score", day=pl.lit(1)).write_csv("today.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("evaluate", "m.csv"), ("evaluate", "folder"), ("threshold", "t.json"),
        ("monitor", "m.csv"), ("compare", "folder"), ("chart", "c.html"), ("report", "r.html"),
    ],
)  # fmt: skip
def test_quiet_prints_no_result_that_is_written(here, command, out):
    result = polaroc(*CALLS[command], "--out", out, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert Path(out).exists()


# Ways to an input.
PATHS = {
    "as it was given": lambda file: file,
    "from the root": lambda file: str(Path(file).absolute()),
    "through its folder": lambda file: os.path.join("..", Path.cwd().name, file),
    "by a link": lambda file: linked(file, Path(f"link{Path(file).suffix}")),
    "by a linked folder": lambda file: linked(Path.cwd(), Path("linked")) / file,
}


def linked(target, link):
    link.symlink_to(target)
    return link


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("evaluate", "p.csv"), ("threshold", "tuning.csv"), ("monitor", "tuning.csv"),
        ("monitor", "today.csv"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_no_input_is_replaced(here, command, file, path):
    before = Path(file).read_bytes()
    result = polaroc(*CALLS[command], "--out", path(file), "--force")
    assert result.exit_code == 2
    assert "is an input, and would be replaced" in result.output
    assert Path(file).read_bytes() == before


def test_other_tables_of_a_call_are_not_replaced_either(here):
    TEST.write_csv("test.csv")
    points = pr.operating_points(TUNING, "youden", truth="truth", score="score")
    points.select("threshold").write_parquet("points.parquet")
    call = ["monitor", "tuning.csv", "today.csv", *COLUMNS, "--time", "day"]
    before = Path("points.parquet").read_bytes()
    result = polaroc(*call, "--threshold", "points.parquet", "--out", "points.parquet", "--force")
    assert "is an input" in result.output
    assert result.exit_code == 2
    assert Path("points.parquet").read_bytes() == before


def test_a_folder_of_results_is_not_replaced_by_what_is_made_of_it(here):
    assert polaroc(*CALLS["evaluate"], "--out", "results").exit_code == 0
    before = sorted(Path("results").iterdir())
    for force in ([], ["--force"]):
        result = polaroc(
            "compare", "results", "--measure", "auc", "--test-train-ratio", 0.25, "--out",
            "results", *force,
        )  # fmt: skip
        assert result.exit_code == 2
        assert "is an input" in result.output
    assert sorted(Path("results").iterdir()) == before
    # Beside an input of another name there is room for results.
    mine = here / "mine"
    mine.mkdir()
    TABLE.write_csv(mine / "p.csv")
    call = ["evaluate", mine / "p.csv", *COLUMNS, "--out", mine, "--force"]
    assert polaroc(*call).exit_code == 0
    assert (mine / "measures.csv").exists()
    assert pl.read_csv(mine / "p.csv").equals(pl.read_csv("p.csv"))
    TABLE.write_csv(mine / "measures.csv")
    call[1] = mine / "measures.csv"
    assert polaroc(*call).exit_code == 2
    assert pl.read_csv(mine / "measures.csv").columns == TABLE.columns


def test_a_redirected_input_is_not_replaced(here):
    before = Path("p.csv").read_bytes()
    call = [sys.executable, "-m", "polaroc", "evaluate", "-", *COLUMNS]
    with open("p.csv", "rb") as file:
        done = subprocess.run(
            [*call, "--out", "p.csv", "--force"], stdin=file, capture_output=True, text=True
        )
    assert done.returncode == 2
    assert "is an input" in done.stderr
    assert Path("p.csv").read_bytes() == before


@pytest.mark.parametrize("suffix", ["json", "html", "svg", "png", "pdf"])
def test_charts_are_files_of_every_format_whatever_the_names(here, suffix):
    name = "</script><script>alert(1)</script>\x1b[31m\x00\x08"
    TABLE.with_columns(model=pl.lit(name) + pl.col("model")).write_parquet("names.parquet")
    words = ["chart", "roc", "names.parquet", *COLUMNS[:4], "--out", f"roc.{suffix}"]
    assert polaroc(*words).exit_code == 0
    content = Path(f"roc.{suffix}").read_bytes()
    begins = {"json": b"{", "html": b"<!DOCTYPE html>", "svg": b"<svg", "png": b"\x89PNG",
              "pdf": b"%PDF"}  # fmt: skip
    assert content.lstrip().startswith(begins[suffix])
    if suffix in ("html", "svg"):
        assert b"<script>alert" not in content
        assert b"\x1b" not in content
