"""The column `note` of a measure table, as expressions that the engine evaluates."""

from typing import Any

from polaroc.base.private_columns import (
    GREATEST_LABEL,
    LEAST_LABEL,
    PRIVATE,
    ROW_ERROR,
    ROWS,
)
from polaroc.base.statistics import ROUNDING
from polaroc.measures.table import BIAS_RATIO, BIASED, MAX_BIAS_RATIO
from polaroc.predictions.row_checks import (
    ONLY_LABELS,
    ROW_ERRORS,
    SCORE,
    THE_TRUTH,
    error_count_column,
)
from polaroc.typing import IbisTable
from polaroc.warehouse.cells import FATAL, fatal_rows
from polaroc.warehouse.columns import deferred, ibis_library, literal
from polaroc.warehouse.predictions import Predictions

SEPARATOR = "; "
# Powers of ten that a number in a note may have.
POWERS = range(-2, 15)
# A ratio so close below a half is rounded up: its last bits depend on the order of sums.
HALF = 1e-9
START = ">"
SCALE, DIGITS, BIAS_NOTE = (PRIVATE + name for name in ("scale", "digits", "bias_note"))


def no_note() -> Any:
    """A null note."""
    return ibis_library().literal(None, type="string")


def join_notes(*notes: Any, separator: str = SEPARATOR) -> Any:
    """The notes that are not null, joined; null where all are."""
    # A marker before the first separator lets it be removed.
    text: Any = START
    for note in notes:
        text = text + (separator + note).coalesce("")
    return text.replace(START + separator, "").nullif(START)


def one_class_note(positives: Any, negatives: Any) -> Any:
    """A note on absent classes, null where both are present."""
    return ibis_library().cases(
        ((positives == 0) & (negatives == 0), "no positives, no negatives"),
        (positives == 0, "no positives"),
        (negatives == 0, "no negatives"),
    )


def row_error_sums(predictions: Predictions) -> dict[str, Any]:
    """The aggregates of cells that `row_error_note` needs."""
    kind = deferred(ROW_ERROR)
    sums = {
        error_count_column(code): (kind == code).ifelse(deferred(ROWS), literal(0)).sum()
        for code in predictions.possible_errors
    }
    sums[FATAL] = fatal_rows(predictions).sum()
    return sums | _label_extremes()


def row_error_note(predictions: Predictions) -> Any:
    """A note with the counts of invalid or dropped rows, and a note on labels."""
    counts = []
    for code in predictions.possible_errors:
        count = deferred(error_count_column(code))
        ending = (count == 1).ifelse("", "s")
        note = count.cast("int64").cast("string") + f" {ROW_ERRORS[code]}" + ending
        counts.append((count > 0).ifelse(note, no_note()))
    dropped = (deferred(FATAL) > 0).ifelse("", "dropped ")
    listed = dropped + join_notes(*counts, separator=", ")
    return join_notes(listed, _label_note())


def _label_extremes() -> dict[str, Any]:
    """Aggregates of cells like `predictions.row_checks.label_extremes` of rows."""
    ibis = ibis_library()
    score, positive, negative = deferred(SCORE), deferred("pos") > 0, deferred("neg") > 0
    zero, one, none = score == 0, score == 1, ~(positive | negative)
    least = ((none, None), (zero & positive, 1), (zero, 2), (one & positive, 3), (one, 4))
    greatest = ((none, None), (zero & negative, 2), (zero, 1), (one & negative, 4), (one, 3))
    return {
        LEAST_LABEL: ibis.cases(*least, else_=0).min(),
        GREATEST_LABEL: ibis.cases(*greatest, else_=0).max(),
    }


def _label_note() -> Any:
    """A note for keys whose scores are labels."""
    least, greatest = deferred(LEAST_LABEL), deferred(GREATEST_LABEL)
    both = least.between(1, 2) & greatest.between(3, 4)
    return ibis_library().cases(
        (both & (least == 2) & (greatest == 3), THE_TRUTH), (both, ONLY_LABELS)
    )


def with_bias_note(rows: IbisTable) -> IbisTable:
    """Rows with `BIAS_NOTE`, a note where `BIAS_RATIO`, the λ/N of an estimate, is too high.

    Two significant digits, written without the engine's own formatting of floats; what is within
    rounding of a half is rounded up.
    """
    ibis = ibis_library()
    bias_ratio, scale, digits = (deferred(name) for name in (BIAS_RATIO, SCALE, DIGITS))
    bounds = [
        (bias_ratio < literal(9.95 * 10.0**power * (1 - HALF)), literal(10.0 ** (power - 1)))
        for power in POWERS
    ]
    scaled = rows.mutate(**{SCALE: ibis.cases(*bounds)})
    # Null above all bounds, where the number does not fit in an integer.
    rounded = scaled.mutate(**{DIGITS: (bias_ratio / scale + 0.5 + HALF).floor().cast("int64")})
    tens, ones = (digits - digits % 10) / 10, digits % 10
    tens = tens.cast("int64").cast("string")
    short = (ones == 0).ifelse(tens, digits.cast("string"))
    text = ibis.cases(
        (scale.isnull(), f"above 1e{POWERS[-1] + 1}"),
        (scale < literal(0.005), "0.0" + short),
        (scale < literal(0.05), "0." + short),
        (scale < literal(0.5), tens + "." + ones.cast("string")),
        else_=(digits * scale).cast("int64").cast("string") + ".0",
    )
    before, after = BIASED.split("{}")
    is_high = bias_ratio > literal(MAX_BIAS_RATIO * (1 + ROUNDING))
    note = is_high.ifelse(before + text + after, no_note())
    return rounded.mutate(**{BIAS_NOTE: note})
