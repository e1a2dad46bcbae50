"""The functions give in every engine what they give on this machine."""

from itertools import product

import polars as pl
import pytest
import role_tables
from comparison import assert_same, predictions
from engines import Engine

import polaroc as pr

# Databases know no empty name, and some no long one.
NAMES = [name for name in role_tables.HOSTILE if 0 < len(name) < 60]
WEIGHTINGS = [None, "count", "weight"]
EVALUATIONS = {
    "areas": {"priors": ["observed", 0.1, 1e-4], "over": (0.05, 0.4)},
    "linear": {"priors": 0.05, "over": (0.05, 0.2), "interpolation": "linear",
               "measure": ["auprec", "iauprec"]},
    "step": {"priors": 0.05, "over": (0.05, 0.2), "interpolation": "step",
             "measure": ["auprec", "iauprec"]},
    "hull": {"priors": 0.1, "over": (0.05, 0.2), "interpolation": "hull"},
    "belief": {"over": pr.beta(2, 18)},
    "scoring rules": {
        "priors": ["observed", 0.01], "over": (0.05, 0.2), "score_prior": 0.4,
        "measure": ["brier", "log_loss", "calibration_loss", "refinement_loss", "brier_skill",
                     "log_loss_range"],
    },
    "many priors": {"priors": [i / 101 for i in range(5, 60)], "measure": ["auprec", "brier"]},
}  # fmt: skip


FAST = {("areas", "weight"), ("hull", None), ("scoring rules", "count")}


@pytest.mark.parametrize(
    ("name", "weighting"),
    [
        pytest.param(*one, marks=[] if one in FAST else pytest.mark.slow)
        for one in product(EVALUATIONS, WEIGHTINGS)
    ],
)
def test_evaluate(engine: Engine, name, weighting):
    of = role_tables.table(len(name), weighting, names=NAMES)
    roles, asked = of.roles() | {"by": of.names["site"]}, dict(EVALUATIONS[name])
    found = pr.warehouse.evaluate(engine.table(of.frame), **roles, **asked)
    assert_same(found, pr.evaluate(of.frame, **roles, **asked))


@pytest.mark.parametrize("weighting", [None, "count"])
@pytest.mark.parametrize("by_site", [False, True])
def test_intervals(engine: Engine, weighting, by_site):
    of = role_tables.table(4, weighting, names=NAMES, size=80)
    roles = of.roles() | ({"by": of.names["site"]} if by_site else {})
    asked = {"priors": 0.1, "over": (0.05, 0.2), "intervals": True, "level": 0.9}
    expected = pr.evaluate(of.frame, **roles, **asked)
    assert expected["lower"].is_not_null().any()
    found = pr.warehouse.evaluate(engine.table(of.frame), **roles, **asked)
    values = ["estimate", "std_error", "lower", "upper", "note"]
    assert_same(found.drop(values[1:]), expected.drop(values[1:]))
    keys = [name for name in expected.columns if name not in values]
    both = found.join(expected, on=keys, suffix=" here", nulls_equal=True)
    assert both.height == expected.height
    for name in values[1:4]:
        assert both[name].to_list() == pytest.approx(both[f"{name} here"].to_list(), abs=1e-9)
    assert both["note"].to_list() == both["note here"].to_list()


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_curve_and_hull(engine: Engine, weighting):
    of = role_tables.table(5, weighting, names=NAMES)
    roles = of.roles() | {"by": of.names["site"]}
    here, uploaded = pr.curve(of.frame, **roles), engine.table(of.frame)
    assert_same(pr.warehouse.curve(uploaded, **roles), here)
    assert_same(pr.warehouse.hull(engine.table(here)), pr.hull(here))


@pytest.mark.parametrize("fold", ["fold", None])
def test_probabilities(engine: Engine, fold):
    tuning, use = predictions(1), predictions(2).with_row_index("case")
    use = use.with_columns(
        pl.col("case").cast(pl.Int64),
        score=pl.when(pl.col("case") != 7).then("score"),
        model=pl.when(pl.col("case") == 9).then(pl.lit("new")).otherwise("model"),
    )
    asked = {"score": "score", "fold": fold, "priors": ["observed", 0.05]}
    of_tuning = {"truth": "truth", "score": "score", "fold": fold}
    local = pr.curve(tuning, **of_tuning)
    expected = pr.probabilities(use.lazy(), local, **asked).collect()
    there = engine.table(use)
    for curve in (local, pr.warehouse.curve(engine.table(tuning), **of_tuning)):
        assert_same(pr.warehouse.probabilities(there, curve, **asked), expected)


def test_a_column_of_scores_per_model(engine: Engine):
    name = "it's another"
    table = predictions(5, weights=True).drop("model")
    table = table.with_columns(pl.int_range(pl.len()).alias(name))
    asked = {"truth": "truth", "score": ["score", name], "weight": "weight", "priors": 0.1}
    assert_same(pr.warehouse.evaluate(engine.table(table), **asked), pr.evaluate(table, **asked))
    nulls = table.with_columns(score=pl.when(pl.col("truth")).then("score"))
    asked |= {"nulls": "drop"}
    assert_same(pr.warehouse.evaluate(engine.table(nulls), **asked), pr.evaluate(nulls, **asked))


def test_twenty_scores_have_the_published_areas(engine: Engine):
    table = engine.table(pr.datasets.twenty_scores().select("truth", "score"))
    areas = [
        pr.warehouse.evaluate(
            table, truth="truth", score="score", measure=measure, interpolation=how
        )["estimate"][0]
        for measure, how in (("auc", "exact"), ("auprec", "linear"))
    ]
    # The published one leaves out the first segment, of one positive in ten.
    assert areas == pytest.approx([0.68, 0.619124 + 0.1], abs=5e-7)
