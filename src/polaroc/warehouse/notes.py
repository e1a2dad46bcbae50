"""What is to be said of a measure, in words that the engine puts together."""

from typing import Any

from polaroc.columns import PRIVATE
from polaroc.measures import DOUBTFUL
from polaroc.totals import GREATEST_SPREAD, LEAST_NEG, LEAST_POS, SPREAD
from polaroc.trouble import TROUBLE, TROUBLES
from polaroc.warehouse.cells import FATAL, GREATEST, ROWS, fatal_rows
from polaroc.warehouse.columns import deferred, ibis_library
from polaroc.warehouse.predictions import Predictions

SEPARATOR = "; "
# Of ten, that numbers in notes are told apart by.
POWERS = range(-2, 9)


def nothing() -> Any:
    """No words."""
    return ibis_library().literal(None, type="string")


def joined(*notes: Any, separator: str = SEPARATOR) -> Any:
    """Those of the notes that are there, as one; null where none is."""
    parts = [(separator + note).coalesce("") for note in notes]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole.substr(len(separator)).nullif("")


def one_class_note(positives: Any, negatives: Any) -> Any:
    """Which class is absent, null where both are there."""
    return ibis_library().cases(
        ((positives == 0) & (negatives == 0), "no positives, no negatives"),
        (positives == 0, "no positives"),
        (negatives == 0, "no negatives"),
    )


def trouble_sums(predictions: Predictions) -> dict[str, Any]:
    """What `trouble_note` needs of the cells of a key."""
    kind = deferred(TROUBLE)
    sums = {
        _column(code): (kind == code).ifelse(deferred(ROWS), 0.0).sum()
        for code in predictions.possible
    }
    sums[FATAL] = fatal_rows(predictions).sum()
    if predictions.weighted:
        for name in (LEAST_POS, LEAST_NEG):
            sums[name] = deferred(name).min()
        sums[GREATEST] = deferred(GREATEST).max()
    return sums


def trouble_note(predictions: Predictions) -> Any:
    """How many rows of a key are in which trouble, or were dropped, and what of its weights."""
    said = []
    for code in predictions.possible:
        count = deferred(_column(code))
        ending = (count == 1).ifelse("", "s")
        words = count.cast("int64").cast("string") + f" {TROUBLES[code]}" + ending
        said.append((count > 0).ifelse(words, nothing()))
    listed = joined(*said, separator=", ")
    told = (deferred(FATAL) > 0).ifelse(listed, "dropped " + listed)
    return joined(told, _spread(predictions))


def doubt_note(doubt: Any) -> Any:
    """That too few negatives bias an estimate, by the λ/N it is taken at."""
    said = "λ/N = " + two_digits(doubt) + ": biased upward"
    return (doubt > DOUBTFUL).ifelse(said, nothing())


def two_digits(number: Any) -> Any:
    """A number from 0.01 on to two significant digits, as text that is alike on every engine."""
    cases = []
    for power in POWERS:
        digits = (number / 10.0 ** (power - 1)).round().cast("int64")
        cases.append((number < 9.95 * 10.0**power, _decimal(digits, power)))
    return ibis_library().cases(*cases, else_=f"above 1e{POWERS[-1] + 1}")


def _decimal(digits: Any, power: int) -> Any:
    """Two digits, the first of which counts powers of ten."""
    text = digits.cast("string")
    if power > 0:
        return text + "0" * (power - 1) + ".0"
    tens, ones = text.substr(0, 1), text.substr(1, 1)
    if power == 0:
        return tens + "." + ones
    fraction = "0." + "0" * (-power - 1) + tens
    return (ones == "0").ifelse(fraction, fraction + ones)


def _column(code: int) -> str:
    return f"{PRIVATE}trouble_{code}"


def _spread(predictions: Predictions) -> Any:
    """What is to be said of weights so different that their sums lose the smaller."""
    if not predictions.weighted:
        return nothing()
    ibis = ibis_library()
    positive, negative = deferred(LEAST_POS), deferred(LEAST_NEG)
    # Some engines give null for the least of a value and null, others the value.
    lightest = ibis.least(positive.coalesce(negative), negative.coalesce(positive))
    wide = deferred(GREATEST) / lightest.nullif(0) > GREATEST_SPREAD
    return wide.ifelse(SPREAD, nothing())
