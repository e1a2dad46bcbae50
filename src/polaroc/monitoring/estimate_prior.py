"""The prior in use, where scores come without labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import (
    CLUSTER,
    TRUTH,
    column_name,
    parts_by_key,
    private,
    refuse_clash,
    with_level,
)
from polaroc.base.text import p_in_words
from polaroc.curves.totals import totals
from polaroc.errors import InvalidArgument, InvalidPredictions, NotSupported, quoted
from polaroc.monitoring.mixture import Reference, Sample, Spread, shape_p_value, spread_of_batches
from polaroc.predictions.audit import dependence
from polaroc.predictions.cases import Cases, as_cases, frame_of_cases, same_columns
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import read
from polaroc.typing import PolarsFrame, Table

# Below this p-value an estimate of the prior has no interval.
SHIFTED = 0.01
NOTHING_ELSE = "only the prior has shifted"
COLUMNS = {
    "prior": pl.Float64, "lower": pl.Float64, "upper": pl.Float64, "assumes": pl.String,
    "reference_prior": pl.Float64, "deployed": pl.Int64, "shift_p": pl.Float64, "note": pl.String,
}  # fmt: skip


@frame_of_cases
def estimate_prior(
    reference: Table | Cases[Any],
    deployed: Table | Cases[Any],
    *,
    batch: str | None = None,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> PolarsFrame:
    """Estimate the share of positives among scores in use, which have no labels, per key.

    Scores may be probabilities or any others: only their order matters. The assumption is prior
    shift: within positives, and within negatives, scores have the same distribution in use as on
    the reference. `shift_p` tests it.

    Parameters
    ----------
    reference
        Predictions with their truth, one row per case, not chosen by their score: any table that
        `cases` takes, or its result.
    deployed
        Scores of the same models in use, one row per case: a table with the same columns but for
        the truth, or the result of `cases` with columns of its own, such as further keys:
        ``pr.cases(scores, score="score", by="day")``.
    batch
        A column of the reference with batches, such as days, sites or years. Each batch is
        estimated from the others, and intervals have room for what the errors show beyond
        sampling: scores in use are one more batch. Give at least two, better ten or more.
    level
        Coverage of the interval, in (0, 1).
    **columns
        What the columns mean, as in `cases`. With `cluster`, limits follow from the cluster-robust
        variance of the estimate (Rao and Scott 1984).

    Returns
    -------
    Frame of the kind of `reference`
        One row per key of either table, sorted: the keys (`by`, model and fold, those of
        `deployed`); `prior` Float64 from 0 to 1, with its interval `lower`, `upper` at the
        `level`, all null if the scores do not tell the prior; `assumes` String, what must hold
        for the interval: "only the prior has shifted", or that scores in use differ as the batches
        do; `reference_prior` Float64, the share of positives on the reference; `deployed` Int64,
        the number of scores in use; `shift_p` Float64, the p-value of a test that they are a
        mixture of the two classes of the reference: below 0.01 there is no interval; `note` String,
        null, or why there is no estimate, or why to doubt it.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve`, for both tables, lazy ones too: the estimates are computed at once. For
        scores in use without a key of the reference.
    NotSupported
        For a `weight`.

    Notes
    -----
    The estimate maximises the likelihood of three samples in up to ten bins of scores: the
    positives and negatives of the reference, and the scores in use, which are a mixture of both
    (Qin 1999). The interval is that of the likelihood ratio, with a quantile of F instead of χ²
    for small references. It covers the sampling of all three. It does not cover any other drift
    than that of the prior, unless `batch` shows how large that is. `shift_p` compares the mixture
    with free shares of the bins. It does not find drift that looks like a mixture: only labels
    show that.

    In simulations 0.95 intervals held the prior in 0.93 or more of the samples, of independent
    cases (``just simulate in_use_priors``) and of clusters (``just simulate in_use_clusters``).

    The result can be given as `priors` to `evaluate` and `apply_thresholds`, which take each key at
    its estimate and carry its uncertainty into their limits; to other functions if it has one row.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> reference = pl.DataFrame({
    ...     "truth": [1, 0] * 50, "score": ([0.9, 0.1] * 9 + [0.1, 0.9]) * 5,
    ... })
    >>> deployed = pl.DataFrame({"score": [0.9] * 26 + [0.1] * 74})
    >>> estimate = pr.estimate_prior(reference, deployed, truth="truth", score="score")
    >>> estimate.select(pl.col("prior", "lower", "upper").round(2)).row(0)
    (0.2, 0.03, 0.34)
    """
    check_share("level", level)
    with errors_named("reference"):
        known = as_cases(reference, columns, function="estimate_prior", refuses=["weight"])
    with errors_named("deployed"):
        used = same_columns(
            known, deployed, labelled=False, function="estimate_prior", refuses=["weight"]
        )
    return known.like(estimated_priors(known, used, batch, level, SHIFTED).lazy())


def estimated_priors(
    known: Cases[Any], used: Cases[Any], batch: str | None, level: float, significance: float
) -> pl.DataFrame:
    """The table of `estimate_prior`; no interval where `shift_p` is below `significance`."""
    batches = [] if batch is None else [column_name(batch, "batch")]
    with errors_named("reference"):
        kept = as_cases(known, {}, keep=batches) if batches else known
        reference = read(kept.collect(), also=batches, clustered=known.cluster is not None)
    with errors_named("deployed"):
        deployed = read(used.collect(), clustered=used.cluster is not None)
        refuse_clash(used.keys, [*COLUMNS])
    keys, all_keys = known.keys, used.keys
    if lacking := [key for key in keys if key not in all_keys]:
        raise InvalidArgument(
            f"deployed: there is no key {quoted(lacking)}, which the reference has.",
            hint="say fold=None or model=None if the rows are of one model, or keep in the "
            "reference the model in use alone.",
        )
    references = {
        key: _reference(part, batch)
        for key, part in parts_by_key(reference.cases.collect(), keys).items()
        if part.height
    }
    samples = {
        key: _sample(part) for key, part in parts_by_key(deployed.cases.collect(), all_keys).items()
    }
    schemas = deployed.rows.collect_schema(), reference.rows.select(keys).collect_schema()
    kinds = {key: _kind(key, schemas) for key in all_keys}
    of_deployed, of_reference = (
        totals(replace(table, keys=names))
        .select(*names, pl.format(f"{name}: {{}}", "note").alias(private(name)))
        .cast({key: kinds[key] for key in names})
        .collect()
        for name, table, names in (
            ("deployed", deployed, all_keys), ("reference", reference, keys),
        )
    )  # fmt: skip
    # Keys that only the reference has get a row, too.
    rows = of_deployed.join(
        of_reference, on=keys or pl.lit(0), how="full", coalesce=bool(keys), nulls_equal=True
    )
    doubts = {"reference: {}": dependence(known), "deployed: {}": dependence(used)}
    doubted = [name.format(doubt) for name, doubt in doubts.items() if doubt is not None]
    estimates = []
    for row in rows.iter_rows(named=True):
        known_as, used_as = (tuple(row[key] for key in names) for names in (keys, all_keys))
        estimate = _row(references.get(known_as), samples.get(used_as), level, significance)
        has_both = estimate["deployed"] and estimate["reference_prior"] is not None
        notes = [row[private("reference")], row[private("deployed")], estimate["note"]]
        notes = [note for note in notes if note] + (doubted if has_both else [])
        estimates.append(estimate | {"note": "; ".join(notes) or None})
    result = rows.hstack(pl.DataFrame(estimates, schema=COLUMNS)).select(*all_keys, *COLUMNS)
    return with_level(result, level).sort(all_keys, nulls_last=True)


@contextmanager
def errors_named(table: str) -> Iterator[None]:
    """Begin the messages of errors with the name of the table."""
    try:
        yield
    except (InvalidPredictions, InvalidArgument, NotSupported) as error:
        raise type(error)(f"{table}: {error.problem}", hint=error.hint) from None


class KeyReference(NamedTuple):
    """The reference of one key, and how much its batches differ."""

    cases: Reference | None
    prior: float
    spread: Spread | None
    assumes: str
    note: str | None


def _reference(part: pl.DataFrame, batch: str | None) -> KeyReference:
    """The reference of one key."""
    cases, truth = _sample(part), part[TRUTH].to_numpy()
    share = float(truth.mean())
    if share in (0, 1):
        absent = "negatives" if share else "positives"
        return KeyReference(None, share, None, "", f"reference: no {absent}")
    reference = Reference.of(cases, truth)
    if batch is None:
        return KeyReference(reference, share, None, NOTHING_ELSE, None)
    spread = spread_of_batches(cases, truth, part[batch].rank("dense").fill_null(0).to_numpy())
    if spread is None:
        note = f"reference: fewer than two values of {batch!r} have cases of both classes elsewhere"
        return KeyReference(reference, share, None, NOTHING_ELSE, note)
    assumes = f"scores differ as between the {spread.batches} values of {batch!r}"
    return KeyReference(reference, share, spread, assumes, None)


def _sample(part: pl.DataFrame) -> Sample:
    """The scores of cases, with clusters of any type numbered."""
    cluster = part[CLUSTER].rank("dense").to_numpy() if CLUSTER in part else None
    return Sample(part[SCORE].to_numpy(), cluster)


def _row(
    reference: KeyReference | None, sample: Sample | None, level: float, significance: float
) -> dict[str, Any]:
    """A row of the result, without its keys."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row["deployed"] = 0 if sample is None else sample.score.size
    if reference is None:
        return row | {"note": "not in the reference"}
    row |= {"reference_prior": reference.prior, "note": reference.note}
    if reference.cases is None:
        return row
    if not row["deployed"] or sample is None:
        return row | {"note": "no deployed scores"}
    fit = reference.cases.fit(sample, level)
    lower, upper = fit.lower, fit.upper
    if reference.spread is not None:
        lower, upper = reference.spread.limits(fit, level)
    row["shift_p"] = shift_p = shape_p_value(fit, reference.cases, sample, reference.spread)
    notes = [reference.note] if reference.note else []
    if shift_p is not None and shift_p < significance:
        row |= {"prior": fit.prior, "assumes": reference.assumes}
        notes.append(
            "more than the prior has shifted: no mixture of the positives and negatives of the "
            f"reference gives these scores ({p_in_words(shift_p)}), so there is no interval"
        )
    elif (lower, upper) == (0, 1):
        return row | {"note": "the scores do not tell the prior"}
    else:
        row |= {"prior": fit.prior, "lower": lower, "upper": upper, "assumes": reference.assumes}
    if fit.prior in (0, 1):
        end = f"{fit.prior:g}"
        notes.append(f"the estimate is {end}, outside (0, 1): it cannot be passed on as a prior")
    return row | {"note": "; ".join(notes) or None}


def _kind(key: str, schemas: Sequence[Mapping[str, pl.DataType]]) -> pl.DataType:
    """The type of a key in the result: text if categories of the two tables may differ."""
    kinds = [schema[key] for schema in schemas if key in schema]
    return kinds[0] if len(set(kinds)) == 1 or kinds[0].is_numeric() else pl.String()
