"""Keys, models and folds: their order, their types, null and NaN among them."""

from math import nan

import polars as pl
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal
from verbs import TABLE as MODELS
from verbs import same

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

NAMES = {"truth": "truth", "score": "score"}
TABLE = pl.DataFrame({
    "truth": [True, False, True, False, True, True, False, False],
    "score": [3, 2, 1, 0, 3, 2, 2, 0], "k": [0, 0, 0, 0, 1, 1, 1, 1],
})  # fmt: skip
NUMBERS = [
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
    pl.UInt128, pl.Float16, pl.Float32, pl.Float64, pl.Decimal(10, 2),
]  # fmt: skip
K = pl.col("k")
WORD = K.cast(pl.String)
# Types of which a join or a sort could think otherwise.
KEYS = {
    "Decimal": K.cast(pl.Decimal(10, 2)),
    "Categorical": WORD.cast(pl.Categorical),
    "Enum, the other way round": WORD.cast(pl.Enum(["1", "0"])),
    "Datetime": K.cast(pl.Datetime("ns", "Europe/Paris")),
    "Duration": K.cast(pl.Duration),
    "List": pl.concat_list(K, K),
    "Struct": pl.struct("k", other="k"),
    "the greatest integers": K + (2**63 - 2),
    "some null": pl.when(K == 1).then(K),
}


def curve(frame):
    return pr.curve(frame, **NAMES, by="key")


STEPS = {
    "evaluate": lambda frame: pr.evaluate(
        frame, **NAMES, by="key", over=(0.05, 0.2), intervals=True
    ),
    "check": lambda frame: pr.check(frame, **NAMES, by="key"),
    "operating_points": lambda frame: curve(frame).pipe(pr.operating_points, "cost", priors=0.1),
    "apply_thresholds": lambda frame: pr.apply_thresholds(
        frame, curve(frame).pipe(pr.operating_points), **NAMES, by="key", same_table=True
    ),
}


@pytest.mark.parametrize("key", KEYS)
def test_keys_may_be_of_any_type(key):
    keyed = TABLE.with_columns(KEYS[key].alias("key"))
    names = keyed.select("k", "key").unique()
    for name, step in STEPS.items():
        found = step(keyed)
        assert found.schema["key"] == keyed.schema["key"], name
        joined = found.join(names, on="key", nulls_equal=True, maintain_order="left")
        expected = step(TABLE.with_columns(key="k")).rename({"key": "k"})
        of_k = joined.drop("key").sort("k", maintain_order=True).select(expected.columns)
        assert_frame_equal(of_k, expected, rel_tol=1e-12)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("role", ["model", "fold", "by"])
def test_a_null_key_is_a_key_of_its_own(role, lazy):
    column = "k" if role == "by" else role
    table = TABLE.with_columns(pl.when(K == 1).then(pl.lit("b")).alias(column))
    frame = table.lazy() if lazy else table
    found = pr.evaluate(frame, **NAMES, **{role: column}, measure="auc").lazy().collect()
    by_key = dict(found.select(column, "estimate").rows())
    assert by_key == {None: 0.75, "b": 0.875}
    report = pr.check(frame, **NAMES, **{role: column})
    assert report.select(column, "rows").rows() == [("b", 4), (None, 4)]


@pytest.mark.parametrize("role", ["model", "fold", "by"])
def test_a_nan_key_is_refused_in_memory_and_null_in_a_lazy_frame(role):
    column = "k" if role == "by" else role
    table = TABLE.with_columns(pl.when(K == 1).then(1.5).otherwise(nan).alias(column))
    roles = NAMES | {role: column}
    for step in (pr.evaluate, pr.curve, pr.check, pr.cases):
        with pytest.raises(InvalidPredictions, match=f"the key '{column}' is NaN in 4 row"):
            step(table, **roles)
    found = pr.evaluate(table.lazy(), **roles, measure="auc").collect()
    same(found, pr.evaluate(table.fill_nan(None), **roles, measure="auc"))
    assert dict(found.select(column, "estimate").rows()) == {None: 0.75, 1.5: 0.875}


def test_a_case_that_is_nan_is_missing():
    table = TABLE.with_columns(case=pl.when(K == 1).then(nan).otherwise(pl.int_range(8)))
    assert pr.check(table, **NAMES)["note"].item() == "4 rows without a case"


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_truth_score_and_weight_may_be_numbers_of_any_type(kind):
    table = TABLE.with_columns(weight=1 + K)
    roles = NAMES | {"by": "k", "weight": "weight", "over": (0.05, 0.2)}
    expected = pr.evaluate(table, **roles)
    for column in ("truth", "score", "weight"):
        cast = table.with_columns(pl.col(column).cast(pl.Int64).cast(kind))
        assert_same_numbers(pr.evaluate(cast, **roles), expected)


def test_keys_and_rows_come_in_the_order_by_model_fold():
    table = MODELS.with_columns(site=pl.lit("n"), wing=pl.lit("e")).reverse()
    found = pr.evaluate(table, truth="y", score="p", by=["wing", "site"], measure="auc")
    assert found.columns[:4] == ["wing", "site", "model", "fold"]
    assert found.select("model", "fold").rows() == [("A", 1), ("A", 2), ("B", 1), ("B", 2)]


def test_several_folds_are_as_many_as_their_combinations():
    roles, place = {"truth": "y", "score": "p"}, pl.col("case") % 4
    several = MODELS.with_columns(repeat=place // 2, fold=place % 2)
    one = MODELS.with_columns(fold=place)
    both = roles | {"fold": ["repeat", "fold"]}
    found = pr.evaluate(several, **both, measure="auc")
    expected = pr.evaluate(one, **roles, measure="auc")
    assert found["estimate"].to_list() == pytest.approx(expected["estimate"].to_list())
    found = pr.compare(several, "auc", test_train_ratio=1, **both).pairs
    same(found, pr.compare(one, "auc", test_train_ratio=1, **roles).pairs)
    found = pr.evaluate(several, **roles | {"fold": None}, measure="auc")
    same(found, pr.evaluate(MODELS.drop("fold"), **roles, measure="auc"))


def test_no_key_may_be_named_as_a_column_of_a_result():
    table = pr.datasets.satellite_predictions().filter(fold=1).drop("fold", "case")
    curves = pr.curve(table)
    points = pr.operating_points(
        table, "precision", target=0.3, over=(0.05, 0.2), confidence=0.9, fold=None
    )
    results = [
        pr.surface(curves, 0.1),
        pr.evaluate(table, intervals=True),
        points,
        pr.apply_thresholds(table, points, intervals=True),
        pr.expected_cost(table, over=(0.05, 0.2), cost_fn=5),
        pr.cost_curve(curves, 3),
        pr.decision_curve(curves, 3, intervals=True),
    ]
    names = {name for result in results for name in result.columns} - {"model"}
    assert {"cost_lower", "cost_informed", "over_upper", "promise", "std_error"} <= names
    for name in sorted(names):
        with pytest.raises(InvalidArgument, match="reserved"):
            pr.cases(table.with_columns(pl.lit("a").alias(name)), by=name)
