from functools import partial

import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import ENGINES, Engine

import polaroc as pr
from polaroc import rates, warehouse
from polaroc.curves.surface import RATES
from polaroc.measures.areas import INTERPOLATIONS, STARTS
from polaroc.warehouse.connections import collected

COLUMNS = {"truth": "truth", "score": "score"}
PRIORS = ["observed", 0.5, 0.05, 1e-4]
STEPS = {
    "auc": ("auc", {}),
    "auc at low fpr": ("auc", {"fpr": (0.0, 0.2)}),
    "standardised": ("auc", {"fpr": (0.1, 0.3), "standardise": True}),
    "auc at high tpr": ("auc", {"tpr": (0.7, 1.0)}),
    "at some recalls": ("auprec", {"priors": PRIORS, "recall": (0.2, 0.7)}),
    "linear at some recalls": (
        "auprec", {"priors": PRIORS, "recall": (0.2, 0.7), "interpolation": "linear"},
    ),
    "iauprec": ("iauprec", {"over": (0.05, 0.2)}),
    "iauprec over skews": ("iauprec", {"over": (0.05, 0.2), "measure": "skew"}),
    "iauprec of steps": ("iauprec", {"over": (0.05, 0.2), "interpolation": "step"}),
    "iauprec of a belief": ("iauprec", {"over": pr.beta(2, 18)}),
    "iauprec of points": ("iauprec", {"over": pr.points([0.1, 0.3])}),
    "of hulls": ("auprec", {"priors": PRIORS, "interpolation": "hull", "start": "one"}),
    "iauprec of hulls": ("iauprec", {"over": (0.05, 0.2), "interpolation": "hull"}),
    "sens": ("sens", {"over": (0.05, 0.4)}),
    "accsens": ("accsens", {"over": (0.05, 0.4)}),
    "accsens by partial area": (
        "accsens", {"over": (0.05, 0.4), "weights": (1, 2), "area": "partial"},
    ),
} | {
    f"{interpolation}, {start}": (
        "auprec", {"priors": PRIORS, "interpolation": interpolation, "start": start},
    )
    for interpolation in INTERPOLATIONS if interpolation != "hull" for start in STARTS
}  # fmt: skip


def curves_of(engine: Engine, weighted: bool) -> tuple[object, pl.DataFrame]:
    table = predictions(11, weights=weighted)
    here = pr.curve(table, **COLUMNS, weight="weight" if weighted else None)
    # How the engine makes curves is for other tests, and would be done again for every measure.
    return engine.table(here), here


@pytest.fixture(scope="module")
def curves(engine: Engine) -> tuple[object, pl.DataFrame]:
    return curves_of(engine, weighted=False)


@pytest.fixture(scope="module")
def weighted_curves(engine: Engine) -> tuple[object, pl.DataFrame]:
    return curves_of(engine, weighted=True)


def assert_step_same(curves: tuple[object, pl.DataFrame], step: str) -> None:
    there, here = curves
    name, asked = STEPS[step]
    assert_same(getattr(warehouse, name)(there, **asked), getattr(pr, name)(here, **asked))


@pytest.mark.alike(3)
@pytest.mark.elsewhere(
    "auc at low fpr",
    "linear at some recalls",
    "exact, limit",
    "step, one",
    "iauprec of a belief",
    "of hulls",
    "accsens by partial area",
)
@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_measures_of_curves_are_those_of_polars(curves, step):
    assert_step_same(curves, step)


@pytest.mark.alike(2)
@pytest.mark.elsewhere("exact, limit", "accsens")
@pytest.mark.slow
@pytest.mark.parametrize("step", ["auc", "exact, limit", "linear at some recalls", "accsens"])
def test_measures_of_weighted_curves_are_those_of_polars(weighted_curves, step):
    assert_step_same(weighted_curves, step)


@pytest.mark.slow
def test_hulls_are_those_of_polars(curves, weighted_curves):
    for there, here in (curves, weighted_curves):
        assert_same(warehouse.hull(there), pr.hull(here))


@pytest.mark.slow
def test_surfaces_are_those_of_polars(curves):
    there, here = curves
    of_ours = {"f2": partial(rates.f_measure, beta=2), "miss": lambda t, f, skew: 1 - t**2}
    for asked in (list(RATES), of_ours):
        assert_same(warehouse.surface(there, PRIORS, asked), pr.surface(here, PRIORS, asked))


# All engines are named here, so that a run without them says how they are asked.
@pytest.mark.alike(2)
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_twenty_scores_have_the_published_areas(engine: Engine):
    table = engine.table(pr.datasets.twenty_scores().select("truth", "score"))
    points = warehouse.curve(table, truth="truth", score="score")
    assert collected(warehouse.auc(points))["estimate"][0] == pytest.approx(0.68, abs=1e-12)
    area = warehouse.auprec(points, interpolation="linear", start="drop")
    assert collected(area)["estimate"][0] == pytest.approx(0.619124, abs=5e-7)
