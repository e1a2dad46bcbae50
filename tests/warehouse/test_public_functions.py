import subprocess
import sys

import ibis
import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import Engine
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

TABLE = predictions(5, 80).with_columns(pl.col("score").clip(-4, 4))
ROLES = {"truth": "truth", "score": "score"}
CURVE = pr.curve(predictions(6).with_columns(pl.col("score").clip(-9, 9)), **ROLES, fold=None)
THERE = {
    "evaluate": ({}, {"priors": [0.1], "over": (0.05, 0.2)}),
    "curve": ({"fold": None}, {}),
    "probabilities": ({"fold": None}, {"curve": CURVE, "priors": 0.1}),
}


@pytest.mark.alike(1)
@pytest.mark.parametrize("name", THERE)
def test_they_run_where_the_table_is(engine: Engine, name):
    roles, others = THERE[name]
    roles, function, there = ROLES | roles, getattr(pr, name), engine.table(TABLE)
    expected = function(TABLE.lazy(), **roles, **others)
    cases = pr.cases(there, **roles)
    assert cases.table is there
    for found in (function(there, **roles, **others), function(cases, **others),
                  cases.pipe(function, **others)):  # fmt: skip
        assert isinstance(found, ibis.Table)
        assert_same(found, expected.collect())


def test_what_they_lack_there_is_refused_by_name():
    there = ibis.memtable(TABLE)
    for asked in ({"memory": "4GB"}, {"progress": True}):
        with pytest.raises(InvalidArgument, match=rf"(?s){next(iter(asked))} is given.*Hint: "):
            pr.evaluate(there, **ROLES, **asked)
    for role in ("cluster", "weight"):
        with pytest.raises(InvalidArgument, match=rf"(?s)does not honour '{role}'.*Hint: "):
            pr.evaluate(pr.cases(there, **ROLES, **{role: "fold"}), intervals=True)
    with pytest.raises(InvalidArgument, match=r"(?s)no argument 'prior'.*did you mean 'priors'"):
        pr.evaluate(there, **ROLES, prior=0.1)
    beside = pr.evaluate(pr.cases(there, **ROLES), by="fold", fold=None, measures="auc")
    assert_same(beside, pr.evaluate(TABLE, **ROLES, by="fold", fold=None, measures="auc"))
    with pytest.raises(InvalidArgument, match="allowed are column names"):
        pr.cases(there, truth=pl.col("truth"), score="score")


OTHERS = {
    name for name in pr.__all__ if "bearings" in getattr(getattr(pr, name), "__dict__", {})
} - set(THERE)


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_the_others_say_which_run_there_and_how_to_fetch_the_rows(name):
    there = ibis.memtable(TABLE)
    for given, roles in ((there, ROLES), (pr.cases(there, **ROLES), {})):
        with pytest.raises(InvalidTable, match=rf"(?s)^{name} does not run.*'evaluate'.*to_polars"):
            getattr(pr, name)(given, **roles)


def test_rows_are_fetched_on_demand():
    cases = pr.cases(ibis.memtable(TABLE), **ROLES).collect()
    assert cases.table.equals(TABLE)
    assert pr.check(cases).equals(pr.check(TABLE, **ROLES))


def test_a_curve_of_a_warehouse_is_fetched_by_functions_of_curves():
    curve = pr.curve(ibis.memtable(TABLE), **ROLES)
    found, expected = pr.auc(curve), pr.auc(pr.curve(TABLE, **ROLES))
    keys = ["model", "fold", "measure"]
    assert_frame_equal(found.sort(keys), expected.sort(keys))


def test_cases_of_a_warehouse_are_printed_without_a_query():
    # It has no connection.
    table = pr.warehouse.unseen("scores", {"clf": "string", "y": "int64", "p": "float64"})
    cases = pr.cases(table, truth="y", score="p")
    assert repr(cases).splitlines() == [
        "a warehouse table", "truth  'y'", "score  'p'", "model  'clf' (found by its name)",
    ]  # fmt: skip
    assert repr(pr.cases(cases, model=None)).endswith("not used: 'clf'")
    assert "GROUP BY" in pr.warehouse.sql(pr.evaluate(cases, measures="auc"), "duckdb")


def test_nothing_of_the_warehouse_is_loaded_before_such_a_table_is_met():
    code = (
        "import sys, polars as pl, polaroc as pr\n"
        "loaded = lambda: 'polaroc.warehouse' in sys.modules\n"
        "table = {'y': [1, 0], 'p': [.9, .2]}\n"
        "pr.evaluate(table, truth='y', score='p', measures='auc'); assert not loaded()\n"
        "import ibis; found = pr.evaluate(ibis.memtable(table), truth='y', score='p')\n"
        "assert loaded() and isinstance(found, ibis.Table)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
