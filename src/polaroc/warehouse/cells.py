"""The tie-collapsed cells of every key, counted and summed by the engine."""

from typing import TYPE_CHECKING, Any

from polaroc.cells import met
from polaroc.columns import PRIVATE
from polaroc.totals import LEAST_NEG, LEAST_POS
from polaroc.trouble import SCORE, TROUBLE, TRUTH, WEIGHT
from polaroc.warehouse.columns import Column, deferred, ibis_library, literal, plain
from polaroc.warehouse.predictions import Predictions

if TYPE_CHECKING:
    from ibis.expr.types import Table

# How many rows a cell has: of one trouble, where it has no score.
ROWS = PRIVATE + "rows"
GREATEST = PRIVATE + "greatest"
# How many rows of its key no result may be computed around.
FATAL = PRIVATE + "fatal"
# The cumulative counts as the engine sums them.
TP_SUM, FP_SUM = PRIVATE + "tp_sum", PRIVATE + "fp_sum"


def counted(predictions: Predictions) -> "Table":
    """One row per key, score and trouble.

    Returns
    -------
    Table
        The keys; `threshold`, null where there is trouble; `TROUBLE`; `ROWS`;
        `pos` and `neg`, as floats, which are exact up to 2⁵³; for weights also
        `LEAST_POS`, `LEAST_NEG` and `GREATEST`.
    """
    sound, truth = deferred(TROUBLE).isnull(), deferred(TRUTH)
    case = deferred(WEIGHT) if predictions.weighted else literal(1)
    columns = {
        "pos": (sound & truth).ifelse(case, literal(0)).sum(),
        "neg": (sound & ~truth).ifelse(case, literal(0)).sum(),
        ROWS: ibis_library()._.count().cast("float64"),
    }
    if predictions.weighted:
        counts = sound & (deferred(WEIGHT) > 0)
        columns[LEAST_POS] = deferred(WEIGHT).min(where=counts & truth)
        columns[LEAST_NEG] = deferred(WEIGHT).min(where=counts & ~truth)
        columns[GREATEST] = deferred(WEIGHT).max(where=counts)
    return predictions.rows.group_by([*predictions.keys, SCORE, TROUBLE]).aggregate(**columns)


def cells(predictions: Predictions, counts: "Table") -> "Table":
    """The `counted` rows with the totals of their key, and the counts at or above their score.

    Returns
    -------
    Table
        The columns of `counts`, and `tp`, `fp`, `positives`, `negatives` as
        floats; `FATAL`, how many rows of the key forbid any result.
    """
    summed = cumulated(predictions, counts)
    if not predictions.weighted:
        return summed.rename({"tp": TP_SUM, "fp": FP_SUM})
    ends = {}
    for own, rise, whole, least, name in (
        (TP_SUM, "pos", "positives", LEAST_POS, "tp"),
        (FP_SUM, "neg", "negatives", LEAST_NEG, "fp"),
    ):
        sum_, risen, total, lightest = (Column(deferred(c)) for c in (own, rise, whole, least))
        start = met(sum_ - risen, total, lightest)
        ends[name] = plain(met(sum_, total, lightest))
        ends[rise] = plain(met(sum_, total, lightest) - start)
    return summed.mutate(**ends).drop(TP_SUM, FP_SUM)


def cumulated(predictions: Predictions, counts: "Table") -> "Table":
    """The `counted` rows with the sums that run down the scores of their key, and its totals."""
    ibis = ibis_library()
    keys = predictions.keys
    whole = ibis.window(group_by=keys)
    down = ibis.window(group_by=keys, order_by=ibis.desc(SCORE), rows=(None, 0))
    columns: dict[str, Any] = {
        TP_SUM: deferred("pos").sum().over(down),
        FP_SUM: deferred("neg").sum().over(down),
        "positives": deferred("pos").sum().over(whole),
        "negatives": deferred("neg").sum().over(whole),
        FATAL: fatal_rows(predictions).sum().over(whole),
    }
    if predictions.weighted:
        for name in (LEAST_POS, LEAST_NEG):
            columns[name] = deferred(name).min().over(whole)
    return counts.mutate(**columns)


def fatal_rows(predictions: Predictions) -> Any:
    """How many rows of a cell forbid any result for its key."""
    return deferred(TROUBLE).isin(predictions.fatal).ifelse(deferred(ROWS), literal(0))
