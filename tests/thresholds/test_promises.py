import re

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal
from scipy.stats import binom, binomtest, norm

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.promises import Sample, boundary, cases_needed, highest_share, promised

NAMES = {"truth": "truth", "score": "score"}


def table(seed=0, positives=60, negatives=540, shift=2.5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    return pl.DataFrame({"truth": truth, "score": rng.normal(shift * truth)})


def sample(positives, negatives, called_pos, called_neg) -> Sample:
    return Sample(np.atleast_1d(called_pos), np.atleast_1d(called_neg), positives, negatives)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "ends"),
    [
        ({"precision": 0.5}, (0.05, 0.2)),
        ({"precision": 0.5, "recall": 0.4, "fpr": 0.2}, (0.1, 0.1)),
        ({"accuracy": 0.8}, (0.3, 0.6)),
    ],
)
def test_at_the_edge_a_promise_is_broken_as_often_as_it_says(limits, ends):
    # Scores whose true rates lie on the edge of the constraints, where any promise is broken.
    constraints, positives, negatives, draws = Constraints(limits, ends), 50, 450, 1500
    rng = np.random.default_rng(5)
    lines = constraints.lines(9.0)
    broken = 0
    for _ in range(draws):
        rates = np.append(np.sort(rng.random(negatives)), 1.0)
        least = np.max([m * rates + c for m, c in lines], axis=0).clip(0, 1)
        least = np.where(rates > constraints.cap, 1.0, least)
        called = (rng.random(positives)[:, None] <= least).sum(axis=0)
        cases = sample(positives, negatives, called, np.arange(negatives + 1))
        broken += promised(cases, constraints, 9.0, 0.05)[called > 0].any()
    # Four standard errors.
    assert broken / draws < 0.05 + 4 * (0.05 * 0.95 / draws) ** 0.5
    assert broken / draws > 0.025


def test_the_boundary_is_set_below_the_error_rate_by_what_its_draws_may_be_off():
    constraints, positives, negatives, draws = Constraints({"precision": 0.6}), 50, 60, 4000
    fp, tp = np.indices((negatives + 1, positives + 1))
    fits = promised(sample(positives, negatives, tp.ravel(), fp.ravel()), constraints, 1.0, 0.05)
    fits = fits.reshape(fp.shape)
    least = np.where(fits.any(axis=1), fits.argmax(axis=1), positives + 1)
    rng, broken = np.random.default_rng(5), 0
    for _ in range(4):
        rates = np.append(np.sort(rng.random((draws, negatives))), np.ones((draws, 1)), axis=1)
        needed = (0.6 / 0.4 * rates).clip(0, 1)
        called = (rng.random((draws, positives, 1)) <= needed[:, None]).sum(axis=1)
        broken += (called >= least).any(axis=1).sum()
    # 20,000 draws set it, three of whose standard errors it is to lie below.
    assert broken / (4 * draws) < 0.05 - 2 * (0.05 * 0.95 / 20_000) ** 0.5


@pytest.mark.parametrize("levels", [None, [-0.5, 0.5, 1.5, 2.5]])
def test_promises_are_kept_whatever_the_rule_and_the_ties(levels):
    constraints, positives, negatives, draws = Constraints({"precision": 0.6}), 40, 160, 300
    rng, broken, given = np.random.default_rng(8), 0, 0
    for _ in range(draws):
        pos, neg = rng.normal(1.5, 1, positives), rng.normal(0, 1, negatives)
        cuts = np.sort(np.concatenate([pos, neg]))[::-1] if levels is None else np.array(levels)
        called = [(own[:, None] >= cuts).sum(axis=0) for own in (pos, neg)]
        fits = promised(Sample(*called, positives, negatives), constraints, 4.0, 0.1)
        t, f = norm.sf(cuts - 1.5), norm.sf(cuts)
        given += fits.any()
        broken += (fits & (t < 4.0 * 0.6 / 0.4 * f)).any()
    assert given > 0.02 * draws
    assert broken / draws < 0.1 + 3 * (0.1 * 0.9 / draws) ** 0.5


@pytest.mark.parametrize("recall", [0.3, 0.8, 0.99])
def test_recall_alone_has_the_exact_binomial_limit(recall):
    fits = promised(
        sample(200, 90, np.arange(201), np.arange(201) * 0 + 7),
        Constraints({"recall": recall}), 1.0, 0.05,
    )  # fmt: skip
    expected = [
        binomtest(k, 200, alternative="greater").proportion_ci(0.95).low >= recall
        for k in range(201)
    ]
    assert fits.tolist() == expected


@pytest.mark.parametrize("limits", [{"fpr": 0.1}, {"specificity": 0.9}])
def test_false_alarms_alone_have_the_exact_binomial_limit(limits):
    called = np.arange(1, 301)
    fits = promised(sample(50, 300, called * 0 + 5, called), Constraints(limits), 1.0, 0.05)
    expected = [
        binomtest(int(k), 300, alternative="less").proportion_ci(0.95).high <= 0.1 for k in called
    ]
    assert fits.tolist() == expected


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("positives", "negatives", "prior", "capacity"),
    # Of the last ones the positives alone make it uncertain.
    [
        (12, 40, 0.2, 0.3),
        (30, 25, 0.6, 0.3),
        (20, 100_000, 0.05, 0.03),
        (5, 1_000_000, 0.5, 0.5),
        (40, 100_000, 0.5, 0.4),
    ],
)
def test_the_share_of_alarms_is_as_high_as_its_worst_rates_allow(
    positives, negatives, prior, capacity
):
    delta = 0.05
    k = np.arange(positives + 1)

    def chance(most):
        recalls = np.linspace(
            max(0, (capacity - 1 + prior) / prior), min(1, capacity / prior), 2001
        )
        rates = ((capacity - prior * recalls) / (1 - prior)).clip(0, 1)
        alarms = np.floor((most - prior * k / positives) / (1 - prior) * negatives + 1e-9)
        held = binom.pmf(k, positives, recalls[:, None]) * binom.cdf(
            alarms, negatives, rates[:, None]
        )
        return held.sum(axis=1).max()

    found = highest_share(positives, negatives, prior, capacity, delta)
    assert chance(found) <= delta
    assert chance(found + 0.05 * capacity) > delta
    assert highest_share(3, 3, prior, 0.01, delta) == -1


def test_with_shares_of_alarms_both_kinds_are_kept():
    constraints = Constraints({"precision": 0.3, "posfrac": 0.2})
    cases = sample(100, 900, [60, 60, 99], [20, 300, 20])
    assert promised(cases, constraints, 9.0, 0.05).tolist() == [True, False, True]
    tight = Constraints({"precision": 0.3, "posfrac": 0.11})
    assert promised(cases, tight, 9.0, 0.05).tolist() == [True, False, False]


def test_the_boundary_is_the_same_each_time():
    arguments = (40, 360, ((9.0, 0.0),), 1.0, 0.05)
    first = boundary(*arguments)[1].copy()
    boundary.cache_clear()
    assert np.array_equal(first, boundary(*arguments)[1])


def test_more_confidence_asks_for_more_positives():
    least = [boundary(40, 360, ((9.0, 0.0),), 1.0, delta)[1] for delta in (0.2, 0.05, 0.01)]
    assert (least[0] <= least[1]).all()
    assert (least[1] <= least[2]).all()
    assert (least[0] < least[2]).any()


def test_points_say_what_they_promise():
    curve = pr.curve(table(), **NAMES)
    asked = {"constraints": {"precision": 0.5}, "over": (0.05, 0.2)}
    safe = pr.operating_points(curve, "max_recall", confidence=0.95, **asked)
    plain = pr.operating_points(curve, "max_recall", **asked)
    assert safe["threshold"].item() > plain["threshold"].item()
    assert safe["promise"].item().startswith("With 95 % confidence at least 5 of 10 alarms")
    assert safe.select("prior", "over").row(0) == (0.125, "0.05 to 0.2")
    assert "promise" not in plain.columns
    worst = pr.rates.precision(plain["tpr"].item(), plain["fpr"].item(), pr.skew(0.05))
    assert worst >= 0.5


def test_the_cheapest_threshold_among_those_that_are_promised_is_taken():
    curve = pr.curve(table(), **NAMES)
    cheap = pr.operating_points(curve, "cost", over=(0.05, 0.2), cost_fn=3)
    kept = pr.operating_points(
        curve, "cost", over=(0.05, 0.2), cost_fn=3, constraints={"recall": 0.8}, confidence=0.9
    )
    # Recall is promised from so many positives on: the highest such threshold is the cheapest.
    least = boundary(60, 540, ((0.0, 0.8),), 1.0, 1 - 0.9)[1].item()
    loss = [
        pr.rates.loss(t, f, pr.skew(0.125), cost_fn=3)
        for t, f, tp in curve.select("tpr", "fpr", "tp").rows()
        if tp >= least
    ]
    t, f = kept.select("tpr", "fpr").row(0)
    assert pr.rates.loss(t, f, pr.skew(0.125), cost_fn=3) == pytest.approx(min(loss))
    assert kept["tpr"].item() > cheap["tpr"].item()


@pytest.mark.parametrize("rule", ["recall", "precision", "fpr", "capacity"])
def test_the_target_of_a_rule_is_promised(rule):
    target = {"recall": 0.7, "precision": 0.6, "fpr": 0.1, "capacity": 0.2}[rule]
    curve = pr.curve(table(), **NAMES)
    plain, safe = (
        pr.operating_points(curve, rule, target=target, confidence=confidence)
        for confidence in (None, 0.95)
    )
    direction = -1 if rule == "recall" else 1
    assert direction * (safe["threshold"].item() - plain["threshold"].item()) > 0
    name = {"capacity": "posfrac"}.get(rule, rule)
    same = pr.operating_points(curve, "max_recall", constraints={name: target}, confidence=0.95)
    if rule != "recall":
        assert_same_numbers(same.drop("rule"), safe.drop("rule"))


def test_with_many_cases_a_promised_share_of_alerts_is_nearly_used():
    # At another share of positives than among these cases.
    curve = pr.curve(table(positives=3_000, negatives=27_000), **NAMES)
    asked = {"target": 0.2, "priors": 0.02, "confidence": 0.95}
    t, f = pr.operating_points(curve, "capacity", **asked).select("tpr", "fpr").row(0)
    assert 0.19 < 0.02 * t + 0.98 * f < 0.2


def test_capacity_by_counting():
    curve = pr.curve(table(), **NAMES)
    point = pr.operating_points(curve, "capacity", target=0.1)
    called = curve.filter((pl.col("tp") + pl.col("fp")) <= 60)["threshold"].min()
    assert point["threshold"].item() == called


def test_keys_priors_and_lazy_plans():
    frame = pl.concat(table(seed).with_columns(model=pl.lit(seed)) for seed in range(3))
    asked = {"constraints": {"precision": 0.5}, "confidence": 0.95, "priors": [0.1, 0.3]}
    lazy = pr.operating_points(pr.curve(frame.lazy(), **NAMES), "max_recall", **asked)
    points = lazy.collect()
    assert lazy.collect_schema() == points.schema
    assert points.height == 6
    for seed in range(3):
        alone = pr.operating_points(pr.curve(table(seed), **NAMES), "max_recall", **asked)
        # The two are collected by different engines.
        assert_frame_equal(points.filter(model=seed).drop("model"), alone, rel_tol=1e-12)


@pytest.mark.parametrize("weight", [0.5, 1.0, 20.0])
def test_weights_promise_nothing(weight):
    """Also whole ones, of which a sum is no number of cases."""
    asked = {"rule": "recall", "target": 0.5, "confidence": 0.9}
    rows = table().with_columns(weight=weight)
    curve = pr.curve(rows, **NAMES, weight="weight")
    with pytest.raises((InvalidPredictions, pl.exceptions.ComputeError), match="sums weights"):
        pr.operating_points(curve, **asked)
    with pytest.raises(InvalidPredictions, match="have weights"):
        pr.operating_points(rows, **asked, **NAMES, weight="weight")


@pytest.mark.parametrize("key", ["positives", "negatives"])
def test_a_class_that_is_absent_has_no_promise(key):
    frame = table().filter(pl.col("truth") == (key == "negatives"))
    point = pr.operating_points(pr.curve(frame, **NAMES), "recall", target=0.5, confidence=0.9)
    assert point.select("threshold", "promise", "note").row(0) == (None, None, f"no {key}")


@pytest.mark.slow
def test_what_lacks_for_a_promise_is_said():
    constraints = Constraints({"precision": 0.8})
    curve = pr.curve(table(), **NAMES)
    point = pr.operating_points(curve, "precision", target=0.97, confidence=0.95)
    assert point["threshold"].item() is None
    note = point["note"].item()
    assert note.startswith("no threshold can be promised: about ")
    few = sample(20, 180, 10, 1)
    text = cases_needed(few, constraints, 9.0, 0.05)
    assert not promised(few, constraints, 9.0, 0.05).any()
    more = int(text.partition("about ")[2].partition(" more")[0].replace(",", ""))
    assert "negatives would do" in text
    grown = sample(20, 180 + more, 10, int(np.ceil((180 + more) / 180)))
    assert promised(grown, constraints, 9.0, 0.05).any()
    fewer = more // 2
    slightly = sample(20, 180 + fewer, 10, int(np.ceil((180 + fewer) / 180)))
    assert not promised(slightly, constraints, 9.0, 0.05).any()


@pytest.mark.slow
def test_the_cases_that_lack_are_enough_where_few_draws_would_promise():
    quantiles = norm.ppf(np.arange(1, 400) / 400)
    recalls, alarms = norm.sf(quantiles - 1.9)[::-1], norm.sf(quantiles)[::-1]
    constraints = Constraints({"precision": 0.54})

    def of_size(positives, negatives):
        rates = (recalls, alarms)
        tp, fp = (np.floor(positives * rates[0]), np.ceil(negatives * rates[1]))
        return sample(positives, negatives, tp.astype(int), fp.astype(int))

    few = of_size(90, 2910)
    assert not promised(few, constraints, 19.0, 0.05).any()
    text = cases_needed(few, constraints, 19.0, 0.05)
    more = [int(count.replace(",", "")) for count in re.findall(r"([\d,]+) more", text)]
    assert "more positives or" in text
    for grown in (of_size(90 + more[0], 2910), of_size(90, 2910 + more[1])):
        assert promised(grown, constraints, 19.0, 0.05).any()


def test_no_number_of_cases_makes_up_for_a_curve_that_is_too_low():
    note = cases_needed(sample(100, 900, [50, 100], [90, 900]), Constraints({"precision": 0.9}), 9, 0.05)  # fmt: skip  # noqa: E501
    assert note.endswith("no number of cases would do if the curve stays as it looks")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "max_recall"}, "'max_recall' needs constraints"),
        ({"rule": "balanced", "constraints": {"recall": 0.5}}, "'balanced' leaves no choice"),
        ({"rule": "cost", "confidence": 0.9}, "no constraint that could be promised"),
        ({"rule": "recall", "target": 0.5, "confidence": 95}, "confidence is 95"),
        ({"rule": "cost", "over": (0.1, 0.2), "priors": 0.1}, "priors and over are both given"),
        ({"rule": "f_measure", "over": (0.1, 0.2)}, "'f_measure' needs one prior"),
        ({"rule": "cost", "over": (0.2, 0.1)}, "allowed is lo < hi"),
        ({"rule": "capacity"}, "target is None"),
        ({"rule": "recall", "target": 1.0, "confidence": 0.9}, "target is 1"),
    ],
)
def test_requests_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(InvalidArgument, match=message) as refusal:
        pr.operating_points(pr.curve(table(), **NAMES), **arguments)
    assert "Hint: " in str(refusal.value)


def test_thresholds_of_folds_promise_nothing():
    rows = pl.concat([table().with_columns(part=fold) for fold in (1, 2)])
    asked = {"constraints": {"recall": 0.5}, "confidence": 0.95}
    with pytest.raises(InvalidArgument, match="'part' tells folds apart, whose models"):
        pr.operating_points(rows, **asked, **NAMES, fold="part")
    alone = pr.operating_points(rows.filter(part=1), **asked, **NAMES, fold="part")
    assert "promise" in alone.collect_schema().names()


def test_a_threshold_above_all_negatives_can_be_promised():
    score = np.concatenate([np.linspace(1, 2, 400), np.linspace(0, 0.9, 400)])
    perfect = pl.DataFrame({"truth": score >= 1, "score": score})
    found = pr.operating_points(
        perfect, **NAMES, constraints={"precision": 0.9}, confidence=0.95, priors=0.5
    )
    assert found.select("tpr", "fpr", "threshold").row(0) == (1.0, 0.0, 1.0)
