import io
from functools import partial
from math import inf

import oracles
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc import rates


def curve(table: pl.DataFrame, **kwargs) -> pl.DataFrame:
    weight = "weight" if "weight" in table.columns else None
    return pr.curve(table, truth="truth", score="score", weight=weight, **kwargs)


SMALL = pl.DataFrame({"truth": [1, 0, 1, 0, 0], "score": [0.9, 0.8, 0.7, 0.7, 0.1]})


@pytest.mark.parametrize("copies", [1, 2, 7, 40])
def test_rounded_sums_of_weights_do_not_hide_the_limit_at_recall_zero(copies):
    tied = [(True, 9.0, w) for w in (0.1, 0.2, 0.3)] + [(False, 9.0, w) for w in (0.7, 0.2, 0.1)]
    rest = [(False, 5.0, 0.3), (True, 4.0, 0.4)]
    table = pl.DataFrame(tied * copies + rest, schema=["truth", "score", "weight"], orient="row")
    points = oracles.roc(table)
    expected = points.t[1] / (points.t[1] + 9 * points.f[1])
    found = curve(table).pipe(pr.surface, 0.1)["precision"].to_list()
    assert found[:2] == pytest.approx([expected, expected], rel=1e-12)


@pytest.mark.parametrize(
    ("truth", "score", "limit"),
    [
        ([1, 0], [2, 1], 1.0),
        ([0, 1], [2, 1], 0.0),
        ([1, 0], [1, 1], 0.2),
        ([1, 0, 1, 0, 0], [2, 2, 1, 1, 1], (1 / 2) / (1 / 2 + 4 / 3)),
    ],
)
def test_precision_at_recall_zero_is_its_limit(truth, score, limit):
    curves = pl.DataFrame({"truth": truth, "score": score}).pipe(curve)
    for table in (curves, curves.pipe(pr.hull) if limit else curves):
        assert table.pipe(pr.surface, 0.2)["precision"][0] == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "at_origin"),
    [
        ("precision", 1), ("lift", 10), ("likelihood_ratio_positive", inf), ("recall", 0),
        ("specificity", 1), ("tnr", 1), ("fnr", 1), ("npv", 0.9), ("error", 0.1),
        ("accuracy", 0.9), ("posfrac", 0), ("f_measure", 0), ("informedness", 0),
        ("likelihood_ratio_negative", 1), ("matthews", None), ("loss", 0.05), ("net_benefit", 0),
    ],
)  # fmt: skip
def test_rates_where_nothing_is_called_positive(name, at_origin):
    found = SMALL.pipe(curve).pipe(pr.surface, 0.1, name)[name][0]
    assert found == (None if at_origin is None else pytest.approx(at_origin, rel=1e-12))


def test_rows_are_in_the_order_of_the_curve_then_of_the_priors():
    curves = pl.concat([SMALL.with_columns(k=pl.lit(k)) for k in "ab"]).pipe(curve, by="k")
    found = curves.pipe(pr.surface, [0.5, 0.1])
    assert_frame_equal(found.gather_every(2).select(curves.columns), curves)
    assert found["prior"].to_list() == [0.5, 0.1] * curves.height


def test_observed_is_the_share_of_positives_of_each_key():
    table = pl.DataFrame(
        {
            "k": ["a"] * 8 + ["b"] * 2 + ["c"] * 2,
            "truth": [1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1],
            "score": [8, 7, 6, 5, 4, 3, 2, 1, 2, 1, 2, 1],
        }
    )
    found = curve(table, by="k").pipe(pr.surface, ["observed", 0.1])
    observed = found.gather_every(2).select("k", "prior", "skew").unique(maintain_order=True)
    assert observed.rows() == [("a", 0.25, 3.0), ("b", 0.5, 1.0), ("c", None, None)]
    assert set(found.gather_every(2, 1)["prior"]) == {0.1}
    share = pl.col("tp") / (pl.col("tp") + pl.col("fp"))
    two = found.gather_every(2).filter(pl.col("k") != "c", pl.col("threshold").is_not_null())
    assert two["precision"].to_list() == pytest.approx(two.select(share).to_series().to_list())


@pytest.mark.parametrize("truth", [0, 1])
def test_rates_of_an_absent_class_are_null(truth):
    table = pl.DataFrame({"truth": [truth, truth], "score": [2, 1]})
    found = table.pipe(curve).pipe(pr.surface, 0.1, ["precision", "accuracy", "matthews"])
    assert found.select("precision", "accuracy", "matthews").null_count().row(0) == (3, 3, 3)


def test_null_keys_have_their_own_limit():
    table = pl.concat([SMALL.with_columns(k=pl.lit(k, pl.String)) for k in ("a", None)])
    found = curve(table, by="k").pipe(pr.surface, 0.1)
    alone = SMALL.pipe(curve).pipe(pr.surface, 0.1)["precision"].to_list()
    assert found["precision"].to_list() == pytest.approx(alone * 2, rel=1e-12)


def test_rates_of_your_own():
    mine = {"f2": partial(rates.f_measure, beta=2), "lift": lambda t, f, skew: t * 0 + skew}
    found = SMALL.pipe(curve).pipe(pr.surface, 0.1, mine)
    assert found.columns[-2:] == ["f2", "lift"]
    assert set(found["lift"].round(12)) == {9.0}
    t, f = found["tpr"][2], found["fpr"][2]
    assert found["f2"][2] == pytest.approx(5 * t / (t + 9 * f + 4))


def test_a_grid_gives_its_priors():
    grid = pr.prior_grid(0.05, 0.2, 4)
    found = SMALL.pipe(curve).pipe(pr.surface, grid)
    pairs = found.select("prior", "skew").unique(maintain_order=True)
    assert pairs.to_numpy() == pytest.approx(grid.to_numpy(), rel=1e-12)


# --- lazily ------------------------------------------------------------------------------------

SATELLITE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 3)
GRID = pr.prior_grid(0.05, 0.2, 3)


def test_each_step_pipes_into_the_next_by_model_and_fold():
    steps = {
        "hull": pr.hull,
        "hull of a hull": lambda curves: curves.pipe(pr.hull).pipe(pr.hull),
        "surface": lambda curves: curves.pipe(pr.surface, GRID),
        "surface of a hull": lambda curves: curves.pipe(pr.hull).pipe(pr.surface, GRID),
        "achievable": lambda curves: curves.pipe(pr.achievable, GRID, 5),
        "dominance of hulls": lambda curves: curves.pipe(pr.hull).pipe(pr.dominance),
        "mean": lambda curves: curves.pipe(pr.surface, GRID).pipe(pr.mean_curve, n=5),
        "mean of hulls": lambda curves: curves.pipe(pr.hull).pipe(pr.mean_curve, n=5),
    }
    for name, step in steps.items():
        eager, lazy = step(pr.curve(SATELLITE)), step(pr.curve(SATELLITE.lazy()))
        assert isinstance(lazy, pl.LazyFrame), name
        assert lazy.collect_schema() == eager.schema, name
        assert_frame_equal(lazy.collect(), eager, rel_tol=1e-12)
        if "fold" in eager.columns:
            alone = step(pr.curve(SATELLITE.filter(fold=2)))
            assert_frame_equal(eager.filter(fold=2), alone, rel_tol=1e-12)


def test_a_plan_of_a_surface_holds_no_python_and_can_be_sent_elsewhere():
    plan = pr.curve(SATELLITE.lazy()).pipe(pr.surface, ["observed", 0.1], ["precision", "lift"])
    assert "PYTHON" not in plan.explain().upper()
    sent = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    assert_frame_equal(sent.collect(), plan.collect())
    mean = pr.mean_curve(plan.filter(prior=0.1).drop("lift"), n=5)
    sent = pl.LazyFrame.deserialize(io.BytesIO(mean.serialize()))
    assert_frame_equal(sent.collect(), mean.collect(), rel_tol=1e-12)


def test_filters_of_keys_reach_the_curve_and_filters_of_priors_the_grid():
    points = pr.curve(SATELLITE.lazy()).pipe(pr.surface, GRID)
    few = points.filter(pl.col("model") == "A", pl.col("prior") > 0.1)
    above, beside = few.explain().split("CROSS JOIN", 1)
    assert "FILTER" not in above
    assert beside.index('FILTER col("model")') < beside.index("RIGHT PLAN")
    kept = (pl.col("model") == "A") & (pl.col("prior") > 0.1)
    assert_frame_equal(few.collect(), points.collect().filter(kept))
