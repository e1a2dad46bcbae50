"""The whole flow in one pass: predictions in, tidy measures out."""

from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple

from polaroc.areas import auc_measure, auprec_measures, iauprec_measure
from polaroc.beliefs import Belief
from polaroc.columns import like
from polaroc.errors import InvalidArgument, check_choice
from polaroc.measures import Measure, tidy
from polaroc.memory import Memory
from polaroc.predictions import read
from polaroc.sensitivity import range_measures
from polaroc.sums import Progress, Summed
from polaroc.totals import totals
from polaroc.typing import By, Frame, Interpolation, IntoExpr, Label, Nulls, Prior, Priors

DEFAULT_PRIORS: tuple[Prior, ...] = ("observed", 0.5, 0.1, 0.01)
OVER_A_RANGE = ("sens", "auc_range", "accsens", "equal_error")
MEASURES = ("auc", "auprec", "iauprec", *OVER_A_RANGE)


def evaluate(
    frame: Frame,
    *,
    truth: IntoExpr,
    score: IntoExpr,
    by: By = (),
    weight: IntoExpr | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    measures: str | Sequence[str] | None = None,
    memory: Memory | None = None,
    scratch: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Frame:
    """Every measure of every key, in one pass over the predictions.

    Parameters
    ----------
    frame
        Predictions, one row per case.
    truth, score, by, weight, positive, nulls
        As in `curve`.
    priors
        Priors at which AUPREC is taken, in (0, 1), or ``"observed"`` for each
        key's own; one, several, or a prior grid.
    over
        A range (lo, hi) of priors, or a belief about the prior. Without it there
        are no measures over a range; under a belief there is IAUPREC only.
    interpolation
        As in `auprec`.
    measures
        Any of "auc", "auprec", "iauprec" (see the functions of these names),
        "sens", "auc_range", "accsens" (see `accsens`; "auc_range" is one minus
        the mean error over the range) and "equal_error" (where FNr = FPr); by
        default all that the arguments allow.
    memory
        How much memory may be used: bytes, a size such as ``"4GB"``, or
        ``"auto"`` for 60 % of what is available. The work is then done at once,
        also for a lazy frame: where the rows would not fit they are written to
        disk in ranges of the score, and taken one range at a time. By default a
        lazy frame stays a plan.
    scratch
        A folder on a disk with room for them, some 14 bytes per row (22 if
        weighted); by default the system's folder of temporary files. What is
        written there is removed at the end, or by the next run that is killed
        before it.
    progress
        Called after each range with the rows done and the rows in all.

    Returns
    -------
    Frame of the kind given
        Tidy measures, sorted by key, one row per key, measure and prior: the
        keys; `measure` String; `prior` Float64, null where a measure has none;
        `estimate` Float64, null where undefined; `positives`, `negatives`
        (Int64, Float64 if weighted); `note` String, null, or why the estimate
        is null or to be doubted, or what was dropped.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve` and `auprec`.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> measures = table.pipe(pr.evaluate, truth="truth", score="score", priors=0.1)
    >>> [(name, round(value, 3)) for name, value in measures.select("measure", "estimate").rows()]
    [('auc', 0.68), ('auprec', 0.35)]
    """
    asked = chosen(measures, priors, over, interpolation)
    predictions = read(
        frame, truth=truth, score=score, by=by, weight=weight, positive=positive, nulls=nulls
    )
    summed = Summed(predictions, *asked.parted)
    found = (
        summed.at_once(totals(predictions))
        if memory is None
        else summed.in_parts(memory, scratch, progress)
    )
    return like(frame, tidy(found.wide, predictions.keys, asked.measures))


class Chosen(NamedTuple):
    """The measures asked for, and those taken on the curves and on their hulls."""

    measures: list[Measure]
    parted: tuple[list[Measure], list[Measure]]


def chosen(
    names: str | Sequence[str] | None,
    priors: Priors,
    over: tuple[float, float] | Belief | None,
    interpolation: Interpolation,
) -> Chosen:
    """The measures that the arguments of `evaluate` ask for."""
    asked = _asked(names, over)
    on_roc: list[Measure] = [auc_measure()]
    on_pr: list[Measure] = auprec_measures(priors, interpolation, "limit")
    if over is not None:
        on_pr.append(iauprec_measure(over, interpolation, "limit"))
        if not isinstance(over, Belief):
            on_roc += range_measures(over)
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
