import polars as pl
import pytest
from agreement import assert_same_numbers
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import FINITE_SCORES, tables

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
TWENTY = pr.datasets.twenty_scores()


def curve(table: pl.DataFrame, by=(), **roles) -> pl.DataFrame:
    weight = "weight" if "weight" in table.columns else None
    return pr.curve(table, **NAMES, by=by, weight=weight, **roles)


def corners(table: pl.DataFrame) -> list[tuple[float | None, float, float]]:
    """Threshold, recall and false positive rate of every way to call, by counting."""
    weight = (
        table["weight"] if "weight" in table.columns else pl.repeat(1.0, len(table), eager=True)
    )
    rows = list(zip(table["truth"], table["score"] + 0.0, weight, strict=True))
    rows = [row for row in rows if row[2] > 0]
    totals = [sum(w for y, _, w in rows if y is truth) for truth in (True, False)]
    found: list[tuple[float | None, float, float]] = [(None, 0.0, 0.0)]
    for limit in sorted({s for _, s, _ in rows}, reverse=True):
        called = [
            sum(w for y, s, w in rows if y is truth and s >= limit) for truth in (True, False)
        ]
        found.append((limit, called[0] / totals[0], called[1] / totals[1]))
    return found


# For each rule a target, whether a point may be taken, and its worth, of which the greatest is
# taken; of points that are worth the same, the one with the higher threshold.
RULES = {
    "balanced": (None, None, lambda t, f, p: -abs(p * (1 - t) - (1 - p) * f)),
    "cost": (None, None, lambda t, f, p: -(3 * p * (1 - t) + (1 - p) * f)),
    "informedness": (None, None, lambda t, f, p: t - f),
    "f_measure": (None, None, lambda t, f, p: 2 * t * p / (p + t * p + f * (1 - p))),
    "recall": (0.6, lambda t, f, p: t >= 0.6, lambda t, f, p: -f),
    "precision": (0.4, lambda t, f, p: t * p >= 0.4 * (t * p + f * (1 - p)), lambda t, f, p: t),
    "fpr": (0.3, lambda t, f, p: f <= 0.3, lambda t, f, p: t),
    "capacity": (0.3, lambda t, f, p: t * p + f * (1 - p) <= 0.3, lambda t, f, p: t),
}


@pytest.mark.parametrize("rule", RULES)
@given(table=tables(), prior=st.sampled_from([0.03, 0.21, 0.53, 0.9]))
@example(
    # Two thresholds are as near to the balanced point, but for rounding.
    table=pl.DataFrame(
        {
            "truth": [True, False, False, True, True],
            "score": [-1.0, float("-inf"), -1.0, float("-inf"), -1.0],
            "weight": [1.0, 1.0, 1.0, 0.7, 2.5],
        }
    ),
    prior=0.9,
)
def test_each_rule_takes_the_best_of_all_thresholds(rule, table, prior):
    target, may, worth = RULES[rule]
    asked = {} if target is None else {"target": target}
    asked |= {"cost_fn": 3} if rule == "cost" else {}
    found = pr.operating_points(curve(table), rule, priors=prior, **asked).row(0, named=True)
    allowed = [c for c in corners(table) if may is None or may(*c[1:], prior)]
    best = max(worth(*corner[1:], prior) for corner in allowed)
    threshold, t, f = next(c for c in allowed if worth(*c[1:], prior) >= best - 1e-12)
    if found["tpr"] is None:
        # What would be allowed calls nothing positive.
        assert threshold is None
    else:
        assert found["threshold"] == threshold
        assert (found["tpr"], found["fpr"]) == pytest.approx((t, f), abs=1e-12)


@given(table=tables(scores=FINITE_SCORES), target=st.sampled_from([-3.0, 0.0, 0.2, 7.0, 9.0]))
def test_the_rule_threshold_calls_what_scores_at_least_as_much(table, target):
    found = pr.operating_points(curve(table), "threshold", target=target, priors=0.5)
    may = [c for c in corners(table) if c[0] is None or c[0] >= target]
    assert found.select("tpr", "fpr").row(0) == pytest.approx(may[-1][1:], abs=1e-12)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({}, "balanced"),
        ({"cost_fn": 5}, "cost"),
        ({"cost_fp": 5, "constraints": {"fpr": 0.3}}, "cost"),
        ({"constraints": {"fpr": 0.3}}, "max_recall"),
        ({"constraints": {"fpr": 0.3, "recall": 0.2}}, "max_recall"),
        ({"constraints": {"recall": 0.4}}, "fewest_alarms"),
        ({"constraints": {"fnr": 0.4, "recall": 0.2}}, "fewest_alarms"),
    ],
)
def test_what_is_given_tells_the_rule(options, rule):
    curves = curve(TWENTY)
    assert_same_numbers(
        pr.operating_points(curves, **options), pr.operating_points(curves, rule, **options)
    )


@given(table=tables(), prior=st.sampled_from([0.03, 0.53]), limit=st.sampled_from([0.3, 0.6]))
def test_the_fewest_alarms_are_those_of_the_highest_threshold_that_is_allowed(table, prior, limit):
    asked = {"constraints": {"recall": limit, "accuracy": limit}, "priors": prior}
    found = pr.operating_points(curve(table), "fewest_alarms", **asked)["threshold"].item()
    allowed = [
        threshold
        for threshold, t, f in corners(table)
        if t >= limit and t * prior + (1 - f) * (1 - prior) >= limit - 1e-12
    ]
    assert found == (allowed[0] if allowed else None)


@pytest.mark.parametrize("form", ["curve", "table", "lazy", "cases"])
@pytest.mark.parametrize(
    ("right_at", "prior", "costs"),
    [("observed", 0.3, (1, 2)), (0.5, 0.05, (10, 1)), (0.2, "observed", (1, 1))],
)
def test_posterior_reads_scores_as_right_at_their_prior(form, right_at, prior, costs):
    # 5 % positives, of whose scores each percent has some.
    table = pl.DataFrame({"truth": [i % 20 == 0 for i in range(2000)]})
    table = table.with_columns(score=pl.int_range(pl.len()) % 101 / 100)
    given, own = {"priors": prior, "cost_fn": costs[0], "cost_fp": costs[1]}, 0.05
    other = {} if right_at == "observed" else {"score_prior": right_at}
    if form == "curve":
        point = pr.operating_points(curve(table), "posterior", **given, **other)
    elif form == "cases":
        point = pr.operating_points(pr.cases(table, **NAMES), "posterior", **given, **other)
    else:
        frame = table.lazy() if form == "lazy" else table
        point = pr.operating_points(frame, "posterior", **NAMES, **given, **other).lazy().collect()
    at, to = (own if one == "observed" else one for one in (right_at, prior))

    def expected_gain(score):
        # Of calling a case positive, whose probability at the prior in use follows by Bayes.
        positive, negative = score * to / at, (1 - score) * (1 - to) / (1 - at)
        return costs[0] * positive - costs[1] * negative

    called = [score for score in table["score"].unique() if expected_gain(score) >= -1e-12]
    assert point["threshold"].item() == min(called)


def test_posterior_needs_probabilities():
    table = TWENTY.with_columns(pl.col("score") * 10)
    point = pr.operating_points(curve(table), "posterior", priors=0.5)
    assert point.select("threshold", "note").row(0) == (None, "scores are not probabilities")


@pytest.mark.parametrize(("truth", "note"), [([1, 1], "no negatives"), ([0, 0], "no positives")])
def test_a_class_that_is_absent_is_said(truth, note):
    table = pl.DataFrame({"truth": truth, "score": [1.0, 2.0]})
    point = pr.operating_points(curve(table), "cost", priors=0.5)
    assert point.select("threshold", "tpr", "note").row(0) == (None, None, note)


@pytest.mark.parametrize(("tp", "fp", "target"), [(3, 1, 0.75), (12, 3, 0.8)])
@pytest.mark.parametrize("others", [1, 15, 36])
def test_a_precision_that_rounds_below_its_target_reaches_it(tp, fp, target, others):
    # The prior observed, and so the skew, has other digits each time.
    rows = [(1, 0.9)] * tp + [(0, 0.9)] * fp + [(1, 0.1)] * others + [(0, 0.1)] * (others + 3)
    table = pl.DataFrame(rows, schema=["truth", "score"], orient="row")
    curve = pr.curve(table, truth="truth", score="score")
    assert pr.operating_points(curve, "precision", target=target)["threshold"].item() == 0.9


@pytest.mark.parametrize(
    ("costs", "threshold"), [({}, 3.0), ({"cost_fp": 2}, 4.0), ({"cost_fn": 2}, 2.0)]
)
def test_errors_cost_the_same_where_nothing_is_said(costs, threshold):
    # Positives and negatives at the scores 4, 3, 2, 1: FNr + FPr is 0.6, 0.5, 0.6, 1.
    counts = {4.0: (4, 0), 3.0: (4, 3), 2.0: (2, 3), 1.0: (0, 4)}
    rows = [
        (truth, score)
        for score, (pos, neg) in counts.items()
        for truth in [True] * pos + [False] * neg
    ]
    curve = pr.curve(
        pl.DataFrame(rows, schema=["truth", "score"], orient="row"), truth="truth", score="score"
    )
    found = pr.operating_points(curve, "cost", priors=0.5, **costs)
    assert found["threshold"].to_list() == [threshold]


def test_a_key_that_is_null_comes_last():
    table = pl.DataFrame(
        {"k": [None, None, "b", "b"], "truth": [1, 0, 1, 0], "score": [2.0, 1.0, 2.0, 1.0]}
    )
    found = pr.operating_points(curve(table, by="k"), priors=[0.2, 0.1])
    assert found.select("k", "prior").rows() == [("b", 0.1), ("b", 0.2), (None, 0.1), (None, 0.2)]


@pytest.mark.parametrize(("rule", "prior"), [("informedness", 0.02), ("youden", 0.5)])
def test_youden_is_the_point_of_roc_curves_highest_above_chance(rule, prior):
    from sklearn.metrics import roc_curve

    table = pr.datasets.satellite_predictions().filter(model="B", fold=1)
    fpr, tpr, thresholds = roc_curve(table["truth"], table["score"], drop_intermediate=False)
    best = (tpr - fpr).argmax()
    point = pr.operating_points(curve(table), rule, priors=prior)
    assert point["rule"].item() == rule
    assert point.select("threshold", "tpr", "fpr").row(0) == pytest.approx(
        (thresholds[best], tpr[best], fpr[best])
    )
