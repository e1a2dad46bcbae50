"""A lazy table is read once, so that all parts of a result are of the same rows."""

import io
import re
import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal
from verbs import CALLS, TABLE, TUNING, same

import polaroc as pr
from polaroc.errors import InvalidPredictions


class Source:
    """A lazy frame with other rows at every reading, all of which are kept."""

    def __init__(self, make):
        self.readings, rng = [], np.random.default_rng(7)

        def read(columns, predicate, rows, size):
            table = make(rng)
            self.readings.append(table)
            table = table if predicate is None else table.filter(predicate)
            table = table if columns is None else table.select(columns)
            yield table if rows is None else table.head(rows)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
            self.frame = register_io_source(read, schema=make(np.random.default_rng(0)).schema)

    @property
    def only_reading(self):
        (reading,) = self.readings
        return reading


def predictions(rng):
    """The rows of some cases, in another order."""
    some = rng.permutation(120)[: rng.integers(80, 120)].tolist()
    rows = TABLE.filter(pl.col("case").is_in(some))
    return rows.sample(fraction=1, shuffle=True, seed=int(rng.integers(1000)))


def lacking(rng):
    return predictions(rng).with_columns(p=pl.when(pl.col("p") > 0.2).then("p"))


def points(rng):
    return pr.operating_points(predictions(rng), "cost", priors=[0.1, 0.5], **NAMES)


NAMES = {"truth": "y", "score": "p"}
STEPS = {name: (predictions, partial(call, **roles)) for name, (roles, call) in CALLS.items()} | {
    "hull": (predictions, partial(pr.evaluate, **NAMES, interpolation="hull")),
    "dropped": (lacking, partial(pr.evaluate, **NAMES, weight="weight", nulls="drop")),
    "wide": (
        lambda rng: predictions(rng).drop("model"),
        partial(pr.evaluate, truth="y", score=["p", "q"], intervals=True),
    ),
    "dominance": (predictions, lambda frame: pr.dominance(pr.curve(frame, **NAMES))),
    "mean_curve": (predictions, lambda frame: pr.mean_curve(pr.curve(frame, **NAMES), n=11)),
    "points": (points, partial(pr.apply_thresholds, TABLE, same_table=True, **NAMES)),
    "deployed": (
        predictions,
        lambda frame: pr.estimate_prior(TUNING, frame, **NAMES),
    ),
    "compare, measures": (
        lambda rng: pr.evaluate(predictions(rng), **NAMES),
        lambda table: pr.compare(table, "auc", test_train_ratio=0.25).pairs,
    ),
}  # fmt: skip

# The labels of several classes are read before the rows.
del STEPS["one_vs_rest"]


@pytest.mark.parametrize("name", STEPS)
def test_a_source_is_read_once_and_the_result_is_of_that_reading(name):
    make, step = STEPS[name]
    # Each engine shares common parts of a plan in its own way.
    for engine in ("streaming", "in-memory"):
        source = Source(make)
        with pl.Config() as options:
            options.set_engine_affinity(engine)
            found = step(source.frame).lazy().collect()
        same(found, step(source.only_reading))


# --- a plan of Polars that gives other rows at each reading -------------------------------------

ROWS = 4000
PERFECT = pl.DataFrame({"truth": [i % 7 == 0 for i in range(ROWS)], "score": 0.0})
PERFECT = PERFECT.with_columns(score=pl.col("truth") + pl.int_range(ROWS) / ROWS)
AREAS = {
    "evaluate": pr.evaluate,
    "hull": partial(pr.evaluate, interpolation="hull"),
    "intervals": partial(pr.evaluate, intervals=True),
    "memory": partial(pr.evaluate, memory="1GB"),
    "curve": lambda frame: pr.curve(frame).pipe(pr.auprec, 0.1),
}


@pytest.mark.parametrize("area", AREAS)
def test_perfect_scores_are_perfect_whichever_rows_are_read(area, tmp_path):
    PERFECT.write_parquet(tmp_path / "rows.parquet", row_group_size=500)
    rows = pl.scan_parquet(tmp_path / "rows.parquet")
    plan = AREAS[area](rows.filter(pl.int_range(pl.len()).shuffle() < ROWS // 2))
    sent = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    for engine in ("streaming", "in-memory"):
        both = pl.concat([sent, sent]).collect(engine=engine)
        assert both["estimate"].to_list() == pytest.approx([1.0] * both.height, abs=1e-13)
        if area != "curve":
            # A plan of expressions reads its source wherever it is used.
            assert_frame_equal(both.head(both.height // 2), both.tail(both.height // 2))


# --- rows that cannot be ranked -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["estimate_prior", "compare", "calibration"])
def test_errors_count_the_rows_of_one_reading(name):
    roles, call = CALLS[name]
    source = Source(lacking)
    with pytest.raises(InvalidPredictions) as caught:
        call(source.frame, **roles)
    assert re.search(rf"\b{source.only_reading['p'].null_count()} null scores", str(caught.value))


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_notes_count_the_rows_of_the_reading_that_is_measured(memory, tmp_path, monkeypatch):
    source = Source(lacking)
    # Rows that fit in memory need no disk.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", None)
    options = {"model": None, "fold": None, "memory": memory, "measure": "auc", "nulls": "drop"}
    found = pr.evaluate(source.frame, **NAMES, **options).collect()
    # Where a size is given, the rows are counted before.
    assert len(source.readings) == (1 if memory is None else 2)
    assert f"{source.readings[-1]['p'].null_count()} null scores" in found["note"].item()
    assert list(tmp_path.iterdir()) == []


def test_columns_that_are_not_named_are_not_read(tmp_path):
    file = tmp_path / "rows.parquet"
    TABLE.with_columns(feature=pl.lit("text")).write_parquet(file)
    damaged = bytearray(file.read_bytes())
    text = damaged.index(b"text")
    damaged[text - 8 : text + 4] = bytes(12)
    file.write_bytes(damaged)
    with pytest.raises(pl.exceptions.PolarsError):
        pl.read_parquet(file)
    for name in ("curve", "evaluate", "check", "compare"):
        roles, call = CALLS[name]
        same(call(pl.scan_parquet(file), **roles), call(TABLE, **roles))
