import inspect
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import Engine

import polaroc as pr
from polaroc import warehouse
from polaroc.errors import InvalidTable

NAMES = {"truth": "truth", "score": "score"}
TABLE = predictions(13, 200)
CURVES = pr.curve(TABLE, **NAMES)
ONE = pr.curve(TABLE, **NAMES, model=None, fold=None)
BROKEN = {
    "a key dropped": (CURVES.drop("fold"), "curves as one.*model="),
    "concatenated": (pl.concat([ONE, ONE]), "up to 2 curves as one"),
    "every second row": (ONE[::2], r"\d+ of \d+ positives and \d+ of \d+ negatives"),
    "filtered": (ONE.filter(pl.col("threshold") > 0), "no row begins a curve"),
    "another rate": (ONE.with_columns(tpr=pl.col("tpr") * 2), "contradict one another"),
    "no rate": (ONE.with_columns(fpr=pl.lit(None, pl.Float64)), "contradict one another"),
    "other totals": (
        ONE.with_columns(positives=pl.when(pl.col("tp") > 3).then("positives").otherwise(999)),
        ".",
    ),
    "the other order": (
        ONE.with_columns(pl.col("tp", "tpr", "fp", "fpr").reverse()), "contradict one another",
    ),
}  # fmt: skip
FETCHES: dict[str, Callable[[Any, Engine], Any]] = {
    "hull": lambda curve, _: warehouse.hull(curve),
    "probabilities": lambda curve, engine: warehouse.probabilities(
        engine.table(TABLE), curve, score="score", priors=0.1,
        by=[name for name in ("model", "fold") if name in curve.columns],
        model=None, fold=None,
    ),
}  # fmt: skip


def test_all_functions_of_curves_are_among_these():
    public = {name: getattr(warehouse, name) for name in warehouse.__all__}
    taking = {name for name, one in public.items() if "curve" in inspect.signature(one).parameters}
    assert taking == {*FETCHES}


@pytest.mark.product
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("name", FETCHES)
def test_what_fetches_refuses_what_is_no_whole_curve(engine: Engine, name, broken):
    curve, message = BROKEN[broken]
    with pytest.raises(InvalidTable, match=f"(?s){message}.*Hint: "):
        FETCHES[name](engine.table(curve), engine)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: pr.curve(table, **NAMES, weight="weight"),
        lambda table: pr.curve(table.filter("truth"), **NAMES),
        lambda table: pr.curve(table.filter(~pl.col("truth")), **NAMES, weight="weight"),
        lambda table: pr.curve(table.with_columns(weight=0.0), **NAMES, weight="weight"),
        lambda table: pr.curve(table.clear(), **NAMES, model=None, fold=None),
        lambda table: pr.curve(table.clear(), **NAMES),
        lambda table: pr.curve(table, **NAMES).with_columns(pl.col("tpr", "fpr").cast(pl.Float32)),
        lambda table: pr.curve(
            table.with_columns(score=pl.when(pl.col("model") == "a").then("score")).lazy(),
            **NAMES,
        ).collect(),
    ],
    ids=["weighted", "positives alone", "weighted negatives", "no weight", "no row",
         "no row of a key", "short rates", "unranked"],
)  # fmt: skip
def test_what_is_a_whole_curve_is_taken(engine: Engine, change):
    curve = change(predictions(13, 200, weights=True))
    there = engine.table(curve)
    assert_same(warehouse.hull(there).select("tp", "fp"), pr.hull(curve).select("tp", "fp"))
