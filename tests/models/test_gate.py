import numpy as np
import oracles
import polars as pl
import pytest
from scipy import stats
from scipy.optimize import brentq
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
def test_on_one_test_set_the_auc_has_delongs_interval_but_for_few_cases(alpha):
    tables = [ONE.filter(model=model).sort("case") for model in ("C", "A")]
    placed = [oracles.delong_placements(table) for table in tables]
    moved = [own - other for own, other in zip(*placed, strict=True)]
    # One more case of each class with the largest influence, of at least 0.25.
    variance = sum(
        np.var(own, ddof=1) / own.size
        + max(0.25, np.abs(own - own.mean()).max()) ** 2 / own.size**2
        for own in moved
    )
    aucs = [roc_auc_score(table["truth"], table["score"]) for table in tables]
    fewest = min(own.size for own in moved)
    lead = aucs[0] - aucs[1]
    expected = stats.t.interval(1 - alpha, fewest - 1, lead, variance**0.5)
    result = on_cases(level=1 - alpha)
    assert f"with {100 - 100 * alpha:g} % confidence" in result.summary().replace("\n", " ")
    assert (result.challenger_estimate, result.champion_estimate) == pytest.approx(aucs)
    assert result.difference == pytest.approx(lead)
    # As wide, or as wide as that of the log-odds or of a positive that is not seen says.
    assert result.lower <= expected[0] + 1e-12
    assert result.upper >= expected[1] - 1e-12
    assert result.upper - result.lower < 1.25 * (expected[1] - expected[0])
    delong = stats.norm.interval(
        1 - alpha, lead, sum(np.var(m, ddof=1) / m.size for m in moved) ** 0.5
    )
    assert result.upper - result.lower < 1.4 * (delong[1] - delong[0])


def test_the_lower_limit_of_good_models_is_that_of_the_log_odds():
    rng, truth = np.random.default_rng(3), np.arange(2_100) < 2_000
    better, worse = (rng.normal(size=truth.size) + 3 * truth for _ in range(2))
    aucs = [roc_auc_score(truth, scores) for scores in (worse, better)]
    placed = [
        oracles.delong_placements(pl.DataFrame({"truth": truth, "score": scores}))
        for scores in (worse, better)
    ]

    def beyond(lead):
        """How far beyond Student's t the log-odds are where C led by so much."""
        areas = np.array([aucs[0], aucs[1] + lead])
        own, other = 1 / (areas * (1 - areas))
        moved = [own * one - other * two for one, two in zip(*placed, strict=True)]
        error = sum(np.var(each, ddof=1) / each.size for each in moved) ** 0.5
        log_odds = np.log(areas / (1 - areas))
        return log_odds[0] - log_odds[1] - stats.t.ppf(0.975, 99) * error

    result = on_cases(scores_of(truth, A=better, C=worse))
    assert result.difference == pytest.approx(aucs[0] - aucs[1])
    assert result.lower == pytest.approx(brentq(beyond, -0.1, result.difference), rel=1e-6)


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
    assert swapped.challenger_estimate == pytest.approx(result.champion_estimate)


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


@pytest.mark.parametrize("measure", ["auc", "iauprec", "sens"])
def test_models_that_rank_alike_pass(measure):
    champion = ONE.filter(model="A")
    twin = champion.with_columns(pl.lit("B").alias("model"), pl.col("score").exp() * 3)
    result = on_cases(pl.concat([champion, twin]), challenger="B", measure=measure, over=OVER)
    assert (result.verdict, result.difference, result.lower, result.upper) == (
        "pass",
        0,
        None,
        None,
    )
    assert "rank all cases alike" in " ".join(result.summary().split())


def test_models_with_the_same_measures_pass():
    twin = MEASURES.filter(model="A").with_columns(model=pl.lit("B"))
    result = on_folds(pl.concat([MEASURES.filter(model="A"), twin]), challenger="B")
    assert (result.verdict, result.difference, result.lower, result.upper) == (
        "pass",
        0,
        None,
        None,
    )
    assert "the same measure in every fold" in " ".join(result.summary().split())


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


def first_cases(positives, negatives):
    """So many cases of the first test set."""
    place = pl.col("case").rank("dense").over("model", "truth")
    return ONE.filter(pl.when("truth").then(place <= positives).otherwise(place <= negatives))


@pytest.mark.parametrize(
    ("sizes", "arguments", "why"),
    [
        ((19, 900), {}, "a class has 19 cases, 20 are needed"),
        ((80, 20), {"measure": "iauprec", "over": OVER},
         "beside 80 positives 20 negatives are too few; about 130 are needed"),
        ((50, 900), {"measure": "auprec", "priors": 0.001}, "12,000 are needed"),
    ],
)  # fmt: skip
def test_too_few_cases_to_promise(sizes, arguments, why):
    result = on_cases(first_cases(*sizes), champion="C", challenger="A", margin=0.5, **arguments)
    assert (result.verdict, result.lower, result.upper) == ("undecided", None, None)
    assert result.difference == pytest.approx(result.challenger_estimate - result.champion_estimate)
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
    (said,) = (one for one in result.warnings if "With few negatives areas are biased" in one)
    # Half the negatives have a larger area by chance alone, or by the bias.
    wider = float(said.partition("interval is ")[2].split()[0])
    assert 0 < wider < 0.01
    assert (turned.lower, turned.upper) == pytest.approx((result.lower, result.upper))
    in_clusters = pr.gate(table.with_columns(own="case"), **asked, cluster="own")
    assert in_clusters.verdict == "fail"
    assert in_clusters.lower == pytest.approx(result.lower, rel=0.01)
