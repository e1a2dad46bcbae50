from itertools import pairwise

import crowds
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr

COUNT = 150
RANGE = (0.05, 0.6)
PRIORS = ("observed", 0.5, 0.02)


@pytest.fixture(scope="module", params=["dyadic", pytest.param("none", marks=pytest.mark.slow)])
def tables(request):
    return crowds.crowd(request.param, COUNT, seed=3)


@pytest.fixture(params=["exact", pytest.param("linear", marks=pytest.mark.slow), "hull"])
def interpolation(request):
    return request.param


def measured(tables, interpolation="exact", by="table", over=RANGE):
    weight = "weight" if "weight" in tables.collect_schema() else None
    return pr.evaluate(
        tables, truth="truth", score="score", by=by, weight=weight, priors=PRIORS, over=over,
        interpolation=interpolation,
    )  # fmt: skip


def same(found, expected, **kwargs):
    # Sens is a root: near 0 a last digit becomes half of them.
    assert_frame_equal(found, expected, rel_tol=1e-11, abs_tol=1e-8, **kwargs)


def test_rows_repeated_and_rows_with_weights(interpolation):
    tables = crowds.crowd("whole", COUNT, seed=4)
    repeated = tables.with_columns(pl.col("weight").cast(pl.Int64)).filter(pl.col("weight") > 0)
    repeated = repeated.select(pl.exclude("weight").repeat_by("weight").explode())
    kept = tables.filter(pl.col("table").is_in(repeated["table"].unique().implode()))
    # A weight does not make a row more than one negative, of which notes speak.
    rows, weights = (measured(one, interpolation).drop("note") for one in (repeated, kept))
    same(rows, weights, check_dtypes=False)


def test_scores_through_an_increasing_map(tables, interpolation):
    levels = tables["score"].unique().sort().to_numpy()
    random = np.random.default_rng(0).integers(-(2**62), 2**62, 2 * levels.size)
    image = np.unique(random.view(np.float64))
    image = np.sort(image[~np.isnan(image)])[: levels.size]
    score = pl.Series(image[np.searchsorted(levels, tables["score"].to_numpy())])
    assert all(a < b for a, b in pairwise(image))
    mapped = tables.with_columns(score=score)
    same(measured(mapped, interpolation), measured(tables, interpolation))


def test_labels_swapped_and_scores_negated(tables):
    mirrored = tables.with_columns(truth=~pl.col("truth"), score=-pl.col("score"))
    own = measured(tables)
    other = measured(mirrored, over=(1 - RANGE[1], 1 - RANGE[0]))
    for name in ("auc", "sens", "auc_range", "accsens", "equal_error"):
        ours, theirs = (frame.filter(pl.col("measure") == name) for frame in (own, other))
        same(theirs.select("table", "estimate"), ours.select("table", "estimate"))
