import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.priors.isolines import precision_contours


def grid() -> pl.DataFrame:
    table = pr.datasets.satellite_predictions().filter(fold=1)
    curves = pr.curve(table, truth="truth", score="score")
    return pr.achievable(curves, [0.5, 0.1], recall=[0, 0.3, 0.7, 1])


def test_precision_is_the_level_at_the_prior_of_the_line():
    found = precision_contours(grid(), [0.3, 0.9])
    assert found.height == 3 * 2 * 3
    rates = grid().select("model", "tpr", "fpr").unique()
    for row in found.join(rates, on=["model", "tpr"]).iter_rows(named=True):
        pi, t, f = row["prior"], row["tpr"], row["fpr"]
        if f > 0:
            assert pi * t / (pi * t + (1 - pi) * f) == pytest.approx(row["level"])
        else:
            assert pi == 0


def test_lazy_and_eager():
    lazy = precision_contours(grid().lazy(), 0.5)
    assert lazy.collect_schema() == precision_contours(grid(), 0.5).schema
    assert_frame_equal(lazy.collect(), precision_contours(grid(), 0.5))


@pytest.mark.parametrize("levels", [0, 1, [], "high", [0.5, 2]])
def test_levels_that_are_no_precision_are_refused(levels):
    with pytest.raises(pr.errors.InvalidArgument, match="Hint:"):
        precision_contours(grid(), levels)
