"""Tables of a warehouse beside those of this machine: what is taken, fetched and refused."""

import inspect

import ibis
import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import Engine

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable, PolarocError

ROLES = {"truth": "truth", "score": "score"}
TABLE = predictions(5, 80).with_columns(pl.col("score").clip(-4, 4))
SHARED = [name for name in pr.warehouse.__all__ if name in pr.__all__]


@pytest.mark.parametrize("name", SHARED)
def test_functions_take_what_those_of_polars_take(name):
    there, here = (inspect.signature(getattr(of, name)).parameters for of in (pr.warehouse, pr))
    assert set(there) <= set(here)
    # An engine has limits of its own, and shows what it does.
    assert set(here) - set(there) <= {"memory", "progress"}
    both = [argument for argument in there if argument in here]
    assert both == [argument for argument in here if argument in there]
    for argument in both:
        assert there[argument].default == here[argument].default
        assert there[argument].kind == here[argument].kind


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("curve", {"truth": "truht"}),
        ("curve", {"score": "model"}),
        ("curve", {"by": ["model", "model"]}),
        ("curve", {"nulls": "keep"}),
        ("curve", {"positive": "yes"}),
        ("evaluate", {"priors": 1.5}),
        ("evaluate", {"over": (0.2, 0.1)}),
        ("evaluate", {"interpolation": "cubic"}),
        ("evaluate", {"measure": "gini"}),
        ("evaluate", {"intervals": True, "interpolation": "hull"}),
    ],
)
def test_what_polars_functions_refuse_is_refused_alike(name, asked):
    sides = []
    for of, source in ((pr, TABLE.lazy()), (pr.warehouse, ibis.memtable(TABLE))):
        with pytest.raises(PolarocError, match="Hint:") as caught:
            getattr(of, name)(source, **ROLES | asked)
        sides.append(caught)
    here, there = sides
    assert there.type is here.type
    # Further on the words may differ, as what Polars and ibis call a type does.
    begin = [caught.value.problem.replace("'", "").partition(" is ")[0] for caught in sides]
    assert begin[0] == begin[1]


@pytest.mark.parametrize("name", ["cases", "check", "compare", "curve", "evaluate", "auc"])
def test_other_functions_fetch_no_rows(name):
    # An Arrow stream, which an ibis table has, is read by them.
    with pytest.raises(InvalidTable, match=r"Hint: .*polaroc\.warehouse.*to_polars"):
        getattr(pr, name)(ibis.memtable(TABLE))


def test_probabilities_of_the_tuning_table_are_refused():
    there = ibis.memtable(TABLE)
    curve, asked = pr.warehouse.curve(there, **ROLES), {"score": "score", "priors": 0.1}
    for of, table in ((pr, TABLE), (pr.warehouse, there)):
        with pytest.raises(InvalidTable, match="the scores are those of the tuning table"):
            of.probabilities(table, pr.curve(TABLE, **ROLES), **asked)
    meant = pr.warehouse.probabilities(there, curve, **asked, same_table=True)
    expected = pr.probabilities(TABLE, pr.curve(TABLE, **ROLES), **asked, same_table=True)
    assert_same(meant, expected)


# Curves

CURVES = pr.curve(predictions(13, 200), **ROLES)
ONE = pr.curve(predictions(13, 200), **ROLES, model=None, fold=None)
BROKEN = {
    "a key dropped": (CURVES.drop("fold"), "in 3 key.*The first has 3 rows without a threshold"),
    "concatenated": (pl.concat([ONE, ONE]), "It has 2 rows without a threshold"),
    "every second row": (ONE[::2], r"\d+ of \d+ positives, \d+ of \d+ negatives"),
    "filtered": (ONE.filter(pl.col("threshold") > 0), "It has 0 rows without a threshold"),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_whole_curve_is_refused(engine: Engine, broken):
    curve, message = BROKEN[broken]
    there = engine.table(curve)
    with pytest.raises(InvalidTable, match=f"(?s){message}.*Hint: "):
        pr.warehouse.hull(there)
    without = {name: None for name in ("model", "fold") if name not in curve.columns}
    with pytest.raises(InvalidTable, match=f"(?s){message}.*Hint: "):
        pr.warehouse.probabilities(engine.table(TABLE), there, score="score", priors=0.1, **without)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: pr.curve(table, **ROLES, weight="weight"),
        lambda table: pr.curve(table.filter("truth"), **ROLES),
        lambda table: pr.curve(table.with_columns(weight=0.0), **ROLES, weight="weight"),
        lambda table: pr.curve(table.clear(), **ROLES),
        lambda table: pr.curve(table, **ROLES).with_columns(pl.col("tpr", "fpr").cast(pl.Float32)),
        lambda table: pr.curve(
            table.with_columns(score=pl.when(pl.col("model") == "a").then("score")).lazy(), **ROLES
        ).collect(),
    ],
    ids=["weighted", "positives alone", "no weight", "no row", "short rates", "unranked"],
)
def test_what_is_a_whole_curve_is_taken(engine: Engine, change):
    curve = change(predictions(13, 200, weights=True))
    there = engine.table(curve)
    assert_same(pr.warehouse.hull(there).select("tp", "fp"), pr.hull(curve).select("tp", "fp"))


# Refusals before anything runs


def test_what_is_no_table_of_predictions_is_refused():
    for table, words in (
        (ibis.table({"truth": "boolean", "score": "string"}, name="t"), "numbers"),
        (ibis.table({"truth": "timestamp", "score": "float64"}, name="t"), "Boolean"),
        (TABLE, "ibis table"),
    ):
        with pytest.raises(PolarocError, match=words):
            pr.warehouse.curve(table, **ROLES)
    surface = pr.warehouse.curve(ibis.memtable(TABLE), **ROLES).mutate(prior=1)
    for table, words in ((ibis.memtable(TABLE), "no column 'threshold'"), (surface, "a surface")):
        with pytest.raises(InvalidTable, match=words):
            pr.warehouse.hull(table)


@pytest.mark.parametrize("key", ["Threshold", "__POLAROC_truth", "tp", "Model"])
def test_keys_that_an_engine_takes_for_ours_are_refused(key):
    table = ibis.table({"truth": "boolean", "score": "float64", key: "string"}, name="p")
    with pytest.raises(InvalidArgument, match="rename"):
        pr.warehouse.curve(table, **ROLES, by=key)


def test_what_has_no_connection_is_not_fetched():
    table = ibis.table({"truth": "boolean", "score": "float64"}, name="p")
    with pytest.raises(InvalidArgument, match="no connection"):
        pr.warehouse.evaluate(table, **ROLES)
