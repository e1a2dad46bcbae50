import re
import runpy
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
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


def test_python_blocks_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in PYTHON:
        exec(compile(block, "README.md", "exec"), names)
    said = capsys.readouterr().out
    assert "shape: (3, 3)" in said
    (answer,) = re.findall(r"\*(A: best expected .*?)\*", README, re.DOTALL)
    assert " ".join(answer.split()) in " ".join(said.split())


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.stem)
def test_python_blocks_of_docs_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


def test_tables_of_docs_say_what_the_queries_answer():
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    page = tables["PAGE"].read_text()
    assert set(re.findall(r"<!-- (\w+) -->\n\|", page)) == set(tables["TABLES"])
    assert tables["filled"](page) == page


def test_every_query_is_on_the_page_of_reproduced_figures():
    page = (ROOT / "docs" / "reproduction.md").read_text()
    for query in (ROOT / "queries").glob("*.py"):
        assert f"`{query.stem}`" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_nothing_is_left_to_be_filled_in(page):
    assert not re.search(r"\b(BENCH|TODO|FIXME|XXX)\b", page.read_text())


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(((?!http)[^)]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_recipes_exist(page):
    recipes = (ROOT / "justfile").read_text()
    for recipe in re.findall(r"`just (\w+)", page.read_text()):
        assert re.search(rf"^{recipe}\b.*:", recipes, re.MULTILINE), recipe
