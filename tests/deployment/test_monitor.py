"""Rates of deployed thresholds at each time, from scores without labels."""

import re
from datetime import datetime
from itertools import combinations

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


# Limits and alarms


def test_without_change_there_is_no_alarm_and_all_limits_hold():
    result = monitored(days(STEADY))
    assert result.alarms.is_empty()
    assert result.answer.startswith("No alarm")
    for name, value in true_values(0.1, POINTS["threshold"].item()).items():
        rows = result.table.filter(quantity=name)
        assert rows.height == len(STEADY)
        for inside in (pl.lit(float(value)), pl.col("estimate")):
            assert rows.select(inside.is_between("lower", "upper").all()).item()
        assert rows["estimate"].mean() == pytest.approx(value, rel=0.1)


def watched(seed, priors, positives=1_000, runs=8, size=2_000, sd=0.0, batches=None, drift=None):
    """Monitors of so many runs at once, each at the level 95 %; days differ by `sd`."""
    rng = np.random.default_rng(seed)
    truth = np.tile(np.arange(10 * positives) < positives, runs)
    place = np.repeat(np.arange(runs), 10 * positives)
    batch = rng.integers(0, batches or 1, truth.size)
    shift = rng.normal(scale=sd, size=(runs, batches or 1)) if batches else np.zeros((runs, 1))
    reference = pl.DataFrame({
        "table": place, "truth": truth, "batch": batch,
        "score": rng.normal(size=truth.size) + 2 * truth + shift[place, batch],
    })  # fmt: skip
    shape = (runs, len(priors), size)
    truth = rng.random(shape) < np.asarray(priors)[:, None]
    score = rng.normal(size=shape) + 2 * truth + rng.normal(scale=sd, size=(*shape[:2], 1))
    if drift is not None:
        score = drift(score, truth)
    table, day, _ = np.indices(shape)
    used = {"table": table.ravel(), "day": day.ravel() + 1, "score": score.ravel()}
    return pr.monitor(
        reference, pl.DataFrame(used), **NAMES, by="table", points=1.8, over=(0.05, 0.2),
        cluster="batch" if batches else None, level=1 - 0.05 * runs,
    )  # fmt: skip


def first_alarms(result, quantity="prior"):
    alarms = result.alarms.filter(quantity=quantity)
    return alarms.group_by("table").agg(pl.col("day").min()).sort("table")


@pytest.mark.slow
@pytest.mark.parametrize("positives", [50, 1_000])
def test_while_the_prior_stays_in_its_range_there_is_no_alarm_and_limits_hold(positives):
    moving = 0.12 + 0.07 * np.sin(np.arange(120) / 9)
    result = watched(1, moving, positives)
    true = pl.concat(
        pl.DataFrame({"quantity": name, "day": np.arange(120) + 1, "true": values})
        for name, values in true_values(moving, 1.8).items()
    )
    rows = result.table.join(true, on=["quantity", "day"])
    assert rows.height == 8 * 120 * 4
    # Of 8 monitors at the level 95 % more than 2 fail in 6 of 1,000 such trials.
    failed = rows.filter(~pl.col("true").is_between("lower", "upper"))
    assert failed["table"].n_unique() <= 2
    assert result.alarms["table"].n_unique() <= 2


@pytest.mark.slow
def test_streams_without_change_raise_a_false_alarm_as_rarely_as_the_level_says():
    # At this end of its range chance leads the prior out of it most easily. If each look had the
    # whole error rate, so many would raise one in about three of ten streams.
    batches, runs, looks = 4, 10, 800
    alarmed = 0
    for batch in range(batches):
        result = watched([7, batch], [0.2] * looks, positives=2_000, runs=runs, size=50)
        alarmed += result.alarms["table"].n_unique()
    # At most .05 and three standard errors of 40 streams: 6 of them.
    streams = batches * runs
    assert alarmed / streams <= 0.05 + 3 * (0.05 * 0.95 / streams) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("prior", "within"), [(0.5, 1), (0.3, 10)])
def test_a_prior_that_left_its_range_is_noticed_soon(prior, within):
    result = watched(2, [0.1] * 40 + [prior] * 20, runs=5)
    first = first_alarms(result)
    assert first.height == 5
    assert first["day"].is_between(41, 40 + within).all()


@pytest.mark.parametrize(
    "drift",
    [lambda x, y: x + 0.5, lambda x, y: x + 0.4 * ~y, lambda x, y: 2 * y + 1.3 * (x - 2 * y)],
    ids=["all scores", "negatives", "spread"],
)
def test_drift_that_is_no_prior_shift_is_noticed_within_ten_days(drift):
    result = watched(3, [0.1] * 10, runs=5, drift=drift)
    said = result.alarms.filter(pl.col("alarm").str.starts_with("more than the prior has shifted"))
    assert said["table"].n_unique() == 5


def test_a_prior_that_left_its_range_raises_an_alarm_that_says_so():
    result = monitored(days([*STEADY, 0.4, 0.01, 0.01, 0.01]))
    alarms = result.alarms.filter(quantity="prior")
    assert alarms["day"][0] == 13
    assert alarms["alarm"][0].startswith("the prior left the range 6 % to 15 %: it is at least ")
    (low, *_) = monitored(days([0.005] * 8)).alarms.filter(quantity="prior")["alarm"]
    assert low.startswith("the prior left the range 6 % to 15 %: it is at most ")


@pytest.mark.parametrize("change", [{"shift": 1.0}, {"distance": 0.0}])
def test_drift_that_is_no_prior_shift_has_no_limits(change):
    # Scores without positives among them are a mixture, with the prior 0.
    drifted = days([0.5] * 3, **change)
    if "distance" in change:
        drifted = drifted.with_columns(pl.col("score") * 0.2 + 1)
    result = monitored(drifted)
    first = result.alarms.row(0, named=True)
    assert first["day"] == 1
    assert first["alarm"].startswith("more than the prior has shifted: no mixture of the refer")
    limits = dict(result.table.filter(day=1).select("quantity", "upper").iter_rows())
    assert limits["posfrac"] is not None
    assert limits["prior"] is limits["precision"] is limits["cost"] is None


def test_scores_in_another_unit_tell_no_share_of_positives():
    fractions = {"score": 1 / (1 + (-pl.col("score")).exp())}
    used, reference = days([0.1]).with_columns(**fractions), REFERENCE.with_columns(**fractions)
    result = monitored(used.with_columns(pl.col("score") * 100), reference, points=0.6)
    rows = {row["quantity"]: row for row in result.table.iter_rows(named=True)}
    assert all(rows[name]["estimate"] is None for name in ("prior", "precision", "cost"))
    assert rows["prior"]["lower"] is rows["prior"]["upper"] is None
    assert rows["prior"]["alarm"].endswith("another unit?")
    assert monitored(used, reference, points=0.6).alarms.is_empty()


def test_the_precision_is_at_least_what_well_known_false_alarms_leave():
    # Of 20,000 negatives the false alarms are known well, of 60 positives the recall is not.
    rng = np.random.default_rng(3)
    truth = np.arange(20_060) < 60
    score = rng.normal(size=truth.size) + 3 * truth
    reference = pl.DataFrame({"truth": truth, "score": score})
    used = cases(5, 20_000, 0.1, distance=3.0, day=1).drop("truth")
    table = pr.monitor(reference, used, points=2.0, **NAMES).table
    limits = {row["quantity"]: row for row in table.iter_rows(named=True)}
    # A limit that fails once in a billion; those of the monitor hold in 95 % of runs.
    rate = stats.beta.isf(1e-9, int((score[~truth] >= 2).sum()) + 1, 20_000)
    least = 1 - (1 - limits["prior"]["lower"]) * rate / limits["posfrac"]["lower"]
    assert least > 0.5
    assert limits["precision"]["lower"] >= least


def test_a_threshold_that_calls_some_of_its_cases_calls_that_share_of_them():
    rounded = pl.col("score").round(1)
    used = days(STEADY[:3]).with_columns(rounded)
    points = pl.DataFrame({"threshold": [1.5], "share": [0.4]})
    found = monitored(used, REFERENCE.with_columns(rounded), points=points).table
    called = (rounded > 1.5) + 0.4 * (rounded == 1.5)
    expected = used.group_by("day", maintain_order=True).agg(called.mean())["score"].to_list()
    assert found.filter(quantity="posfrac")["estimate"].to_list() == pytest.approx(expected)


def test_a_rare_prior_is_not_taken_for_none():
    # Two in a thousand: a usual day has forty positives, all among the highest scores.
    reference, used = (
        days([0.002] * number, size=20_000, seed=seed, distance=3.0)
        for seed, number in ((400, 10), (500, 12))
    )
    found = pr.monitor(reference.drop("day"), used.drop("truth"), points=3.2, **NAMES).table
    found = found.filter(quantity="prior")["estimate"]
    assert found.min() > 0
    assert found.mean() == pytest.approx(used["truth"].mean(), rel=0.35)


def test_a_threshold_that_is_better_now_is_named_and_better():
    # For the present prior, the threshold for 10 % is far too high.
    result = monitored(days([0.7] * 6), over=None, cost_fn=5)
    (alarm, *_) = result.alarms.filter(quantity="cost")["alarm"]
    threshold, saved = (
        float(word)
        for word in re.findall(
            r"another threshold is now better: (\S+) .* at least (\S+) less", alarm
        )[0]
    )
    own, other = (
        true_values(0.7, at, cost_fn=5)["cost"] for at in (POINTS["threshold"].item(), threshold)
    )
    assert own - other > saved > 0
    # A threshold that was no good from the start is no change.
    far = POINTS.with_columns(threshold=pl.lit(-2.0))
    assert monitored(days(STEADY), points=far).alarms.is_empty()


@pytest.mark.parametrize(
    ("prior", "share", "kept", "free"), [(0.5, 0.02, False, True), (0.002, 0.4, True, True)]
)
def test_no_lower_threshold_is_better_than_that_of_a_capacity(prior, share, kept, free):
    points = pr.operating_points(
        cases(2, 5_000, 0.1), "max_recall", over=(0.05, 0.2), constraints={"posfrac": share},
        **ROLES,
    )  # fmt: skip
    used, asked = days([prior] * 8, size=5_000), {"cost_fn": 20, "over": (0.05, 0.2)}
    for given, is_better in ((points, kept), (points.drop("rule"), free)):
        alarms = " ".join(monitored(used, points=given, **asked).table["alarm"].drop_nulls())
        assert ("another threshold is now better" in alarms) is is_better


MODELS = {"A": (2.0, 3.0), "B": (2.0, 1.0), "C": (3.0, 1.5), "D": (1.0, 2.5), "E": (2.5, 1.2)}


def test_the_better_model_is_the_best_of_all_pairs():
    reference = pl.concat(
        cases(seed, 8_000, 0.1, distance=distance, model=model)
        for seed, (model, (distance, _)) in enumerate(MODELS.items())
    )
    points = pl.DataFrame(
        {"model": list(MODELS), "threshold": [one for _, one in MODELS.values()], "prior": 0.1}
    )
    # From the third day on most cases are positive; one model lacks a day, one has other cases.
    used = pl.concat(
        cases(50 * day + seed, 3_000 - 7 * ((model, day) == ("D", 3)), prior, distance=distance,
              model=model, day=day)
        for day, prior in enumerate((0.1, 0.1, 0.6, 0.6), 1)
        for seed, (model, (distance, _)) in enumerate(MODELS.items())
        if (model, day) != ("C", 4)
    )  # fmt: skip

    def told(models, share_of_error):
        own = pl.col("model").is_in(models)
        result = pr.monitor(
            reference.filter(own), used.filter(own), **NAMES, model="model", cost_fn=3,
            points=points.filter(own), level=1 - 0.05 * share_of_error,
        )  # fmt: skip
        better = r"another model is now better: (\w+) would cost at least (\S+) less"
        return {
            (model, day): max((float(saved), name) for name, saved in re.findall(better, alarm))
            for model, day, alarm in result.alarms.select("model", "day", "alarm").iter_rows()
            if "another model" in alarm
        }

    best = {}
    for pair in combinations(MODELS, 2):
        for key, saving in told(pair, 2 / len(MODELS)).items():
            best[key] = max(saving, best.get(key, saving))
    assert told(list(MODELS), 1) == best
    assert {model for model, _ in best} == {"A", "D"}
    assert len({name for _, name in best.values()}) > 1


# Days that differ


def differing(seed, number, size, sd, prior=0.1):
    rng = np.random.default_rng(seed)
    shift = rng.normal(scale=sd, size=number)
    return pl.concat(cases([seed, d], size, prior, one, day=d + 1) for d, one in enumerate(shift))


@pytest.mark.slow
@pytest.mark.parametrize(("positives", "sd"), [(200, 0.15), (1_000, 0.05), (1_000, 0.15)])
def test_days_that_differ_as_those_of_the_reference_raise_no_alarm(positives, sd):
    result = watched(4, [0.2] * 120, positives, runs=3, sd=sd, batches=30)
    assert result.alarms.is_empty()
    prior = result.table.filter(quantity="prior")
    assert prior.select(pl.lit(0.2).is_between("lower", "upper").all()).item()


def test_days_that_differ_raise_alarms_where_the_reference_does_not_tell_them_apart():
    assert first_alarms(watched(5, [0.1] * 60, runs=3, sd=0.15)).height == 3
    assert first_alarms(watched(5, [0.1] * 60, runs=3, sd=0.15, batches=30)).is_empty()


@pytest.mark.slow
@pytest.mark.parametrize(("sd", "within"), [(0.1, 32), (0.15, 40)])
def test_a_prior_that_left_its_range_is_noticed_though_days_differ(sd, within):
    result = watched(6, [0.1] * 40 + [0.4] * 50, runs=3, sd=sd, batches=30)
    first = first_alarms(result)
    assert first.height == 3
    assert first["day"].is_between(41, 40 + within).all()


def test_limits_with_the_days_of_the_reference_are_wider():
    reference = differing(0, 30, 330, 0.15).rename({"day": "batch"})
    used = differing(1, 40, 2_000, 0.15).drop("truth")
    plan = NAMES | {"points": 1.5, "over": (0.05, 0.2)}
    alike = pr.monitor(reference, used, **plan)
    told = pr.monitor(reference, used, **plan, cluster="batch")
    assert alike.alarms.height > 0
    assert told.alarms.is_empty()
    both = told.table.join(alike.table, on=["day", "quantity"], suffix="_alike")
    both = both.drop_nulls("lower_alike")
    assert both["quantity"].n_unique() == 4
    wider = (pl.col("lower") <= pl.col("lower_alike")) & (pl.col("upper") >= pl.col("upper_alike"))
    assert both.select(wider.all()).item()
    said = "days differ only in the share of positives and by chance."
    assert said in " ".join(alike.summary().split())
    assert said not in " ".join(told.summary().split())
    # Names of batches tell what their numbers tell; a few, and one for each row, do not tell it.
    named = reference.with_columns(batch="hospital " + pl.col("batch").cast(pl.String))
    assert_frame_equal(pr.monitor(named, used, **plan, cluster="batch").table, told.table)
    few = pr.monitor(reference.filter(pl.col("batch") <= 5), used, **plan, cluster="batch")
    assert any("has 5 values of 'batch'. So few do not tell" in one for one in few.warnings)
    own = reference.with_columns(batch=pl.int_range(pl.len()))
    unique = pr.monitor(own, used, **plan, cluster="batch")
    assert any("'batch' has 9,900" in one for one in unique.warnings)
    precision = unique.table.filter(quantity="precision")
    assert (precision["upper"] - precision["lower"]).min() > 0.9


def test_days_may_differ_in_how_far_scores_spread():
    def spreading(seed, number, size):
        rng = np.random.default_rng(seed)
        day = np.repeat(np.arange(1, number + 1), size)
        truth = rng.random(day.size) < 0.1
        scale = np.exp(rng.normal(scale=0.3, size=number + 1))[day]
        score = scale * rng.normal(size=day.size) + 2 * truth
        return pl.DataFrame({"day": day, "truth": truth, "score": score})

    # The means of days, which tell of a shift of all scores, hardly differ.
    reference = spreading(0, 30, 330).rename({"day": "batch"})
    used = spreading(1, 40, 2_000).drop("truth")
    plan = NAMES | {"points": 1.5, "over": (0.05, 0.2)}
    assert pr.monitor(reference, used, **plan).alarms["day"].n_unique() > 20
    assert pr.monitor(reference, used, **plan, cluster="batch").alarms.is_empty()


def test_what_is_far_beyond_how_days_differ_raises_alarms():
    reference = differing(2, 30, 1_000, 0.05, 0.3).rename({"day": "batch"})
    asked = {"cluster": "batch", "over": (0.2, 0.4), "points": 2.5, "cost_fn": 5}
    grown = monitored(differing(3, 40, 5_000, 0.05, 0.8), reference, **asked)
    assert set(grown.alarms["alarm"].str.split(":").list.first()) == {
        "the prior left the range 20 % to 40 %",
        "another threshold is now better",
    }
    other = differing(4, 40, 5_000, 0.05, 0.3).with_columns(pl.col("score") * 3)
    alarms = monitored(other, reference, **asked).alarms.filter(quantity="prior")["alarm"]
    assert set(alarms.str.split(":").list.first()) == {"more than the prior has shifted"}


# State


@pytest.mark.parametrize("by", [[], ["region"]], ids=len)
def test_a_resumed_monitor_gives_what_one_in_one_go_gives(by):
    names = ("A", "B") if by else ("A",)
    reference = pl.concat(cases(i, 3_000, 0.1, model=m) for i, m in enumerate(names))
    reference = reference.with_columns(region=pl.lit("north"))
    used = pl.concat(
        days([*STEADY, 0.3, 0.3, 0.3], seed=9 + 50 * i, model=m) for i, m in enumerate(names)
    ).with_columns(region=pl.lit("north"))
    # Days 4 and 5 are missing, and their volumes differ.
    used = used.filter(~pl.col("day").is_in([4, 5]) & (pl.int_range(pl.len()) % 7 < pl.col("day")))
    arguments = {"by": by, "points": 1.4}
    whole = monitored(used, reference, **arguments)
    state, tables = None, []
    for upto in (2, 3, 6, 12, 15):
        later = -1 if state is None else state["day"].max()
        part = used.filter(pl.col("day").is_between(later + 1, upto))
        step = monitored(part, reference, state=state, **arguments)
        state = step.state
        tables.append(step.table)
    assert_frame_equal(
        pl.concat(tables).sort(*by, "model", "day", maintain_order=True), whole.table
    )
    # Sums over other numbers of days may differ in the last digit.
    assert_frame_equal(state.drop("results"), whole.state.drop("results"))
    nothing = monitored(used.clear(), reference, state=state, **arguments)
    assert_frame_equal(nothing.history, whole.table)
    assert whole.alarms.height > 0


def test_a_late_time_and_a_time_given_again():
    used = days(STEADY)
    on_time = monitored(used.filter(pl.col("day") != 5))
    late = monitored(used.filter(day=5), state=on_time.state)
    assert late.state["look"].to_list() == [1, 2, 3, 4, 12, 5, 6, 7, 8, 9, 10, 11]
    assert late.table["day"].unique().to_list() == [5]
    again = monitored(used.filter(day=5), state=late.state)
    assert_frame_equal(again.table, late.table)
    assert_frame_equal(again.state, late.state)
    refusal = r"has 5 already, with 2,000 cases; now it has 100(.|\n)*start a new state from all"
    with pytest.raises(InvalidTable, match=refusal):
        monitored(used.filter(day=5).head(100), state=late.state)
    # A look whose time was left out of the state is spent all the same.
    shortened = monitored(used).state.filter(pl.col("day") > 9)
    later = monitored(days([0.1]).with_columns(day=pl.lit(13, pl.Int32)), state=shortened).state
    assert later["look"].to_list() == [10, 11, 12, 13]


@pytest.mark.parametrize(
    "change",
    [{"reference": cases(77, 10_000, 0.1)}, {"points": 0.3}, {"level": 0.9}, {"cost_fn": 5}],
    ids=lambda one: next(iter(one)),
)
def test_a_state_of_something_else_is_refused(change):
    state = monitored(days(STEADY)).state
    with pytest.raises(InvalidTable, match="state is of another reference, threshold"):
        monitored(days([0.1]), state=state, **change)


# Of days with different numbers of cases.
STATE_OF_TWO = monitored(days([0.1, 0.1]).tail(3_900)).state
FIRST = pl.int_range(pl.len()) == 0
OTHER = monitored(days([0.1, 0.1]).with_columns(pl.col("day") + 5)).state


@pytest.mark.parametrize(
    ("state", "match"),
    [
        (pl.concat([STATE_OF_TWO, STATE_OF_TWO]), "the state has the time 1 twice"),
        (pl.concat([STATE_OF_TWO, OTHER]), "the state has the look 1 twice"),
        (STATE_OF_TWO.with_columns(pl.col("day").cast(pl.String)), "is String in the state"),
        *(
            (STATE_OF_TWO.with_columns(changed), "the state was changed")
            for changed in (
                pl.lit("many").alias("called"),
                pl.col("called").list.head(3),
                pl.col("called").list.eval(pl.element().shift(1)),
                pl.col("called") - 10**6,
                pl.col("called") + 10**6,
                pl.col("look") - 5,
                pl.lit("xx").alias("results"),
                *(pl.when(~FIRST).then(name).alias(name) for name in STATE_OF_TWO.columns),
            )
        ),
    ],
)
def test_a_state_that_no_monitor_wrote_is_refused(state, match):
    with pytest.raises(InvalidTable, match=match):
        monitored(days([0.1]).with_columns(day=pl.lit(3, pl.Int32)), state=state)


# Times


def test_both_hours_of_one_name_are_times():
    # At the end of summer time 02:00 comes twice.
    hours = pl.datetime_range(
        datetime(2026, 10, 24, 23), datetime(2026, 10, 25, 2), "1h", time_zone="UTC", eager=True
    )
    local = hours.dt.convert_time_zone("Europe/Berlin")
    used = days([0.1] * 4, size=200).sort("day")
    used = used.with_columns(local.gather(used["day"] - 1).alias("day"))
    whole = monitored(used)
    assert whole.state["day"].dt.convert_time_zone("UTC").to_list() == hours.to_list()
    assert whole.state["look"].to_list() == [1, 2, 3, 4]
    first = monitored(used.head(400))
    later = monitored(
        used.tail(400).with_columns(pl.col("day").dt.cast_time_unit("ms")), state=first.state
    )
    assert later.state["look"].to_list() == [1, 2, 3, 4]


def test_moments_are_refused_and_cut_into_days():
    moment = datetime(2026, 3, 1) + pl.duration(hours=pl.int_range(pl.len()))
    used = days([0.1], size=240).with_columns(day=moment)
    known = cases(1, 10_000, 0.1)
    with pytest.raises(InvalidArgument, match=r"(?s)240 times for 240 cases.*every='1d'"):
        monitored(used, known)
    by_day = monitored(used, known, every="1d")
    dates = monitored(used.with_columns(pl.col("day").dt.date()), known)
    assert_frame_equal(by_day.table.with_columns(pl.col("day").dt.date()), dates.table)
    assert monitored(used, known, every="12h").table["day"].n_unique() == 20
    # What else has a value of its own for each row is said.
    (said,) = monitored(used.with_columns(day=pl.int_range(pl.len())), known).warnings
    assert said.startswith("'day' has 240 times for 240 cases")


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])
def test_times_that_are_text_are_the_dates_they_say(form):
    moment = datetime(2026, 3, 1) + pl.duration(days=pl.int_range(pl.len()) // 40)
    used = days([0.1], size=240).with_columns(day=moment)
    told = monitored(used).table
    written = monitored(used.with_columns(pl.col("day").dt.strftime(form))).table
    assert written["day"].dtype.is_temporal()
    same = pl.col("day").cast(pl.Date)
    assert_frame_equal(written.with_columns(same), told.with_columns(same))


@pytest.mark.parametrize(
    ("time", "match"),
    [
        (pl.lit("May").cast(pl.Enum(["May", "April"])), "the time 'day' is Enum"),
        (pl.struct("day"), "the time 'day' is Struct"),
        (pl.lit(float("nan")), "100 rows have no 'day'"),
        (pl.lit("30.11.2026"), "which does not sort by day"),
        (pl.lit("11/30/2026"), "which does not sort by day"),
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
    asked = monitored(days([0.4] * 2), points=points, over=ends)
    for known in (points, pl.read_csv(tmp_path / "points.csv")):
        told = monitored(days([0.4] * 2), points=known, over=None)
        assert told.over == pytest.approx(ends)
        assert told.alarms["alarm"].str.starts_with("the prior left the range").any()
        assert_frame_equal(told.table, asked.table, rel_tol=1e-6)
    other = monitored(days([0.4] * 2), points=points, over=(0.3, 0.5))
    assert other.over == (0.3, 0.5)
    assert "The thresholds were chosen for" in other.warnings[0]


def test_points_at_an_estimated_prior_keep_its_interval():
    tuning = cases(2, 5_000, 0.1)
    told = pr.estimate_prior(
        tuning, cases(3, 5_000, 0.1).drop("truth"), method="confusion", **ROLES
    )
    points = pr.operating_points(tuning, "cost", priors=told, cost_fn=5, **ROLES)
    assert monitored(days([0.4] * 2), points=points, over=None).over == told.select(
        "lower", "upper"
    ).row(0)


def test_each_key_has_the_range_that_its_threshold_was_chosen_for():
    reference = pl.concat([REFERENCE.with_columns(site=pl.lit(site)) for site in "ab"])
    used = pl.concat([days([0.15] * 6).with_columns(site=pl.lit(site)) for site in "ab"])
    tuning, ranges = cases(2, 5_000, 0.1), {"a": (0.02, 0.05), "b": (0.1, 0.2)}
    points = pl.concat(
        pr.operating_points(tuning, "cost", over=over, cost_fn=5, **ROLES).with_columns(
            site=pl.lit(site)
        )
        for site, over in ranges.items()
    )
    result = monitored(used, reference, points=points, over=None, by="site")
    alarms = result.alarms.filter(quantity="prior")
    assert set(alarms["site"]) == {"a"}
    assert alarms["alarm"].str.starts_with("the prior left the range 2 % to 5 %").all()
    assert result.over == (0.02, 0.2)


def test_points_may_be_a_number_or_results_of_other_functions():
    number = monitored(days([0.1]), points=POINTS["threshold"].item()).table
    costs = pr.expected_cost(pr.curve(REFERENCE, **ROLES), over=(0.06, 0.15), cost=0.5)
    judged = pr.apply_thresholds(cases(2, 1_000, 0.1), POINTS, **ROLES, intervals=True)
    decimal = POINTS.select(pl.col("threshold").round(2).cast(pl.Decimal(9, 2)))
    for points, expected in (
        (judged, number),
        (costs, monitored(days([0.1]), points=costs["threshold"].item()).table),
        (decimal, monitored(days([0.1]), points=float(decimal.item())).table),
    ):
        assert_frame_equal(monitored(days([0.1]), points=points).table, expected)


def test_the_table_that_the_threshold_was_chosen_on_is_no_reference():
    said = "On the cases it was chosen on, they are too good"
    tuned = monitored(days([0.1]))
    assert said in " ".join(tuned.summary().split())
    assert not monitored(days([0.1]), cases(1, 10_000, 0.1)).warnings


# Answers


def test_the_answer_is_about_the_alarm_that_holds_now():
    def answer(priors, state=None):
        used = days(priors).filter(pl.col("day") > (0 if state is None else state["day"].max()))
        result = monitored(used, state=state)
        return result.answer, result.state

    up = [0.1] * 3 + [0.6] * 2
    told, state = answer(up)
    assert "at least" in told
    assert told.endswith("(2 times since 4).")
    later, state = answer([*up, 0.6], state)
    assert later.endswith("(3 times since 4).")
    # An alarm on the mean of some last times goes on for as long.
    gone, _ = answer([*up, 0.6, *[0.1] * 20], state)
    assert gone.startswith("No alarm now. The last was at ")


def test_an_estimate_outside_the_range_is_said_where_its_limits_raise_no_alarm():
    # Of 150 cases the limits are wide.
    outside = monitored(days([0.2] * 3, size=150), over=(0.01, 0.1))
    assert outside.alarms.is_empty()
    assert "outside the range 1 % to 10 % that the threshold is for" in outside.answer
    inside = monitored(days([0.2] * 3, size=150), over=(0.05, 0.5))
    assert inside.answer == "No alarm: nothing shows that a threshold should change."
    silent = monitored(days([0.1, 0.5]), over=None, points=1.0)
    assert silent.alarms.is_empty()
    assert "No range of priors was given (over=)" in silent.answer


def test_a_model_that_is_given_no_longer_has_no_alarm_now():
    reference = pl.concat(REFERENCE.with_columns(model=pl.lit(name)) for name in "AB")
    used = pl.concat([days([0.1], model="A"), days([0.6], model="B")])
    first = monitored(used, reference, model="model", points=1.4)
    assert "alarm" in first.answer.split(":")[0]
    later = days([0.1], model="A").with_columns(pl.col("day") + 1)
    second = monitored(later, reference, model="model", points=1.4, state=first.state)
    assert second.answer.startswith("No alarm now.")
    assert second.history["model"].unique().sort().to_list() == ["A", "B"]


def test_a_result_shows_its_alarms_and_tables_without_rows_keep_their_columns():
    result = monitored(days([0.1, 0.6, 0.6]))
    assert result.summary() == repr(result)
    assert "the prior left the range 6 % to 15 %" in result.summary()
    page = result._repr_html_()
    assert "<td>3</td>" in page
    assert "None" not in page
    empty = monitored(days([0.1]).clear())
    assert empty.table.schema == result.table.schema
    assert empty.state.schema == result.state.schema
    assert empty.answer == "No alarm: no new scores were given."


def test_rows_that_were_dropped_are_said():
    gaps = days([0.1]).with_columns(
        score=pl.when(pl.int_range(pl.len()) < 500).then(None).otherwise("score")
    )
    (said,) = monitored(gaps, cases(1, 10_000, 0.1), nulls="drop").warnings
    assert said.startswith("deployed: 500 rows were dropped, for lack of a score")


def test_further_tables_may_be_lazy():
    used = days([0.1, 0.3])
    found = monitored(used.drop("truth").lazy(), labelled=used.head(300).lazy())
    assert "prior_labelled" in found.table["quantity"]
    assert_frame_equal(found.table, monitored(used, labelled=used.head(300)).table)
