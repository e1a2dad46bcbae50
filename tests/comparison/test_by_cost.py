import re

import numpy as np
import polars as pl
import pytest
import scipy.stats
from agreement import assert_same_numbers
from evidences import evidence

import polaroc as pr
from polaroc.comparison.by_cost import of_costs
from polaroc.comparison.posterior import Posterior, half_moved, posterior
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

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


def box(model, at, prior):
    """The cost at the ends of Clopper and Pearson's intervals of both error rates."""
    truth, called = TEST["truth"].to_numpy(), TEST[model].to_numpy() >= at
    ends = []
    for label, worth in ((True, 5 * prior), (False, 2 * (1 - prior))):
        wrong, n = int((called[truth == label] != label).sum()), int((truth == label).sum())
        exact = scipy.stats.binomtest(wrong, n).proportion_ci(0.95)
        ends.append((worth * exact.low, worth * exact.high))
    return tuple(sum(end) for end in zip(*ends, strict=True))


@pytest.mark.parametrize(
    ("over", "prior", "constraints"),
    [
        (OVER, 0.2, None),
        ((0.15, 0.15), 0.15, None),
        (pr.beta(2, 18), 0.1, None),
        (OVER, 0.2, {"recall": 0.85}),
    ],
)
def test_as_by_brute_force(over, prior, constraints):
    choice = choose(over=over, constraints=constraints)
    least = 0 if constraints is None else constraints["recall"]
    means, losses, thresholds = [], [], []
    truth = TEST["truth"].to_numpy()
    for model in "ABC":
        at = cheapest(model, prior, lambda t, f: t >= least)
        t, f = rates(TEST, model, at)
        thresholds.append(at)
        means.append(5 * prior * (1 - t) + 2 * (1 - prior) * f)
        wrong = (TEST[model].to_numpy() >= at) != truth
        losses.append(wrong * np.where(truth, 5 * prior, 2 * (1 - prior)))
    covariance = np.zeros((3, 3))
    for label in (True, False):
        own = np.array(losses)[:, truth == label]
        moved = own - own.mean(axis=1, keepdims=True)
        covariance += moved @ moved.T / (own.shape[1] - 1) / own.shape[1]
    models = choice.models.sort("model")
    assert models["threshold"].to_list() == thresholds
    assert models["mean"].to_list() == pytest.approx(means)
    expected = posterior(evidence(np.array(means), covariance), higher=False)
    moved = half_moved(expected.expected, np.array(means), higher=False)
    assert models["expected"].to_list() == pytest.approx(moved.tolist())
    # Limits are no narrower than the posterior's, nor than exact ones, which lie within the costs
    # at the ends of both exact intervals of the rates, moved by what the mean is corrected by.
    boxes = [box(model, at, prior) for model, at in zip("ABC", thresholds, strict=True)]
    moves = expected.expected - np.array(means)
    for (lo, hi), move, lower, upper, least_known, most_known in zip(
        boxes, moves, models["expected_lower"], models["expected_upper"],
        expected.lower, expected.upper,
        strict=True,
    ):  # fmt: skip
        assert min(lo + min(move, 0), least_known) - 1e-9 <= lower <= max(least_known, 0) + 1e-9
        assert most_known - 1e-9 <= upper <= max(hi + max(move, 0), most_known) + 1e-9
    for name in ("probability_best", "expected_loss"):
        assert models[name].to_list() == pytest.approx(getattr(expected, name).tolist())
    assert choice.models["mean"].to_list() == pytest.approx(sorted(means))
    first = int(np.argmin(means))
    assert (choice.bayes, choice.threshold) == ("ABC"[first], thresholds[first])
    assert choice.promise is None
    (written,) = re.findall(
        rf"^Take {choice.bayes}.*, and act on scores from (\S+)\. Of", choice.answer
    )
    for table in (TEST, TUNING):
        score = table[choice.bayes]
        assert (score >= float(written)).equals(score >= choice.threshold)


@pytest.mark.long
@pytest.mark.slow
def test_regret_is_that_of_the_costs_at_each_prior():
    choice = choose()
    models = choice.models
    for t, f, mean, worst in models.select("tpr", "fpr", "mean_regret", "worst_regret").iter_rows():
        gaps = [
            5 * p * (1 - t) + 2 * (1 - p) * f
            - (5 * p * (1 - models["tpr"]) + 2 * (1 - p) * models["fpr"]).min()
            for p in np.linspace(*OVER, 2001)
        ]  # fmt: skip
        assert worst == pytest.approx(max(gaps))
        assert mean == pytest.approx(np.mean(gaps), abs=1e-3)


def test_one_row_per_model_and_case_is_the_same():
    wide = choose().models
    again = choose(long(TEST), truth="truth", score="score", tuning=long(TUNING),
                   case="id").models  # fmt: skip
    assert again["model"].to_list() == wide["model"].to_list()
    for name in ("mean", *SURE):
        assert again[name].to_list() == pytest.approx(wide[name].to_list())
    unpaired = choose(long(TEST), score="score", tuning=long(TUNING), case=None)
    assert unpaired.is_bound
    assert "case='id'" in " ".join(unpaired.warnings)
    a, b = (one.filter(model="A").row(0, named=True) for one in (unpaired.models, wide))
    assert a["mean"] == pytest.approx(b["mean"], rel=1e-12)
    # The errors of these models are related: without pairs less is known.
    assert unpaired.models["expected_loss"][0] > wide["expected_loss"][0]


@pytest.mark.long
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
    assert choice.promise[:20] in choice.summary()
    assert choice.promise in choice._repr_html_()
    # Not the thresholds that are best without a promise, else nothing would be tested.
    assert found["threshold"].to_list() != choose().models.sort("model")["threshold"].to_list()
    at_one = choose(over=(0.2, 0.2), constraints={"precision": 0.3}, confidence=0.9)
    assert at_one.promise.endswith("as long as 20 % are positive.")


@pytest.mark.long
@pytest.mark.slow
def test_models_without_a_promise_come_last():
    some = choose(constraints={"precision": 0.2, "recall": 0.4}, confidence=0.9)
    assert some.models["model"].to_list()[2] == "C"
    last = some.models.row(2, named=True)
    assert [last[name] for name in ("mean", "threshold", "tpr", *SURE)] == [None] * 8
    assert "No cost of C: no threshold can be promised" in " ".join(some.warnings)
    assert some.models["probability_best"][:2].sum() == pytest.approx(1)
    assert "better of the two" in some.answer
    none = choose(constraints={"precision": 0.99}, confidence=0.9)
    assert (none.bayes, none.minimax, none.threshold, none.promise) == (None,) * 4
    assert none.models["mean"].null_count() == 3
    assert none.answer.startswith("No threshold can be promised: A and B: about ")
    assert "more negatives would do" in none.answer
    assert "C: none keeps the constraints" in none.answer
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
    with pytest.raises(InvalidTable, match="same cases") as error:
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


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tuning": None}, "give tuning="),
        ({"over": None}, "give over=(0.05, 0.20)"),
        ({"truth": None, "score": None}, "holds no measures"),
        ({"test_train_ratio": 0.25}, "test_train_ratio is for folds"),
        ({"cost_fn": 0}, "cost_fn is 0"),
        ({"cost_fp": "x"}, "cost_fp is 'x'"),
        ({"level": 1}, "level is 1"),
        ({"confidence": 0.9}, "no constraint that could be promised"),
        ({"constraints": {"precison": 0.9}}, "precision"),
        ({"score": ["A"]}, "a choice needs two"),
        ({"over": pr.beta(2, 18), "constraints": {"precision": 0.5}}, "without ends"),
    ],
)
def test_bad_arguments_are_refused(changed, said):
    with pytest.raises((InvalidArgument, InvalidTable)) as error:
        choose(**changed)
    assert said in str(error.value)
    assert "Hint:" in str(error.value)


@pytest.mark.parametrize(
    "given",
    [{"tuning": TUNING}, {"cost_fn": 5}, {"confidence": 0.9}, {"constraints": {"recall": 0.5}}],
)
def test_other_measures_have_no_costs(given):
    with pytest.raises(InvalidArgument, match="for measure='expected_cost'"):
        pr.choose(TEST, "auprec", **COLUMNS, over=OVER, **given)


def test_a_cost_implies_the_measure():
    found = pr.choose(TEST, **COLUMNS, over=OVER, tuning=TUNING, **COSTS)
    assert_same_numbers(found.models, choose().models)
    assert pr.choose(TEST, **COLUMNS, over=OVER).measure == "auprec"


def test_folds_and_cases_that_a_model_lacks_are_refused():
    folds = long(TEST).with_columns(fold=pl.col("id") % 2)
    with pytest.raises(InvalidArgument, match="belongs to one fitted model"):
        choose(folds, score="score", tuning=long(TUNING))
    one = folds.with_columns(fold=1)
    assert choose(one, score="score", tuning=long(TUNING)).bayes == choose().bayes
    with pytest.raises(InvalidPredictions):
        choose(long(TEST).head(-1), score="score", tuning=long(TUNING), case="id")


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


def test_exact_limits_of_costs_are_widened_by_what_picking_corrects():
    # Costs of 0.4 and 0.5: corrected, the first is expected to be more and the second less.
    known = Posterior(*np.array([[0.45, 0.48], [0.4, 0.44], [0.5, 0.52], [0.7, 0.3], [0, 0]]))
    costs = of_costs(known, np.array([0.4, 0.5]), np.array([0.3, 0.45]), np.array([0.49, 0.6]))
    assert costs.expected == pytest.approx([0.45, 0.48])
    assert costs.lower == pytest.approx([0.3, 0.43])
    assert costs.upper == pytest.approx([0.54, 0.6])


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
            choose(long(TEST), score="score", tuning=same)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_clusters_may_be_said_by_keyword_or_in_cases(confidence):
    wards = [table.with_columns(ward=pl.col("id") // 2) for table in (TEST, TUNING)]
    asked = {"confidence": confidence, "constraints": {"recall": 0.5}}
    by_keyword = choose(wards[0], tuning=wards[1], cluster="ward", **asked)
    test, tuning = (pr.cases(table, **COLUMNS, cluster="ward") for table in wards)
    in_cases = pr.choose(
        test, measure="expected_cost", over=OVER, tuning=tuning, **COSTS, **asked
    )  # fmt: skip
    assert_same_numbers(in_cases.models, by_keyword.models)
    assert in_cases.warnings == by_keyword.warnings
    # A least cost without a promise needs no clusters of tuning cases.
    if confidence is None:
        without = choose(wards[0], tuning=TUNING, cluster="ward", **asked)
        assert_same_numbers(without.models, by_keyword.models)


def test_measures_have_no_thresholds():
    measures = pr.evaluate(TEST, **COLUMNS, priors=0.1)
    with pytest.raises(InvalidArgument, match=r"is taken of predictions(.|\n)*give truth="):
        pr.choose(measures, measure="expected_cost", over=OVER, tuning=TUNING)


def test_a_model_without_cases_to_tune_on_is_named():
    tuning = long(TUNING).filter(pl.col("model") != "B")
    with pytest.raises(InvalidPredictions, match=r"(?s)tuning has no cases of 'B'.*Hint: give"):
        choose(long(TEST), score="score", tuning=tuning)


COST_SENTENCE = re.compile(
    r"Of ([\d,]+) cases, .* it misses on average (\S+) of (\S+) positives and raises (\S+) false "
    r"alarms?, which costs as much as about (\S+) false alarms, (\S+) fewer than with (\w+)\."
)


@pytest.mark.parametrize("costs", [(1, 1), (5, 2), (10, 1), (1, 10), (30, 1), (250, 3)])
@pytest.mark.parametrize("over", [OVER, (0.05, 0.2), (0.001, 0.002)])
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


def test_the_probability_of_the_answer_goes_with_what_is_lost():
    choice = choose()
    chance, loss = choice.models.select("probability_best", "expected_loss").row(0)
    lost = re.search(r"by about ([\d.]+) false alarms per 1,000 cases|the loss is about ([\d.]+)",
                     choice.answer)  # fmt: skip
    assert float(lost[1] or lost[2]) == pytest.approx(500 * loss / (1 - chance), rel=0.05)
