import re

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from scipy import stats

import polaroc as pr
from polaroc.deployment.alarms import Terms
from polaroc.deployment.draws import Draw
from polaroc.deployment.how_labelled import HowLabelled
from polaroc.deployment.label_draws import allotted
from polaroc.deployment.labelled import Bins, Labels, labelled_estimates
from polaroc.deployment.limits import Reference, Threshold
from polaroc.deployment.monitor_result import in_words, labelled_rows, last_rows
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

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


@pytest.mark.parametrize(
    ("prior", "shift", "alarms", "others"),
    # About one positive among the labels; and positives that are mostly among cases rarely drawn.
    [(0.01, 0.0, 0.03, 0.03), (0.1, -1.5, 1.0, 0.03)],
)
def test_intervals_hold_where_labels_may_have_none_of_the_rare_kind(prior, shift, alarms, others):
    reference, runs, held = known(), 80, np.zeros(4)
    t, f = stats.norm.sf(1.0 - 2 - shift), stats.norm.sf(1.0)
    share = prior * t + (1 - prior) * f
    true = prior, prior * t / share, t, 5 * prior * (1 - t) + (1 - prior) * f
    for run in range(runs):
        used = cases(100 + run, 3_000, prior, shift)
        score, truth = used["score"].to_numpy(), used["truth"].to_numpy()
        inclusion = np.where(score >= 1.0, alarms, others)
        drawn = np.random.default_rng(run).random(score.size) < inclusion
        place = np.searchsorted(np.sort(reference.cuts), score[drawn], side="right")
        labels = Labels(place, truth[drawn], inclusion[drawn])
        # Such few positives leave the estimate of the prior at 0 in many runs.
        found = labelled_estimates(bins_of(reference, score, 0.0), labels, TERMS, 0.95)
        limits = zip(true, found.values(), strict=True)
        held += [lower <= value <= upper for value, (_, lower, upper) in limits]
    assert (held >= stats.binom.ppf(0.001, runs, 0.95)).all(), held / runs


def test_the_chance_of_inclusion_undoes_the_choice_of_cases():
    used = cases(3, 20_000, 0.1).with_columns(day=1)
    high = pl.col("score") > 0.5
    chance = pl.when(high).then(0.5).otherwise(0.05)
    drawn = pl.Series(np.random.default_rng(4).random(used.height))
    labelled = used.with_columns(inclusion=chance).filter(drawn < pl.col("inclusion"))
    arguments = NAMES | {"time": "day"}

    def prior(labels):
        table = pr.monitor(REFERENCE, used, labelled=labels, **arguments).table
        return table.filter(quantity="prior_labelled").row(0, named=True)

    told = prior(labelled)
    assert told["lower"] < 0.1 < told["upper"]
    assert labelled["truth"].mean() > 0.2


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"day": 2}, "labelled: there are no scores of 2"),
        ({"inclusion": 1.5}, "labelled: 'inclusion' runs from 1.5 to 1.5, allowed are chances"),
        ({"inclusion": 0.0}, "labelled: 'inclusion' runs from 0 to 0"),
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
    with pytest.raises(InvalidArgument, match="label_share is 2, allowed are 0 < label_share"):
        pr.monitor(REFERENCE, used, labelled=used, label_share=2, **NAMES, time="day")


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"label_share": 0}, "label_share is 0, allowed are 0 < label_share"),
        ({"label_share": True}, "label_share is True"),
        ({"label_share": "chance"}, "label_share is 'chance', and the labelled cases have no such"),
        ({"label_delay": -1}, "label_delay is -1, allowed are finite numbers"),
        ({"label_delay": True}, "label_delay is True, allowed are finite numbers"),
        ({"label_alerts": "yes"}, "label_alerts is 'yes', allowed are True and"),
        ({"label_share": 0.2}, "label_share is given, and the labelled cases have 'inclusion'"),
        ({"label_alerts": True}, "label_alerts is given, and the labelled cases have 'inclusion'"),
    ],
)
def test_how_labels_were_drawn_is_said_once_and_makes_sense(said, match):
    used = cases(5, 500, 0.2).with_columns(day=1)
    drawn = used.head(100).with_columns(inclusion=0.2)
    with pytest.raises(InvalidArgument, match=match):
        pr.monitor(REFERENCE, used, labelled=drawn, **said, **NAMES | TIME)
    with pytest.raises(InvalidArgument, match=r"and no labelled cases are|allowed are"):
        pr.monitor(REFERENCE, used, **said, **NAMES | TIME)


def test_a_column_of_chances_has_any_name():
    used = cases(3, 5_000, 0.1).with_columns(day=1)
    drawn = used.sample(500, seed=1)
    told = [
        pr.monitor(REFERENCE, used, labelled=labelled, label_share=share, **NAMES | TIME).table
        for labelled, share in (
            (drawn.with_columns(inclusion=0.1), None),
            (drawn.with_columns(chance=0.1), "chance"),
            (drawn, 0.1),
            (drawn, "observed"),
        )
    ]
    assert not told[0].filter(quantity=RECALL)["lower"].null_count()
    for other in told[1:]:
        assert_same_numbers(other, told[0])


def test_the_summary_has_labels_that_came_late():
    used = pl.concat([cases(5 + d, 500, 0.2).with_columns(day=d) for d in (1, 2, 3)])
    labelled = used.filter(pl.col("day") < 3)
    told = pr.monitor(REFERENCE, used, labelled=labelled, label_share="observed", **NAMES | TIME)
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


@pytest.mark.parametrize(
    ("drawn", "stated", "known"),
    [
        (ALARM, None, {PRECISION}),
        (ALARM, "observed", {PRECISION}),
        (ALARM, 1.0, {PRECISION}),
        (ALARM & (pl.int_range(pl.len()) % 2 == 0), None, set()),
        (ALARM & (pl.int_range(pl.len()) % 2 == 0), "observed", {PRECISION}),
        (ALARM & (pl.int_range(pl.len()) % 2 == 0), 0.5, {PRECISION}),
        (ALARM & (pl.int_range(pl.len()) % 2 == 0), 1.0, set()),
        (ALARM | (pl.int_range(pl.len()) % 9 == 0), "observed", {PRECISION}),
        (ALARM & pl.col("truth") | (pl.int_range(pl.len()) % 9 == 0), "observed", set()),
        (pl.int_range(pl.len()) % 9 == 0, None, set()),
        (pl.int_range(pl.len()) % 9 == 0, "observed", ALL),
        (pl.int_range(pl.len()) % 9 == 0, 1 / 9, ALL),
        (pl.int_range(pl.len()) % 9 == 0, 1 / 7, set()),
        (pl.lit(True), None, ALL),
    ],
)
def test_labels_tell_what_the_way_they_were_drawn_lets_them_tell(drawn, stated, known):
    labelled = FRAUD.filter(drawn)
    if isinstance(stated, float):
        labelled = labelled.with_columns(inclusion=pl.lit(stated))
    told = pr.monitor(
        REFERENCE, FRAUD.drop("truth"), labelled=labelled,
        label_share=stated if stated == "observed" else None,
        truth="truth", score="score", time="day", points=2.5,
    )  # fmt: skip
    rows = told.table.filter(pl.col("quantity").str.ends_with("labelled"))
    assert rows.height == 2 * 4
    assert set(rows.drop_nulls("estimate")["quantity"]) == known
    assert set(rows.drop_nulls("lower")["quantity"]) == known
    true = {
        PRIOR: FRAUD.group_by("day").agg(pl.col("truth").mean()),
        PRECISION: FRAUD.filter(ALARM).group_by("day").agg(pl.col("truth").mean()),
    }
    for quantity in known & set(true):
        both = rows.filter(quantity=quantity).join(true[quantity], on="day")
        assert both.select(pl.col("truth").is_between("lower", "upper").all()).item()
    said = [one for one in told.warnings if one.startswith("labelled: ")]
    assert bool(said) == (PRIOR not in known)
    for one in said:
        precision = "the precision, and no prior" if known else "no precision, prior"
        assert f"so they tell {precision}, recall or cost." in one
        assert one.endswith("So it is at 1 more.")
        assert one.split("cost.")[0] in " ".join(told.summary().split())


@pytest.mark.parametrize("stated", [None, "observed", 1.0])
def test_alarms_with_two_labels_each_tell_nothing(stated):
    labelled = FRAUD.filter(ALARM)
    labelled = pl.concat([labelled, labelled])
    if isinstance(stated, float):
        labelled = labelled.with_columns(inclusion=pl.lit(stated))
    told = pr.monitor(
        REFERENCE, FRAUD.drop("truth"), labelled=labelled,
        label_share=stated if stated == "observed" else None,
        truth="truth", score="score", time="day", points=2.5,
    )  # fmt: skip
    rows = told.table.filter(pl.col("quantity").str.ends_with("labelled"))
    assert rows["estimate"].null_count() == rows["lower"].null_count() == rows.height == 2 * 4
    assert "so they tell no precision, prior, recall or cost." in " ".join(told.warnings)


@pytest.mark.parametrize("stated", ["observed", "inclusion"])
def test_draws_as_they_were_stated_are_believed(stated):
    reference, runs, refuted = known(), 150, 0
    for run in range(runs):
        used = cases(run, 2_000, 0.1)
        score, rng = used["score"].to_numpy(), np.random.default_rng(10_000 + run)
        chance = np.where(score >= 1.0, 0.3, 0.02) if stated == "inclusion" else None
        if chance is None:
            drawn = rng.choice(score.size, 100, replace=False)
        else:
            drawn = np.flatnonzero(rng.random(score.size) < chance)
        one = Draw(
            "a day", 1, reference, bins_of(reference, score, 0.1),
            score[drawn], used["truth"].to_numpy()[drawn],
            None if chance is None else chance[drawn], HowLabelled("observed"),
        )  # fmt: skip
        refuted += not one.labels.of_all
    assert refuted <= stats.binom.ppf(0.999, runs, 1e-3)


def alerts_and(share, frame=None, seed=1):
    """Labels of all alerts, and of a share of the other cases."""
    frame = FRAUD if frame is None else frame
    drawn = pl.Series(np.random.default_rng(seed).random(frame.height)) < share
    return frame.filter(ALARM | drawn)


def told_of(labelled, used=None, points=2.5, **said):
    used = FRAUD if used is None else used
    return pr.monitor(
        REFERENCE, used.drop("truth"), labelled=labelled, points=points, truth="truth",
        score="score", time="day", **said,
    )  # fmt: skip


def known_of(told):
    return set(told.labelled.drop_nulls("lower")["quantity"])


@pytest.mark.parametrize(
    ("labelled", "said", "known", "why"),
    [
        (alerts_and(0.05), {"label_share": 0.05}, ALL, None),
        (alerts_and(0.05), {"label_share": "observed"}, ALL, None),
        (alerts_and(1), {"label_share": 1}, ALL, None),
        (alerts_and(0), {}, {PRECISION}, r"only the \d+ alerts of 1 are labelled"),
        (alerts_and(0), {"label_share": 0.05}, {PRECISION}, "alerts alone"),
        (alerts_and(0.05), {}, {PRECISION}, r"nothing says how the \d+ labelled of [\d,]+ other"),
        (alerts_and(0.05), {"label_share": 0.02}, {PRECISION}, "cases of 1 are labelled, not"),
        (alerts_and(0.9), {"label_share": 1}, {PRECISION}, "not about 100 %"),
        (alerts_and(0.05).filter(pl.int_range(pl.len()) % 50 > 0), {"label_share": 0.05}, set(),
         r"\d+ of the \d+ alerts of 1 are labelled, not all"),
        (FRAUD.filter(ALARM | (pl.int_range(pl.len()) % 20 == 0) & (pl.col("score") > 0)),
         {"label_share": "observed"}, {PRECISION}, "they were not drawn at random"),
    ],
)  # fmt: skip
def test_alerts_and_a_share_of_the_others_tell_all_where_they_are_that(labelled, said, known, why):
    told = told_of(labelled, label_alerts=True, **said)
    assert known_of(told) == known
    warned = [one for one in told.warnings if one.startswith("labelled: ")]
    assert bool(warned) == (why is not None)
    if why is not None:
        assert re.search(why, warned[0])


def test_a_threshold_that_calls_some_of_its_cases_has_their_labels():
    scores = (pl.col("score") * 4).round() / 4
    used = FRAUD.with_columns(scores)
    called = pl.Series(np.random.default_rng(3).random(used.height)) < 0.5
    alert = (pl.col("score") > 2.5) | ((pl.col("score") == 2.5) & called)
    points = pl.DataFrame({"threshold": [2.5], "share": [0.5]})
    labelled = used.filter(alert | (pl.int_range(pl.len()) % 10 == 0))
    told = told_of(labelled, used, points, label_alerts=True, label_share="observed")
    row = told.labelled.row(by_predicate=pl.col("quantity") == PRECISION, named=True)
    assert row["lower"] < used.filter(alert)["truth"].mean() < row["upper"]
    assert known_of(told) == ALL


@pytest.mark.parametrize(
    ("share", "delay"), [(0.02, None), (0.1, None), pytest.param(0.02, 3, marks=pytest.mark.slow)]
)
def test_limits_of_alerts_and_a_share_of_the_others_hold(share, delay):
    runs, days, prior, shift = 25, 6, 0.01, -0.5
    t, f = stats.norm.sf(1.5 - shift), stats.norm.sf(3.5)
    caught = prior * t + (1 - prior) * f
    true = {PRIOR: prior, PRECISION: prior * t / caught, RECALL: t,
            COST: prior * (1 - t) + (1 - prior) * f}  # fmt: skip
    held, whole = dict.fromkeys(true, 0), days - (delay or 0)
    for run in range(runs):
        used = pl.concat([
            cases(10_000 + days * run + d, 2_000, prior, shift).with_columns(day=d)
            for d in range(days)
        ])  # fmt: skip
        some, half = np.random.default_rng(run).random((2, used.height))
        drawn = (used["score"] >= 3.5) | pl.Series(some < share)
        if delay is not None:
            # Of the last days only what came to light soon is labelled: positives.
            drawn &= (used["day"] < whole) | (used["truth"] & pl.Series(half < 0.5))
        told = told_of(
            used.filter(drawn), used, 3.5, label_alerts=True, label_share=share, label_delay=delay
        )
        assert (told.labelled["last"] < whole).all()
        rows = {row["quantity"]: row for row in told.labelled.iter_rows(named=True)}
        for name, value in true.items():
            row = rows.get(name)
            held[name] += row is None or row["lower"] is None or (
                row["lower"] <= value <= row["upper"]
            )  # fmt: skip
    assert min(held.values()) >= stats.binom.ppf(0.001, runs, 0.95), held


@pytest.mark.parametrize(
    ("day", "delay", "last"),
    [
        (pl.date(2026, 3, 1) + pl.duration(days=pl.col("day")), 2, "2026-03-04"),
        (pl.date(2026, 3, 1) + pl.duration(days=pl.col("day")), 1.5, "2026-03-04"),
        (pl.datetime(2026, 3, 1, 12) + pl.duration(days=pl.col("day")), 2, "2026-03-04 12:00:00"),
        (pl.col("day"), 2, "3"),
        (pl.col("day") / 2, 1, "1.5"),
    ],
)
def test_only_times_that_are_complete_are_told(day, delay, last):
    used = pl.concat([cases(5 + d, 500, 0.2).with_columns(day=d) for d in range(1, 6)])
    used = used.with_columns(day.alias("day"))
    told = told_of(used, used, 1.0, label_delay=delay)
    rows = told.table.filter(quantity=PRIOR)
    assert rows["day"].to_list() == used["day"].unique().sort().head(3).to_list()
    assert told.labelled["times"].unique().to_list() == [3]
    (said,) = [one for one in told.warnings if one.startswith("Labels of times")]
    unit = " days" if last.startswith("2026") else ""
    assert f"up to {last} are complete, with a delay of {delay:g}{unit};" in said
    assert "1,000 of later times are not used" in said
    # What is known of earlier days is in the state.
    first = told_of(None, used.filter(pl.col("day") < used["day"].max()), 1.0)
    later = pr.monitor(
        REFERENCE, used.filter(day=used["day"].max()).drop("truth"), labelled=used, **NAMES | TIME,
        label_delay=delay, state=first.state,
    )  # fmt: skip
    assert_same_numbers(later.labelled, told.labelled)
    early = told_of(used, used, 1.0, label_delay=100)
    assert early.labelled.is_empty()
    assert set(early.table["quantity"]) & ALL == set()


def test_a_delay_takes_times_with_a_distance():
    used = cases(5, 500, 0.2).with_columns(day=pl.lit("Monday"))
    with pytest.raises(InvalidArgument, match="label_delay is 10, and the time 'day' is String"):
        told_of(used, used, 1.0, label_delay=10)


def drawn(budget, used, seed):
    """The labels of a budget, with the chance of each."""
    parts = []
    for row in budget.iter_rows(named=True):
        low = -np.inf if row["from_score"] is None else row["from_score"]
        high = np.inf if row["to_score"] is None else row["to_score"]
        own = used.filter(pl.col("score").is_between(low, high, closed="left"))
        assert row["cases"] == own.height
        chosen = own.sample(row["labels"], seed=seed)
        parts.append(chosen.with_columns(inclusion=pl.lit(row["inclusion"], pl.Float64)))
    return pl.concat(parts)


@pytest.mark.parametrize("sizes", [(30, 270), pytest.param((800, 3_200), marks=pytest.mark.slow)])
@pytest.mark.parametrize(("quantity", "width"), [("precision", 0.08), ("prior", 0.05)])
def test_a_budget_gives_the_width_that_was_asked_for(quantity, width, sizes):
    runs, reached, held = 8, 0, 0
    for run in range(runs):
        rng = np.random.default_rng(1_000 + run)
        truth = np.repeat([True, False], sizes)
        score = rng.normal(size=truth.size) + 2 * truth
        reference = pl.DataFrame({"truth": truth, "score": score})
        used = cases(run, 5_000, 0.15).with_columns(day=1)
        budget = pr.label_budget(
            reference, used.select("score"), **NAMES, quantity=quantity, width=width
        )
        concerned = used.filter(pl.col("score") >= 1.0) if quantity == "precision" else used
        assert budget["cases"].sum() == concerned.height
        assert (budget["labels"] <= budget["cases"]).all()
        assert budget["labels"].sum() <= budget["at_random"][0]
        labelled = drawn(budget, used, run)
        result = pr.monitor(reference, used, labelled=labelled, **NAMES, time="day")
        rows = {row["quantity"]: row for row in result.table.iter_rows(named=True)}
        # Among alarms alone nothing is to be known of all cases.
        assert (rows[PRIOR]["estimate"] is None) == (quantity == "precision")
        row = rows[f"{quantity}_labelled"]
        reached += (row["upper"] - row["lower"]) / 2 <= width
        held += row["lower"] < concerned["truth"].mean() < row["upper"]
    assert reached >= stats.binom.ppf(0.01, runs, 0.9)
    assert held >= stats.binom.ppf(0.001, runs, 0.95)


@pytest.mark.parametrize(("quantity", "width"), [("recall", 0.1), ("prior", 0.02)])
def test_a_budget_beside_labels_of_all_alerts_is_of_the_other_cases(quantity, width):
    runs, reached = 8, 0
    asked = NAMES | {"points": 1.5, "quantity": quantity, "width": width}
    for run in range(runs):
        used = cases(run, 8_000, 0.15).with_columns(day=1)
        budget = pr.label_budget(REFERENCE, used.select("score"), **asked, label_alerts=True)
        assert budget["cases"].sum() == used.filter(pl.col("score") < 1.5).height
        labelled = pl.concat([
            drawn(budget, used, run),
            used.filter(pl.col("score") >= 1.5).with_columns(inclusion=1.0),
        ])  # fmt: skip
        row = told_of(labelled, used, 1.5).labelled.row(
            by_predicate=pl.col("quantity") == f"{quantity}_labelled", named=True
        )
        reached += (row["upper"] - row["lower"]) / 2 <= width
    assert reached >= stats.binom.ppf(0.01, runs, 0.9)
    everything = pr.label_budget(REFERENCE, used.select("score"), **asked)
    assert everything["cases"].sum() == used.height
    assert everything["at_random"][0] > budget["at_random"][0]


def test_alerts_that_are_labelled_tell_the_precision():
    with pytest.raises(InvalidArgument, match="these tell the precision"):
        pr.label_budget(REFERENCE, REFERENCE, **NAMES, label_alerts=True)


def test_no_more_labels_are_asked_for_than_at_random_would_take():
    # Every range of scores had two labels at least.
    used = cases(7, 3_000, 0.1).select("score")
    budget = pr.label_budget(REFERENCE, used, **NAMES | {"points": 2.5}, width=0.3)
    assert budget["labels"].sum() <= budget["at_random"][0] < 20
    labels = [
        pr.label_budget(REFERENCE, used, **NAMES, quantity="prior", width=width)["labels"].sum()
        for width in (0.2, 0.1, 0.05, 0.02)
    ]
    assert labels == sorted(labels)


def test_a_reference_that_is_unsure_takes_more_labels():
    used = cases(8, 20_000, 0.1).select("score")
    few, many = (
        pr.label_budget(reference, used, **NAMES, quantity="prior", width=0.03)["labels"].sum()
        for reference in (cases(9, 300, 0.1), cases(9, 30_000, 0.1))
    )
    assert few > 1.05 * many


def test_scores_that_tell_no_prior_take_labels_for_any():
    reference = REFERENCE.with_columns(score=pl.lit(2.0))
    used = pl.DataFrame({"score": [2.0] * 5_000})
    budget = pr.label_budget(reference, used, **NAMES, width=0.1)
    assert budget["labels"].sum() <= budget["at_random"][0]
    half = stats.norm.isf(0.025) * 0.5 / np.sqrt(budget["labels"].sum())
    assert 0.05 < half < 0.1


def test_cases_that_are_too_few_are_all_labelled_and_said():
    used = cases(10, 60, 0.2).select("score")
    budget = pr.label_budget(REFERENCE, used, **NAMES, quantity="prior", width=0.02)
    assert budget.select("cases", "labels", "at_random").row(0) == (60, 60, 60)
    (note,) = budget["note"]
    words = "labels of all these cases would give about ± "
    assert note.startswith(words)
    assert float(note.removeprefix(words).split(":")[0]) > 0.05
    assert pr.label_budget(REFERENCE, used, **NAMES | {"points": 99.0}).is_empty()
    # Of patients, too, none is alerted.
    reference, patients = (
        one.with_row_index("patient").with_columns(pl.col("patient") // 2)
        for one in (REFERENCE, used)
    )
    of_patients = NAMES | {"cluster": "patient"}
    assert pr.label_budget(reference, patients, **of_patients | {"points": 99.0}).is_empty()
    # The reference has no alert to tell how alike those of a patient are.
    above = patients.with_columns(pl.col("score") + 99)
    assert pr.label_budget(reference, above, **of_patients | {"points": 98.0})["labels"].sum() > 0


def patients(seed, number, rows, alike, prior=0.2):
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(number), rows)
    latent = np.sqrt(alike) * rng.normal(size=number)[patient]
    truth = latent + np.sqrt(1 - alike) * rng.normal(size=patient.size) > stats.norm.isf(prior)
    score = rng.normal(size=truth.size) + 2 * truth
    return pl.DataFrame({"truth": truth, "score": score, "patient": patient})


def test_patients_with_many_cases_take_more_labels():
    reference, used = patients(1, 400, 10, 0.5), patients(2, 300, 10, 0.5).drop("truth")
    asked = NAMES | {"quantity": "prior", "width": 0.05}

    def labels(known, found, **roles):
        return pr.label_budget(known, found, **asked, **roles)["labels"].sum()

    alone = labels(*(table.drop("patient") for table in (reference, used)))
    named = labels(reference, used, cluster="patient")
    assert named > 1.2 * alone
    # Where each has one row, or those of a patient are not alike, nothing changes.
    own = [table.with_columns(patient=pl.int_range(pl.len())) for table in (reference, used)]
    mixed = [table.with_columns(pl.col("patient").shuffle(3)) for table in (reference, used)]
    assert labels(*own, cluster="patient") == pytest.approx(alone, rel=0.05)
    assert labels(*mixed, cluster="patient") == pytest.approx(alone, rel=0.1)
    # What the reference is unsure of is what its patients are.
    copies = pl.concat([patients(3, 300, 1, 0.0)] * 10)
    of_rows, of_patients = (
        pr.label_budget(
            pr.cases(copies, truth="truth", score="score", **roles),
            pr.cases(used, score="score"), points=1.0, quantity="prior", width=0.05,
        )["labels"].sum()
        for roles in ({}, {"cluster": "patient"})
    )  # fmt: skip
    assert of_patients > of_rows


def test_patients_whose_alikeness_nothing_tells_are_refused():
    reference, used = patients(1, 40, 10, 0.5), patients(2, 30, 10, 0.5).drop("truth")
    alone = pr.cases(reference, truth="truth", score="score")
    with pytest.raises(InvalidArgument, match=r"(?s)cluster, and the reference has none.*learnt"):
        pr.label_budget(alone, pr.cases(used, score="score", cluster="patient"), points=1.0)
    one = pr.cases(reference, truth="truth", score="score", cluster=pl.lit(1).alias("one"))
    with pytest.raises(InvalidPredictions, match="reference: all rows are of one cluster"):
        pr.label_budget(one, pr.cases(used, score="score"), points=1.0)
    unknown = reference.with_columns(pl.lit(None, pl.Int64).alias("patient"))
    with pytest.raises(InvalidPredictions, match="reference: 400 cases have no cluster"):
        pr.label_budget(unknown, used, **NAMES, cluster="patient")


def test_budgets_of_several_keys_and_wrong_arguments():
    both = [REFERENCE.with_columns(model=pl.lit(m)) for m in "AB"]
    used = [cases(i, 900, 0.2).with_columns(model=pl.lit(m)) for i, m in enumerate("AB")]
    budget = pr.label_budget(pl.concat(both), pl.concat(used), model="model", **NAMES)
    for place, model in enumerate("AB"):
        alone = pr.label_budget(both[place], used[place], **NAMES)
        assert_same_numbers(budget.filter(model=model), alone)
    with pytest.raises(InvalidArgument, match="quantity is 'lift', allowed are"):
        pr.label_budget(REFERENCE, REFERENCE, **NAMES, quantity="lift")
    with pytest.raises(InvalidArgument, match="width is 5, allowed is 0 < width < 1"):
        pr.label_budget(REFERENCE, REFERENCE, **NAMES, width=5)
    assert pr.label_budget(REFERENCE, REFERENCE.clear(), **NAMES).is_empty()


def test_alerts_that_one_table_lacks_have_a_budget():
    reference, used = patients(1, 400, 10, 0.5), patients(2, 300, 10, 0.5).drop("truth")
    asked = NAMES | {"quantity": "precision", "cluster": "patient"}
    none_known = reference.filter(pl.col("score") < 1), used
    none_used = reference, used.filter(pl.col("score") < 1)
    for tables in (none_known, none_used):
        assert pr.label_budget(*tables, **asked)["labels"].sum() >= 0


def test_keys_without_a_reference_are_counted():
    reference, used = (
        pl.concat([cases(seed, 300, 0.3).with_columns(region=pl.lit(name)) for name in names])
        for seed, names in ((1, "N"), (2, "NESW"))
    )
    with pytest.raises(InvalidPredictions, match=r"no reference for region='[ESW]' and 2 more"):
        pr.label_budget(reference, used, **NAMES, by="region")


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


def test_single_cases_are_labelled_however_little_they_vary():
    count = np.array([1, 500])
    assert allotted(count, np.array([0.0, 250.0]), 100).tolist() == [1, 100]
    assert allotted(count, np.array([9.0, 250.0]), 260).tolist() == [1, 259]


@pytest.mark.parametrize(
    ("every", "said", "advice"),
    [
        (2, {}, "label_share='observed'"), (2, {"label_share": 0.01}, "label_share='observed'"),
        (None, {}, "Labels of alerts alone"),
        (None, {"label_share": 0.5}, "Labels of alerts alone"),
    ],
)  # fmt: skip
def test_the_advice_on_labels_helps(every, said, advice):
    used = pl.concat([cases(5 + day, 500, 0.2).with_columns(day=day) for day in (1, 2)])
    of_alerts = pl.col("score") >= 1.0
    chosen = of_alerts if every is None else pl.int_range(pl.len()) % every == 0
    asked = {"points": 1.0, "over": (0.1, 0.3), "truth": "truth", "score": "score", "time": "day"}
    watch = lambda **how: pr.monitor(  # noqa: E731
        cases(0, 5_000, 0.2), used, labelled=used.filter(chosen), **asked, **how
    )
    told = " ".join(watch(**said).warnings)
    assert advice in told
    assert ("Labels of alerts alone" in told) == (every is None)
    if every is not None:
        followed = watch(label_share="observed")
        assert not any("labelled:" in one for one in followed.warnings)
        assert "recall_labelled" in followed.labelled["quantity"]


def test_a_key_without_a_name_keeps_its_type():
    table = cases(1, 400, 0.3).with_columns(pl.Series("", [1, 2] * 200, dtype=pl.Int64))
    found = pr.label_budget(table, table.drop("truth"), **NAMES, quantity="prior", by="")
    assert found.schema[""] == pl.Int64
