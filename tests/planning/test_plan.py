import re
from math import exp, sqrt

import numpy as np
import polars as pl
import pytest
from pages import Page
from scipy.special import ndtri
from scipy.stats import multivariate_normal, norm

import polaroc as pr
from polaroc.base.rounding import probability
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

RANGE = (0.05, 0.2)
PRECISE = {"constraints": {"precision": 0.5}, "over": RANGE}
ALLOWED = 0.04


def rows(count, positives, negatives, auc=0.9, cluster=1, alike=0.0, seed=3):
    """Normal scores of several studies."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([True, False], [positives, negatives])
    number = np.append(np.arange(positives) // cluster, -1 - np.arange(negatives) // cluster)
    _, number = np.unique(number, return_inverse=True)
    parts = []
    for study in range(count):
        own, shared = rng.normal(size=truth.size), rng.normal(size=number.max() + 1)[number]
        score = sqrt(1 - alike) * own + sqrt(alike) * shared + sqrt(2) * ndtri(auc) * truth
        parts.append(
            pl.DataFrame({"truth": truth, "score": score, "cluster": number, "study": study})
        )
    return pl.concat(parts)


def chance(**asked):
    return pr.plan(**asked).table["chance"].item()


def assert_close(said, done, studies):
    assert abs(said - done) <= ALLOWED + 2 * sqrt(done * (1 - done) / studies)


@pytest.mark.usefixtures("no_cases_needed")
def test_a_promise_is_had_as_often_as_said():
    cases = pr.cases(rows(120, 60, 540), truth="truth", score="score", by="study")
    points = pr.operating_points(cases, confidence=0.95, rule="max_recall", **PRECISE)
    done = points["promise"].is_not_null().mean()
    found = pr.plan(auc=0.9, positives=60, negatives=540, **PRECISE).table
    assert_close(found["chance"].item(), done, 120)
    # The recall is the true one, which may be lower than that of the table.
    recall = norm.sf(points["threshold"].drop_nulls() - sqrt(2) * ndtri(0.9)).mean()
    assert found["recall"].item() == pytest.approx(recall, abs=0.02)


@pytest.mark.slow
@pytest.mark.usefixtures("no_cases_needed")
def test_a_promise_for_clusters_is_had_as_often_as_said():
    table = rows(60, 150, 850, cluster=5, alike=0.3)
    cases = pr.cases(table, truth="truth", score="score", by="study", cluster="cluster")
    points = pr.operating_points(cases, confidence=0.95, rule="max_recall", **PRECISE)
    clusters = {"cluster_rows": 5, "cluster_correlation": 0.3}
    said = chance(auc=0.9, positives=150, negatives=850, **PRECISE, **clusters)
    assert_close(said, points["promise"].is_not_null().mean(), 60)
    assert said < chance(auc=0.9, positives=150, negatives=850, **PRECISE) - 0.1


@pytest.mark.parametrize("measure", ["auc", "auprec"])
def test_limits_are_as_narrow_as_said(measure):
    table = rows(100, 50, 200)
    found = pr.evaluate(
        table, truth="truth", score="score", by="study", measures=measure, priors=0.2,
        intervals="logit",
    )  # fmt: skip
    halves = (found["upper"] - found["lower"]) / 2
    prior = None if measure == "auc" else 0.2
    wanted = float(halves.median())
    planned = pr.plan(
        auc=0.9, width=wanted, measure=measure, positives=50, negatives=200, prior=prior
    ).table
    assert planned["width"].item() == pytest.approx(halves.mean(), rel=0.05)
    assert_close(planned["chance"].item(), (halves <= wanted).mean(), 100)


def two(seed, positives=60, negatives=240, ahead=0.05):
    rng = np.random.default_rng(seed)
    truth = np.repeat([True, False], [positives, negatives])
    common, *own = rng.normal(size=(3, truth.size)) / sqrt(2)
    means = sqrt(2) * ndtri([0.85, 0.85 + ahead])
    return pl.DataFrame({"truth": truth, "A": common + own[0] + means[0] * truth,
                         "B": common + own[1] + means[1] * truth})  # fmt: skip


@pytest.mark.long
@pytest.mark.slow
def test_a_better_model_is_found_and_passed_as_often_as_said():
    tables = [two(seed) for seed in range(120)]
    roles = {"truth": "truth", "score": ["A", "B"]}
    found = [pr.compare(one, "auc", **roles).pairs["upper"].item() < 0 for one in tables]
    sizes = {"positives": 60, "negatives": 240, "auc": 0.85}
    assert_close(chance(difference=0.05, **sizes), np.mean(found), 120)
    equal = [two(seed, ahead=0.0) for seed in range(120)]
    gate = {"champion": "A", "challenger": "B", "margin": 0.07, "measure": "auc"}
    passed = [pr.gate(one, **roles, **gate).verdict == "pass" for one in equal]
    assert_close(chance(margin=0.07, **sizes), np.mean(passed), 120)


@pytest.mark.long
@pytest.mark.slow
def test_few_negatives_cost_a_gate_chances():
    # Limits are wider for want of negatives, without which the chance would be 0.1 more.
    studies, sizes = 170, {"positives": 60, "negatives": 160}
    asked = {"margin": 0.2, "over": RANGE}
    gate = {"champion": "A", "challenger": "B", "measure": "iauprec", **asked}
    passed = np.mean([
        pr.gate(two(seed, **sizes, ahead=0.0), truth="truth", score=["A", "B"], **gate).verdict
        == "pass"
        for seed in range(studies)
    ])  # fmt: skip
    drawn = sqrt(0.25 / studies + 0.25 / 400)
    assert abs(chance(auc=0.85, **sizes, **asked) - passed) < 2 * drawn


def test_a_gate_that_passes_nobody_has_no_chance():
    few = {"positives": 30, "negatives": 3_000}
    assert chance(auc=0.95, margin=0.02, **few) == 0
    assert chance(auc=0.95, margin=0.16, **few) > 0.5


def spread(auc):
    """The variance of an area times the cases of each class, by Hanley and McNeil (1982)."""
    return auc / (2 - auc) + 2 * auc**2 / (1 + auc) - 2 * auc**2


@pytest.mark.parametrize(("auc", "better"), [(0.7, 0.8), (0.75, 0.85), (0.8, 0.9)])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_as_many_cases_as_hanley_and_mcneil_give(auc, better, power):
    # Their table is one-sided at 0.05, for two groups of other cases. Its variance is that of
    # exponential scores, which is larger than that of normal ones.
    under = norm.isf(0.05) * sqrt(2 * spread(auc)) + norm.ppf(power) * sqrt(
        spread(auc) + spread(better)
    )
    cases = round((under / (better - auc)) ** 2)
    said = chance(
        auc=auc, difference=better - auc, correlation=0.0, level=0.9, positives=cases,
        negatives=cases,
    )  # fmt: skip
    assert said == pytest.approx(power, abs=0.1)


@pytest.mark.parametrize("auc", [0.7, 0.8, 0.9])
def test_as_wide_as_obuchowski_gives(auc):
    # Obuchowski 2004, formula 3: of normal curves that are fitted to ratings.
    a = 1.414 * norm.ppf(auc)
    variance = 0.0099 * exp(-(a**2) / 2) * (5 * a**2 + 8 + (a**2 + 8))
    half = norm.isf(0.025) * sqrt(variance / 200)
    planned = pr.plan(auc=auc, width=half, positives=200, negatives=200)
    assert planned.table["width"].item() == pytest.approx(half, rel=0.12)


@pytest.mark.parametrize("auc", [0.7, 0.8, 0.9])
@pytest.mark.parametrize("ratio", [1, 4])
def test_as_wide_as_the_variance_of_normal_scores_is(auc, ratio):
    within = placements(auc)
    half = norm.isf(0.025) * sqrt(within / 400 + within / (400 * ratio))
    planned = pr.plan(auc=auc, width=half, positives=400, negatives=ratio * 400)
    # `evaluate` gives the widest of several limits.
    assert half < planned.table["width"].item() < 1.1 * half


def placements(auc):
    """The variance of the share of the other class that a case outranks, of normal scores."""
    at = [norm.ppf(auc)] * 2
    return multivariate_normal.cdf(at, cov=[[1, 0.5], [0.5, 1]]) - auc**2


@pytest.mark.parametrize(("auc", "ahead"), [(0.7, 0.1), (0.8, 0.05), (0.9, 0.03)])
def test_power_is_that_of_the_variance_of_normal_scores(auc, ahead):
    error = sqrt(2 * (placements(auc) + placements(auc + ahead)) / 200)
    said = chance(auc=auc, difference=ahead, correlation=0.0, positives=200, negatives=200)
    assert said == pytest.approx(norm.cdf(ahead / error - norm.isf(0.025)), abs=0.07)


def test_more_cases_buy_more_and_the_fewest_are_named():
    found = pr.plan(auc=0.9, **PRECISE)
    chances = found.table["chance"]
    assert chances.diff().min() > -0.03
    assert found.table["positives"].is_sorted()
    assert found.negatives == 7 * found.positives
    sizes = {"positives": found.positives, "negatives": found.negatives}
    assert chance(auc=0.9, **PRECISE, **sizes, seed=1) == pytest.approx(0.8, abs=0.04)
    assert f"{found.positives:,} positives and {found.negatives:,} negatives" in found.answer
    assert "at least 5 of 10 alarms are right, as long as 5 to 20 % are positive" in found.answer


def test_a_pilot_without_rows_is_refused():
    pilot = rows(1, 20, 20).with_columns(model=pl.lit("A")).clear()
    with pytest.raises(InvalidArgument, match="the pilot has 0 curves"):
        pr.plan(pilot, truth="truth", score="score", **PRECISE)


def test_a_pilot_of_equal_scores_in_clusters_promises_nothing():
    pilot = rows(1, 30, 30, cluster=3).with_columns(score=pl.lit(0.5))
    asked = {"truth": "truth", "score": "score", "cluster": "cluster", **PRECISE}
    assert pr.plan(pilot, **asked, positives=50).table["chance"].item() == 0


def test_one_number_of_negatives_goes_with_all_positives():
    asked = {"auc": 0.9, "constraints": {"recall": 0.8}}
    alone, listed = (pr.plan(**asked, negatives=given).table for given in (300, [300]))
    assert set(listed["negatives"]) == {300}
    assert listed.equals(alone)


@pytest.mark.alike
@pytest.mark.parametrize("asked", [PRECISE, {"width": 0.03}, {"width": 0.2}])
def test_what_is_proposed_is_a_row_with_the_chance_and_range_of_the_answer(asked):
    found = pr.plan(rows(1, 100, 400), truth="truth", score="score", **asked)
    sizes = {"positives": found.positives, "negatives": found.negatives}
    (row,) = found.table.filter(**sizes).rows(named=True)
    assert row["chance"] >= found.chance
    assert f"then the chance is {probability(row['chance'])} that" in found.answer
    ends = (probability(row[f"chance_{end}"]) for end in ("lower", "upper"))
    assert " to ".join(ends) in found.answer
    chances = pl.col("chance").is_between("chance_lower", "chance_upper")
    assert found.table.select(chances.all()).item()
    is_first = found.positives == found.table["positives"][0]
    assert is_first == (asked == {"width": 0.2})
    assert is_first == ("the fewest that were tried: then" in found.answer)


OF_PATIENTS = {"truth": "truth", "score": "score", "cluster": "patient", "width": 0.1}


def test_clusters_are_counted_before_their_rows():
    pilot = rows(1, 60, 240, cluster=3, alike=0.4).rename({"cluster": "patient"})
    found = pr.plan(pilot, **OF_PATIENTS)
    for name in ("positives", "negatives"):
        assert (found.table[name] % 3 == 0).all()
    clusters = f"{found.positives // 3:,} positive and {found.negatives // 3:,} negative clusters"
    counted = f"{found.positives:,} positives and {found.negatives:,} negatives"
    assert f"about {clusters} (`patient`), 3 rows each: {counted}: then" in found.answer


@pytest.mark.long
def test_a_budget_pays_for_whole_clusters():
    pilot = rows(1, 180, 720, cluster=3, alike=0.4).rename({"cluster": "patient"})
    paid = pr.plan(pilot, **OF_PATIENTS, budget=300).table
    assert paid.select(pl.col("positives", "negatives") % 3 == 0).to_numpy().all()


def test_a_small_pilot_gives_a_wider_range_than_a_large_one():
    ranges = {}
    for positives in (20, 400):
        pilot = rows(1, positives, 4 * positives)
        found = pr.plan(
            pilot, truth="truth", score="score", positives=100, negatives=900, **PRECISE
        ).table
        lower, upper = found.select("chance_lower", "chance_upper").row(0)
        assert lower <= found["chance"].item() <= upper
        ranges[positives] = upper - lower
        assert lower - 0.05 <= chance(auc=0.9, positives=100, negatives=900, **PRECISE)
        assert upper + 0.05 >= chance(auc=0.9, positives=100, negatives=900, **PRECISE)
    assert ranges[20] > 1.5 * ranges[400]


def rated(table, most=4):
    """Scores of a few levels, as of a reader who rates cases."""
    return table.with_columns(score=(pl.col("score") + 1).round().clip(0, most))


@pytest.mark.usefixtures("no_cases_needed")
def test_levels_of_a_pilot_are_those_of_the_study():
    pilot, studies = rated(rows(1, 10_000, 90_000)), rated(rows(60, 60, 540, seed=4))
    roles = {"truth": "truth", "score": "score"}
    sizes = {"positives": 60, "negatives": 540}
    cases = pr.cases(studies, **roles, by="study")
    wished = {"constraints": {"precision": 0.35}, "over": RANGE}
    points = pr.operating_points(cases, confidence=0.95, rule="max_recall", **wished)
    done = points["promise"].is_not_null().mean()
    found = pr.plan(pilot, **roles, **sizes, **wished)
    assert 0.2 < done < 0.8
    assert_close(found.table["chance"].item(), done, 60)
    assert "A study has the 5 different scores of the pilot, and no others." in found.notes
    limits = pr.evaluate(cases, measures="auc", intervals="logit")
    width = ((limits["upper"] - limits["lower"]) / 2).mean()
    planned = pr.plan(pilot, **roles, **sizes, width=0.05).table
    assert planned["width"].item() == pytest.approx(width, rel=0.06)


def test_a_pilot_tells_how_alike_rows_of_a_cluster_are():
    pilot = rows(1, 1_000, 4_000, cluster=5, alike=0.4)
    roles = {"truth": "truth", "score": "score", "positives": 100, "negatives": 400}
    found = pr.plan(pilot, cluster="cluster", width=0.05, **roles).table["width"].item()
    known = {"cluster_rows": 5, "cluster_correlation": 0.4, "positives": 100, "negatives": 400}
    assert found == pytest.approx(
        pr.plan(auc=0.9, width=0.05, **known).table["width"].item(), rel=0.15
    )
    assert found > 1.1 * pr.plan(pilot, width=0.05, **roles).table["width"].item()


def test_two_models_of_a_pilot_are_as_correlated_as_there():
    pilot = two(1, 2_000, 8_000)
    roles = {"truth": "truth", "score": ["A", "B"], "champion": "A", "challenger": "B"}
    sizes = {"positives": 60, "negatives": 240}
    found = pr.plan(pilot, **roles, **sizes).table
    lower, upper = found.select("chance_lower", "chance_upper").row(0)
    assert lower - 0.1 < chance(auc=0.85, difference=0.05, **sizes) < upper + 0.1
    assert found["better"].item() > 0.9


@pytest.mark.parametrize(("name", "ends"), [("correlation", (0.1, 0.9)), ("auc", (0.75, 0.95))])
def test_a_range_gives_a_range_of_chances(name, ends):
    asked = {"positives": 60, "negatives": 240, "auc": 0.85, "difference": 0.04}
    of_ends = [chance(**asked | {name: one}) for one in ends]
    found = pr.plan(**asked | {name: ends})
    assert of_ends[0] < found.table["chance"].item() < of_ends[1]
    lower, upper = found.table.select("chance_lower", "chance_upper").row(0)
    assert lower - 0.1 < of_ends[0] < of_ends[1] < upper + 0.1
    assert f"{ends[0]} to {ends[1]}" in "".join(found.notes)
    assert "With what is unknown about the scores it is" in found.answer


def test_a_budget_is_split():
    found = pr.plan(auc=0.9, budget=1_000, cost_positive=5, **PRECISE)
    spent = 5 * found.table["positives"] + found.table["negatives"]
    assert spent.max() <= 1_000
    assert spent.min() > 990
    assert found.table.filter(positives=found.positives)["chance"].item() == pytest.approx(
        found.table["chance"].max(), abs=0.01
    )
    # Scores of a class that is cheap to have are bought.
    cheap = pr.plan(auc=0.9, budget=1_000, cost_negative=5, **PRECISE)
    assert cheap.positives / cheap.negatives > found.positives / found.negatives


def test_a_budget_is_split_between_tuning_and_test():
    asked = {"auc": 0.9, "over": RANGE, "constraints": {"precision": 0.4}}
    found = pr.plan(**asked, width=0.1, budget=4_000, cost_positive=5)
    parts = found.table.filter(pl.col("tuning").is_between(0.2, 0.8))
    assert (5 * parts["positives"] + parts["negatives"]).is_between(3_980, 4_000).all()
    for share, both in parts.select("tuning", "chance").rows():
        tuned, tested = (
            {name: round(part * found.table[name][0]) for name in ("positives", "negatives")}
            for part in (share, 1 - share)
        )
        alone = chance(**asked, **tuned) * chance(auc=0.9, over=RANGE, width=0.1, **tested)
        assert both == pytest.approx(alone, abs=0.06)
    best = parts.row(parts["chance"].arg_max(), named=True)
    assert f"{100 * best['tuning']:g} % of both for tuning" in found.answer
    assert "can be promised" in found.answer
    assert "are within ± 0.1" in found.answer


def test_costs_choose_the_threshold():
    sizes = {"auc": 0.9, "prior": 0.1, "constraints": {"recall": 0.5}, "positives": 100}
    dear, cheap = (pr.plan(cost_fn=one, **sizes).table for one in (20, 2))
    assert dear["recall"].item() > cheap["recall"].item() + 0.1
    assert "cost" not in pr.plan(**sizes).table.columns


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "nothing is wished for"),
        ({"width": 0.1, "constraints": {"recall": 0.5}}, "(?s)'constraints', 'width'.*allowed is"),
        ({"constraints": {"precision": 0.5}}, "(?s)precision depends on.*over=.*prior="),
        ({"width": 0.1, "measure": "auprec"}, "(?s)AUPREC depends on the share"),
        ({"width": 0.1, "measure": "brier", "prior": 0.1}, "'brier', which depends on what"),
        ({"width": 0.001}, r"(?s)chance is 0.8 that the 95 % limits.*have a chance of 0.*width="),
        ({**PRECISE, "constraints": {"precision": 0.97}},
         r"(?s)at least 97 of 100 alarms.*even 25,600.*constraints=\{'precision': 0\.8"),
        ({"difference": -0.01}, "(?s)no better is not found better.*margin="),
        ({"difference": -0.1, "margin": 0.05}, "(?s)should not pass.*margin=0.12"),
        ({"difference": 0.2}, "allowed is 0 < auc \\+ difference < 1"),
        ({"width": 0.1, "auc": (0.9, 0.8)}, r"auc is \(0.9, 0.8\)"),
        ({"auc": (0.8, 0.9), "difference": 0.1}, "allowed is 0 < auc \\+ difference < 1"),
        ({"width": 0.1, "cluster_rows": 3}, "(?s)not how alike.*cluster_correlation="),
        ({"width": 0.1, "positives": [20, 30], "negatives": [9, 8, 7]}, "negatives 3"),
        ({"width": 0.1, "budget": 1}, "fewer than two cases of a class"),
        ({"width": 0.1, "budget": 99, "cost_positive": 1e-320},
         "(?s)pays for more than the 400,000 cases.*say what labels cost.*cost_positive=20"),
        ({**PRECISE, "width": 0.1, "budget": 9}, "fewer than two cases of a class"),
        ({**PRECISE, "margin": 0.1, "budget": 99}, "'constraints', 'margin'.*different wishes"),
        ({"width": 0.1, "confidence": 0.9}, "confidence is for constraints"),
        ({"width": 0.1, "truth": "y"}, "(?s)'truth' say what columns mean.*give pilot first"),
        ({"width": 0.1, "champion": "A"}, "champion and challenger go together"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(asked, words):
    with pytest.raises(InvalidArgument, match=words):
        pr.plan(**{"auc": 0.9} | asked)


def test_pilots_that_tell_nothing_are_refused():
    roles = {"truth": "truth", "score": "score", "width": 0.1}
    with pytest.raises(InvalidPredictions, match=r"(?s)4 positives.*auc=0.8"):
        pr.plan(rows(1, 4, 40), **roles)
    with pytest.raises(InvalidArgument, match=r"(?s)2 curves.*fold=None"):
        pr.plan(rows(2, 40, 40).rename({"study": "fold"}), **roles)
    with pytest.raises(InvalidArgument, match="auc is instead of a pilot"):
        pr.plan(rows(1, 40, 40), auc=0.8, **roles)


def test_a_plan_is_saved_with_its_hash_and_results_are_held_to_it(tmp_path):
    table = two(1, 60, 240)
    roles = {"truth": "truth", "score": ["A", "B"]}
    pair = {"champion": "A", "challenger": "B"}
    plan = pr.plan(table, **roles, **pair, margin=0.02, positives=80, negatives=320)
    plan.save(tmp_path / "plan.json")
    assert plan.hash in (tmp_path / "plan.json").read_text()
    assert pr.plan(table, **roles, **pair, margin=0.03, positives=80).hash != plan.hash
    result = pr.gate(table, **roles, **pair, margin=0.05, measure="auc")
    assert plan.check(result) == [
        "There are 60 positives, and 80 were planned.",
        "There are 240 negatives, and 320 were planned.",
        "The margin is 0.05, and 0.02 was planned.",
    ]
    assert plan.check(pr.gate(two(2, 80, 320), **roles, **pair, margin=0.02, measure="auc")) == []
    with pytest.raises(InvalidArgument, match="says nothing that is in a plan"):
        plan.check(3)


def test_a_promise_for_another_range_departs_from_a_plan():
    plan = pr.plan(auc=0.9, positives=60, negatives=540, **PRECISE)
    curves = pr.curve(rows(1, 60, 540, auc=0.99).drop("study"), truth="truth", score="score")
    points = pr.operating_points(curves, confidence=0.95, **PRECISE)
    assert plan.check(points) == []
    other = pr.operating_points(
        curves, constraints=PRECISE["constraints"], confidence=0.95, over=(0.1, 0.2)
    )
    assert len(plan.check(other)) == 2
    chosen = pr.choose(two(1), truth="truth", score=["A", "B"], over=(0.1, 0.2))
    (departs,) = plan.check(chosen)
    assert "range of priors" in departs


def test_a_plan_that_was_changed_is_refused(tmp_path):
    from polaroc.planning.saved_plan import read_plan

    file = tmp_path / "plan.json"
    pr.plan(auc=0.9, width=0.1, positives=40).save(file)
    assert read_plan(file)["positives"] == 40
    file.write_text(file.read_text().replace('"positives": 40', '"positives": 30'))
    with pytest.raises(InvalidTable, match="was changed after it was written"):
        read_plan(file)


def test_progress_is_told():
    told = []
    pr.plan(auc=0.9, width=0.1, positives=[20, 30], progress=lambda *one: told.append(one))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.usefixtures("words_only")
def test_a_page_says_what_twice_as_many_cases_would_change(tmp_path):
    table = two(1, 60, 240)
    roles = {"truth": "truth", "score": ["A", "B"], "over": RANGE}
    text = Page(pr.report(table, **roles, path=tmp_path / "page.html")).text()
    found = re.search(
        r"AUPREC\) of \w+,[^(]*\(margin of error: ([\d.]+) to ([\d.]+)\).*"
        r"Twice as many cases would narrow the margin of error of the area to about "
        r"([\d.]+) to ([\d.]+)", text, re.DOTALL,
    )  # fmt: skip
    lower, upper, narrower, still = map(float, found.groups())
    assert lower < narrower < still < upper
    assert (still - narrower) / (upper - lower) == pytest.approx(sqrt(0.5), abs=0.03)
