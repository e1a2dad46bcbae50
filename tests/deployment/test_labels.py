import numpy as np
import polars as pl
import pytest
from scipy import stats

import polaroc as pr
from polaroc.deployment.alarms import Terms
from polaroc.deployment.labelled import Bins, Labels, labelled_estimates
from polaroc.deployment.limits import Reference, Threshold
from polaroc.deployment.monitor_result import in_words, labelled_rows, last_rows
from polaroc.errors import InvalidPredictions, InvalidTable

NAMES = {"truth": "truth", "score": "score", "points": 1.0}
TIME = {"time": "day"}
TERMS = Terms(None, 5.0, 1.0)


def cases(seed, size, prior, shift=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < prior
    score = rng.normal(size=size) + 2 * truth + shift * truth
    return pl.DataFrame({"truth": truth, "score": score})


REFERENCE = cases(0, 4_000, 0.2)


def known():
    scores = [REFERENCE.filter(truth=kind)["score"].to_numpy() for kind in (True, False)]
    return Reference.from_scores(*scores, Threshold(1.0, 1.0), 0.05)


def bins_of(reference, score, prior):
    above = reference.counts(score, np.zeros(score.size, dtype=int), 1)[0]
    return Bins.at_prior(reference, above, score.size, prior)


def test_bins_hold_all_cases_and_expect_their_posterior():
    reference, used = known(), cases(1, 3_000, 0.1)
    score = used["score"].to_numpy()
    bins = bins_of(reference, score, 0.1)
    edges = np.sort(reference.cuts)
    place = np.searchsorted(edges, score, side="right")
    assert bins.count.tolist() == np.bincount(place, minlength=edges.size + 1).tolist()
    called = np.where(np.concatenate([[-np.inf], edges]) >= 1.0, 1.0, 0.0)
    assert bins.called.tolist() == called.tolist()
    density = 0.1 * stats.norm.pdf(score - 2)
    posterior = density / (density + 0.9 * stats.norm.pdf(score))
    means = [posterior[place == at].mean() for at in range(edges.size + 1)]
    assert np.abs(bins.expected - means).max() < 0.12


def test_with_all_cases_labelled_the_estimates_are_their_shares():
    reference, used = known(), cases(2, 3_000, 0.1, shift=-0.7)
    score, truth = used["score"].to_numpy(), used["truth"].to_numpy()
    place = np.searchsorted(np.sort(reference.cuts), score, side="right")
    labels = Labels(place, truth, np.ones(truth.size))
    found = labelled_estimates(bins_of(reference, score, 0.3), labels, TERMS, 0.95)
    called = score >= 1.0
    expected = {
        "prior_labelled": truth.mean(),
        "precision_labelled": truth[called].mean(),
        "recall_labelled": called[truth].mean(),
        "cost_labelled": (5 * (truth & ~called) + (~truth & called)).mean(),
    }
    for name, value in expected.items():
        assert found[name][0] == pytest.approx(value)
        assert found[name][1] < value < found[name][2]


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("positive", [0, 1])
def test_few_alerts_of_one_kind_may_have_been_of_the_other(size, positive):
    bins = bins_of(known(), np.full(size, 9.0), 0.3)
    labels = Labels(
        np.full(size, bins.count.size - 1), np.full(size, bool(positive)), np.ones(size)
    )
    _, lower, upper = labelled_estimates(bins, labels, TERMS, 0.95)["precision_labelled"]
    exact = stats.binomtest(positive * size, size).proportion_ci(method="exact")
    assert lower <= exact.low
    assert upper >= exact.high


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(("prior", "shift"), [(0.2, 0.0), (0.05, 0.0), (0.3, -1.0)])
def test_intervals_hold_what_is_true_whatever_the_drift(prior, shift):
    reference, runs, held = known(), 60, np.zeros(4)
    widths, alone = [], []
    t, f = stats.norm.sf(1.0 - 2 - shift), stats.norm.sf(1.0)
    share = prior * t + (1 - prior) * f
    true = prior, prior * t / share, t, 5 * prior * (1 - t) + (1 - prior) * f
    for run in range(runs):
        used = cases(100 + run, 3_000, prior, shift)
        score, truth = used["score"].to_numpy(), used["truth"].to_numpy()
        drawn = np.random.default_rng(run).choice(score.size, 120, replace=False)
        place = np.searchsorted(np.sort(reference.cuts), score[drawn], side="right")
        labels = Labels(place, truth[drawn], np.full(120, 120 / score.size))
        found = labelled_estimates(bins_of(reference, score, prior), labels, TERMS, 0.95)
        for at, (_, lower, upper) in enumerate(found.values()):
            held[at] += lower <= true[at] <= upper
        widths.append(found["prior_labelled"][2] - found["prior_labelled"][1])
        low, high = stats.binomtest(int(truth[drawn].sum()), 120).proportion_ci(method="exact")
        alone.append(high - low)
    assert (held >= stats.binom.ppf(0.001, runs, 0.93)).all()
    if shift == 0:
        assert np.mean(widths) < np.mean(alone)


def test_intervals_hold_where_labels_may_have_none_of_the_rare_kind():
    # About one positive among the labels.
    prior, shift, inclusion = 0.01, 0.0, 0.03
    reference, runs, held = known(), 80, np.zeros(4)
    t, f = stats.norm.sf(1.0 - 2 - shift), stats.norm.sf(1.0)
    share = prior * t + (1 - prior) * f
    true = prior, prior * t / share, t, 5 * prior * (1 - t) + (1 - prior) * f
    for run in range(runs):
        used = cases(100 + run, 3_000, prior, shift)
        score, truth = used["score"].to_numpy(), used["truth"].to_numpy()
        drawn = np.random.default_rng(run).random(score.size) < inclusion
        place = np.searchsorted(np.sort(reference.cuts), score[drawn], side="right")
        labels = Labels(place, truth[drawn], np.full(drawn.sum(), inclusion))
        # Such few positives leave the estimate of the prior at 0 in many runs.
        found = labelled_estimates(bins_of(reference, score, 0.0), labels, TERMS, 0.95)
        limits = zip(true, found.values(), strict=True)
        held += [lower <= value <= upper for value, (_, lower, upper) in limits]
    assert (held >= stats.binom.ppf(0.001, runs, 0.95)).all(), held / runs


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"day": 2}, "labelled: there are no scores of 2"),
        ({"score": None}, "labelled: 100 null scores"),
    ],
)
def test_labels_that_do_not_fit_are_refused(change, match):
    used = cases(5, 500, 0.2).with_columns(day=1)
    labelled = used.head(100).with_columns(pl.lit(v).alias(name) for name, v in change.items())
    labelled = labelled.cast({"score": pl.Float64})
    with pytest.raises(InvalidPredictions, match=match):
        pr.monitor(REFERENCE, used, labelled=labelled, **NAMES, time="day")
    with pytest.raises(InvalidPredictions, match="500 cases of 1, and 100 scores"):
        pr.monitor(REFERENCE, used.head(100), labelled=used, **NAMES, time="day")


def test_the_summary_has_labels_that_came_late():
    used = pl.concat([cases(5 + d, 500, 0.2).with_columns(day=d) for d in (1, 2, 3)])
    labelled = used.filter(pl.col("day") < 3)
    told = pr.monitor(REFERENCE, used, labelled=labelled, **NAMES | TIME)
    shown = in_words(last_rows(told.history))
    assert shown.columns == ["day", "prior", "precision", "posfrac", "cost"]
    assert shown["day"].to_list() == ["3"]
    labels = in_words(labelled_rows(told))
    assert labels.columns == ["day", "prior", "precision", "recall", "cost"]
    assert labels["day"].to_list() == ["2", "1 to 2"]
    truth = labelled["truth"].mean()
    assert labels["prior"][1].startswith(f"{truth:.3f} (")
    for text in (told.summary(), told._repr_html_()):
        assert all(day in text for day in ("1 to 2", "Last time", "Labels"))


def test_labels_with_times_of_another_type_say_so():
    used = cases(5, 500, 0.2).with_columns(day=pl.date(2026, 3, 1))
    labelled = used.head(100).with_columns(day=pl.datetime(2026, 3, 1))
    with pytest.raises(InvalidTable, match=r"'day' is Datetime.* in the labelled cases and Date"):
        pr.monitor(REFERENCE, used, labelled=labelled, **NAMES, time="day")


FRAUD = pl.concat([cases(50 + d, 5_000, 0.004, shift=1.0).with_columns(day=d) for d in (1, 2)])
ALARM = pl.col("score") >= 2.5
PRIOR, PRECISION, RECALL, COST = (
    f"{name}_labelled" for name in ("prior", "precision", "recall", "cost")
)
ALL = {PRIOR, PRECISION, RECALL, COST}


def told_of(labelled, used=None, points=2.5, **said):
    used = FRAUD if used is None else used
    return pr.monitor(
        REFERENCE, used.drop("truth"), labelled=labelled, points=points, truth="truth",
        score="score", time="day", **said,
    )  # fmt: skip


EVERY_NINTH = pl.int_range(pl.len()) % 9 == 0


@pytest.mark.parametrize(
    ("labelled", "is_random"),
    [
        (pl.lit(True), True),
        (EVERY_NINTH, True),
        (ALARM, False),
        (~ALARM & EVERY_NINTH, False),
        (ALARM & (pl.int_range(pl.len()) % 2 == 0), False),
        (ALARM | EVERY_NINTH, False),
        # All alarms, and most of the other cases: the cases without a label say it.
        (ALARM | (pl.int_range(pl.len()) % 9 > 0), False),
    ],
    ids=["all", "random", "alarms", "others", "some alarms", "alarms and some", "alarms and most"],
)
def test_alarms_labelled_at_another_rate_than_the_rest_are_said_and_tell_nothing(
    labelled, is_random
):
    told = told_of(FRAUD.filter(labelled))
    rows = told.table.filter(pl.col("quantity").str.ends_with("labelled"))
    assert rows.height == 2 * 4
    assert set(rows["quantity"]) == ALL
    said = [one for one in told.warnings if one.startswith("labelled: ")]
    if is_random:
        assert said == []
        assert rows["lower"].null_count() == 0
        assert set(told.labelled["quantity"]) == ALL
        row = told.labelled.row(by_predicate=pl.col("quantity") == PRIOR, named=True)
        assert row["lower"] < FRAUD["truth"].mean() < row["upper"]
        return
    assert rows.select("estimate", "lower", "upper").null_count().row(0) == (8, 8, 8)
    assert told.labelled.is_empty()
    alarms, others = (
        (FRAUD.filter(labelled & of).height, FRAUD.filter(of).height) for of in (ALARM, ~ALARM)
    )
    (words,) = said
    assert words.startswith(
        f"labelled: {alarms[0]:,} of {alarms[1]:,} alarms have labels, and "
        f"{others[0]:,} of {others[1]:,} other cases."
    )
    assert "Draw cases at random" in words
    assert words.split(" and ")[0] in " ".join(told.summary().split())


def test_one_label_a_day_of_alarms_alone_is_noticed_over_the_days():
    used = pl.concat([cases(200 + day, 300, 0.1).with_columns(day=day) for day in range(8)])
    # By itself the alarm of one day is no proof: a fifth of all cases are alarms.
    alone = used.filter(pl.col("score") >= 1.0).group_by("day").first()
    day = told_of(alone.filter(day=0).select(used.columns), used, 1.0)
    assert not [one for one in day.warnings if one.startswith("labelled: ")]
    told = told_of(alone.select(used.columns), used, 1.0)
    (said,) = [one for one in told.warnings if one.startswith("labelled: ")]
    assert said.startswith("labelled: 8 of ")
    by_model = [told_of(None, used, 1.0).warnings]
    assert not [one for own in by_model for one in own if one.startswith("labelled: ")]


def test_random_samples_are_seldom_taken_for_none():
    runs, refuted = 40, 0
    used = pl.concat([cases(300 + run, 600, 0.1).with_columns(day=run) for run in range(runs)])
    for model in range(8):
        drawn = pl.Series(np.random.default_rng(model).permutation(used.height)) < 4_000
        told = told_of(used.filter(drawn), used, 1.0)
        refuted += any(one.startswith("labelled: ") for one in told.warnings)
    # At most one in a thousand.
    assert refuted == 0


def test_labels_of_each_key_are_judged_by_themselves():
    both = pl.concat([FRAUD.with_columns(model=pl.lit(name)) for name in "AB"])
    reference = pl.concat([REFERENCE.with_columns(model=pl.lit(name)) for name in "AB"])
    labelled = both.filter(
        (pl.col("model") == "A") & EVERY_NINTH | (pl.col("model") == "B") & ALARM
    )
    told = pr.monitor(
        reference, both.drop("truth"), labelled=labelled, points=2.5, truth="truth",
        score="score", time="day",
    )  # fmt: skip
    assert told.labelled["model"].unique().to_list() == ["A"]
    (said,) = [one for one in told.warnings if one.startswith("labelled: ")]
    assert "other cases for model='B'." in said


def test_a_threshold_that_calls_some_of_its_cases_has_their_labels():
    scores = (pl.col("score") * 4).round() / 4
    used = FRAUD.with_columns(scores)
    points = pl.DataFrame({"threshold": [2.5], "share": [0.5]})
    told = told_of(used.filter(pl.int_range(pl.len()) % 3 == 0), used, points)
    row = told.labelled.row(by_predicate=pl.col("quantity") == PRECISION, named=True)
    share = pl.when(pl.col("score") > 2.5).then(1.0).when(pl.col("score") == 2.5).then(0.5)
    weighed = used.with_columns(share.fill_null(0.0).alias("called"))
    precision = weighed.select((pl.col("called") * pl.col("truth")).sum() / pl.col("called").sum())
    assert row["lower"] < precision.item() < row["upper"]


def test_keys_without_a_reference_are_counted():
    reference, used = (
        pl.concat([cases(seed, 300, 0.3).with_columns(region=pl.lit(name)) for name in names])
        for seed, names in ((1, "N"), (2, "NESW"))
    )
    with pytest.raises(InvalidPredictions, match=r"no reference for region='[ESW]' and 2 more"):
        pr.monitor(reference, used.with_columns(day=1), **NAMES | TIME, by="region")


def test_positives_and_negatives_may_change_places():
    # With flipped labels, expectations, calls and costs the prior is mirrored, the cost the same.
    rng = np.random.default_rng(4)
    count, expected = np.array([400.0, 300, 200]), np.array([0.02, 0.1, 0.6])
    called = np.array([0.0, 0.0, 1.0])
    place = rng.integers(0, 3, 60)
    truth = rng.random(60) < expected[place]
    inclusion = np.array([0.05, 0.1, 0.5])[place]
    one, other = (
        labelled_estimates(Bins(count, e, calls), Labels(place, labels, inclusion), terms, 0.95)
        for e, calls, labels, terms in (
            (expected, called, truth, Terms(None, 5.0, 1.0)),
            (1 - expected, 1 - called, ~truth, Terms(None, 1.0, 5.0)),
        )
    )
    estimate, lower, upper = one["prior_labelled"]
    assert other["prior_labelled"] == pytest.approx((1 - estimate, 1 - upper, 1 - lower))
    assert other["cost_labelled"] == pytest.approx(one["cost_labelled"])
