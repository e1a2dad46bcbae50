"""A prediction table in a warehouse, in columns with fixed names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import polars as pl

from polaroc.base.columns import RESERVED
from polaroc.base.private_columns import (
    LEAST_NEG,
    LEAST_POS,
    NEG_SQUARES,
    PRIVATE,
    ROW_ERROR,
    TRUTH,
    WEIGHT,
)
from polaroc.base.text import MISSING_TEXT, MISSING_WORDS
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable, check_choice, quoted
from polaroc.predictions.canonical import is_wide, named_columns
from polaroc.predictions.cases import require_roles
from polaroc.predictions.columns import NEEDED
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
    WRONG,
    column_in_words,
    labels_of,
    listed,
)
from polaroc.typing import IbisTable, Label, Nulls
from polaroc.warehouse.columns import ibis_library, literal

# Integers up to this are exact as floats.
EXACT = 2**53
# How engines write the floats 0 and 1.
FLOATS = ("0.0", "0.0e0"), ("1.0", "1.0e0")
# The bounds of Int64 as floats; no float is the upper one, so that it is the next lower.
MIN_WHOLE, MAX_WHOLE = -(2.0**63), 2.0**63 - 1024


@dataclass(frozen=True)
class Predictions:
    """A prediction table with the keys, `SCORE`, `TRUTH`, `WEIGHT` and `ROW_ERROR`.

    `ROW_ERROR` is the code of the reason why a row cannot be ranked, null for a valid row; invalid
    rows have no score. `edges` are the scores at which ranges begin, if scores are cumulated in
    ranges. The other fields are those of `polaroc.predictions.table.Predictions`.
    """

    rows: IbisTable
    keys: list[str]
    weighted: bool
    sampled: bool
    nulls: Nulls
    possible_errors: list[int]
    edges: tuple[float, ...] = ()

    @property
    def least_weights(self) -> tuple[str, ...]:
        """The columns of the least weight of each class."""
        return (LEAST_POS, LEAST_NEG) if self.weighted else ()

    @property
    def squares(self) -> tuple[str, ...]:
        """The column of the squared weights of negatives, where weights are those of a sample."""
        return (NEG_SQUARES,) if self.sampled else ()

    @property
    def fatal(self) -> list[int]:
        """The codes of row errors that rule out a result for the key."""
        return [kind for kind in self.possible_errors if self.nulls == "raise" or kind in WRONG]


def read(table: IbisTable, columns: Mapping[str, Any]) -> Predictions:
    """The predictions of a table, with the keywords of `polaroc.cases`; nothing is computed yet."""
    names, kept = names_and_keys(table, columns)
    nulls, positive = columns.get("nulls", "raise"), columns.get("positive")
    check_choice("nulls", nulls, get_args(Nulls))
    _check_case(names.get("by", []))
    keys, scores = [*kept], names["score"]
    kept[TRUTH], errors = _truth(table[names["truth"][0]], names["truth"][0], positive)
    role = next((role for role in ("count", "weight") if role in names), None)
    if role is not None:
        kept[WEIGHT], weight_errors = _weight(table, role, names[role][0])
        errors = [*errors, *weight_errors]
    weights = role is not None, role == "weight"
    if not is_wide(columns):
        rows, possible = _rows(table, scores[0], kept, errors)
        return Predictions(rows, keys, *weights, nulls, possible)
    of_models = [
        _rows(table, column, kept | {"model": ibis_library().literal(column)}, errors)
        for column in scores
    ]
    rows = ibis_library().union(*(rows for rows, _ in of_models), distinct=False)
    possible = sorted({code for _, codes in of_models for code in codes})
    keys = [*names.get("by", []), "model", *(["fold"] if "fold" in names else [])]
    return Predictions(rows, keys, *weights, nulls, possible)


def names_and_keys(
    table: IbisTable, columns: Mapping[str, Any], needs: Collection[str] = NEEDED
) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The columns of each role, and the keys by their names in results."""
    check_table(table)
    # Types matter to tables in memory only.
    schema = dict.fromkeys(table.columns, pl.Null())
    names = named_columns(columns, schema)
    require_roles(names, schema, needs)
    keys = {name: table[name] for name in names.get("by", [])}
    if "model" in names:
        keys["model"] = table[names["model"][0]]
    if "fold" in names:
        keys["fold"] = _fold(table, names["fold"])
    return names, keys


def _fold(table: IbisTable, names: Sequence[str]) -> Any:
    """The column of folds; several are joined by dots."""
    if len(names) == 1:
        return table[names[0]]
    first, *others = (
        table[name].cast("string").replace("\\", "\\\\").replace(".", "\\.").fill_null("\\null")
        for name in names
    )
    for other in others:
        first = first + "." + other
    return first


def _rows(
    table: IbisTable, score: str, columns: dict[str, Any], errors: list[tuple[int, Any]]
) -> tuple[IbisTable, list[int]]:
    """The rows of one column of scores, and the codes of errors that they may have."""
    value, score_errors = _score(table[score], score)
    errors = [*score_errors, *errors]
    ibis = ibis_library()
    # On some engines NaN is also null, so that NaN has to be first.
    first = sorted(errors, key=lambda error: error[0] != NAN_SCORE)
    row_error = ibis.cases(*((is_so, ibis.literal(code, "int8")) for code, is_so in first))
    # Engines differ in whether −0 equals 0; equal scores must be tied.
    ranked = ibis.cases((row_error.notnull(), None), (value == 0, literal(0)), else_=value)
    rows = table.select(**columns, **{SCORE: ranked.cast("float64"), ROW_ERROR: row_error})
    return rows, [code for code, _ in errors]


def check_table(table: object) -> None:
    """Raise for anything but an ibis table."""
    if not isinstance(table, ibis_library().expr.types.Table):
        kind = type(table)
        raise InvalidTable(
            f"got a {kind.__module__}.{kind.__qualname__}, allowed is an ibis table.",
            hint="ibis.connect(...).table(name); for Polars frames use the functions of polaroc.",
        )


def _check_case(keys: Sequence[str]) -> None:
    """Raise for keys that some engines, which ignore case, do not tell from reserved names."""
    reserved = {*RESERVED, "model", "fold"}
    taken = [key for key in keys if key.lower() in reserved or key.lower().startswith(PRIVATE)]
    if taken:
        raise InvalidArgument(
            f"by has {quoted(taken)}: some engines do not tell that from polaroc's "
            f"own columns ({', '.join(sorted(reserved))}).",
            hint="rename the key column first: table.rename(...).",
        )


def _number(raw: Any, role: str, name: str) -> Any:
    """The column of a role as a float; raise where it holds no numbers."""
    kind = raw.type()
    if not (kind.is_numeric() or kind.is_null() or kind.is_unknown()):
        raise InvalidPredictions(
            f"{column_in_words(role, name)} is {kind}, allowed are numbers.",
            hint=f"cast it first, for example table.mutate({role}=table.{role}.cast('float64')).",
        )
    return raw.cast("float64")


def _score(raw: Any, name: str) -> tuple[Any, list[tuple[int, Any]]]:
    """The score as a float, and the row errors it may have with their conditions."""
    kind, value = raw.type(), _number(raw, "score", name)
    errors = [(NULL_SCORE, raw.isnull()), (NAN_SCORE, value.isnan())]
    if kind.is_integer() and kind.nbytes == 8:
        held = value.between(literal(MIN_WHOLE), literal(MAX_WHOLE))
        whole = held.ifelse(value, literal(0)).cast(kind)
        large = (raw > EXACT) | (raw < -EXACT)
        errors.append((INEXACT, large & ~(held & (whole == raw))))
    elif kind.is_decimal():
        errors.append((INEXACT, value.cast(kind) != raw))
    return value, errors


def _truth(
    raw: Any, name: str, positive: Label | Sequence[Label] | None
) -> tuple[Any, list[tuple[int, Any]]]:
    """The truth as a Boolean, and the row errors it may have with their conditions."""
    kind = raw.type()
    unseen = kind.is_unknown()
    if unseen:
        raw = raw.cast("string")
    elif not (kind.is_numeric() or kind.is_string() or kind.is_boolean() or kind.is_null()):
        raise InvalidPredictions(
            f"{column_in_words('truth', name)} is {kind}, allowed are truth values, numbers "
            "and text.",
            hint="make a truth value of it first, for example table.mutate(truth=...).",
        )
    textual = raw.type().is_string()
    missing = raw.isnull() | raw.isnan() if kind.is_floating() else raw.isnull()
    labels: list[Any] = []
    if positive is not None:
        wanted = [text for one in listed(positive) for text in _texts(one)] if unseen else positive
        labels = labels_of(wanted, str(kind), textual, kind.is_boolean())
        if kind.is_float32():
            # Some engines compare in 64 bits, in which 0.1 is another number.
            raw, labels = raw.cast("float64"), [float(np.float32(label)) for label in labels]
    if textual:
        text = raw.strip()
        missing |= (text.lower().isin(MISSING_WORDS) | (text == MISSING_TEXT)) & ~raw.isin(labels)
    errors = [(NULL_TRUTH, missing)]
    if positive is not None:
        return raw.isin(labels), errors
    if kind.is_boolean() or kind.is_null():
        return raw.cast("boolean"), errors
    word = raw.lower() if textual else raw
    yes, no = (POSITIVE_WORDS, NEGATIVE_WORDS) if textual else ((1,), (0,))
    if unseen:
        yes, no = (*yes, *FLOATS[1]), (*no, *FLOATS[0])
    return word.isin(yes), [*errors, (UNKNOWN_LABEL, ~word.isin((*yes, *no)))]


def _texts(label: Label) -> list[str]:
    """How engines may write a label as text.

    Examples
    --------
    >>> _texts("yes"), _texts(True), _texts(2), _texts(0.5)
    (['yes'], ['true'], ['2', '2.0'], ['0.5'])
    """
    if isinstance(label, bool):
        return [str(label).lower()]
    if isinstance(label, int | float) and float(label).is_integer():
        return [str(int(label)), str(float(label))]
    return [str(label)]


def _weight(table: IbisTable, role: str, name: str) -> tuple[Any, list[tuple[int, Any]]]:
    """The weight or count as a float, and the row errors it may have with their conditions."""
    value = _number(table[name], role, name)
    is_missing, is_wrong, most = WEIGHTS[role]
    valid = ~value.isnan() & value.between(literal(0), literal(most))
    if role == "count":
        valid &= value == value.floor()
    missing = value.isnull() & ~value.isnan().coalesce(False)
    return value, [(is_missing, missing), (is_wrong, ~valid)]
