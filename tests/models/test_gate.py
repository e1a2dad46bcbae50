import re

import numpy as np
import oracles
import polars as pl
import pytest
from agreement import assert_same_numbers
from scipy import stats
from simulations import gates
from sklearn.metrics import roc_auc_score

import polaroc as pr

PREDICTIONS = pr.datasets.satellite_predictions()
ONE = PREDICTIONS.filter(fold=1)
NAMES = {"truth": "truth", "score": "score"}
OVER = (0.05, 0.2)
MEASURES = pr.evaluate(PREDICTIONS, **NAMES, over=OVER)
# On hold-outs of 80/20 C is worse than A by 0.043 (0.016) in IAUPREC.
FOLDS = {"champion": "A", "challenger": "C", "test_train_ratio": 0.25}
CASES = {"champion": "A", "challenger": "C", "case": "case", **NAMES}


def on_folds(table=MEASURES, **arguments):
    return pr.gate(table, **{**FOLDS, **arguments})


def on_cases(table=ONE, **arguments):
    return pr.gate(table, **{"measure": "auc", **CASES, **arguments})


def estimates(model, measure="iauprec"):
    return MEASURES.filter(model=model, measure=measure).sort("fold")["estimate"].to_numpy()


def table_of(**by_model):
    """A table of measures from the estimates of each model."""
    return pl.concat(
        pl.DataFrame({"model": name, "fold": range(len(values)), "measure": "auc",
                      "estimate": [float(value) for value in values]})
        for name, values in by_model.items()
    )  # fmt: skip


def scores_of(truth, **by_model):
    return pl.concat(
        pl.DataFrame({"model": name, "case": range(len(truth)), "truth": truth, "score": scores},
                     schema_overrides={"score": pl.Float64})
        for name, scores in by_model.items()
    )  # fmt: skip


def assert_same(result, expected):
    assert (result.verdict, result.summary()) == (expected.verdict, expected.summary())
    for name in ("difference", "lower", "upper"):
        assert getattr(result, name) == pytest.approx(getattr(expected, name), rel=1e-9)


# --- Numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_on_one_test_set_the_auc_has_delongs_interval_with_skewness_and_larger_influences(alpha):
    tables = [ONE.filter(model=model).sort("case") for model in ("C", "A")]
    placed = [oracles.delong_placements(table) for table in tables]
    moved = [own - other for own, other in zip(*placed, strict=True)]
    influences = [(own - own.mean()) / own.size for own in moved]
    fewest = min(own.size for own in moved)
    # One and a half more cases of each class with the largest influence.
    variance = sum(
        (own**2).sum() * fewest / (fewest - 1) + 1.5 * (own**2).max() for own in influences
    )
    t = stats.t.ppf(1 - alpha / 2, fewest - 1)
    third, second = (sum((own**power).sum() for own in influences) for power in (3, 2))
    skewness = third / second * (2 * t**2 + 1) / 6
    aucs = [roc_auc_score(table["truth"], table["score"]) for table in tables]
    lead = aucs[0] - aucs[1]
    result = on_cases(level=1 - alpha)
    assert f"with {100 - 100 * alpha:g} % confidence" in result.summary().replace("\n", " ")
    assert dict(result.models.select("model", "estimate").iter_rows()) == pytest.approx(
        dict(zip("CA", aucs, strict=True))
    )
    assert result.difference == pytest.approx(lead)
    assert (result.lower, result.upper) == pytest.approx(
        (lead - t * variance**0.5 + min(skewness, 0), lead + t * variance**0.5 + max(skewness, 0))
    )
    delong = stats.norm.interval(
        1 - alpha, lead, sum(np.var(m, ddof=1) / m.size for m in moved) ** 0.5
    )
    assert 1 < (result.upper - result.lower) / (delong[1] - delong[0]) < 1.2


def test_the_tables_have_both_models_and_their_difference():
    for result, found in (
        (on_folds(margin=0.1), pr.compare(MEASURES, test_train_ratio=0.25).models),
        (on_cases(margin=0.1), pr.compare(ONE, "auc", case="case", **NAMES).models),
    ):
        names = ["model", "estimate", "lower", "upper"]
        expected = found.filter(pl.col("model") != "B").select(names).sort("model")
        assert_same_numbers(result.tables["models"].sort("model"), expected)
        (row,) = result.tables["difference"].rows(named=True)
        assert row == {
            "challenger": "C", "champion": "A", "difference": result.difference,
            "lower": result.lower, "upper": result.upper, "level": 0.95, "margin": 0.1,
            "verdict": "pass",
        }  # fmt: skip
        both = dict(result.models.select("model", "estimate").iter_rows())
        assert result.difference == pytest.approx(both["C"] - both["A"])


@pytest.mark.parametrize(("measure", "ratio"), [("iauprec", 0.25), ("auc", 0.25), ("sens", 1 / 19)])
def test_on_folds_the_interval_is_that_of_the_corrected_t_test(measure, ratio):
    lead = estimates("C", measure) - estimates("A", measure)
    error = (lead.var(ddof=1) * (1 / lead.size + ratio)) ** 0.5
    expected = stats.t.interval(0.9, lead.size - 1, lead.mean(), error)
    result = on_folds(measure=measure, test_train_ratio=ratio, level=0.9)
    assert result.difference == pytest.approx(lead.mean())
    assert (result.lower, result.upper) == pytest.approx(expected)
    assert result.cases == "20 folds"


@pytest.mark.parametrize("gate", [on_folds, on_cases])
def test_swapped_models_have_the_opposite_difference(gate):
    result, swapped = gate(), gate(champion="C", challenger="A")
    assert swapped.difference == pytest.approx(-result.difference)
    assert (swapped.lower, swapped.upper) == pytest.approx((-result.upper, -result.lower))
    assert swapped.estimates == pytest.approx(result.estimates[::-1])


@pytest.mark.parametrize("gate", [on_folds, on_cases])
def test_at_one_prior_iauprec_is_auprec(gate):
    at_prior = gate(measure="iauprec", priors=0.1)
    assert_same(at_prior, gate(measure="auprec", priors=0.1))
    assert at_prior.measure == "AUPREC at 10 % positives"
    assert on_cases(measure="auprec").measure == "AUPREC at the observed prior"
    table = MEASURES if gate is on_folds else pr.evaluate(ONE, **NAMES, priors=0.1)
    means = dict(
        table.filter(pl.col("prior").sub(0.1).abs() < 1e-9, measure="auprec")
        .group_by("model").agg(pl.col("estimate").mean()).iter_rows()
    )  # fmt: skip
    assert at_prior.difference == pytest.approx(means["C"] - means["A"])


# --- Verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["iauprec", "sens"])
@pytest.mark.parametrize("challenger", ["A", "C"])
def test_the_verdict_is_that_of_the_interval_and_the_margin(measure, challenger):
    champion = "C" if challenger == "A" else "A"
    # As if the folds shared no cases, so that there is something to be told.
    arguments = {"measure": measure, "challenger": challenger, "champion": champion,
                 "test_train_ratio": 0}  # fmt: skip
    result = on_folds(**arguments)
    # Less of Sens is better.
    sign = 1 if measure == "iauprec" else -1
    worst, best = sorted([sign * result.lower, sign * result.upper])
    assert result.verdict == ("pass" if challenger == "A" else "fail")
    for margin in (0.0, 0.001, 0.02, 0.04, 0.06, 0.1):
        expected = "pass" if worst >= -margin else "fail" if best < -margin else "undecided"
        assert on_folds(**arguments, margin=margin).verdict == expected
    if challenger == "C":
        assert on_folds(**arguments, margin=-worst + 1e-9).verdict == "pass"
        assert on_folds(**arguments, margin=-worst - 1e-9).verdict == "undecided"
        assert on_folds(**arguments, margin=-best - 1e-9).verdict == "fail"


@pytest.mark.parametrize("measure", ["auc", "iauprec", "sens", "brier"])
def test_models_that_rank_alike_are_not_tested(measure):
    champion = ONE.filter(model="A").with_columns(score=1 / (1 + (-pl.col("score")).exp()))
    twin = champion.with_columns(model=pl.lit("B"))
    if measure != "brier":
        twin = twin.with_columns(pl.col("score").exp() * 3)
    result = on_cases(pl.concat([champion, twin]), challenger="B", measure=measure, over=OVER,
                      margin=0.1)  # fmt: skip
    assert (result.verdict, result.difference) == ("undecided", 0)
    assert (result.lower, result.upper) == (None, None)
    assert "shows no variation" in " ".join(result.summary().split())


def test_models_with_the_same_measures_are_not_tested():
    twin = MEASURES.filter(model="A").with_columns(model=pl.lit("B"))
    result = on_folds(pl.concat([MEASURES.filter(model="A"), twin]), challenger="B", margin=0.1)
    assert (result.verdict, result.difference) == ("undecided", 0)
    assert (result.lower, result.upper) == (None, None)
    assert "shows no variation" in " ".join(result.summary().split())


TRUTH = [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("result", "difference"),
    [
        (lambda: on_folds(table_of(A=[0.5, 0.75], C=[0.75, 1]), measure="auc"), 0.25),
        (lambda: on_cases(scores_of(TRUTH, A=[1, 2, 3, 4, 5, 6], C=[2, 1, 3, 4, 5, 6])), 0),
        (lambda: on_cases(scores_of(TRUTH, A=[0] * 6, C=[1, 2, 3, 4, 5, 6])), 0.5),
    ],
    ids=["folds", "both perfect", "a constant and a perfect model"],
)
def test_without_variation_there_is_no_interval_and_no_verdict(result, difference):
    result = result()
    assert (result.verdict, result.lower, result.upper) == ("undecided", None, None)
    assert result.difference == difference
    assert "there is no interval for it" in " ".join(result.summary().split())


# --- Words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"margin": 0.1}, "Pass: C is not worse than A by more than 0.1"),
        ({"test_train_ratio": 0}, "Fail: C is worse than A"),
        ({"margin": 0.0125}, "Undecided: C may or may not be worse than A by more than 0.0125"),
    ],
)
def test_the_answer_is_a_sentence(arguments, answer):
    result = on_folds(**arguments)
    answer += " in IAUPREC over 5 to 20 % positives."
    assert result.answer == answer
    assert " ".join(str(result).split()).startswith(f"{answer} On 20 folds C has 0.")
    assert all(len(line) <= 80 for line in str(result).splitlines())
    assert ("times as many cases" in str(result)) == answer.startswith("Undecided")


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("lead", [-0.03, 0.004, 0.03])
def test_an_undecided_gate_says_how_many_cases_would_decide_it(lead, sign):
    noise = np.random.default_rng(2).normal(0, 0.05, 12)
    measure = {1: "auc", -1: "brier"}[sign]
    table = table_of(A=np.full(12, 0.5), C=0.5 + lead + noise - noise.mean())
    result = on_folds(
        table.with_columns(measure=pl.lit(measure), positives=200, negatives=800), measure=measure,
        margin=0.02, test_train_ratio=0.1,
    )  # fmt: skip
    assert result.verdict == "undecided"
    # The end of the interval that has to leave the margin moves as one over the root of cases.
    gap = 0.02 + sign * lead
    upwards = (gap > 0) == (sign > 0)
    half = result.difference - result.lower if upwards else result.upper - result.difference
    (times,) = re.findall(r"About ([\d,]+) times as many", result.warnings[0])
    assert int(times.replace(",", "")) == pytest.approx((half / gap) ** 2, rel=0.1, abs=1)


def first_cases(positives, negatives):
    """So many cases of the first test set."""
    place = pl.col("case").rank("dense").over("model", "truth")
    return ONE.filter(pl.when("truth").then(place <= positives).otherwise(place <= negatives))


@pytest.mark.parametrize(
    ("sizes", "arguments", "why"),
    [
        ((19, 900), {}, "19 of a class, 20 are needed"),
        ((80, 20), {"measure": "iauprec", "over": OVER},
         "beside 80 positives 20 are too few; about 190 are needed"),
        ((50, 900), {"measure": "auprec", "priors": 0.001}, "18,000 are needed"),
    ],
)  # fmt: skip
def test_too_few_cases_to_promise(sizes, arguments, why):
    result = on_cases(first_cases(*sizes), champion="C", challenger="A", margin=0.5, **arguments)
    assert (result.verdict, result.lower, result.upper) == ("undecided", None, None)
    assert result.difference == pytest.approx(result.estimates[1] - result.estimates[0])
    (told,) = [one for one in result.warnings if one.startswith("There are too few cases")]
    assert why in told


def test_scores_are_right_at_the_prior_given():
    score = 1 / (1 + (-pl.col("score").clip(-9, 9)).exp())
    own = pl.col("truth").mean()
    table = PREDICTIONS.with_columns(score.alias("score"))
    # The odds at the prior of each key, of scores that are right at 0.5.
    keys = ["model", "fold"]
    odds = pl.col("score") / (1 - pl.col("score")) * (own / (1 - own)).over(keys)
    moved = PREDICTIONS.with_columns(score.alias("score")).with_columns(score=odds / (1 + odds))
    asked = {"measure": "log_loss", "priors": 0.1}
    for gated, options in ((on_cases, {}), (on_folds, NAMES)):
        one = [part if options else part.filter(fold=1) for part in (table, moved)]
        found, expected, other = (
            gated(part, **asked, **options, score_prior=prior)
            for part, prior in zip((*one, one[0]), (0.5, "observed", "observed"), strict=True)
        )
        assert found.difference == pytest.approx(expected.difference, rel=1e-9)
        widths = [each.upper - each.lower for each in (found, expected)]
        # What is observed of cases has an error, folds show by themselves how sure they are.
        assert widths[0] < widths[1] if not options else widths[0] == pytest.approx(widths[1])
        assert other.difference != pytest.approx(found.difference, rel=0.01)


# --- Refusals ------------------------------------------------------------------------------------


def test_the_ratio_of_folds_follows_from_the_cases():
    few = PREDICTIONS.filter(pl.col("fold") <= 4)
    tested = few.group_by("fold", "model").len()["len"].mean()
    ratio = tested / (few["case"].n_unique() - tested)
    found = pr.gate(few, champion="A", challenger="C", **NAMES, over=OVER)
    assert_same(found, on_folds(few, **NAMES, over=OVER, test_train_ratio=ratio))


# --- At the margin -------------------------------------------------------------------------------


def binomial_limit(runs, chance):
    """A count that is exceeded in less than one of a thousand such tests."""
    return stats.binom.isf(0.001, runs, chance)


@pytest.mark.slow
def test_a_pass_is_rare_where_the_challenger_is_worse_by_the_margin():
    runs, rng = 60, np.random.default_rng(0)
    kind = rng, runs, "200 + 800"
    passed = gates.counted(*kind, "normal", 0.9, 0.5)
    assert max(passed.values()) <= binomial_limit(runs, 0.025)
    # With a wide margin it passes: the normal approximation alone would in 0.6 and 0.9 of samples.
    wide = gates.counted(*kind, "equal", 0.9, 0.5, margin=0.1)
    assert min(wide.values()) > runs / 3


@pytest.mark.slow
def test_a_pass_on_folds_is_rare_where_the_challenger_is_worse_by_the_margin():
    runs = 30
    passed = gates.counted(
        np.random.default_rng(0), runs, "40 + 160", "normal", 0.9, 0.5, repeats=1
    )
    assert max(passed.values()) <= binomial_limit(runs, 0.025)


def test_a_challenger_that_is_clearly_worse_fails_where_negatives_are_few():
    rng = np.random.default_rng(0)
    truth = np.arange(4000) < 1200
    shared = rng.normal(size=4000)
    table = pl.DataFrame(
        {"case": range(4000), "truth": truth}
        | {name: 0.7 * shared + 0.7 * rng.normal(size=4000) + apart * truth
           for name, apart in (("A", 1.5), ("C", 0.9))}
    )  # fmt: skip
    asked = {**CASES, "score": ["A", "C"], "measure": "iauprec", "over": (0.02, 0.1)}
    result, turned = (
        pr.gate(table, **asked),
        pr.gate(table.sample(fraction=1, shuffle=True), **asked),
    )
    assert result.verdict == "fail"
    assert (turned.lower, turned.upper) == pytest.approx((result.lower, result.upper))
    in_clusters = pr.gate(table.with_columns(own="case"), **asked, cluster="own")
    assert (in_clusters.lower, in_clusters.upper) == pytest.approx((result.lower, result.upper))
