"""Which measures are asked for."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from polaroc.base.checks import listed_values
from polaroc.base.formula import Columns
from polaroc.errors import Hint, InvalidArgument, check_choice
from polaroc.measures.areas import auc_measure, auprec_measures, iauprec_measure
from polaroc.measures.corrected_areas import corrected_auprec_measures, corrected_iauprec_measure
from polaroc.measures.sensitivity import range_measures
from polaroc.measures.spec import Measure
from polaroc.priors.beliefs import Belief
from polaroc.typing import Interpolation, Prior, Priors

DEFAULT_PRIORS: tuple[Prior, ...] = ("observed", 0.5, 0.1, 0.01)
OVER_A_RANGE = ("sens", "auc_range", "accsens", "equal_error")
MEASURES = ("auc", "auprec", "iauprec", *OVER_A_RANGE)
# Only where they are asked for by name.
CORRECTED = ("auprec_corrected", "iauprec_corrected")


class SelectedMeasures(NamedTuple):
    """The measures asked for, and those taken on the curves and on their hulls."""

    measures: list[Measure]
    parted: tuple[list[Measure], list[Measure]]


def select_measures(
    names: str | Sequence[str] | None,
    priors: Priors,
    over: tuple[float, float] | Belief | None,
    interpolation: Interpolation,
    column: Columns = pl.col,
) -> SelectedMeasures:
    """The measures that the arguments of `evaluate` ask for, in columns that `column` makes."""
    asked = _asked(names, over)
    on_roc: list[Measure] = [auc_measure(column=column)]
    on_pr: list[Measure] = auprec_measures(priors, interpolation, "limit", column=column)
    if over is not None:
        on_pr.append(iauprec_measure(over, interpolation, "limit", column=column))
        if not isinstance(over, Belief):
            on_roc += range_measures(over, column)
    if set(CORRECTED) & set(asked):
        check_exact(interpolation)
        on_pr += corrected_auprec_measures(priors, column) if CORRECTED[0] in asked else []
        if over is not None and CORRECTED[1] in asked:
            on_pr.append(corrected_iauprec_measure(over, column))
    on_roc = [measure for measure in on_roc if measure.name in asked]
    on_pr = [measure for measure in on_pr if measure.name in asked]
    order = (*MEASURES, *CORRECTED)
    measures = sorted([*on_roc, *on_pr], key=lambda one: order.index(one.name))
    if not measures:
        raise InvalidArgument(
            f"there is nothing to measure: measures is {names!r}, priors is {priors!r}.",
            hint="leave measures out for all of them.",
        )
    return SelectedMeasures(
        measures, (on_roc, on_pr) if interpolation == "hull" else (measures, [])
    )


def check_exact(interpolation: str) -> None:
    """Refuse to correct what is not interpolated exactly."""
    if interpolation != "exact":
        raise InvalidArgument(
            f"interpolation is {interpolation!r}, and corrected areas are known for 'exact' only.",
            hint=Hint(
                "use {interpolation}, or leave the corrected measures out.", interpolation="exact"
            ),
        )


def _asked(measures: str | Sequence[str] | None, over: object) -> Sequence[str]:
    if measures is None:
        return MEASURES
    asked = listed_values(measures)
    asked = [measures] if asked is None else asked
    for name in asked:
        check_choice("measures", name, (*MEASURES, *CORRECTED))
    at_priors = ("auc", "auprec", "auprec_corrected")
    lacking = [name for name in asked if name not in at_priors] if over is None else []
    if isinstance(over, Belief):
        lacking = [name for name in asked if name in OVER_A_RANGE]
    if lacking:
        raise InvalidArgument(
            f"measures has {', '.join(map(repr, lacking))}, but over is {over!r}.",
            hint=Hint("give the range of priors, for example {over}.", over=(0.05, 0.20)),
        )
    return asked
