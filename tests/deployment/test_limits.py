import numpy as np
import pytest
from scipy.optimize import linprog

from polaroc.deployment.limits import (
    FOR_DIFFERENCE,
    FOR_RATE,
    WINDOWS,
    Looks,
    Reference,
    Threshold,
    spent,
)

RNG = np.random.default_rng(5)
POSITIVE, NEGATIVE = RNG.normal(1.5, 1, 150).round(1), RNG.normal(0, 1, 900).round(1)


def reference(share=1.0):
    return Reference.from_scores(POSITIVE, NEGATIVE, Threshold(1.0, share), 0.05)


def test_looks_spend_the_error_rate_and_no_more():
    total = sum(spent(look) for look in range(1, 100_000))
    assert 0.93 < total < 1
    assert spent(10) > spent(11)


def test_what_the_limits_may_fail_with_adds_up():
    whole = reference(0.4)
    assert whole.own_cuts == 2
    assert whole.errors(0.05).sum() == pytest.approx(0.05)
    assert pytest.approx(1) == 2 * FOR_RATE + 2 * FOR_DIFFERENCE
    assert whole.own.tolist()[:3] == pytest.approx([0.4, 0.6, 0])


def test_counts_at_the_cuts_are_counted():
    whole = reference()
    for cut, tp, fp in zip(whole.cuts, whole.tp, whole.fp, strict=True):
        assert (tp, fp) == ((cut <= POSITIVE).sum(), (cut <= NEGATIVE).sum())
    score, code = RNG.normal(size=500).round(1), RNG.integers(0, 3, 500)
    counts = whole.counts(score, code, 3)
    for time in range(3):
        for place, cut in enumerate(whole.cuts):
            assert counts[time, place] == ((score >= cut) & (code == time)).sum()


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_gains_bound_the_differences_of_the_rates(share):
    whole = reference(share)
    t, f = whole.rates()
    more, less = whole.gains()
    assert (more <= t - t @ whole.own + 1e-12).all()
    assert (less <= f @ whole.own - f + 1e-12).all()
    # Not looser than the two limits of independent rates would be with that error.
    assert more.max() > 0
    assert less.max() > 0


@pytest.mark.parametrize("called", [(30, 900), (300, 900), (10, 12)])
def test_priors_are_those_that_some_rates_within_limits_allow(called):
    whole = reference()
    cases = 1_000
    counts = np.interp(whole.cuts, [-4, 4], called[::-1]).round().astype(int)
    window = np.zeros((1, len(WINDOWS), whole.cuts.size), dtype=int)
    size = np.zeros((1, len(WINDOWS)), dtype=int)
    window[0, 0], size[0, 0] = counts, cases
    looks = Looks(whole, [3], window, size)
    shares = looks.shares()
    lower, upper = (limit[0, 0] for limit in looks.priors(shares))
    assert (shares.lower[0, 1:] == 0).all()
    assert (shares.upper[0, 1:] == 1).all()
    t, f = whole.bands()
    # With x = πt and y = (1−π)f the limits are linear in π, x and y.
    found = []
    for sign in (1, -1):
        k = whole.cuts.size
        eye, zero = np.eye(k), np.zeros((k, k))
        a = np.vstack(
            [
                np.hstack([-t.upper[:, None], eye, zero]),
                np.hstack([t.lower[:, None], -eye, zero]),
                np.hstack([f.upper[:, None], zero, eye]),
                np.hstack([-f.lower[:, None], zero, -eye]),
                np.hstack([np.zeros((k, 1)), eye, eye]),
                np.hstack([np.zeros((k, 1)), -eye, -eye]),
            ]
        )
        b = np.concatenate(
            [np.zeros(2 * k), f.upper, -f.lower, shares.upper[0, 0], -shares.lower[0, 0]]
        )
        cost = np.zeros(2 * k + 1)
        cost[0] = sign
        answer = linprog(cost, A_ub=a, b_ub=b, bounds=[(0, 1)] + [(0, None)] * 2 * k)
        found.append(answer.x[0] if answer.status == 0 else None)
    if found[0] is None:
        assert lower > upper
    else:
        assert (lower, upper) == pytest.approx(found, abs=1e-7)


@pytest.mark.parametrize("called", [0, 1])
def test_one_case_is_one_of_one(called):
    whole = reference()
    counts = np.zeros((1, len(WINDOWS), whole.cuts.size), int)
    counts[0, 0] = called
    cases = np.array([[1] + [0] * (len(WINDOWS) - 1)])
    shares = Looks(whole, [1], counts, cases).shares()
    # One of one may be all, and none of one none; either says little.
    assert (shares.upper[0, 0] == 1).all() == bool(called)
    assert (shares.lower[0, 0] == 0).all() == (not called)
    assert (shares.upper - shares.lower)[0, 0].min() > 0.9
