import json
import re

import chances
import numpy as np
import polars as pl
import pytest
import scipy.stats
from agreement import assert_same_numbers

import polaroc as pr
from polaroc.errors import InvalidTable

OVER, COSTS = (0.1, 0.3), {"cost_fn": 5, "cost_fp": 2}
SURE = ["expected", "expected_lower", "expected_upper", "probability_best", "expected_loss"]
COLUMNS = {"truth": "truth", "score": ["A", "B", "C"]}


def cases(seed, positives=60, negatives=240) -> pl.DataFrame:
    """Scores of three models, with ties, whose errors are related."""
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    shared = rng.normal(size=truth.size)
    scores = {
        name: (2 * (shared + rng.normal(size=truth.size) + gap * truth)).round()
        for name, gap in (("A", 2.5), ("B", 2.2), ("C", 1.2))
    }
    return pl.DataFrame({"id": np.arange(truth.size) + 1000 * seed, "truth": truth, **scores})


TUNING, TEST = cases(1), cases(2, 80, 200)


def long(table):
    return table.unpivot(
        ["A", "B", "C"], index=["id", "truth"], variable_name="model", value_name="score"
    )


def choose(table=TEST, **changed):
    arguments = {**COLUMNS, "over": OVER, "tuning": TUNING, **COSTS, **changed}
    return pr.choose(table, measure="expected_cost", **arguments)


def rates(table, model, at):
    called, truth = table[model].to_numpy() >= at, table["truth"].to_numpy()
    return called[truth].mean(), called[~truth].mean()


def cheapest(model, prior, kept=lambda t, f: True):
    """The threshold of least cost on the tuning table, the highest among equals."""
    best = None
    for at in sorted(TUNING[model].unique(), reverse=True):
        t, f = rates(TUNING, model, at)
        cost = 5 * prior * (1 - t) + 2 * (1 - prior) * f
        if kept(t, f) and (best is None or cost < best[0] - 1e-12):
            best = cost, at
    return best[1]


def test_a_cost_of_one_is_a_cost(tmp_path):
    folds = pl.concat(long(cases(seed)).with_columns(fold=seed) for seed in (3, 4, 5))
    asked = {"truth": "truth", "score": "score", "over": OVER, "test_train_ratio": 0.5}
    by_cost = pr.choose(folds, measure="expected_cost", **asked)
    assert_same_numbers(pr.choose(folds, cost_fn=1, **asked).models, by_cost.models)
    page = pr.report(folds, cost_fn=1, path=tmp_path / "page.json", **asked)
    assert json.loads(page.read_text())["models"] == by_cost.models["model"].to_list()
    limited = {**COLUMNS, "over": OVER, "tuning": TUNING, "constraints": {"precision": 0.4}}
    assert pr.choose(TEST, cost_fp=1, **limited).measure == "expected_cost"
    points = pr.operating_points(TUNING, truth="truth", score="A", cost_fn=1)
    assert points["rule"].item() == "cost"


def box(model, at, prior):
    """The cost at the ends of Clopper and Pearson's intervals of both error rates."""
    truth, called = TEST["truth"].to_numpy(), TEST[model].to_numpy() >= at
    ends = []
    for label, worth in ((True, 5 * prior), (False, 2 * (1 - prior))):
        wrong, n = int((called[truth == label] != label).sum()), int((truth == label).sum())
        exact = scipy.stats.binomtest(wrong, n).proportion_ci(0.95)
        ends.append((worth * exact.low, worth * exact.high))
    return tuple(sum(end) for end in zip(*ends, strict=True))


@pytest.mark.parametrize("confidence", [None, 0.8])
@pytest.mark.parametrize("over", [OVER, (0.2, 0.2), pr.uniform(0.1, 0.3)])
@pytest.mark.parametrize(
    ("constraints", "measure"),
    [
        ({"recall": 0.7}, "false_alarms"),
        ({"fnr": 0.4}, "false_alarms"),
        ({"precision": 0.4}, "missed_positives"),
        ({"recall": 0.3, "fpr": 0.3}, "missed_positives"),
    ],
)
def test_constraints_without_costs_leave_the_errors_to_minimise(
    constraints, measure, over, confidence
):
    choice = pr.choose(
        TEST, tuning=TUNING, over=over, constraints=constraints, confidence=confidence, **COLUMNS
    )
    at = {"priors": 0.2} if over == (0.2, 0.2) else {"over": over}
    points = pr.operating_points(
        TUNING, **at, constraints=constraints, confidence=confidence, **COLUMNS
    )
    judged = pr.apply_thresholds(TEST, points, priors=0.2, intervals=True, **COLUMNS)
    name = {"false_alarms": "fpr", "missed_positives": "tpr"}[measure]
    of_case = {"fpr": pl.col("fpr") * 0.8, "tpr": (1 - pl.col("tpr")) * 0.2}[name]
    # Nothing may be promised for the third model.
    ranked = judged.with_columns(error=of_case).drop_nulls("error").sort("error")
    models = choice.models.drop_nulls("mean")
    assert ranked.height > 1
    assert choice.measure == measure
    assert models["model"].to_list() == ranked["model"].to_list()
    assert models["threshold"].to_list() == ranked["threshold"].to_list()
    assert models["mean"].to_list() == pytest.approx(ranked["error"].to_list())
    # Limits are exact, as those of the rate.
    lower, upper = ranked.select(f"{name}_lower", f"{name}_upper").to_numpy().T
    limits = (0.8 * lower, 0.8 * upper) if name == "fpr" else (0.2 - 0.2 * upper, 0.2 - 0.2 * lower)
    for end, limit in zip(("cost_lower", "cost_upper"), limits, strict=True):
        assert models[end].to_list() == pytest.approx(limit.tolist(), rel=5e-3)
    lead = 1000 * ranked["error"].diff()[1]
    unit = measure.replace("_", " ")
    assert f"{lead:.2g} fewer than with" in choice.answer
    assert f"{unit} per 1,000 cases" in choice.answer or "more than 99 %" in choice.answer


@pytest.mark.parametrize("names", ["AB", "BA"])
def test_of_models_that_miss_equally_many_the_one_with_fewer_false_alarms_is_first(names):
    scores = pl.DataFrame({"few": TEST["A"], "many": TEST["A"], "truth": TEST["truth"]})
    # A third of the negatives of one model score above all others.
    raised = ~pl.col("truth") & (pl.int_range(pl.len()) % 3 == 0)
    scores = scores.with_columns(pl.when(raised).then(99.0).otherwise("many").alias("many"))
    few, many = names
    test = scores.select("truth", pl.col("few").alias(few), pl.col("many").alias(many))
    # Thresholds of these call the same test cases as their own would.
    tuning = test.with_columns(pl.col("A", "B") - 0.001)
    choice = pr.choose(
        test, tuning=tuning, truth="truth", score=["A", "B"], over=OVER, constraints={"fpr": 0.95}
    )
    assert choice.models["mean"].n_unique() == 1
    assert choice.models["fpr"].is_sorted()
    assert choice.bayes == few
    assert "They are equal in the number of missed positives." in choice.answer


def test_limits_of_a_cost_hold_over_the_interval_of_an_estimated_prior():
    estimate = pl.DataFrame({"prior": [0.2], "lower": [0.1], "upper": [0.3]})
    points = pr.operating_points(TUNING, "cost", over=estimate, **COSTS, **COLUMNS)
    ends = [
        pr.apply_thresholds(TEST, points, intervals=True, priors=prior, **COSTS, **COLUMNS)
        for prior in (0.1, 0.3)
    ]
    found = choose(over=estimate).models.sort("model")
    assert (found["threshold"] == ends[0].sort("model")["threshold"]).all()
    for end in ends:
        assert (found["cost_lower"] <= end.sort("model")["cost_lower"] + 1e-12).all()
        assert (found["cost_upper"] >= end.sort("model")["cost_upper"] - 1e-12).all()


@pytest.mark.parametrize(
    ("over", "prior", "constraints"),
    [
        (OVER, 0.2, None),
        ((0.15, 0.15), 0.15, None),
        (pr.beta(2, 18), 0.1, None),
        (OVER, 0.2, {"recall": 0.85}),
    ],
)
def test_thresholds_costs_and_the_choice_are_those_of_brute_force(over, prior, constraints):
    choice = choose(over=over, constraints=constraints)
    least = 0 if constraints is None else constraints["recall"]
    means, thresholds = [], []
    for model in "ABC":
        at = cheapest(model, prior, lambda t, f: t >= least)
        t, f = rates(TEST, model, at)
        thresholds.append(at)
        means.append(5 * prior * (1 - t) + 2 * (1 - prior) * f)
    models = choice.models.sort("model")
    assert models["threshold"].to_list() == thresholds
    assert models["mean"].to_list() == pytest.approx(means)
    assert choice.models["mean"].to_list() == pytest.approx(sorted(means))
    first = int(np.argmin(means))
    assert (choice.bayes, choice.threshold) == ("ABC"[first], thresholds[first])
    assert choice.promise is None
    chance, loss = choice.models.select("probability_best", "expected_loss").row(0)
    if chance < 0.99:
        # In false alarms, which cost 2 each.
        assert f"by about {loss / (1 - chance) * 1000 / 2:.2g} false alarms per" in choice.answer
    (written,) = re.findall(
        rf"^Take {choice.bayes}.*, and act on scores from (\S+)\. Of", choice.answer
    )
    for table in (TEST, TUNING):
        score = table[choice.bayes]
        assert (score >= float(written)).equals(score >= choice.threshold)


def test_the_chances_of_two_models_follow_from_the_paired_costs_of_the_cases():
    prior = 0.2
    models = choose(score=["A", "B"]).models.sort("model")
    truth = TEST["truth"].to_numpy()
    losses = [
        ((TEST[model].to_numpy() >= at) != truth) * np.where(truth, 5 * prior, 2 * (1 - prior))
        for model, at in models.select("model", "threshold").rows()
    ]
    variance, lead = 0.0, 0.0
    for label in (True, False):
        apart = (losses[1] - losses[0])[truth == label]
        variance, lead = variance + apart.var(ddof=1) / apart.size, lead + apart.mean()
    error = variance**0.5
    known = chances.of_two(abs(lead) / error)
    places = slice(None) if lead > 0 else slice(None, None, -1)
    probability = np.array([known.probability_best, 1 - known.probability_best])
    assert models["probability_best"].to_numpy() == pytest.approx(probability[places], abs=0.02)
    assert models["expected_loss"].to_numpy() / error == pytest.approx(known.loss[places], abs=0.05)
    # Limits are no narrower than what each rate by itself leaves open, moved by the correction.
    for model, at, mean, expected, lower, upper in models.select(
        "model", "threshold", "mean", "expected", "expected_lower", "expected_upper"
    ).rows():
        low, high = box(model, at, prior)
        own = losses["AB".index(model)]
        spread = sum(own[truth == y].var(ddof=1) / (truth == y).sum() for y in (True, False)) ** 0.5
        assert lower <= min(mean, expected) - spread
        assert upper >= max(mean, expected) + spread
        assert lower >= low - 2 * abs(expected - mean) - spread
        assert upper <= high + 2 * abs(expected - mean) + spread


@pytest.mark.slow
def test_regret_is_that_of_the_costs_at_each_prior():
    choice = choose()
    models = choice.models
    for t, f, worst in models.select("tpr", "fpr", "worst_regret").iter_rows():
        gaps = [
            5 * p * (1 - t) + 2 * (1 - p) * f
            - (5 * p * (1 - models["tpr"]) + 2 * (1 - p) * models["fpr"]).min()
            for p in np.linspace(*OVER, 2001)
        ]  # fmt: skip
        assert worst == pytest.approx(max(gaps))


def test_without_cases_nothing_says_how_sure_a_choice_is():
    wide = choose().models
    unpaired = choose(long(TEST), score="score", tuning=long(TUNING), case=None)
    assert "give predictions with case='id'" in " ".join(unpaired.warnings)
    a, b = (one.filter(model="A").row(0, named=True) for one in (unpaired.models, wide))
    assert a["mean"] == pytest.approx(b["mean"], rel=1e-12)
    assert unpaired.models["expected_loss"].null_count() == unpaired.models.height


@pytest.mark.slow
def test_the_promise_holds_for_whichever_model_is_picked():
    constraints = {"precision": 0.2, "recall": 0.4}
    choice = choose(constraints=constraints, confidence=0.9)
    curves = pr.curve(TUNING, **COLUMNS)
    each = pr.operating_points(
        curves, "cost", over=OVER, constraints=constraints, confidence=1 - 0.1 / 3, **COSTS
    )
    found = choice.models.sort("model")
    assert found["threshold"].to_list() == each["threshold"].to_list()
    assert choice.promise == (
        "With 90 % confidence at least 2 of 10 alarms are right and at least 4 of 10 positives are "
        "found, as long as 10 to 30 % are positive."
    )
    assert choice.promise in " ".join(choice.summary().split())
    assert choice.promise in choice._repr_html_()
    # Not the thresholds that are best without a promise, else nothing would be tested.
    assert found["threshold"].to_list() != choose().models.sort("model")["threshold"].to_list()
    at_one = choose(over=(0.2, 0.2), constraints={"precision": 0.3}, confidence=0.9)
    assert at_one.promise.endswith("as long as 20 % are positive.")


@pytest.mark.slow
def test_models_without_a_promise_come_last():
    some = choose(constraints={"precision": 0.2, "recall": 0.4}, confidence=0.9)
    assert some.models["model"].to_list()[2] == "C"
    last = some.models.row(2, named=True)
    assert [last[name] for name in ("mean", "threshold", "tpr", *SURE)] == [None] * 8
    assert "No cost of C: no threshold can be promised" in " ".join(some.warnings)
    assert some.models["probability_best"][:2].sum() == pytest.approx(1)
    assert "better of the two" in some.answer
    assert "This leaves out C: no threshold can be promised" in some.answer
    assert some.answer.endswith(some.promise)
    none = choose(constraints={"precision": 0.99}, confidence=0.9)
    assert (none.bayes, none.minimax, none.threshold, none.promise) == (None,) * 4
    assert none.models["mean"].null_count() == 3
    assert none.answer.startswith(
        "No model has a threshold. A and B: no threshold can be promised: "
    )
    assert "too few keep the constraints on this table, or by too little" in none.answer
    assert "none keeps the constraints" in none.answer
    assert len([one for one in none.warnings if one.startswith("No cost of ")]) == 2


def test_nothing_is_called_positive_where_that_is_cheapest():
    outlier = TUNING.with_columns(pl.when(pl.col("id") == 1200).then(99.0).otherwise(pl.col(name))
                                  .alias(name) for name in "ABC")  # fmt: skip
    choice = choose(tuning=outlier, cost_fn=1, cost_fp=1000)
    assert choice.threshold is None
    assert "raise no alarm" in choice.answer
    assert "as much as" in choice.answer
    assert choice.models["mean"].to_list() == pytest.approx([0.2] * 3)
    assert "treat all cases of a class alike" in " ".join(choice.warnings)


def test_the_cases_are_others_than_those_of_the_thresholds():
    with pytest.raises(InvalidTable, match="all cases of tuning") as error:
        choose(tuning=TEST.sample(fraction=1.0, shuffle=True, seed=1))
    assert "Hint:" in str(error.value)
    part = choose(tuning=pl.concat([TUNING, TEST.head(7)]), case="id")
    assert "7 of the 280 values of 'id' are in tuning, too" in " ".join(part.warnings)
    assert "are in tuning" not in " ".join(choose(case="id").warnings)


def test_clusters_are_others_than_those_of_the_thresholds():
    wards = [
        table.with_columns(ward=pl.col("id") % 40 + at) for table, at in ((TEST, 0), (TUNING, 30))
    ]
    shared = " ".join(choose(wards[0], tuning=wards[1], cluster="ward").warnings)
    assert "10 of the 40 values of 'ward' are in tuning, too" in shared
    others = wards[1].with_columns(pl.col("ward") + 40)
    assert "are in tuning" not in " ".join(choose(wards[0], tuning=others, cluster="ward").warnings)


@pytest.mark.parametrize("with_case", [False, True])
@pytest.mark.parametrize("is_long", [False, True])
def test_tuning_cases_among_the_others_are_refused(with_case, is_long):
    # Without a column of cases only scores that differ tell cases apart.
    rng = np.random.default_rng(4)
    noise = rng.normal(size=TEST.height) * (not with_case)
    test = TEST.with_columns(pl.col("A", "B", "C") + noise)
    within = test.filter(pl.col("id") % 3 == 0)
    shape = long if is_long else lambda table: table
    named = {"case": "id" if with_case else None}
    named |= {"score": "score"} if is_long else {}
    for table, tuning, said in (
        (test, within, "all cases of tuning are among the predictions"),
        (within, test, "all cases of the predictions are among tuning"),
    ):
        with pytest.raises(InvalidTable, match=said):
            choose(shape(table), tuning=shape(tuning), **named)


def test_few_scores_do_not_tell_cases_apart():
    few = TEST.filter(pl.col("id") % 3 == 0)
    assert choose(few, tuning=TUNING).bayes
    other = few.with_columns(pl.col("id") + 10_000)
    assert choose(TEST, tuning=other, case="id").bayes


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["A", "B", "C", "D"])])
def test_names_of_models_may_have_another_text_type_in_tuning(kind):
    expected = choose(long(TEST), score="score", tuning=long(TUNING)).models
    typed = pl.col("model").cast(kind)
    found = choose(long(TEST), score="score", tuning=long(TUNING).with_columns(typed)).models
    assert_same_numbers(found, expected)
    found = choose(long(TEST).with_columns(typed), score="score", tuning=long(TUNING)).models
    assert_same_numbers(found.with_columns(pl.col("model").cast(pl.String)), expected)


def test_tuning_has_roles_of_its_own_or_the_same():
    expected = choose(long(TEST), score="score", tuning=long(TUNING)).models
    other = long(TUNING).select(label="truth", p="score", which="model", key="id")
    own = pr.cases(other, truth="label", score="p", model="which", case="key")
    assert_same_numbers(choose(long(TEST), score="score", tuning=own).models, expected)
    # The same cases are seen whatever the columns are named.
    among = long(TEST).filter(pl.col("id") % 3 == 0)
    among = among.select(label="truth", p="score", which="model", key="id")
    for table in (among, among.head(30)):
        same = pr.cases(table, truth="label", score="p", model="which", case="key")
        with pytest.raises(InvalidTable, match="all cases of tuning are among the predictions"):
            choose(long(TEST), score="score", case="id", tuning=same)


COST_SENTENCE = re.compile(
    r"Of ([\d,]+) cases, .* it misses on average (\S+) of (\S+) positives and raises (\S+) false "
    r"alarms?, which costs as much as about (\S+) false alarms, (\S+) fewer than with (\w+)\."
)


@pytest.mark.parametrize("costs", [(1, 1), (5, 2), (250, 3)])
@pytest.mark.parametrize("over", [OVER, (0.001, 0.002)])
def test_the_numbers_of_the_answer_add_up_and_are_all_as_measured(over, costs):
    fn, fp = costs
    choice = choose(over=over, cost_fn=fn, cost_fp=fp)
    *shown, other = COST_SENTENCE.search(choice.answer).groups()
    n, missed, positives, alarms, total, fewer = (float(one.replace(",", "")) for one in shown)
    # Half a unit of the last of three digits.
    assert missed * fn / fp + alarms == pytest.approx(total, rel=5e-3, abs=0.5 * (total >= 100))
    prior = sum(over) / 2
    tpr, fpr, mean = choice.models.select("tpr", "fpr", "mean").row(0)
    exact = n * prior * (1 - tpr), n * prior, n * (1 - prior) * fpr, n * mean / fp
    assert [missed, positives, alarms, total] == pytest.approx(exact, rel=0.01, abs=0.51)
    (lost,) = choice.models.filter(model=other)["mean"]
    assert fewer == pytest.approx(n * (lost - mean) / fp, rel=0.06)


def test_a_correction_that_changes_no_digit_is_not_shown():
    # One case in ten is wrong; the other model says nothing, and is far behind.
    rows = pl.DataFrame({"case": range(400), "truth": [True, False] * 200})
    right = pl.col("truth") != (pl.col("case") % 20 < 2)
    test, tuning = (
        pl.concat(
            rows.with_columns(pl.col("case") + first, score=score, model=pl.lit(name))
            for name, score in (("good", right.cast(pl.Float64)), ("constant", pl.lit(0.5)))
        )
        for first in (0, 1_000)
    )
    tuning = tuning.with_columns(pl.col("score") * 0.9)
    choice = pr.choose(test, over=(0.05, 0.2), cost_fn=5, tuning=tuning)
    assert choice.models["model"][0] == "good"
    assert not any("Corrected" in warning for warning in choice.warnings)
