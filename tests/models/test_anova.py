import numpy as np
import pandas as pd
import polars as pl
import pytest
from agreement import assert_same_numbers
from layouts import draw, tidy
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

import polaroc as pr

PRIORS = (0.01, 0.1, 0.5)


def cube(blocks=6, models=3, priors=PRIORS, seed=0):
    rng = np.random.default_rng(seed)
    base = draw(blocks, models, seed)
    tables = [
        tidy(base + np.log(p) / 20 + rng.normal(size=base.shape) * 0.01, measure="auprec", prior=p)
        for p in priors
    ]
    return pl.concat(tables).sample(fraction=1, shuffle=True, seed=seed)


def terms(*arguments, **options):
    """The table of an analysis of variance."""
    return pr.anova(*arguments, **options).table


def row(frame, term):
    return frame.filter(term=term).row(0, named=True)


def test_it_is_statsmodels():
    table = cube()
    data = pd.DataFrame(table.select("model", "fold", "prior", "estimate").to_dict(as_series=False))
    expected = anova_lm(ols("estimate ~ C(model) + C(fold) + C(prior)", data).fit(), typ=2)
    found = terms(table)
    names = ["model", "fold", "prior", "residual"]
    assert found["term"].to_list() == names
    assert found["sum_sq"].to_list() == pytest.approx(expected["sum_sq"].to_list(), rel=1e-9)
    assert found["df"].to_list() == expected["df"].to_list()
    assert found["F"].to_list()[:-1] == pytest.approx(expected["F"].to_list()[:-1], rel=1e-9)
    for name, p in zip(names[:-1], expected["PR(>F)"], strict=False):
        told = row(found, name)["p_value"]
        assert told == (pytest.approx(p, rel=1e-6) if "model" in name else None)


def test_the_fitted_model_is_that_of_statsmodels():
    table = cube()
    fit = pr.anova(table).fit
    data = pd.DataFrame(table.to_dict(as_series=False))
    expected = ols("estimate ~ C(model) + C(fold) + C(prior)", data).fit()
    assert fit.params["C(model)[T.B]"] == pytest.approx(expected.params["C(model)[T.B]"])
    assert fit.fittedvalues.to_numpy() == pytest.approx(expected.fittedvalues.to_numpy())
    assert anova_lm(fit, typ=1)["sum_sq"].iloc[0] == pytest.approx(
        anova_lm(fit, typ=3)["sum_sq"].iloc[1]
    )


@pytest.mark.parametrize("shape", [(20, 3, 3), (5, 4, 2), (20, 3, 16)])
@pytest.mark.parametrize("noise", [0, 0.05])
def test_three_way_f_is_the_two_way_f_times_its_degrees_of_freedom(shape, noise):
    blocks, models, count = shape
    priors = pr.prior_grid(0.05, 0.5, count)["prior"].to_list()
    base, rng = draw(blocks, models), np.random.default_rng(1)
    values = (
        base[:, :, None] + np.linspace(0, 1, count) + noise * rng.normal(size=(*shape[:2], count))
    )
    tables = [tidy(values[:, :, k], measure="auprec", prior=p) for k, p in enumerate(priors)]
    found = row(terms(pl.concat(tables)), "model")
    two = row(terms(tidy(values.mean(2)), "iauprec", ["model", "fold"]), "model")
    cells, sides = blocks * models * count, blocks + models + count
    factor = (cells - sides + 2) / ((models - 1) * (blocks - 1))
    # What is left of each model and fold across the priors adds to the residual.
    across = values - values.mean(2, keepdims=True)
    across = across - across.mean((0, 1))
    means = values.mean(2)
    residual = means - means.mean(0) - means.mean(1, keepdims=True) + means.mean()
    same = count * (residual**2).sum()
    share = same / (same + (across**2).sum())
    assert found["F"] == pytest.approx(two["F"] * factor * share, rel=1e-9)
    assert share == pytest.approx(1) if noise == 0 else share < 1
    warnings = " ".join(pr.anova(pl.concat(tables)).warnings)
    assert f"repeated-measures F = {two['F']:.4g} on" in warnings


def test_satellite_three_way_f_is_near_its_bound_and_the_corrected_f_is_not_significant():
    measures = pr.evaluate(
        pr.datasets.satellite_predictions(),
        truth="truth",
        score="score",
        priors=pr.prior_grid(0.05, 0.20, 16),
    )
    result = pr.anova(measures, test_train_ratio=0.25)
    found = row(result.table, "model")
    means = (
        measures.filter(measure="auprec").group_by("model", "fold").agg(pl.col("estimate").mean())
    )
    two = row(terms(means, "estimate", ["model", "fold"]), "model")
    # P-ROC published 483.85 and 21.04, a ratio of 23.0.
    assert 23 < found["F"] / two["F"] < (960 - 39 + 2) / 38
    assert f"Nadeau-Bengio corrected F = {two['F'] / 6:.4g} on" in " ".join(result.warnings)


def test_measures_at_no_prior_have_the_two_way_table():
    table = tidy(draw(8, 3))
    reason, corrected = pr.anova(
        table, "iauprec", ["model", "fold"], test_train_ratio=0.25
    ).warnings
    compared = pr.compare(table, test_train_ratio=0.25).omnibus
    assert reason == "The p-value is too small if folds share cases, and so are not independent."
    assert f"corrected F = {compared['statistic'].item():.4g}" in corrected


def test_priors_are_no_folds():
    found = pr.anova(cube(blocks=1), factors=["model", "prior"])
    assert "no folds" in " ".join(found.warnings)


@pytest.mark.parametrize("name", ["C(x)", "a b", "", "y", "len", "lambda", "f0", "λ:π", "`q`", "1"])
def test_names_and_levels_of_any_text(name):
    table = tidy(draw(5, 3), models=["C(y)", "", "a:b"])
    renamed = table.rename({"model": name, "fold": f"{name} "})
    found = terms(renamed, "iauprec", [name, f"{name} "])
    plain = terms(table, "iauprec", ["model", "fold"])
    assert found["term"].to_list() == [name, f"{name} ", "residual"]
    assert_same_numbers(found.drop("term", "note"), plain.drop("term", "note"))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.with_columns(pl.col("fold").cast(pl.Float64)),
        lambda t: t.with_columns(fold=pl.col("fold") > 1),
        lambda t: t.with_columns(model=pl.when(pl.col("model") != "A").then("model")),
        lambda t: t.with_columns(pl.col("model").cast(pl.Categorical)),
    ],
)
def test_levels_of_any_type(change):
    table = change(tidy(draw(2, 3)))
    assert terms(table, "iauprec", ["model", "fold"])["df"].to_list() == [2, 1, 2]


def test_of_equal_models_there_is_no_test():
    table = tidy(np.repeat(draw(6, 1), 3, axis=1) + np.array([0, 0, 1e-16]))
    found = row(terms(table, "iauprec", ["model", "fold"]), "model")
    assert (found["sum_sq"], found["F"], found["p_value"]) == (0, None, None)


def test_own_priors_that_differ_are_left_out():
    table = cube()
    own = table.filter(prior=0.1).with_columns(negatives=pl.col("fold"))
    own = own.with_columns(prior=10 / (10 + pl.col("fold")))
    both = pl.concat([table.with_columns(negatives=pl.col("fold")), own])
    assert_same_numbers(terms(both), terms(table))


def test_one_degree_of_freedom_is_left():
    cells = {"model": ["A", "A", "B", "B"], "fold": [1, 2, 1, 2], "estimate": [0.8, 0.7, 0.6, 0.4]}
    table = terms(pl.DataFrame(cells), "estimate", ["model", "fold"])
    # The mean difference is 0.25, and they are 0.05 to either side of it.
    model = table.filter(term="model").row(0, named=True)
    assert model["sum_sq"] == pytest.approx(0.0625)
    assert table.filter(term="residual")["df"].item() == 1
    assert table.filter(term="residual")["sum_sq"].item() == pytest.approx(0.0025)


def balanced_predictions(folds=4, models="ABC", cases=40):
    """Predictions with as many positives as negatives, so that the own prior of a fold is 0.5."""
    rng = np.random.default_rng(5)
    rows = [
        (model, fold, case, case % 2 == 0, rng.normal((case % 2 == 0) * (1 + place / 2)))
        for place, model in enumerate(models)
        for fold in range(folds)
        for case in range(cases)
    ]
    return pl.DataFrame(rows, schema=["model", "fold", "case", "truth", "score"], orient="row")


def test_measures_of_a_balanced_table_are_analysed_and_compared():
    predictions, roles = balanced_predictions(), {"truth": "truth", "score": "score"}
    measures = pr.evaluate(predictions, **roles)
    alone = pr.evaluate(predictions, **roles, priors=[0.5, 0.1, 0.01])
    assert_same_numbers(terms(measures), terms(alone))
    for prior in (0.5, "observed"):
        found = pr.compare(measures, "auprec", priors=prior, test_train_ratio=0.25)
        expected = pr.compare(alone, "auprec", priors=0.5, test_train_ratio=0.25)
        assert_same_numbers(found.pairs, expected.pairs)
    assert_same_numbers(pr.choose(measures).models, pr.choose(alone).models)


def test_priors_that_are_equal_up_to_rounding_are_one():
    grid = 0.05 + 0.1
    assert grid != 0.15
    table = cube(priors=(0.01, 0.15, 0.5))
    near = table.with_columns(
        prior=pl.when((pl.col("prior") == 0.15) & (pl.col("model") == "B"))
        .then(grid)
        .otherwise("prior")
    )
    twice = pl.concat([table, table.filter(prior=0.15).with_columns(prior=pl.lit(grid))])
    for changed in (near, twice):
        assert_same_numbers(terms(changed), terms(table))
    assert_same_numbers(terms(near, "estimate"), terms(table, "estimate"))


def test_the_summary_has_no_p_value_to_many_powers_of_ten_and_all_of_each_warning():
    result = pr.anova(cube(blocks=40))
    assert row(result.table, "model")["p_value"] < 1e-9
    shown = " ".join(result.summary().split())
    assert "p < 0.001" in shown
    assert "e-" not in shown
    assert result.warnings
    for warning in result.warnings:
        assert " ".join(warning.split()) in shown
