"""What labels of cases in use tell of deployed thresholds, whatever the drift."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidPredictions, InvalidTable

NAMES = {"truth": "truth", "score": "score", "time": "day"}
QUANTITIES = [f"{name}_labelled" for name in ("prior", "precision", "recall", "cost")]


def cases(seed, size, prior, shift=0.0, days=1):
    """Normal scores, those of positives 2 higher, and in use by a shift more."""
    rng = np.random.default_rng(seed)
    truth = rng.random(days * size) < prior
    score = rng.normal(size=truth.size) + (2 + shift) * truth
    day = np.repeat(np.arange(1, days + 1), size)
    return pl.DataFrame({"truth": truth, "score": score, "day": day})


REFERENCE = cases(0, 4_000, 0.2).drop("day")


def told_of(labelled, used, points=1.0, reference=REFERENCE, **asked):
    used = used.drop("truth")
    return pr.monitor(reference, used, labelled=labelled, points=points, **NAMES | asked)


def limits(told, name):
    rows = told.table.filter(quantity=f"{name}_labelled")
    return rows.select("estimate", "lower", "upper").to_numpy().T


def test_with_all_cases_labelled_the_estimates_are_their_shares():
    used = cases(2, 3_000, 0.1, shift=-0.7)
    told = told_of(used, used, cost_fn=5)
    truth, called = used["truth"].to_numpy(), used["score"].to_numpy() >= 1
    expected = {
        "prior": truth.mean(),
        "precision": truth[called].mean(),
        "recall": called[truth].mean(),
        "cost": (5 * (truth & ~called) + (~truth & called)).mean(),
    }
    for name, value in expected.items():
        estimate, lower, upper = limits(told, name)
        assert estimate == pytest.approx(value)
        assert lower < value < upper


@pytest.mark.parametrize("size", [2, 10])
@pytest.mark.parametrize("positive", [True, False])
def test_few_alerts_of_one_kind_may_have_been_of_the_other(size, positive):
    used = pl.concat([cases(3, 500, 0.2).filter(pl.col("score") < 1).head(400),
                      pl.DataFrame({"truth": [positive] * size, "score": [9.0] * size,
                                    "day": [1] * size})])  # fmt: skip
    _, lower, upper = limits(told_of(used, used), "precision")
    exact = stats.binomtest(positive * size, size).proportion_ci(method="exact")
    assert lower <= exact.low
    assert upper >= exact.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "shift", "labels"), [(0.2, 0, 120), (0.05, 0, 120), (0.3, -1, 120), (0.01, 0, 90)]
)
def test_limits_hold_what_is_true_whatever_the_drift(prior, shift, labels):
    runs, size = 80, 3_000
    used = cases(100, size, prior, shift, days=runs)
    drawn = np.random.default_rng(1).permuted(np.tile(np.arange(size) < labels, (runs, 1)), axis=1)
    labelled = used.filter(pl.Series(drawn.ravel()))
    told = told_of(labelled, used, cost_fn=5)
    t, f = stats.norm.sf(1 - 2 - shift), stats.norm.sf(1)
    true = {
        "prior": prior, "precision": prior * t / (prior * t + (1 - prior) * f), "recall": t,
        "cost": 5 * prior * (1 - t) + (1 - prior) * f,
    }  # fmt: skip
    for name, value in true.items():
        _, lower, upper = limits(told, name)
        assert ((lower <= value) & (value <= upper)).sum() >= stats.binom.ppf(0.001, runs, 0.94)
    if prior == 0.2:
        # Narrower than what the labels say without the scores.
        _, lower, upper = limits(told, "prior")
        found = labelled.group_by("day").agg(pl.col("truth").sum())["truth"]
        alone = [stats.binomtest(k, labels).proportion_ci(method="exact") for k in found]
        assert (upper - lower).mean() < np.mean([one.high - one.low for one in alone])


ALARM, EVERY_NINTH = pl.col("score") >= 2.5, pl.int_range(pl.len()) % 9 == 0
FRAUD = cases(50, 5_000, 0.004, shift=1.0, days=2)


@pytest.mark.parametrize(
    ("labelled", "is_random"),
    [
        (pl.lit(True), True),
        (EVERY_NINTH, True),
        (ALARM, False),
        (~ALARM & EVERY_NINTH, False),
        (ALARM | EVERY_NINTH, False),
        # All alarms, and most of the other cases: the cases without a label say it.
        (ALARM | (pl.int_range(pl.len()) % 9 > 0), False),
    ],
    ids=["all", "random", "alarms", "others", "alarms and some", "alarms and most"],
)
def test_alarms_labelled_at_another_rate_than_the_rest_tell_nothing(labelled, is_random):
    told = told_of(FRAUD.filter(labelled), FRAUD, 2.5)
    rows = told.table.filter(pl.col("quantity").str.ends_with("labelled"))
    assert rows.height == 2 * 4
    assert set(rows["quantity"]) == set(QUANTITIES)
    said = [one for one in told.warnings if one.startswith("labelled: ")]
    if is_random:
        assert said == []
        assert rows["lower"].null_count() == 0
        assert set(told.labelled["quantity"]) == set(QUANTITIES)
        row = told.labelled.row(by_predicate=pl.col("quantity") == "prior_labelled", named=True)
        assert row["lower"] < FRAUD["truth"].mean() < row["upper"]
        return
    assert rows.select("estimate", "lower", "upper").null_count().row(0) == (8, 8, 8)
    assert told.labelled.is_empty()
    alarms, others = (
        f"{FRAUD.filter(labelled & of).height:,} of {FRAUD.filter(of).height:,}"
        for of in (ALARM, ~ALARM)
    )
    assert f"{alarms} alarms have labels, and {others} other cases" in said[0]
    assert "Draw cases at random" in said[0]


def test_one_label_a_day_of_alarms_alone_is_noticed_over_the_days():
    used = cases(200, 300, 0.1, days=8)
    # By itself the alarm of one day is no proof: a fifth of all cases are alarms.
    alone = used.filter(pl.col("score") >= 1).group_by("day").first().select(used.columns)
    day = told_of(alone.filter(day=1), used)
    assert not [one for one in day.warnings if one.startswith("labelled: ")]
    (said,) = [one for one in told_of(alone, used).warnings if one.startswith("labelled: ")]
    assert said.startswith("labelled: 8 of ")


def test_random_samples_are_seldom_taken_for_none():
    used = cases(300, 600, 0.1, days=40)
    for seed in range(4):
        drawn = pl.Series(np.random.default_rng(seed).permutation(used.height)) < 4_000
        told = told_of(used.filter(drawn), used)
        # At most one in a thousand.
        assert not any(one.startswith("labelled: ") for one in told.warnings)


def test_labels_of_each_key_are_judged_by_themselves():
    both = pl.concat([FRAUD.with_columns(model=pl.lit(name)) for name in "AB"])
    reference = pl.concat([REFERENCE.with_columns(model=pl.lit(name)) for name in "AB"])
    labelled = both.filter(
        (pl.col("model") == "A") & EVERY_NINTH | (pl.col("model") == "B") & ALARM
    )
    told = told_of(labelled, both, 2.5, reference)
    assert told.labelled["model"].unique().to_list() == ["A"]
    (said,) = [one for one in told.warnings if one.startswith("labelled: ")]
    assert "other cases for model='B'." in said


def test_a_threshold_that_calls_some_of_its_cases_has_their_labels():
    used = FRAUD.with_columns((pl.col("score") * 4).round() / 4)
    points = pl.DataFrame({"threshold": [2.5], "share": [0.5]})
    told = told_of(used.filter(pl.int_range(pl.len()) % 3 == 0), used, points)
    row = told.labelled.row(by_predicate=pl.col("quantity") == "precision_labelled", named=True)
    called = (pl.col("score") > 2.5).cast(pl.Float64) + (pl.col("score") == 2.5) * 0.5
    precision = used.select((called * pl.col("truth")).sum() / called.sum()).item()
    assert row["lower"] < precision < row["upper"]


def test_labels_may_come_late_and_stand_in_the_summary():
    used = cases(5, 500, 0.2, days=3)
    labelled = used.filter(pl.col("day") < 3)
    first = told_of(None, used)
    told = told_of(labelled, used.clear(), state=first.state)
    assert told.history.filter(quantity="prior_labelled")["day"].to_list() == [1, 2]
    row = told.labelled.row(by_predicate=pl.col("quantity") == "prior_labelled", named=True)
    assert row["estimate"] == pytest.approx(labelled["truth"].mean())
    text = told_of(labelled, used).summary()
    assert all(words in text for words in ("Labels", "1 to 2", f"{labelled['truth'].mean():.3f} ("))


@pytest.mark.parametrize(
    ("change", "kind", "match"),
    [
        ({"day": pl.lit(2)}, InvalidPredictions, "labelled: there are no scores of 2"),
        ({"score": pl.lit(None, pl.Float64)}, InvalidPredictions, "labelled: 500 null scores"),
        ({"day": pl.datetime(2026, 3, 1)}, InvalidTable, "'day' is Datetime"),
        ({}, InvalidPredictions, "500 cases of 1, and 100 scores"),
    ],
    ids=["other day", "no scores", "other type", "more cases"],
)
def test_labels_that_do_not_fit_are_refused(change, kind, match):
    used = cases(5, 500, 0.2)
    with pytest.raises(kind, match=match):
        told_of(used.with_columns(**change), used if change else used.head(100))
