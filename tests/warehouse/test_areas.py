from functools import partial

import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import Engine
from sklearn.metrics import average_precision_score, roc_auc_score

import polaroc as pr
from polaroc import rates, warehouse
from polaroc.area_measures import INTERPOLATIONS, STARTS
from polaroc.errors import InvalidArgument
from polaroc.surfaces import RATES
from polaroc.warehouse.collecting import collected

COLUMNS = {"truth": "truth", "score": "score", "by": ["model", "fold"]}
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
    "iauprec of hulls": ("iauprec", {"over": (0.05, 0.2), "interpolation": "hull"}),
    "iauprec of a belief": ("iauprec", {"over": pr.beta(2, 18)}),
    "iauprec of points": ("iauprec", {"over": pr.points([0.1, 0.3])}),
    "sens": ("sens", {"over": (0.05, 0.4)}),
    "accsens": ("accsens", {"over": (0.05, 0.4)}),
    "accsens by partial area": (
        "accsens", {"over": (0.05, 0.4), "weights": (1, 2), "area": "partial"},
    ),
}  # fmt: skip
PAIRS = [(interpolation, start) for interpolation in INTERPOLATIONS for start in STARTS]


@pytest.fixture(params=[False, True], ids=["counted", "weighted"])
def curves(request, engine: Engine) -> tuple[object, pl.DataFrame]:
    table = predictions(11, weights=request.param)
    asked = COLUMNS | ({"weight": "weight"} if request.param else {})
    return warehouse.curve(engine.table(table), **asked), pr.curve(table, **asked)


@pytest.mark.parametrize("step", STEPS)
def test_measures_of_curves_are_those_of_polars(curves, step):
    there, here = curves
    name, asked = STEPS[step]
    assert_same(getattr(warehouse, name)(there, **asked), getattr(pr, name)(here, **asked))


@pytest.mark.parametrize(("interpolation", "start"), PAIRS)
def test_auprec_is_that_of_polars(curves, interpolation, start):
    there, here = curves
    asked = {"priors": PRIORS, "interpolation": interpolation, "start": start}
    assert_same(warehouse.auprec(there, **asked), pr.auprec(here, **asked))


def test_hulls_are_those_of_polars(curves):
    there, here = curves
    assert_same(warehouse.hull(there), pr.hull(here))


def test_surfaces_are_those_of_polars(curves):
    there, here = curves
    of_ours = {"f2": partial(rates.f_measure, beta=2), "miss": lambda t, f, skew: 1 - t**2}
    for asked in (list(RATES), of_ours):
        assert_same(warehouse.surface(there, PRIORS, asked), pr.surface(here, PRIORS, asked))


def test_areas_are_those_of_scikit_learn(engine: Engine):
    table = predictions(12).filter(pl.col("score").is_finite())
    found = warehouse.evaluate(
        engine.table(table), truth="truth", score="score", priors="observed", interpolation="step"
    )
    numbers = dict(collected(found.select("measure", "estimate")).rows())
    truth, score = table["truth"].to_numpy(), table["score"].to_numpy()
    assert numbers["auc"] == pytest.approx(roc_auc_score(truth, score), abs=1e-12)
    assert numbers["auprec"] == pytest.approx(average_precision_score(truth, score), abs=1e-12)


def test_twenty_scores_have_the_published_areas(engine: Engine):
    table = engine.table(pr.datasets.twenty_scores().select("truth", "score"))
    points = warehouse.curve(table, truth="truth", score="score")
    assert collected(warehouse.auc(points))["estimate"][0] == pytest.approx(0.68, abs=1e-12)
    area = warehouse.auprec(points, interpolation="linear", start="drop")
    assert collected(area)["estimate"][0] == pytest.approx(0.619124, abs=5e-7)


def test_a_perfect_score_and_a_constant_one_have_their_closed_forms(engine: Engine):
    truth = [True] * 3 + [False] * 4
    table = pl.DataFrame({"truth": truth * 2, "score": [1.0] * 3 + [0.0] * 4 + [0.5] * 7})
    table = table.with_columns(pl.Series("model", ["perfect"] * 7 + ["constant"] * 7))
    found = warehouse.evaluate(
        engine.table(table), truth="truth", score="score", by="model", priors=0.2, over=(0.1, 0.3)
    )
    rows = collected(found.select("model", "measure", "estimate")).rows()
    numbers = {(model, measure): estimate for model, measure, estimate in rows}
    expected = {
        "perfect": {"auc": 1, "auprec": 1, "iauprec": 1, "sens": 0, "accsens": 0},
        "constant": {"auc": 0.5, "auprec": 0.2, "iauprec": 0.2, "sens": 0.2},
    }
    for model, values in expected.items():
        for measure, value in values.items():
            assert numbers[model, measure] == pytest.approx(value, abs=1e-12), (model, measure)


def test_no_prior_is_refused(curves):
    with pytest.raises(InvalidArgument, match="no prior"):
        warehouse.auprec(curves[0], [])
    with pytest.raises(InvalidArgument, match="no prior"):
        warehouse.surface(curves[0], [])


def test_a_prior_outside_its_range_is_refused(curves):
    with pytest.raises(InvalidArgument, match="prior is 1"):
        warehouse.auprec(curves[0], 1)
