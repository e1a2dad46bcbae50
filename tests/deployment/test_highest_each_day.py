from datetime import date, datetime, timedelta
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

ROLES = {"truth": "truth", "score": "score", "time": "day"}
MEASURES = ["recall", "precision", "cost", "alerts"]


def cases(seed: int, days=8, size=40, prior=0.2, *, ties=True) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(days), rng.integers(size // 2, size, days))
    shift = rng.normal(scale=0.5, size=days)[day]
    truth = rng.random(day.size) < prior
    score = rng.normal(size=day.size) + 1.5 * truth + shift
    return pl.DataFrame({"day": day, "truth": truth, "score": score.round(1) if ties else score})


TABLE = cases(1)


def highest(table, weight, capacity):
    """The chance with which each row is looked at: the best first, equal scores alike."""
    score, taken, left = table["score"].to_numpy(), np.zeros(table.height), capacity
    for one in sorted(set(score), reverse=True):
        of_score = weight[score == one].sum()
        taken[score == one] = min(1, left / of_score)
        left = max(0, left - of_score)
    return taken


def by_loop(table, alerts, prior=None, volume=None, cost_fn=1, cost_fp=1):
    """Recall, precision, cost and alerts a day, a day after another."""
    truth, days = table["truth"].to_numpy(), table["day"].unique().len()
    own = truth.mean() if prior is None else prior
    a_day = table.height / days if volume is None else volume
    of_class = [days * a_day * (1 - own) / (~truth).sum(), days * a_day * own / truth.sum()]
    caught = false = 0.0
    for day in table.partition_by("day"):
        weight = np.where(day["truth"], of_class[1], of_class[0])
        looked_at = weight * highest(day, weight, alerts)
        caught += looked_at[day["truth"].to_numpy()].sum()
        false += looked_at[~day["truth"].to_numpy()].sum()
    all_cases = days * a_day
    cost = (cost_fn * (own * all_cases - caught) + cost_fp * false) / all_cases
    return [caught / (own * all_cases), caught / (caught + false), cost, (caught + false) / days]


def found(table, alerts, **asked) -> list[float]:
    rows = pr.highest_each_day(table, alerts, **ROLES, **asked)
    assert rows["measure"].to_list() == MEASURES
    return rows["estimate"].to_list()


def test_equal_scores_are_looked_at_in_any_order():
    day = pl.DataFrame({"truth": [1, 0, 0, 1, 0], "score": [2.0, 1.0, 1.0, 1.0, 0.0]})
    other = pl.DataFrame({"truth": [0, 1, 1, 0], "score": [3.0, 3.0, 3.0, 1.0]})
    caught = [
        np.mean([sum(truth for _, truth in sorted(order, key=lambda row: -row[0])[:2])
                 for order in permutations(zip(own["score"], own["truth"], strict=True))])
        for own in (day, other)
    ]  # fmt: skip
    table = pl.concat([day.with_columns(day=1), other.with_columns(day=2)])
    assert found(table, 2)[:2] == pytest.approx([sum(caught) / 4, sum(caught) / 4])


@pytest.mark.parametrize("alerts", [3, 12])
def test_one_threshold_has_as_many_alerts(alerts):
    rows = pr.highest_each_day(TABLE, alerts, **ROLES, priors=[0.1, 0.4])
    for prior in (0.1, 0.4):
        recall, precision, _, a_day = rows.filter(prior=prior)["one_threshold"]
        share = a_day * 8 / TABLE.height
        curve = pr.curve(TABLE, truth="truth", score="score")
        t, f = curve["tpr"].to_numpy(), curve["fpr"].to_numpy()
        called = prior * t + (1 - prior) * f
        assert recall == pytest.approx(np.interp(share, called, t))
        assert precision == pytest.approx(prior * recall / share)
        assert a_day == pytest.approx(rows.filter(prior=prior, measure="alerts")["estimate"].item())


def without_each_day(table, alerts, **asked) -> np.ndarray:
    """Standard errors by the jackknife: everything again without each day."""
    days = table["day"].unique()
    left = np.array([by_loop(table.filter(pl.col("day") != day), alerts, **asked) for day in days])
    return np.sqrt((len(days) - 1) * left.var(axis=0))


def test_standard_errors_are_those_of_leaving_each_day_out():
    rows = pr.highest_each_day(TABLE, 6, **ROLES)
    assert rows["std_error"].to_list() == pytest.approx(without_each_day(TABLE, 6), abs=1e-12)


@pytest.mark.parametrize("asked", [{"prior": 0.05}, {"prior": 0.5}, {"prior": 0.1, "volume": 50}])
def test_weights_change_with_the_days_that_are_there(asked):
    # Of many days leaving one out moves the weights little, in steps from case to case.
    table = cases(5, days=60, size=100)
    given = {"priors": asked["prior"], "volume": asked.get("volume")}
    rows = pr.highest_each_day(table, 10, **ROLES, **given)
    expected = without_each_day(table, 10, **asked)
    assert rows["std_error"].to_list() == pytest.approx(expected, rel=0.1, abs=1e-12)


def test_a_sample_of_negatives_with_its_weights_stands_for_all():
    table = cases(9, days=200, size=200, prior=0.1, ties=False)
    drawn = np.random.default_rng(1).random(table.height) < 0.2
    part = table.with_columns(weight=pl.when("truth").then(1.0).otherwise(5.0)).filter(
        pl.col("truth") | pl.lit(pl.Series(drawn))
    )
    whole = pr.highest_each_day(table, 10, **ROLES)
    sampled = pr.highest_each_day(part, 10, **ROLES, weight="weight")
    apart = (sampled["estimate"] - whole["estimate"]).abs()
    assert (apart[:3] < 2 * sampled["std_error"][:3]).all()
    # As many as by volume and prior, where weights are those of the classes.
    asked = {"priors": whole["prior"][0], "volume": table.height / 200}
    by_volume = pr.highest_each_day(part, 10, **ROLES, **asked)
    assert sampled["estimate"].to_list() == pytest.approx(by_volume["estimate"].to_list(), rel=0.02)


@pytest.mark.parametrize(
    ("time", "every"),
    [
        (lambda day: date(2026, 1, 1) + timedelta(days=day), None),
        (lambda day: datetime(2026, 1, 1, 5 * day % 24) + timedelta(days=day), None),
        (lambda day: datetime(2026, 1, 5) + timedelta(days=7 * day, hours=3), "1w"),
        (lambda day: 10 * day + day % 7, "10i"),
        (lambda day: f"part {day}", None),
    ],
)
def test_days_of_any_time(time, every):
    days = TABLE.with_columns(pl.Series("day", [time(day) for day in TABLE["day"]]))
    rows = pr.highest_each_day(days, 5, every, **ROLES)
    assert_same_numbers(rows, pr.highest_each_day(TABLE, 5, **ROLES))


def test_days_with_fewer_cases_are_looked_at_whole():
    few = TABLE.filter((pl.col("day") > 0) | (pl.int_range(pl.len()) < 3))
    rows = pr.highest_each_day(few, 6, **ROLES)
    assert rows["estimate"].to_list() == pytest.approx(by_loop(few, 6))
    assert rows["estimate"][3] == (7 * 6 + 3) / 8
    assert rows["note"].str.contains("1 of 8 days have fewer cases than 6").all()
    lower, upper = rows.select("lower", "upper").row(3)
    assert lower < 6 * 7.5 / 8 < upper


def test_few_days_have_no_limits():
    rows = pr.highest_each_day(TABLE.filter(pl.col("day") < 4), 5, **ROLES)
    assert rows.select(pl.col("lower", "upper", "std_error").is_null().all()).row(0) == (True,) * 3
    assert (rows["note"] == "fewer than 5 days have positives: no interval").all()
    assert rows["estimate"].is_not_null().all()


def test_clusters_may_not_be_in_several_days():
    plain = pr.highest_each_day(TABLE, 5, **ROLES)
    customers = TABLE.with_columns(
        visit=pl.col("day") * 100 + pl.int_range(pl.len()) % 7, customer=pl.int_range(pl.len()) % 9
    )
    for cluster in ("day", "visit"):
        assert_same_numbers(pr.highest_each_day(customers, 5, **ROLES, cluster=cluster), plain)
    crossing = pr.highest_each_day(customers, 5, **ROLES, cluster="customer")
    assert crossing["estimate"].to_list() == plain["estimate"].to_list()
    assert crossing["lower"].is_null().all()
    assert (
        crossing["note"]
        == "cases with the same 'customer' are in several days, which are not independent: no "
        "interval"
    ).all()


def test_customers_that_come_back_are_noticed():
    table = cases(3, size=100)
    back = table.with_columns(customer=pl.int_range(pl.len()) % 50)
    noted = pr.highest_each_day(back, 5, **ROLES)
    said = "cases with the same 'customer' are in several days, which are not independent: limits"
    assert noted["note"].str.starts_with(said).all()
    once = table.with_columns(customer=100 * pl.col("day") + pl.int_range(pl.len()) % 9)
    assert_same_numbers(
        pr.highest_each_day(once, 5, **ROLES), pr.highest_each_day(table, 5, **ROLES)
    )
    assert noted["lower"].to_list() == pr.highest_each_day(table, 5, **ROLES)["lower"].to_list()


def test_folds_have_a_part_of_a_day():
    folds = pl.concat([TABLE.with_columns(fold=fold) for fold in (1, 2)])
    with pytest.raises(InvalidArgument, match="'fold' tells folds apart"):
        pr.highest_each_day(folds, 5, **ROLES)
    by_fold = pr.highest_each_day(folds, 5, **ROLES, volume=90, priors=0.1)
    alone = pr.highest_each_day(TABLE, 5, **ROLES, volume=90, priors=0.1)
    for fold in (1, 2):
        assert_same_numbers(by_fold.filter(fold=fold).drop("fold"), alone)
    # Models fitted anew each day.
    anew = pr.highest_each_day(TABLE, 5, **ROLES, fold="day")
    assert_same_numbers(anew, pr.highest_each_day(TABLE, 5, **ROLES))


def test_classes_that_are_not_there():
    one_class = TABLE.with_columns(truth=pl.lit(False))
    rows = pr.highest_each_day(one_class, 5, **ROLES, priors=[0.1, "observed"])
    assert rows["estimate"].is_null().all()
    assert (rows["note"] == "no positives").all()
    # Without the one day that has positives, nothing is known of them.
    one_day = pl.DataFrame(
        {"truth": [1, 1, 0, 0, 0], "score": [4, 2, 3, 2, 1], "day": [0, 0, 0, 1, 1]}
    )
    assert pr.highest_each_day(one_day, 1, **ROLES)["lower"].is_null().all()
    found_all = TABLE.with_columns(score=pl.col("truth").cast(pl.Float64))
    notes = pr.highest_each_day(found_all, 20, **ROLES).filter(measure="recall")
    assert notes.select("estimate", "lower").row(0) == (1.0, None)
    assert notes["note"].item().endswith("no spread among the days: no interval")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alerts": 40}, "no day has more than 39 cases: every case can be looked at"),
        ({"alerts": 0}, "alerts is 0"),
        ({"alerts": float("nan")}, "alerts is nan"),
        ({"volume": 4}, "every case can be looked at"),
        ({"time": None}, "time"),
        ({"time": "gone"}, "gone"),
        ({"every": "1w"}, "every is '1w'"),
        ({"priors": 0.1, "over": (0.1, 0.2)}, "both priors and over"),
        ({"over": (0.2, 0.1)}, "lo < hi"),
        ({"cost_fn": 0}, "cost_fn is 0"),
        ({"level": 1}, "level is 1"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    with pytest.raises(InvalidArgument, match=said) as error:
        pr.highest_each_day(TABLE, **{"alerts": 5, **ROLES, **given})
    assert "Hint:" in str(error.value)


def test_times_may_not_be_null():
    some = TABLE.with_columns(day=pl.when(pl.col("day") > 0).then("day"))
    with pytest.raises(InvalidPredictions, match="rows have no 'day'"):
        pr.highest_each_day(some, 5, **ROLES)


@pytest.mark.parametrize("prior", ["observed", 0.4])
def test_limits_hold_what_comes_of_many_days(prior):
    drawn, many = 100, cases(11, days=4_000, ties=False)
    true = pr.highest_each_day(many, 5, **ROLES, priors=prior)["estimate"]
    held = np.zeros(4)
    for seed in range(drawn):
        table = cases(100 + seed, days=15, ties=False)
        found = pr.highest_each_day(table, 5, **ROLES, priors=prior)
        held += ((found["lower"] <= true) & (true <= found["upper"])).to_numpy()
    # Not below .95, and far from certain, by three standard errors.
    error = (0.95 * 0.05 / drawn) ** 0.5
    assert (held[:3] / drawn > 0.95 - 3 * error).all()
    assert (held[:3] / drawn < 1).all()
    assert held[3] == drawn
