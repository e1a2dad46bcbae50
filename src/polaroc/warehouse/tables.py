"""Tables of a warehouse: the library ibis, predictions with fixed column names, fetched rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.columns import PRIVATE, RENAME, RESERVED, ROW_ERROR, TRUTH, WEIGHT
from polaroc.base.libraries import Library
from polaroc.base.text import MISSING_TEXT, MISSING_WORDS
from polaroc.errors import InvalidArgument, InvalidTable, quoted
from polaroc.predictions.cases import Cases, as_cases
from polaroc.predictions.columns import NEEDED, is_wide
from polaroc.predictions.row_checks import (
    INEXACT,
    NAN_SCORE,
    NEGATIVE_WORDS,
    NULL_SCORE,
    NULL_TRUTH,
    POSITIVE_WORDS,
    SCORE,
    UNKNOWN_LABEL,
    WEIGHTS,
    listed,
)
from polaroc.typing import IbisTable, Label

# The bounds of Int64 as floats; no float is the upper one, so that it is the next lower.
MIN_WHOLE, MAX_WHOLE = -(2.0**63), 2.0**63 - 1024
# The most rows that are fetched to be finished here, about 2 GB.
MAX_FETCHED = 20_000_000
# Conditions for rows that cannot be ranked, each with the code of the reason.
RowErrors = list[tuple[int, Any]]


ibis: Any = Library("ibis", extra="warehouse")


class Predictions(NamedTuple):
    """The rows of a table, with the keys, `SCORE`, `TRUTH`, `ROW_ERROR` and perhaps `WEIGHT`.

    `ROW_ERROR` is the code of the reason why a row cannot be ranked, null for a valid row; rows
    that do not count have no score. `cases` say what the columns mean, and have no rows.
    """

    rows: IbisTable
    cases: Cases[Any]


def read(table: IbisTable, columns: Mapping[str, Any]) -> Predictions:
    """The predictions of a table, with the keywords of `polaroc.cases`; nothing is computed yet."""
    cases = declared(table, columns)
    names, kept = cases.names, keys_of(table, cases)
    kept[TRUTH], errors = _truth(table[names["truth"][0]], columns.get("positive"))
    role = cases.counted_by
    weight: Any = None
    if role is not None:
        weight = table[names[role][0]].cast("float64")
        missing, wrong, most = WEIGHTS[role]
        is_valid = ~weight.isnan() & weight.between(literal(0), literal(most))
        if role == "count":
            is_valid &= weight == weight.floor()
        is_missing = weight.isnull() & ~weight.isnan().coalesce(False)
        errors += [(missing, is_missing), (wrong, ~is_valid)]
        kept[WEIGHT] = weight
    parts, codes = [], set()
    for name in names["score"]:
        value, of_score = _score(table[name])
        # NaN comes first, as some engines take NaN for null, too.
        in_order = sorted([*of_score, *errors], key=lambda error: error[0] != NAN_SCORE)
        codes |= {code for code, _ in in_order}
        error = ibis.cases(*((is_so, ibis.literal(code, "int8")) for code, is_so in in_order))
        is_left_out = error.notnull() if role is None else error.notnull() | (weight == 0)
        # Engines differ in whether −0 equals 0; equal scores must be tied.
        ranked = ibis.cases((is_left_out, None), (value == 0, literal(0)), else_=value)
        if is_wide(columns):
            kept["model"] = ibis.literal(name)
        rows = table.select(**kept, **{SCORE: ranked.cast("float64"), ROW_ERROR: error})
        parts.append(rows)
    rows = parts[0] if len(parts) == 1 else ibis.union(*parts, distinct=False)
    return Predictions(rows, replace(cases, errors=tuple(sorted(codes))))


def declared(
    table: IbisTable, columns: Mapping[str, Any], needs: Collection[str] = NEEDED
) -> Cases[Any]:
    """The meaning of the columns of a table, as cases without rows."""
    check_table(table)
    schema = {name: _polars_type(kind) for name, kind in table.schema().items()}
    if any(kind.is_unknown() for kind in table.schema().values()):
        # Labels of any type may be meant.
        columns = {**columns, "positive": None}
    cases = as_cases(pl.LazyFrame(schema=schema), columns, needs=needs)
    # Names are compared in lower case, as some engines do.
    reserved = {*RESERVED, "model", "fold"}
    taken = [key for key in cases.by if key.lower() in reserved or key.lower().startswith(PRIVATE)]
    if taken:
        raise InvalidArgument(
            f"by has {quoted(taken)}, which some engines do not tell from polaroc's own columns.",
            hint=RENAME,
        )
    return cases


def _polars_type(kind: Any) -> pl.DataType:
    """The type of a column in Polars, Null where there is none."""
    try:
        polars_type: pl.DataType = kind.to_polars()
    except (NotImplementedError, ValueError):
        return pl.Null()
    return polars_type


def keys_of(table: IbisTable, cases: Cases[Any]) -> dict[str, Any]:
    """The keys by their names in results, but for the model of scores in several columns."""

    def key(name: str) -> Any:
        """A key; NaN is a missing value, as in `polaroc.cases`."""
        column = table[name]
        return column.isnan().ifelse(None, column) if column.type().is_floating() else column

    keys = {name: key(name) for name in cases.by}
    if "model" in cases.names:
        keys["model"] = key(cases.names["model"][0])
    folds = cases.names.get("fold", [])
    if len(folds) == 1:
        keys["fold"] = key(folds[0])
    elif folds:
        # The values of several columns are joined by dots.
        texts = (table[name].cast("string") for name in folds)
        parts = [
            text.replace("\\", "\\\\").replace(".", "\\.").fill_null("\\null") for text in texts
        ]
        keys["fold"] = ibis.literal(".").join(parts)
    return keys


def literal(number: float | None) -> Any:
    """A 64-bit float; cast from text, since some engines take numbers for decimals."""
    if number is None:
        return ibis.null("float64")
    return ibis.literal(repr(float(number)), type="string").cast("float64")


def _score(raw: Any) -> tuple[Any, RowErrors]:
    """The score as a float, and its errors."""
    kind, value = raw.type(), raw.cast("float64")
    errors = [(NULL_SCORE, raw.isnull()), (NAN_SCORE, value.isnan())]
    if kind.is_integer() and kind.nbytes == 8:
        held = value.clip(literal(MIN_WHOLE), literal(MAX_WHOLE))
        errors.append((INEXACT, held.cast(kind) != raw))
    elif kind.is_decimal():
        errors.append((INEXACT, value.cast(kind) != raw))
    return value, errors


def _truth(raw: Any, positive: Label | Sequence[Label] | None) -> tuple[Any, RowErrors]:
    """The truth as a Boolean, and its errors."""
    kind = raw.type()
    labels: list[Any] = [] if positive is None else listed(positive)
    yes: tuple[Any, ...] = POSITIVE_WORDS
    no: tuple[Any, ...] = NEGATIVE_WORDS
    missing = raw.isnull() | raw.isnan() if kind.is_floating() else raw.isnull()
    if kind.is_unknown():
        # Engines differ in how they write Booleans and numbers.
        raw, yes, no = raw.cast("string"), (*yes, "1.0", "1.0e0"), (*no, "0.0", "0.0e0")
        for label in [one for one in labels if not isinstance(one, str)]:
            labels += [str(label).lower(), f"{label:g}", str(float(label))]
        labels = [one for one in labels if isinstance(one, str)]
    elif kind.is_float32():
        # Some engines compare in 64 bits, in which 0.1 is another number.
        raw, labels = raw.cast("float64"), [float(np.float32(label)) for label in labels]
    if raw.type().is_string():
        text = raw.strip()
        is_word = text.lower().isin(MISSING_WORDS) | (text == MISSING_TEXT)
        missing |= is_word & ~raw.isin(labels) if labels else is_word
        word = raw.lower()
    else:
        word, yes, no = raw, (1,), (0,)
    errors = [(NULL_TRUTH, missing)]
    if labels:
        return raw.isin(labels), errors
    if kind.is_boolean() or kind.is_null():
        return raw.cast("boolean"), errors
    return word.isin(yes), [*errors, (UNKNOWN_LABEL, ~word.isin((*yes, *no)))]


def check_table(table: object) -> None:
    """Raise for anything but an ibis table."""
    if not isinstance(table, ibis.expr.types.Table):
        kind = type(table)
        raise InvalidTable(
            f"got a {kind.__module__}.{kind.__qualname__}, allowed is an ibis table.",
            hint="ibis.connect(...).table(name); for Polars frames use the functions of polaroc.",
        )


def collected(table: IbisTable) -> pl.DataFrame:
    """The rows of a table, computed by its engine.

    Like `table.to_polars()`, except that on Spark NaN does not become null, as it
    does in the pandas frame that ibis makes there.

    Parameters
    ----------
    table
        Any table of a connection.

    Returns
    -------
    DataFrame
        Its rows.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> pr.warehouse.collected(table.aggregate(rows=table.count())).item()
    20
    """
    if table.op().find(ibis.expr.operations.UnboundTable):
        raise InvalidArgument(
            "the table has no connection, and nothing can be fetched.",
            hint="connect to the table; or print the query: warehouse.sql(...).",
        )
    backend = ibis.get_backend(table)
    if backend.name == "pyspark":
        return pl.DataFrame(backend.raw_sql(backend.compile(table)).toArrow())
    return table.to_polars()


def fetched(table: IbisTable) -> pl.DataFrame:
    """The counts of scores that are finished on this machine; raise if there are too many."""
    rows = collected(table.limit(MAX_FETCHED + 1))
    if rows.height > MAX_FETCHED:
        raise InvalidArgument(
            f"there are more than {MAX_FETCHED:,} different scores per key in all; intervals, "
            "hulls and losses are finished on this machine.",
            hint="round the scores first, take some of the keys, or other measures.",
        )
    return rows


def sent_along(frame: pl.DataFrame, table: IbisTable) -> IbisTable:
    """A small local frame as a table that can be joined to that of an engine."""
    sent: IbisTable = ibis.memtable(frame)
    for backend in table._find_backends()[0]:
        if backend.name == "pyspark":
            # Ibis would send it as a pandas frame, in which nulls become NaN.
            arrow, name = frame.to_arrow(compat_level=pl.CompatLevel.oldest()), sent.get_name()
            session = backend.raw_sql("SELECT 1").sparkSession
            session.createDataFrame(arrow).createOrReplaceTempView(name)
            sent = backend.table(name)
    return sent
