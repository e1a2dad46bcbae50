"""The tie-collapsed cells of every key, and sums over the segments of ROC curves between them."""

import re
from collections.abc import Sequence
from typing import Any

from polaroc import rates
from polaroc.base.columns import (
    GREATEST_LABEL,
    LEAST_LABEL,
    NEG_SQUARES,
    PLACE,
    ROW_ERROR,
    ROWS,
    TRUTH,
    WEIGHT,
    private,
)
from polaroc.base.statistics import quadrature
from polaroc.curves.segments import SEGMENT_RATES, Segment
from polaroc.measures.areas import auc_area
from polaroc.measures.sensitivity import CLOSED_FORM_BEND, error_terms, nodes_needed
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import SCORE, error_count_column
from polaroc.priors.grids import skew as skew_of
from polaroc.typing import IbisTable, Interpolation
from polaroc.warehouse.tables import Predictions, ibis, literal

# Share of a total by which sums of the same weights in another order may differ.
ROUNDED = 1e-12
AT_ORIGIN = private("at_origin")
# The measures that have a mean error over a range of priors.
OF_ERRORS = ("auc_range", "accsens")
# The measures that an engine sums; others are made of its cells.
SUMMED = ("auc", "auprec", "iauprec", "sens", "equal_error", *OF_ERRORS)


def count_cells(predictions: Predictions) -> IbisTable:
    """One row per key, score and row error; counts are floats, which are exact up to 2⁵³."""
    _ = ibis._
    cases = predictions.cases
    valid, truth = _[ROW_ERROR].isnull(), _[TRUTH]
    weight = _[WEIGHT] if cases.counted_by else literal(1)
    sums = {
        "pos": (valid & truth).ifelse(weight, literal(0)).sum(),
        "neg": (valid & ~truth).ifelse(weight, literal(0)).sum(),
        ROWS: _.count(),
    }
    if cases.weight:
        sums[NEG_SQUARES] = (valid & ~truth).ifelse(weight * weight, literal(0)).sum()
    return predictions.rows.group_by([*cases.keys, SCORE, ROW_ERROR]).aggregate(**sums)


def cells(predictions: Predictions) -> IbisTable:
    """The rows of `count_cells` with the totals of the key and the counts at or above the score.

    `PLACE` numbers the cells of a key from 0, best score first.
    """
    _ = ibis._
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
    # The last running sum must equal the total, although rows were added in another order.
    return summed.mutate(
        tp=(_.tp < _.positives * literal(1 - ROUNDED)).ifelse(_.tp, _.positives),
        fp=(_.fp < _.negatives * literal(1 - ROUNDED)).ifelse(_.fp, _.negatives),
    )


def per_key(predictions: Predictions, measures: Sequence[Measure]) -> IbisTable:
    """One row per key: its totals, what its notes need, and the sums and minima of measures."""
    _ = ibis._
    kind, score = _[ROW_ERROR], _[SCORE]
    # Notes on labels need the best three cells: labels are two scores, 0 and 1.
    kept = (_.pos > 0) | (_[PLACE] < 3) | kind.notnull()
    aggregated = {
        error_count_column(code): (kind == code).ifelse(_[ROWS], 0).sum()
        for code in predictions.cases.errors
    }
    if predictions.cases.weight:
        aggregated[NEG_SQUARES] = _[NEG_SQUARES].max()

    def label(at_zero: Any, at_one: Any) -> Any:
        """The code of a score as `predictions.row_checks.label_extremes` has it."""
        return ibis.cases(
            (score.isnull(), None), (score == 0, at_zero), (score == 1, at_one), else_=0
        )

    has_pos, has_neg = _.pos > 0, _.neg > 0
    aggregated[LEAST_LABEL] = label(has_pos.ifelse(1, 2), has_pos.ifelse(3, 4)).min()
    aggregated[GREATEST_LABEL] = label(has_neg.ifelse(2, 1), has_neg.ifelse(4, 3)).max()
    rated = segments(cells(predictions).filter(kept), measures)
    return rated.aggregate(
        by=predictions.cases.keys,
        positives=_.positives.max(),
        negatives=_.negatives.max(),
        **aggregated,
        **aggregates(rated, measures),
    )


def segments(cells: IbisTable, measures: Sequence[Measure]) -> IbisTable:
    """Cells with the columns `SEGMENT_RATES`, null without positives, and `AT_ORIGIN`.

    The latter is 1 for the segment from the origin, else 0. For mean errors over a range also the
    priors at which the two ends of a segment are balanced, limited to the range.
    """
    _ = ibis._
    positives, negatives = _.positives.nullif(0), _.negatives.nullif(0)
    shares = (
        (_.tp - _.pos) / positives, (_.fp - _.neg) / negatives, _.tp / positives,
        _.fp / negatives, _.pos / positives, _.neg / negatives,
    )  # fmt: skip
    has_area = _.pos > 0
    rated: IbisTable = cells.mutate(
        **{
            name: has_area.ifelse(share, literal(None))
            for name, share in zip(SEGMENT_RATES, shares, strict=True)
        }
    )
    t0, f0, t1, f1, *_ = (rated[name] for name in SEGMENT_RATES)
    ends = {AT_ORIGIN: ((t0 == 0) & (f0 == 0)).ifelse(literal(1), literal(0))}
    ranges = (one.arguments.over for one in measures if one.arguments and one.name in OF_ERRORS)
    for lo, hi in {tuple(over) for over in ranges}:
        for name, t, f in zip(_ends(lo, hi), (t0, t1), (f0, f1), strict=True):
            prior = (f / (f + (1 - t)).nullif(0)).coalesce(literal(1))
            ends[name] = prior.clip(literal(lo), literal(hi))
    return rated.mutate(**ends)


def _ends(lo: float, hi: float) -> list[str]:
    """The columns of the priors at the ends of segments."""
    return [safe_name(private(f"{end}_{lo}_{hi}")) for end in ("first", "last")]


def aggregates(table: IbisTable, measures: Sequence[Measure]) -> dict[str, Any]:
    """The `sums` and `least` of measures, as aggregates of `segments`."""
    s: Any = Segment._make(table[name] for name in (*SEGMENT_RATES, "positives", "negatives"))
    made: dict[str, Any] = {}
    for measure in measures:
        arguments: Any = measure.arguments
        for name in measure.sums:
            if measure.name == "auc":
                added = auc_area(s)
            elif measure.nodes:
                areas = [
                    weight * _auprec_area(s, table[AT_ORIGIN], node, arguments.interpolation)
                    for node, weight in measure.nodes
                ]
                added = _total(areas)
            else:
                at_ends = (table[name] for name in _ends(*arguments.over))
                added = _range_error(s, *arguments.over, *at_ends)
            made[safe_name(name)] = added.sum()
        if measure.least:
            priors = (0.5,) if measure.name == "equal_error" else arguments.over
            ends = [
                (1 - s.t1 <= literal(skew_of(prior)) * s.f1).ifelse(end, literal(None)).min()
                for prior in priors
                for end in (s.t0, s.f0, s.t1, s.f1)
            ]
            made |= dict(zip(map(safe_name, measure.least), ends, strict=True))
    return made


def _auprec_area(s: Any, at_origin: Any, node: float | None, interpolation: Interpolation) -> Any:
    """∫ precision dt over a segment, as `measures.areas.auprec_area`.

    `at_origin` is 1 for the first segment, in place of a division by 0 that has no weight there: a
    case for each prior would take most of the time.
    """
    skew = s.negatives / s.positives.nullif(0) if node is None else literal(node)
    called, rise = s.t0 + skew * s.f0, s.dt + skew * s.df
    if interpolation == "exact":
        share = s.dt / rise
        growth = _log1p(rise / (called + at_origin))
        return (s.dt + (s.t0 - called * share) * growth) * share
    end = rates.precision(s.t1, s.f1, skew)
    if interpolation == "step":
        return s.dt * end
    return s.dt * (s.t0 / (called + at_origin) + at_origin * end + end) / 2


def _range_error(s: Any, lo: float, hi: float, first: Any, last: Any) -> Any:
    """The part of a segment in the mean error over a range, as `sensitivity.range_error`."""
    level, bulk, bend, width = error_terms(s, literal(lo), first, last)
    ratio = s.df / bend.nullif(0)
    logarithm = _log1p(bend * width / (s.df + bend * first).nullif(0))
    mean = ratio / width.nullif(0) * logarithm
    closed = ((1 + ratio) * (1 - mean) - (first + last) / 2) / bend.nullif(0)
    nodes = [
        (first + literal(node) * width, literal(weight))
        for node, weight in quadrature(nodes_needed((lo, hi)))
    ]
    by_nodes = _total(
        [weight * at * (1 - at) / (s.df + bend * at).nullif(0) for at, weight in nodes]
    )
    is_bent = bend.abs() > literal(CLOSED_FORM_BEND) * (s.dt + s.df)
    inside = 2 * bulk * width * is_bent.ifelse(closed, by_nodes)
    return level + ((width > 0) & (bulk > 0)).ifelse(inside, literal(0))


def _total(values: list[Any]) -> Any:
    """The sum of values, in pairs: engines refuse queries that are nested a thousand deep."""
    while len(values) > 1:
        values = [sum(values[i + 1 : i + 2], values[i]) for i in range(0, len(values), 2)]
    return values[0]


def _log1p(value: Any) -> Any:
    """ln(1 + x), for which few engines have a function.

    What rounding takes from 1 + x is added to its logarithm, to first order.
    """
    above = value + 1
    return above.ln() + (value - (above - 1)) / above


def safe_name(name: str) -> str:
    """A column name with only letters, digits and underscores, which some engines require."""
    return re.sub(r"\W+", "_", name)
