import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
TABLE = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.1]})


class Broken:
    """A table of another library whose stream is not what it should be."""

    def __init__(self, stream):
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema=None):
        return self.stream(requested_schema)


def batches_that_end_early():
    yield from TABLE.to_arrow().to_batches()
    raise OSError("connection lost")


def ends_early(requested_schema):
    schema = TABLE.to_arrow().schema
    reader = pa.RecordBatchReader.from_batches(schema, batches_that_end_early())
    return reader.__arrow_c_stream__(requested_schema)


def other_types_than_its_schema(requested_schema):
    schema = pa.schema([("truth", pa.int64()), ("score", pa.string())])
    reader = pa.RecordBatchReader.from_batches(schema, iter(TABLE.to_arrow().to_batches()))
    return reader.__arrow_c_stream__(requested_schema)


def fails(requested_schema):
    raise RuntimeError("no rows for you")


BROKEN = {
    "connection lost": ends_early,
    "ArrowArray of type Utf8": other_types_than_its_schema,
    "no rows for you": fails,
    "'str' object is not": lambda requested_schema: "no stream",
    "'None' is not": lambda requested_schema: None,
}


@pytest.mark.parametrize(("reason", "stream"), BROKEN.items(), ids=BROKEN)
def test_streams_that_break_off_or_lie_are_refused_in_one_line(reason, stream):
    with pytest.raises(pr.errors.InvalidTable, match=rf"is no table: .*{reason}") as refused:
        pr.evaluate(Broken(stream), **NAMES)
    message, hint = str(refused.value).split("\n")
    assert "Traceback" not in message
    assert hint.startswith("Hint: ")


def test_a_relation_is_read_as_it_is_when_asked():
    connection = duckdb.connect()
    connection.register("table_of_python", TABLE.to_arrow())
    connection.sql("create table predictions as select * from table_of_python")
    relation = connection.table("predictions")
    assert_frame_equal(pr.evaluate(relation, **NAMES), pr.evaluate(TABLE, **NAMES))
    connection.sql("delete from predictions where score > 0.85")
    assert_frame_equal(pr.evaluate(relation, **NAMES), pr.evaluate(TABLE[1:], **NAMES))
    connection.sql("drop table predictions")
    with pytest.raises(pr.errors.InvalidTable, match="predictions does not exist"):
        pr.evaluate(relation, **NAMES)
    connection.close()
    with pytest.raises(pr.errors.InvalidTable, match="closed"):
        pr.evaluate(relation, **NAMES)


class AlwaysEqual(str):
    """A name that claims to be any other."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True


def test_pandas_tables_with_evil_names():
    plain = TABLE.to_pandas()
    evil = plain.assign(**{"\x1b[31mred": [1, 1, 2, 2], "__polaroc_index": 1})
    evil[5], evil["a", "b"], evil[None] = 1, 2, 3
    assert_frame_equal(pr.evaluate(evil, **NAMES), pr.evaluate(TABLE, **NAMES))
    assert pr.evaluate(evil, **NAMES, by="\x1b[31mred")["\x1b[31mred"].n_unique() == 2
    equal = plain.set_axis([AlwaysEqual(name) for name in plain.columns], axis=1)
    assert_frame_equal(pr.evaluate(equal, **NAMES), pr.evaluate(TABLE, **NAMES))
    twice = pd.DataFrame([[1, 0.9, 1.0], [0, 0.2, 1.0]], columns=["truth", "score", "score"])
    with pytest.raises(pr.errors.InvalidTable, match="more than one column 'score'"):
        pr.evaluate(twice, **NAMES)


def pandas_with(**columns):
    return TABLE.to_pandas().assign(**columns)


@pytest.mark.parametrize(
    ("table", "names", "hint"),
    [
        (lambda: "scores.csv", NAMES, "check the path"),
        (lambda: TABLE.to_pandas().set_index("truth"), NAMES, "reset_index()"),
        (lambda: pandas_with(score=[0.1, 0.2, 0.3, float("nan")]), NAMES, "NaN is in pandas"),
        (lambda: pandas_with(score=pd.Categorical(["1"] * 4)), NAMES, "pd.to_numeric"),
        (lambda: pandas_with(score=pd.Timestamp("2026-03-01")), NAMES, "that has the scores"),
        (lambda: TABLE, {**NAMES, "priors": "obs"}, "did you mean 'observed'?"),
    ],
)  # fmt: skip
def test_slips_are_refused_with_what_to_write(table, names, hint):
    with pytest.raises(pr.errors.PolarocError) as refused:
        pr.evaluate(table(), **names)
    assert hint in refused.value.hint
