"""Estimated priors wherever priors go: each key at its own, with its uncertainty."""

import re
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal
from simulations import in_use
from sizes import replicates

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.priors.beliefs import belief_of_estimate

COLUMNS = {"truth": "truth", "score": "score"}
NAMES = COLUMNS | {"by": "model"}


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
        "model": ["A", "B"], "method": ["confusion"] * 2, "prior": [0.1, 0.3],
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
        estimates(prior=[prior, prior]).with_columns(day=day)
        for day, prior in ((1, 0.1), (2, 0.15))
    )
    points = pr.operating_points(CURVES, "cost", priors=daily)
    assert points.select("model", "day", "prior").rows() == [
        ("A", 1, 0.1), ("A", 2, 0.15), ("B", 1, 0.1), ("B", 2, 0.15),
    ]  # fmt: skip
    costs = pr.expected_cost(CURVES, over=daily, cost=0.8)
    assert costs.select("model", "day").equals(points.select("model", "day"))


def test_keys_of_another_text_type():
    daily = estimates().with_columns(pl.col("model").cast(pl.Categorical), day=1)
    points = pr.operating_points(CURVES, "cost", priors=daily)
    plain = pr.operating_points(CURVES, "cost", priors=estimates())
    assert_same_numbers(points.drop("day"), plain)
    with pytest.raises(InvalidTable, match="the key 'model' is String"):
        pr.operating_points(CURVES, "cost", priors=daily.with_columns(model=pl.Series([1, 2])))


def test_what_has_no_estimate_has_no_point_and_a_note():
    some = estimates(prior=[None, 0.0])
    points = pr.operating_points(CURVES, "cost", priors=some)
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


def test_a_promise_at_an_estimate_holds_over_its_interval():
    asked = {"constraints": {"precision": 0.5}, "confidence": 0.9}
    points = pr.operating_points(CURVES, "max_recall", priors=estimates(), **asked)
    for model, over in (("A", (0.05, 0.2)), ("B", (0.2, 0.35))):
        expected = pr.operating_points(CURVES.filter(model=model), "max_recall", over=over, **asked)
        own = points.filter(model=model)
        assert own["threshold"].item() == expected["threshold"].item()
        assert_same_numbers(own.select("promise"), expected.select("promise"))
    one = pr.operating_points(CURVES, "max_recall", over=ONE, **asked)
    assert one["threshold"][0] == points["threshold"][0]
    unsure = estimates(lower=[None, 0.2])
    lack = pr.operating_points(CURVES, "max_recall", priors=unsure, **asked)["note"]
    assert lack.to_list() == ["the estimated prior has no interval", None]


def test_the_belief_of_an_estimate_is_half_normal_to_either_side():
    belief = belief_of_estimate(ONE)
    normal, z = NormalDist(), NormalDist().inv_cdf(0.975)
    reach = 2 * (normal.pdf(0) - normal.pdf(z)) / 0.95 / z
    assert belief.mean == pytest.approx(0.1 + reach * (0.1 - 0.05) / 2, rel=1e-4)
    assert belief.ends == (0.05, 0.2)
    assert 0.05 < min(belief.priors) < max(belief.priors) < 0.2
    at_zero = belief_of_estimate(ONE.with_columns(prior=0.0, lower=0.0))
    assert 0 < min(at_zero.priors) < max(at_zero.priors) < 0.2


def test_each_key_has_the_expected_cost_under_its_own_estimate():
    costs = pr.expected_cost(CURVES, over=estimates(), cost=0.8)
    for row in range(2):
        one = estimates()[row]
        single = pr.expected_cost(
            CURVES.filter(pl.col("model") == one["model"]), over=belief_of_estimate(one), cost=0.8
        )
        own = costs[row].drop("prior_lower", "prior_upper", "level")
        assert own.schema == single.schema
        for name, value in own.row(0, named=True).items():
            expected = single[name].item()
            is_number = isinstance(expected, float)
            assert value == (pytest.approx(expected, rel=1e-12) if is_number else expected)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("lower", [0.05, 0.0])
def test_a_choice_has_the_widest_limits_over_the_interval(lower):
    def limits(over):
        found = pr.choose(TEST, **COLUMNS, case="case", over=over)
        return found, found.models.sort("model").select(
            "expected_lower", "expected_upper"
        ).to_numpy()

    choice, found = limits(ONE.with_columns(lower=lower))
    ends = [limits((end, end))[1] for end in (lower, 0.2) if end > 0]
    assert (found[:, 0] <= np.min(ends, axis=0)[:, 0] + 1e-12).all()
    assert found[:, 1] == pytest.approx(np.max(ends, axis=0)[:, 1], rel=1e-12)
    assert found[0, 0] == pytest.approx(0 if lower == 0 else ends[0][0, 0], rel=1e-12)
    assert "at an estimated 10 % positives" in choice.answer
    assert any(warning.startswith("Limits hold for every") for warning in choice.warnings)


def test_a_choice_by_cost_has_the_limits_of_applied_thresholds():
    costs = {"cost_fn": 5, "cost_fp": 1}
    choice = pr.choose(
        TEST, **COLUMNS, case="case", over=ONE, measure="expected_cost", tuning=TUNING, **costs
    )
    points = pr.operating_points(CURVES, "cost", over=ONE, **costs)
    applied = pr.apply_thresholds(TEST, points, **NAMES, priors=ONE, intervals=True, **costs)
    models = choice.models.sort("model")
    limits = ["cost_lower", "cost_upper", "level"]
    assert_frame_equal(models.select(limits), applied.select(limits))
    assert (models["expected_lower"] <= models["cost_lower"] + 1e-12).all()
    assert (models["expected_upper"] >= models["cost_upper"] - 1e-12).all()


@pytest.mark.usefixtures("words_only")
def test_the_intervals_of_a_report_reach_over_that_of_the_prior(tmp_path):
    test = TEST.filter(model="A").drop("model")
    page = pr.report(test, **COLUMNS, over=ONE, recall=0.8, path=tmp_path / "page.html")
    text = " ".join(re.sub(r"<[^>]+>", "", page.read_text()).replace("\N{NBSP}", " ").split())
    areas = pr.evaluate(test, **COLUMNS, priors=[0.05, 0.2], measures="auprec", intervals=True)
    low, high = areas["lower"].min(), areas["upper"].max()
    assert f"(margin of error: {low:.3f} to {high:.3f})" in text
    assert "at 5 to 20 % positives" in text
    assert "Limits hold for every share of positives in its interval" in text


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: pr.auprec(CURVES, estimates()), "priors are 2 estimates, each of a key"),
        (lambda: pr.choose(TEST, **COLUMNS, over=estimates()), "there are 2 estimated priors"),
        (lambda: pr.choose(TEST, **COLUMNS, over=ONE.with_columns(lower=None)), "has no interval"),
        (
            lambda: pr.choose(
                TEST, **COLUMNS, over=ONE.with_columns(lower=None, note=pl.lit("why"))
            ),
            "has no interval: why",
        ),
        (lambda: pr.choose(TEST, **COLUMNS, over=ONE.with_columns(prior=None)), "not estimated"),
        (lambda: pr.choose(pr.evaluate(TEST, **NAMES), over=ONE), "there are no predictions"),
        (lambda: pr.choose(TEST, **COLUMNS, over=pr.prior_grid(0.1, 0.2, 2)), "no column 'lower'"),
        (lambda: pr.expected_cost(CURVES, over=pr.prior_grid(0.1, 0.2, 2)), "no column 'lower'"),
        (lambda: pr.expected_cost(CURVES, over=pl.concat([ONE, ONE])), "several estimated priors"),
        (lambda: pr.operating_points(CURVES, priors=pl.concat([ONE, ONE])), "several estimated"),
        (
            lambda: pr.report(pr.evaluate(TEST, **NAMES), over=ONE, path="page.html"),
            "there are no predictions",
        ),
    ],
)  # fmt: skip
def test_what_needs_one_estimate_says_so(call, match):
    with pytest.raises((InvalidArgument, InvalidTable), match=match) as caught:
        call()
    assert "\nHint: " in str(caught.value)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("method", ["em", "confusion"])
def test_limits_hold_the_truth_from_the_estimate_to_the_judged_threshold(method):
    runs = replicates(60, 25)
    rng = np.random.default_rng(3)
    tables = pl.concat(in_use.carried_once(rng, runs, (50, 450), 0.1, method))
    held = (
        tables.drop_nulls("lower")
        .group_by("of")
        .agg(pl.col("true").is_between("lower", "upper").mean())
    )
    assert held.height == 4
    assert held["true"].min() >= 0.93 - 3 * (0.93 * 0.07 / runs) ** 0.5
