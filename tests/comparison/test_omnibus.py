from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from layouts import draw, tidy
from scipy.stats import f, friedmanchisquare, rankdata
from statsmodels.formula.api import ols
from statsmodels.stats.anova import AnovaRM, anova_lm

import polaroc as pr
from polaroc.comparison import omnibus

SHAPES = [(20, 3), (5, 2), (10, 6), (2, 4), (100, 3)]


def outcomes_of(values, **options):
    """The tests of all models at once, by their first words."""
    options = {"target": "dataset", "permutations": 99} | options
    found = pr.compare(tidy(values), **options).omnibus
    return {row["test"].split(",")[0]: SimpleNamespace(**row) for row in found.rows(named=True)}


def two_way(values):
    return outcomes_of(values)["repeated-measures F"]


def greenhouse_geisser(values):
    return outcomes_of(values)["Greenhouse-Geisser F"]


def corrected(values, ratio):
    (found,) = outcomes_of(
        values, target="algorithm", permutations=9_999, test_train_ratio=ratio
    ).values()
    return found


def permutation(values, permutations, seed):
    return outcomes_of(values, permutations=permutations, seed=seed)["within-fold permutation"]


def friedman(values):
    found = outcomes_of(values)
    return found["Friedman χ²"], found["Iman-Davenport F"]


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


@pytest.mark.parametrize("shape", [(20, 3), (10, 6), (7, 4)])
def test_sphericity_from_the_covariances_as_greenhouse_and_geisser_wrote_it(shape):
    values = draw(*shape, spread=np.linspace(0.2, 4, shape[1]))
    s = np.cov(values.T)
    models = shape[1]
    diagonal, overall, rows = np.diag(s).mean(), s.mean(), s.mean(axis=1)
    above = (models * (diagonal - overall)) ** 2
    below = (models - 1) * ((s**2).sum() - 2 * models * (rows**2).sum() + (models * overall) ** 2)
    found, epsilon = greenhouse_geisser(values), above / below
    assert found.df1 == pytest.approx(epsilon * (models - 1), rel=1e-9)
    plain = two_way(values)
    expected = f.sf(plain.statistic, epsilon * plain.df1, epsilon * plain.df2)
    assert found.p_value == pytest.approx(expected, rel=1e-9)


def test_sphericity_is_one_for_two_models_and_least_for_one_that_varies_alone():
    assert greenhouse_geisser(draw(9, 2)).df1 == pytest.approx(1)
    values = np.zeros((9, 4))
    values[:, 0] = draw(9, 1)[:, 0]
    assert greenhouse_geisser(values).df1 == pytest.approx(3 / 3)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tied", [False, True])
def test_friedman_is_scipys(seed, tied):
    values = draw(12, 4, seed)
    if tied:
        values = values.round(1)
    chi, iman = friedman(values)
    expected = friedmanchisquare(*values.T)
    assert (chi.statistic, chi.p_value) == pytest.approx(tuple(expected), rel=1e-9)
    # Iman and Davenport's F is the two-way F of the ranks.
    ranks = rankdata(values, axis=1)
    assert iman.statistic == pytest.approx(two_way(ranks).statistic, rel=1e-9)


@pytest.mark.parametrize(
    ("row", "chance"), [([1, 2, 3], 1 / 6), ([1, 1, 2], 1 / 3), ([1, 2], 1 / 2)]
)
def test_ranks_that_agree_in_all_folds_have_the_chance_of_that(row, chance):
    values = np.array([row] * 4) * 0.1
    _, iman = friedman(values)
    assert iman.statistic == np.inf
    orders = set(permutations(row))
    agreeing = sum(len(set(rows)) == 1 for rows in product(orders, repeat=4))
    assert iman.p_value == pytest.approx(agreeing / len(orders) ** 4)
    assert iman.p_value == pytest.approx(chance**3)


@pytest.mark.parametrize("shape", [(4, 3), (6, 2), (3, 4)])
@pytest.mark.parametrize("tied", [False, True])
def test_permutation_is_exact_on_small_tables(shape, tied):
    values = draw(*shape, seed=3)
    if tied:
        values = values.round(1)
    seen = values.mean(0).var()
    statistics = np.array(
        [
            np.array(rows).mean(0).var()
            for rows in product(*(list(permutations(row)) for row in values))
        ]
    )
    found = permutation(values, 99, 0)
    assert "exact" in found.test
    assert found.p_value == pytest.approx((statistics >= seen - 1e-12).mean(), abs=1e-12)


def test_permutation_draws_are_seeded_and_counted_with_the_one_that_was_seen(monkeypatch):
    values = draw(12, 2, seed=5)
    exact = permutation(values, 1, 0)
    assert "exact" in exact.test
    monkeypatch.setattr(omnibus, "MAX_EXACT", 0)
    drawn = permutation(values, 19_999, 0)
    assert drawn == permutation(values, 19_999, 0)
    se = np.sqrt(exact.p_value * (1 - exact.p_value) / 19_999)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * se)
    apart = values + np.array([0, 10])
    assert permutation(apart, 999, 0).p_value == pytest.approx(2 / 1000, abs=3 / 1000)
    assert permutation(apart, 999, 0).p_value >= 1 / 1000


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
    outcomes = [*outcomes_of(values).values(), corrected(values, 0.25)]
    assert len(outcomes) == 6
    assert {(one.statistic, one.p_value) for one in outcomes} == {(0, 1)}


def test_models_that_differ_by_a_constant_have_the_limit():
    values = draw(8, 1) + np.array([0, 0.1, 0.2])
    assert two_way(values).statistic == np.inf
    assert greenhouse_geisser(values).p_value == 0


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
