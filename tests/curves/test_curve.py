from datetime import date, datetime, timedelta
from decimal import Decimal
from math import inf

import exact
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr

CURVE = ["threshold", "pos", "neg", "tp", "fp", "positives", "negatives", "tpr", "fpr"]


def curve(table: pl.DataFrame, **kwargs) -> pl.DataFrame:
    weight = "weight" if "weight" in table.columns else None
    return pr.curve(table, truth="truth", score="score", weight=weight, **kwargs)


@pytest.mark.parametrize("zeros", [[-0.0, 0.0], [0.0, -0.0], [0, -0.0]])
def test_negative_zero_is_tied_with_zero(zeros):
    table = pl.DataFrame({"truth": [True, False], "score": pl.Series(zeros, dtype=pl.Float64)})
    assert curve(table).select("threshold", "tp", "fp").rows() == [(None, 0, 0), (0.0, 1, 1)]


def test_infinite_scores_are_ordered():
    table = pl.DataFrame({"truth": [True, False, True, False], "score": [inf, 1e308, -1e308, -inf]})
    assert curve(table)["threshold"].to_list() == [None, inf, 1e308, -1e308, -inf]
    assert curve(table)["tp"].to_list() == [0, 1, 1, 2, 2]


def test_counts_are_64_bit_integers_unless_weighted():
    table = pl.DataFrame({"truth": [True, False], "score": [0.1, 0.2], "one": [1, 1]})
    counts = ("pos", "neg", "tp", "fp", "positives", "negatives")
    for weight, dtype in ((None, pl.Int64), ("one", pl.Float64)):
        found = pr.curve(table, truth="truth", score="score", weight=weight)
        assert found.columns == [*CURVE, *(["effective_negatives"] if weight else [])]
        assert {found.schema[name] for name in counts} == {dtype}
        assert {found.schema[name] for name in ("threshold", "tpr", "fpr")} == {pl.Float64}


@pytest.mark.parametrize("lazy", [False, True])
def test_counts_of_rows_that_are_counted_are_integers_and_of_weights_floats(lazy):
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, 0.1, 0.8, 0.7], "n": 2})
    table = table.lazy() if lazy else table
    verbs = {
        "curve": pr.curve,
        "hull": lambda *a, **roles: pr.hull(pr.curve(*a, **roles)),
        "auc": lambda *a, **roles: pr.auc(pr.curve(*a, **roles)),
        "evaluate": pr.evaluate,
        "intervals": lambda *a, **roles: pr.evaluate(*a, **roles, measure="auc", intervals=True),
        "check": pr.check,
        "points": lambda *a, **roles: pr.operating_points(*a, "cost", **roles),
        "apply": lambda *a, **roles: pr.apply_thresholds(*a, 0.5, **roles),
        "expected cost": lambda *a, **roles: pr.expected_cost(*a, over=0.1, **roles),
    }
    names = ["positives", "negatives"]
    for role, dtype in (("count", pl.Int64), ("weight", pl.Float64)):
        for name, verb in verbs.items():
            found = verb(table, truth="truth", score="score", **{role: "n"}).lazy()
            schema = found.collect_schema()
            assert [schema[one] for one in names] == [dtype] * 2, name
            found = found.collect()
            assert found.schema == schema
            assert found.select(names).unique().row(0) == (4, 4)


@pytest.mark.parametrize("role", [None, "count", "weight"])
def test_a_plan_has_the_rates_of_its_frame_to_the_last_bit(role):
    rng = np.random.default_rng(3)
    for rows in (1, 7, 200, 3_000):
        table = pl.DataFrame({
            "truth": rng.random(rows) < 0.3, "score": rng.integers(0, rows, rows) / 7,
            "w": rng.integers(0, 5, rows) if role == "count" else rng.random(rows),
        })  # fmt: skip
        roles = {"truth": "truth", "score": "score"} | ({} if role is None else {role: "w"})
        found = pr.curve(table, **roles).select(CURVE)
        for engine in ("in-memory", "streaming"):
            plan = pr.curve(table.lazy(), **roles).select(CURVE)
            assert plan.collect(engine=engine).equals(found)


def test_totals_may_pass_what_32_bits_hold():
    table = pl.DataFrame(
        {"truth": [True, True, False, False], "score": [4, 3, 2, 1], "weight": [2**31] * 4}
    )
    found = pr.curve(table, truth="truth", score="score", weight="weight")
    assert found["tp"].to_list() == [0, 2**31, 2**32, 2**32, 2**32]
    assert found["fp"].to_list() == [0, 0, 0, 2**31, 2**32]
    assert found["tpr"].to_list() == [0, 0.5, 1, 1, 1]


@pytest.mark.parametrize(
    ("truth", "tpr", "fpr"), [(True, [0, 0.5, 1], [None] * 3), (False, [None] * 3, [0, 0.5, 1])]
)
def test_rates_of_an_absent_class_are_null(truth, tpr, fpr):
    found = curve(pl.DataFrame({"truth": [truth, truth], "score": [0.1, 0.2]}))
    assert found["tpr"].to_list() == tpr
    assert found["fpr"].to_list() == fpr


def test_a_class_whose_weights_are_zero_is_absent():
    table = pl.DataFrame(
        {"truth": [True, False, True], "score": [3.0, 2.0, 1.0], "weight": [0.0, 1.0, 0.0]}
    )
    assert curve(table).select("threshold", "tp", "fp", "tpr", "fpr").rows() == [
        (None, 0, 0, None, 0),
        (2.0, 0, 1, None, 1),
    ]


def test_columns_that_are_not_asked_for_are_left_behind():
    table = pl.DataFrame({"truth": [True, False], "score": [1.0, 0.0], "tp": [7, 7], "note": "x"})
    assert_frame_equal(curve(table), curve(table.select("truth", "score")))


def test_points_may_be_named_like_the_columns_of_a_curve():
    table = pl.DataFrame({"tp": [True, False, True], "threshold": [3.0, 2.0, 1.0]})
    found = pr.curve(table, truth="tp", score="threshold")
    assert found["tp"].to_list() == [0, 1, 1, 2]


def test_summed_weights_reach_their_total_with_the_last_positive():
    # 0.7 + 0.1 + 0.1 + 0.7 + 0.2 rounds to less than 1.8 in this order.
    weights = [0.7, 0.1, 0.1, 0.7, 0.2, 0.3]
    table = pl.DataFrame({"truth": [1] * 5 + [0], "score": range(6, 0, -1), "weight": weights})
    found = curve(table)
    assert found["tpr"][-2:].to_list() == [1.0, 1.0]
    assert found["pos"][-1] == 0


@pytest.mark.parametrize("rows", [49, 98, 103])
@pytest.mark.parametrize("weight", [1.0, 2.0**-10])
def test_curves_end_at_exactly_one(rows, weight):
    # 49 × (1/49) falls short of 1.
    table = pl.DataFrame({"truth": [1, 0] * rows, "score": range(2 * rows)})
    weighted = table.with_columns(weight=pl.lit(weight))
    assert curve(table).select("tpr", "fpr").row(-1) == (1.0, 1.0)
    assert curve(weighted).select("tpr", "fpr").row(-1) == (1.0, 1.0)


def test_keys_of_dropped_rows_are_in_their_order():
    table = pl.DataFrame({
        "key": ["b", "d", "b", "b", "c"], "truth": [1, 0, 0, 1, 0],
        "score": [0.1, 0.2, 0.3, None, None],
    })  # fmt: skip
    found = pr.curve(table, truth="truth", score="score", by="key", nulls="drop")
    assert found["key"].unique(maintain_order=True).to_list() == ["b", "c", "d"]


KEYS = {
    "Boolean": [True, False],
    "Int8": pl.Series([-128, 127, 0], dtype=pl.Int8),
    "Int64": [-(2**63), 2**63 - 1],
    "UInt64": pl.Series([2**64 - 1, 0], dtype=pl.UInt64),
    "Int128": pl.Series([-(2**100), 2**100, 7], dtype=pl.Int128),
    "Float64": [0.5, -1.5, inf],
    "Decimal": [Decimal("1.25"), Decimal("-3.00")],
    "String": ["b", "a", "", "ä", "B", "a longer name that is not held in place"],
    "Categorical": pl.Series(["b", "a", "ä"], dtype=pl.Categorical),
    "Enum": pl.Series(["late", "early"], dtype=pl.Enum(["late", "early", "never used"])),
    "Binary": [b"\x00", b"\xff"],
    "Date": [date(2024, 2, 29), date(1969, 1, 1)],
    "Datetime": [datetime(2024, 1, 1, 12), datetime(1960, 1, 1)],
    "Duration": [timedelta(1), timedelta(-1)],
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_any_type_have_their_own_curves_in_order_with_null_last(kind):
    values = pl.Series(KEYS[kind])
    values = values.extend(pl.Series([None], dtype=values.dtype))
    rng = np.random.default_rng(1)
    table = pl.DataFrame({
        "key": values.gather(rng.integers(0, len(values), 120)), "fold": rng.integers(0, 2, 120),
        "truth": rng.random(120) < 0.4, "score": rng.normal(size=120).round(1),
    })  # fmt: skip
    expected = []
    parts = table.sort("key", "fold", nulls_last=True).partition_by("key", "fold", as_dict=True)
    for keys, rows in parts.items():
        points = exact.curve((*row, 1) for row in rows.select("truth", "score").rows())
        counts = zip(points.thresholds, points.tp, points.fp, strict=True)
        expected += [(*keys, *point) for point in counts]
    roles = {"truth": "truth", "score": "score", "model": "key", "fold": "fold"}
    found = pr.curve(table, **roles)
    assert found["model"].dtype == values.dtype
    assert found.select("model", "fold", "threshold", "tp", "fp").rows() == expected
    assert_frame_equal(pr.curve(table.lazy(), **roles).collect(), found)


def test_one_curve_of_many_rows_with_ties_at_extreme_scores():
    rng = np.random.default_rng(2)
    levels = np.unique([*(10.0 ** rng.integers(-308, 308, 2000) * rng.normal(size=2000)), 5e-324])
    of_level = rng.integers(0, levels.size, 100_000)
    truth = rng.random(100_000) < 0.1
    found = curve(pl.DataFrame({"truth": truth, "score": levels[of_level]}))
    positives = np.bincount(of_level[truth], minlength=levels.size)[::-1]
    negatives = np.bincount(of_level[~truth], minlength=levels.size)[::-1]
    seen = positives + negatives > 0
    assert found["threshold"][1:].to_list() == levels[::-1][seen].tolist()
    assert found["tp"][1:].to_list() == positives[seen].cumsum().tolist()
    assert found["fp"][1:].to_list() == negatives[seen].cumsum().tolist()
