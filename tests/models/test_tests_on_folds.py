"""Tests of `compare` over folds: of all models, and of two at a time."""

from itertools import combinations
from math import sqrt
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from layouts import draw, tidy
from scipy.stats import f, t
from statsmodels.formula.api import ols
from statsmodels.stats.anova import AnovaRM, anova_lm
from statsmodels.stats.multitest import multipletests

import polaroc as pr

SHAPES = [(20, 3), (5, 2), (2, 4)]


def corrected(values, ratio):
    """The test of all models at once."""
    return SimpleNamespace(
        **pr.compare(tidy(values), test_train_ratio=ratio).omnibus.row(0, named=True)
    )


def two_way(values):
    return corrected(values, 0)


def long(values):
    blocks, models = values.shape
    return pd.DataFrame(
        {
            "y": values.ravel(),
            "fold": np.repeat(np.arange(blocks), models),
            "model": np.tile(np.arange(models), blocks),
        }
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_two_way_is_least_squares_is_anova_rm_is_the_error_stratum(shape):
    values = draw(*shape)
    found = two_way(values)
    table = anova_lm(ols("y ~ C(model) + C(fold)", long(values)).fit(), typ=2)
    assert found.statistic == pytest.approx(table.loc["C(model)", "F"], rel=1e-9)
    assert found.p_value == pytest.approx(table.loc["C(model)", "PR(>F)"], rel=1e-9)
    stratum = AnovaRM(long(values), "y", "fold", ["model"]).fit().anova_table.iloc[0]
    assert found.statistic == pytest.approx(stratum["F Value"], rel=1e-9)
    assert (found.df1, found.df2) == (stratum["Num DF"], stratum["Den DF"])
    # The stratum within folds: models against their interaction with folds.
    grand, rows, columns = values.mean(), values.mean(1), values.mean(0)
    interaction = values - rows[:, None] - columns[None] + grand
    ratio = shape[0] * ((columns - grand) ** 2).sum() / (interaction**2).sum() * (shape[0] - 1)
    assert found.statistic == pytest.approx(ratio, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ratio", [0.0, 0.25, 1 / 9])
def test_corrected_f_by_hand(shape, ratio):
    values = draw(*shape, seed=1)
    plain, found = two_way(values), corrected(values, ratio)
    statistic = plain.statistic / (1 + shape[0] * ratio)
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    assert found.p_value == pytest.approx(f.sf(statistic, found.df1, found.df2), rel=1e-12)


@pytest.mark.parametrize(
    "values",
    [
        np.repeat(draw(8, 1), 3, axis=1),
        np.repeat(draw(8, 1), 3, axis=1) + np.random.default_rng(0).normal(size=(8, 3)) * 1e-16,
        np.full((8, 3), 0.1),
        np.zeros((8, 3)),
    ],
)
def test_of_equal_models_there_is_no_test(values):
    for ratio in (0, 0.25):
        found = corrected(values, ratio)
        assert (found.statistic, found.p_value) == (None, None)


def test_of_models_that_differ_by_a_constant_there_is_no_test():
    values = draw(8, 1) + np.array([0, 0.1, 0.2])
    found = two_way(values)
    assert (found.statistic, found.p_value) == (None, None)
    summary = pr.compare(tidy(values), test_train_ratio=0.25).summary()
    assert "show no variation, so there is no test of all models" in summary


# --- Two models at a time ----------------------------------------------------------------------


def numbers_of(comparison):
    """The columns of the pairs as arrays, and half the widths of their intervals."""
    pairs = comparison.pairs
    columns = {name: pairs[name].to_numpy() for name in pairs.columns[2:]}
    adjusted = (columns["adjusted_upper"] - columns["adjusted_lower"]) / 2
    reach = (columns["upper"] - columns["lower"]) / 2
    return SimpleNamespace(**columns, reach=reach, adjusted_reach=adjusted)


def paired_t(values, level, ratio=0):
    return numbers_of(pr.compare(tidy(values), level=level, test_train_ratio=ratio))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ratio", [0, 0.25, 1 / 9])
def test_corrected_t_by_hand(shape, ratio):
    values = draw(*shape, seed=2) / 100
    pairs = paired_t(values, 0.99, ratio)
    blocks, models = shape
    # Of p-values so small that none is cut to 1.
    small = pairs.p_value / 1000
    factors = multipletests(small, method="holm")[1] / small
    for i, (a, b) in enumerate(combinations(range(models), 2)):
        lead = values[:, a] - values[:, b]
        mean = sum(lead) / blocks
        variance = sum((lead - mean) ** 2) / (blocks - 1)
        error = sqrt(variance * (1 / blocks + ratio))
        assert pairs.std_error[i] == pytest.approx(error, rel=1e-9)
        assert pairs.statistic[i] == pytest.approx(mean / error, rel=1e-9)
        assert pairs.p_value[i] == pytest.approx(2 * t.sf(abs(mean) / error, blocks - 1), rel=1e-9)
        alone = t.ppf(0.995, blocks - 1) * error
        assert pairs.reach[i] == pytest.approx(alone, rel=1e-6)
        assert pairs.adjusted_reach[i] == pytest.approx(
            t.ppf(1 - 0.01 / factors[i] / 2, blocks - 1) * error, rel=1e-6
        )


@pytest.mark.slow
@pytest.mark.parametrize(("apart", "least", "most"), [(0, 0.93, 0.98), (1, 0.84, 0.92)])
def test_how_often_all_intervals_hold_at_once(apart, least, most):
    rng = np.random.default_rng(0)
    merits = np.arange(5) * apart
    first, second = np.array(list(combinations(range(5), 2))).T
    held = []
    for _ in range(160):
        pairs = paired_t((rng.normal(size=(10, 5)) + merits) / 100, 0.95)
        off = pairs.difference - (merits[first] - merits[second]) / 100
        held.append((np.abs(off) <= pairs.adjusted_reach).all())
    assert least < np.mean(held) < most


@pytest.mark.parametrize("noise", [0, 1e-16])
def test_equal_models_have_no_difference_in_pairs(noise):
    values = np.repeat(draw(8, 1), 3, axis=1)
    values[:, 2] += np.random.default_rng(1).normal(size=8) * (noise or 0.1)
    pairs = paired_t(values, 0.95)
    same = [0] if not noise else [0, 1, 2]
    assert (pairs.difference[same] == 0).all()
    for numbers in (pairs.std_error, pairs.p_value, pairs.p_adjusted, pairs.reach):
        assert np.isnan(numbers).tolist() == [place in same for place in range(3)]


def test_a_constant_difference_is_marked():
    table = tidy(draw(8, 1) + np.array([0, 0.1, 0.1]))
    found = pr.compare(table, test_train_ratio=0.25)
    said = "The difference of 'A' and 'B'; 'A' and 'C'; 'B' and 'C' shows no variation"
    assert said in " ".join(found.warnings)
    assert found.pairs["difference"].to_list() == pytest.approx([-0.1, -0.1, 0])
    for name in ("std_error", "lower", "p_value", "p_adjusted"):
        assert found.pairs[name].null_count() == 3
