from math import inf, log, nan

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from scipy import integrate, special, stats
from strategies import priors

import polaroc as pr
from polaroc.errors import InvalidArgument, PolarocError
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.grids import resolve_priors

RANGES = [(0.05, 0.20), (0.1, 0.9), (0.3, 0.31), (1e-4, 1 - 1e-4), (1e-6, 1e-3), (0.9, 0.999)]


def expected(belief: Belief, function) -> float:
    return sum(w * function(p) for p, w in zip(belief.priors, belief.weights, strict=True))


@given(priors())
def test_prior_and_skew_undo_each_other(prior):
    assert pr.prior(pr.skew(prior)) == pytest.approx(prior, rel=1e-12)
    assert pr.skew(prior) == pytest.approx((1 - prior) / prior, rel=1e-15)


@pytest.mark.parametrize(("prior", "skew"), [(0.5, 1), (0.1, 9), (0.2, 4), (0.8, 0.25)])
def test_prior_and_skew_of_numbers_arrays_and_expressions(prior, skew):
    frame = pl.DataFrame({"prior": [prior], "skew": [float(skew)]})
    assert pr.skew(prior) == pytest.approx(skew)
    assert pr.prior(skew) == pytest.approx(prior)
    assert pr.skew(np.array([prior])) == pytest.approx([skew])
    assert pr.prior(np.array([skew])) == pytest.approx([prior])
    assert frame.select(pr.skew(pl.col("prior"))).item() == pytest.approx(skew)
    assert frame.select(pr.prior(pl.col("skew"))).item() == pytest.approx(prior)


@pytest.mark.parametrize(
    ("spacing", "scale"),
    [("linear", lambda p: p), ("log", np.log), ("skew", lambda p: (1 - p) / p)],
)
@pytest.mark.parametrize(("lo", "hi"), RANGES)
@pytest.mark.parametrize("n", [2, 3, 16])
def test_a_grid_has_equal_steps_and_both_ends(spacing, scale, lo, hi, n):
    grid = pr.prior_grid(lo, hi, n, spacing=spacing)
    assert grid.schema == {"prior": pl.Float64, "skew": pl.Float64}
    found = grid["prior"].to_numpy()
    assert (found[0], found[-1], len(found)) == (lo, hi, n)
    assert (np.diff(found) > 0).all()
    steps = np.diff(scale(found))
    assert steps == pytest.approx(np.full(n - 1, steps.mean()), rel=1e-6)
    assert grid["skew"].to_numpy() == pytest.approx((1 - found) / found)


@pytest.mark.parametrize(("lo", "hi"), RANGES)
@pytest.mark.parametrize("power", [1, 2, 3])
def test_uniform_has_the_moments_of_the_uniform_distribution(lo, hi, power):
    mean = (hi ** (power + 1) - lo ** (power + 1)) / (power + 1) / (hi - lo)
    assert expected(pr.uniform(lo, hi), lambda p: p**power) == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize(("lo", "hi"), RANGES)
def test_uniform_in_the_skew_has_the_mean_of_the_reciprocal(lo, hi):
    belief = pr.uniform(lo, hi, measure="skew")
    most, least = (1 - lo) / lo, (1 - hi) / hi
    mean_prior = log((1 + most) / (1 + least)) / (most - least)
    assert expected(belief, lambda p: p) == pytest.approx(mean_prior, rel=1e-9)
    assert expected(belief, pr.skew) == pytest.approx((most + least) / 2, rel=1e-9)


@pytest.mark.parametrize(("lo", "hi"), [*RANGES, (0.1, 0.11), (1e-6, 0.9)])
@pytest.mark.parametrize("ratio", [1e-7, 1e-4, 0.01, 0.3, 3.0, 100.0])
def test_uniform_gives_the_mean_precision(lo, hi, ratio):
    # ∫ π/(π + (1−π)r) dπ in closed form; every exact area is a mean of such precisions.
    slope = 1 - ratio
    ends = [p / slope - ratio / slope**2 * log(slope * p + ratio) for p in (lo, hi)]
    mean = (ends[1] - ends[0]) / (hi - lo)
    found = expected(pr.uniform(lo, hi), lambda p: p / (p + (1 - p) * ratio))
    assert found == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(2, 18), (1, 1), (3, 40), (1.5, 1.5), (30, 10)])
@pytest.mark.parametrize(("t", "f"), [(0.5, 0.01), (0.9, 0.4), (0.01, 0.5)])
def test_beta_gives_the_mean_precision(a, b, t, f):
    def precision(prior: float) -> float:
        return prior * t / (prior * t + (1 - prior) * f)

    mean, _ = integrate.quad(lambda p: precision(p) * stats.beta.pdf(p, a, b), 0, 1, epsabs=1e-12)
    assert expected(pr.beta(a, b), precision) == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize(
    "belief",
    [pr.uniform(0.1, 0.2), pr.uniform(0.1, 0.2, "skew"), pr.beta(2, 18)],
    ids=repr,
)
def test_the_weights_of_a_belief_are_chances(belief):
    assert sum(belief.weights) == pytest.approx(1, rel=1e-14)
    assert min(belief.weights) >= 0
    assert len(belief.skews) == len(belief.weights) == len(belief.priors)
    assert all(0 < prior < 1 for prior in belief.priors)


# So small that they spread over hundreds of nodes, and so large that all but one are rounding.
SIZES = [0.1, 0.3, 0.5, 1, 18, 99, 101, 1e3, 1e5, 1e6]


@pytest.mark.product
@pytest.mark.parametrize("a", SIZES)
@pytest.mark.parametrize("b", SIZES)
def test_beta_of_any_size_has_the_moments_of_the_beta_distribution(a, b):
    if a == b == 0.1:
        with pytest.raises(InvalidArgument, match="spread too widely"):
            pr.beta(a, b)
        return
    belief = pr.beta(a, b)
    logs = [log(skew) - log(b / a) for skew in belief.skews]

    def mean(values):
        return sum(w * v for w, v in zip(belief.weights, values, strict=True))

    assert len(belief.weights) <= 1000
    assert mean(1 / (1 + skew) for skew in belief.skews) == pytest.approx(
        1 / (1 + b / a), rel=1e-11
    )
    # Of what the prior leaves, which is nothing to a float where the prior is near 1.
    rest = mean(1 / (1 + 1 / skew) for skew in belief.skews)
    assert rest == pytest.approx(1 / (1 + a / b), rel=1e-11)
    spread = special.polygamma(1, a) + special.polygamma(1, b)
    if spread > 1e-18:
        about = special.digamma(b) - log(b) - (special.digamma(a) - log(a))
        assert mean(u * u for u in logs) == pytest.approx(spread + about**2, rel=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "hint"),
    [(1e7, 1, "larger parameters are narrower"), (1, 1e306, "larger parameters are narrower"),
     (1e-3, 1e-3, "use larger"), (1e-300, 1e-300, "use larger"), (2, 1e-3, "use larger")],
)  # fmt: skip
def test_a_beta_that_floats_cannot_hold_says_which_way_to_go(a, b, hint):
    with pytest.raises(InvalidArgument, match=hint):
        pr.beta(a, b)


def test_a_beta_of_a_sure_prior_gives_the_precision_at_it():
    curves = pr.curve(pr.datasets.twenty_scores(), truth="truth", score="score")
    at = pr.auprec(curves, 0.2)["estimate"].item()
    # The standard deviation of the prior is 4e-4, and the mean of a curved function is moved by
    # its square.
    assert pr.iauprec(curves, pr.beta(2e5, 8e5))["estimate"].item() == pytest.approx(at, abs=1e-6)


def test_the_smallest_priors_do_not_overflow():
    belief = pr.uniform(1e-307, 0.5, "skew")
    assert sum(belief.weights) == pytest.approx(1)
    # Spread evenly from 1 to 1e307, the mean skew is half the greatest.
    mean = sum(w * s / 1e307 for w, s in zip(belief.weights, belief.skews, strict=True))
    assert mean == pytest.approx(1 / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("belief", "name"),
    [
        (pr.uniform(0.05, 0.2), "uniform(0.05, 0.2)"),
        (pr.uniform(0.05, 0.2, "skew"), "uniform(0.05, 0.2, measure=skew)"),
        (pr.beta(2, 18), "beta(2, 18)"),
    ],
)
def test_a_belief_is_called_as_it_was_asked_for(belief, name):
    assert repr(belief) == name


def test_a_range_is_a_uniform_belief():
    assert resolve_belief((0.05, 0.2)) == resolve_belief([0.05, 0.2]) == pr.uniform(0.05, 0.2)
    assert resolve_belief((0.05, 0.2), "skew") == pr.uniform(0.05, 0.2, "skew")
    belief = pr.beta(2, 18)
    assert resolve_belief(belief) is belief


@pytest.mark.parametrize(
    ("asked", "resolved"),
    [
        (0.1, [0.1]),
        ("observed", [None]),
        (np.float64(0.1), [0.1]),
        ([0.5, "observed", 0.1], [0.5, None, 0.1]),
        ((0.1, 0.5, 0.1, "observed", "observed"), [0.1, 0.5, None]),
        (np.array([0.1, 0.5]), [0.1, 0.5]),
        (pl.Series([0.1, 0.5]), [0.1, 0.5]),
        (pl.DataFrame({"prior": [0.1, 0.5]}), [0.1, 0.5]),
    ],
)
def test_priors_may_be_given_in_many_ways(asked, resolved):
    assert resolve_priors(asked) == resolved


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        *((pr.skew, (prior,)) for prior in (0, 1, -0.1, 1.5, nan, inf, True)),
        *((pr.prior, (skew,)) for skew in (0, -1.0, inf, nan)),
        (pr.prior_grid, (0.2, 0.1, 3)),
        (pr.prior_grid, (0.1, 0.1, 3)),
        (pr.prior_grid, (0, 0.1, 3)),
        (pr.prior_grid, (0.1, 1, 3)),
        (pr.prior_grid, (0.1, 0.2, 1)),
        (pr.prior_grid, (0.1, 0.2, 2.5)),
        (pr.prior_grid, (0.1, 0.2, 3, "cubic")),
        (pr.prior_grid, ("a", 0.2, 3)),
        (pr.uniform, (0.2, 0.1)),
        (pr.uniform, (0.2, 0.2)),
        (pr.uniform, (0, 0.2)),
        (pr.uniform, (0.2, 1)),
        (pr.uniform, (nan, 0.2)),
        (pr.uniform, (None, 0.2)),
        (pr.uniform, (0.1, 0.2, "odds")),
        (pr.beta, (0, 1)),
        (pr.beta, (1, -1)),
        (pr.beta, (nan, 1)),
        (pr.beta, (1, inf)),
        (pr.beta, ("2", 1)),
        (pr.beta, (1e-3, 1)),
        (resolve_belief, (0.1,)),
        (resolve_belief, ("ab",)),
        (resolve_belief, ((0.1, 0.2, 0.3),)),
        (resolve_belief, (None,)),
        (resolve_belief, (pr.beta(2, 18), "skew")),
        (resolve_priors, (1.0,)),
        (resolve_priors, ([0.1, nan],)),
        (resolve_priors, ("unknown",)),
        (resolve_priors, (pl.DataFrame({"p": [0.1]}),)),
    ],
)
def test_what_is_not_a_prior_is_refused(function, arguments):
    with pytest.raises(InvalidArgument, match=r"(?s).+\nHint: .+") as caught:
        function(*arguments)
    assert isinstance(caught.value, PolarocError)
    assert isinstance(caught.value, ValueError)
