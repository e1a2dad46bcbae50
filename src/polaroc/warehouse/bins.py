"""Counts in bins of the score, taken where the rows are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from polaroc.base.docstrings import described_as
from polaroc.curves.bins import COUNTS, EDGES, Bins, fingerprint, refuse_edges, resolve_edges
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.takes_cases import takes_cases
from polaroc.typing import IbisTable
from polaroc.warehouse.cells import FATAL, count_cells, fatal_rows
from polaroc.warehouse.columns import deferred, ibis_library, literal
from polaroc.warehouse.curves import TABLES
from polaroc.warehouse.predictions import Predictions, described, read


@described_as(TABLES)
@takes_cases(COUNTED_BY, no_bearing=BESIDE, describe=described)
def binned(
    cases: Cases[Any],
    *,
    bins: Bins,
    **columns: Unpack[Columns],
) -> IbisTable:
    """Positives and negatives per bin of the score, as `polaroc.binned`.

    The engine reads the rows once, and no row leaves it. What `collected` fetches goes to
    `polaroc.merge_bins`, `polaroc.bounds` and `polaroc.curve_from_bins`.

    Parameters
    ----------
    **columns
    bins
        As in `polaroc.binned`. The query names each edge, and engines may refuse it where
        there are thousands; a number of equal bins makes it no longer.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> counts = pr.warehouse.binned(table, truth="truth", score="score", bins=[0.5])
    >>> pr.merge_bins(pr.warehouse.collected(counts)).drop("edges").rows()
    [(0.5, 6, 4), (-inf, 4, 6)]
    """
    edges = resolve_edges(bins)
    predictions = read(cases)
    refuse_edges(predictions.keys)
    cells = count_cells(with_bins(predictions, edges, equal=isinstance(bins, int)))
    sums = {name: deferred(name).sum() for name in COUNTS}
    counts = cells.group_by([*predictions.keys, SCORE]).aggregate(
        **sums, **{FATAL: fatal_rows(predictions).sum()}
    )
    kind, valid = "float64" if predictions.weighted else "int64", deferred(FATAL) == 0
    shown = {name: valid.ifelse(deferred(name), literal(None)).cast(kind) for name in COUNTS}
    edges_of_all = ibis_library().literal(fingerprint(edges), type="string")
    result: IbisTable = counts.select(*predictions.keys, SCORE, **shown, **{EDGES: edges_of_all})
    return result


def with_bins(predictions: Predictions, edges: Sequence[float], *, equal: bool) -> Predictions:
    """The predictions with the lower edge of their bin as score; −∞ below the first edge.

    With `equal`, edges are the multiples from 0 to 1 of one over their number less 1.
    """
    score = deferred(SCORE)
    if equal and len(edges) > 2:
        start = _equal_bin(score, len(edges) - 1)
    else:
        start = _start_of_bin([float("-inf"), *edges], score)
    start = score.isnull().ifelse(literal(None), start)
    return replace(predictions, rows=predictions.rows.mutate(**{SCORE: start}), rounded=True)


def _equal_bin(score: Any, bins: int) -> Any:
    """The lower edge of one of so many equal bins from 0 to 1."""
    # The product is rounded: the edges themselves decide.
    number = (score * literal(bins)).floor()
    edge, following, before = ((number + step) / literal(bins) for step in (0, 1, -1))
    return ibis_library().cases(
        (score < 0, literal(float("-inf"))),
        (score >= 1, literal(1)),
        (following <= score, following),
        (edge > score, before),
        else_=edge,
    )


def _start_of_bin(starts: Sequence[float], score: Any) -> Any:
    """The greatest of some rising scores that is not above a score, by bisection."""
    if len(starts) == 1:
        return literal(starts[0])
    middle = len(starts) // 2
    above, below = _start_of_bin(starts[middle:], score), _start_of_bin(starts[:middle], score)
    return (score >= literal(starts[middle])).ifelse(above, below)
