"""The catalogue of measures, and their selection by arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from polaroc.base.checks import one_or_several
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.measures.areas import AUC, AUPREC, IAUPREC, INTERPOLATIONS
from polaroc.measures.scoring import SCORING, check_score_prior
from polaroc.measures.sensitivity import ACCSENS, AUC_RANGE, EQUAL_ERROR, SENS
from polaroc.measures.spec import Measure, MeasureArguments, MeasureDefinition
from polaroc.priors.beliefs import Belief, Over, resolve_belief
from polaroc.priors.grids import OBSERVED, resolve_priors
from polaroc.typing import Interpolation, Prior, Priors, Start

DEFAULT_PRIORS: tuple[Prior, ...] = ("observed", 0.5, 0.1, 0.01)
# Measures of costs, which are no part of a table of measures, in words.
COSTS_IN_WORDS = {"expected_cost": "expected cost", "net_benefit": "net benefit"}
# By name, in the order of the rows of a table of measures.
CATALOG: dict[str, MeasureDefinition] = {
    one.name: one for one in (AUC, AUPREC, IAUPREC, SENS, AUC_RANGE, ACCSENS, EQUAL_ERROR, *SCORING)
}


def higher_is_better(measure: str) -> bool:
    """Whether a higher value is better; True for measures that are not in the catalogue."""
    return measure not in CATALOG or CATALOG[measure].higher_is_better


def mean_name(measure: str) -> str | None:
    """The measure that is the mean of a measure over priors, None where there is none.

    Examples
    --------
    >>> mean_name("auprec"), mean_name("log_loss"), mean_name("auc")
    ('iauprec', 'log_loss_range', None)
    """
    return next((one.name for one in CATALOG.values() if one.mean_of == measure), None)


def at_one_prior(measure: str) -> str:
    """The measure of which a measure is the mean over priors, or the measure itself.

    Examples
    --------
    >>> at_one_prior("iauprec"), at_one_prior("auc")
    ('auprec', 'auc')
    """
    return (measure in CATALOG and CATALOG[measure].mean_of) or measure


def value_range(measure: str) -> tuple[float | None, float | None]:
    """The least and the greatest value of a measure, None where there is none or none is known.

    Examples
    --------
    >>> value_range("auprec"), value_range("log_loss"), value_range("brier_skill")
    ((0.0, 1.0), (0.0, None), (None, 1.0))
    """
    if measure not in CATALOG:
        return None, None
    over = None if CATALOG[measure].over is None else (0.4, 0.6)
    return CATALOG[measure].build(MeasureArguments([0.5], over))[0].bounds


def label(measure: str) -> str:
    """The name of a measure in text.

    Examples
    --------
    >>> label("auprec"), label("net_benefit"), label("cost")
    ('AUPREC', 'net benefit', 'cost')
    """
    return CATALOG[measure].label if measure in CATALOG else COSTS_IN_WORDS.get(measure, measure)


def in_words(measure: str) -> str:
    """The name of a measure in a sentence, by the glossary.

    Examples
    --------
    >>> in_words("auprec"), in_words("brier")
    ('area (AUPREC)', 'Brier score')
    """
    is_area = measure in ("auprec", "iauprec")
    return f"area ({label(measure)})" if is_area else label(measure)


def select_measures(
    names: str | Sequence[str] | None,
    priors: Priors,
    over: Over | None,
    interpolation: Interpolation,
    *,
    start: Start = "limit",
    score_prior: float | str = OBSERVED,
    column: Callable[[str], pl.Expr] = pl.col,
) -> list[Measure]:
    """The measures of these names, or all that the arguments allow."""
    check_score_prior(score_prior)
    arguments = MeasureArguments(priors, over, interpolation, start, score_prior, column)
    if names is None:
        is_range = over is not None and not isinstance(over, Belief)
        defaults = (one for one in CATALOG.values() if one.by_default and _has_over(one, over))
        selected = [one for one in defaults if is_range or not one.default_needs_range]
    else:
        named: Sequence[Any] = one_or_several(names)
        for name in named:
            check_choice("measure", name, tuple(CATALOG))
        selected = [one for one in CATALOG.values() if one.name in named]
        if lacking := [one.name for one in selected if not _has_over(one, over)]:
            raise InvalidArgument(
                f"measure has {quoted(lacking)}, but over is {over!r}.",
                hint="give the range of priors, for example over=(0.05, 0.20).",
            )
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    resolve_priors(priors)
    if over is not None:
        resolve_belief(over)
    measures = [measure for definition in selected for measure in definition.build(arguments)]
    if not measures:
        raise InvalidArgument(
            f"there is nothing to measure: measure is {names!r}, priors is {priors!r}.",
            hint="leave measure out for all of them.",
        )
    return measures


def _has_over(definition: MeasureDefinition, over: object) -> bool:
    """Whether `over` is of the kind that the measure needs: a range, a range or belief, or any."""
    if definition.over is None:
        return True
    return over is not None and (definition.over == "belief" or not isinstance(over, Belief))
