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
    names = ["model", "estimate", "std_error", "lower", "upper"]
    means = {model: numbers for model, *numbers in found.models.select(names).iter_rows()}
    expected = alone.select(names).iter_rows()
    assert means == {model: pytest.approx(numbers, rel=1e-12) for model, *numbers in expected}
    for a, b, difference in found.pairs.select("model_a", "model_b", "difference").iter_rows():
        assert difference == pytest.approx(means[a][0] - means[b][0], abs=1e-12)
    best_first = [mean for mean, *_ in means.values()]
    assert best_first == sorted(best_first, reverse=measure not in ("sens", "accsens"))


def test_of_losses_less_is_better():
    table = TABLE.with_columns(score=1 / (1 + (-pl.col("score")).exp()))
    asked = {"target": "trained", "truth": "truth", "score": "score", "case": "case"}
    found = pr.compare(table, "log_loss", priors=0.1, **asked)
    assert found.models["estimate"].is_sorted()
    assert found.measure == "log_loss at prior 0.1"
    assert "(less is better)" in found.summary()


def test_the_summary_speaks_of_cases_and_a_tiny_p_is_no_zero():
    found = compare()
    assert "on 1287 cases, target trained" in found.summary()
    assert "these fitted models" in found.warnings[0]
    assert 0 < found.omnibus["p_value"].item() < 1e-20
    z = found.omnibus["statistic"].item()
    assert found.pairs["p_value"].min() == pytest.approx(2 * norm.sf(z), rel=1e-9)


def test_each_model_has_a_standard_error_on_one_test_set_and_over_folds():
    fitted = compare().models
    folds = pr.compare(
        pr.datasets.satellite_predictions(), "auc", **NAMES, test_train_ratio=0.25
    ).models
    assert "std_error" in fitted.columns
    assert "sd" not in fitted.columns
    assert "std_error" in folds.columns


def test_no_heading_reads_as_sensitivity_that_is_prior_sensitivity():
    choice = pr.choose(TABLE, **NAMES, over=(0.05, 0.2))
    assert not {"sens", "Sens"} & {*choice.models.columns}
    assert "sens\n" not in choice.summary()
