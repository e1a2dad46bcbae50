from itertools import product
from math import inf

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from scipy.stats import norm

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

ROLES = {"truth": "truth", "score": "score"}
OVER, A_DAY = (0.05, 0.2), {"reviews": 100, "volume": 1000}
COSTS = {"cost_fn": 20, "cost_fp": 5, "cost_review": 1}


def cases(seed: int, positives=30, negatives=60, digits=1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    score = (rng.normal(size=truth.size) + 1.5 * truth).round(digits)
    return pl.DataFrame({"truth": truth, "score": score})


TUNING, TEST = cases(1), cases(2)


def rates(table: pl.DataFrame, at: float | None) -> tuple[float, float]:
    called = table["score"].to_numpy() >= (inf if at is None else at)
    truth = table["truth"].to_numpy()
    return called[truth].mean(), called[~truth].mean()


def shares(table, act_from, review_from, prior):
    """Of positives and of negatives, as shares of all cases: those acted on, reviewed, left."""
    (t, f), (both_t, both_f) = rates(table, act_from), rates(table, review_from)
    return (
        (prior * t, prior * (both_t - t), prior * (1 - both_t)),
        ((1 - prior) * f, (1 - prior) * (both_f - f), (1 - prior) * (1 - both_f)),
    )


def cost(table, act_from, review_from, prior, *, cost_fn, cost_fp, cost_review, review_error=0):
    (_, sick, missed), (alarms, well, _) = shares(table, act_from, review_from, prior)
    wrong = review_error * (cost_fn * sick + cost_fp * well)
    return cost_fn * missed + cost_fp * alarms + cost_review * (sick + well) + wrong


def allowed(table, act_from, review_from, priors, *, precision=0, reviews=inf, volume=1):
    for prior in priors:
        (right, sick, _), (alarms, well, _) = shares(table, act_from, review_from, prior)
        if right < precision * (right + alarms) - 1e-12:
            return False
        if volume * (sick + well) > reviews * (1 + 1e-12):
            return False
    return True


def pairs(table, **limits):
    at = [inf, *table["score"].unique().sort(descending=True)]
    return [
        (act, review) for act, review in product(at, at)
        if act >= review and allowed(table, act, review, **limits)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize(
    ("prices", "limits"),
    [
        (COSTS, {}),
        (COSTS, A_DAY),
        (COSTS, {"precision": 0.7}),
        (COSTS | {"review_error": 0.1}, {"precision": 0.7, **A_DAY}),
        ({"cost_fn": 3, "cost_fp": 2, "cost_review": 0.5}, A_DAY),
        # Too dear, but where one may not act on all that would pay.
        ({"cost_fn": 20, "cost_fp": 5, "cost_review": 4.5}, {"precision": 0.95}),
    ],
)
@pytest.mark.parametrize("priors", [(0.1, 0.1), OVER])
def test_no_allowed_pair_costs_less(seed, prices, limits, priors):
    table = cases(seed)
    asked = {name: value for name, value in limits.items() if name != "precision"}
    if "precision" in limits:
        asked["constraints"] = {"precision": limits["precision"]}
    at = {"priors": 0.1} if priors[0] == priors[1] else {"over": priors}
    row = pr.three_ways(table, **ROLES, **prices, **asked, **at).row(0, named=True)
    middle = sum(priors) / 2
    fitting = pairs(table, priors=priors, **limits)
    costs = {pair: cost(table, *pair, middle, **prices) for pair in fitting}
    chosen = tuple(inf if one is None else one for one in (row["act_from"], row["review_from"]))
    assert chosen in fitting
    assert costs[chosen] == pytest.approx(min(costs.values()))
    assert row["cost"] == pytest.approx(costs[chosen])
    without = min(own for (act, review), own in costs.items() if act == review)
    assert row["cost_single"] == pytest.approx(without)
    assert row["worth"] == pytest.approx(without - costs[chosen])
    single = inf if row["single"] is None else row["single"]
    assert costs[single, single] == pytest.approx(without)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("precision", [0.6, 0.9])
def test_a_capacity_alone_finds_as_many_as_can_be(seed, precision):
    table, limits = cases(seed), {"precision": precision, **A_DAY}
    asked = {"constraints": {"precision": precision}, **A_DAY, "over": OVER}
    row = pr.three_ways(table, **ROLES, **asked, review_error=0.2).row(0, named=True)
    fitting = pairs(table, priors=OVER, **limits)
    acted = max(rates(table, act)[0] for act, _ in fitting)
    found = max(rates(table, both)[0] for act, both in fitting if rates(table, act)[0] == acted)
    assert (row["act_tpr"], row["review_tpr"]) == pytest.approx((acted, found))
    assert row["found"] == pytest.approx(acted + 0.8 * (found - acted))
    assert [row[name] for name in ("cost", "cost_single", "worth")] == [None] * 3
    used = [
        1000 * sum(own[1] for own in shares(table, row["act_from"], row["review_from"], prior))
        for prior in OVER
    ]
    assert [row["reviews_least"], row["reviews_most"]] == pytest.approx(sorted(used))
    assert f"{float(f'{100 * acted:.3g}'):g} % without reviews" in row["answer"]


def test_shares_add_up_and_are_said():
    ways = pr.three_ways(TUNING, **ROLES, **COSTS, priors=[0.1, 0.4], review_error=0.05)
    for row in ways.iter_rows(named=True):
        prior = row["prior"]
        sick, well = shares(TUNING, row["act_from"], row["review_from"], prior)
        each = [a + b for a, b in zip(sick, well, strict=True)]
        assert [row["acted"], row["reviewed"], row["left"]] == pytest.approx(each)
        assert row["precision"] == pytest.approx(sick[0] / each[0])
        assert row["missed"] == pytest.approx(1 - row["found"])
        assert row["found"] == pytest.approx((sick[0] + 0.95 * sick[1]) / prior)
        words = [f"act on {1000 * each[0]:.0f}", f"review {1000 * each[1]:.0f}", "less than with"]
        assert all(word in row["answer"] for word in words)


@pytest.mark.parametrize("price", [0.5, 3.99, 4, 4.01, 50])
def test_a_review_pays_below_one_price_only(price):
    finer = cases(3, 400, 400, digits=6)
    asked = {"cost_fn": 20, "cost_fp": 5, "cost_review": price}
    row = pr.three_ways(finer, **ROLES, **asked, priors=0.2).row(0, named=True)
    if price >= 4:
        assert row["reviewed"] == 0
        assert row["act_from"] == row["review_from"] == row["single"]
        assert f"a review costs {price:.4g} and pays only below 4" in row["note"]
        assert "reviewing is worth nothing" in row["answer"]
    elif price < 1:
        assert row["worth"] > 0
        assert row["note"] is None


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_costs_has_no_bearing(unit):
    dear = {name: unit * cost for name, cost in COSTS.items()}
    plain, scaled = (pr.three_ways(TUNING, **ROLES, **one, over=OVER) for one in (COSTS, dear))
    shown = ["act_from", "review_from", "single"]
    assert scaled.select(shown).row(0) == plain.select(shown).row(0)
    assert scaled["worth"].item() == pytest.approx(unit * plain["worth"].item())


def test_an_empty_band_says_why():
    few = pl.DataFrame({"truth": [1, 1, 0, 0], "score": [2, 2, 1, 1]})
    asked = {**ROLES, "priors": 0.1}
    perfect = pr.three_ways(few, **asked, **COSTS)
    assert "costs less to act or to leave" in perfect["note"].item()
    full = pr.three_ways(few, **asked, constraints={"precision": 0.5}, reviews=1, volume=1000)
    assert "more than 1 a day would be" in full["note"].item()
    none = pr.three_ways(few, **asked, constraints={"precision": 0.5}, reviews=950, volume=1000)
    assert "no positive is within reach" in none["note"].item()


def test_where_nothing_may_be_acted_on_some_are_reviewed():
    few = pl.DataFrame({"truth": [False, True, True], "score": [9.0, 8.0, 8.0]})
    flipped = pl.concat([TUNING.with_columns(-pl.col("score")), few])
    asked = {**ROLES, "constraints": {"precision": 0.9}, "priors": 0.1, **A_DAY}
    row = pr.three_ways(flipped, **asked).row(0, named=True)
    assert row["act_from"] is None
    assert row["acted"] == 0
    assert 0 < row["reviewed"] <= 0.1
    assert "nothing is acted on: no threshold keeps the constraints" in row["note"]
    # A recall of what is acted on cannot be kept so.
    lost = pr.three_ways(flipped, **asked | {"constraints": {"precision": 0.9, "recall": 0.5}})
    assert lost["act_tpr"].item() is None
    assert lost["answer"].item() is None


def test_curves_of_one_class_have_no_thresholds():
    table = pl.DataFrame({"truth": [1, 1, 0, 1], "score": [1, 2, 3, 4], "site": [1, 1, 2, 2]})
    ways = pr.three_ways(table, **ROLES, by="site", **COSTS)
    assert ways["note"][0] == "no negatives"
    assert ways["cost"].is_null().to_list() == [True, False]


def test_other_cases_judge_it():
    asked = {**COSTS, "constraints": {"precision": 0.6}, **A_DAY, "review_error": 0.1}
    ways = pr.three_ways(TUNING, **ROLES, **asked, priors=[0.1, 0.3])
    judged = pr.apply_thresholds(TEST, ways, **ROLES, intervals="exact", level=0.9)
    prices = {name: asked[name] for name in ("cost_fn", "cost_fp", "cost_review", "review_error")}
    assert judged["act_from"].to_list() == ways["act_from"].to_list()
    for row in judged.iter_rows(named=True):
        at = row["act_from"], row["review_from"], row["prior"]
        assert row["cost"] == pytest.approx(cost(TEST, *at, **prices))
        own = cost(TEST, row["single"], row["single"], row["prior"], **prices)
        assert row["worth"] == pytest.approx(own - row["cost"])
        single = pr.apply_thresholds(
            TEST, row["act_from"], **ROLES, priors=row["prior"], intervals="exact", level=0.9
        )
        for shown, of in (("acted", "posfrac"), ("precision", "precision")):
            limits = [f"{of}_lower", of, f"{of}_upper"]
            found = [row[f"{shown}_lower"], row[shown], row[f"{shown}_upper"]]
            assert found == pytest.approx(single.select(limits).row(0))
    # Of reviews that go wrong the rate is not that of a threshold.
    assert judged["found_lower"].null_count() == 2


def test_at_other_priors_and_of_every_fold():
    ways = pr.three_ways(TUNING, **ROLES, **COSTS, over=OVER)
    folds = TEST.with_columns(fold=pl.int_range(pl.len()) % 2)
    judged = pr.apply_thresholds(
        folds, ways, **ROLES, fold="fold", priors=[0.05, 0.2], intervals="exact"
    )
    assert judged.select("fold", "prior").rows() == [(0, 0.05), (0, 0.2), (1, 0.05), (1, 0.2)]
    for row in judged.iter_rows(named=True):
        own = folds.filter(fold=row["fold"])
        at = row["act_from"], row["review_from"], row["prior"]
        assert row["cost"] == pytest.approx(cost(own, *at, **COSTS))
        assert row["found_lower"] < row["found"] < row["found_upper"]
    with pytest.raises(InvalidTable, match="just as"):
        pr.apply_thresholds(TUNING, ways, **ROLES)
    same = pr.apply_thresholds(TUNING, ways, **ROLES, same_table=True)
    assert same["cost"].to_list() == pytest.approx(ways["cost"].to_list())
    lazy = pr.apply_thresholds(TEST.lazy(), ways.lazy(), **ROLES)
    assert_same_numbers(lazy.collect(), pr.apply_thresholds(TEST, ways, **ROLES))


def test_at_estimated_priors():
    estimate = pl.DataFrame(
        {"prior": [0.1], "lower": [0.05], "upper": [0.2], "level": [0.95], "method": ["em"]}
    )
    limits = {"constraints": {"precision": 0.5}, **A_DAY}
    ways = pr.three_ways(TUNING, **ROLES, **limits, priors=estimate)
    ranged = pr.three_ways(TUNING, **ROLES, **limits, over=OVER)
    assert ways.select("prior", "prior_lower", "prior_upper", "level").row(0) == (
        0.1, 0.05, 0.2, 0.95,
    )  # fmt: skip
    shown = ["act_from", "review_from", "reviews_least", "reviews_most"]
    assert ways.select(shown).row(0) == pytest.approx(ranged.select(shown).row(0))
    judged = pr.apply_thresholds(TEST, ways, **ROLES, intervals="exact")
    assert judged["precision_lower"].item() < judged["precision"].item()
    unsure = estimate.with_columns(lower=None, upper=None)
    assert "no interval" in pr.three_ways(TUNING, **ROLES, **limits, priors=unsure)["note"].item()


def test_what_is_promised_is_said_and_more_careful():
    table = cases(4, 300, 2700, digits=4)
    asked = {**ROLES, "constraints": {"precision": 0.6}, **A_DAY, "over": OVER}
    sure, plain = (pr.three_ways(table, **asked, confidence=one) for one in (0.95, None))
    assert sure["promise"].item() == (
        "With 95 % confidence at least 6 of 10 alarms are right and at most 100 of 1,000 cases "
        "are reviewed, as long as 5 to 20 % are positive."
    )
    assert sure["act_from"].item() > plain["act_from"].item()
    assert sure["reviews_most"].item() < 90 < plain["reviews_most"].item()
    one = pr.three_ways(table, **ROLES, **COSTS, constraints={"precision": 0.6}, over=OVER,
                        confidence=0.95)  # fmt: skip
    point = pr.operating_points(table, "max_recall", **ROLES, constraints={"precision": 0.6},
                                over=OVER, confidence=0.95)  # fmt: skip
    assert one["promise"].item() == point["promise"].item()
    assert one["act_from"].item() >= point["threshold"].item()


def test_promises_of_several_models_share_the_error_rate():
    one = cases(4, 300, 2700, digits=4)
    wide = one.with_columns(other=cases(5, 300, 2700, digits=4)["score"])
    asked = {"truth": "truth", "constraints": {"precision": 0.6}, **A_DAY, "over": OVER}
    both = pr.three_ways(wide, score=["score", "other"], **asked, confidence=0.9)
    for model, shared in both.group_by("model", maintain_order=True):
        alone = pr.three_ways(wide, score=model[0], **asked, confidence=0.95)
        sure = ["act_from", "review_from", "found", "reviews_most"]
        assert shared.select(sure).row(0) == pytest.approx(alone.select(sure).row(0))
    assert both["promise"].str.starts_with("With 90 % confidence").all()


def test_few_cases_promise_nothing_and_say_so():
    asked = {**ROLES, "constraints": {"precision": 0.9}, **A_DAY, "priors": 0.1}
    row = pr.three_ways(TUNING, **asked, confidence=0.95).row(0, named=True)
    assert row["note"].startswith("nothing is acted on: no threshold can be promised")
    assert row["promise"] == (
        "With 95 % confidence at most 100 of 1,000 cases are reviewed, as long as 10 % are "
        "positive."
    )
    tiny = pr.three_ways(TUNING, **asked | {"reviews": 1}, confidence=0.95)
    assert "for all that can be promised more than 1 a day" in tiny["note"].item()


def test_a_promise_that_leaves_most_reviews_undone_says_what_it_costs():
    table = cases(4, 100, 900, digits=4)
    asked = {**ROLES, "constraints": {"precision": 0.5}, "reviews": 20, "volume": 1000}
    sure, plain = (
        pr.three_ways(table, **asked, priors=0.1, confidence=one) for one in (0.95, None)
    )
    most, found = sure.select("reviews_most", "review_tpr").row(0)
    assert most < 10
    assert (
        f"the promise leaves {round(20 - most)} of 20 reviews a day unused: without it "
        f"{100 * plain['found'].item():.2g} % of positives would be found on this table, with it "
        f"{100 * found:.2g} %"
    ) in sure["note"].item()


def test_copies_of_rows_promise_as_one():
    asked = {"constraints": {"precision": 0.2}, **A_DAY, "over": OVER, "confidence": 0.9}
    table = cases(5, 100, 400, digits=4).with_row_index("patient")
    one = pr.three_ways(table, **ROLES, **asked)
    copies = pl.concat([table] * 3)
    three = pr.three_ways(copies, **ROLES, **asked, cluster="patient")
    shown = ["act_from", "review_from"]
    assert three.select(shown).row(0) == pytest.approx(one.select(shown).row(0))
    bold = pr.three_ways(copies, **ROLES, **asked)
    assert bold["act_from"].item() < one["act_from"].item()
    few = copies.filter(pl.col("patient") % 20 == 0)
    lack = pr.three_ways(few, **ROLES, **asked, cluster="patient")
    assert "clusters" in lack["note"].item()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "neither cost_review nor reviews is given"),
        (A_DAY, "neither cost_review nor constraints are given"),
        ({"cost_fn": 5, **A_DAY, "constraints": {"fpr": 0.1}}, "cost_review is not given"),
        ({"reviews": 5, **COSTS}, "volume is not given"),
        ({"volume": 5, **COSTS}, "reviews is not given"),
        ({"reviews": 50, "volume": 50, **COSTS}, "every case can be looked at"),
        ({**COSTS, "cost_review": -1}, "cost_review is -1"),
        ({**COSTS, "cost_review": 0}, "cost_review is 0"),
        ({**COSTS, "cost_fn": inf}, "cost_fn is inf"),
        ({**COSTS, "review_error": 0.5}, "review_error is 0.5"),
        ({**COSTS, "review_error": -0.1}, "review_error is -0.1"),
        ({**COSTS, "constraints": {"precision": 95}}, "precision = 95"),
        ({**COSTS, "confidence": 0.9}, "confidence is given"),
        ({**COSTS, **A_DAY, "confidence": 95}, "confidence is 95"),
        ({**COSTS, "over": OVER, "priors": 0.1}, "priors and over"),
        ({**COSTS, **A_DAY, "over": pr.beta(2, 18)}, "a belief without ends"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    with pytest.raises(InvalidArgument, match=said) as error:
        pr.three_ways(TUNING.with_columns(site=1), **ROLES, **given)
    assert "Hint:" in str(error.value)


def test_functions_of_single_thresholds_refuse_pairs():
    ways = pr.three_ways(TUNING, **ROLES, **COSTS)
    table = TEST.with_columns(site=pl.int_range(pl.len()) % 2)
    with pytest.raises(InvalidTable, match="pairs of thresholds") as error:
        pr.periods(table, **ROLES, time="site", points=ways)
    assert "Hint:" in str(error.value)


def test_costs_are_not_said_twice():
    ways = pr.three_ways(TUNING, **ROLES, **COSTS)
    for given in ({"cost_fn": 5}, {"rates": "npv"}):
        with pytest.raises(InvalidArgument, match="for single thresholds"):
            pr.apply_thresholds(TEST, ways, **ROLES, **given)


def test_a_single_threshold_that_costs_nothing_is_said():
    ways = pr.three_ways(TUNING, **ROLES, **COSTS)
    reviewed = ways["review_from"].item()
    assert reviewed < ways["single"].item()
    parted = pl.DataFrame({"truth": [True, False], "score": [9.0, reviewed]})
    judged = pr.apply_thresholds(parted, ways, **ROLES)
    assert judged["cost_single"].item() == 0
    assert "more than with the best single threshold (0)." in judged["answer"].item()


def test_a_belief_without_ends_has_a_mean():
    ways = pr.three_ways(TUNING, **ROLES, **COSTS, over=pr.beta(2, 18))
    same = pr.three_ways(TUNING, **ROLES, **COSTS, priors=0.1)
    assert_same_numbers(ways.drop("over"), same)


@pytest.mark.usefixtures("no_cases_needed")
def test_promises_are_kept():
    rng, number, positives, negatives = np.random.default_rng(8), 200, 60, 540
    truth = np.tile(np.arange(positives + negatives) < positives, number)
    sample = np.repeat(np.arange(number), positives + negatives)
    score = rng.normal(size=truth.size) + 2 * truth
    table = pl.DataFrame({"sample": sample, "truth": truth, "score": score})
    asked = {**ROLES, "by": "sample", "constraints": {"precision": 0.5}, **A_DAY, "priors": 0.1}
    broken = {}
    for confidence in (0.9, None):
        ways = pr.three_ways(table, **asked, confidence=confidence)
        at = [ways[name].fill_null(inf).to_numpy() for name in ("act_from", "review_from")]
        (t, f), (both_t, both_f) = ((norm.sf(one - 2), norm.sf(one)) for one in at)
        too_many = 0.1 * (both_t - t) + 0.9 * (both_f - f) > 0.1
        broken[confidence] = np.mean((t < 9 * f) | too_many)
        # Of what may be reviewed much is.
        assert ways["reviewed"].mean() > 0.04
    assert broken[None] > 0.3
    assert broken[0.9] <= 0.1 + 2 * (0.1 * 0.9 / number) ** 0.5
