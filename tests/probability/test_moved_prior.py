"""How far probabilities are off once the prior moved, in a few tables."""

import polars as pl
import pytest
from simulations import probabilities


@pytest.fixture(scope="module")
def found():
    design = probabilities.DESIGNS["moved"]
    return pl.DataFrame(
        {**cell, **row} for cell in design.cells for row in design.run(25, design.seed, **cell)
    ).with_columns(pl.col("prior").cast(pl.Float64))


def test_scores_that_are_right_stay_right_at_any_prior(found):
    right = found.filter(probabilities="re-weighted, right when balanced")
    assert right["prior"].to_list() == [0.01, 0.05, 0.2, 0.5]
    assert right["error"].to_list() == pytest.approx([0.0] * 4, abs=1e-9)
    assert right["ratio"].to_list() == pytest.approx([1.0] * 4, abs=1e-6)


def test_scores_that_are_too_extreme_expect_too_many_where_positives_are_rare(found):
    extreme = found.filter(probabilities="re-weighted, too extreme").sort("prior")
    # By symmetry as many as there are where half of the cases are positive.
    assert extreme["ratio"].to_list()[-1] == pytest.approx(1.0, abs=1e-6)
    assert extreme["ratio"].is_sorted(descending=True)
    assert extreme["error"].is_sorted(descending=True)


def test_the_hull_errs_less_with_more_cases_and_more_where_positives_are_rare(found):
    hull = found.filter(probabilities="calibrated by the hull")
    for (_,), part in hull.group_by("prior", maintain_order=True):
        assert part["error"].is_sorted(descending=True)
    for (_,), part in hull.group_by("tuning", maintain_order=True):
        assert part["error"].is_sorted(descending=True)
    many = hull.filter(tuning="1,000 + 4,000")
    within = pl.col("ratio") - 1
    assert many.select((within.abs() < 0.1).all()).item()
