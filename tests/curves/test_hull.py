from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import priors, tables

import polaroc as pr
from polaroc.base.columns import CURVE
from polaroc.curves.hull import hull_vertices
from polaroc.errors import InvalidTable

NAMES = {"truth": "truth", "score": "score"}


def curve(table: pl.DataFrame, **kwargs) -> pl.DataFrame:
    weight = "weight" if "weight" in table.columns else None
    return pr.curve(table, truth="truth", score="score", weight=weight, **kwargs)


def monotone_chain(fp: list[int], tp: list[int]) -> list[int]:
    """Andrew's: along the points, drop whatever is not left of the way to the next one."""
    kept: list[int] = []
    for i, (x, y) in enumerate(zip(fp, tp, strict=True)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (tp[b] - tp[a]) * (x - fp[b]) > (y - tp[b]) * (fp[b] - fp[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("levels", "weights"), [(None, None), (10**5, None), (1000, None), (None, 4), (10**5, 4)]
)
def test_a_million_points_have_the_vertices_of_the_monotone_chain(levels, weights):
    rng = np.random.default_rng(0)
    rows = 10**6
    truth = rng.random(rows) < 0.1
    score = rng.normal(size=rows) + 0.5 * truth
    if levels is not None:
        score = np.floor(score * levels / 10)
    table = pl.DataFrame({"truth": truth, "score": score})
    if weights is not None:
        table = table.with_columns(weight=pl.Series(rng.integers(0, weights, rows)))
    curves = curve(table)
    # Counts and whole weights are exact: so is arithmetic on them as integers.
    fp, tp = (curves[name].cast(pl.Int64).to_list() for name in ("fp", "tp"))
    expected = curves[monotone_chain(fp, tp)]
    assert expected.height > (20 if levels == 1000 else 60)
    found = curves.pipe(pr.hull)
    assert found.select("threshold", "tp", "fp").equals(expected.select("threshold", "tp", "fp"))


@pytest.mark.slow
@given(tables(), st.lists(priors(), min_size=1, max_size=5, unique=True))
def test_the_achievable_curve_is_never_below(table, several):
    curves = curve(table)
    exact, hull = (
        curves.pipe(pr.auprec, several, interpolation=name)["estimate"]
        for name in ("exact", "hull")
    )
    assert (hull - exact).min() >= -1e-12
    on_hull = curves.pipe(pr.hull).pipe(pr.auprec, several)["estimate"]
    assert on_hull.to_list() == pytest.approx(hull.to_list(), rel=1e-12)


@pytest.mark.parametrize("truth", [True, False])
def test_a_key_with_one_class_keeps_its_curve(truth):
    table = pl.DataFrame(
        {
            "k": ["one"] * 3 + ["two"] * 2 + [None] * 2,
            "truth": [truth] * 3 + [True, False] + [truth] * 2,
            "score": [3.0, 2.0, 1.0, 2.0, 1.0, 1.0, 0.0],
        }
    )
    curves = curve(table, by="k")
    assert_frame_equal(curves.pipe(pr.hull), curves)


def test_a_key_that_cannot_be_ranked_keeps_its_curve():
    table = pl.DataFrame(
        {"k": ["a", "a", "a", "b", "b"], "truth": [1, 0, 1, 1, 0], "score": [3, 2, None, 1, 0]}
    )
    curves = pr.curve(table.lazy(), truth="truth", score="score", by="k")
    assert_frame_equal(curves.pipe(pr.hull).collect(), curves.collect())


@pytest.mark.parametrize(
    ("table", "thresholds"),
    [
        ({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1]}, [None, 4, 2, 1]),
        ({"truth": [0, 1], "score": [2, 1]}, [None, 1]),
        ({"truth": [1, 1, 0, 0], "score": [4, 3, 2, 1]}, [None, 3, 1]),
        ({"truth": [1, 0, 1, 0], "score": [2, 2, 1, 1]}, [None, 1]),
        ({"truth": [1, 0], "score": [1, 1]}, [None, 1]),
    ],
)
def test_small_hulls_by_hand(table, thresholds):
    curves = pr.curve(pl.DataFrame(table), truth="truth", score="score")
    assert curves.pipe(pr.hull)["threshold"].to_list() == thresholds


@pytest.mark.parametrize("small", [1e-12, 1e-16, 1e-20, 1e-300])
def test_weights_of_very_different_size(small):
    table = pl.DataFrame(
        {
            "truth": [True, True, False, False, True],
            "score": [5.0, 4.0, 3.0, 2.0, 1.0],
            "weight": [1.0, small, 1.0, small, 1.0],
        }
    )
    curves = curve(table)
    found = curves.pipe(pr.hull)
    assert found.select("tpr", "fpr").row(-1) == (1, 1)
    assert curves.pipe(pr.auc)["estimate"].item() == pytest.approx(0.5, abs=1e-9)
    assert found.pipe(pr.auc)["estimate"].item() == pytest.approx(0.75, abs=1e-9)


def test_slopes_that_differ_in_the_last_digit_are_two_edges():
    big = 2**26
    tp = np.array([0, big, 2 * big, 4 * big])
    fp = np.array([0, big - 1, 2 * big - 1, 4 * big])
    rise, run = np.diff(tp).tolist(), np.diff(fp).tolist()
    slopes = [Fraction(a, b) for a, b in zip(rise, run, strict=True)]
    assert slopes == sorted(slopes, reverse=True)
    assert hull_vertices(fp, tp).tolist() == [0, 1, 2, 3]


def test_the_columns_are_those_of_a_curve():
    curves = curve(pl.DataFrame({"truth": [True, False], "score": [1.0, 0.0]}))
    assert curves.pipe(pr.hull).columns == list(CURVE)
    with pytest.raises(InvalidTable, match=r"(?s)'fpr'.*Hint: "):
        pr.hull(curves.drop("fpr"))


@pytest.mark.slow
@given(tables(kinds=["none", "whole"]), st.sampled_from([0.01, 0.3, 0.9]))
def test_the_achievable_curve_is_the_best_mixture_of_two_thresholds(table, prior):
    curve = pr.curve(table, **NAMES, weight="weight" if "weight" in table.columns else None)
    found = pr.achievable(curve, prior, recall=[0.0, 0.125, 0.5, 0.8, 1.0])
    points = curve.select("tpr", "fpr").rows()
    skew = (1 - prior) / prior
    for recall, fpr, precision in found.select("tpr", "fpr", "precision").rows():
        least = min(
            f0 + (recall - t0) / (t1 - t0) * (f1 - f0) if t1 > t0 else min(f0, f1)
            for t0, f0 in points
            for t1, f1 in points
            if t0 <= recall <= t1
        )
        assert fpr == pytest.approx(least, abs=1e-12)
        if recall > 0:
            assert precision == pytest.approx(recall / (recall + skew * fpr), rel=1e-12)


def test_the_achievable_curve_starts_at_its_limit():
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [2.0, 2.0, 1.0, 0.0]})
    curve = pr.curve(table, **NAMES)
    at = pr.achievable(curve, 0.2, recall=[0.0, 1e-9])["precision"]
    assert at[0] == pytest.approx(at[1], rel=1e-9)


def test_keys_without_a_class_have_no_achievable_curve():
    table = pl.DataFrame({"k": [0, 0, 1, 1], "truth": [1, 0, 1, 1], "score": [2.0, 1.0, 2.0, 1.0]})
    found = pr.achievable(pr.curve(table, **NAMES, by="k"), [0.5, 0.1], recall=3)
    assert found.select("k", "prior", "tpr").rows() == [
        (0, prior, recall) for prior in (0.1, 0.5) for recall in (0.0, 0.5, 1.0)
    ]


@pytest.mark.parametrize("recall", [1, [], [1.5], "half", [None]])
def test_recalls_out_of_range_are_refused(recall):
    curve = pr.curve(pr.datasets.twenty_scores(), **NAMES)
    with pytest.raises(pr.errors.InvalidArgument, match="Hint:"):
        pr.achievable(curve, 0.5, recall=recall)


@pytest.mark.parametrize("small", [1e-12, 1e-16, 1e-30])
@pytest.mark.parametrize("truth", [True, False])
def test_a_light_class_keeps_its_vertices(small, truth):
    table = pl.DataFrame(
        {"truth": [truth, not truth, truth], "score": [3.0, 2.0, 1.0], "weight": [1.0, small, 1.0]}
    )
    curve = pr.curve(table, **NAMES, weight="weight")
    unweighted = pr.hull(pr.curve(table, **NAMES))
    assert pr.hull(curve)["threshold"].to_list() == unweighted["threshold"].to_list()


@pytest.mark.parametrize(("asked", "count"), [({}, 101), ({"recall": 2}, 2), ({"recall": 5}, 5)])
def test_recalls_are_evenly_spaced_and_as_many_as_asked(asked, count):
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
    found = pr.curve(table, truth="truth", score="score").pipe(pr.achievable, 0.5, **asked)
    assert found["tpr"].to_list() == pytest.approx(np.linspace(0, 1, count).tolist(), abs=1e-15)


# A corner at (N − 1 or N, 1 or P): a product of the steps beside it is P·N or a little less,
# which whole numbers of 64 bits do not hold.
@pytest.mark.parametrize("over", [2**32, 2**32 - 5, 2**31, 2**20])
@pytest.mark.parametrize("step", [0, 1])
def test_products_of_counts_past_64_bits(over, step):
    positives, negatives = over, 2**31 if over == 2**32 else over
    tp = np.array([0, positives - step, positives])
    fp = np.array([0, step, negatives])
    assert hull_vertices(fp, tp).tolist() == [0, 1, 2]
    if step:
        # The same after a first positive, or before a last negative.
        before = hull_vertices(np.insert(fp, 1, 0), np.insert(tp, 1, 1))
        after = hull_vertices(np.append(fp, fp[-1] + 1), np.append(tp, tp[-1]))
        assert before.tolist() == after.tolist() == [0, 1, 2, 3]


def test_a_class_of_few_is_not_drowned_where_the_curve_starts_with_it():
    # In whole counts all but the first slope are 10¹⁸ : 1, which rounds to the same share.
    tp = np.array([0, 0, 3, 5, 6]) * 10**18
    assert hull_vertices(np.arange(5), tp).tolist() == [0, 3, 4]


def test_a_curve_that_does_not_move_is_one_point():
    assert hull_vertices(np.array([0]), np.array([0])).tolist() == [0]


@pytest.mark.slow
@pytest.mark.parametrize("scale", [2.0**-800, 2.0**800])
@given(table=tables(kinds=["whole"]))
def test_the_scale_of_weights_does_not_move_the_vertices(scale, table):
    scaled = table.with_columns(pl.col("weight") * scale)
    first, second = (curve(rows).pipe(pr.hull)["threshold"].to_list() for rows in (table, scaled))
    assert first == second


def test_a_key_that_is_null_comes_last():
    table = pl.DataFrame(
        {"k": [None, None, "b", "b"], "truth": [1, 0, 1, 0], "score": [2.0, 1.0, 2.0, 1.0]}
    )
    found = pr.achievable(curve(table, by="k"), 0.5, recall=[0.5])
    assert found["k"].to_list() == ["b", None]
