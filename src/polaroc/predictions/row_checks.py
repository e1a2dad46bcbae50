"""Read score, truth and weight of each row, and code its errors."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from polaroc.base.checks import one_or_several
from polaroc.base.columns import GREATEST_LABEL, LABEL, LEAST_LABEL, ROW_ERROR, TEXTUAL, TRUTH
from polaroc.base.text import is_missing_text, joined_notes, spellings
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted, warn
from polaroc.typing import Label

# The column of scores, which become the thresholds of curves.
SCORE = "threshold"

# Errors of a row by code; only rows with missing values may be dropped.
NULL_SCORE, NAN_SCORE, NULL_TRUTH, NULL_WEIGHT, UNKNOWN_LABEL, BAD_WEIGHT, INEXACT = range(1, 8)
NULL_COUNT, BAD_COUNT = 8, 9
MISSING = {
    NULL_SCORE: "null score",
    NAN_SCORE: "NaN score",
    NULL_TRUTH: "null truth",
    NULL_WEIGHT: "null weight",
    NULL_COUNT: "null count",
}
WRONG = {
    UNKNOWN_LABEL: "unclear truth label",
    BAD_WEIGHT: "invalid weight",
    BAD_COUNT: "invalid count",
    INEXACT: "inexact score",
}
ROW_ERRORS = MISSING | WRONG
THE_TRUTH = "the score is the truth itself"
# The possible causes of null totals, between which a lazy curve does not distinguish.
UNRANKED = (
    "null, NaN or unclear values among the predictions, or a curve that is not whole (several as "
    "one, or rows left out)"
)
DROP_ROWS = "drop such rows with nulls='drop', or correct them before."
ROW_ERROR_HINTS = {
    UNKNOWN_LABEL: "name the positive label(s), positive=...; without it allowed are 0/1 and "
    "false/true.",
    BAD_WEIGHT: "weights must be ≥ 0 and at most 1e140; correct the weight column before.",
    BAD_COUNT: "a count is a whole number ≥ 0; other numbers are weights: name them as weight.",
    INEXACT: "scores must fit a 64-bit float without loss; rank or scale them before.",
}
WRITE_NUMBERS = (
    "write all of them as numbers, a missing one as an empty field; a decimal comma is read with "
    "pl.read_csv(..., decimal_comma=True), on the command line with --decimal ,."
)
# Labels that need no `positive`, as text in small letters.
POSITIVE_WORDS, NEGATIVE_WORDS = ("1", "true"), ("0", "false")
# With more labels, the truth is taken for another column, such as the score.
MAX_CLASSES = 50
# Squares of sums of weights up to this do not overflow, and sums of counts are exact.
MAX_WEIGHT, MAX_COUNT = 1e140, 2**53
# By role: the codes of a missing and of a wrong value, and the greatest value that is allowed.
WEIGHTS = {
    "weight": (NULL_WEIGHT, BAD_WEIGHT, MAX_WEIGHT),
    "count": (NULL_COUNT, BAD_COUNT, MAX_COUNT),
}
# Types of integers that Float64 holds without loss.
EXACT_IN_FLOAT = (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)


def check_clusters(missing: int) -> None:
    """Raise where cases have no cluster."""
    if missing:
        raise InvalidPredictions(
            f"{missing} cases have no cluster.",
            hint="drop them, or give each a cluster of its own.",
        )


def error_count_column(kind: int) -> str:
    """The column that counts the rows of a key with an error."""
    return f"{ROW_ERROR}_{kind}"


def error_counts(kinds: Sequence[int]) -> list[pl.Expr]:
    """The aggregates that `errors_in_words` needs."""
    return [(pl.col(ROW_ERROR) == kind).sum().alias(error_count_column(kind)) for kind in kinds]


def errors_in_words(kinds: Sequence[int]) -> pl.Expr:
    """The numbers of rows of a key with each error, in words; null where none has one."""
    # Begins with a null, since `joined_notes` needs at least one note.
    notes = [pl.lit(None, pl.String)]
    for kind in kinds:
        count = pl.col(error_count_column(kind))
        one, more = (pl.format("{} " + ROW_ERRORS[kind] + end, count) for end in ("", "s"))
        notes.append(pl.when(count == 1).then(one).when(count > 1).then(more))
    return joined_notes(*notes, separator=", ")


def _column_in_words(role: str, column: str | Sequence[str]) -> str:
    """The column of a role, or its columns, as the subject of a sentence."""
    columns = [column] if isinstance(column, str) else column
    return f"the {role} column{'s' if len(columns) > 1 else ''} {', '.join(map(repr, columns))}"


def score_column(
    raw: pl.Expr, dtype: pl.DataType, name: str | Sequence[str]
) -> tuple[pl.Expr, dict[int, pl.Expr]]:
    """The score as Float64, and its errors by code."""
    check_numeric("score", dtype, name)
    value = raw.cast(pl.Float64)
    errors = {NULL_SCORE: value.is_null(), NAN_SCORE: value.is_nan()}
    if not dtype.is_float() and dtype not in EXACT_IN_FLOAT and dtype != pl.Null:
        errors[INEXACT] = ~value.cast(dtype, strict=False).eq_missing(raw)
    return value, errors


def weight_column(
    raw: pl.Expr, dtype: pl.DataType, name: str, role: str
) -> tuple[pl.Expr, dict[int, pl.Expr]]:
    """The weight or count, by its role, as Float64, and its errors by code."""
    check_numeric(role, dtype, name)
    value = raw.cast(pl.Float64)
    missing, wrong, most = WEIGHTS[role]
    valid = value.is_between(0, most)
    if role == "count":
        valid &= value == value.floor()
    return value, {missing: value.is_null(), wrong: ~valid}


def check_numeric(
    role: str, dtype: pl.DataType, name: str | Sequence[str], found: str = ""
) -> None:
    """Refuse a column that does not hold numbers; the message ends in what was `found` in it."""
    if not (dtype.is_numeric() or dtype == pl.Null):
        raise InvalidPredictions(
            f"{_column_in_words(role, name)} is {dtype}, allowed are numbers{found}.",
            hint=WRITE_NUMBERS if dtype in TEXTUAL else f"name the column that has the {role}s.",
        )


def truth_column(
    raw: pl.Expr,
    dtype: pl.DataType,
    name: str,
    positive: Label | Sequence[Label] | None,
    labels: pl.Series | None = None,
) -> tuple[pl.Expr, dict[int, pl.Expr]]:
    """The truth as Boolean, and its errors by code.

    Of a column of text in memory, the distinct `labels` spare a test of each row for missing ones.
    """
    textual = dtype in TEXTUAL
    if not (dtype.is_numeric() or textual or dtype in (pl.Boolean, pl.Null)):
        raise InvalidPredictions(
            f"{_column_in_words('truth', name)} is {dtype}, allowed are Boolean, numbers, String, "
            "Categorical, Enum.",
            hint="make a Boolean column first, for example pl.col(...) == ...",
        )
    missing = raw.is_null() | (raw.is_nan() if dtype.is_float() else False)
    named = pl.lit(False)
    if positive is not None:
        named = pl.any_horizontal(raw == label for label in labels_of(positive, dtype))
    if textual and labels is not None:
        texts = labels.cast(pl.String).to_frame().filter(is_missing_text(pl.all())).to_series()
        missing |= raw.is_in(texts.to_list()) & ~named
    elif textual:
        missing |= is_missing_text(raw.cast(pl.String)) & ~named
    errors = {NULL_TRUTH: missing}
    if positive is not None:
        return pl.when(~missing).then(named), errors
    if dtype in (pl.Boolean, pl.Null):
        return raw.cast(pl.Boolean), errors
    if textual:
        yes, no = raw.is_in(spellings(POSITIVE_WORDS)), raw.is_in(spellings(NEGATIVE_WORDS))
    else:
        yes, no = raw == 1, raw == 0
    return yes, errors | {UNKNOWN_LABEL: ~(yes | no)}


def labels_of(positive: Label | Sequence[Label], dtype: pl.DataType) -> list[Label]:
    """The positive labels as a list; raise if they do not fit the type of the truth."""
    labels = listed(positive)
    boolean = dtype == pl.Boolean
    kinds: tuple[type, ...] = (str,) if dtype in TEXTUAL else (bool,) if boolean else (int, float)
    fit = all(isinstance(one, kinds) and isinstance(one, bool) == boolean for one in labels)
    if not labels or not fit:
        words = " or ".join(kind.__name__ for kind in kinds)
        raise InvalidArgument(
            f"positive is {quoted([positive])}, but truth is {dtype}: allowed are labels of "
            f"type {words}.",
            hint="give the label(s) as they stand in the truth column.",
        )
    return labels


def listed(positive: Any) -> list[Label]:
    """One label or several as a list, numpy's numbers as Python's."""
    labels = one_or_several(positive)
    return [label.item() if getattr(label, "shape", None) == () else label for label in labels]


def _read_labels(
    labels: pl.Series, name: str, positive: Label | Sequence[Label] | None = None
) -> pl.DataFrame:
    """The distinct `labels` of a truth column, sorted; `TRUTH` says whether each is positive.

    It is null for a label that stands for a missing value.
    """
    is_positive, errors = truth_column(pl.col(TRUTH), labels.dtype, name, positive)
    truth = pl.when(~errors[NULL_TRUTH]).then(is_positive).alias(TRUTH)
    return labels.to_frame(TRUTH).select(pl.col(TRUTH).alias(LABEL), truth).sort(LABEL)


def check_labels(labels: pl.Series, name: str, positive: Label | Sequence[Label]) -> None:
    """Raise where none of the distinct labels is positive, and warn where one may be misspelt."""
    known = _read_labels(labels, name, positive).drop_nulls()
    column = _column_in_words("truth", name)
    has_labels = f"{column} has the labels {_first_labels(known[LABEL])}"
    negative = known.filter(~pl.col(TRUTH))[LABEL]
    if len(negative) == known.height > 1:
        raise InvalidPredictions(
            f"no row has the positive label {positive!r}; {has_labels}.",
            hint="check the spelling of positive=...",
        )
    absent = [
        label for label in listed(positive) if not _read_labels(labels, name, label)[TRUTH].any()
    ]
    if absent and known[TRUTH].any():
        warn(f"No row has the positive label {quoted(absent)}; {has_labels}.")
    if len(negative) > 1:
        warn(
            f"{len(negative)} labels of {column} count as negative: {_first_labels(negative)}. "
            "Correct any that are misspelt."
        )


def label_details(
    labels: pl.Series, name: str, positive: Label | Sequence[Label] | None
) -> tuple[dict[int, str], str]:
    """Labels to show after errors of the truth, by code, and a hint for unclear ones."""
    column = _column_in_words("truth", name)
    read = _read_labels(labels, name, positive)
    known = read.drop_nulls()[LABEL]
    texts = read.filter(pl.col(TRUTH).is_null())[LABEL]
    details = {UNKNOWN_LABEL: f" ({column} has the labels {_first_labels(known)})"}
    if len(texts) and not texts.dtype.is_float():
        details[NULL_TRUTH] = f" (texts of missing values in {column}: {_first_labels(texts)})"
    if len(known) > MAX_CLASSES:
        return details, "are truth and score swapped?"
    several = "pr.one_vs_rest(...) makes one problem of each of several classes."
    return details, several if len(known) > 2 else ""


def _first_labels(labels: pl.Series) -> str:
    """The first of sorted labels, for a message."""
    return quoted(labels.to_list(), most=5)


def label_extremes(counts: pl.Expr) -> list[pl.Expr]:
    """The two aggregates that `label_note` needs: the least and the greatest code of the rows.

    The codes are 1 and 2 for a score of zero, of a positive and of a negative; 3 and 4 for a score
    of one, likewise; 0 for any other score. Only rows where `counts` holds are taken.
    """
    score, truth = pl.col(SCORE), pl.col(TRUTH).cast(pl.Int8)
    code = pl.when(score == 0).then(2 - truth).when(score == 1).then(4 - truth).otherwise(0)
    label = pl.when(counts).then(code)
    return [label.min().alias(LEAST_LABEL), label.max().alias(GREATEST_LABEL)]


def label_note() -> pl.Expr:
    """A note for keys whose scores are labels, from `label_extremes`."""
    least, greatest = pl.col(LEAST_LABEL), pl.col(GREATEST_LABEL)
    both = least.is_between(1, 2) & greatest.is_between(3, 4)
    only_labels = "scores are 0 and 1 only: predicted labels, not scores"
    is_truth = both & (least == 2) & (greatest == 3)
    return pl.when(is_truth).then(pl.lit(THE_TRUTH)).when(both).then(pl.lit(only_labels))
