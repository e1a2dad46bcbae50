import pytest
from comparison import assert_same, predictions
from engines import ENGINES, Engine

import polaroc as pr
from polaroc import warehouse
from polaroc.warehouse.connections import collected

COLUMNS = {"truth": "truth", "score": "score"}
PRIORS = ["observed", 0.5, 0.05, 1e-4]
ASKED = {
    "exact": {"over": (0.05, 0.4)},
    "linear": {"over": (0.05, 0.2), "interpolation": "linear", "measures": ["auprec", "iauprec"]},
    "step": {"over": (0.05, 0.2), "interpolation": "step", "measures": ["auprec", "iauprec"]},
    "hull": {"over": (0.05, 0.2), "interpolation": "hull"},
    "a belief": {"over": pr.beta(2, 18)},
}


@pytest.mark.alike(2)
@pytest.mark.elsewhere("linear", "a belief", "hull")
@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("asked", ASKED)
def test_areas_are_those_of_polars(engine: Engine, asked, weight):
    table = predictions(11, weights=True)
    options = COLUMNS | {"priors": PRIORS, "weight": weight} | ASKED[asked]
    found = warehouse.evaluate(engine.table(table), **options)
    assert_same(found, pr.evaluate(table, **options))


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
def test_hulls_are_those_of_polars(engine: Engine, weight):
    here = pr.curve(predictions(11, weights=True), **COLUMNS, weight=weight)
    assert_same(warehouse.hull(engine.table(here)), pr.hull(here))


# All engines are named here, so that a run without them says how they are asked.
@pytest.mark.alike(2)
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_twenty_scores_have_the_published_areas(engine: Engine):
    table = engine.table(pr.datasets.twenty_scores().select("truth", "score"))
    areas = {
        interpolation: warehouse.evaluate(
            table, **COLUMNS, priors="observed", measures=measure, interpolation=interpolation
        )
        for measure, interpolation in (("auc", "exact"), ("auprec", "linear"))
    }
    assert collected(areas["exact"])["estimate"][0] == pytest.approx(0.68, abs=1e-12)
    # The published one leaves out the first segment, of one positive in ten.
    assert collected(areas["linear"])["estimate"][0] == pytest.approx(0.619124 + 0.1, abs=5e-7)
