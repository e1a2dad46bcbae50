import numpy as np
import polars as pl
import pytest
from comparison import INFINITE, assert_same, predictions
from engines import Engine
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument

COLUMNS = {"truth": "truth", "score": "score"}
ASKED = COLUMNS | {"priors": ["observed", 0.5, 0.01, 1e-4], "over": (0.02, 0.3)}
MEASURES = ["auc", "auprec", "iauprec"]
ORDER = ["model", "fold", "measure", "prior"]
BINS = [
    (1, False), (10, True), (1000, False), ([-1.0, 0.25, 0.7], False),
    ([0.1, 0.2, 0.3, 0.30000000000000004], True),
]  # fmt: skip


def bounds(engine: Engine, table: pl.DataFrame, bins, **more) -> pl.DataFrame:
    found = pr.warehouse.evaluate(engine.table(table), **ASKED, bins=bins, **more)
    return pr.warehouse.collected(found).sort(ORDER)


@pytest.mark.alike
@pytest.mark.elsewhere("10-True", "[-1.0, 0.25, 0.7]-False")
@pytest.mark.parametrize(("bins", "weighted"), BINS, ids=str)
def test_the_truth_is_never_missed(engine: Engine, bins, weighted):
    more = {"weight": "weight"} if weighted else {}
    # Many small tables at once, told apart by a key.
    table = pl.concat(
        predictions(seed, 300, weights=weighted).with_columns(model=pl.lit(str(seed)))
        for seed in range(20)
    )
    found = bounds(engine, table, bins, **more)
    truth = pr.evaluate(table, **ASKED, measures=MEASURES, **more).sort(ORDER)
    assert found["note"].to_list() == truth["note"].to_list()
    estimate = truth["estimate"]
    assert estimate.is_between(found["lower"], found["upper"]).all()
    assert found["estimate"].is_between(found["lower"], found["upper"]).all()


@pytest.mark.long
def test_the_bounds_are_reached_by_the_best_and_the_worst_order(engine: Engine):
    table = predictions(4, 200)
    found = bounds(engine, table, 5)
    score = pl.col("score")
    lower = pl.when(score < 0).then(-INFINITE).otherwise((score * 5).floor().clip(upper_bound=5))
    for end, sign in (("upper", 1), ("lower", -1)):
        # Within a bin by truth, and then no two alike, so that nothing is tied.
        steps = pl.struct(lower.alias("bin"), pl.col("truth").cast(pl.Int8) * sign)
        ordered = table.with_columns(steps.rank("ordinal").cast(pl.Float64).alias("score"))
        expected = pr.evaluate(ordered, **ASKED, measures=MEASURES).sort(ORDER)
        np.testing.assert_allclose(
            found[end].to_numpy(), expected["estimate"].to_numpy(), rtol=0, atol=1e-9
        )


def test_bins_as_fine_as_the_scores_lose_nothing(engine: Engine):
    table = predictions(5, 300)
    edges = table["score"].unique().sort().to_list()
    edges = [edge for edge in edges if abs(edge) < INFINITE]
    asked = COLUMNS | {"measures": MEASURES[:2]}
    # Scores of plus infinity would share the last bin.
    finite = table.filter(pl.col("score") < INFINITE)
    found = pr.warehouse.evaluate(engine.table(finite), **asked, bins=edges)
    assert_same(found.drop("lower", "upper"), pr.evaluate(finite, **asked))


@pytest.mark.parametrize(
    ("bins", "weighted"), [(100, False), ([-1.0, 0.1, 0.25, 0.7], True)], ids=str
)
def test_counts_are_those_of_polars(engine: Engine, bins, weighted):
    table = predictions(6, 300, weights=weighted).with_columns(
        score=pl.when(pl.int_range(pl.len()) % 29 == 3).then(0.29).otherwise("score"),
        truth=pl.when(pl.int_range(pl.len()) != 70).then("truth"),
    )
    asked = COLUMNS | {"weight": "weight" if weighted else None, "bins": bins}
    fetched = pr.warehouse.collected(pr.warehouse.binned(engine.table(table), **asked))
    expected = pr.binned(table.lazy(), **asked).collect()
    assert expected["pos"].null_count() == 1
    assert_frame_equal(pr.merge_bins(fetched), expected, rel_tol=1e-12)


@pytest.mark.parametrize("bins", [0, -1, 10**7, [], [1.0, 1.0], [2.0, 1.0], ["a"], "ab", True])
def test_bins_that_are_none_are_refused(bins):
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises(InvalidArgument, match="bins is"):
        pr.warehouse.evaluate(table, truth="truth", score="score", bins=bins)


@pytest.mark.parametrize(
    "more", [{"measures": "sens", "over": (0.1, 0.2)}, {"interpolation": "step"}]
)
def test_what_has_no_bounds_is_refused(more):
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises(InvalidArgument, match="with bins allowed"):
        pr.warehouse.evaluate(table, truth="truth", score="score", bins=10, **more)
