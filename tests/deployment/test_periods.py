from datetime import date

import numpy as np
import polars as pl
import pytest
from over_time import ROLES, TABLE, months
from polars.testing import assert_frame_equal
from scipy import stats
from statsmodels.stats.multitest import multipletests

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

# A table without a trend, of which one of several measures seems to have one.
CHANCE = 4


def test_a_period_has_the_measures_of_its_rows():
    found = pr.periods(TABLE, **ROLES, measures=["auc", "auprec"], priors=[0.1, 0.5]).table
    expected = pr.evaluate(
        TABLE.rename({"month": "period"}), truth="truth", score="score", by="period",
        measures=["auc", "auprec"], priors=[0.1, 0.5], intervals="logit",
    )  # fmt: skip
    assert_frame_equal(found, expected.select(found.columns))


def test_measures_are_taken_at_one_prior_and_rates_at_the_same():
    found = pr.periods(TABLE, **ROLES, points=1.0, measures=["auprec", "brier"],
                       score_prior=0.5).table  # fmt: skip
    share = TABLE["truth"].mean()
    assert set(found["prior"]) == {share}
    judged = pr.apply_thresholds(
        TABLE, 1.0, truth="truth", score="score", by="month", priors=share, intervals="exact"
    )
    for name in ("tpr", "fpr", "precision", "posfrac", "cost"):
        rows = found.filter(measure=name)
        assert rows["estimate"].to_list() == judged[name].to_list()
        assert rows["upper"].to_list() == judged[f"{name}_upper"].to_list()


def brute(table, measure="auc"):
    """The slope and its standard error by the jackknife over clusters of each month."""
    of = {}
    for (month,), rows in table.partition_by("month", as_dict=True).items():
        roles = {"truth": "truth", "score": "score"}
        whole = pr.evaluate(rows, **roles, measures=measure)["estimate"].item()
        left = {
            who: pr.evaluate(rows.filter(pl.col("patient") != who), **roles, measures=measure)[
                "estimate"
            ].item()
            for who in rows["patient"].unique()
        }
        of[month] = whole, left
    return of


def test_the_slope_is_that_of_a_line_and_its_error_knows_clusters_that_cross_periods():
    table = months(3, number=4, size=400, patients=60)
    of = brute(table)
    found = pr.periods(table, **ROLES, measures="auc", cluster="patient").trends.row(0, named=True)
    x = np.arange(4.0)
    # All months have about as many cases, so that weights matter little.
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    slope = sum(w * of[m][0] for m, w in enumerate(weights))
    assert found["estimate"] == pytest.approx(slope, abs=0.1 * found["std_error"])
    moved = {}
    for m, w in enumerate(weights):
        for who, left in of[m][1].items():
            moved[who] = moved.get(who, 0) + w * (left - of[m][0])
    error = np.sqrt(sum(one**2 for one in moved.values()))
    plain = pr.periods(table, **ROLES, measures="auc").trends.row(0, named=True)
    if found["spread"] == 0:
        assert found["std_error"] >= 0.9 * error
    assert found["std_error"] != plain["std_error"]


def test_a_decay_is_found_and_what_does_not_change_is_not():
    found = pr.periods(TABLE, **ROLES, measures="auc", cluster="patient")
    row = found.trends.row(0, named=True)
    assert row["p_value"] < 0.01
    assert row["upper"] < 0
    assert row["per"] == "unit"
    assert found.answer.startswith("AUC falls by 0.0")
    assert "a year" not in found.answer
    none = pr.periods(months(5), **ROLES, measures="auc")
    assert none.trends["p_value"].item() > 0.05
    assert none.answer == "Nothing shows that a measure changes over the 12 periods."


def test_all_trends_share_the_error_rate():
    found = pr.periods(TABLE, **ROLES, measures=["auc", "auprec"], points=1.0)
    p_values = found.trends["p_value"].to_numpy()
    expected = multipletests(p_values, method="holm")[1]
    assert found.trends["p_adjusted"].to_numpy() == pytest.approx(expected)
    assert found.answer.endswith(" The p-values allow for 7 tested trends (Holm).")
    assert found.answer.count(". ") == (expected < 0.05).sum()


def test_a_trend_that_one_of_seven_shows_by_chance_is_not_said():
    none = pr.periods(months(CHANCE), **ROLES, measures=["auc", "auprec"], points=1.0)
    assert none.trends["p_value"].min() < 0.05
    assert none.answer == (
        "Nothing shows that a measure changes over the 12 periods. "
        "The p-values allow for 7 tested trends (Holm)."
    )


@pytest.mark.parametrize(("sd", "patients"), [(0.0, 0), (0.3, 0), (0.0, 25)])
def test_trends_are_said_as_often_as_the_level_allows(sd, patients):
    runs, said = 20, 0
    named = {"cluster": "patient"} if patients else {}
    for seed in range(runs):
        table = months(seed, number=8, size=150, sd=sd, patients=patients)
        said += pr.periods(table, **ROLES, **named, measures="auc").trends["p_value"].item() < 0.05
    assert said <= stats.binom.ppf(0.999, runs, 0.05)


def test_periods_that_differ_have_a_spread():
    spreads = [
        pr.periods(months(7, size=2_000, sd=sd), **ROLES, measures="auc").trends["spread"].item()
        for sd in (0.0, 0.5)
    ]
    assert spreads[0] < 0.02
    # AUC = Φ((1.5 + shift) / √2), and about 1.4 of these are one standard deviation.
    expected = 0.5 * stats.norm.pdf(1.5 / 1.4) / 1.4
    assert spreads[1] == pytest.approx(expected, rel=0.6)


def test_dates_are_cut_as_polars_says_durations():
    day = pl.date(2026, 1, 1) + pl.duration(days=pl.col("month") * 9)
    table = TABLE.with_columns(day=day).drop("month")
    roles = {"truth": "truth", "score": "score", "time": "day", "measures": "auc"}
    found = pr.periods(table, "1mo", **roles)
    assert found.table["period"].to_list() == [date(2026, n, 1) for n in (1, 2, 3, 4)]
    assert found.table.schema["period"] == pl.Date
    assert found.trends["per"].item() == "year"
    at_midnight = pr.periods(table.with_columns(pl.col("day").cast(pl.Datetime)), "1mo", **roles)
    assert repr(at_midnight) == repr(found)
    by_number = pr.periods(TABLE, "4i", **ROLES, measures="auc")
    assert by_number.table["period"].to_list() == [0, 4, 8]
    moments = table.with_columns(day=pl.col("day").cast(pl.String) + "T10:00")
    cut = pr.periods(moments, "1mo", **roles | {"time": pl.col("day").str.slice(0, 10)})
    assert cut.table.equals(found.table)
    text = TABLE.with_columns(month=pl.col("month").cast(pl.String).str.zfill(2))
    assert pr.periods(text, **ROLES, measures="auc").trends["per"].item() == "period"


def test_models_fitted_anew_in_each_period_have_one_trend():
    table = pl.concat([TABLE.with_columns(clf=pl.lit(name)) for name in "AB"])
    found = pr.periods(table, **ROLES, fold="month", measures="auc")
    assert found.trends["clf"].to_list() == ["A", "B"]
    assert found.trends["periods"].to_list() == [12, 12]
    one = pr.periods(TABLE, **ROLES, measures="auc").trends
    # Two models have two trends.
    twice = one.with_columns(p_adjusted=2 * pl.col("p_value"))
    assert_frame_equal(found.trends.filter(clf="A").drop("clf"), twice)
    wide = pr.periods(
        TABLE.with_columns(other=-pl.col("score")), truth="truth", time="month",
        score=["score", "other"], measures="auc",
    )  # fmt: skip
    slopes = dict(wide.trends.select("model", "estimate").iter_rows())
    assert slopes["score"] == pytest.approx(one["estimate"].item())
    assert slopes["other"] == pytest.approx(-one["estimate"].item())


def test_periods_without_cases_of_a_class_have_no_part_in_the_trend():
    table = TABLE.filter((pl.col("month") != 3) | ~pl.col("truth"))
    found = pr.periods(table, **ROLES, measures="auc")
    assert found.trends["periods"].item() == 11
    assert found.table.filter(period=3)["note"].item() == "no positives"
    two = pr.periods(TABLE.filter(pl.col("month") < 2), **ROLES, measures="auc")
    assert two.trends["spread"].item() is None
    assert two.warnings == ("Two periods do not tell how much periods differ beyond chance.",)
    one = pr.periods(TABLE.filter(pl.col("month") < 1), **ROLES, measures="auc").trends
    assert one["estimate"].item() is None
    assert one["note"].item().startswith("fewer than two periods with two cases")


def test_it_is_printed():
    found = pr.periods(TABLE, **ROLES, measures="auc", points=1.0)
    assert "Recall falls by" in found.answer
    for shown in (repr(found), found._repr_html_()):
        assert "AUC falls by" in shown
        assert "estimate (lower to upper)" in shown
    assert max(map(len, found.summary().splitlines())) <= 80


@pytest.mark.parametrize(
    ("match", "roles"),
    [
        ("time is not given", {"time": None}),
        ("every is '1mo', and 'month' are numbers", {"every": "1mo"}),
        ("every is 3, allowed are durations", {"every": 3}),
        ("cost_fn is for points, and points is None", {"cost_fn": 2}),
        ("level is 95", {"level": 95}),
        (r"(?s)periods does not honour 'weight'.*name them as count", {"weight": "patient"}),
    ],
)
def test_what_makes_no_sense_is_refused(match, roles):
    with pytest.raises(InvalidArgument, match=match):
        pr.periods(TABLE, **ROLES | roles)


def test_a_time_that_is_missing_or_a_word_is_refused():
    lost = TABLE.with_columns(month=pl.when(pl.col("month") > 0).then("month"))
    with pytest.raises(InvalidPredictions, match="200 rows have no 'month'"):
        pr.periods(lost, **ROLES)
    words = TABLE.with_columns(pl.col("month").cast(pl.String))
    with pytest.raises(InvalidArgument, match="only dates and times are cut"):
        pr.periods(words, "1mo", **ROLES)
    dates = TABLE.with_columns(month=pl.lit(date(2026, 1, 1)))
    with pytest.raises(InvalidArgument, match="every is 'month', allowed are durations"):
        pr.periods(dates, "month", **ROLES)
    with pytest.raises(InvalidArgument, match="every is '3i', a length of numbers, and 'month' is"):
        pr.periods(dates, "3i", **ROLES)
    assert pr.periods(dates, "1y", **ROLES, measures="auc").answer.startswith("There is one period")
    twice = pl.concat([pr.operating_points(TABLE, rule, priors=0.2, truth="truth", score="score")
                       for rule in ("balanced", "cost")])  # fmt: skip
    with pytest.raises(InvalidTable, match="several thresholds of a key and prior"):
        pr.periods(TABLE, **ROLES, points=twice)
