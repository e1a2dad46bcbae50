"""Priors, grids, and beliefs by the means of precision that they give."""

from fractions import Fraction
from math import log, log1p

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from scipy import special
from strategies import priors

import polaroc as pr

RANGES = [(0.05, 0.20), (0.1, 0.9), (0.3, 0.31), (1e-4, 1 - 1e-4), (1e-6, 1e-3), (0.9, 0.999)]
RATIOS = [1e-7, 1e-4, 0.01, 0.3]


def mean_precision(belief, ratio: float, **asked) -> float:
    """The mean of 1/(1 + λ ratio): of a step whose false positives are this share."""
    rows = pl.DataFrame({
        "truth": [True, False, False], "score": [2, 2, 1], "weight": [1.0, ratio, 1 - ratio],
    })  # fmt: skip
    curve = pr.curve(rows, truth="truth", score="score", weight="weight")
    return pr.iauprec(curve, belief, interpolation="step", **asked)["estimate"].item()


def mean_prior(belief) -> float:
    """Precision at which all cases are called is the prior."""
    curve = pr.curve({"truth": [1, 0], "score": [1, 1]}, truth="truth", score="score")
    return pr.iauprec(curve, belief)["estimate"].item()


# --- priors and grids --------------------------------------------------------------------------


@given(priors())
def test_prior_and_skew_undo_each_other(prior):
    assert pr.prior(pr.skew(prior)) == pytest.approx(prior, rel=1e-12)
    assert pr.skew(prior) == pytest.approx((1 - prior) / prior, rel=1e-15)


@pytest.mark.parametrize(("prior", "skew"), [(0.5, 1), (0.1, 9), (0.8, 0.25)])
def test_prior_and_skew_of_arrays_and_expressions(prior, skew):
    frame = pl.DataFrame({"prior": [prior], "skew": [float(skew)]})
    assert pr.skew(np.array([prior])) == pytest.approx([skew])
    assert pr.prior(np.array([skew])) == pytest.approx([prior])
    assert frame.select(pr.skew(pl.col("prior"))).item() == pytest.approx(skew)
    assert frame.select(pr.prior(pl.col("skew"))).item() == pytest.approx(prior)


@pytest.mark.parametrize(
    ("spacing", "scale"),
    [("linear", lambda p: p), ("log", np.log), ("skew", lambda p: (1 - p) / p)],
)
@pytest.mark.parametrize("n", [2, 16])
def test_a_grid_has_equal_steps_and_both_ends(spacing, scale, n):
    for lo, hi in RANGES:
        grid = pr.prior_grid(lo, hi, n, spacing=spacing)
        assert grid.schema == {"prior": pl.Float64, "skew": pl.Float64}
        found = grid["prior"].to_numpy()
        assert (found[0], found[-1], len(found)) == (lo, hi, n)
        assert (np.diff(found) > 0).all()
        steps = np.diff(scale(found))
        assert steps == pytest.approx(np.full(n - 1, steps.mean()), rel=1e-6)
        assert grid["skew"].to_numpy() == pytest.approx((1 - found) / found)


def test_observed_is_a_word_wherever_it_was_read():
    # Made when it runs, as a word of a file is, and not the same object as one of a program.
    word = "".join(["ob", "served"])
    table = pr.datasets.twenty_scores()
    curve = pr.curve(table)
    calls = {
        "evaluate": lambda one: pr.evaluate(table, priors=one),
        "among others": lambda one: pr.evaluate(table, priors=[one, 0.1]),
        "score_prior": lambda one: pr.evaluate(table, measure="brier", score_prior=one),
        "auprec": lambda one: pr.auprec(curve, one),
        "surface": lambda one: pr.surface(curve, one),
        "achievable": lambda one: pr.achievable(curve, one, 3),
        "points": lambda one: pr.operating_points(curve, "cost", priors=one),
        "posterior": lambda one: pr.operating_points(
            curve, "posterior", priors=one, score_prior=one
        ),
        "apply": lambda one: pr.apply_thresholds(table, 0.5, priors=one),
        "decision_curve": lambda one: pr.decision_curve(curve, priors=one, score_prior=one),
        "calibration": lambda one: pr.calibration(table, one, score_prior=one).curve,
    }
    for name, call in calls.items():
        assert call(word).equals(call("observed")), name


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (0.1, [0.1]),
        (np.float64(0.1), [0.1]),
        ([0.25, "observed", 0.1], [0.25, 0.5, 0.1]),
        ((0.1, 0.25, 0.1, "observed", "observed"), [0.1, 0.25, 0.5]),
        (np.array([0.1, 0.5]), [0.1, 0.5]),
        (pl.Series([0.1, 0.5]), [0.1, 0.5]),
        (pl.DataFrame({"prior": [0.1, 0.5]}), [0.1, 0.5]),
    ],
)
def test_priors_are_taken_once_in_the_order_given(asked, expected):
    curve = pr.curve({"truth": [1, 0], "score": [1, 1]}, truth="truth", score="score")
    assert pr.auprec(curve, asked)["prior"].to_list() == expected


# --- beliefs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("lo", "hi"), [*RANGES, (0.1, 0.11), (1e-6, 0.9)])
def test_uniform_gives_the_mean_precision(lo, hi):
    assert mean_prior((lo, hi)) == pytest.approx((lo + hi) / 2, rel=1e-9)
    for ratio in RATIOS:
        # ∫ π/(π + (1−π)r) dπ in closed form; every exact area is a mean of such precisions.
        slope = 1 - ratio
        ends = [p / slope - ratio / slope**2 * log(slope * p + ratio) for p in (lo, hi)]
        mean = (ends[1] - ends[0]) / (hi - lo)
        assert mean_precision(pr.uniform(lo, hi), ratio) == pytest.approx(mean, abs=1e-11)
        assert mean_precision((lo, hi), ratio) == pytest.approx(mean, abs=1e-11)


@pytest.mark.parametrize(("lo", "hi"), [*RANGES, (1e-300, 0.5)])
def test_uniform_in_the_skew_gives_the_mean_precision(lo, hi):
    most, least = (1 - lo) / lo, (1 - hi) / hi
    belief = pr.uniform(lo, hi, scale="skew")
    means = {ratio: (log1p(ratio * most) - log1p(ratio * least)) / ratio / (most - least)
             for ratio in (*RATIOS, 1)}  # fmt: skip
    assert mean_prior(belief) == pytest.approx(means.pop(1), rel=1e-9)
    for ratio, mean in means.items():
        assert mean_precision(belief, ratio) == pytest.approx(mean, abs=1e-11)
        assert mean_precision((lo, hi), ratio, scale="skew") == pytest.approx(mean, abs=1e-11)


@pytest.mark.parametrize(("a", "b"), [(2, 18), (1, 1), (3, 40), (1.5, 1.5), (0.5, 0.5), (30, 10)])
def test_beta_gives_the_mean_precision(a, b):
    for ratio in RATIOS:
        # ∫ π/(π + (1−π)r) under the beta distribution, by Euler's integral.
        mean = a / (a + b) * special.hyp2f1(1, b, a + b + 1, 1 - ratio)
        assert mean_precision(pr.beta(a, b), ratio) == pytest.approx(mean, abs=1e-9)


# So small that they spread over hundreds of nodes, and so large that all but one are rounding.
@pytest.mark.parametrize(
    ("a", "b"),
    [(0.1, 0.1), (0.1, 0.3), (0.1, 1e6), (0.5, 99), (1, 0.1), (101, 101), (1e5, 0.3), (1e6, 1e6)],
)
def test_beta_of_any_size_has_its_mean(a, b):
    assert mean_prior(pr.beta(a, b)) == pytest.approx(a / (a + b), rel=1e-11)


def test_a_beta_of_a_sure_prior_gives_the_precision_at_it():
    curves = pr.curve(pr.datasets.twenty_scores(), truth="truth", score="score")
    at = pr.auprec(curves, 0.2)["estimate"].item()
    # The standard deviation of the prior is 4e-4, and the mean of a curved function is moved by
    # its square.
    assert pr.iauprec(curves, pr.beta(2e5, 8e5))["estimate"].item() == pytest.approx(at, abs=1e-6)


@pytest.mark.parametrize("over", [(1e-300, 0.5), (1e-300, 1 - 1.2e-16), (0.5, 1 - 1e-16)])
def test_a_range_with_extreme_ends(over):
    middle = float(sum(map(Fraction, over))) / 2
    assert mean_prior(over) == pytest.approx(middle, abs=1e-11)


@pytest.mark.parametrize(
    ("belief", "name"),
    [
        (pr.uniform(0.05, 0.2), "0.05 to 0.2"),
        (pr.uniform(0.05, 0.2, "skew"), "uniform(0.05, 0.2, scale=skew)"),
        (pr.beta(2, 18), "beta(2, 18)"),
    ],
)
def test_a_belief_is_called_as_it_was_asked_for(belief, name):
    assert repr(belief) == name
