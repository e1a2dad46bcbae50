"""The tie-collapsed cells of every key, and sums over the segments between them."""

from collections.abc import Sequence
from typing import Any

from polaroc.base.columns import (
    GREATEST_LABEL,
    LEAST_LABEL,
    MAX_SQUARED,
    NEG_SQUARES,
    PLACE,
    ROW_ERROR,
    ROWS,
    TRUTH,
    WEIGHT,
)
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import SCORE, error_count_column
from polaroc.typing import IbisTable
from polaroc.warehouse.connections import ibis_library
from polaroc.warehouse.predictions import Predictions, literal
from polaroc.warehouse.segments import aggregates, segments

# Share of a total by which sums of the same weights in another order may differ.
ROUNDED = 1e-12


def count_cells(predictions: Predictions) -> IbisTable:
    """One row per key, score and row error; counts are floats, which are exact up to 2⁵³."""
    _ = ibis_library()._
    cases = predictions.cases
    valid, truth = _[ROW_ERROR].isnull(), _[TRUTH]
    weight = _[WEIGHT] if cases.counted_by else literal(1)
    sums = {
        "pos": (valid & truth).ifelse(weight, literal(0)).sum(),
        "neg": (valid & ~truth).ifelse(weight, literal(0)).sum(),
        ROWS: _.count(),
    }
    if cases.weight:
        bounded = ibis_library().least(weight, literal(MAX_SQUARED))
        sums[NEG_SQUARES] = (valid & ~truth).ifelse(bounded * bounded, literal(0)).sum()
    return predictions.rows.group_by([*cases.keys, SCORE, ROW_ERROR]).aggregate(**sums)


def cells(predictions: Predictions) -> IbisTable:
    """The rows of `count_cells` with the totals of the key and the counts at or above the score.

    `PLACE` numbers the cells of a key from 0, best score first.
    """
    ibis, _ = ibis_library(), ibis_library()._
    cases = predictions.cases
    whole = ibis.window(group_by=cases.keys)
    falling = ibis.window(group_by=cases.keys, order_by=ibis.desc(SCORE))
    down = ibis.window(group_by=cases.keys, order_by=ibis.desc(SCORE), rows=(None, 0))
    sums = {
        "tp": _.pos.sum().over(down), "fp": _.neg.sum().over(down),
        "positives": _.pos.sum().over(whole), "negatives": _.neg.sum().over(whole),
        PLACE: ibis.row_number().over(falling),
    }  # fmt: skip
    if cases.weight:
        sums[NEG_SQUARES] = _[NEG_SQUARES].sum().over(whole)
    summed = count_cells(predictions).mutate(**sums)
    if not cases.counted_by:
        return summed
    # The last running sum must be the total, although it was added in another order.
    return summed.mutate(
        tp=(_.tp < _.positives * literal(1 - ROUNDED)).ifelse(_.tp, _.positives),
        fp=(_.fp < _.negatives * literal(1 - ROUNDED)).ifelse(_.fp, _.negatives),
    )


def per_key(predictions: Predictions, measures: Sequence[Measure]) -> IbisTable:
    """One row per key: its totals, what its notes need, and the sums and minima of measures."""
    ibis, _ = ibis_library(), ibis_library()._
    kind, score = _[ROW_ERROR], _[SCORE]
    # Notes on labels need the best three cells: of three scores one is no label.
    kept = (_.pos > 0) | (_[PLACE] < 3) | kind.notnull()
    found = {
        error_count_column(code): (kind == code).ifelse(_[ROWS], 0).sum()
        for code in predictions.errors
    }
    if predictions.cases.weight:
        found[NEG_SQUARES] = _[NEG_SQUARES].max()

    def label(at_zero: Any, at_one: Any) -> Any:
        """The code of a score as `predictions.row_checks.label_extremes` has it."""
        return ibis.cases(
            (score.isnull(), None), (score == 0, at_zero), (score == 1, at_one), else_=0
        )

    has_pos, has_neg = _.pos > 0, _.neg > 0
    found[LEAST_LABEL] = label(has_pos.ifelse(1, 2), has_pos.ifelse(3, 4)).min()
    found[GREATEST_LABEL] = label(has_neg.ifelse(2, 1), has_neg.ifelse(4, 3)).max()
    rated = segments(cells(predictions).filter(kept), measures)
    result: IbisTable = rated.aggregate(
        by=predictions.cases.keys,
        positives=_.positives.max(),
        negatives=_.negatives.max(),
        **found,
        **aggregates(rated, measures),
    )
    return result
