"""Each design of the simulations runs, and pages show the results that are kept."""

from pathlib import Path

import polars as pl
import pytest
from simulations.design import RESULTS, read, write
from simulations.run import DESIGNS, MARKED, filled

PAGES = sorted((Path(__file__).parents[1] / "docs").rglob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_the_first_cell_of_each_design_gives_what_is_kept(name):
    found, kept = DESIGNS[name].rows(0, 2), read(name)
    first = kept.filter(
        pl.col(name) == str(value) for name, value in DESIGNS[name].cells[0].items()
    )
    assert [*found[0]] == kept.columns
    assert len(found) == first.height


@pytest.mark.parametrize("name", DESIGNS)
def test_every_cell_is_kept(name):
    cells = [tuple(map(str, cell.values())) for cell in DESIGNS[name].cells]
    kept = read(name).select(list(DESIGNS[name].cells[0])).unique(maintain_order=True).rows()
    assert kept == cells


def test_results_have_designs():
    assert {file.stem for file in RESULTS.iterdir()} == set(DESIGNS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_of_pages_are_those_that_are_kept(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text
    assert len(MARKED.findall(text)) == text.count("<!-- results: ")


def test_cells_that_are_run_again_replace_the_old(tmp_path, monkeypatch):
    monkeypatch.setattr("simulations.design.RESULTS", tmp_path)
    both = pl.DataFrame({"cell": ["a", "a", "b"], "share": ["0.1", "0.2", "0.3"]})
    write("one", both, ["cell"])
    write("one", pl.DataFrame({"cell": ["a"], "share": ["0.4"]}), ["cell"])
    assert read("one").rows() == [("a", "0.4"), ("b", "0.3")]
