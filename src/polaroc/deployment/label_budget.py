"""Which cases in use to label, and how many, for an estimate to within a width."""

from typing import Any, Literal, TypeAlias, Unpack, get_args

import polars as pl

from polaroc.base.checks import check_flag, check_share
from polaroc.base.columns import check_keys
from polaroc.base.lazy import np
from polaroc.base.private_columns import CLUSTER, TRUTH
from polaroc.base.rounding import number
from polaroc.base.text import joined_notes
from polaroc.deployment.input_warnings import dependent_rows
from polaroc.deployment.label_draws import Allotment, Draws
from polaroc.deployment.labelled import Bins
from polaroc.deployment.limits import Reference, design_effect
from polaroc.deployment.tables import (
    DEPLOYED,
    REFERENCE,
    WATCHED_BY,
    by_key,
    counts_of,
    errors_named,
    references_of,
    refuse_other_keys,
    rows_by_key,
    with_roles_of,
)
from polaroc.errors import Hint, InvalidArgument, check_choice
from polaroc.predictions.cases import Cases, refuse_crossed
from polaroc.predictions.roles import Columns
from polaroc.predictions.row_checks import SCORE, check_clusters
from polaroc.predictions.table import Predictions, read
from polaroc.predictions.takes_cases import takes_cases
from polaroc.thresholds.fixed import Numbers
from polaroc.typing import Paths, Table

LabelQuantity: TypeAlias = Literal["precision", "prior", "recall"]
COLUMNS: dict[str, Any] = {
    "from_score": pl.Float64, "to_score": pl.Float64, "cases": pl.Int64, "labels": pl.Int64,
    "inclusion": pl.Float64, "expected": pl.Float64, "at_random": pl.Int64, "note": pl.String,
}  # fmt: skip
TOO_FEW = "labels of all these cases would give about ± {}: more cases are needed"


@takes_cases(
    [*WATCHED_BY, "cluster"], no_bearing=["case", "time", "score_prior", "test_train_ratio"]
)
def label_budget(
    reference: Cases[Any],
    deployed: Table | Paths | Cases[Any],
    *,
    points: Table | Numbers,
    quantity: LabelQuantity = "precision",
    width: float = 0.05,
    level: float = 0.95,
    label_alerts: bool = False,
    **columns: Unpack[Columns],
) -> pl.DataFrame:
    """How many cases in use to label, and with which scores, to know a quantity to ± a width.

    Cases are drawn at random within each row of the result, more where the reference
    is unsure of their class; with `inclusion` they can be given to `monitor` as
    `labelled`. Those for the precision are alarms alone, and tell nothing else.

    Parameters
    ----------
    reference
        As in `monitor`; its `time` has no bearing. Rows of a `cluster` count less than as many
        independent ones, and show how alike the classes of a cluster are.
    deployed
        Scores in use, one row per case, of the cases to choose from: a table with the same roles
        but for the truth, or cases with roles of their own. With a `cluster` they are a sample of
        clusters, and more labels are needed.
    **columns
    points
        The thresholds in use, as in `monitor`.
    quantity
        What is to be known: the ``"precision"`` or the ``"recall"`` at the threshold, or the
        ``"prior"``.
    width
        Half the width of the interval, in (0, 1).
    level
        Coverage of the interval, in (0, 1).
    label_alerts
        Whether all cases called positive are labelled anyway: the result is then of the others.

    Returns
    -------
    polars.DataFrame
        One row per key and range of scores, from high to low: the keys; `from_score`
        ≤ score < `to_score` Float64, null where there is no end; `cases` in use
        with such scores Int64; `labels`, how many of them to label, Int64;
        `inclusion`, labels over cases, Float64; `expected`,
        the share of positives that the reference lets expect among them, Float64;
        `at_random` Int64, the labels that were needed for the whole key if they
        were drawn at random: for "precision" of the cases called positive; `note`
        String, null, or that all cases are too few, with the width that they give, or that rows
        are not independent, as a column such as "customer" of tables in memory shows. A key
        without such cases has no row.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As in `monitor`; for a `cluster` of cases in use where the reference has none.

    Notes
    -----
    The limits are those of `monitor`. They are drawn 200 times for each number of labels: the
    classes of the reference anew, the prior that fits the deployed scores, and labels. The
    fewest labels are taken with which 98 % of draws have limits as narrow as asked. Labels are
    allotted to ranges of scores half in proportion to their cases, half in proportion to their
    cases times the standard deviation of their classes (Neyman 1934); where that saves none, all
    are of one range, and drawn at random. So there are never more labels than `at_random`, and
    from references of 30 positives on the width was reached in 90 % of uses or more
    (``just budgets``). If more than the prior has shifted the interval holds, but may be
    wider than was asked for.

    Where cases in use have a `cluster`, the variance of all of them is multiplied by
    1 + ρ Σ m(m − 1) / Σ m, for clusters of m cases, where ρ is the correlation between the classes
    of two cases of a cluster of the reference. Then the true share for further clusters is within
    the width, too. `monitor` knows no such clusters, and its limits are narrower.

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
    [(0.9, 1800, 40, 138), (None, 8200, 76, 138)]
    """
    check_choice("quantity", quantity, get_args(LabelQuantity))
    check_flag("label_alerts", label_alerts)
    if label_alerts and quantity == "precision":
        raise InvalidArgument(
            "label_alerts says that all alerts are labelled, and these tell the precision.",
            hint=Hint("ask for another {quantity}.", quantity="recall"),
        )
    check_share("width", width)
    check_share("level", level)
    refuse_crossed(reference)
    with errors_named(REFERENCE):
        known = _read(reference)
        check_keys(known.keys, also=[*COLUMNS])
    unlabelled = with_roles_of(reference, deployed, DEPLOYED, label_budget)
    refuse_crossed(unlabelled)
    _refuse_unknown_clusters(reference, unlabelled)
    with errors_named(DEPLOYED):
        used = _read(unlabelled)
    refuse_other_keys(known.keys, used.keys, DEPLOYED)
    references = references_of(known, points, level, CLUSTER if reference.cluster else None)
    of_reference = by_key(known.cases.collect(), known.keys)
    frames = []
    for key, rows in rows_by_key(used, known.keys, references).items():
        labelled = of_reference[key] if unlabelled.cluster else None
        budget = _budget(references[key], rows, quantity, width, level, label_alerts, labelled)
        named = zip(known.keys, key, strict=True)
        frames.append(budget.select(*(pl.lit(v).alias(k) for k, v in named), pl.all()))
    doubts = dependent_rows(reference, unlabelled, takes_cluster=True)
    note = joined_notes("note", pl.lit("; ".join(doubts) or None, pl.String))
    types = used.rows.collect_schema()
    schema = pl.Schema({key: types[key] for key in known.keys} | COLUMNS)
    # Column by column: `cast(schema)` passes over a column without a name.
    typed = [pl.col(name).cast(kind) for name, kind in schema.items()]
    noted = [frame.with_columns(note).select(typed) for frame in frames]
    return pl.concat([pl.DataFrame(schema=schema), *noted])


def _read(cases: Cases[Any]) -> Predictions:
    """The cases, with the cluster of each where one is named."""
    rows = read(cases, collected=True, clustered=bool(cases.cluster))
    if cases.cluster:
        check_clusters(rows.valid_rows.select(pl.col(CLUSTER).is_null().sum()).collect().item())
    return rows


def _refuse_unknown_clusters(reference: Cases[Any], deployed: Cases[Any]) -> None:
    """Refuse clusters in use of a reference that does not tell how alike their cases are."""
    if deployed.cluster and not reference.cluster:
        raise InvalidArgument(
            "the deployed cases have a cluster, and the reference has none.",
            hint=Hint(
                "name {cluster} of the reference, too: how alike the cases of a cluster are is "
                "learnt from it.",
                cluster=...,
            ),
        )


def _budget(
    reference: Reference,
    rows: pl.DataFrame,
    quantity: str,
    width: float,
    level: float,
    alerts: bool,
    labelled: pl.DataFrame | None,
) -> pl.DataFrame:
    """The labels of each range of scores, the highest first; `labelled` has the clusters."""
    count, code = counts_of(rows), np.zeros(rows.height, dtype=int)
    cases = int(count.sum())
    above = reference.counts(rows[SCORE].to_numpy(), code, 1, count)[0]
    bins = Bins.at_prior(reference, above, cases, float(reference.prior(above, cases)))
    lowest = reference.threshold.value if quantity == "precision" else -np.inf
    design = 1.0 if labelled is None else _design(labelled, rows, lowest)
    draws = Draws.of_reference(reference, bins, quantity, level, alerts=alerts, design=design)
    if bins.count @ draws.domain == 0:
        return pl.DataFrame(schema=COLUMNS)
    allotment = Allotment.of_draws(draws, width)
    return _ranges(reference, bins, allotment)


def _design(labelled: pl.DataFrame, rows: pl.DataFrame, lowest: float) -> float:
    """How much more the cases in use vary for their clusters, of those with such scores."""
    known, used = (one.filter(pl.col(SCORE) >= lowest) for one in (labelled, rows))
    if used.is_empty():
        return 1.0
    codes = [one[CLUSTER].rank("dense").to_numpy().astype(int) - 1 for one in (known, used)]
    return design_effect(known[TRUTH].to_numpy(), codes[0], codes[1], counts_of(used))


def _ranges(reference: Reference, bins: Bins, allotment: Allotment) -> pl.DataFrame:
    edges = [None, *np.sort(reference.cuts).tolist(), None]
    rows = []
    for place, labels in enumerate(allotment.labels.tolist()):
        own = np.flatnonzero(allotment.ranges == place)
        count = bins.count[own]
        cases = int(count.sum())
        rows.append((
            edges[own[0]], edges[own[-1] + 1], cases, labels, labels / cases,
            float(count @ bins.expected[own]) / cases, allotment.at_random,
            None if allotment.too_few is None else TOO_FEW.format(number(allotment.too_few)),
        ))  # fmt: skip
    return pl.DataFrame(rows[::-1], schema=COLUMNS, orient="row")
