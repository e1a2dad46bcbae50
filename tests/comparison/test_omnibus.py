from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from layouts import draw, tidy
from scipy.stats import f
from statsmodels.formula.api import ols
from statsmodels.stats.anova import AnovaRM, anova_lm

import polaroc as pr

SHAPES = [(20, 3), (5, 2), (10, 6), (2, 4), (100, 3)]


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


@pytest.mark.slow
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
def test_equal_models_have_p_one(values):
    for ratio in (0, 0.25):
        found = corrected(values, ratio)
        assert (found.statistic, found.p_value) == (0, 1)


def test_models_that_differ_by_a_constant_have_the_limit():
    values = draw(8, 1) + np.array([0, 0.1, 0.2])
    found = two_way(values)
    assert (found.statistic, found.p_value) == (np.inf, 0)


def test_proc_means_and_sds_alone_give_its_two_way_f():
    # P-ROC Table 1, IAUPREC of 20 hold-outs; 21.04 is published. Blocks explain
    # nothing here, as the table does not tell their effects.
    mean, sd = np.array([0.554, 0.642, 0.783]), np.array([0.013, 0.177, 0.082])
    between = 20 * mean.var(ddof=1)
    assert between / (sd**2).mean() == pytest.approx(20.95, abs=0.005)
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(20, 3))
    columns, _ = np.linalg.qr(columns - columns.mean(0))
    # Columns without correlation, of exactly these means and SDs.
    values = mean + sd * (columns - columns.mean(0)) * np.sqrt(19)
    of_folds = 3 * values.mean(1).var(ddof=1)
    one_way = ((sd**2).sum() * 19 - of_folds * 19) / 38
    assert two_way(values).statistic == pytest.approx(between / one_way, rel=1e-9)
