"""Which measures are asked for."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from polaroc.area_measures import auc_measure, auprec_measures, iauprec_measure
from polaroc.arithmetic import Columns
from polaroc.beliefs import Belief
from polaroc.errors import InvalidArgument, check_choice
from polaroc.measures import Measure
from polaroc.sensitivity import range_measures
from polaroc.typing import Interpolation, Prior, Priors

DEFAULT_PRIORS: tuple[Prior, ...] = ("observed", 0.5, 0.1, 0.01)
OVER_A_RANGE = ("sens", "auc_range", "accsens", "equal_error")
MEASURES = ("auc", "auprec", "iauprec", *OVER_A_RANGE)


class Chosen(NamedTuple):
    """The measures asked for, and those taken on the curves and on their hulls."""

    measures: list[Measure]
    parted: tuple[list[Measure], list[Measure]]


def chosen(
    names: str | Sequence[str] | None,
    priors: Priors,
    over: tuple[float, float] | Belief | None,
    interpolation: Interpolation,
    column: Columns = pl.col,
) -> Chosen:
    """The measures that the arguments of `evaluate` ask for, in columns that `column` makes."""
    asked = _asked(names, over)
    on_roc: list[Measure] = [auc_measure(column=column)]
    on_pr: list[Measure] = auprec_measures(priors, interpolation, "limit", column=column)
    if over is not None:
        on_pr.append(iauprec_measure(over, interpolation, "limit", column=column))
        if not isinstance(over, Belief):
            on_roc += range_measures(over, column)
    on_roc = [measure for measure in on_roc if measure.name in asked]
    on_pr = [measure for measure in on_pr if measure.name in asked]
    measures = sorted([*on_roc, *on_pr], key=lambda one: MEASURES.index(one.name))
    if not measures:
        raise InvalidArgument(
            f"there is nothing to measure: measures is {names!r}, priors is {priors!r}.",
            hint="leave measures out for all of them.",
        )
    return Chosen(measures, (on_roc, on_pr) if interpolation == "hull" else (measures, []))


def _asked(measures: str | Sequence[str] | None, over: object) -> Sequence[str]:
    if measures is None:
        return MEASURES
    asked = [measures] if isinstance(measures, str) else list(measures)
    for name in asked:
        check_choice("measures", name, MEASURES)
    lacking = [name for name in asked if name not in ("auc", "auprec")] if over is None else []
    if isinstance(over, Belief):
        lacking = [name for name in asked if name in OVER_A_RANGE]
    if lacking:
        raise InvalidArgument(
            f"measures has {', '.join(map(repr, lacking))}, but over is {over!r}.",
            hint="give the range of priors, for example over=(0.05, 0.20).",
        )
    return asked
