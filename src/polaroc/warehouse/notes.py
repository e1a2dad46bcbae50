"""What is to be said of a measure, in words that the engine puts together."""

from typing import TYPE_CHECKING, Any

from polaroc.base.private_columns import (
    GREATEST_LABEL,
    LEAST_LABEL,
    LEAST_NEG,
    LEAST_POS,
    PRIVATE,
    ROW_ERROR,
)
from polaroc.curves.keys import MAX_WEIGHT_RATIO, WEIGHT_RATIO_NOTE
from polaroc.measures.table import BIAS_RATIO, BIASED, MAX_BIAS_RATIO
from polaroc.predictions.row_checks import ONLY_LABELS, ROW_ERRORS, SCORE, THE_TRUTH
from polaroc.warehouse.cells import FATAL, GREATEST, ROWS, fatal_rows
from polaroc.warehouse.columns import deferred, ibis_library, literal
from polaroc.warehouse.predictions import Predictions

if TYPE_CHECKING:
    from ibis.expr.types import Table

SEPARATOR = "; "
# Of ten, that numbers in notes are told apart by.
POWERS = range(-2, 15)
START = ">"
SCALE, DIGITS, DOUBT_SAID = (PRIVATE + name for name in ("scale", "digits", "doubt_said"))


def nothing() -> Any:
    """No words."""
    return ibis_library().literal(None, type="string")


def joined(*notes: Any, separator: str = SEPARATOR) -> Any:
    """Those of the notes that are there, as one; null where none is."""
    # Each note follows a separator, and what comes before the first is taken away.
    whole: Any = START
    for note in notes:
        whole = whole + (separator + note).coalesce("")
    return whole.replace(START + separator, "").nullif(START)


def one_class_note(positives: Any, negatives: Any) -> Any:
    """Which class is absent, null where both are there."""
    return ibis_library().cases(
        ((positives == 0) & (negatives == 0), "no positives, no negatives"),
        (positives == 0, "no positives"),
        (negatives == 0, "no negatives"),
    )


def trouble_sums(predictions: Predictions) -> dict[str, Any]:
    """What `trouble_note` needs of the cells of a key."""
    kind = deferred(ROW_ERROR)
    sums = {
        _column(code): (kind == code).ifelse(deferred(ROWS), literal(0)).sum()
        for code in predictions.possible
    }
    sums[FATAL] = fatal_rows(predictions).sum()
    sums |= {name: deferred(name).min() for name in predictions.least_weights}
    if predictions.weighted:
        sums[GREATEST] = deferred(GREATEST).max()
    return sums if predictions.rounded else sums | _label_extremes()


def trouble_note(predictions: Predictions) -> Any:
    """How many rows of a key are in which trouble, or were dropped, and what of its weights."""
    counts = []
    for code in predictions.possible:
        count = deferred(_column(code))
        ending = (count == 1).ifelse("", "s")
        words = count.cast("int64").cast("string") + f" {ROW_ERRORS[code]}" + ending
        counts.append((count > 0).ifelse(words, nothing()))
    dropped = (deferred(FATAL) > 0).ifelse("", "dropped ")
    listed = dropped + joined(*counts, separator=", ")
    return joined(
        listed,
        *([_spread()] if predictions.weighted else []),
        *([] if predictions.rounded else [_label_note()]),
    )


def _label_extremes() -> dict[str, Any]:
    """The extremes by which `predictions.row_checks.label_extremes` tells labels, of cells."""
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
    """What is to be said of a key whose scores are labels."""
    least, greatest = deferred(LEAST_LABEL), deferred(GREATEST_LABEL)
    both = least.between(1, 2) & greatest.between(3, 4)
    return ibis_library().cases(
        (both & (least == 2) & (greatest == 3), THE_TRUTH), (both, ONLY_LABELS)
    )


def with_doubt_note(rows: "Table") -> "Table":
    """Rows with what `BIAS_RATIO`, the λ/N of an estimate, says of it, as `DOUBT_SAID`.

    It is told to two significant digits, in text that is alike on every engine.
    """
    ibis = ibis_library()
    doubt, scale, digits = (deferred(name) for name in (BIAS_RATIO, SCALE, DIGITS))
    bounds = [
        (doubt < literal(9.95 * 10.0**power), literal(10.0 ** (power - 1))) for power in POWERS
    ]
    scaled = rows.mutate(**{SCALE: ibis.cases(*bounds)})
    # Null where the number is beyond all bounds: no engine can make it a whole number.
    rounded = scaled.mutate(**{DIGITS: (doubt / scale + 0.5).floor().cast("int64")})
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
    note = (doubt > literal(MAX_BIAS_RATIO)).ifelse(before + text + after, nothing())
    return rounded.mutate(**{DOUBT_SAID: note})


def _column(code: int) -> str:
    return f"{PRIVATE}trouble_{code}"


def _spread() -> Any:
    """What is to be said of weights so different that their sums lose the smaller."""
    ibis = ibis_library()
    positive, negative = deferred(LEAST_POS), deferred(LEAST_NEG)
    # Some engines give null for the least of a value and null, others the value.
    lightest = ibis.least(positive.coalesce(negative), negative.coalesce(positive))
    wide = deferred(GREATEST) / lightest.nullif(0) > literal(MAX_WEIGHT_RATIO)
    return wide.ifelse(WEIGHT_RATIO_NOTE, nothing())
