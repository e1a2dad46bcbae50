"""Tables of other libraries that break off, lie, change or have evil names."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidTable

NAMES = {"truth": "truth", "score": "score"}
TABLE = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.1]})


class Broken:
    """A table of another library whose stream is not what it should be."""

    def __init__(self, stream):
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema=None):
        return self.stream()


def batches_that_end_early():
    yield from TABLE.to_arrow().to_batches()
    raise OSError("connection lost")


def stream_of(schema, batches):
    return pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__()


def fails():
    raise RuntimeError("no rows for you")


BROKEN = {
    "connection lost": lambda: stream_of(TABLE.to_arrow().schema, batches_that_end_early()),
    "ArrowArray of type Utf8": lambda: stream_of(
        pa.schema([("truth", pa.int64()), ("score", pa.string())]),
        iter(TABLE.to_arrow().to_batches()),
    ),
    "no rows for you": fails,
    "'str' object is not": lambda: "no stream",
    "'None' is not": lambda: None,
}


@pytest.mark.parametrize(("reason", "stream"), BROKEN.items(), ids=BROKEN)
def test_streams_that_break_off_or_lie_are_refused_in_one_line(reason, stream):
    with pytest.raises(InvalidTable, match=rf"is no table: .*{reason}") as refused:
        pr.evaluate(Broken(stream), **NAMES)
    message, hint = str(refused.value).split("\n")
    assert "Traceback" not in message
    assert hint.startswith("Hint: ")


def test_a_stream_that_was_read_is_refused():
    stream = TABLE.to_arrow().to_reader()
    pr.curve(stream, **NAMES)
    with pytest.raises(InvalidTable, match="read before"):
        pr.curve(stream, **NAMES)


def test_a_relation_is_read_as_it_is_when_asked():
    connection = duckdb.connect()
    connection.register("table_of_python", TABLE.to_arrow())
    connection.sql("create table predictions as select * from table_of_python")
    relation = connection.table("predictions")
    assert_frame_equal(pr.evaluate(relation, **NAMES), pr.evaluate(TABLE, **NAMES))
    connection.sql("delete from predictions where score > 0.85")
    assert_frame_equal(pr.evaluate(relation, **NAMES), pr.evaluate(TABLE[1:], **NAMES))
    connection.sql("drop table predictions")
    with pytest.raises(InvalidTable, match="predictions does not exist"):
        pr.evaluate(relation, **NAMES)
    connection.close()
    with pytest.raises(InvalidTable, match="closed"):
        pr.evaluate(relation, **NAMES)


class AlwaysEqual(str):
    """A name that claims to be any other."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True


def test_pandas_tables_with_evil_names():
    plain = TABLE.to_pandas()
    evil = plain.assign(
        **{"\x1b[31mred": [1, 1, 2, 2], "__polaroc_index": 1, "mixed": [1, "a"] * 2}
    )
    evil[5], evil["a", "b"], evil[None] = 1, 2, 3
    assert_frame_equal(pr.evaluate(evil, **NAMES), pr.evaluate(TABLE, **NAMES))
    assert pr.evaluate(evil, **NAMES, by="\x1b[31mred")["\x1b[31mred"].n_unique() == 2
    equal = plain.set_axis([AlwaysEqual(name) for name in plain.columns], axis=1)
    assert_frame_equal(pr.evaluate(equal, **NAMES), pr.evaluate(TABLE, **NAMES))
    twice = pd.DataFrame([[1, 0.9, 1.0], [0, 0.2, 1.0]], columns=["truth", "score", "score"])
    with pytest.raises(InvalidTable, match="more than one column 'score'"):
        pr.evaluate(twice, **NAMES)
