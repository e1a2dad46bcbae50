"""The text in ClickHouse's dialect, run by ClickHouse in this process."""

import itertools
import os
from collections.abc import Callable, Iterator

import polars as pl
import pytest
from comparison import ODD_ROWS, assert_same, evaluated, lazily, odd, predictions
from programs import only_if_asked, package

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
Run = Callable[..., pl.DataFrame]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    only_if_asked("ClickHouse")
    session_of = package("chdb.session", "test-all").Session
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("clickhouse")
    session, numbers = session_of(str(folder / "server")), itertools.count()
    session.query("CREATE DATABASE lab")

    def of(table: pl.DataFrame, function=pr.warehouse.evaluate, **asked) -> pl.DataFrame:
        """What the text gives, with the columns in the order they have there."""
        name = f"t{next(numbers)}"
        table.write_parquet(folder / f"{name}.parquet")
        source = f"file('{os.fspath(folder)}/{name}.parquet')"
        session.query(f"CREATE TABLE lab.{name} ENGINE = Memory AS SELECT * FROM {source}")
        unseen = pr.warehouse.unseen(f"lab.{name}", table.columns)
        query = pr.warehouse.sql(function(unseen, **asked), "clickhouse")
        found = pl.from_arrow(pa.ipc.open_file(session.query(query, "Arrow").bytes()).read_all())
        assert isinstance(found, pl.DataFrame)
        return found

    yield of
    session.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "weighted", "interpolation", "priors"),
    [
        ([], True, "exact", [0.5, 0.01, 1e-6]),
        (["model"], False, "linear", ["observed", 0.1]),
        (["model", "fold"], True, "step", 0.2),
        (["model", "fold"], False, "exact", pr.prior_grid(0.01, 0.9, 30)),
    ],
    ids=["one curve", "linear", "step", "many priors"],
)
def test_measures_are_those_of_polars(run: Run, by, weighted, interpolation, priors):
    table = predictions(len(by), weights=weighted)
    asked = NAMES | {
        "by": by, "weight": "weight" if weighted else None, "over": (0.05, 0.2),
        "interpolation": interpolation, "priors": priors,
    }  # fmt: skip
    assert_same(run(table, **asked), pr.evaluate(table, **asked))


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "nulls"), [(None, "drop"), ("weight", "raise")])
def test_odd_rows_are_treated_as_polars_does(run: Run, weight, nulls):
    table = pl.concat(odd(name).with_columns(pl.lit(name).alias("case")) for name in ODD_ROWS)
    asked = NAMES | {"by": ["case", "model"], "weight": weight, "nulls": nulls}
    assert_same(run(table, pr.warehouse.curve, **asked), lazily(pr.curve, table, **asked))
    asked |= {"over": (0.1, 0.4), "priors": ["observed", 0.1, 0.005]}
    assert_same(run(table, **asked), evaluated(table, **asked))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([True, False, None, True], None),
        ([1, 0, 0, 1], None),
        ([1.0, 0.0, 0.5, 1.0], None),
        (["TRUE", "0", "1", "false"], None),
        (["it's", "no", "NO", "no"], "it's"),
        ([7, 0, 2, 7], [7, 2]),
    ],
)
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_labels_are_read_as_in_polars(run: Run, labels, positive):
    table = pl.DataFrame({"truth": labels, "score": [0.1, 0.2, 0.3, 0.4]})
    asked = NAMES | {"measures": "auc", "positive": positive}
    assert_same(run(table, **asked), evaluated(table, **asked))


@pytest.mark.slow
def test_ranges_and_bins_are_those_of_other_engines(run: Run):
    import ibis

    table = predictions(4)
    asked = NAMES | {"priors": [0.1]}
    found = run(table, **asked, ranges=[-0.5, 0.5, 1.0], over=(0.05, 0.2))
    assert_same(found, pr.evaluate(table, **asked, over=(0.05, 0.2)))
    asked |= {"bins": [-1.0, 0.0, 1.0]}
    elsewhere = pr.warehouse.evaluate(ibis.memtable(table), **asked)
    assert_same(run(table, **asked), pr.warehouse.collected(elsewhere))


def test_names_that_need_quotes(run: Run):
    table = predictions(5, 40).rename({"score": "`", "truth": '"; drop', "model": "it's"})
    asked = {"truth": '"; drop', "score": "`", "by": ["it's"], "measures": "auc"}
    assert_same(run(table, **asked), pr.evaluate(table, **asked))
