"""The measures of predictions that a choice needs."""

from typing import Any

import polars as pl

from polaroc.errors import Hint, InvalidArgument
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import mean_name
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import prior_grid

GRID = 25
NEEDS_RANGE = Hint(
    "give {over}, a belief, or one prior twice.",
    command_line="give {over}, or one prior twice.",
    over=(0.05, 0.20),
)


def measures_of(
    cases: Cases[pl.DataFrame], over: tuple[float, float] | Belief | None, measure: str
) -> pl.DataFrame:
    """The measures of predictions."""
    if over is None:
        raise InvalidArgument(
            "predictions are given without a range of priors.",
            hint=NEEDS_RANGE,
        )
    return evaluate(cases, **options_of(over, measure))


def needs_predictions() -> InvalidArgument:
    """The error of measures where the prior is an estimate."""
    return InvalidArgument(
        "over is an estimated prior, and there are no predictions: measures at one prior do not "
        "say what they are at others.",
        hint="give predictions, with truth and score, or a range of priors.",
    )


def options_of(over: tuple[float, float] | Belief, measure: str) -> dict[str, Any]:
    """The arguments of `evaluate` that give what a choice needs."""
    at = one_prior(over)
    if at is not None:
        return {"priors": [at], "measures": sorted({measure, "auc"})}
    mean = mean_name(measure)
    measures = ["auc", measure, *([] if mean is None else [mean])]
    if isinstance(over, Belief):
        return {"over": over, "priors": over.priors, "measures": measures}
    priors = prior_grid(*over, GRID)["prior"].to_list()
    return {"over": over, "priors": priors, "measures": [*measures, "sens"]}


def one_prior(over: object) -> float | None:
    """The prior of a range of one point."""
    return over[0] if isinstance(over, tuple) and over[0] == over[1] else None
