import ast
import importlib
import pydoc
import re
import runpy
import shlex
import subprocess
import sys
from importlib.metadata import version
from inspect import getdoc, getmembers, isclass, isfunction, ismodule
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from command_line import COMMANDS, polaroc
from programs import missing, package, program

import polaroc as pr

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
OUTPUTS = runpy.run_path(str(ROOT / "docs" / "outputs.py"))
BESIDE = runpy.run_path(str(ROOT / "docs" / "extensions" / "related.py"))
DOCS = OUTPUTS["pages"]()
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "queries/README.md")), *DOCS]
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
FILES = (ROOT / "docs" / "guide" / "files.md").read_text()
ONE_PAGE = (ROOT / "docs" / "reference" / "one_page.md").read_text()
IN_USE = (ROOT / "docs" / "guide" / "in_use.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("page", [ROOT / "README.md", *DOCS], ids=lambda page: page.stem)
def test_python_blocks_run_and_print_what_the_page_says(page):
    text = page.read_text()
    assert OUTPUTS["filled"](text, page.name) == text


def test_pages_with_other_packages_are_run_where_these_are_installed():
    steps = (ROOT / ".ci" / "tracking").read_text()
    (page,) = re.findall(r"guide/\w+", steps)
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert all(f"import {name}\n" in text and name in steps for name in OUTPUTS["WITH_OTHERS"])
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    assert "- run: .ci/tracking\n" in workflow.read_text()


def test_blocks_share_their_names_and_what_they_print_is_filled_in():
    code = "```python\n{}\n```\n"
    shown = "\n```text\n{}\n```\n"
    page = code.format("x = 1") + code.format("print(x)") + shown.format("old") + "words\n"
    assert OUTPUTS["filled"](page, "page") == page.replace("old", "1")


@pytest.mark.engine
def test_commands_run_where_the_page_shows_what_they_print():
    if program("bash") is None:
        missing("bash is not there")
    code, text = "```sh\n{}\n```\n", "\n```text\n{}\n```\n"
    page = code.format("polaroc --version; pwd > here") + text.format("old") + code.format("exit 3")
    filled = page.replace("old", version("polaroc"))
    assert OUTPUTS["filled"](page, "page") == filled


@pytest.mark.slow
def test_tables_of_docs_say_what_the_queries_answer():
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    page = tables["PAGE"].read_text()
    assert set(re.findall(r"<!-- (\w+) -->\n\|", page)) == set(tables["TABLES"])
    assert tables["filled"](page) == page


def test_every_query_is_in_the_index():
    listed = re.findall(r"\| `(\w+\.py)` \|", (ROOT / "queries" / "README.md").read_text())
    assert sorted(listed) == sorted(file.name for file in (ROOT / "queries").glob("*.py"))


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.stem)
def test_pages_say_before_their_code_that_it_needs_scikit_learn(page):
    text = page.read_text()
    for block in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
        if "sklearn" in block[1]:
            assert "extra `sklearn`" in text[: block.start()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_nothing_is_left_to_be_filled_in(page):
    assert not re.search(r"\b(BENCH|TODO|FIXME|XXX)\b", page.read_text())


def test_there_are_two_set_up_commands():
    assert SHELL == ["pip install . && polaroc demo\n", 'pip install -e ".[test]" && pytest\n']


@pytest.mark.slow
def test_commands_of_a_folder_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # The page makes its folder in its first block.
    run_commands(FILES, made_by=lambda blocks: blocks[:1])


def test_commands_of_two_days_in_use_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_commands(
        IN_USE,
        # The year is long to watch, and made in the first block.
        made_by=lambda blocks: [blocks[0], *(b for b in blocks if "write_parquet" in b)],
    )
    assert pl.read_csv("watched.csv")["day"].unique().sort().to_list() == [1, 2]


def run_commands(page, made_by):
    names = {}
    for block in made_by(re.findall(r"```python\n(.*?)```", page, re.DOTALL)):
        exec(block, names)
    commands, *_ = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    for command in commands.replace("\\\n", " ").strip().splitlines():
        program, *arguments = shlex.split(command)
        assert program == "polaroc"
        result = polaroc(*arguments)
        assert result.exit_code == 0, result.output


def lines_of_the_api():
    return re.findall(r"^\| .+ \| `([^`]+)` \|$", ONE_PAGE, re.MULTILINE)


def commands_of_docs():
    for page in DOCS:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL):
            lines = block.replace("\\\n", " ").splitlines()
            yield from (line for line in lines if line.startswith("polaroc "))
    yield from (line for line in lines_of_the_api() if line.startswith("polaroc "))


@pytest.mark.parametrize("command", list(commands_of_docs()))
def test_commands_of_docs_are_understood(command):
    _, name, *arguments = shlex.split(command.partition(" > ")[0])
    COMMANDS[name].make_context(name, arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(((?!http)[^)]+)\)", page.read_text()):
        assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("place", [*PAGES, ROOT / "justfile", ROOT / ".ci" / "lowest"], ids=str)
def test_files_that_are_named_are_there(place):
    named = re.findall(r"\btests/[\w/]+\.py\b", place.read_text())
    assert [file for file in named if not (ROOT / file).exists()] == []


def test_the_version_is_the_same_wherever_it_is_written():
    (version,) = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    citation = (ROOT / "CITATION.cff").read_text()
    (cited,) = re.findall(r"^version: (.+)$", citation, re.M)
    (day,) = re.findall(r"^date-released: (.+)$", citation, re.M)
    assert cited == version
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    released = [heading for heading in headings if heading != "Unreleased"]
    assert not released or released[0] == f"{version} ({day})"


def test_every_page_is_in_a_table_of_contents():
    listed = {
        (page.parent / name).resolve().with_suffix(".md")
        for page in DOCS
        for contents in re.findall(r"```{toctree}\n(.*?)```", page.read_text(), re.DOTALL)
        for name in re.findall(r"^([\w/.]+)$", contents, re.MULTILINE)
    }
    assert set(DOCS) - listed == {ROOT / "docs" / "index.md"}


def test_every_public_name_is_in_the_reference():
    listed = names_of_the_reference()
    assert len(listed) == len(set(listed))
    modules = {name for name in dir(pr) if ismodule(getattr(pr, name))}
    members = {f"{name}.{member}" for name in modules for member in public(getattr(pr, name))}
    results = {
        "models.anova.Anova",
        "priors.beliefs.Belief", "predictions.cases.Cases", "models.choice.Choice",
        "models.comparison.Comparison", "models.gate.GateResult",
        "monitoring.result.Monitor",
    }  # fmt: skip
    assert set(listed) == (set(pr.__all__) - modules) | members | results


def public(module):
    """The public names of a module: its __all__, or the functions or errors that it defines."""
    kind = isclass if module is pr.errors else isfunction
    own = [name for name, thing in getmembers(module, kind) if thing.__module__ == module.__name__]
    return getattr(module, "__all__", [name for name in own if not name.startswith("_")])


@pytest.mark.slow
def test_lines_of_the_api_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (first,) = re.findall(r"```python\n(.*?)```", ONE_PAGE, re.DOTALL)
    lines = [line for line in lines_of_the_api() if not line.startswith("polaroc ")]
    exec("\n".join([first, *lines]), {})


def test_every_function_and_command_is_on_the_page_of_the_api():
    first = re.findall(r"^\| (.+?) \|", ONE_PAGE, re.MULTILINE)
    listed = [name for cell in first for name in re.findall(r"`([\w.]+)`", cell)]
    charts = {f"charts.{name}" for name in pr.charts.__all__}
    functions = {*pr.__all__, "sklearn", *charts} - {"charts", "errors", "polaroc"}
    assert functions | {*COMMANDS} == {*listed} - {"confidence"}


@pytest.mark.engine
def test_the_api_is_printed_on_two_sheets(tmp_path):
    if (chromium := program("chromium")) is None:
        missing("Chromium is not there")
    package("sphinx", "docs")
    page, printed = tmp_path / "sheets.html", tmp_path / "sheets.pdf"
    sheets = runpy.run_path(str(ROOT / "docs" / "extensions" / "sheets.py"))["sheets"]
    page.write_text(sheets(ONE_PAGE))
    options = ["--headless", "--no-sandbox", "--no-pdf-header-footer"]
    command = [chromium, *options, f"--print-to-pdf={printed}", str(page)]
    subprocess.run(command, check=True, capture_output=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed.read_bytes())) == 2


def test_every_picture_of_a_chart_is_shown_and_has_its_file():
    sys.path.insert(0, str(ROOT / "docs"))
    charts = importlib.import_module("pictures").CHARTS
    shown = {
        Path(image).name
        for page in PAGES
        for image in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text())
    }
    assert {f"{name}.svg" for name in charts} <= shown
    assert all((ROOT / "docs" / "images" / name).exists() for name in shown)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_recipes_exist(page):
    recipes = (ROOT / "justfile").read_text()
    for recipe in re.findall(r"`just (\w+)", page.read_text()):
        assert re.search(rf"^{recipe}\b.*:", recipes, re.MULTILINE), recipe


def names_of_the_reference():
    page = (ROOT / "docs" / "reference" / "index.md").read_text()
    return re.findall(r"^   ([\w.]+)$", page, re.MULTILINE)


def test_every_page_of_a_function_says_what_to_see_also():
    names = names_of_the_reference()
    # Each is a name of the reference, so that it has a page to lead to.
    assert [name for name in names if not BESIDE["related"](name)] == []
    listed = {other for others in BESIDE["RELATED"].values() for other in others}
    assert {*BESIDE["HUBS"], *BESIDE["RELATED"], *listed} <= set(names)


def test_a_relation_holds_both_ways_but_not_towards_a_hub():
    related, hubs = BESIDE["related"], BESIDE["HUBS"]
    assert "roc_from_pr" in related("pr_from_roc")
    assert "pr_from_roc" in related("roc_from_pr")
    for name, others in BESIDE["RELATED"].items():
        assert len(others) == len(set(others) - {name})
        for other in others:
            assert other in hubs or name in related(other)
            assert name in hubs or name not in BESIDE["RELATED"].get(other, []), (name, other)


def test_every_source_that_is_cited_is_known_and_every_known_one_is_cited():
    docstrings = [
        ast.get_docstring(node) or ""
        for file in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    assert {key for text in docstrings for key in BESIDE["cited"](text)} == set(BESIDE["SOURCES"])
    # These sections are the documentation's to write.
    assert not [text for text in docstrings if "See Also\n-" in text or "References\n-" in text]


@pytest.mark.parametrize(
    ("name", "related", "source"),
    [
        ("compare", "choose : Choose a model over", "Piepho"),
        ("warehouse.curve", "polaroc.curve : ROC curves, one", None),
        ("rates.precision", "skew : Negatives per positive", "Landgrebe, Pacl"),
        ("models.choice.Choice", "operating_points : ", None),
    ],
)
def test_pages_have_both_sections_in_the_order_of_numpydoc(name, related, source):
    # Results are not attributes of the package that offers them.
    before = getdoc(pydoc.locate(f"polaroc.{name}")).splitlines()
    lines = list(before)
    BESIDE["with_sections"](None, "function", f"polaroc.{name}", None, None, lines)
    # What stood there is there as it was.
    rest = iter(lines)
    assert all(line in rest for line in before)
    heads = [one for one, rule in pairwise(lines) if rule.startswith("---")]
    order = ["Parameters", "Attributes", "Returns", "Raises", "See Also", "Notes", "References",
             "Examples"]  # fmt: skip
    assert heads == [one for one in order if one in heads]
    assert any(line.startswith(related) for line in lines)
    assert ("References" in heads) == (source is not None)
    assert source is None or any(line.startswith(source) for line in lines)


def test_the_command_of_the_readme_answers_as_its_python_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pr.datasets.satellite_predictions().filter(fold=1).drop("fold")
    every_second = table["case"].rank("dense") % 2 == 0
    table.filter(every_second).write_parquet("half.parquet")
    table.filter(~every_second).write_parquet("tuning.parquet")
    (printed,) = re.findall(r"```text\n(Take .*?)\n```", README, re.DOTALL)
    (command,) = re.findall(r"\$ polaroc (report .*?)\n```", README, re.DOTALL)
    words = shlex.split(command.replace("\\\n", " "))
    before_out = words[1 : words.index("--out")]
    for call in (words, ["choose", *before_out]):
        found = polaroc(*call)
        assert found.exit_code == 0, found.output
        said = " ".join(found.output.split())
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", " ".join(printed.split())):
            assert sentence in said


def test_architecture_names_what_is_there():
    source = "\n".join(
        file.read_text()
        for folder in ("src", "tests", "docs")
        for file in (ROOT / folder).rglob("*.py")
    )
    page = (ROOT / "docs" / "architecture.md").read_text()
    names = set(re.findall(r"`(?:\w+\.)*(\w+)(?:\(\))?`", page))
    places = {part for file in (ROOT / "src").rglob("*.py") for part in file.with_suffix("").parts}
    assert not {name for name in names - places if not re.search(rf"\b{name}\b", source)}
