"""Names of the columns of intermediate tables, which no column of a user may have."""

PRIVATE = "__polaroc_"


def private(name: str) -> str:
    """The private column of this name."""
    return PRIVATE + name


def _columns(names: str) -> list[str]:
    return [private(name) for name in names.split()]


# Predictions, their audit, and their keys.
TRUTH, WEIGHT, ROW_ERROR, CASE, CLUSTER = _columns("truth weight row_error case cluster")
COUNT, ROWS, LABEL, DIFFERS = _columns("count rows label differs")
LEAST_LABEL, GREATEST_LABEL = _columns("least_label greatest_label")

# Sorted rows and curves.
KEY_INDEX, SORT_CODE, PLACE, SIZE = _columns("index code place size")
RECALL, STEP, ROW, RANGE, NEG_SQUARES = _columns("recall step row range neg_squares")

# Tables that may be the same.
(SAME,) = _columns("same")

# Limits.
(LIMITS_NOTE,) = _columns("limits_note")

# Measures by model, fold and prior.
VALUE, AT, HAVE, SPREAD, RESPONSE = _columns("value at have spread response")

# Charts.
ERROR, SENS, PANEL = _columns("error sens panel")
SHARE = private("share")
