import numpy as np
import polars as pl
import pytest
from over_time import ROLES, TABLE, months
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

RECALL = {"rule": "recall", "target": 0.8}


def rates(table, threshold):
    called = table["score"] >= threshold
    truth = table["truth"]
    return (called & truth).sum() / truth.sum(), (called & ~truth).sum() / (~truth).sum()


def test_a_step_is_set_on_the_past_and_judged_on_the_next_period():
    found = pr.walk_forward(TABLE, **ROLES, **RECALL).table
    assert found["period"].unique().sort().to_list() == list(range(1, 12))
    for month in (1, 5, 11):
        past = TABLE.filter(pl.col("month") < month)
        positives = past.filter("truth")["score"].sort(descending=True)
        threshold = positives[int(np.ceil(0.8 * len(positives))) - 1]
        known, came = rates(past, threshold), rates(TABLE.filter(month=month), threshold)
        for place, name in enumerate(("tpr", "fpr")):
            (row,) = found.filter(period=month, measure=name).iter_rows(named=True)
            assert row["threshold"] == threshold
            assert row["past"] == pytest.approx(known[place])
            assert row["estimate"] == pytest.approx(came[place])
            assert row["lower"] < row["estimate"] < row["upper"]


def test_the_next_period_is_expected_as_steps_came_out():
    steps = pr.walk_forward(TABLE, **ROLES, **RECALL)
    for name in ("tpr", "precision"):
        apart = steps.table.filter(measure=name)
        apart = (apart["estimate"] - apart["past"]).to_numpy()
        (row,) = steps.expected.filter(measure=name).iter_rows(named=True)
        assert row["steps"] == 11
        assert row["shift"] == pytest.approx(apart.mean())
        assert row["spread"] == pytest.approx(apart.std(ddof=1))
        assert row["estimate"] == pytest.approx(row["past"] + apart.mean())
        width = stats.t.ppf(0.975, 10) * apart.std(ddof=1) * np.sqrt(1 + 1 / 11)
        assert row["upper"] == pytest.approx(min(row["estimate"] + width, 1))
    # The model decays, so that rates on the past are too good.
    assert steps.expected.filter(measure="tpr")["shift"].item() < -0.05
    assert steps.answer.startswith("A threshold set now (")
    assert "had a recall of 0.8" in steps.answer
    assert "precision" not in steps.answer


def test_periods_may_be_text():
    # As the name of a column, too.
    text = TABLE.with_columns(
        pl.format("score{}", pl.col("month").cast(pl.String).str.zfill(2)).alias("month")
    )
    found, same = (pr.walk_forward(table, **ROLES, **RECALL) for table in (text, TABLE))
    assert_frame_equal(found.table.drop("period"), same.table.drop("period"))
    named = text.with_columns(month=pl.col("month").replace("score00", "score"))
    assert_frame_equal(pr.walk_forward(named, **ROLES, **RECALL).expected, same.expected)


def test_limits_hold_the_next_period():
    held, runs = 0, 10
    for seed in range(runs):
        table = months(seed, 7, 200, sd=0.2)
        past, last = table.filter(pl.col("month") < 6), table.filter(month=6)
        expected = pr.walk_forward(past, **ROLES, **RECALL).expected
        (row,) = expected.filter(measure="tpr").iter_rows(named=True)
        held += row["lower"] <= rates(last, row["threshold"])[0] <= row["upper"]
    assert held >= stats.binom.ppf(0.001, runs, 0.95)


def test_rates_are_at_one_prior_and_costs_are_those_given():
    asked = {"rule": "cost", "cost_fn": 5, "prior": 0.1}
    found = pr.walk_forward(TABLE, **ROLES, **asked)
    assert set(found.table["prior"]) == {0.1}
    wide = found.table.filter(period=4).select("measure", "estimate")
    by_name = dict(wide.iter_rows())
    t, f = by_name["tpr"], by_name["fpr"]
    assert by_name["cost"] == pytest.approx(5 * 0.1 * (1 - t) + 0.9 * f)
    assert by_name["posfrac"] == pytest.approx(0.1 * t + 0.9 * f)


@pytest.mark.usefixtures("no_cases_needed")
def test_few_steps_tell_no_limits_and_no_promise_nothing():
    few = pr.walk_forward(TABLE.filter(pl.col("month") < 3), **ROLES, **RECALL)
    assert few.expected["lower"].null_count() == few.expected.height
    assert few.warnings[0].startswith("Fewer than 3 steps")
    asked = {"constraints": {"precision": 0.999}, "confidence": 0.99}
    none = pr.walk_forward(TABLE.filter(pl.col("month") < 3), **ROLES, **asked)
    assert none.expected["past"].null_count() == none.expected.height
    assert "no threshold was set" in none.answer
    assert none.table["estimate"].null_count() == none.table.height


def test_it_is_printed():
    found = pr.walk_forward(TABLE, **ROLES, **RECALL)
    for shown in (repr(found), found._repr_html_()):
        assert "estimate (lower to upper)" in shown
    assert max(map(len, found.summary().splitlines())) <= 80


@pytest.mark.parametrize(
    ("kind", "match", "options"),
    [
        (InvalidArgument, "time is not given", {"time": None}),
        (InvalidArgument, "history is 0", {"history": 0}),
        (InvalidArgument, "cost_fn is -1", {"cost_fn": -1}),
        (InvalidPredictions, "there are 1 periods", {"every": "100i"}),
    ],
)
def test_what_makes_no_sense_is_refused(kind, match, options):
    with pytest.raises(kind, match=match):
        pr.walk_forward(TABLE, **ROLES | RECALL | options)
