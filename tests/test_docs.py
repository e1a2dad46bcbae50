import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


def test_python_blocks_run(capsys):
    names: dict[str, object] = {}
    for block in PYTHON:
        exec(compile(block, "README.md", "exec"), names)
    assert "shape: (3, 3)" in capsys.readouterr().out


def test_nothing_is_left_to_be_filled_in():
    assert not re.search(r"\b(BENCH|TODO|FIXME|XXX)\b", README)


def test_there_are_two_set_up_commands():
    assert SHELL[:2] == ["pip install . && polaroc demo\n", 'pip install -e ".[test]" && pytest\n']


def test_ci_calls_the_test_command_of_the_readme():
    assert SHELL[1].strip() in (ROOT / ".ci" / "run").read_text().splitlines()


@pytest.mark.parametrize("command", SHELL[2].replace("\\\n", " ").strip().splitlines())
def test_commands_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    renamed = table.rename({"truth": "label", "score": "p"})
    (tmp_path / "predictions").mkdir()
    renamed.write_parquet(tmp_path / "predictions" / "part-0.parquet")
    renamed.write_csv(tmp_path / "predictions.csv")
    program, *arguments = shlex.split(command)
    assert program == "polaroc"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!http)[^)]+)\)", README))
def test_links_lead_somewhere(target):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("recipe", re.findall(r"`just (\w+)", README))
def test_recipes_exist(recipe):
    assert re.search(rf"^{recipe}\b.*:", (ROOT / "justfile").read_text(), re.MULTILINE)
