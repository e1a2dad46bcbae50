from datetime import datetime

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

ROLES = {"truth": "truth", "score": "score"}
OVER, A_DAY = (0.005, 0.02), {"alerts": 500, "volume": 20_000}


def cases(seed: int, positives=100, negatives=1500) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    score = (rng.normal(size=truth.size) + 2 * truth).round(2)
    return pl.DataFrame({"truth": truth, "score": score})


TUNING = cases(1)


def rates(table: pl.DataFrame, at: float) -> tuple[float, float]:
    called, truth = table["score"].to_numpy() >= at, table["truth"].to_numpy()
    return called[truth].mean(), called[~truth].mean()


def alerts(table: pl.DataFrame, at: float, prior: float) -> float:
    t, f = rates(table, at)
    return 20_000 * (prior * t + (1 - prior) * f)


def test_the_lowest_threshold_that_raises_no_more_alerts_a_day_at_any_prior():
    point = pr.operating_points(TUNING, **ROLES, **A_DAY, over=OVER).row(0, named=True)
    fits = [
        at for at in TUNING["score"].unique()
        if max(alerts(TUNING, at, prior) for prior in OVER) <= 500 + 1e-9
    ]  # fmt: skip
    assert rates(TUNING, point["threshold"])[0] == max(rates(TUNING, at)[0] for at in fits)
    used = sorted(alerts(TUNING, point["threshold"], prior) for prior in OVER)
    assert [point["alerts_least"], point["alerts_most"]] == pytest.approx(used)
    assert point["note"] is None


def test_each_prior_has_alerts_of_its_own():
    curve = pr.curve(TUNING.lazy(), **ROLES)
    points = pr.operating_points(curve, **A_DAY, priors=[*OVER], cost_fn=20).collect()
    limited = {"posfrac": 500 / 20_000}
    asked = {"priors": [*OVER], "cost_fn": 20, "constraints": limited}
    same = pr.operating_points(pr.curve(TUNING, **ROLES), **asked)
    assert_same_numbers(points.select(same.columns), same)
    expected = [alerts(TUNING, at, p) for at, p in zip(points["threshold"], OVER, strict=True)]
    for name in ("alerts_least", "alerts_most"):
        assert points[name].to_list() == pytest.approx(expected)


def test_a_promise_that_leaves_most_of_the_capacity_idle_says_what_it_costs():
    asked = {**ROLES, **A_DAY, "over": OVER, "confidence": 0.95}
    point = pr.operating_points(TUNING, **asked, constraints={"fpr": 0.006})
    most, found, note = point.select("alerts_most", "tpr", "note").row(0)
    free = pr.operating_points(TUNING, **ROLES, **A_DAY, over=OVER)["tpr"].item()
    assert most < 250
    assert note == (
        f"the promise leaves {round(500 - most)} of 500 alerts a day unused: without it "
        f"{float(f'{100 * free:.2g}'):g} % of positives would be found on this table, with it "
        f"{float(f'{100 * found:.2g}'):g} %"
    )
    # What can be promised easily leaves little idle.
    assert pr.operating_points(TUNING, **asked)["note"].item() is None


def test_where_nothing_can_be_promised_all_of_it_is_idle():
    asked = {"constraints": {"recall": 0.99}, "confidence": 0.95, "over": OVER}
    point = pr.operating_points(TUNING.gather_every(10), **ROLES, **A_DAY, **asked)
    assert point["threshold"].item() is None
    assert "without a promise" in point["note"].item()
    assert "unused" not in point["note"].item()


def test_points_with_alerts_are_judged_on_other_cases():
    points = pr.operating_points(TUNING, **ROLES, **A_DAY, over=OVER)
    judged = pr.apply_thresholds(cases(2), points, **ROLES)
    t, f = rates(cases(2), points["threshold"].item())
    assert judged.select("tpr", "fpr").row(0) == pytest.approx((t, f))


DAYS = TUNING.with_columns(
    day=pl.int_range(pl.len()) * 37 % 20, hour=pl.lit(datetime(2026, 1, 1)) + pl.duration(
        hours=pl.int_range(pl.len()) * 37 % 20 * 24 + pl.int_range(pl.len()) % 24
    )
)  # fmt: skip
A_NOTE = "there are 80 cases a day, the mean of the 20 days of this table"


@pytest.mark.parametrize("time", ["day", "hour", pl.col("hour").dt.date()])
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_the_volume_is_that_of_the_days_of_the_table(time, confidence):
    asked = {**ROLES, "alerts": 6, "over": OVER, "confidence": confidence}
    expected = pr.operating_points(TUNING, **asked, volume=80)
    for table in (DAYS, DAYS.lazy()):
        found = pr.operating_points(table, **asked, time=time).lazy().collect()
        assert found["note"].item().startswith(A_NOTE)
        assert_same_numbers(found.drop("note"), expected.drop("note"))
    # A volume that is said is taken.
    said = pr.operating_points(DAYS, **asked, volume=100, time=time)
    assert_same_numbers(said, pr.operating_points(TUNING, **asked, volume=100))


def test_rows_that_count_more_are_more_cases_a_day():
    asked = {"alerts": 6, "priors": 0.01, **ROLES, "time": "day"}
    for role in ("count", "weight"):
        found = pr.operating_points(DAYS.with_columns(n=3), **asked, **{role: "n"})
        assert found["note"].item().startswith("there are 240 cases a day")
    dropped = DAYS.with_columns(score=pl.when(pl.col("day") > 0).then("score"))
    found = pr.operating_points(dropped, **asked, nulls="drop")
    assert found["note"].item().startswith("there are 76 cases a day, the mean of the 20 days")


def test_one_fold_has_all_cases():
    asked = {"alerts": 6, "priors": 0.01, **ROLES, "time": "day"}
    found = pr.operating_points(DAYS.with_columns(fold=1), **asked)
    assert found["note"].item().startswith(A_NOTE)


def test_models_have_the_same_cases_and_other_keys_may_not():
    both = pl.concat([DAYS.with_columns(model=pl.lit(name)) for name in "AB"])
    asked = {"alerts": 6, "priors": 0.01, **ROLES, "time": "day"}
    assert pr.operating_points(both, **asked)["note"].str.starts_with(A_NOTE).all()
    fewer = pl.concat([both.filter(model="A"), both.filter(model="B").head(1520)])
    with pytest.raises(InvalidArgument, match=r"values of 'model' have 76 to 80 cases a day"):
        pr.operating_points(fewer, **asked)


@pytest.mark.parametrize(
    ("table", "time", "said"),
    [
        (DAYS, None, "volume is not given"),
        (DAYS.with_columns(fold=pl.int_range(pl.len()) % 2), "day", "'fold' tells folds apart"),
        (DAYS.with_columns(day=pl.when(pl.col("day") > 0).then("day")), "day", "have no 'day'"),
        (DAYS, "gone", "no column 'gone'"),
    ],
)
def test_without_days_there_is_no_volume(table, time, said):
    with pytest.raises((InvalidArgument, InvalidPredictions), match=said):
        pr.operating_points(table, **ROLES, alerts=6, over=OVER, time=time)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alerts": 500}, "volume is not given"),
        ({"volume": 500}, "alerts is not given"),
        ({"alerts": 500, "volume": 500}, "every case can be looked at"),
        ({"alerts": -1, "volume": 500}, "alerts is -1"),
        ({**A_DAY, "volume": float("inf")}, "volume is inf"),
        ({**A_DAY, "constraints": {"posfrac": 0.1}}, "limited besides"),
        ({**A_DAY, "rule": "capacity", "target": 0.1}, "limited besides"),
        ({**A_DAY, "rule": "balanced"}, "leaves no choice"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    with pytest.raises(InvalidArgument, match=said) as error:
        pr.operating_points(TUNING, **ROLES, **given)
    assert "Hint:" in str(error.value)


def test_a_capacity_below_0_has_an_example():
    with pytest.raises(InvalidArgument, match=r"alerts is -5(.|\n)*Hint: for example alerts=100"):
        pr.operating_points(TUNING, **ROLES, alerts=-5, volume=1000)
