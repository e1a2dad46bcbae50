import numpy as np
import polars as pl
import pytest

import polaroc as pr

ROLES = {"truth": "truth", "score": ["old", "new"], "time": "day"}


def claims(seed=1, *, decay=0.0, size=8_000, days=365):
    rng = np.random.default_rng(seed)
    day = rng.integers(0, days, size)
    truth = rng.random(size) < 0.1
    own = rng.normal(size=size)
    scores = {
        name: 0.6 * own + 0.8 * rng.normal(size=size) + truth * by
        for name, by in (("old", 2.4 - decay * day / days), ("new", 1.8))
    }
    return pl.DataFrame({"day": day, "truth": truth, **scores, "id": np.arange(size)})


def said(table, **asked):
    """What choose says with a time, and does not say without one."""
    roles = ROLES | asked
    over = {"over": (0.05, 0.2)} | {key: roles.pop(key) for key in ("measure",) if key in roles}
    choice = pr.choose(table, **roles, **over)
    timeless = {role: one for role, one in roles.items() if role != "time"}
    without = pr.choose(table, **timeless, **over)
    assert choice.answer == without.answer
    assert choice.models.equals(without.models)
    return [line for line in choice.warnings if line not in without.warnings]


def test_a_model_that_decays_and_the_one_that_overtakes_it_are_named():
    decays, overtaken = said(claims(decay=1.2))
    assert decays.startswith("old decays: its area (AUPREC) falls by 0.")
    assert overtaken.startswith("new has overtaken old: it is 0.")


def test_nothing_is_said_of_what_may_be_chance():
    (line,) = said(claims())
    assert line == "Nothing shows that old gets worse, or is overtaken, over 12 periods."


def test_long_tables_and_losses_and_clusters_are_followed_too():
    table = claims(decay=1.2)
    long = table.unpivot(["old", "new"], index=["day", "truth", "id"], variable_name="model",
                         value_name="score").sample(fraction=1, shuffle=True, seed=1)  # fmt: skip
    named = {"score": "score", "model": "model", "case": "id"}
    assert said(long, **named) == said(table)
    alone = said(long, **named | {"case": None})
    assert [line.split(":")[0] for line in alone] == ["old decays"]
    likely = table.with_columns(
        (pl.col("old", "new") - 2).exp() / (1 + (pl.col("old", "new") - 2).exp())
    )
    (first, *_) = said(likely, measure="brier")
    assert "Brier score grows by" in first
    patients = table.with_columns(patient=pl.col("id") % 10)
    (few,) = said(patients, cluster="patient")
    assert "a class has 10 clusters" in few


def test_a_count_stands_for_so_many_rows():
    counted = claims(decay=1.2, size=4_000).with_columns(n=pl.col("id") % 3)
    rows = counted.select(pl.exclude("n").repeat_by("n")).explode(pl.all(), empty_as_null=False)
    rows = rows.with_row_index("row")
    expected = said(rows, case="row")
    assert said(counted, count="n", case="id") == expected
    assert expected[0].startswith("old decays")


@pytest.mark.parametrize(
    ("match", "asked"),
    [
        ("A comparison over folds does not look at changes", {"fold": "half"}),
        ("is not known: it takes cases without sampling weights", {"weight": "half"}),
    ],
)
def test_where_it_is_not_known_that_is_said(match, asked):
    table = claims(size=2_000).with_columns(half=1 + pl.col("id") % 2)
    if "fold" in asked:
        asked = asked | {"test_train_ratio": 0.5}
    (line,) = said(table, **asked)
    assert match in line


@pytest.mark.usefixtures("words_only")
def test_the_report_says_it_too(tmp_path):
    table, told = claims(decay=1.2), []
    pr.report(table, **ROLES, over=(0.05, 0.2), path=tmp_path / "page.html", tell=told.append)
    assert [line for line in told if line in said(table)] == said(table)
    words = " ".join((tmp_path / "page.html").read_text().split())
    assert "new has overtaken old" in words


def test_a_choice_by_cost_says_that_time_is_not_looked_at():
    table = claims(size=4_000)
    test, tuning = (table.filter(pl.col("id") % 2 == half) for half in (0, 1))
    choice = pr.choose(test, "expected_cost", tuning=tuning, over=(0.1, 0.1), **ROLES)
    assert "walk_forward(...) shows what thresholds did." in choice.warnings[-1]
