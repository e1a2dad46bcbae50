"""Results as JSON, which has neither NaN nor infinity nor bytes."""

import json
from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Any

import polars as pl


def json_text(result: pl.DataFrame | Mapping[str, Any]) -> str:
    """A table as a list of rows, or several results under their names."""
    if isinstance(result, pl.DataFrame) and not _has_other_values(result):
        return result.write_json()
    if isinstance(result, pl.DataFrame):
        return json.dumps(plain_rows(result), ensure_ascii=False, default=str)
    plain = {name: _plain(value) for name, value in result.items()}
    return json.dumps(plain, ensure_ascii=False, default=str)


def plain_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows with values that JSON has.

    NaN, inf and -inf are written as these words, so that null is a missing value; bytes as text,
    or as hexadecimal if they are no text.

    Examples
    --------
    >>> plain_rows(pl.DataFrame({"k": [float("inf"), None], "b": [b"A", None]}))
    [{'k': 'inf', 'b': 'A'}, {'k': None, 'b': None}]
    """
    binary = [name for name, kind in table.schema.items() if kind == pl.Binary]
    written: list[dict[str, Any]] = json.loads(
        table.with_columns(_text(table, binary)).write_json()
    )
    if not _has_other_values(table):
        return written
    return [
        {name: _in_words(value, row[name]) for name, value in plain.items()}
        for plain, row in zip(written, table.iter_rows(named=True), strict=True)
    ]


def _text(table: pl.DataFrame, columns: Sequence[str]) -> list[pl.Series]:
    """Columns of bytes as text."""
    texts = []
    for name in columns:
        try:
            texts.append(table[name].cast(pl.String))
        except pl.exceptions.PolarsError:
            texts.append(table[name].bin.encode("hex"))
    return texts


def _has_other_values(table: pl.DataFrame) -> bool:
    """Whether the table may hold values that JSON lacks."""
    kinds = table.schema.items()
    floats = [name for name, kind in kinds if kind.is_float()]
    return any(kind.is_nested() or kind == pl.Binary for _, kind in kinds) or any(
        not table[name].drop_nulls().is_finite().all() for name in floats
    )


def _in_words(written: Any, value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return {inf: "inf", -inf: "-inf"}.get(value, "NaN")
    if isinstance(value, dict) and isinstance(written, dict):
        return {name: _in_words(written[name], value[name]) for name in written}
    if isinstance(value, list) and isinstance(written, list):
        return [_in_words(*pair) for pair in zip(written, value, strict=True)]
    return written


def _plain(value: Any) -> Any:
    if isinstance(value, pl.DataFrame):
        return plain_rows(value)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return _in_words(value, value)
