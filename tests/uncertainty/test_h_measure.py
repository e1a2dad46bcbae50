"""Limits of the H-measure."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.integrate import quad
from scipy.stats import beta, norm

import polaroc as pr
from polaroc.errors import InvalidArgument

ROLES = {"truth": "truth", "score": "score"}
ASKED = ROLES | {"intervals": "logit"}


def drawn(positives=60, negatives=240, seed=0, distance=1.5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    score = (rng.normal(size=truth.size) + distance * truth).round(2)
    return pl.DataFrame({"truth": truth, "score": score, "row": np.arange(truth.size)})


TABLE = drawn()
PLAIN = TABLE.drop("row")


def test_without_intervals_it_is_that_of_the_curve():
    found = pr.h_measure(PLAIN, **ROLES, prior=0.3)
    assert_frame_equal(found, pr.h_measure(pr.curve(PLAIN, **ROLES), prior=0.3))
    sure = pr.h_measure(PLAIN, **ASKED, prior=0.3)
    assert_frame_equal(sure.select(found.columns), found)
    assert sure["lower"].item() < sure["h_measure"].item() < sure["upper"].item()
    assert sure["level"].item() == 0.95


def saved_by_halves(table: pl.DataFrame, prior: float) -> float:
    """The share saved on each half of the cases by the best thresholds of the other half."""
    costs = np.linspace(0.0005, 0.9995, 400)
    density = beta(2, 2).pdf(costs)

    def cost(t, f):
        return costs * prior * (1 - t) + (1 - costs) * (1 - prior) * f

    spent = []
    for half in (0, 1):
        tuned, judged = (table.filter(pl.col("row") % 2 == own) for own in (half, 1 - half))
        points = pr.curve(tuned, **ROLES).select("threshold", "tpr", "fpr")
        at = np.stack([cost(t, f) for t, f in points.select("tpr", "fpr").rows()]).argmin(axis=0)
        limit = points["threshold"].fill_null(np.inf).to_numpy()[at]
        score, truth = judged["score"].to_numpy(), judged["truth"].to_numpy()
        called = score >= limit[:, None]
        t, f = called[:, truth].mean(axis=1), called[:, ~truth].mean(axis=1)
        spent.append(np.average(cost(t, f), weights=density))
    trivial = np.minimum(costs * prior, (1 - costs) * (1 - prior))
    return 1 - np.mean(spent) / np.average(trivial, weights=density)


def test_limits_start_from_what_hulls_save_on_their_own_and_on_other_cases():
    sure = pr.h_measure(PLAIN, **ASKED, prior=0.3, level=1e-6)
    own, lower, upper = sure.select("h_measure", "lower", "upper").row(0)
    assert upper == pytest.approx(own, abs=1e-6)
    assert saved_by_halves(TABLE, 0.3) < lower < own


def test_the_standard_error_is_that_of_a_jackknife():
    table, prior = drawn(40, 60), 0.3
    sure = pr.h_measure(table.drop("row"), **ASKED, prior=prior)
    without = [
        table.with_columns(key=pl.lit(row)).filter(pl.col("row") != row) for row in range(100)
    ]
    each = pr.h_measure(pl.concat(without).drop("row"), **ROLES, by="key", prior=prior)
    found = each.sort("key")["h_measure"].to_numpy()
    # Of each class the deviations of its cases, from their own mean.
    squares = sum(
        (own.size - 1) / own.size * ((own - own.mean()) ** 2).sum()
        for own in (found[:40], found[40:])
    )
    assert sure["std_error"].item() == pytest.approx(squares**0.5, rel=0.1)


@pytest.mark.parametrize(
    ("table", "prior", "why"),
    [
        (drawn(50, 200), 0.01, "too few negatives for this prior"),
        (drawn(200, 50), 0.99, "too few positives for this prior"),
        (drawn(20, 40, distance=30), 0.3, "no spread among the cases"),
        (drawn(1, 100), 0.3, "a class has fewer than two cases"),
    ],
)
def test_where_limits_do_not_hold_there_are_none(table, prior, why):
    found = pr.h_measure(table.drop("row"), **ASKED, prior=prior)
    assert found["h_measure"].is_not_null().all()
    assert found.select("lower", "upper").null_count().row(0) == (1, 1)
    assert why in found["note"].item()


def true_h(distance: float, prior: float) -> float:
    """With normal scores, by quadrature over the cost of a miss."""

    def least(c):
        cut = np.log((1 - c) * (1 - prior) / (c * prior)) / distance + distance / 2
        return c * prior * norm.cdf(cut - distance) + (1 - c) * (1 - prior) * norm.sf(cut)

    def trivial(c):
        return min(c * prior, (1 - c) * (1 - prior))

    def expected(cost):
        return quad(lambda c: beta(2, 2).pdf(c) * cost(c), 0, 1, points=[1 - prior])[0]

    return 1 - expected(least) / expected(trivial)


@pytest.mark.parametrize(("sizes", "prior"), [((15, 60), 0.3), ((50, 200), 0.1)])
def test_limits_hold_the_true_value(sizes, prior):
    runs = 120
    tables = [drawn(*sizes, seed=seed).with_columns(run=pl.lit(seed)) for seed in range(runs)]
    found = pr.h_measure(pl.concat(tables).drop("row"), **ASKED, by="run", prior=prior)
    true = true_h(1.5, prior)
    # Two standard errors of 120 samples below .93.
    assert found.select(pl.lit(true).is_between("lower", "upper").mean()).item() >= 0.88


@pytest.mark.parametrize("cluster", [None, "row"])
def test_what_is_left_of_the_brier_score_is_a_cost_whose_share_is_uniform(cluster):
    prior = 0.3
    rows = PLAIN if cluster is None else TABLE
    roles = ASKED if cluster is None else ASKED | {"cluster": cluster}
    of_scores = {"measures": ["refinement_loss", "refinement_loss_range"]}
    found = pr.evaluate(rows, **roles, **of_scores, priors=prior, over=(0.299999, 0.300001))
    saved = pr.h_measure(rows, **roles, prior=prior, cost=pr.uniform(1e-9, 1 - 1e-9))
    trivial = prior * (1 - prior)
    value, upper, lower, error = saved.select("h_measure", "lower", "upper", "std_error").row(0)
    expected = *((1 - one) * trivial for one in (value, lower, upper)), error * trivial
    for row in found.select("estimate", "lower", "upper", "std_error").rows():
        assert row == pytest.approx(expected, rel=1e-5)
    assert found["note"].to_list() == [None, None]


def test_what_is_left_of_the_brier_score_has_limits_by_key():
    table = pl.concat(
        [
            PLAIN.with_columns(site=pl.lit(1)),
            drawn(40, 80, 5).drop("row").with_columns(site=pl.lit(0)),
        ]
    )
    asked = {"measures": ["auc", "brier", "refinement_loss"], "priors": [0.2, 0.3]}
    both = pr.evaluate(table, **ASKED, **asked, by="site")
    for site in (0, 1):
        one = pr.evaluate(table.filter(site=site).drop("site"), **ASKED, **asked)
        assert_frame_equal(both.filter(site=site).drop("site"), one)
    lazy = pr.evaluate(table.lazy(), **ASKED, **asked, by="site").collect()
    assert_frame_equal(lazy, both)


def test_curves_have_limits_and_one_class_has_none():
    # A curve has the same cases, up to their order, which the folds behind the upper limit follow.
    of_curve = pr.h_measure(pr.curve(PLAIN, **ROLES), intervals="logit", prior=0.3)
    of_cases = pr.h_measure(PLAIN, **ASKED, prior=0.3)
    assert of_curve["upper"].item() == pytest.approx(of_cases["upper"].item(), abs=1e-12)
    assert of_curve["lower"].item() == pytest.approx(of_cases["lower"].item(), abs=0.05)
    assert of_curve["note"].item() == "limits take the cases of the curve as independent"
    with pytest.raises(InvalidArgument, match="level is for intervals"):
        pr.h_measure(PLAIN, **ROLES, level=0.9)
    one = PLAIN.filter("truth")
    found = pr.h_measure(one, **ASKED, prior=0.3)
    assert found.select("h_measure", "lower", "note").row(0) == (None, None, "no negatives")


def test_one_case_of_each_class_has_no_limits():
    table = pl.DataFrame({"truth": [1, 0], "score": [0.8, 0.3]})
    found = [
        pr.h_measure(table, **ASKED),
        pr.expected_cost(table, **ASKED, over=0.2),
        pr.evaluate(table, **ASKED, measures="refinement_loss", priors=0.2),
    ]
    for one in found:
        assert "fewer than two cases" in one["note"].item()
