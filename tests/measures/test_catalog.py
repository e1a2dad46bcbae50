import runpy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from programs import package
from typer.testing import CliRunner

import polaroc as pr
from polaroc.charts.theme import measure_name
from polaroc.cli import app
from polaroc.measures.areas import auc_measure
from polaroc.measures.catalog import (
    CATALOG,
    default_measures,
    higher_is_better,
    select_measures,
)
from polaroc.measures.spec import Measure, MeasureArguments, MeasureDefinition

ROOT = Path(__file__).parents[2]
NAMES = {"truth": "truth", "score": "score"}
TWENTY = pr.datasets.twenty_scores()
# The AUC of the table, which others publish, is 0.68.
GINI = pytest.approx(2 * 0.68 - 1, abs=1e-12)


def gini_measure(given: MeasureArguments) -> list[Measure]:
    auc = auc_measure(backend=given.backend)
    return [
        replace(auc, name="gini", estimate=2 * auc.estimate - 1, warnings=(), gradient_terms=())
    ]


@pytest.fixture
def gini() -> Iterator[None]:
    CATALOG["gini"] = MeasureDefinition(
        name="gini",
        label="Gini",
        description="twice the AUC less one",
        build=gini_measure,
        in_summary=True,
    )
    yield
    del CATALOG["gini"]


@pytest.mark.usefixtures("gini")
def test_a_new_measure_is_evaluated():
    by_name = pr.evaluate(TWENTY, **NAMES, measures="gini")
    assert by_name["estimate"].to_list() == [GINI]
    every = pr.evaluate(TWENTY, **NAMES, priors=0.1)
    assert every["measure"].to_list() == ["auc", "auprec", "gini"]


@pytest.mark.usefixtures("gini")
def test_a_new_measure_is_an_expression():
    assert TWENTY.select(pr.expr.measure("gini", **NAMES)).item() == GINI


@pytest.mark.usefixtures("gini")
def test_a_new_measure_is_printed(tmp_path):
    TWENTY.write_csv(tmp_path / "scores.csv")
    asked = ["evaluate", str(tmp_path / "scores.csv"), "--truth", "truth", "--score", "score"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    assert "Gini" in result.output
    assert "0.360" in result.output


@pytest.mark.usefixtures("gini")
def test_a_new_measure_is_taken_in_a_database():
    ibis = pytest.importorskip("ibis")
    table = ibis.memtable(TWENTY)
    measures = pr.warehouse.evaluate(table, **NAMES, measures=["auc", "gini"])
    found = measures.order_by("measure").to_polars()
    assert found["estimate"].to_list() == [pytest.approx(0.68, abs=1e-12), GINI]


@pytest.mark.usefixtures("gini")
def test_a_new_measure_is_named_and_described():
    assert measure_name("gini at once") == "Gini at once"
    package("sphinx", "docs")
    page = runpy.run_path(str(ROOT / "docs" / "extensions" / "measure_table.py"))
    assert "| `gini` | Gini | twice the AUC less one | higher |  | yes |" in page["markdown"]()


@pytest.mark.slow
def test_every_measure_is_an_expression():
    over = (0.05, 0.2)
    found = pr.evaluate(TWENTY, **NAMES, priors=0.1, over=over, measures=list(CATALOG))
    for name, estimate in found.select("measure", "estimate").iter_rows():
        measure = pr.expr.measure(name, **NAMES, prior=0.1, over=over)
        assert TWENTY.select(measure).item() == pytest.approx(estimate, rel=1e-12)


def test_names_are_those_of_the_definitions():
    arguments = {"priors": 0.1, "over": (0.05, 0.2), "interpolation": "exact"}
    for name in CATALOG:
        assert [one.name for one in select_measures(name, **arguments).measures] == [name]


@pytest.mark.parametrize(
    ("measure", "higher"), [("auc", True), ("sens", False), ("equal_error", False), ("cost", True)]
)
def test_directions(measure, higher):
    assert higher_is_better(measure) is higher


def test_corrected_areas_are_taken_by_name_only():
    assert not {name for name in default_measures() if name.endswith("_corrected")}
    assert {"auc", "auprec", "iauprec", "sens"} < set(default_measures())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "lift"}, "allowed are"),
        ({"name": "sens"}, "over is None"),
        ({"name": "sens", "over": pr.beta(2, 9)}, "but over is"),
        ({"name": "auc", "prior": 2}, "prior"),
        ({"name": "auprec_corrected", "interpolation": "step"}, "'exact' only"),
        ({"name": "auprec", "interpolation": "hull"}, "'step'"),
    ],
)
def test_an_expression_refuses_what_a_measure_lacks(arguments, words):
    with pytest.raises(pr.errors.InvalidArgument, match=words):
        pr.expr.measure(**NAMES, **arguments)
