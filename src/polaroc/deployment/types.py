"""Inputs and result of estimates of the prior."""

from dataclasses import dataclass

from polaroc.typing import Array

AT_AN_END = "the estimate is {:g}, outside (0, 1): it cannot be passed on as a prior"
UNTOLD = "the scores do not tell the prior"


@dataclass(frozen=True)
class Labelled:
    """Distinct scores, the best first, with the positives and the negatives that have them."""

    score: "Array"
    pos: "Array"
    neg: "Array"


@dataclass(frozen=True)
class Unlabelled:
    """Distinct scores, the best first, with the cases that have them."""

    score: "Array"
    count: "Array"


@dataclass(frozen=True)
class Estimate:
    """A prior with its interval; all None, with a `note`, where the scores do not identify it."""

    prior: float | None = None
    lower: float | None = None
    upper: float | None = None
    std_error: float | None = None
    note: str | None = None
