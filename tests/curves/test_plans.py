"""Curves, surfaces and areas as plans: every step pipes into the next, and nothing is hidden."""

import io

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.curves.segments import segment, segments

TABLE = pr.datasets.satellite_predictions()
GRID = pr.prior_grid(0.05, 0.20, 4)
STEPS = {
    "curve": pr.curve,
    "surface": lambda table: table.pipe(pr.curve).pipe(pr.surface, GRID),
    "auc": lambda table: table.pipe(pr.curve).pipe(pr.auc),
    "auprec": lambda table: table.pipe(pr.curve).pipe(pr.auprec, [0.1, 0.3]),
    "auprec of a surface": lambda table: (
        table.pipe(pr.curve).pipe(pr.surface, GRID).pipe(pr.auprec)
    ),
    "iauprec": lambda table: table.pipe(pr.curve).pipe(pr.iauprec, (0.05, 0.20)),
    "sens": lambda table: table.pipe(pr.curve).pipe(pr.sens, (0.05, 0.20)),
}
OF_HULLS = {
    "hull": lambda table: table.pipe(pr.curve).pipe(pr.hull),
    "surface of hulls": lambda table: table.pipe(pr.curve).pipe(pr.hull).pipe(pr.surface, GRID),
    "auprec of hulls": lambda table: (
        table.pipe(pr.curve).pipe(pr.hull).pipe(pr.surface, GRID).pipe(pr.auprec)
    ),
    "achievable": lambda table: table.pipe(pr.curve).pipe(pr.achievable, [0.1], 11),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_plans_hold_no_python_and_serialise(step):
    plan = TABLE.lazy().pipe(step)
    assert "PYTHON" not in plan.explain()
    sent = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    assert_frame_equal(sent.collect(), plan.collect(), rel_tol=1e-12)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_filter_on_a_key_reaches_the_file(step, tmp_path):
    TABLE.write_parquet(tmp_path / "predictions.parquet")
    plan = pl.scan_parquet(tmp_path / "predictions.parquet").pipe(step).filter(model="A")
    assert 'SELECTION: col("model") == "A"' in plan.explain()
    expected = TABLE.pipe(step).filter(model="A")
    assert_frame_equal(plan.collect(), expected, rel_tol=1e-12)


@pytest.mark.parametrize("step", (STEPS | OF_HULLS).values(), ids=STEPS | OF_HULLS)
def test_each_step_of_a_lazy_table_is_that_of_a_frame(step):
    lazy = TABLE.lazy().pipe(step)
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), TABLE.pipe(step), rel_tol=1e-12)


def test_the_area_of_a_surface_is_that_of_its_curve_at_its_priors():
    curves = TABLE.pipe(pr.curve)
    at_priors = curves.pipe(pr.auprec, GRID)
    assert_frame_equal(curves.pipe(pr.surface, GRID).pipe(pr.auprec), at_priors, rel_tol=1e-12)
    linear = curves.pipe(pr.surface, GRID).pipe(pr.auprec, interpolation="linear", start="one")
    expected = curves.pipe(pr.auprec, GRID, interpolation="linear", start="one")
    assert_frame_equal(linear, expected, rel_tol=1e-12)
    with pytest.raises(pr.errors.InvalidArgument, match="leave priors out"):
        curves.pipe(pr.surface, GRID).pipe(pr.auprec, 0.1)


def test_a_measure_of_one_s_own_is_an_expression_over_segments():
    curves, s = TABLE.lazy().pipe(pr.curve), segment()
    # The mean false positive rate of the positives: one less the AUC.
    missed = (s.dt * (s.f0 + s.f1) / 2).sum()
    own = segments(curves, ["model", "fold"]).group_by("model", "fold").agg(missed=missed)
    known = curves.pipe(pr.auc).select("model", "fold", missed=1 - pl.col("estimate"))
    keys = ["model", "fold"]
    assert_frame_equal(own.sort(keys).collect(), known.sort(keys).collect(), rel_tol=1e-12)
