from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import beta, truncpareto, uniform

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
TWENTY = pr.curve(pr.datasets.twenty_scores(), **NAMES)


def vertices(curve: pl.DataFrame):
    hull = pr.hull(curve)
    return hull["tpr"].to_numpy(), hull["fpr"].to_numpy()


def cost(t, f, prior, share):
    return share * prior * (1 - t) + (1 - share) * (1 - prior) * f


def quadrature(distribution, value, kinks=()):
    """E[value], split where the integrand is not smooth."""
    lo, hi = distribution.ppf(1e-16), distribution.isf(1e-16)
    edges = sorted({lo, hi, *(k for k in kinks if lo < k < hi)})
    settings = {"epsabs": 1e-13, "epsrel": 1e-13, "limit": 200}
    return sum(
        quad(lambda p: distribution.pdf(p) * value(p), a, b, **settings)[0]
        for a, b in pairwise(edges)
    )


def kinks(t, f, share):
    """Priors at which another vertex becomes best."""
    dt, df = np.diff(t), np.diff(f)
    return (1 - share) * df / (share * dt + (1 - share) * df)


def expected(curve=TWENTY, **arguments) -> dict:
    return pr.expected_cost(curve, **arguments).row(0, named=True)


PRIORS = {
    "uniform": (pr.uniform(0.05, 0.5), uniform(0.05, 0.45)),
    "beta": (pr.beta(2, 5), beta(2, 5)),
    "narrow beta": (pr.beta(200, 1800), beta(200, 1800)),
    # The inverse of the prior is 1 more than the skew, and even where that is.
    "even skews": (pr.uniform(0.05, 0.5, "skew"), truncpareto(1, 10, scale=0.05)),
}
SHARES = {
    "beta": (pr.beta(2, 2), beta(2, 2)),
    "uniform": (pr.uniform(0.6, 0.95), uniform(0.6, 0.35)),
    "narrow beta": (pr.beta(300, 100), beta(300, 100)),
}


@pytest.mark.parametrize("share", [0.5, 0.83])
@pytest.mark.parametrize("name", PRIORS)
def test_a_threshold_that_follows_the_prior(name, share):
    belief, distribution = PRIORS[name]
    t, f = vertices(TWENTY)
    found = expected(over=belief, cost=share)
    best = quadrature(distribution, lambda p: cost(t, f, p, share).min(), kinks(t, f, share))
    assert found["cost_following"] == pytest.approx(best, rel=3e-5)
    assert found["cost_informed"] == pytest.approx(best, rel=3e-5)


@pytest.mark.parametrize("name", PRIORS)
def test_the_best_fixed_threshold(name):
    belief, distribution = PRIORS[name]
    found = expected(over=belief, cost=0.8)
    every = [
        (quadrature(distribution, lambda p, t=t, f=f: cost(t, f, p, 0.8)), threshold, t, f)
        for threshold, t, f in TWENTY.select("threshold", "tpr", "fpr").rows()
    ]
    least = min(every, key=lambda row: row[0])
    assert found["cost_fixed"] == pytest.approx(least[0], abs=1e-9)
    assert (found["threshold"], found["tpr"], found["fpr"]) == least[1:]
    assert found["worth_of_prior"] == pytest.approx(
        found["cost_fixed"] - found["cost_following"], abs=1e-15
    )
    assert found["prior"] == pytest.approx(distribution.mean())


@pytest.mark.parametrize(
    ("prior_name", "share_name"),
    [
        ("uniform", "beta"),
        ("beta", "narrow beta"),
        ("narrow beta", "uniform"),
        ("even skews", "beta"),
        ("even skews", "narrow beta"),
    ],
)
def test_prior_and_cost_both_uncertain(prior_name, share_name):
    belief, distribution = PRIORS[prior_name]
    share, share_distribution = SHARES[share_name]
    t, f = vertices(TWENTY)
    found = expected(over=belief, cost=share)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    edges = np.linspace(distribution.ppf(1e-16), distribution.isf(1e-16), 401)
    at = ((edges[1:] + edges[:-1]) / 2)[:, None] + np.diff(edges)[:, None] / 2 * nodes
    mass = (np.diff(edges)[:, None] / 2 * weights * distribution.pdf(at)).ravel()
    costs = np.linspace(share_distribution.ppf(1e-16), share_distribution.isf(1e-16), 401)
    shares = ((costs[1:] + costs[:-1]) / 2)[:, None] + np.diff(costs)[:, None] / 2 * nodes
    likely = (np.diff(costs)[:, None] / 2 * weights * share_distribution.pdf(shares)).ravel()
    grid = at.ravel()[:, None], shares.ravel()[None, :]
    least = np.minimum.reduce([cost(*vertex, *grid) for vertex in zip(t, f, strict=True)])
    assert found["cost_informed"] == pytest.approx(float(mass @ least @ likely), rel=3e-5)
    following = expected(over=belief, cost=share.mean)["cost_following"]
    assert found["cost_following"] == pytest.approx(following, abs=1e-12)


def test_a_prior_and_a_cost():
    t, f = vertices(TWENTY)
    found = expected(over=0.1, cost=0.9)
    least = cost(t, f, 0.1, 0.9).min()
    for name in ("cost_fixed", "cost_following", "cost_informed"):
        assert found[name] == pytest.approx(least, abs=1e-14)
    assert found["cost_trivial"] == pytest.approx(min(0.9 * 0.1, 0.1 * 0.9), abs=1e-14)


def test_twice_the_cost_at_any_share_of_a_miss_is_the_refinement_loss():
    rows = pr.datasets.satellite_predictions().filter(fold=1, model="A").drop("fold", "model")
    costs = pr.expected_cost(rows, over=0.3, cost=pr.uniform(1e-9, 1 - 1e-9), case=None)
    loss = pr.evaluate(rows, measure="refinement_loss", priors=0.3, case=None)["estimate"].item()
    assert 2 * costs["cost_informed"].item() == pytest.approx(loss, rel=3e-5)


def test_predictions_and_their_curve_cost_the_same():
    rows = pr.datasets.twenty_scores()
    asked = {"over": (0.1, 0.3), "cost": pr.beta(2, 2)}
    found = pr.expected_cost(rows, **NAMES, **asked)
    assert found.equals(pr.expected_cost(TWENTY, **asked))
    assert found.equals(pr.expected_cost(rows.lazy(), **NAMES, **asked).collect())


def test_the_point_can_be_applied():
    tuning = pr.datasets.twenty_scores()
    point = pr.expected_cost(pr.curve(tuning, **NAMES), over=(0.05, 0.5), cost=0.8)
    test = pl.DataFrame({"truth": [1, 1, 0, 0], "score": [0.8, 0.2, 0.6, 0.1]})
    applied = pr.apply_thresholds(test, point, **NAMES)
    assert applied.select("rule", "threshold", "tpr", "fpr").row(0) == ("cost", 0.38, 0.5, 0.5)


def test_keys_and_notes():
    table = pl.DataFrame(
        {
            "model": ["A"] * 4 + ["B"] * 2,
            "truth": [1, 0, 1, 0, 1, 1],
            "score": [0.9, 0.1, 0.8, 0.2, 0.5, 0.6],
        }
    )
    curve = pr.curve(table, **NAMES)
    costs = pr.expected_cost(curve, over=(0.1, 0.2), cost=0.9)
    assert costs.select("cost_fixed", "cost_following", "cost_trivial", "note").rows() == [
        (0.0, 0.0, pytest.approx(0.085), None), (None, None, None, "no negatives"),
    ]  # fmt: skip
