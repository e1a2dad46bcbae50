from itertools import product

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument

COLUMNS = {"truth": "truth", "score": "score", "model": None}
ALL = ["auc", "auprec", "iauprec", "auc_range", "equal_error"]
ASKED = {"priors": ["observed", 0.5, 0.1, 1e-3], "over": (0.05, 0.4), "measures": ALL}
ORDER = ["measure", "prior"]


def weak_orders(cases: int) -> list[tuple[int, ...]]:
    """Every order of cases, with ties: the ranks that leave out none below the greatest."""
    ranks = product(range(cases), repeat=cases)
    return [one for one in ranks if set(one) == set(range(max(one, default=-1) + 1))]


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "bins", [["pnn", "ppn"], ["np", "ppnn"], ["nn", "pnp", "n"], ["p", "pnnn"], ["ppnn", "p"]]
)
def test_no_order_within_bins_is_better_or_worse(bins):
    cases = [(place, label == "p") for place, bin_ in enumerate(bins) for label in bin_]
    start, truth = map(np.array, zip(*cases, strict=True))
    orders = [sum(order, ()) for order in product(*(weak_orders(len(bin_)) for bin_ in bins))]
    # The ranks of a bin take less than its width, 1.
    table = pl.concat(
        pl.DataFrame({"order": i, "truth": truth, "score": start + np.array(order) / 10})
        for i, order in enumerate(orders)
    )
    measured = pr.evaluate(table, **COLUMNS, by="order", **ASKED)
    reached = measured.group_by(ORDER).agg(
        lower=pl.col("estimate").min(), upper=pl.col("estimate").max()
    )
    first = table.filter(order=0)
    edges = list(range(len(bins)))
    found = pr.bounds(pr.binned(first, **COLUMNS, bins=edges), **ASKED)
    both = found.join(reached, on=ORDER, nulls_equal=True, suffix="_reached")
    assert both.height == found.height == 8
    assert (both["lower"] <= both["lower_reached"]).all()
    assert (both["upper"] >= both["upper_reached"]).all()
    for end in ("lower", "upper"):
        np.testing.assert_allclose(both[end], both[end + "_reached"], rtol=0, atol=1.1e-10)
    assert (
        pr.bounds(pr.binned(table, **COLUMNS, by="order", bins=edges), **ASKED)["upper"].n_unique()
        == found["upper"].n_unique()
    )


def predictions(seed: int, rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.2
    score = rng.normal(size=rows) + 1.5 * truth
    weight = rng.random(rows)
    return pl.DataFrame({"model": rng.choice(["a", "b", "c"], rows), "truth": truth,
                         "score": score, "weight": weight})  # fmt: skip


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("bins", [1, 3, 50])
def test_the_scores_lie_within_at_many_priors_and_under_a_belief(weight, bins):
    table = predictions(1)
    asked = COLUMNS | {"weight": weight}
    over = {"priors": list(np.linspace(0.001, 0.9, 60)), "over": pr.beta(2, 20)}
    names = ["auc", "auprec", "iauprec"]
    truth = pr.evaluate(table, **asked, **over, measures=names)
    edges = np.linspace(-1.5, 2.5, bins)
    halves = [pr.binned(half, **asked, bins=edges) for half in (table[::2], table[1::2])]
    found = pr.bounds(pr.merge_bins(*halves), **over)
    assert found.columns[:5] == ["measure", "prior", "estimate", "lower", "upper"]
    assert_frame_equal(
        found.drop("estimate", "lower", "upper"), truth.drop("estimate"), rel_tol=1e-9
    )
    assert truth["estimate"].is_between(found["lower"], found["upper"]).all()
    assert found["estimate"].is_between(found["lower"], found["upper"]).all()
    assert (found["upper"] - found["lower"]).min() > 1e-6
    lazy = pr.bounds(pl.concat(halves).lazy(), **over)
    assert lazy.collect_schema() == found.schema
    for engine in ("streaming", "in-memory"):
        assert_frame_equal(lazy.collect(engine=engine), found, rel_tol=1e-12)


def test_an_auc_is_known_up_to_the_pairs_that_share_a_bin():
    table = predictions(2)
    edges = [-1.0, 0.0, 0.4, 1.0, 2.0]
    found = pr.bounds(pr.binned(table, **COLUMNS, bins=edges), measures="auc")
    place, truth = np.digitize(table["score"], edges), table["truth"].to_numpy()
    pairs = place[truth][:, None] == place[~truth][None, :]
    np.testing.assert_allclose(found["upper"] - found["lower"], pairs.mean(), rtol=0, atol=1e-9)
    middle = (found["upper"] + found["lower"]) / 2
    np.testing.assert_allclose(middle, found["estimate"], rtol=0, atol=1e-9)


def test_scores_outside_the_reference_are_within():
    reference = predictions(3).with_columns(pl.col("score").clip(-0.5, 1.0))
    edges = pr.bin_edges(reference, **COLUMNS, bins=20)
    far = predictions(4).with_columns(pl.col("score") * 100)
    found = pr.bounds(pr.binned(far, **COLUMNS, bins=edges), priors=0.1)
    truth = pr.evaluate(far, **COLUMNS, priors=0.1)
    assert truth["estimate"].is_between(found["lower"], found["upper"]).all()


def test_a_key_of_one_class_has_no_bounds():
    counts = pr.binned(predictions(5).filter("truth"), **COLUMNS, bins=4)
    found = pr.bounds(counts, priors=0.1)
    assert found.select("estimate", "lower", "upper", "note").unique().row(0) == (
        None, None, None, "no negatives",
    )  # fmt: skip


@pytest.mark.parametrize("measures", ["sens", ["auc", "brier"], "accsens", "area"])
def test_what_has_no_bounds_is_refused(measures):
    counts = pr.binned(predictions(6), **COLUMNS, bins=4)
    with pytest.raises(InvalidArgument, match="with bins allowed are auc, auprec, iauprec"):
        pr.bounds(counts, measures=measures, over=(0.1, 0.2))
    with pytest.raises(InvalidArgument, match="over is None"):
        pr.bounds(counts, measures="iauprec")
    with pytest.raises(InvalidArgument, match=r"1\.2"):
        pr.bounds(counts, priors=1.2)
