"""Estimated priors wherever priors go: each key at its own, with its uncertainty."""

import re

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}


def cases(seed, size, prior, models="AB"):
    rng = np.random.default_rng(seed)
    truth, shared = rng.random(size) < prior, rng.normal(size=size)
    return pl.concat(
        pl.DataFrame(
            {
                "model": model, "case": np.arange(size) + 10_000 * seed, "truth": truth,
                "score": 0.5 * shared + 0.9 * rng.normal(size=size) + (1.5 + i) * truth,
            }
        )
        for i, model in enumerate(models)
    )  # fmt: skip


TUNING, TEST = cases(1, 500, 0.2), cases(2, 500, 0.2)
CURVES = pr.curve(TUNING, **NAMES)


def estimates(**changes):
    columns = {
        "model": ["A", "B"], "prior": [0.1, 0.3],
        "lower": [0.05, 0.2], "upper": [0.2, 0.35], "note": [None, None],
    }  # fmt: skip
    return pl.DataFrame(columns | changes, strict=False)


ONE = estimates().head(1).drop("model")


@pytest.mark.parametrize("rule", ["cost", "balanced", "f_measure"])
def test_each_key_has_the_point_at_its_own_estimate(rule):
    points = pr.operating_points(CURVES, rule, priors=estimates())
    assert points.columns[-3:] == ["prior_lower", "prior_upper", "level"]
    for model, prior in (("A", 0.1), ("B", 0.3)):
        own = points.filter(model=model)
        single = pr.operating_points(CURVES.filter(model=model), rule, priors=prior)
        assert_same_numbers(own.drop("prior_lower", "prior_upper", "level"), single)
    lazy = pr.operating_points(CURVES.lazy(), rule, priors=estimates().lazy())
    assert lazy.collect_schema() == points.schema
    assert_same_numbers(lazy.collect(), points)


def test_the_interval_goes_on_to_what_the_points_do():
    points = pr.operating_points(CURVES, "cost", priors=estimates())
    carried = pr.apply_thresholds(TEST, points, **NAMES, intervals=True)
    given = pr.apply_thresholds(TEST, points, **NAMES, intervals=True, priors=estimates())
    assert_same_numbers(carried, given)
    known = pr.apply_thresholds(
        TEST, points.drop("prior_lower", "prior_upper"), **NAMES, intervals=True
    )
    assert (carried["precision_lower"] < known["precision_lower"]).all()
    assert (carried["precision_upper"] >= known["precision_upper"]).all()


def test_days_that_only_the_estimates_have_are_keys_of_the_points():
    daily = pl.concat(
        estimates(prior=[prior, prior]).with_columns(pl.col("model").cast(pl.Categorical), day=day)
        for day, prior in ((1, 0.1), (2, 0.15))
    )
    points = pr.operating_points(CURVES, "cost", priors=daily)
    assert points.select("model", "day", "prior").rows() == [
        ("A", 1, 0.1), ("A", 2, 0.15), ("B", 1, 0.1), ("B", 2, 0.15),
    ]  # fmt: skip
    costs = pr.expected_cost(CURVES, over=daily, cost=0.8)
    assert costs.select("model", "day").equals(points.select("model", "day"))


def test_what_has_no_estimate_has_no_point_and_a_note():
    points = pr.operating_points(CURVES, "cost", priors=estimates(prior=[None, 0.0]))
    assert points["threshold"].null_count() == 2
    assert points["note"].to_list() == [
        "the prior was not estimated", "the estimated prior is 0 or 1",
    ]  # fmt: skip
    unsure = estimates(lower=[None, 0.2], upper=[None, 0.35])
    applied = pr.apply_thresholds(
        TEST, pr.operating_points(CURVES, "cost", priors=unsure), **NAMES, intervals=True
    )
    assert applied["precision_lower"].is_null().to_list() == [True, False]
    assert applied["note"][0] == "the estimated prior has no interval: none at it"
    costs = pr.expected_cost(CURVES, over=unsure)
    assert costs["cost_following"].is_null().to_list() == [True, False]
    assert costs["note"].to_list() == ["the estimated prior has no interval", None]
    asked = {"constraints": {"precision": 0.5}, "confidence": 0.9}
    promised = pr.operating_points(CURVES, "max_recall", priors=unsure, **asked)
    assert promised["promise"].is_null().to_list() == [True, False]


def test_a_promise_at_an_estimate_holds_over_its_interval():
    asked = {"constraints": {"precision": 0.5}, "confidence": 0.9}
    points = pr.operating_points(CURVES, "max_recall", priors=estimates(), **asked)
    for model, over in (("A", (0.05, 0.2)), ("B", (0.2, 0.35))):
        expected = pr.operating_points(CURVES.filter(model=model), "max_recall", over=over, **asked)
        own = points.filter(model=model)
        assert own["threshold"].item() == expected["threshold"].item()
        assert_same_numbers(own.select("promise"), expected.select("promise"))


def test_the_belief_of_an_estimate_is_half_normal_to_either_side():
    # Within the interval: half of the probability on either side, 1.96 standard deviations wide.
    at = stats.truncnorm.ppf((np.arange(20_000) + 0.5) / 20_000, 0, 1.96)
    priors = np.concatenate([0.1 - at * 0.05 / 1.96, 0.1 + at * 0.1 / 1.96])
    rates = pr.hull(CURVES.filter(model="A")).select("tpr", "fpr").to_numpy()
    costs = [0.8 * priors * (1 - t) + 0.2 * (1 - priors) * f for t, f in rates]
    found = pr.expected_cost(CURVES, over=estimates(), cost=0.8).filter(model="A")
    assert found["cost_following"].item() == pytest.approx(np.min(costs, axis=0).mean(), rel=1e-4)
    assert found["cost_fixed"].item() == pytest.approx(np.mean(costs, axis=1).min(), rel=1e-4)
    alone = pr.expected_cost(CURVES.filter(model="A"), over=ONE, cost=0.8)
    assert_same_numbers(alone, found.select(alone.columns))


def test_a_choice_by_area_is_one_under_the_belief_in_the_estimate():
    choice = pr.choose(TEST, **NAMES, case="case", over=ONE)
    assert "at an estimated 10 % positives" in choice.answer
    expected = pr.evaluate(TEST, **NAMES, measure="iauprec", over=choice.over)
    means = choice.models.sort("model")["mean"].to_list()
    assert means == pytest.approx(expected.sort("model")["estimate"].to_list(), rel=1e-9)
    # Its limits are of the mean under this belief, not of every prior of the interval.
    assert not any(warning.startswith("Limits hold for every") for warning in choice.warnings)


def test_a_choice_by_cost_has_the_limits_of_applied_thresholds():
    costs = {"cost_fn": 5, "cost_fp": 1}
    choice = pr.choose(
        TEST, **NAMES, case="case", over=ONE, measure="expected_cost", tuning=TUNING, **costs
    )
    points = pr.operating_points(CURVES, "cost", over=ONE, **costs)
    applied = pr.apply_thresholds(TEST, points, **NAMES, priors=ONE, intervals=True, **costs)
    models = choice.models.sort("model")
    limits = ["cost_lower", "cost_upper", "level"]
    assert_frame_equal(models.select(limits), applied.select(limits))
    # Those that allow for the choice are wider by as much as the mean is corrected.
    corrected = pl.col("expected") - pl.col("mean")
    wider = models.with_columns(
        pl.col("cost_lower") + corrected.clip(upper_bound=0),
        pl.col("cost_upper") + corrected.clip(lower_bound=0),
    )
    assert (models["expected_lower"] <= wider["cost_lower"] + 1e-12).all()
    assert (models["expected_upper"] >= wider["cost_upper"] - 1e-12).all()


def test_the_intervals_of_a_report_reach_over_that_of_the_prior(tmp_path):
    test = TEST.filter(model="A").drop("model")
    page = pr.report(
        test, **NAMES, over=ONE, constraints={"recall": 0.8}, path=tmp_path / "page.html"
    )
    text = " ".join(re.sub(r"<[^>]+>", "", page.read_text()).replace("\N{NBSP}", " ").split())
    areas = pr.evaluate(test, **NAMES, priors=[0.05, 0.2], measure="auprec", intervals=True)
    low, high = areas["lower"].min(), areas["upper"].max()
    assert f"(margin of error: {low:.3f} to {high:.3f})" in text
    assert "Limits hold for every share of positives in its interval" in text


@pytest.mark.slow
def test_limits_hold_the_truth_from_the_estimate_to_the_judged_threshold():
    runs, prior, sizes = 60, 0.1, (50, 450)
    rng = np.random.default_rng(3)

    def tables(cases, prior=None):
        """Posteriors at the share of positives of the reference, of so many runs."""
        truth = np.tile(np.arange(cases) < sizes[0], (runs, 1))
        if prior is not None:
            truth = rng.random(truth.shape) < prior
        odds = sizes[0] / sizes[1] * np.exp(2 * (rng.normal(size=truth.shape) + 2 * truth) - 2)
        table = np.repeat(np.arange(runs), cases)
        scores = (odds / (1 + odds)).ravel()
        return pl.DataFrame({"table": table, "truth": truth.ravel(), "score": scores})

    reference, test, used = tables(500), tables(500), tables(1_000, prior)
    names = NAMES | {"by": "table"}
    told = pr.estimate_prior(reference, used, **names)
    points = pr.operating_points(pr.curve(reference, **names), "cost", priors=told)
    judged = pr.apply_thresholds(test, points, **names, intervals=True)
    odds = judged["threshold"].to_numpy() / (1 - judged["threshold"].to_numpy())
    raw = np.log(odds * sizes[1] / sizes[0]) / 2 + 1
    t, f = stats.norm.sf(raw - 2), stats.norm.sf(raw)
    recall = (np.arange(100_000) + 0.5) / 100_000
    false = stats.norm.sf(stats.norm.isf(recall) + 2)
    areas = pr.evaluate(test, **names, priors=told, intervals=True, measure="auprec")
    true = {
        "precision": prior * t / (prior * t + (1 - prior) * f),
        "posfrac": prior * t + (1 - prior) * f,
        "cost": prior * (1 - t) + (1 - prior) * f,
    }
    limits = {
        name: judged.select(pl.col(f"{name}_lower"), pl.col(f"{name}_upper")) for name in true
    } | {"auprec": areas.select("lower", "upper")}
    true["auprec"] = np.mean(recall / (recall + (1 - prior) / prior * false))
    for name, ends in limits.items():
        lower, upper = ends.cast(pl.Float64).to_numpy().T
        known = ~np.isnan(lower)
        held = ((lower <= true[name]) & (true[name] <= upper))[known].mean()
        assert held >= 0.93 - 3 * (0.93 * 0.07 / known.sum()) ** 0.5, name
