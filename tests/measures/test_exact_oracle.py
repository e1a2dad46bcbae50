import os
from fractions import Fraction
from itertools import pairwise

import crowds
import exact
import numpy as np
import polars as pl
import pytest
from sklearn import config_context
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

import polaroc as pr

# CI and `just differential` take more tables, the latter other seeds too.
COUNT = int(os.environ.get("POLAROC_TABLES", "600")) // len(crowds.WEIGHTS)
# scikit-learn takes a millisecond for each.
BESIDE = min(400, COUNT)
PRIORS = ["observed", 0.5, 0.01]
WAYS = [
    ("exact", "limit"), ("exact", "drop"), ("linear", "limit"), ("linear", "one"),
    ("linear", "zero"), ("linear", "drop"), ("step", "limit"), ("step", "drop"), ("hull", "limit"),
]  # fmt: skip
RANGE = (0.05, 0.6)


class Crowd:
    def __init__(self, kind):
        self.tables = crowds.crowd(kind, COUNT, seed=0)
        self.weight = "weight" if "weight" in self.tables.columns else None
        self.exact = list(crowds.curves(self.tables))
        self.both = [curve for curve in self.exact if curve.has_both]
        self.curves = self.of(self.tables)

    def of(self, tables):
        return pr.curve(tables, truth="truth", score="score", by="table", weight=self.weight)


FAST = ("none", "dyadic")


@pytest.fixture(
    scope="module",
    params=[
        *FAST,
        *(pytest.param(k, marks=pytest.mark.slow) for k in crowds.WEIGHTS if k not in FAST),
    ],
)
def crowd(request):
    return Crowd(request.param)


def same(found, expected, **tolerance):
    found, expected = np.array(found, float), np.array(expected, float)
    np.testing.assert_allclose(found, expected, **({"rtol": 1e-12, "atol": 1e-15} | tolerance))


def column(curves, name):
    return [value for curve in curves for value in getattr(curve, name)]


# --- against rational numbers ------------------------------------------------------------------


def test_curves(crowd):
    found = crowd.curves
    assert found["threshold"].to_list() == column(crowd.exact, "thresholds")
    for name in ("tp", "fp"):
        assert found[name].to_list() == column(crowd.exact, name)
    for own, total in (("pos", "tp"), ("neg", "fp")):
        rises = [[0, *(b - a for a, b in pairwise(getattr(c, total)))] for c in crowd.exact]
        assert found[own].to_list() == [rise for curve in rises for rise in curve]
    for rate, total in (("tpr", "tp"), ("fpr", "fp")):
        shares = [
            float(count / counts[-1]) if counts[-1] else None
            for counts in (getattr(c, total) for c in crowd.exact)
            for count in counts
        ]
        assert found[rate].is_null().to_list() == [share is None for share in shares]
        same(found[rate].drop_nulls(), [s for s in shares if s is not None], rtol=4e-16)


def test_every_table_has_its_row_and_says_which_class_it_lacks(crowd):
    found = pr.auc(crowd.curves)
    lacking = [
        "no positives, no negatives" if not any(c.totals)
        else "no positives" if not c.totals[0]
        else "no negatives" if not c.totals[1]
        else None
        for c in crowd.exact
    ]  # fmt: skip
    assert found.height == len(lacking)
    assert found["estimate"].is_null().to_list() == [note is not None for note in lacking]
    said = found.filter(pl.col("estimate").is_null())["note"].to_list()
    assert said == [note for note in lacking if note is not None]


def test_auc(crowd):
    same(pr.auc(crowd.curves)["estimate"].drop_nulls(), [exact.auc(c) for c in crowd.both])
    found = pr.auc(crowd.curves, fpr=RANGE)["estimate"].drop_nulls()
    same(found, [exact.auc_below(c, *RANGE) for c in crowd.both], atol=1e-14)


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_auprec(crowd, way):
    found = pr.auprec(crowd.curves, PRIORS, *way)["estimate"].drop_nulls()
    expected = [
        exact.auprec(c, exact.skew(c.observed if prior == "observed" else prior), *way)
        for c in crowd.both
        for prior in PRIORS
        # One row where the observed prior is also a given one.
        if prior != "observed" or all(abs(c.observed - p) > 1e-9 for p in PRIORS[1:])
    ]
    same(found, expected, atol=1e-14)


def test_hulls(crowd):
    has_both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    found = pr.hull(crowd.curves.filter(has_both))
    hulls = [exact.hull(c) for c in crowd.both]
    assert found["threshold"].to_list() == column(hulls, "thresholds")
    assert found["tp"].to_list() == column(hulls, "tp")
    assert found["fp"].to_list() == column(hulls, "fp")


def test_sens_and_equal_error(crowd):
    found = pr.sens(crowd.curves, RANGE)["estimate"].drop_nulls()
    same(found, [exact.sens(c, *RANGE) for c in crowd.both], atol=1e-9)
    errors = pr.evaluate(
        crowd.tables, truth="truth", score="score", by="table", weight=crowd.weight,
        measure="equal_error", over=RANGE,
    )  # fmt: skip
    same(errors["estimate"].drop_nulls(), [exact.equal_error(c) for c in crowd.both])


def test_surfaces(crowd):
    found = pr.surface(crowd.curves, 0.02, list(exact.RATES)).filter(
        pl.col("threshold").is_not_null(), pl.col("tpr").is_not_null(), pl.col("fpr").is_not_null()
    )
    skewed = exact.skew(0.02)
    cells = [exact.confusion(point, skewed) for c in crowd.both for point in c.points[1:]]
    for name, rate in exact.RATES.items():
        expected = [rate(*of) for of in cells]
        assert found[name].is_null().to_list() == [value is None for value in expected], name
        numbers = [float(value) for value in expected if value is not None]
        same(found[name].drop_nulls(), numbers, atol=1e-14, err_msg=name)


def test_cost_curves(crowd):
    shares = [0.0, 0.1, 0.5, 0.9, 1.0]
    found = pr.cost_curve(crowd.curves, shares)["cost"]
    same(found, [exact.least_cost(c, x) for c in crowd.both for x in shares])


def test_dominance(crowd):
    pairs = crowd.curves.with_columns(model=pl.col("table") % 2, pair=pl.col("table") // 2)
    found = pr.dominance(pairs.drop("table"))
    both = [a.has_both and b.has_both for a, b in zip(*[iter(crowd.exact)] * 2, strict=False)]
    expected = [
        exact.relation(a.points, b.points) if has_both else None
        for (a, b), has_both in zip(zip(*[iter(crowd.exact)] * 2, strict=False), both, strict=True)
    ]
    assert found["relation"].to_list() == expected


# --- operating points --------------------------------------------------------------------------


def chosen(crowd, rule, prior, **arguments):
    points = pr.operating_points(crowd.curves, rule, priors=prior, **arguments)
    return points.filter((pl.col("positives") > 0) & (pl.col("negatives") > 0)).rows(named=True)


def test_balanced_points(crowd):
    for prior in (0.5, 0.1, "observed"):
        for curve, found in zip(crowd.both, chosen(crowd, "balanced", prior), strict=True):
            skewed = exact.skew(curve.observed if prior == "observed" else prior)
            apart = [abs(1 - t - skewed * f) for t, f in curve.points]
            at = curve.thresholds.index(found["threshold"])
            assert float(apart[at] - min(apart)) < 1e-12
            t, f = curve.points[at]
            assert (found["tpr"], found["fpr"]) == pytest.approx((float(t), float(f)), abs=1e-12)


@pytest.mark.parametrize(("prior", "cost_fn", "cost_fp"), [(0.5, 1, 1), (0.2, 3, 1)])
def test_cheapest_points(crowd, prior, cost_fn, cost_fp):
    found = chosen(crowd, "cost", prior, cost_fn=cost_fn, cost_fp=cost_fp)
    share = Fraction(prior)

    def cost(point):
        return share * cost_fn * (1 - point[0]) + (1 - share) * cost_fp * point[1]

    for curve, point in zip(crowd.both, found, strict=True):
        at = curve.thresholds.index(point["threshold"])
        least = min(map(cost, curve.points))
        assert float(cost(curve.points[at]) - least) < 1e-15


# A share that is the target to the last digit reaches it.
@pytest.mark.parametrize("target", [0.0, 0.5, 2 / 3, 0.7, 1.0])
def test_points_of_a_recall_and_of_a_false_positive_rate(crowd, target):
    for curve, found in zip(crowd.both, chosen(crowd, "recall", 0.5, target=target), strict=True):
        at = next(i for i, (t, _) in enumerate(curve.points) if t > 0 and float(t) >= target)
        assert found["threshold"] == curve.thresholds[at]
    for curve, found in zip(crowd.both, chosen(crowd, "fpr", 0.5, target=target), strict=True):
        best = max(t for t, f in curve.points if float(f) <= target)
        at = next(i for i, (t, _) in enumerate(curve.points) if t == best)
        assert found["threshold"] == curve.thresholds[at]


@pytest.mark.parametrize("target", [1 / 3, 0.5, 0.6, 0.75])
def test_points_of_a_precision(crowd, target):
    points = chosen(crowd, "precision", "observed", target=target)
    for curve, found in zip(crowd.both, points, strict=True):
        skewed = exact.skew(curve.observed)
        reached = [t for t, f in curve.points[1:] if float(exact.precision(t, f, skewed)) >= target]
        best = max(reached, default=None)
        assert found["tpr"] == (None if best is None else pytest.approx(float(best), abs=1e-15))


# --- against scikit-learn ----------------------------------------------------------------------


def test_scikit_learn(crowd):
    # It takes differences of scores, which overflow, and tells ties by them.
    tables = crowd.tables.filter(pl.col("score").abs() < 1e300, pl.col("table") < BESIDE)
    curves = crowd.of(tables)
    areas = pr.auc(curves)
    precisions = pr.auprec(curves, "observed", "step")
    kept = areas.filter(pl.col("estimate").is_not_null())["table"].implode()
    tables, curves = (frame.filter(pl.col("table").is_in(kept)) for frame in (tables, curves))
    expected, average, points = [], [], []
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for part in tables.partition_by("table", maintain_order=True):
            truth, score = part["truth"].to_numpy(), part["score"].to_numpy()
            weight = part["weight"].to_numpy() if crowd.weight else None
            if weight is not None:
                truth, score, weight = (column[weight > 0] for column in (truth, score, weight))
            points.append(roc_curve(truth, score, sample_weight=weight, drop_intermediate=False))
            expected.append(roc_auc_score(truth, score, sample_weight=weight))
            average.append(average_precision_score(truth, score, sample_weight=weight))
    assert len(expected) > BESIDE / 4
    same(areas["estimate"].drop_nulls(), expected, rtol=1e-9)
    same(precisions["estimate"].drop_nulls(), average, rtol=1e-9)
    fpr, tpr, thresholds = (np.concatenate(column) for column in zip(*points, strict=True))
    assert curves["threshold"].fill_null(float("inf")).to_list() == thresholds.tolist()
    same(curves["tpr"], tpr)
    same(curves["fpr"], fpr)
