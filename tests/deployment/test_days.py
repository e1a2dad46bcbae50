import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.deployment.limits import Days
from polaroc.errors import InvalidArgument, InvalidPredictions

ROLES = {"truth": "truth", "score": "score"}
PLAN = {"points": 1.5, "over": (0.05, 0.2)}
NAMES = ROLES | PLAN | {"time": "day"}


def days(seed, number, size, prior, sd):
    rng = np.random.default_rng(seed)
    truth = rng.random(number * size) < prior
    day = np.repeat(np.arange(1, number + 1), size)
    score = rng.normal(size=day.size) + 2 * truth + rng.normal(scale=sd, size=number)[day - 1]
    return pl.DataFrame({"truth": truth, "score": score, "day": day})


REFERENCE = days(0, 30, 330, 0.1, 0.15)
USED = days(1, 40, 2_000, 0.1, 0.15).drop("truth")


def told_days(reference, used, day="day", **plan):
    return pr.monitor(
        pr.cases(reference, **ROLES, time=day), pr.cases(used, score="score", time="day"),
        **PLAN | plan,
    )  # fmt: skip


def test_the_days_of_the_reference_tell_how_much_days_differ():
    alike = pr.monitor(REFERENCE, USED, **NAMES)
    told = told_days(REFERENCE, USED)
    assert alike.alarms.height > 0
    assert told.alarms.is_empty()
    keys = ["day", "quantity"]
    both = told.table.join(alike.table, on=keys, suffix="_alike").drop_nulls("lower_alike")
    assert both["quantity"].n_unique() == 4
    wider = (pl.col("lower") <= pl.col("lower_alike")) & (pl.col("upper") >= pl.col("upper_alike"))
    assert both.select(wider.all()).item()
    prior = told.table.filter(quantity="prior")
    assert prior.select(pl.lit(0.1).is_between("lower", "upper").all()).item()
    said = "days differ only in the share of positives and by chance."
    assert said in " ".join(alike.summary().split())
    assert said not in " ".join(told.summary().split())


def test_a_state_goes_on_where_the_days_are_named_later():
    before = pr.monitor(REFERENCE, USED.filter(pl.col("day") <= 20), **NAMES)
    later = USED.filter(pl.col("day") > 20)
    whole = told_days(REFERENCE, USED)
    told = told_days(REFERENCE, later, state=before.state)
    assert_frame_equal(told.table, whole.table.filter(pl.col("day") > 20))


def test_what_is_far_beyond_how_days_differ_raises_alarms():
    reference = days(2, 30, 1_000, 0.3, 0.05).with_columns(batch="day").drop("day")
    asked = {"day": "batch", "over": (0.2, 0.4), "points": 2.5, "cost_fn": 5}
    grown = told_days(reference, days(3, 40, 5_000, 0.8, 0.05), **asked)
    alarms = grown.alarms["alarm"].str.split(":").list.first()
    assert set(alarms) == {
        "the prior left the range 20 % to 40 %",
        "another threshold is now better",
    }
    other = days(4, 40, 5_000, 0.3, 0.05).with_columns(pl.col("score") * 3)
    (kind,) = set(
        told_days(reference, other, **asked)
        .alarms.filter(quantity="prior")["alarm"]
        .str.split(":").list.first()
    )  # fmt: skip
    assert kind == "more than the prior has shifted"


def test_models_are_compared_with_the_days_that_each_has():
    good, bad = (days(5, 30, 1_000, 0.3, sd) for sd in (0.0, 0.05))
    models = {"A": good, "B": bad.with_columns(pl.col("score") * 0.1)}
    used = days(6, 30, 5_000, 0.3, 0.0).drop("truth")
    tables = [
        pl.concat(table.with_columns(model=pl.lit(name)) for name, table in named.items())
        for named in (models, {"A": used, "B": used.with_columns(pl.col("score") * 0.1)})
    ]
    points = {"A": 1.0, "B": 0.28}
    found = told_days(*tables, points=points, over=(0.01, 0.02), cost_fn=9).alarms
    better = found.filter(pl.col("alarm").str.contains("another model is now better: A"))
    assert set(better["model"]) == {"B"}


@pytest.mark.parametrize(
    ("kind", "match", "change"),
    [
        (InvalidPredictions, "reference: all rows are of 3: one day does not", {"day": pl.lit(3)}),
        (InvalidPredictions, "reference: 9,900 rows have no 'day'", {"day": pl.lit(None, pl.Int8)}),
        (InvalidPredictions, "reference: the time 'day' is Struct", {"day": pl.struct("day")}),
    ],
)
def test_days_of_a_reference_that_tell_nothing_are_refused(kind, match, change):
    with pytest.raises(kind, match=match) as caught:
        told_days(REFERENCE.with_columns(**change), USED)
    assert "\nHint: " in str(caught.value)


def test_few_days_of_a_reference_are_said():
    few = REFERENCE.filter(pl.col("day") <= 5)
    told = told_days(few, USED)
    assert any("has 5 values of 'day'. So few do not tell" in one for one in told.warnings)
    enough = told_days(REFERENCE, USED)
    assert not any("So few" in one for one in enough.warnings)


@pytest.mark.parametrize("day", ["30.11.2026", "11/30/2026", "1-12-26"])
def test_days_as_text_that_do_not_sort_are_refused(day):
    used = USED.with_columns(day=pl.lit(day))
    with pytest.raises(InvalidPredictions, match="which does not sort by day"):
        pr.monitor(REFERENCE, used, **NAMES)
    iso = USED.with_columns(day=pl.lit("2026-11-30"))
    assert pr.monitor(REFERENCE, iso, **NAMES).table["day"].n_unique() == 1


def test_days_of_a_reference_are_no_keys():
    reference = pr.cases(REFERENCE, **ROLES, by="day", time="day")
    with pytest.raises(InvalidArgument, match="reference: the time 'day' is among by"):
        pr.monitor(reference, USED, **PLAN)


def test_the_days_of_a_reference_are_used_where_it_has_them_as_their_role():
    reference = pr.cases(REFERENCE, **ROLES, time="day")
    expected = told_days(REFERENCE, USED)
    assert_frame_equal(pr.monitor(reference, USED, **PLAN).table, expected.table)
    renamed = USED.rename({"day": "date"})
    found = pr.monitor(reference, renamed, **PLAN, time="date")
    assert_frame_equal(found.table, expected.table.rename({"day": "date"}))
    hours = USED.select("score", hour=pl.col("day") * 24 + 7)
    told = pr.monitor(reference, hours, **PLAN, time=(pl.col("hour") // 24).alias("day"))
    assert_frame_equal(told.table, expected.table)
    # A column of days in a plain table is that of the scores in use alone.
    without = pr.cases(REFERENCE, **ROLES)
    for known in (without, pr.cases(REFERENCE.drop("day"), **ROLES)):
        plain = pr.monitor(known, USED, **PLAN, time="day")
        assert_frame_equal(plain.table, pr.monitor(REFERENCE, USED, **NAMES).table)
    with pytest.raises(InvalidArgument, match="deployed: time is not given"):
        pr.monitor(without, USED, **PLAN)
    used = pr.cases(USED.with_columns(hour=pl.col("day") * 24), score="score", time="hour")
    beside = pr.monitor(without, used, **PLAN, time="day")
    assert_frame_equal(beside.table, pr.monitor(REFERENCE, USED, **NAMES).table)


def test_a_day_for_each_row_tells_nothing_and_is_said():
    reference = REFERENCE.with_columns(day=pl.int_range(pl.len()))
    told = told_days(reference, USED)
    assert any(one.startswith("'day' has 9,900 times for 9,900 cases") for one in told.warnings)
    precision = told.table.filter(quantity="precision")
    assert (precision["upper"] - precision["lower"]).min() > 0.9


@pytest.mark.parametrize("number", [5, 30])
@pytest.mark.parametrize("digits", [9, 0])
def test_the_spread_is_an_upper_limit_of_a_shift(number, digits):
    runs, sd, cuts = 80, 0.2, np.array([0.0, 1.0])
    rng, below = np.random.default_rng(number), 0
    for _ in range(runs):
        code = rng.choice(number, 1_500, p=rng.dirichlet(np.full(number, 9)))
        score = (rng.normal(size=code.size) + rng.normal(scale=sd, size=number)[code]).round(digits)
        below += Days.of_scores(score, code, cuts, 0.05).spread.min() < sd
    assert below <= stats.binom.ppf(0.999, runs, 0.05)


def test_what_differs_at_a_cut_alone_counts_there():
    rng = np.random.default_rng(1)
    code = np.repeat(np.arange(40), 200)
    score = rng.normal(size=code.size) * np.exp(rng.normal(scale=0.5, size=40))[code]
    centre, far = Days.of_scores(score, code, np.array([0.0, 1.5]), 0.05).spread
    assert far > 2 * centre
    # By the delta method, a width that varies by half moves the quantile 1.5 by about as much.
    assert far == pytest.approx(0.5 * 1.3, rel=0.35)


def test_a_cluster_of_the_reference_names_its_days():
    expected = told_days(REFERENCE, USED)
    batches = REFERENCE.rename({"day": "batch"})
    assert_frame_equal(pr.monitor(batches, USED, **NAMES, cluster="batch").table, expected.table)
    for roles in ({"cluster": "batch"}, {"cluster": "batch", "time": "batch"}):
        reference = pr.cases(batches, **ROLES, **roles)
        used = pr.cases(USED, score="score", time="day", cluster="day")
        assert_frame_equal(pr.monitor(reference, used, **PLAN).table, expected.table)


def test_clusters_beside_days_are_refused():
    patients = REFERENCE.with_columns(patient=pl.int_range(pl.len()) // 3)
    reference = pr.cases(patients, **ROLES, time="day", cluster="patient")
    used = USED.with_columns(patient=pl.int_range(pl.len()) // 3)
    with pytest.raises(InvalidArgument, match="reference: time is 'day' and cluster is 'patient'"):
        pr.monitor(reference, pr.cases(USED, score="score", time="day"), **PLAN)
    in_use = pr.cases(used, score="score", time="day", cluster="patient")
    with pytest.raises(InvalidArgument, match="deployed: time is 'day' and cluster is 'patient'"):
        pr.monitor(pr.cases(REFERENCE, **ROLES), in_use, **PLAN)
