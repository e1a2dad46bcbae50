"""Which cases in use to label, and how many, for an estimate to within a width."""

from typing import Any, Literal, TypeAlias, Unpack

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import check_keys
from polaroc.base.lazy import np
from polaroc.base.private_columns import PLACE
from polaroc.base.statistics import normal
from polaroc.deployment.input_warnings import dependent_rows
from polaroc.deployment.labelled import Bins
from polaroc.deployment.limits import WINDOWS, Looks, Reference
from polaroc.deployment.tables import (
    DEPLOYED,
    REFERENCE,
    WATCHED_BY,
    counts_of,
    errors_named,
    references_of,
    refuse_other_keys,
    rows_by_key,
    with_roles_of,
)
from polaroc.errors import check_choice
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import read
from polaroc.predictions.takes_cases import takes_cases
from polaroc.thresholds.fixed import Numbers
from polaroc.typing import Array, Paths, Table

Quantity: TypeAlias = Literal["precision", "prior"]
COLUMNS: dict[str, Any] = {
    "from_score": pl.Float64, "to_score": pl.Float64, "cases": pl.Int64, "labels": pl.Int64,
    "inclusion": pl.Float64, "expected": pl.Float64, "at_random": pl.Int64, "note": pl.String,
}  # fmt: skip
# A class that the reference rules out is still looked for.
MIN_SHARE = 0.01
MIN_LABELS = 2
# An interval so narrow takes all cases there can be.
MIN_HALF = 1e-9


@takes_cases(WATCHED_BY, no_bearing=["case", "time", "score_prior", "test_train_ratio"])
def label_budget(
    reference: Cases[Any],
    deployed: Table | Paths | Cases[Any],
    *,
    points: Table | Numbers,
    quantity: Quantity = "precision",
    width: float = 0.05,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.DataFrame:
    """How many cases in use to label, and with which scores, to know a quantity to ± a width.

    Cases are drawn at random within each row of the result, more where the reference
    is unsure of their class; with `inclusion` they can be given to `monitor` as
    `labelled`. Those for the precision are alarms alone, and tell nothing else.

    Parameters
    ----------
    reference
        As in `monitor`; its `time` has no bearing.
    deployed
        Scores in use, one row per case, of the cases to choose from: a table with the same roles
        but for the truth, or cases with roles of their own.
    **columns
    points
        The thresholds in use, as in `monitor`.
    quantity
        What is to be known: the ``"precision"`` at the threshold, or the ``"prior"``.
    width
        Half the width of the interval, in (0, 1).
    level
        Coverage of the interval, in (0, 1).

    Returns
    -------
    polars.DataFrame
        One row per key and range of scores, from high to low: the keys; `from_score`
        ≤ score < `to_score` Float64, null where there is no end; `cases` in use
        with such scores Int64; `labels`, how many of them to label, Int64;
        `inclusion`, labels over cases, Float64, null without cases; `expected`,
        the share of positives that the reference lets expect among them, Float64;
        `at_random` Int64, the labels that were needed for the whole key if they
        were drawn at random: for "precision" of the cases called positive; `note`
        String, null, or that rows are not independent, so that more labels are
        needed, as a column such as "customer" of tables in memory shows.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As in `monitor`.

    Notes
    -----
    Labels are allotted to ranges of scores in proportion to their cases times the standard
    deviation of their classes (Neyman 1934), as the reference and the prior that fits the
    deployed scores let expect it, and at least two to each range that matters. If more than
    the prior has shifted the interval holds, but may be wider than was asked for.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> reference = pl.DataFrame({
    ...     "truth": [1, 0] * 500, "score": ([0.9, 0.1] * 9 + [0.1, 0.9]) * 50,
    ... })
    >>> deployed = pl.DataFrame({"score": [0.9] * 1_800 + [0.1] * 8_200})
    >>> budget = pr.label_budget(
    ...     reference, deployed, truth="truth", score="score", points=0.9, quantity="prior",
    ... )
    >>> budget.select("from_score", "cases", "labels", "at_random").rows()
    [(0.9, 1800, 25, 138), (0.1, 8200, 26, 138)]
    """
    check_choice("quantity", quantity, ("precision", "prior"))
    check_share("width", width)
    check_share("level", level)
    with errors_named(REFERENCE):
        known = read(reference, collected=True)
        check_keys(known.keys, also=[*COLUMNS])
    unlabelled = with_roles_of(reference, deployed, DEPLOYED, label_budget)
    with errors_named(DEPLOYED):
        used = read(unlabelled, collected=True)
    refuse_other_keys(known.keys, used.keys, DEPLOYED)
    references = references_of(known, points, level)
    half = max(width / normal(level), MIN_HALF)
    frames = [
        _budget(references[key], frame, quantity, half).select(
            *(pl.lit(value).alias(name) for name, value in zip(known.keys, key, strict=True)),
            pl.all(),
        )
        for key, frame in rows_by_key(used, known.keys, references).items()
    ]
    doubts = dependent_rows(reference, unlabelled)
    note = pl.lit("; ".join(doubts) or None, pl.String).alias("note")
    types = used.rows.collect_schema()
    schema = pl.Schema({key: types[key] for key in known.keys} | COLUMNS)
    noted = [frame.with_columns(note).cast(schema) for frame in frames]
    return pl.concat([pl.DataFrame(schema=schema), *noted])


def _budget(reference: Reference, rows: pl.DataFrame, quantity: str, half: float) -> pl.DataFrame:
    """The labels of each bin, the highest scores first."""
    count, code = counts_of(rows), np.zeros(rows.height, dtype=int)
    cases = int(count.sum())
    above = reference.counts(rows[SCORE].to_numpy(), code, 1, count)[0]
    window = np.zeros((1, len(WINDOWS), above.size), dtype=int)
    window[0, 0] = above
    looks = Looks(reference, [1], window, np.array([[cases] + [0] * (len(WINDOWS) - 1)]))
    bins = Bins.at_prior(reference, above, cases, float(looks.prior()[0]))
    domain = bins.called if quantity == "precision" else np.ones(bins.count.size)
    weight = bins.count * domain
    expected = np.clip(bins.expected, MIN_SHARE, 1 - MIN_SHARE)
    spread = np.sqrt(expected * (1 - expected))
    labels = _allotted(bins.count, weight, spread, half)
    mean = float(weight @ expected / max(weight.sum(), 1))
    at_random = min(mean * (1 - mean) / half**2, float((weight > 0) @ bins.count))
    edges = np.sort(reference.cuts).tolist()
    with np.errstate(invalid="ignore"):
        inclusion = labels / bins.count
    return pl.DataFrame(
        {
            "from_score": [None, *edges], "to_score": [*edges, None], "cases": bins.count,
            "labels": labels, "inclusion": inclusion, "expected": bins.expected,
            "at_random": [int(np.ceil(at_random))] * bins.count.size,
            PLACE: weight,
        },
    ).reverse().filter(pl.col(PLACE) > 0).drop(PLACE)  # fmt: skip


def _allotted(count: "Array", weight: "Array", spread: "Array", half: float) -> "Array":
    """Neyman's allocation of as few labels as give the standard error, at most all cases."""
    if weight.sum() == 0:
        return np.zeros(count.size, dtype=int)
    share = weight / weight.sum()
    whole = np.zeros(count.size, dtype=bool)
    labels = np.zeros(count.size)
    # Bins of which all cases are labelled leave the others with the whole variance.
    for _ in range(count.size):
        rest = share * spread * ~whole
        labels = np.where(whole, count, np.ceil(rest.sum() * rest / half**2))
        full = (labels > count) & ~whole
        if not full.any():
            break
        whole |= full
    least = np.where(weight > 0, np.minimum(MIN_LABELS, count), 0)
    allotted: Array = np.clip(labels, least, count).astype(int)
    return allotted
