"""Thresholds in use by period: the prior, the shape of the scores, and what labels show."""

import re
from datetime import datetime

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

ROLES = {"truth": "truth", "score": "score"}
NAMES = ROLES | {"time": "day"}


def cases(seed, size, prior, shift=0.0, distance=2.0, **columns):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < prior
    score = rng.normal(size=size) + distance * truth + shift
    frame = pl.DataFrame({"truth": truth, "score": score})
    return frame.with_columns(pl.lit(value).alias(name) for name, value in columns.items())


def days(priors, size=2_000, seed=100, **more):
    return pl.concat(cases(seed + d, size, p, day=d + 1, **more) for d, p in enumerate(priors))


REFERENCE = cases(0, 10_000, 0.1)
STEADY = [0.1] * 12
POINTS = pr.operating_points(REFERENCE, "cost", priors=0.1, **ROLES)


def monitored(deployed, reference=REFERENCE, **arguments):
    usual = NAMES | {"points": POINTS, "over": (0.06, 0.15)}
    return pr.monitor(reference, deployed, **usual | arguments)


def true_values(priors, threshold, cost_fn=1.0):
    t, f = stats.norm.sf(threshold - 2), stats.norm.sf(threshold)
    share = priors * t + (1 - priors) * f
    return {
        "prior": priors, "precision": priors * t / share, "posfrac": share,
        "cost": cost_fn * priors * (1 - t) + (1 - priors) * f,
    }  # fmt: skip


# The prior


def test_without_change_there_is_no_alarm_and_all_limits_hold():
    result = monitored(days(STEADY))
    assert result.alarms.is_empty()
    assert result.answer.startswith("No alarm. The prior is estimated at ")
    assert "within the range 6 % to 15 %" in result.answer
    threshold = POINTS["threshold"].item()
    true = true_values(0.1, threshold)
    prior = result.prior.select(pl.lit(0.1).is_between("lower", "upper").all()).item()
    assert prior
    for name in ("precision", "cost"):
        inside = pl.lit(float(true[name])).is_between(f"{name}_lower", f"{name}_upper")
        assert result.thresholds.select(inside.all()).item()
        assert result.thresholds[name].mean() == pytest.approx(true[name], rel=0.1)
    called = days(STEADY).group_by("day").agg((pl.col("score") >= threshold).mean()).sort("day")
    assert result.thresholds["posfrac"].to_list() == pytest.approx(called["score"].to_list())


def test_a_prior_is_the_estimate_of_its_period_at_a_level_for_all_looks():
    used = days([0.1, 0.3])
    result = monitored(used, looks=50, level=0.9)
    level = 1 - 0.1 / (3 * 50)
    assert result.prior["level"].to_list() == [pytest.approx(level)] * 2
    estimates = pr.estimate_prior(
        REFERENCE, pr.cases(used, score="score", by="day"), level=level, **ROLES
    )
    assert_frame_equal(
        result.prior.select("day", "prior", "lower", "upper"),
        estimates.select("day", "prior", "lower", "upper"),
    )
    assert_frame_equal(result.shape.select("shift_p"), estimates.select("shift_p"))


def test_a_period_has_the_same_result_alone_and_with_others():
    used = days([0.1, 0.1, 0.4])
    whole = monitored(used)
    for day in (1, 2, 3):
        alone = monitored(used.filter(day=day))
        for name, table in whole.tables.items():
            assert_frame_equal(alone.tables[name], table.filter(day=day))


def test_more_periods_than_looks_are_refused():
    with pytest.raises(InvalidArgument, match=r"12 periods, and looks is 11(.|\n)*every='1w'"):
        monitored(days(STEADY, size=100), looks=11)


@pytest.mark.parametrize(
    ("prior", "said"), [(0.4, "it is more than "), (0.005, "it is less than ")]
)
def test_a_prior_that_left_its_range_raises_an_alarm_that_says_so(prior, said):
    result = monitored(days([*STEADY[:3], prior]))
    ((day, table, alarm),) = result.alarms.rows()
    assert (day, table) == (4, "prior")
    assert alarm.startswith(f"the prior left the range 6 % to 15 %: {said}")
    assert result.answer == f"One alarm at day 4: {alarm}."
    (warning,) = [one for one in result.warnings if "batch=" in one]
    assert warning.startswith("Alarms assume that only the prior changes")


@pytest.mark.slow
@pytest.mark.parametrize(("prior", "within"), [(0.25, 60), (0.3, 10), (0.5, 1)])
def test_a_prior_that_left_its_range_is_noticed_soon(prior, within):
    for seed in range(3):
        used = days([prior] * within, seed=1_000 * seed)
        result = monitored(used, cases(seed, 10_000, 0.1), over=(0.05, 0.2))
        assert result.alarms.height > 0


@pytest.mark.slow
def test_at_the_end_of_its_range_a_prior_raises_few_alarms():
    # If each look had the whole error rate, so many would raise one in most streams.
    runs, alarmed = 12, 0
    for run in range(runs):
        used = days([0.2] * 100, size=100, seed=1_000 * run)
        alarmed += monitored(used, cases(run, 10_000, 0.1), over=(0.05, 0.2)).alarms.height > 0
    assert alarmed <= stats.binom.ppf(0.999, runs, 0.05)


# The shape


@pytest.mark.parametrize(
    "drift",
    [lambda x, y: x + 0.5, lambda x, y: x + 0.4 * ~y, lambda x, y: 2 * y + 1.3 * (x - 2 * y)],
    ids=["all scores", "negatives", "spread"],
)
def test_drift_that_is_no_prior_shift_raises_an_alarm_and_has_no_limits(drift):
    used = days([0.1] * 8)
    changed = drift(used["score"].to_numpy(), used["truth"].to_numpy())
    result = monitored(used.with_columns(score=changed))
    alarms = result.alarms.filter(table="shape")
    assert alarms.height > 0
    assert alarms["alarm"].str.starts_with("more than the prior has shifted").all()
    drifted = result.prior.filter(pl.col("day").is_in(alarms["day"].to_list()))
    assert drifted["lower"].null_count() == drifted["upper"].null_count() == drifted.height
    assert drifted["alarm"].null_count() == drifted.height
    limits = result.thresholds.filter(pl.col("day").is_in(alarms["day"].to_list()))
    for name in ("precision", "tpr", "fpr"):
        assert limits[f"{name}_lower"].null_count() == limits.height


def test_scores_in_another_unit_are_no_mixture():
    fractions = {"score": 1 / (1 + (-pl.col("score")).exp())}
    used, reference = days([0.1]).with_columns(**fractions), REFERENCE.with_columns(**fractions)
    result = monitored(used.with_columns(pl.col("score") * 100), reference, points=0.6)
    assert result.alarms["table"].to_list() == ["shape"]
    assert monitored(used, reference, points=0.6).alarms.is_empty()


def test_days_that_differ_raise_no_alarm_where_the_reference_names_its_days():
    rng = np.random.default_rng(8)
    shifts = rng.normal(scale=0.15, size=70)
    known, used = (
        pl.concat(cases([1, d], size, 0.1, shifts[d], day=d) for d in span)
        for span, size in ((range(30), 500), (range(30, 70), 2_000))
    )
    apart = monitored(used, known.drop("day"), over=(0.05, 0.2))
    named = monitored(used, known.rename({"day": "batch"}), over=(0.05, 0.2), batch="batch")
    assert apart.alarms.height > 0
    assert named.alarms.is_empty()
    assert "batch" not in " ".join(named.warnings)
    assert named.prior["assumes"][0] == "scores differ as between the 30 values of 'batch'"


# Labels


def labels_of(used, **columns):
    return used.filter(pl.int_range(pl.len()) % 5 == 0).with_columns(**columns)


def test_labels_have_exact_limits_of_rates_and_precision():
    used = days([0.1, 0.3])
    labels, threshold = labels_of(used), POINTS["threshold"].item()
    result = monitored(used, labelled=labels)
    rows = result.thresholds.filter(source="labels")
    error = 0.05 / (3 * 365)
    for row, day in zip(rows.iter_rows(named=True), (1, 2), strict=True):
        own = labels.filter(day=day)
        called, truth = (own["score"] >= threshold).to_numpy(), own["truth"].to_numpy()
        for name, kept, hits in (
            ("tpr", truth, called), ("fpr", ~truth, called), ("precision", called, truth),
        ):  # fmt: skip
            count, size = int(hits[kept].sum()), int(kept.sum())
            assert row[name] == pytest.approx(count / size)
            exact = stats.binomtest(count, size).proportion_ci(1 - error, "exact")
            assert (row[f"{name}_lower"], row[f"{name}_upper"]) == pytest.approx(exact)
        assert row["posfrac"] == pytest.approx(called.mean())
        assert row["cost"] is None
    assert result.alarms.filter(table="thresholds").is_empty()


def test_labels_that_contradict_the_reference_raise_an_alarm():
    # Positives of another kind, of which the scores tell less.
    used = days([0.3] * 2, size=6_000)
    used = used.with_columns(pl.col("score") - 1.5 * pl.col("truth"))
    result = monitored(used, labelled=labels_of(used))
    alarms = result.alarms.filter(table="thresholds")["alarm"]
    assert alarms.len() == 2
    assert alarms.str.starts_with("by labels the recall is at most ").all()


@pytest.mark.parametrize(
    ("drawn", "is_random"),
    [
        (pl.int_range(pl.len()) % 5 == 0, True),
        (pl.lit(value=True), True),
        (pl.col("score") >= 1.4, False),
        ((pl.col("score") >= 1.4) | (pl.int_range(pl.len()) % 3 == 0), False),
        (pl.col("truth") & (pl.int_range(pl.len()) % 2 == 0), False),
    ],
)
def test_labels_of_alarms_alone_are_no_random_sample(drawn, is_random):
    used = days([0.1] * 3)
    result = monitored(used, labelled=used.filter(drawn), points=1.4)
    said = "Alarms and other cases are labelled at different rates" in " ".join(result.warnings)
    assert said is not is_random
    assert is_random or result.alarms.filter(table="thresholds").is_empty()


# Times


def test_every_cuts_times_into_periods_of_use_alone():
    hour = datetime(2026, 3, 2) + pl.duration(hours=pl.int_range(pl.len()) // 25)
    used = days([0.1] * 5).with_columns(day=hour)
    by_week = monitored(used, REFERENCE.with_columns(batch=pl.int_range(pl.len()) % 4),
                        every="1w", batch="batch")  # fmt: skip
    truncated = used.with_columns(pl.col("day").dt.truncate("1w"))
    same = monitored(truncated, REFERENCE.with_columns(batch=pl.int_range(pl.len()) % 4),
                     batch="batch")  # fmt: skip
    for name, table in by_week.tables.items():
        assert_frame_equal(table, same.tables[name])
    with pytest.raises(InvalidArgument, match="has 400 periods"):
        monitored(used)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])
def test_times_that_are_text_are_the_dates_they_say(form):
    moment = datetime(2026, 3, 1) + pl.duration(days=pl.int_range(pl.len()) // 40)
    used = days([0.1], size=240).with_columns(day=moment)
    written = monitored(used.with_columns(pl.col("day").dt.strftime(form))).prior
    same = pl.col("day").cast(pl.Date)
    assert_frame_equal(written.with_columns(same), monitored(used).prior.with_columns(same))


@pytest.mark.parametrize(
    ("time", "match"),
    [
        (pl.lit(None, pl.Date), "100 rows have no 'day'"),
        (pl.lit("30.11.2026"), "texts that are no dates, such as '30.11.2026'"),
        (pl.lit("May"), "texts that are no dates"),
    ],
)
def test_times_without_an_order_are_refused(time, match):
    with pytest.raises(InvalidPredictions, match=match):
        monitored(days([0.1], size=100).with_columns(time.alias("day")))


# Points and their range


@pytest.mark.parametrize(
    ("over", "ends"),
    [
        ((0.05, 0.2), (0.05, 0.2)),
        (pr.uniform(0.05, 0.2, scale="skew"), (0.05, 0.2)),
        # The middle 99 % of a distribution that has no ends.
        (pr.beta(20, 180), tuple(stats.beta.ppf([0.005, 0.995], 20, 180))),
    ],
)
def test_the_range_is_that_of_the_points(over, ends, tmp_path):
    points = pr.operating_points(cases(2, 5_000, 0.1), "cost", over=over, cost_fn=5, **ROLES)
    points.write_csv(tmp_path / "points.csv")
    for known in (points, pl.read_csv(tmp_path / "points.csv")):
        told = monitored(days([0.4]), points=known, over=None)
        assert told.over == pytest.approx(ends)
        assert told.alarms["alarm"].str.starts_with("the prior left the range").all()
        assert told.alarms.height == 1
    assert monitored(days([0.4]), points=points, over=(0.3, 0.5)).alarms.is_empty()


def test_points_at_an_estimated_prior_keep_its_interval():
    tuning = cases(2, 5_000, 0.1)
    told = pr.estimate_prior(tuning, cases(3, 5_000, 0.1).drop("truth"), **ROLES)
    points = pr.operating_points(tuning, "cost", priors=told, cost_fn=5, **ROLES)
    found = monitored(days([0.4]), points=points, over=None)
    assert found.over == told.select("lower", "upper").row(0)
    assert found.alarms.height == 1


def test_each_key_has_the_range_that_its_threshold_was_chosen_for():
    reference = pl.concat([REFERENCE.with_columns(site=pl.lit(site)) for site in "ab"])
    used = pl.concat([days([0.15] * 2).with_columns(site=pl.lit(site)) for site in "ab"])
    tuning, ranges = cases(2, 5_000, 0.1), {"a": (0.02, 0.05), "b": (0.1, 0.2)}
    points = pl.concat(
        pr.operating_points(tuning, "cost", over=over, cost_fn=5, **ROLES).with_columns(
            site=pl.lit(site)
        )
        for site, over in ranges.items()
    )
    result = monitored(used, reference, points=points, over=None, by="site")
    assert set(result.alarms["site"]) == {"a"}
    assert result.alarms["alarm"].str.starts_with("the prior left the range 2 % to 5 %").all()
    assert result.over == (0.02, 0.2)


def test_points_may_be_numbers_or_results_of_other_functions():
    number = monitored(days([0.1]), points=POINTS["threshold"].item())
    judged = pr.apply_thresholds(cases(2, 1_000, 0.1), POINTS, **ROLES, intervals=True)
    found = monitored(days([0.1]), points=judged)
    for name, table in number.tables.items():
        assert_frame_equal(found.tables[name], table)
    models = pl.concat(REFERENCE.with_columns(model=pl.lit(name)) for name in "AB")
    used = pl.concat(days([0.1], model=name) for name in "AB")
    several = monitored(used, models, points={"A": 1.0, "B": 2.0}).thresholds
    assert several.select("model", "threshold").rows() == [("A", 1.0), ("B", 2.0)]
    twice = pl.concat([POINTS, POINTS.with_columns(prior=0.3)])
    with pytest.raises(InvalidTable, match="have several thresholds"):
        monitored(days([0.1]), points=twice)


def test_the_table_that_the_threshold_was_chosen_on_is_no_reference():
    said = "On the cases it was chosen on, they are too good"
    assert said in " ".join(monitored(days([0.1])).warnings)
    assert not monitored(days([0.1]), cases(1, 10_000, 0.1)).warnings


def test_scores_without_a_reference_are_refused():
    known, used = REFERENCE.with_columns(model=pl.lit("A")), days([0.1], model="B")
    with pytest.raises(InvalidPredictions, match="threshold: B: the reference has no cases"):
        monitored(used, known, points=1.0)


# Answers


def test_an_estimate_outside_the_range_is_said_where_its_limits_raise_no_alarm():
    # Of 150 cases the limits are wide.
    used = days([0.2] * 3, size=150)
    outside = monitored(used, over=(0.01, 0.1))
    assert outside.alarms.is_empty()
    assert "outside the range 1 % to 10 %, though not significantly." in outside.answer
    assert "within the range 5 % to 50 %." in monitored(used, over=(0.05, 0.5)).answer
    silent = monitored(days([0.1, 0.5]), over=None, points=1.0)
    assert silent.alarms.is_empty()
    assert "No range of priors was given (over=)" in silent.answer


def test_the_answer_says_whether_the_last_alarm_holds_now():
    now = monitored(days([0.1, 0.6, 0.6]))
    assert now.answer.startswith("2 alarms, the last at day 3: the prior left the range")
    gone = monitored(days([0.1, 0.6, 0.1]))
    assert gone.answer.startswith("No alarm in the last period. The prior is estimated at")
    assert "One alarm at day 2: the prior left the range" in gone.answer


def test_the_last_periods_with_scores_and_with_labels_are_shown():
    used = days([0.1, 0.1, 0.1]).with_columns(day=pl.date(2026, 1, 1) + pl.duration(days="day"))
    dates = used["day"].unique().sort()
    result = monitored(used, labelled=labels_of(used.filter(pl.col("day") < dates[-1])))
    shown = result.summary().partition("Last period of scores and of labels")[2]
    assert re.search(rf"{dates[-1]} +scores", shown)
    assert re.search(rf"{dates[-2]} +labels", shown)
    assert str(dates[0]) not in shown


def test_times_at_midnight_are_named_as_dates():
    used = days([0.1, 0.6]).with_columns(day=pl.datetime(2026, 1, 1) + pl.duration(days="day"))
    assert "alarm at day 2026-01-03: the prior left" in monitored(used).answer


def test_a_result_shows_its_alarms_and_tables_without_rows_keep_their_columns():
    result = monitored(days([0.1, 0.6, 0.6]))
    assert result.summary() == repr(result)
    assert "the prior left the range 6 % to 15 %" in result.summary()
    page = result._repr_html_()
    assert "<td>3</td>" in page
    assert "None" not in page
    empty = monitored(days([0.1]).clear())
    for name, table in result.tables.items():
        assert empty.tables[name].schema == table.schema
    assert empty.table.schema == result.table.schema
    assert empty.answer == "No alarm: there are no scores."


def test_rows_that_were_dropped_are_said():
    gaps = days([0.1]).with_columns(
        score=pl.when(pl.int_range(pl.len()) < 500).then(None).otherwise("score")
    )
    (said,) = monitored(gaps, cases(1, 10_000, 0.1), nulls="drop").warnings
    assert said.startswith("scores in use: deployed: dropped 500 ")


@pytest.mark.parametrize("missing", [None, np.nan])
def test_rows_that_were_dropped_are_neither_alarms_nor_other_cases(missing):
    used = days([0.1, 0.1])
    lost = used.head(700).with_columns(score=pl.lit(missing, pl.Float64))
    found = monitored(pl.concat([used, lost]), nulls="drop", labelled=pl.concat([lost, used]))
    threshold = POINTS["threshold"].item()
    share = used.group_by("day").agg((pl.col("score") >= threshold).mean()).sort("day")["score"]
    for source in ("scores", "labels"):
        rows = found.thresholds.filter(source=source)
        assert rows["posfrac"].to_list() == pytest.approx(share.to_list())


@pytest.mark.parametrize("kind", [pl.String, pl.Date, pl.Datetime])
def test_batches_of_the_reference_may_have_the_name_of_the_time(kind):
    def dated(frame):
        return frame.with_columns(day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("day")))

    known = dated(pl.concat(cases([2, d], 500, 0.1, day=d) for d in range(10)))
    used = dated(days([0.1, 0.1]))
    found = monitored(used, known.with_columns(pl.col("day").cast(kind)), batch="day")
    other = monitored(used, known.rename({"day": "batch"}), batch="batch")
    assert_frame_equal(found.prior.drop("assumes"), other.prior.drop("assumes"))


def test_costs_may_be_numbers_of_numpy():
    used = days([0.1])
    found = monitored(used, cost_fn=np.int64(5), cost_fp=np.float32(0.5))
    expected = monitored(used, cost_fn=5, cost_fp=0.5)
    assert_frame_equal(found.thresholds, expected.thresholds)


def test_further_tables_may_be_lazy():
    used = days([0.1, 0.3])
    found = monitored(used.drop("truth").lazy(), labelled=used.head(300).lazy())
    eager = monitored(used, labelled=used.head(300))
    for name, table in eager.tables.items():
        assert_frame_equal(found.tables[name], table)
