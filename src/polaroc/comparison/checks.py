"""What `compare`, `choose`, `gate` and `report` refuse, and the keys and rows that they compare."""

from math import inf

import polars as pl

from polaroc.base.checks import check_text, is_number, refuse_unused
from polaroc.base.columns import OVER
from polaroc.comparison.measure_rows import over_labels
from polaroc.errors import (
    Hint,
    InvalidArgument,
    InvalidPredictions,
    quoted,
)
from polaroc.measures.catalog import CATALOG, at_one_prior, bounds
from polaroc.priors.beliefs import Over, labelled_range
from polaroc.priors.grids import OBSERVED, check_prior
from polaroc.typing import Prior


def at_prior(measure: str, over: object, prior: Prior | None, *, has_scores: bool) -> str:
    """The measure itself, or what it is at the one prior."""
    check_text("measure", measure, "iauprec")
    if prior is not None:
        if over is not None:
            raise InvalidArgument(
                "both over and prior are given.",
                hint=Hint("leave one of them out: {over} is a range, {prior} a single prior.",
                          over=(0.05, 0.20), prior=0.1),
            )  # fmt: skip
        measure = at_one_prior(measure)
        refuse_places(measure, None, prior)
        if not isinstance(prior, str) or prior != OBSERVED:
            check_prior(prior)
    if over is None and prior is None and has_scores and needs_range(measure):
        raise InvalidArgument(
            f"{measure!r} is over a range of priors, and neither over nor prior is given.",
            hint=Hint("give {over}, or {prior} where it is known.", over=(0.05, 0.20), prior=0.1),
        )
    return measure


def refuse_places(measure: str, over: object, prior: Prior | None) -> None:
    """Refuse a range of priors, or a prior, where a measure has none."""
    if measure not in CATALOG:
        return
    if prior is not None and not CATALOG[measure].at_priors:
        raise InvalidArgument(
            f"prior is {prior!r}, but {measure!r} has no prior.", hint="leave it out."
        )
    if not needs_range(measure):
        refuse_unused(
            "for measures over a range of priors",
            f"measure is {measure!r}",
            hint=Hint("leave it out, or take {measure}.", measure="iauprec")
            if measure == "auprec"
            else None,
            over=over,
        )


def needs_range(measure: str) -> bool:
    """Whether a measure is over a range of priors or a belief."""
    return measure in CATALOG and CATALOG[measure].over is not None


def check_margin(measure: str, margin: object) -> None:
    """Refuse a margin outside what is allowed."""
    lowest, highest = bounds(measure)
    most = inf if lowest is None or highest is None else highest - lowest
    if isinstance(margin, bool) or not is_number(margin) or not 0 <= margin < most:
        allowed = f"0 ≤ margin < {most:g}" if most < inf else "margin ≥ 0"
        raise InvalidArgument(
            f"margin is {margin!r}, allowed is {allowed}: by how much the challenger may be worse.",
            hint=Hint.example("margin", 0.01),
        )


def refuse_one_class(measures: pl.DataFrame) -> None:
    """Refuse measures of which every key lacks the same class."""
    for name, kind in (("positives", "positive"), ("negatives", "negative")):
        if name in measures.columns and measures.height and (measures[name] == 0).all():
            raise InvalidPredictions(
                f"no row is {kind}, so that there is nothing to choose by.",
                hint=Hint("check {truth} and {positive}.", truth=None, positive=None),
            )


def of_one_range(
    measures: pl.DataFrame, measure: str, over: Over | None
) -> tuple[pl.DataFrame, Over | str | None]:
    """The rows of one measure and of the AUC, and the range or belief they are over."""
    if not needs_range(measure):
        return measures, None
    labels, same = over_labels(measures, measure), over_labels(measures, measure, over)
    if labels and len(same) == 1:
        kept = (pl.col("measure") != measure) | (pl.col(OVER) == same[0])
        return measures.filter(kept), labelled_range(same[0]) or same[0]
    if labels or over is not None:
        wanted = "" if over is None else f", not over {over!r}"
        raise InvalidArgument(
            f"the table has {measure!r} over {quoted(labels) or 'a range that it does not tell'}"
            f"{wanted}.",
            hint=Hint("evaluate again with the range, or name one of these as {over}.", over=None),
        )
    return measures, None
