import polars as pl
import pytest
from scipy.stats import norm

import polaroc as pr

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") == 1)
NAMES = {"truth": "truth", "score": "score", "case": "case"}
MEASURES = {
    "auprec": {"priors": 0.1},
    "iauprec": {"over": (0.05, 0.2)},
    "sens": {"over": (0.05, 0.2)},
}


def compare(table=TABLE, measure="auc", **kwargs):
    return pr.compare(table, measure=measure, target="trained", **{**NAMES, **kwargs})


@pytest.mark.parametrize(("measure", "asked"), MEASURES.items(), ids=MEASURES)
def test_estimates_and_errors_are_those_of_each_model(measure, asked):
    found = compare(measure=measure, **asked)
    priors = asked.get("priors", "observed")
    alone = pr.evaluate(
        TABLE, truth="truth", score="score", measure=measure, priors=priors,
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
    table = TABLE.with_columns(score=1 / (1 + (-pl.col("score")).exp()))
    asked = {"target": "trained", "truth": "truth", "score": "score", "case": "case"}
    found = pr.compare(table, "log_loss", priors=0.1, **asked)
    means = found.letters["mean"].to_list()
    assert means == sorted(means)
    assert found.measure == "log_loss at prior 0.1"
    assert "(less is better)" in found.summary()


def test_the_summary_speaks_of_cases_and_a_tiny_p_is_no_zero():
    found = compare()
    assert "on 1287 cases (case), target trained" in found.summary()
    assert "these fitted models" in found.warnings[0]
    assert 0 < found.omnibus["p_value"].item() < 1e-20
    z = found.omnibus["statistic"].item()
    assert found.pairs["p_value"].min() == pytest.approx(2 * norm.sf(z), rel=1e-9)


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
