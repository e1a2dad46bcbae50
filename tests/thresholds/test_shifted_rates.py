import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.thresholds.operating_points import shifted_rates


def points() -> pl.DataFrame:
    table = pl.DataFrame(
        {
            "model": ["a"] * 6 + ["b"] * 6 + ["c"] * 2,
            "truth": [1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0],
            "score": [6, 5, 4, 3, 2, 1, 6, 5, 4, 3, 2, 1, 2, 1],
        }
    )
    curves = pr.curve(table, truth="truth", score="score")
    return pr.operating_points(curves, "threshold", target=4)


def test_counts_in_a_population_of_that_prior():
    found = shifted_rates(points(), [0.5, 0.04], ["accuracy", "precision", "tnr"])
    assert found.columns == ["model", "prior", "skew", "accuracy", "precision", "tnr"]
    # Of `a` both positives and one of four negatives are called positive, as of `b`;
    # in 100 cases with 4 positives that is 4 + 24 positive calls. `c` has no positives.
    assert found["model"].to_list() == ["a", "a", "b", "b"]
    rare = found.filter(pl.col("prior") == 0.04)
    assert rare["precision"].to_list() == pytest.approx([4 / 28] * 2)
    assert rare["accuracy"].to_list() == pytest.approx([(4 + 72) / 100] * 2)
    assert found["tnr"].to_list() == [0.75] * 4
    assert found["skew"].to_list() == pytest.approx([1, 24, 1, 24])


def test_lazy_and_observed():
    lazy = shifted_rates(points().lazy(), "observed", ["accuracy"])
    assert lazy.collect_schema() == lazy.collect().schema
    # A third of the six cases of `a` are positive, one of its negatives is called so.
    assert lazy.collect()["accuracy"].to_list() == pytest.approx([5 / 6] * 2)


def test_undefined_rates_are_null():
    nothing = points().with_columns(tpr=pl.lit(0.0), fpr=pl.lit(0.0))
    assert shifted_rates(nothing, 0.5, ["precision"])["precision"].null_count() == 3


def test_refuses():
    with pytest.raises(InvalidTable, match="operating_points"):
        shifted_rates(points().drop("tpr"), 0.5, ["accuracy"])
    with pytest.raises(InvalidArgument, match="no rate 'exactness'"):
        shifted_rates(points(), 0.5, ["exactness"])
