import inspect
from math import inf, isnan, nan, sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polaroc as pr
from polaroc import rates

# Every public function of rates but the quotient itself.
RATES = {
    name: value
    for name, value in vars(rates).items()
    if inspect.isfunction(value) and value.__module__ == rates.__name__ and name != "ratio"
}


def quotient(numerator: float, denominator: float) -> float:
    if denominator == 0:
        return nan if numerator == 0 else inf
    return numerator / denominator


def f_score(tp: float, fn: float, fp: float, tn: float, beta: float = 1) -> float:
    return quotient((1 + beta**2) * tp, (1 + beta**2) * tp + beta**2 * fn + fp)


def correlation(tp: float, fn: float, fp: float, tn: float) -> float:
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return quotient(tp * tn - fp * fn, sqrt(margins))


def gain(value: float, prior: float) -> float:
    return -inf if value == 0 else quotient(value - prior, (1 - prior) * value)


# Each rate from the four shares of a confusion matrix, which sum to 1.
BY_COUNTS = {
    "precision": lambda tp, fn, fp, tn: quotient(tp, tp + fp),
    "recall": lambda tp, fn, fp, tn: tp / (tp + fn),
    "specificity": lambda tp, fn, fp, tn: tn / (tn + fp),
    "tnr": lambda tp, fn, fp, tn: tn / (tn + fp),
    "fnr": lambda tp, fn, fp, tn: fn / (tp + fn),
    "npv": lambda tp, fn, fp, tn: quotient(tn, tn + fn),
    "error": lambda tp, fn, fp, tn: fn + fp,
    "accuracy": lambda tp, fn, fp, tn: tp + tn,
    "posfrac": lambda tp, fn, fp, tn: tp + fp,
    "f_measure": f_score,
    "lift": lambda tp, fn, fp, tn: quotient(tp, (tp + fp) * (tp + fn)),
    "likelihood_ratio_positive": lambda tp, fn, fp, tn: quotient(tp / (tp + fn), fp / (fp + tn)),
    "likelihood_ratio_negative": lambda tp, fn, fp, tn: quotient(fn / (tp + fn), tn / (fp + tn)),
    "informedness": lambda tp, fn, fp, tn: tp / (tp + fn) - fp / (fp + tn),
    "matthews": correlation,
    "loss": lambda tp, fn, fp, tn: fn / 2 + fp / 2,
    "net_benefit": lambda tp, fn, fp, tn: tp - fp,
    # Flach and Kull: (x − π)/((1 − π)x), with recall and precision for x.
    "recall_gain": lambda tp, fn, fp, tn: gain(tp / (tp + fn), tp + fn),
    "precision_gain": lambda tp, fn, fp, tn: gain(quotient(tp, tp + fp), tp + fn),
}

# Dyadic corners and inner points, so that 1 − t has no rounding to hide a 0/0.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
SKEWS = (0.25, 1.0, 9.0, 999.0)
GRID = [(t, f, skew) for t in SHARES for f in SHARES for skew in SKEWS]


def shares(t: float, f: float, skew: float) -> tuple[float, float, float, float]:
    prior = 1 / (1 + skew)
    return prior * t, prior * (1 - t), (1 - prior) * f, (1 - prior) * (1 - f)


def same(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def test_every_rate_has_an_independent_formula():
    assert set(RATES) == set(BY_COUNTS)


@pytest.mark.parametrize("name", RATES)
def test_rates_follow_from_the_confusion_matrix_at_the_prior(name):
    for t, f, skew in GRID:
        found = RATES[name](t, f, skew)
        assert same(found, BY_COUNTS[name](*shares(t, f, skew))), (t, f, skew)


@pytest.mark.parametrize("name", RATES)
@given(
    positives=st.integers(1, 50), negatives=st.integers(1, 50), skew=st.floats(1e-3, 1e3),
    data=st.data(),
)  # fmt: skip
def test_rates_of_counts(name, positives, negatives, skew, data):
    t = data.draw(st.integers(0, positives)) / positives
    f = data.draw(st.integers(0, negatives)) / negatives
    assert same(RATES[name](t, f, skew), BY_COUNTS[name](*shares(t, f, skew)))


@pytest.mark.parametrize("name", RATES)
def test_rates_are_alike_on_numbers_arrays_and_expressions(name):
    rate = RATES[name]
    numbers = [rate(*point) for point in GRID]
    with np.errstate(divide="ignore", invalid="ignore"):
        arrays = rate(*np.array(GRID).T)
    frame = pl.DataFrame(GRID, schema=["t", "f", "skew"], orient="row")
    expressions = frame.select(rate(pl.col("t"), pl.col("f"), pl.col("skew"))).to_series()
    numpy_numbers = [float(rate(*map(np.float64, point))) for point in GRID]
    for others in (arrays.tolist(), expressions.to_list(), numpy_numbers):
        assert others == pytest.approx(numbers, rel=1e-14, abs=1e-15, nan_ok=True)


@pytest.mark.parametrize("name", RATES)
def test_rates_take_whole_numbers_and_one_skew_for_many_points(name):
    whole = RATES[name](1, 1, 1)
    assert same(whole, RATES[name](1.0, 1.0, 1.0))
    frame = pl.DataFrame({"t": [0.5, 0.75], "f": [0.25, 0.5]})
    found = frame.select(RATES[name](pl.col("t"), pl.col("f"), 9.0)).to_series().to_list()
    assert found == pytest.approx([RATES[name](0.5, 0.25, 9.0), RATES[name](0.75, 0.5, 9.0)])


# P-ROC Fig. 1: a linear classifier of the Highleyman classes at three skews.
@pytest.mark.parametrize(
    ("skew", "accuracy", "precision"),
    [(1, 0.814, 0.878), (10, 0.883, 0.419), (100, 0.897, 0.067)],
)
def test_the_first_figure_of_the_paper(skew, accuracy, precision):
    t, f = 0.730, 1 - 0.899
    assert rates.accuracy(t, f, skew) == pytest.approx(accuracy, abs=1e-3)
    assert rates.precision(t, f, skew) == pytest.approx(precision, abs=1e-3)


@given(t=st.floats(0, 1), f=st.floats(0, 1), skew=st.floats(1e-3, 1e3))
def test_rates_that_are_each_others_complement(t, f, skew):
    prior = 1 / (1 + skew)
    assert rates.accuracy(t, f, skew) == pytest.approx(1 - rates.error(t, f, skew))
    assert rates.fnr(t, f, skew) == 1 - rates.recall(t, f, skew)
    assert rates.specificity(t, f, skew) == rates.tnr(t, f, skew) == 1 - f
    assert rates.error(t, f, skew) == pytest.approx(2 * rates.loss(t, f, skew))
    if t + skew * f > 0:
        found = rates.precision(t, f, skew) * rates.posfrac(t, f, skew)
        assert found == pytest.approx(prior * t)


@pytest.mark.parametrize("beta", [0.5, 1, 2])
def test_f_measure_weighs_recall_by_beta(beta):
    for t, f, skew in GRID:
        found = rates.f_measure(t, f, skew, beta=beta)
        assert same(found, f_score(*shares(t, f, skew), beta))


@pytest.mark.parametrize(("theta", "cost_fn", "cost_fp"), [(0.5, 1, 1), (0.9, 10, 1), (0.2, 1, 7)])
def test_loss_weighs_both_kinds_of_error(theta, cost_fn, cost_fp):
    for t, f, skew in GRID:
        _, fn, fp, _ = shares(t, f, skew)
        found = rates.loss(t, f, skew, theta=theta, cost_fn=cost_fn, cost_fp=cost_fp)
        assert same(found, theta * cost_fn * fn + (1 - theta) * cost_fp * fp)


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5, 0.8])
def test_net_benefit_weighs_false_alarms_by_the_odds(threshold):
    for t, f, skew in GRID:
        tp, _, fp, _ = shares(t, f, skew)
        found = rates.net_benefit(t, f, skew, threshold=threshold)
        assert same(found, tp - fp * threshold / (1 - threshold))


@pytest.mark.parametrize(
    ("numerator", "denominator", "expected"),
    [(1.0, 4.0, 0.25), (0.0, 0.0, nan), (0, 0, nan), (2, 0, inf), (-2.0, 0.0, -inf), (nan, 0, nan)],
)
def test_a_quotient_by_zero_is_that_of_arrays(numerator, denominator, expected):
    found = rates.ratio(numerator, denominator)
    with np.errstate(divide="ignore", invalid="ignore"):
        array = np.divide(np.array([float(numerator)]), float(denominator))[0]
    assert found == array == expected or all(map(isnan, (found, array, expected)))


def test_many_rates_over_one_that_is_zero():
    frame = pl.DataFrame({"t": [0.0, 0.5]})
    with np.errstate(divide="ignore", invalid="ignore"):
        arrays = rates.likelihood_ratio_positive(np.array([0.0, 0.5]), 0.0, 1.0)
    found = frame.select(rates.likelihood_ratio_positive(pl.col("t"), 0.0, 1.0)).to_series()
    for numbers in (arrays.tolist(), found.to_list()):
        assert isnan(numbers[0])
        assert numbers[1] == inf


def test_every_public_rate_is_a_column_of_surfaces_by_its_name():
    curves = pr.curve(pr.datasets.twenty_scores(), truth="truth", score="score")
    found = pr.surface(curves, 0.1, list(RATES)).filter(pl.col("threshold") < 0.5)
    points = found.select("tpr", "fpr", "skew").rows()
    for name, rate in RATES.items():
        assert found.schema[name] == pl.Float64
        expected = [rate(*at) for at in points]
        assert found[name].fill_null(nan).to_list() == pytest.approx(expected, nan_ok=True), name
