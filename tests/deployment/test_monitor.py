import re
from datetime import datetime

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.deployment.history import RESULT, STATE
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

NAMES = {"truth": "truth", "score": "score", "time": "day"}


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
POINTS = (
    REFERENCE.pipe(pr.curve, truth="truth", score="score")
    .pipe(pr.operating_points, "cost", priors=0.1)
    .lazy()
    .collect()
)


def monitored(deployed, reference=REFERENCE, **arguments):
    usual = NAMES | {"points": POINTS, "over": (0.06, 0.15)}
    return pr.monitor(reference, deployed, **usual | arguments)


def assert_same_state(state, expected):
    # Sums over other numbers of days may differ in the last digit.
    assert_frame_equal(state.drop("results"), expected.drop("results"))


def test_without_change_there_is_no_alarm_and_all_limits_hold():
    result = monitored(days(STEADY))
    assert result.alarms.is_empty()
    assert result.answer.startswith("No alarm")
    # The true rates of the threshold, from the normal distributions of the scores.
    from scipy.stats import norm

    threshold = POINTS["threshold"].item()
    t, f = norm.sf(threshold - 2), norm.sf(threshold)
    share = 0.1 * t + 0.9 * f
    true = {"prior": 0.1, "precision": 0.1 * t / share, "posfrac": share}
    true["cost"] = 0.1 * (1 - t) + 0.9 * f
    for name, value in ((name, float(value)) for name, value in true.items()):
        rows = result.table.filter(quantity=name)
        assert rows.height == len(STEADY)
        assert rows.select((pl.col("lower") < value) & (value < pl.col("upper"))).to_series().all()
        assert rows["estimate"].mean() == pytest.approx(value, rel=0.1)
        inside = pl.col("estimate").is_between("lower", "upper")
        assert rows.select(inside).to_series().all()


def test_a_prior_that_left_its_range_raises_an_alarm_that_says_so():
    result = monitored(days([*STEADY, 0.4, 0.01, 0.01, 0.01]))
    alarms = result.alarms.filter(quantity="prior")
    assert alarms["day"][0] == 13
    assert alarms["alarm"][0].startswith("the prior left the range 6 % to 15 %: it is at least ")
    (low, *_) = monitored(days([0.005] * 8)).alarms.filter(quantity="prior")["alarm"]
    assert low.startswith("the prior left the range 6 % to 15 %: it is at most ")
    assert (
        monitored(days([0.4] * 2), over=None, points=1.5)
        .alarms.filter(pl.col("alarm").str.contains("left the range"))
        .is_empty()
    )


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
    of_day = result.table.filter(day=1)
    limits = dict(of_day.select("quantity", "upper").iter_rows())
    assert limits["posfrac"] is not None
    assert limits["prior"] is limits["precision"] is limits["cost"] is None


def test_a_threshold_that_is_better_now_is_named_and_better():
    # For the present prior, the threshold for 10 % is far too high.
    result = monitored(days([0.7] * 6), over=None, cost_fn=5, points=POINTS)
    (alarm, *_) = result.alarms.filter(quantity="cost")["alarm"]
    assert alarm.startswith("another threshold is now better: ")
    threshold, saved = (
        float(word) for word in re.findall(r"better: (\S+) .* at least (\S+) less", alarm)[0]
    )
    from scipy.stats import norm

    def cost(at):
        return 5 * 0.7 * norm.cdf(at - 2) + 0.3 * norm.sf(at)

    assert cost(POINTS["threshold"].item()) - cost(threshold) > saved > 0


def test_a_threshold_that_was_no_good_from_the_start_is_no_change():
    # At the prior it is for it costs more than others; that is not news.
    far = POINTS.with_columns(threshold=pl.lit(-2.0))
    assert monitored(days(STEADY), points=far).alarms.is_empty()


def test_another_model_that_is_better_now_is_named():
    # Two thresholds of one model, as two models: for few and for many positives.
    models = [cases(1, 20_000, 0.1, model=name) for name in ("few", "many")]
    points = pl.DataFrame({"model": ["few", "many"], "threshold": [2.5, 0.0], "prior": [0.1, 0.1]})
    used = pl.concat(days([0.1, 0.8], size=10_000, model=name) for name in ("few", "many"))
    result = monitored(used, pl.concat(models), model="model", points=points, over=None)
    told = result.alarms.filter(pl.col("alarm").str.contains("another model"))
    assert told.select("model", "day").rows() == [("few", 2)]
    assert "another model is now better: many would cost at least " in told["alarm"].item()


@pytest.mark.parametrize("by", [[], ["model"], ["region", "model"]], ids=len)
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
    assert_frame_equal(pl.concat(tables).sort(*by, "day", maintain_order=True), whole.table)
    assert_same_state(state, whole.state)
    assert_frame_equal(
        monitored(used.clear(), reference, state=state, **arguments).history, whole.table
    )
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


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"reference": cases(77, 10_000, 0.1)}, "state is of another reference, threshold"),
        ({"points": 0.3}, "state is of another reference, threshold"),
        ({"level": 0.9}, "state is of another reference, threshold, level, model or costs"),
        ({"cost_fn": 5}, "state is of another reference, threshold, level, model or costs"),
        ({"by": "place"}, "the state has the columns 'day', 'look'"),
    ],
)
def test_a_state_of_something_else_is_refused(change, match):
    state = monitored(days(STEADY)).state
    arguments = {"reference": REFERENCE} | change
    tables = [
        table.with_columns(place=pl.lit("A")) for table in (arguments.pop("reference"), days([0.1]))
    ]
    with pytest.raises(InvalidTable, match=match):
        monitored(tables[1], tables[0], state=state, **arguments)


def test_a_state_whose_times_are_of_another_type_is_refused():
    state = monitored(days(STEADY)).state
    named = days([0.1]).with_columns(pl.col("day").cast(pl.String))
    with pytest.raises(InvalidTable, match="the time 'day' is Int32 in the state and String"):
        monitored(named, state=state)


# Of days with different numbers of cases.
STATE_OF_TWO = monitored(days([0.1, 0.1]).tail(3_900)).state


@pytest.mark.parametrize(
    ("state", "match"),
    [
        (pl.concat([STATE_OF_TWO, STATE_OF_TWO]), "the state has the time 1 twice"),
        (STATE_OF_TWO.with_columns(called=pl.lit("many")), "the state was changed"),
        *(
            (STATE_OF_TWO.with_columns(changed), "the state was changed")
            for changed in (
                pl.col("called").list.head(3),
                pl.col("called").list.eval(pl.element().shift(1)),
                pl.col("called") - 10**6,
                pl.col("called") + 10**6,
                pl.col("look") - 5,
                pl.lit("xx").alias("results"),
            )
        ),
    ],
)
def test_a_state_that_no_monitor_wrote_is_refused(state, match):
    with pytest.raises(InvalidTable, match=match) as caught:
        monitored(days([0.1]).with_columns(day=pl.lit(3)), state=state)
    assert "\nHint: give the state of the last call" in str(caught.value)


@pytest.mark.parametrize("column", STATE_OF_TWO.columns)
def test_a_state_that_lacks_a_value_is_refused(column):
    first = pl.int_range(pl.len()) == 0
    lacking = STATE_OF_TWO.with_columns(pl.when(~first).then(column).alias(column))
    with pytest.raises(InvalidTable, match="the state was changed"):
        monitored(days([0.1]).with_columns(day=pl.lit(3)), state=lacking)


def test_decimal_thresholds_are_numbers():
    found, expected = (
        monitored(days([0.1]), points=pl.DataFrame({"threshold": pl.Series([1], dtype=kind)}))
        for kind in (pl.Decimal(5, 2), pl.Float64)
    )
    assert_frame_equal(found.history, expected.history)


def test_two_states_under_each_other_are_refused():
    other = monitored(days([0.1, 0.1]).with_columns(pl.col("day") + 5)).state
    with pytest.raises(InvalidTable, match="the state has the look 1 twice"):
        monitored(days([0.1]).with_columns(day=pl.lit(3)), state=pl.concat([STATE_OF_TWO, other]))


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
    down, _ = answer([*up, 0.6, *[0.001] * 30], state)
    assert "at most" in down


def test_a_model_that_is_given_no_longer_has_no_alarm_now():
    reference = pl.concat(REFERENCE.with_columns(model=pl.lit(name)) for name in "AB")
    named = {name: {"model": pl.lit(name)} for name in "AB"}
    first = monitored(
        pl.concat([days([0.1]).with_columns(**named["A"]), days([0.6]).with_columns(**named["B"])]),
        reference, model="model", points=1.4,
    )  # fmt: skip
    assert "alarm" in first.answer.split(":")[0]
    later = days([0.1]).with_columns(pl.col("day") + 1, **named["A"])
    second = monitored(later, reference, model="model", points=1.4, state=first.state)
    assert second.answer.startswith("No alarm now.")
    assert second.history["model"].unique().sort().to_list() == ["A", "B"]


def test_a_look_whose_time_was_left_out_of_the_state_is_spent_all_the_same():
    state = monitored(days(STEADY)).state.filter(pl.col("day") > 9)
    later = monitored(days([0.1]).with_columns(day=pl.lit(13, pl.Int32)), state=state).state
    assert later["look"].to_list() == [10, 11, 12, 13]


def test_both_hours_of_one_name_are_times():
    # At the end of summer time 02:00 comes twice.
    hours = pl.datetime_range(
        datetime(2026, 10, 24, 23), datetime(2026, 10, 25, 2), "1h", time_zone="UTC", eager=True
    )
    local = hours.dt.convert_time_zone("Europe/Berlin")
    used = days([0.1] * 4, size=200).sort("day")
    used = used.with_columns(local.gather(used["day"] - 1).alias("day"))
    whole = monitored(used)
    assert whole.state["day"].to_list() == local.to_list()
    assert whole.state["day"].dt.convert_time_zone("UTC").to_list() == hours.to_list()
    assert whole.state["look"].to_list() == [1, 2, 3, 4]
    first = monitored(used.head(500 - 100))
    later = monitored(used.tail(400), state=first.state, labelled=used.tail(50))
    known = later.history.filter(~pl.col("quantity").str.ends_with("_labelled"))
    assert_frame_equal(known, whole.history)
    labelled = later.table.filter(quantity="prior_labelled")
    assert labelled["day"].to_list() == [local[3]]


def test_the_unit_of_times_is_no_difference():
    day = pl.datetime(2026, 3, pl.col("day"))
    used = days([0.1, 0.1]).with_columns(day=day)
    first = monitored(used.filter(pl.col("day") == datetime(2026, 3, 1)))
    later = used.filter(pl.col("day") == datetime(2026, 3, 2))
    later = later.with_columns(pl.col("day").cast(pl.Datetime("ns")))
    assert monitored(later, state=first.state).state["look"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("time", "match"),
    [
        (pl.lit("May").cast(pl.Enum(["May", "April"])), "the time 'day' is Enum"),
        (pl.struct("day"), "the time 'day' is Struct"),
        (pl.lit(float("nan")), "100 rows have no 'day'"),
    ],
)
def test_times_without_an_order_are_refused(time, match):
    with pytest.raises(InvalidPredictions, match=match):
        monitored(days([0.1], size=100).with_columns(time.alias("day")))


MODELS = pl.concat(cases(i, 500, 0.2, model=m) for i, m in enumerate("AB"))
TWO = {"model": "model", "points": 1.0}


def of_points(**columns):
    changed = POINTS.with_columns(pl.lit(value).alias(name) for name, value in columns.items())
    return TWO | {"points": changed}


@pytest.mark.parametrize(
    ("kind", "match", "arguments"),
    [
        (InvalidPredictions, r"no reference for model='C'\.", TWO),
        (InvalidTable, "no rows for model='B'", of_points(model="A")),
        (InvalidTable, "have 2 rows for model='A'", TWO | {"points": pl.concat([POINTS, POINTS])}),
        (InvalidTable, "a threshold is null", of_points(threshold=None)),
        (InvalidTable, "no role of the cases names the key 'fold'", of_points(fold=1)),
        (InvalidTable, "no column 'threshold'", TWO | {"points": POINTS.drop("threshold")}),
        (InvalidArgument, "points is nan", TWO | {"points": float("nan")}),
        (InvalidTable, "a threshold that is no number", of_points(threshold=float("nan"))),
        (InvalidTable, "a threshold that is no number", of_points(threshold="0.3")),
        (InvalidTable, "a share that is no number from 0 to 1", of_points(share=7.0)),
        (InvalidTable, "a share that is no number from 0 to 1", of_points(share=None)),
        (InvalidArgument, "over is 0.1, allowed is a pair", TWO | {"over": 0.1}),
        (InvalidArgument, "level is 95", TWO | {"level": 95}),
        (InvalidArgument, "cost_fn is 0", TWO | {"cost_fn": 0}),
        (InvalidArgument, "there is no column 'date'", TWO | {"time": "date"}),
        (InvalidArgument, "the time 'day' is among by", TWO | {"by": ["model", "day"]}),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_with_a_hint(kind, match, arguments):
    used = days([0.2], model="C" if "no reference" in match else "A")
    with pytest.raises(kind, match=match) as caught:
        monitored(used, MODELS.with_columns(day=1), **arguments)
    assert "\nHint: " in str(caught.value)


def test_a_reference_of_one_class_and_rows_without_a_time_are_refused():
    with pytest.raises(InvalidPredictions, match="reference: no positives for model='A'"):
        monitored(days([0.1], model="A"), MODELS.filter(~pl.col("truth")), **TWO)
    with pytest.raises(InvalidPredictions, match="deployed: 1 row has no 'day'"):
        monitored(pl.concat([days([0.1]), days([0.1]).head(1).with_columns(day=None)]))
    with pytest.raises(InvalidPredictions, match="deployed: 1 NaN score"):
        monitored(days([0.1]).with_columns(score=pl.lit(float("nan"))).head(1))


def test_further_tables_may_be_files(tmp_path):
    used = pl.concat(days([0.1, 0.3], model=model) for model in ("A", "B"))
    used.drop("truth").write_parquet(tmp_path / "used.parquet")
    used.head(300).write_csv(tmp_path / "labelled.csv")
    usual = {"points": 1.0}
    found = monitored(
        tmp_path / "used.parquet", MODELS, labelled=tmp_path / "labelled.csv", **usual
    )
    assert found.table["model"].unique().sort().to_list() == ["A", "B"]
    assert "prior_labelled" in found.table["quantity"]
    assert_frame_equal(found.table, monitored(used, MODELS, labelled=used.head(300), **usual).table)


def test_tables_without_rows_keep_their_columns():
    empty = monitored(days([0.1]).clear())
    assert empty.table.drop("level").schema == {"day": pl.Int32, **RESULT}
    assert empty.state.schema == {"day": pl.Int32, **STATE}
    assert empty.answer == "No alarm: no new scores were given."
    assert empty.answer in empty.summary()


def test_the_summary_has_alarms_and_the_last_time():
    result = monitored(days([0.1, 0.6, 0.6]))
    text = result.summary()
    assert text == repr(result)
    assert "the prior left the range 6 % to 15 %" in text
    assert "Last time\n" in text
    page = result._repr_html_()
    assert "<table" in page
    assert "<td>3</td>" in page
    assert "None" not in page


@pytest.mark.parametrize("size", [3, 2_000])
def test_scores_in_per_cent_tell_no_share_of_positives(size):
    fractions = {"score": 1 / (1 + (-pl.col("score")).exp())}
    used = days([0.1], size=size).with_columns(**fractions)
    reference = REFERENCE.with_columns(**fractions)
    points = 0.6
    result = monitored(used.with_columns(pl.col("score") * 100), reference, points=points)
    rows = {row["quantity"]: row for row in result.table.iter_rows(named=True)}
    assert all(rows[name]["estimate"] is None for name in ("prior", "precision", "cost"))
    assert rows["prior"]["lower"] is rows["prior"]["upper"] is None
    reach = 100 * used["score"].max()
    known = reference["score"].max()
    said = f"deployed scores reach {reach:.3g}, those of the reference {known:.3g}: another unit?"
    assert rows["prior"]["alarm"].endswith(said)
    # The same the other way round, where scores up to 1 might be per cents.
    swapped = monitored(used, reference.with_columns(pl.col("score") * 100), points=60)
    told = swapped.alarms.filter(quantity="prior")["alarm"].to_list()
    assert ["another unit?" in alarm for alarm in told] == ([True] if size > 3 else [])
    assert monitored(used, reference, points=points).alarms.is_empty()


def test_without_a_range_the_monitor_says_that_no_prior_raises_an_alarm():
    silent = "No range of priors was given (over=), so no shift of the share of positives raises"
    calm = monitored(days([0.1, 0.5]), over=None, points=1.0)
    assert calm.alarms.is_empty()
    assert silent in calm.answer
    assert silent not in monitored(days([0.1])).summary()
    alarmed = monitored(days([0.7] * 6), over=None, cost_fn=5)
    assert silent not in alarmed.answer
    assert silent in " ".join(alarmed.summary().split())


@pytest.mark.parametrize("over", [(0.01, 0.1), (0.3, 0.6)])
def test_an_estimate_outside_the_range_is_said_where_its_limits_raise_no_alarm(over):
    # Of 150 cases the limits are wide.
    outside = monitored(days([0.2] * 3, size=150), over=over)
    assert outside.alarms.is_empty()
    last = outside.table.filter(quantity="prior", day=3).row(0, named=True)
    estimate, lower, upper = (
        f"{100 * last[name]:.3g} %" for name in ("estimate", "lower", "upper")
    )
    low, high = (f"{100 * end:.3g} %" for end in over)
    assert outside.answer == (
        f"No alarm: the prior is estimated at {estimate} ({lower} to {upper}; day 3), outside the "
        f"range {low} to {high} that the threshold is for. The limits do not rule the range out."
    )
    assert not over[0] <= last["estimate"] <= over[1]
    assert outside.answer in " ".join(outside.summary().split())
    inside = monitored(days([0.2] * 3, size=150), over=(0.05, 0.5))
    assert inside.answer == "No alarm: nothing shows that a threshold should change."


def test_an_estimate_outside_the_range_is_said_of_each_key_and_after_an_alarm():
    reference = pl.concat(REFERENCE.with_columns(site=pl.lit(name)) for name in "ab")
    used = pl.concat(
        days([prior] * 2, size=size).with_columns(site=pl.lit(name))
        for name, prior, size in (("a", 0.05, 3_000), ("b", 0.2, 150))
    )
    asked = {"by": "site", "points": 1.4, "over": (0.01, 0.1)}
    assert "; site b, day 2), outside" in monitored(used, reference, **asked).answer
    used = pl.concat([
        cases(1, 100, 0.9, day=1), *(cases(day, 5_000, 0.05, day=day) for day in range(2, 8)),
        cases(0, 150, 0.2, day=8),
    ])  # fmt: skip
    after = monitored(used, points=1.4, over=(0.01, 0.1)).answer
    assert after.startswith("No alarm now. The last was at 1: the prior left the range")
    assert ". The prior is estimated at " in after
    assert "day 8), outside" in after


def test_the_table_that_the_threshold_was_chosen_on_is_no_reference():
    said = "On the cases it was chosen on, they are too good"
    tuned = monitored(days([0.1]))
    assert said in " ".join(tuned.summary().split())
    other = monitored(days([0.1]), cases(1, 10_000, 0.1))
    assert not other.warnings
    assert not monitored(days([0.1]), points=POINTS.select("threshold")).warnings


def test_the_precision_is_at_least_what_well_known_false_alarms_leave():
    # Of 20,000 negatives the false alarms are known well, of 60 positives the recall is not.
    rng = np.random.default_rng(3)
    truth = np.arange(20_060) < 60
    score = rng.normal(size=truth.size) + 3 * truth
    reference = pl.DataFrame({"truth": truth, "score": score})
    used = cases(5, 20_000, 0.1, distance=3.0, day=1).drop("truth")
    table = pr.monitor(reference, used, points=2.0, **NAMES).table
    limits = {row["quantity"]: row for row in table.iter_rows(named=True)}
    false_alarms = int((score[~truth] >= 2).sum())
    # A limit that fails once in a billion; those of the monitor hold in 95 % of runs.
    rate = stats.beta.isf(1e-9, false_alarms + 1, 20_000 - false_alarms)
    share = limits["posfrac"]["lower"]
    least = 1 - (1 - limits["prior"]["lower"]) * rate / share
    assert least > 0.5
    assert limits["precision"]["lower"] >= least


@pytest.mark.parametrize(("count", "rows"), [(500, "500 rows were"), (1, "1 row was")])
def test_rows_that_were_dropped_are_said(count, rows):
    gaps = days([0.1]).with_columns(
        score=pl.when(pl.int_range(pl.len()) < count).then(None).otherwise("score")
    )
    (said,) = monitored(gaps, cases(1, 10_000, 0.1), nulls="drop").warnings
    assert said.startswith(f"deployed: {rows} dropped, for lack of a score")
    assert not monitored(days([0.1]), cases(1, 10_000, 0.1), nulls="drop").warnings


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


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"])
def test_times_that_are_text_are_the_dates_they_say(form):
    moment = datetime(2026, 3, 1) + pl.duration(days=pl.int_range(pl.len()) // 40)
    used = days([0.1], size=240).with_columns(day=moment)
    known, labelled = (
        cases(1, 10_000, 0.1),
        used.with_columns(truth=pl.int_range(pl.len()) % 7 == 0),
    )
    as_text = pl.col("day").dt.strftime(form)
    told = monitored(used, known, labelled=labelled)
    written = monitored(used.with_columns(as_text), known, labelled=labelled.with_columns(as_text))
    assert_frame_equal(
        written.table.with_columns(pl.col("day").cast(pl.Date)),
        told.table.with_columns(pl.col("day").cast(pl.Date)),
    )
    assert written.warnings == told.warnings
    assert written.table["day"].dtype.is_temporal()


def test_the_range_is_that_of_the_points():
    names = {"truth": "truth", "score": "score"}
    points = pr.operating_points(
        cases(2, 5_000, 0.1),
        "max_recall",
        over=(0.05, 0.2),
        constraints={"precision": 0.3},
        **names,
    )
    used = days([0.4], size=2_000)
    told, asked = (monitored(used, points=points, over=over) for over in (None, (0.05, 0.2)))
    assert told.over == (0.05, 0.2)
    assert_frame_equal(told.table, asked.table)
    assert told.warnings == asked.warnings
    other = monitored(used, points=points, over=(0.3, 0.5))
    assert other.over == (0.3, 0.5)
    assert "The thresholds were chosen for 5 % to 20 % positives" in other.warnings[0]


TUNING, BY_COST = cases(2, 5_000, 0.1), {"truth": "truth", "score": "score", "cost_fn": 5}


def chosen_over(over):
    return pr.operating_points(TUNING, "cost", over=over, **BY_COST)


@pytest.mark.parametrize(
    ("over", "ends"),
    [
        ((0.05, 0.2), (0.05, 0.2)),
        (pr.uniform(0.05, 0.2), (0.05, 0.2)),
        (pr.uniform(0.05, 0.2, measure="skew"), (0.05, 0.2)),
        # The middle 99 % of a distribution that has no ends.
        (pr.beta(20, 180), tuple(stats.beta.ppf([0.005, 0.995], 20, 180))),
    ],
)
def test_points_over_a_belief_keep_its_range(over, ends, tmp_path):
    points = chosen_over(over)
    assert points.select("over_lower", "over_upper").row(0) == pytest.approx(ends)
    points.write_csv(tmp_path / "points.csv")
    for known in (points, points.drop("over"), pl.read_csv(tmp_path / "points.csv")):
        watched = monitored(days([0.4] * 2), points=known, over=None)
        assert watched.over == pytest.approx(ends)
        assert watched.alarms["alarm"].str.starts_with("the prior left the range").any()


@pytest.mark.parametrize("argument", ["over", "priors"])
def test_points_at_an_estimated_prior_keep_its_interval(argument):
    names = {"truth": "truth", "score": "score"}
    used = cases(3, 5_000, 0.1).drop("truth")
    estimate = pr.estimate_prior(TUNING, used, method="confusion", **names)
    points = pr.operating_points(TUNING, "cost", **{argument: estimate}, **BY_COST)
    watched = monitored(days([0.4] * 2), points=points, over=None)
    assert watched.over == estimate.select("lower", "upper").row(0)
    assert watched.alarms["alarm"].str.starts_with("the prior left the range").any()


def test_each_key_has_the_range_that_its_threshold_was_chosen_for():
    reference = pl.concat([REFERENCE.with_columns(site=pl.lit(site)) for site in "ab"])
    used = pl.concat([days([0.15] * 6).with_columns(site=pl.lit(site)) for site in "ab"])
    ranges = {"a": (0.02, 0.05), "b": (0.1, 0.2)}
    points = pl.concat(
        chosen_over(over).with_columns(site=pl.lit(site)) for site, over in ranges.items()
    )
    watched = monitored(used, reference, points=points, over=None, by="site")
    alarms = watched.alarms.filter(quantity="prior")
    assert set(alarms["site"]) == {"a"}
    assert alarms["alarm"].str.starts_with("the prior left the range 2 % to 5 %").all()
    assert watched.over == (0.02, 0.2)


def test_batches_of_the_reference_are_not_cut_into_periods():
    day = datetime(2026, 3, 2) + pl.duration(days=pl.col("day"))
    used = days([0.1] * 14, size=200).with_columns(day=day)
    known = REFERENCE.with_columns(batch=pl.int_range(pl.len()) % 40)
    weekly = monitored(used, known, every="1w", cluster="batch")
    assert weekly.table["day"].n_unique() == 3
    # Names of batches tell what their numbers tell.
    named = known.with_columns(batch="hospital " + pl.col("batch").cast(pl.String))
    assert_frame_equal(monitored(used, named, every="1w", cluster="batch").table, weekly.table)
    # Days are cut in both tables.
    dated = known.with_columns(day=datetime(2026, 1, 5) + pl.duration(days=pl.col("batch")))
    weeks = dated.with_columns(batch=pl.col("batch") // 7)
    assert_frame_equal(
        monitored(used, dated, every="1w", cluster="day").table,
        monitored(used, weeks, every="1w", cluster="batch").table,
    )


@pytest.mark.parametrize(
    ("prior", "share", "kept", "free"), [(0.5, 0.02, False, True), (0.002, 0.4, True, True)]
)
def test_no_lower_threshold_is_better_than_that_of_a_capacity(prior, share, kept, free):
    names, asked = {"truth": "truth", "score": "score"}, {"cost_fn": 20, "over": (0.05, 0.2)}
    limits = {"posfrac": share}
    points = pr.operating_points(
        cases(2, 5_000, 0.1), "max_recall", over=(0.05, 0.2), constraints=limits, **names
    )
    used = days([prior] * 8, size=5_000)
    for given, is_better in ((points, kept), (points.drop("rule"), free)):
        alarms = " ".join(monitored(used, points=given, **asked).table["alarm"].drop_nulls())
        assert ("another threshold is now better" in alarms) is is_better


def test_points_that_were_judged_or_cost_least_are_points():
    names = {"truth": "truth", "score": "score"}
    costs = pr.expected_cost(pr.curve(REFERENCE, **names), over=(0.06, 0.15), cost=0.5)
    judged = pr.apply_thresholds(cases(2, 1_000, 0.1), POINTS, **names, intervals=True)
    for points, threshold in ((costs, costs["threshold"].item()), (judged, POINTS["threshold"][0])):
        found = monitored(days([0.1]), points=points)
        assert_frame_equal(found.table, monitored(days([0.1]), points=threshold).table)


def test_a_rare_prior_is_not_taken_for_none():
    # Two in a thousand: a usual day has forty positives, all among the highest scores.
    rng = np.random.default_rng(5)

    def days(first, number):
        truth = rng.random((number, 20_000)) < 0.002
        score = rng.normal(size=truth.shape) + 3 * truth
        day = np.repeat(np.arange(first, first + number), truth.shape[1])
        return pl.DataFrame({"day": day, "truth": truth.ravel(), "score": score.ravel()})

    reference, used = days(0, 10), days(10, 12)
    found = pr.monitor(
        reference, used.drop("truth"), points=3.2, over=(0.001, 0.005), time="day", truth="truth",
        score="score",
    ).table.filter(quantity="prior")["estimate"]  # fmt: skip
    assert found.min() > 0
    assert found.mean() == pytest.approx(used["truth"].mean(), rel=0.2)
