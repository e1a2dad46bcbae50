"""sens, auc_range, accsens and equal_error, beside a walk along the curve."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from strategies import tables

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
RANGES = st.sampled_from([(0.1, 0.9), (0.05, 0.2), (0.001, 0.5), (0.3, 0.31), (0.5, 0.999)])
PERFECT = pl.DataFrame({"truth": [1, 1, 0, 0], "score": [4.0, 3.0, 2.0, 1.0]})
REVERSED = PERFECT.with_columns(-pl.col("score"))
CONSTANT = PERFECT.with_columns(score=pl.lit(0.5))


def curve_of(table: pl.DataFrame) -> pl.DataFrame:
    return pr.curve(table, **NAMES, weight="weight" if "weight" in table.columns else None)


def roc(table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    curve = curve_of(table)
    return curve["tpr"].to_numpy(), curve["fpr"].to_numpy()


def balanced(rates: tuple[np.ndarray, np.ndarray], prior: float) -> tuple[float, float]:
    """Walk along the curve to where 1 − t meets λf."""
    (t, f), skew = rates, (1 - prior) / prior
    short = (1 - t) - skew * f
    after = int(np.flatnonzero(short <= 0)[0])
    if after == 0:
        return t[0], f[0]
    share = short[after - 1] / (short[after - 1] - short[after])
    return tuple(x[after - 1] + share * (x[after] - x[after - 1]) for x in (t, f))


def sens(rates, lo, hi):
    (t_lo, f_lo), (t_hi, f_hi) = balanced(rates, lo), balanced(rates, hi)
    return np.hypot(t_lo - t_hi, f_hi - f_lo) / np.sqrt(2)


def error_area(rates, lo, hi):
    def error(prior):
        t, f = balanced(rates, prior)
        return prior * (1 - t) + (1 - prior) * f

    t, f = rates
    reach = f + (1 - t)
    kinks = np.unique((f[reach > 0] / reach[reach > 0]).clip(lo, hi))
    cuts = np.unique([lo, *kinks, hi])
    return 1 - sum(quad(error, a, b, epsabs=1e-13)[0] for a, b in pairwise(cuts)) / (hi - lo)


def partial_area(rates, lo, hi):
    (t_lo, f_lo), (t_hi, f_hi) = balanced(rates, lo), balanced(rates, hi)
    t, f = rates
    # The ends are rounded: a point at one of them may lie either side of it.
    between = (t_lo - 1e-12 <= t) & (t <= t_hi + 1e-12) & (f_lo - 1e-12 <= f) & (f <= f_hi + 1e-12)
    fpr, fnr = [f_lo, *f[between], f_hi], 1 - np.array([t_lo, *t[between], t_hi])
    return 1 - np.trapezoid(fnr, fpr) / (f_hi - f_lo)


def estimates(table, over):
    weight = "weight" if "weight" in table.columns else None
    found = pr.evaluate(table, **NAMES, weight=weight, over=over, priors=0.5)
    return dict(found.select("measure", "estimate").iter_rows())


@given(tables(), RANGES)
def test_measures_over_a_range_are_their_definitions(table, over):
    found, rates = estimates(table, over), roc(table)
    area, width = error_area(rates, *over), sens(rates, *over)
    assert found["sens"] == pytest.approx(width, abs=1e-9)
    assert found["auc_range"] == pytest.approx(area, abs=1e-9)
    assert found["equal_error"] == pytest.approx(balanced(rates, 0.5)[1], abs=1e-9)
    expected = np.sqrt((1 - area) ** 2 + width**2) / np.sqrt(2)
    assert found["accsens"] == pytest.approx(expected, abs=1e-9)
    curve = curve_of(table)
    assert pr.sens(curve, over)["estimate"].item() == pytest.approx(width, abs=1e-9)
    weighed = pr.accsens(curve, over, weights=(1.5, 0.5))["estimate"].item()
    expected = np.sqrt(1.5 * (1 - area) ** 2 + 0.5 * width**2) / np.sqrt(2)
    assert weighed == pytest.approx(expected, abs=1e-9)


@given(tables(), RANGES)
def test_the_partial_area_is_its_definition(table, over):
    found = pr.accsens(curve_of(table), over, weights=(2, 0), area="partial")["estimate"].item()
    rates = roc(table)
    (_, f_lo), (_, f_hi) = (balanced(rates, prior) for prior in over)
    if f_hi - f_lo > 1e-6:
        assert found == pytest.approx(1 - partial_area(rates, *over), abs=1e-8)


# The perfect point never moves. On the chance diagonal the balanced point is
# t = f = π with the error 2π(1 − π); along the axes, the worst curve, the error is
# 2π up to π = ½ and 2(1 − π) beyond.
CLOSED = {
    "perfect": (PERFECT, 0, 1, 0),
    "constant": (CONSTANT, 0.8, 1 - (0.324 - 0.01 + 0.002 / 3) / 0.8, 0.5),
    "reversed": (REVERSED, 8 / 9, 1 - 2 * (0.25 - 0.01) / 0.8, 1),
}


@pytest.mark.parametrize(("table", "sens", "area", "equal_error"), CLOSED.values(), ids=CLOSED)
def test_closed_forms(table, sens, area, equal_error):
    found = estimates(table, (0.1, 0.9))
    assert found["sens"] == pytest.approx(sens, abs=1e-12)
    assert found["auc_range"] == pytest.approx(area, abs=1e-12)
    assert found["equal_error"] == pytest.approx(equal_error, abs=1e-12)


@pytest.mark.parametrize("width", [1e-4, 1e-8, 1e-13])
@pytest.mark.parametrize("lo", [1e-6, 0.37, 0.9])
def test_a_narrow_range_keeps_its_digits(lo, width):
    # The mean error over a range that is so narrow lies between those at its ends.
    hi = lo * (1 + width)
    table = pr.datasets.twenty_scores()
    curves = curve_of(table)
    priors = (lo, hi)
    points = [balanced(roc(table), prior) for prior in priors]
    missed = [1 - t for t, _ in points]
    errors = [p * (1 - t) + (1 - p) * f for p, (t, f) in zip(priors, points, strict=True)]
    found = estimates(table, (lo, hi))
    mean = 1 - found["auc_range"]
    assert min(errors) - 1e-13 <= mean <= max(errors) + 1e-13
    expected = np.sqrt((mean**2 + found["sens"] ** 2) / 2)
    assert found["accsens"] == pytest.approx(expected, rel=1e-12)
    # Of the partial area, whose mean is that of FNr, likewise.
    partial = pr.accsens(curves, (lo, hi), (1, 0), "partial")["estimate"].item()
    if partial is not None:
        assert min(missed) - 1e-12 <= partial * 2**0.5 <= max(missed) + 1e-12


def test_the_equal_error_needs_no_range():
    table = pr.datasets.twenty_scores()
    expected = balanced(roc(table), 0.5)[1]
    for asked in (
        {"measure": "equal_error"},
        {"measure": "equal_error", "over": (0.05, 0.2)},
        {"measure": ["equal_error", "iauprec"], "over": pr.beta(2, 18)},
    ):
        (estimate,) = pr.evaluate(table, **NAMES, **asked).filter(measure="equal_error")["estimate"]
        assert estimate == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("excess", [1e-13, -1e-13])
def test_totals_of_weights_may_differ_from_their_sums_by_rounding(excess):
    curve = curve_of(PERFECT.with_columns(weight=1.0))
    rounded = curve.with_columns(pl.col("positives", "negatives") * (1 + excess))
    for found in (pr.sens(rounded, (0.1, 0.9)), pr.accsens(rounded, (0.1, 0.9))):
        assert found["estimate"].item() == pytest.approx(0, abs=1e-12)
