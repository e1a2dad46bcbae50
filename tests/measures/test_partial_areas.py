from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.metrics import roc_auc_score
from strategies import tables

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
ENDS = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)
RANGES = ENDS.filter(lambda ends: ends[1] - ends[0] > 1e-3)
SKEWS = st.sampled_from([0.1, 1.0, 9.0, 999.0])


def curve(table: pl.DataFrame) -> pl.DataFrame:
    return pr.curve(table, **NAMES, weight="weight" if "weight" in table.columns else None)


def below(x: np.ndarray, y: np.ndarray, lo: float, hi: float) -> float:
    """Area under a polyline between two abscissae, clipping each of its pieces."""
    area = 0.0
    for x0, x1, y0, y1 in zip(x[:-1], x[1:], y[:-1], y[1:], strict=True):
        a, b = max(x0, lo), min(x1, hi)
        if b > a:
            at = [y0 + (y1 - y0) * (c - x0) / (x1 - x0) for c in (a, b)]
            area += (b - a) * sum(at) / 2
    return area


@pytest.mark.slow
@given(tables(), RANGES)
def test_area_over_a_range_of_fpr(table, bounds):
    roc = curve(table)
    found = pr.auc(roc, fpr=tuple(bounds))["estimate"].item()
    assert found == pytest.approx(below(roc["fpr"], roc["tpr"], *bounds), abs=1e-12)


@pytest.mark.slow
@given(tables(), RANGES)
def test_area_over_a_range_of_tpr(table, bounds):
    roc = curve(table)
    found = pr.auc(roc, tpr=tuple(bounds))["estimate"].item()
    assert found == pytest.approx(below(roc["tpr"], 1 - roc["fpr"], *bounds), abs=1e-12)


# A step straight up whose ends, 5/6 and 5/6, were divided in two ways.
STRAIGHT_UP = pl.DataFrame(
    {
        "truth": [True, False, False, True],
        "score": [-3.0, 0.0, -3.0, -1.0],
        "weight": [1, 5, 1, 1],
    }
)


@pytest.mark.slow
@given(tables())
@example(STRAIGHT_UP)
def test_the_whole_range_is_the_whole_area(table):
    roc = curve(table)
    whole = pytest.approx(pr.auc(roc)["estimate"].item(), abs=1e-12)
    for bounds in ({"fpr": (0, 1)}, {"tpr": (0, 1)}, {"fpr": (0, 1), "standardise": True}):
        found = pr.auc(roc, **bounds)
        if found["note"].item() is None:
            assert found["estimate"].item() == whole


@pytest.mark.parametrize("most", [0.01, 0.1, 0.5, 0.9])
def test_the_standardised_area_is_that_of_scikit_learn(most):
    rng = np.random.default_rng(5)
    truth = rng.random(3_000) < 0.3
    table = pl.DataFrame({"truth": truth, "score": (rng.normal(size=3_000) + truth).round(1)})
    expected = roc_auc_score(truth, table["score"], max_fpr=most)
    found = pr.auc(curve(table), fpr=(0, most), standardise=True)["estimate"].item()
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("bounds", [{"fpr": (0.1, 0.4)}, {"tpr": (0.6, 1.0)}])
@pytest.mark.parametrize(
    ("score", "expected"), [([4, 3, 2, 1], 1), ([1, 1, 1, 1], 0.5), ([1, 2, 3, 4], None)]
)
def test_mcclish_scale(bounds, score, expected):
    table = pl.DataFrame({"truth": [1, 1, 0, 0], "score": score})
    found = pr.auc(curve(table), **bounds, standardise=True)
    if expected is None:
        assert found["estimate"].item() is None
        assert "below the diagonal" in found["note"].item()
    else:
        assert found["estimate"].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "bounds",
    [
        {"fpr": (0.5, 0.1)}, {"fpr": (-0.1, 0.5)}, {"tpr": (0.5, 1.1)}, {"fpr": 0.1},
        {"fpr": (0.1, 0.2, 0.3)}, {"fpr": ("a", "b")}, {"fpr": (0, 0.1), "tpr": (0, 0.1)},
        {"fpr": (0, 0.1), "standardise": "no"}, {"standardise": 1},
    ],
)  # fmt: skip
def test_ranges_and_flags_that_are_none_are_refused(bounds):
    table = pl.DataFrame({"truth": [1, 0], "score": [1.0, 0.0]})
    with pytest.raises(pr.errors.InvalidArgument, match="Hint:"):
        pr.auc(curve(table), **bounds)


@given(tables(), ENDS, st.sampled_from(["exact", "linear", "step", "hull"]), SKEWS)
def test_precision_over_a_range_of_recall(table, bounds, interpolation, skew):
    lo, hi = bounds
    if hi - lo < 1e-3:
        return
    roc = curve(table)
    prior = 1 / (1 + skew)
    found = pr.auprec(roc, prior, interpolation, recall=(lo, hi))["estimate"].item()
    points = pr.hull(roc) if interpolation == "hull" else roc
    expected = 0.0
    for (t0, f0), (t1, f1) in pairwise(points.select("tpr", "fpr").rows()):
        a, b = max(t0, lo), min(t1, hi)
        if b <= a:
            continue

        def precision(t, t0=t0, f0=f0, t1=t1, f1=f1):
            end = t1 / (t1 + skew * f1)
            if interpolation == "step" or t0 == f0 == 0:
                return end
            begin = t0 / (t0 + skew * f0)
            share = (t - t0) / (t1 - t0)
            f = f0 + share * (f1 - f0)
            return (
                begin + share * (end - begin) if interpolation == "linear" else t / (t + skew * f)
            )

        expected += quad(precision, a, b, epsabs=1e-12, limit=200)[0]
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("interpolation", ["exact", "linear", "step", "hull"])
@pytest.mark.parametrize("start", ["limit", "one", "zero", "drop"])
def test_ranges_of_recall_add_up(interpolation, start):
    roc = curve(pr.datasets.twenty_scores())
    areas = [
        pr.auprec(roc, 0.2, interpolation, start, recall=bounds)["estimate"].item()
        for bounds in ((0, 0.05), (0.05, 0.62), (0.62, 1))
    ]
    whole = pr.auprec(roc, 0.2, interpolation, start)["estimate"].item()
    assert sum(areas) == pytest.approx(whole, abs=1e-12)
