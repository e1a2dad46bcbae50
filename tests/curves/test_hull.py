import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import priors, tables

import polaroc as pr

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


@pytest.mark.parametrize("rows", [20_000, pytest.param(10**6, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("levels", "weights"), [(None, None), (1000, None), (10**5, 4)])
def test_vertices_of_many_points_are_those_of_the_monotone_chain(rows, levels, weights):
    rng = np.random.default_rng(0)
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
    assert expected.height > 15
    found = curves.pipe(pr.hull)
    assert found.select("threshold", "tp", "fp").equals(expected.select("threshold", "tp", "fp"))


@given(tables(), st.lists(priors(), min_size=1, max_size=5, unique=True))
def test_auprec_of_the_hull_is_never_below_and_is_that_of_the_hull_as_a_curve(table, several):
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
    table = pl.DataFrame({
        "k": ["one"] * 3 + ["two"] * 2 + [None] * 2,
        "truth": [truth] * 3 + [True, False] + [truth] * 2,
        "score": [3.0, 2.0, 1.0, 2.0, 1.0, 1.0, 0.0],
    })  # fmt: skip
    curves = curve(table, by="k")
    assert_frame_equal(curves.pipe(pr.hull), curves)


def test_a_key_of_a_lazy_frame_that_cannot_be_ranked_keeps_its_curve():
    table = pl.DataFrame(
        {"k": ["a", "a", "a", "b", "b"], "truth": [1, 0, 1, 1, 0], "score": [3, 2, None, 1, 0]}
    )
    curves = pr.curve(table.lazy(), **NAMES, by="k")
    assert_frame_equal(curves.pipe(pr.hull).collect(), curves.collect())


@pytest.mark.parametrize(
    ("table", "thresholds"),
    [
        ({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1]}, [None, 4, 2, 1]),
        ({"truth": [0, 1], "score": [2, 1]}, [None, 1]),
        ({"truth": [1, 1, 0, 0], "score": [4, 3, 2, 1]}, [None, 3, 1]),
        ({"truth": [1, 0, 1, 0], "score": [2, 2, 1, 1]}, [None, 1]),
    ],
)
def test_small_hulls_by_hand(table, thresholds):
    found = curve(pl.DataFrame(table)).pipe(pr.hull)
    assert found["threshold"].to_list() == thresholds


@pytest.mark.parametrize("small", [1e-12, 1e-20, 1e-300])
def test_weights_of_very_different_size(small):
    table = pl.DataFrame({
        "truth": [True, True, False, False, True], "score": [5.0, 4.0, 3.0, 2.0, 1.0],
        "weight": [1.0, small, 1.0, small, 1.0],
    })  # fmt: skip
    curves = curve(table)
    found = curves.pipe(pr.hull)
    assert found.select("tpr", "fpr").row(-1) == (1, 1)
    assert curves.pipe(pr.auc)["estimate"].item() == pytest.approx(0.5, abs=1e-9)
    assert found.pipe(pr.auc)["estimate"].item() == pytest.approx(0.75, abs=1e-9)


def vertices(tp: list[int], fp: list[int]) -> list[int]:
    """Which points of a curve with these counts are on its hull."""
    rows = [
        (truth, -i, count)
        for counts, truth in ((tp, True), (fp, False))
        for i, count in enumerate(np.diff(counts, prepend=0).tolist())
        if count
    ]
    table = pl.DataFrame(rows, schema=["truth", "score", "cases"], orient="row")
    # More cases than floats can tell apart are no counts.
    role = "count" if max(tp[-1], fp[-1]) < 2**53 else "weight"
    hull = pr.hull(pr.curve(table, **NAMES, **{role: "cases"}))
    return [-int(at) for at in hull["threshold"].fill_null(0)]


# Slopes that differ in their last digits, and products of steps that 64 bits do not hold.
@pytest.mark.parametrize(
    ("tp", "fp", "expected"),
    [
        ([0, 2**26, 2**27, 2**28], [0, 2**26 - 1, 2**27 - 1, 2**28], [0, 1, 2, 3]),
        ([0, 2**32, 2**32], [0, 0, 2**31], [0, 1, 2]),
        ([0, 2**32 - 6, 2**32 - 5], [0, 1, 2**32 - 5], [0, 1, 2]),
        ([0, 1, 2**31 - 1, 2**31], [0, 0, 1, 2**31], [0, 1, 2, 3]),
        ([0, 2**31 - 1, 2**31, 2**31], [0, 1, 2**31, 2**31 + 1], [0, 1, 2, 3]),
        ([0, 0, 3 * 10**18, 5 * 10**18, 6 * 10**18], [0, 1, 2, 3, 4], [0, 3, 4]),
    ],
)
def test_vertices_of_large_counts(tp, fp, expected):
    assert vertices(tp, fp) == expected


@pytest.mark.parametrize("small", [1e-12, 1e-30])
@pytest.mark.parametrize("truth", [True, False])
def test_a_light_class_keeps_its_vertices(small, truth):
    table = pl.DataFrame(
        {"truth": [truth, not truth, truth], "score": [3.0, 2.0, 1.0], "weight": [1.0, small, 1.0]}
    )
    unweighted = pr.hull(pr.curve(table, **NAMES))
    assert pr.hull(curve(table))["threshold"].to_list() == unweighted["threshold"].to_list()


@pytest.mark.parametrize("scale", [2.0**-800, 2.0**400])
@given(table=tables(kinds=["whole"]))
def test_the_scale_of_weights_does_not_move_the_vertices(scale, table):
    scaled = table.with_columns(pl.col("weight") * scale)
    first, second = (curve(rows).pipe(pr.hull)["threshold"].to_list() for rows in (table, scaled))
    assert first == second


# --- achievable --------------------------------------------------------------------------------


@given(tables(kinds=["none", "whole"]), st.sampled_from([0.01, 0.3, 0.9]))
def test_the_achievable_curve_is_the_best_mixture_of_two_thresholds(table, prior):
    curves = curve(table)
    found = pr.achievable(curves, prior, recall=[0.0, 0.125, 0.5, 0.8, 1.0])
    points = curves.select("tpr", "fpr").rows()
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
    curves = curve(pl.DataFrame({"truth": [1, 0, 1, 0], "score": [2.0, 2.0, 1.0, 0.0]}))
    at = pr.achievable(curves, 0.2, recall=[0.0, 1e-9])["precision"]
    assert at[0] == pytest.approx(at[1], rel=1e-9)


def test_achievable_curves_are_of_keys_with_both_classes_in_order():
    table = pl.DataFrame({
        "k": [None, None, "b", "b", "c", "c"], "truth": [1, 0, 1, 0, 1, 1], "score": [2.0, 1.0] * 3,
    })  # fmt: skip
    found = pr.achievable(curve(table, by="k"), [0.5, 0.1], recall=3)
    assert found.select("k", "prior", "tpr").rows() == [
        (k, prior, recall) for k in ("b", None) for prior in (0.1, 0.5) for recall in (0, 0.5, 1)
    ]


@pytest.mark.parametrize(("asked", "count"), [({}, 101), ({"recall": 5}, 5)])
def test_recalls_are_evenly_spaced_and_as_many_as_asked(asked, count):
    curves = curve(pl.DataFrame({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1]}))
    found = pr.achievable(curves, 0.5, **asked)
    assert found["tpr"].to_list() == pytest.approx(np.linspace(0, 1, count).tolist(), abs=1e-15)
