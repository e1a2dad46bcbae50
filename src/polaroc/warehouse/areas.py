"""The measures of a curve table in a warehouse."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from polaroc.base.docstrings import described_as
from polaroc.measures.areas import auc_measure, auprec_measures, iauprec_measure
from polaroc.measures.functions import auc as local_auc
from polaroc.measures.functions import auprec as local_auprec
from polaroc.measures.functions import iauprec as local_iauprec
from polaroc.measures.sensitivity import accsens as local_accsens
from polaroc.measures.sensitivity import accsens_measure, sens_measure
from polaroc.measures.sensitivity import sens as local_sens
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import UNRANKED
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import some_priors
from polaroc.typing import IbisTable, Interpolation, Priors, Start
from polaroc.warehouse.columns import IBIS, deferred, ibis_library, literal
from polaroc.warehouse.curves import TABLES, curve_keys, fetch_whole_hulls, in_memory
from polaroc.warehouse.measures import per_key, tidy
from polaroc.warehouse.notes import no_note
from polaroc.warehouse.whole import (
    TOTALS,
    is_whole,
    wholeness,
    with_added,
    without_impossible_points,
)


@described_as(TABLES, local_auc)
def auc(
    curve: IbisTable,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    standardise: bool = False,
) -> IbisTable:
    """Area under the ROC curve, per key, as `polaroc.auc`.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> points = pr.warehouse.curve(table, truth="truth", score="score")
    >>> round(pr.warehouse.auc(points).estimate.to_polars()[0], 12)
    0.68
    """
    return measures_of_curves(curve, [auc_measure(fpr, tpr, standardise, IBIS)])


@described_as(TABLES, local_auprec)
def auprec(
    curve: IbisTable,
    priors: Priors = "observed",
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    recall: tuple[float, float] | None = None,
) -> IbisTable:
    """Area under the precision-recall curve at each prior, per key, as `polaroc.auprec`.

    For ``"hull"`` the points that may be vertices are fetched at once, and the result is a
    table in memory.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> points = pr.warehouse.curve(table, truth="truth", score="score")
    >>> area = pr.warehouse.auprec(points, interpolation="linear", start="drop")
    >>> round(area.estimate.to_polars()[0], 6)
    0.619124
    """
    some_priors(priors)
    measures = auprec_measures(priors, interpolation, start, recall, IBIS)
    if interpolation == "hull":
        return in_memory(
            local_auprec(fetch_whole_hulls(curve), priors, interpolation, start, recall)
        )
    return measures_of_curves(curve, measures)


@described_as(TABLES, local_iauprec)
def iauprec(
    curve: IbisTable,
    over: tuple[float, float] | Belief,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    measure: Literal["prior", "skew"] = "prior",
) -> IbisTable:
    """AUPREC averaged over a range of priors or under a belief, as `polaroc.iauprec`.

    For ``"hull"`` see `warehouse.auprec`.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> points = pr.warehouse.curve(table, truth="truth", score="score")
    >>> round(pr.warehouse.iauprec(points, over=(0.05, 0.20)).estimate.to_polars()[0], 2)
    0.38
    """
    averaged = iauprec_measure(over, interpolation, start, measure, IBIS)
    if interpolation == "hull":
        return in_memory(
            local_iauprec(fetch_whole_hulls(curve), over, interpolation, start, measure)
        )
    return measures_of_curves(curve, [averaged])


@described_as(TABLES, local_sens)
def sens(curve: IbisTable, over: tuple[float, float]) -> IbisTable:
    """How far the balanced operating point moves over a range of priors, as `polaroc.sens`.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = ibis.memtable(pl.DataFrame({"truth": [1, 0], "p": [0.5, 0.5]}))
    >>> points = pr.warehouse.curve(table, truth="truth", score="p")
    >>> round(pr.warehouse.sens(points, over=(0.1, 0.9)).estimate.to_polars()[0], 3)
    0.8
    """
    return measures_of_curves(curve, [sens_measure(over, IBIS)])


@described_as(TABLES, local_accsens)
def accsens(
    curve: IbisTable,
    over: tuple[float, float],
    weights: tuple[float, float] = (1, 1),
    area: str = "error",
) -> IbisTable:
    """Accuracy and prior sensitivity combined, over a range of priors, as `polaroc.accsens`.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = ibis.memtable(pl.DataFrame({"truth": [1, 0], "p": [0.5, 0.5]}))
    >>> points = pr.warehouse.curve(table, truth="truth", score="p")
    >>> round(pr.warehouse.accsens(points, over=(0.1, 0.9)).estimate.to_polars()[0], 3)
    0.63
    """
    return measures_of_curves(curve, [accsens_measure(over, weights, area, IBIS)])


def measures_of_curves(curve: IbisTable, measures: Sequence[Measure]) -> IbisTable:
    """The tidy measures of a curve table, all with the same columns."""
    keys = curve_keys(curve)
    measures = [replace(measure, over=None) for measure in measures]
    # A sum over all rows says whether a curve is whole.
    wide = per_key(
        without_impossible_points(with_added(curve)),
        keys,
        measures,
        wholeness(),
        ibis_library().literal(True),
    )
    totals = {name: is_whole(curve).ifelse(deferred(name), literal(None)) for name in TOTALS}
    wide = wide.mutate(**totals).drop(*wholeness())
    wide = wide.mutate(note=deferred("positives").isnull().ifelse(UNRANKED, no_note()))
    return tidy(wide, keys, measures, weighted=curve["positives"].type().is_floating())
