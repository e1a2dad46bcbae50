import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") == 1)
NAMES = {"truth": "truth", "score": "score", "case": "case"}
MEASURES = {
    "auc": {},
    "auprec": {"prior": 0.1},
    "iauprec": {"over": (0.05, 0.2)},
    "sens": {"over": (0.05, 0.2)},
    "accsens": {"over": (0.05, 0.2)},
}


def compare(table=TABLE, measure="auc", **kwargs):
    return pr.compare(table, measure=measure, target="trained", **{**NAMES, **kwargs})


def test_adjusted_limits_are_as_wide_as_the_adjusted_p_value_says():
    found = compare(level=0.95).pairs
    # Holm: the least p-value counts three times, the next twice.
    counts = 4 - found["p_value"].rank("ordinal").to_numpy()
    reach = norm.isf(0.05 / counts / 2) * found["std_error"].to_numpy()
    assert (found["adjusted_upper"] - found["difference"]).to_list() == pytest.approx(reach)
    assert (found["difference"] - found["adjusted_lower"]).to_list() == pytest.approx(reach)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), models=st.integers(2, 5), cases=st.integers(8, 40))
def test_an_interval_leaves_out_zero_where_the_pair_is_told_apart(seed, models, cases):
    rng = np.random.default_rng(seed)
    truth = np.arange(cases) % 2
    merits = rng.uniform(0, 2, size=models)
    table = pl.concat(
        pl.DataFrame({
            "model": f"m{i}", "case": np.arange(cases), "truth": truth,
            "score": truth * merit + rng.normal(size=cases),
        })
        for i, merit in enumerate(merits)
    )  # fmt: skip
    found = compare(table, level=0.8)
    letters = dict(found.letters.select("model", "letters").iter_rows())
    for row in found.pairs.iter_rows(named=True):
        outside = row["adjusted_lower"] > 0 or row["adjusted_upper"] < 0
        assert outside == (row["p_adjusted"] < 0.2)
        assert outside == (not set(letters[row["model_a"]]) & set(letters[row["model_b"]]))


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize(("measure", "asked"), MEASURES.items(), ids=MEASURES)
def test_estimates_and_errors_are_those_of_each_model(measure, asked):
    found = compare(measure=measure, **asked)
    priors = asked.get("prior", "observed")
    alone = pr.evaluate(
        TABLE, truth="truth", score="score", measures=measure, priors=priors,
        over=asked.get("over"), intervals=True,
    )  # fmt: skip
    means = {model: (mean, sd) for model, mean, sd, _ in found.letters.iter_rows()}
    told = alone.select("model", "estimate", "std_error").iter_rows()
    assert means == {
        model: pytest.approx((estimate, error), rel=1e-12) for model, estimate, error in told
    }
    for a, b, difference in found.pairs.select("model_a", "model_b", "difference").iter_rows():
        assert difference == pytest.approx(means[a][0] - means[b][0], abs=1e-12)
    best_first = [mean for mean, _ in means.values()]
    assert best_first == sorted(best_first, reverse=measure not in ("sens", "accsens"))


def test_of_losses_less_is_better():
    probable = 1 / (1 + (-pl.col("score")).exp())
    asked = {"target": "trained", "truth": "truth", "score": probable, "case": "case"}
    found = pr.compare(TABLE, "log_loss", prior=0.1, **asked)
    means = found.letters["mean"].to_list()
    assert means == sorted(means)
    assert found.measure == "log_loss at prior 0.1"
    assert "(less is better)" in found.summary()
    with pytest.raises(InvalidArgument, match="no standard error on one test set"):
        pr.compare(TABLE, "refinement_loss", prior=0.1, **asked)


def test_the_summary_speaks_of_cases_and_a_tiny_p_is_no_zero():
    found = compare()
    assert "on 1287 cases (case), target trained" in found.summary()
    assert "these fitted models" in found.warnings[0]
    assert 0 < found.omnibus["p_value"].item() < 1e-20
    z = found.omnibus["statistic"].item()
    assert found.pairs["p_value"].min() == pytest.approx(2 * norm.sf(z), rel=1e-9)


@pytest.mark.parametrize("role", ["weight", "positive", "case", "score_prior"])
def test_roles_of_predictions_are_refused_for_measures(role):
    measures = pr.datasets.satellite_predictions().pipe(pr.evaluate, truth="truth", score="score")
    with pytest.raises(InvalidArgument, match=f"(?s)'{role}' is for predictions.*Hint: leave"):
        pr.compare(measures, measure="auc", test_train_ratio=0.25, **{role: 0.5})


def test_a_class_of_one_case_is_refused():
    one = TABLE.filter(~pl.col("truth") | (pl.col("case") == TABLE.filter("truth")["case"][0]))
    with pytest.raises(InvalidPredictions, match="two cases or more"):
        compare(one)


def test_models_that_were_fitted_anew_are_refused():
    several = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
    with pytest.raises(InvalidArgument, match=r"several folds, 'fold'(.|\n)*target='algorithm'"):
        compare(several)
    both = several.rename({"fold": "site"}).with_columns(fold=1)
    with pytest.raises(InvalidArgument, match="several folds, 'fold', 'site'"):
        compare(both, fold=["fold", "site"])


@pytest.mark.xfail(strict=True, reason="ends with the issue 'One inference engine'")
def test_standard_errors_and_standard_deviations_have_names_of_their_own():
    # The standard error of an AUC on one test set, and the spread of several over folds.
    fitted = compare().letters
    folds = pr.compare(
        pr.datasets.satellite_predictions(), "auc", **NAMES, test_train_ratio=0.25
    ).letters
    assert "std_error" in fitted.columns
    assert "sd" not in fitted.columns
    assert "std_error" in folds.columns


@pytest.mark.xfail(strict=True, reason="ends with the issue 'One inference engine'")
def test_no_heading_reads_as_sensitivity_that_is_prior_sensitivity():
    choice = pr.choose(TABLE, **NAMES, over=(0.05, 0.2))
    assert not {"sens", "Sens"} & {*choice.models.columns}
    assert "sens\n" not in choice.summary()
