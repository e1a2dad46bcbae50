"""The prior in deployment, where scores come without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, Unpack

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import refuse_clash, with_level
from polaroc.base.private_columns import PLACE, private
from polaroc.base.statistics import normal
from polaroc.curves.curve import curve_plan
from polaroc.curves.totals import totals
from polaroc.deployment.estimators import (
    SHIFTED,
    Estimate,
    Labelled,
    Unlabelled,
    adjusted_count,
    em_prior,
    mixture_p_value,
    shift_note,
)
from polaroc.deployment.input_warnings import dependent_rows
from polaroc.deployment.tables import (
    DEPLOYED,
    REFERENCE,
    errors_named,
    refuse_other_keys,
)
from polaroc.errors import InvalidPredictions, check_choice
from polaroc.predictions.cases import Cases, as_cases, frame_of_cases, same_columns
from polaroc.predictions.columns import Columns
from polaroc.predictions.dependence import with_note
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, read
from polaroc.probability.calibration import miscalibration_note
from polaroc.typing import Table

Method: TypeAlias = Literal["em", "confusion"]
ESTIMATORS = {"em": em_prior, "confusion": adjusted_count}
COLUMNS = {
    "method": pl.String, "prior": pl.Float64, "lower": pl.Float64, "upper": pl.Float64,
    "std_error": pl.Float64, "reference_prior": pl.Float64, "deployed": pl.Int64,
    "shift_p": pl.Float64, "note": pl.String,
}  # fmt: skip


@frame_of_cases
def estimate_prior(
    reference: Table | Cases[Any],
    deployed: Table | Cases[Any],
    *,
    method: Method = "em",
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.DataFrame | pl.LazyFrame:
    """Estimate the share of positives among scores in use, which have no labels, per key.

    The assumption is prior shift: within positives, and within negatives, scores
    have the same distribution in deployment as on the reference.

    Parameters
    ----------
    reference
        Predictions with their truth, one row per case, not chosen by their score: any table that
        `cases` takes, or its result.
    deployed
        Scores of the same models in use, one row per case: a table with the same columns but for
        the truth, or the result of `cases` with columns of its own, such as further keys:
        ``pr.cases(scores, score="score", by="day")``.
    method
        ``"em"``, for scores that are posteriors, probabilities that come true on
        the reference: the prior of greatest likelihood, which the EM steps of
        Saerens, Latinne and Decaestecker (2002) lead to. ``"confusion"``, for
        any scores: the share that a threshold calls positive, adjusted by its
        rates on the reference, (share − FPr)/(TPr − FPr).
    level
        Coverage of the interval, in (0, 1).
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind of `reference`
        One row per key of either table, sorted: the keys (`by`, model and fold, those of
        `deployed`); `method` String;
        `prior` Float64 from 0 to 1, its interval `lower`, `upper`, the `level` of it, and its
        `std_error` (null at 0 and 1, where it has no meaning), all null where the
        scores do not tell the prior; `reference_prior` Float64, the share of
        positives on the reference; `deployed`, the number of deployed scores
        (Int64); `shift_p` Float64, the p-value of a test that
        the deployed scores are a mixture of the two classes of the reference, and
        below 0.01 there is no interval; `note` String, null, or why there is no
        estimate or why to doubt it, such as scores that are no posteriors, for
        which "em" has no interval.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve`, for both tables, lazy ones too: the estimates are computed
        at once. For scores outside 0 to 1 where the method is "em". For deployed scores
        without a key of the reference.
    NotSupported
        For a `weight` or a `cluster`.

    Notes
    -----
    The result can be given as `priors` to `evaluate` and `apply_thresholds`, which
    take each key at its own estimate and carry its uncertainty into their limits;
    to other functions where it has one row.

    Both intervals cover the sampling of deployed scores and of reference cases;
    neither covers scores that are spread otherwise in deployment, nor, for "em",
    posteriors that are wrong. `shift_p` finds such drift where no mixture of the
    classes looks like it: it is the share of resampled tables, the reference drawn
    anew too, whose scores are farther from the nearest mixture (Anderson and
    Darling's distance in up to twenty bins; 999 tables, fewer where ten of them are
    farther). Drift that looks like a mixture only labels can show. "em" takes the mean score of the
    reference for the prior that its posteriors stand for, which is less noisy than
    the share of positives, and its interval is where the log likelihood is near its greatest,
    scaled for the noise of that mean. "confusion" takes the threshold where
    missed positives balance false alarms at the prior nearest to ½ in a first
    interval, made in the same way at prior ½; its interval is Fieller's, with
    pseudo-counts. That its rates are those of the very cases on which the
    threshold was placed adds a bias that is small beside the standard error.

    On simulated binormal scores, 0.95 intervals held the prior in about 0.95 of deployments on
    average (``just simulate in_use_priors``).

    For "em" the reference is tested for calibration, with 1 % false alarms (up to
    3 % where it has ten positives).

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> reference = pl.DataFrame({
    ...     "truth": [1, 0] * 50, "score": ([0.9, 0.1] * 9 + [0.1, 0.9]) * 5,
    ... })
    >>> deployed = pl.DataFrame({"score": [0.9] * 26 + [0.1] * 74})
    >>> estimate = pr.estimate_prior(reference, deployed, truth="truth", score="score")
    >>> estimate.select(pl.col("prior", "lower", "upper").round(3)).row(0)
    (0.2, 0.0..., 0.3...)
    """
    check_choice("method", method, tuple(ESTIMATORS))
    check_share("level", level)
    refuses: Any = {"function": "estimate_prior", "refuses": ("weight", "cluster")}
    with errors_named(REFERENCE):
        known_cases = as_cases(reference, columns, **refuses)
        labelled = read(known_cases, collected=True)
    with errors_named(DEPLOYED):
        used = same_columns(known_cases, deployed, without=["cluster"], labelled=False, **refuses)
        unlabelled = read(used, collected=True)
        refuse_clash(unlabelled.keys, list(COLUMNS))
    refuse_other_keys(labelled.keys, unlabelled.keys, DEPLOYED, may_have_more=True)
    known, scores = _ranked(labelled, REFERENCE), _ranked(unlabelled, DEPLOYED)
    if method == "em":
        for table in (known, scores):
            _check_posteriors(table)
    z = normal(level)
    rows = _joined_totals(known.totals, scores.totals, labelled.keys)
    records = [_row(row, known, scores, method, z) for row in rows.iter_rows(named=True)]
    estimates = pl.DataFrame(records, schema=COLUMNS | {DEPLOYED: pl.Int64})
    result = pl.concat([rows.select(unlabelled.keys), estimates], how="horizontal").lazy()
    for doubt in dependent_rows(known_cases, used):
        result = with_note(result, doubt, pl.col("lower").is_not_null())
    ordered = with_level(result, level).sort(unlabelled.keys or [DEPLOYED], nulls_last=True)
    return known_cases.like(ordered)


@dataclass(frozen=True)
class _Ranked:
    """One of the two tables: the totals of its keys, and their cells in the same order."""

    name: str
    totals: pl.DataFrame
    cells: list[pl.DataFrame]


def _ranked(predictions: Predictions, name: str) -> _Ranked:
    note = pl.col("note").alias(private(f"{name}_note"))
    counts = totals(predictions).select(*predictions.keys, "positives", "negatives", note)
    # Each curve begins with its anchor.
    place = pl.col(SCORE).is_null().cum_sum().alias(PLACE)
    curves = curve_plan(predictions).collect().with_columns(place)
    cells = [part[1:] for part in curves.partition_by(PLACE, maintain_order=True)]
    return _Ranked(name, counts.collect().with_row_index(private(name)), cells)


def _check_posteriors(table: _Ranked) -> None:
    """Raise on scores that cannot be posteriors."""
    ends = [end for part in table.cells if part.height for end in part[SCORE].gather([0, -1])]
    if ends and not 0 <= min(ends) <= max(ends) <= 1:
        raise InvalidPredictions(
            f"{table.name}: scores run from {min(ends):g} to {max(ends):g}; the method 'em' needs "
            "probabilities, from 0 to 1.",
            hint="method='confusion' takes any scores.",
        )


def _joined_totals(
    reference: pl.DataFrame, deployed: pl.DataFrame, keys: Sequence[str]
) -> pl.DataFrame:
    """The keys of either table, with the numbers, totals and notes of both."""
    # Without keys there is a row even if one of the tables is empty.
    one = pl.lit(1).alias(private("all"))
    counted = deployed.select(
        pl.exclude("positives", "negatives"), pl.col("positives").alias(DEPLOYED)
    )
    for key in keys:
        kinds = (reference.schema[key], deployed.schema[key])
        if kinds[0] != kinds[1] and not any(kind.is_numeric() for kind in kinds):
            # The categories of the two columns may differ.
            reference, counted = (
                t.with_columns(pl.col(key).cast(pl.String)) for t in (reference, counted)
            )
    return reference.with_columns(one).join(
        counted.with_columns(one),
        on=[*keys, private("all")],
        how="full",
        coalesce=True,
        nulls_equal=True,
    )


def _row(
    row: dict[str, Any], known: _Ranked, scores: _Ranked, method: Method, z: float
) -> dict[str, Any]:
    """One row of the result, without its keys."""
    positives, missing = row["positives"], _missing_note(row)
    total = None if positives is None else positives + row["negatives"]
    notes = [
        f"{table.name}: {note}"
        for table in (known, scores)
        if (note := row[private(f"{table.name}_note")])
    ]
    estimate, shift_p = Estimate(note=missing), None
    if missing is None:
        left, right = (table.cells[row[private(table.name)]] for table in (known, scores))
        labelled = Labelled(*(left[name].to_numpy() for name in (SCORE, "pos", "neg")))
        unlabelled = Unlabelled(*(right[name].to_numpy() for name in (SCORE, "pos")))
        estimate = ESTIMATORS[method](labelled, unlabelled, z)
        shift_p = mixture_p_value(labelled, unlabelled)
        if shift_p is not None and shift_p < SHIFTED:
            estimate = replace(estimate, lower=None, upper=None, std_error=None)
            notes.append(shift_note(shift_p))
        cells = labelled.score, labelled.pos, labelled.neg
        if method == "em" and (doubt := miscalibration_note(*cells)) is not None:
            # An interval of such scores holds the prior far less often than it says.
            estimate = replace(estimate, lower=None, upper=None, std_error=None)
            notes.append(f"{doubt}: use method='confusion'")
    if estimate.note is not None:
        notes.append(estimate.note)
    return asdict(estimate) | {
        "method": method,
        "reference_prior": positives / total if total else None,
        DEPLOYED: row[DEPLOYED] or 0,
        "shift_p": shift_p,
        "note": "; ".join(notes) or None,
    }


def _missing_note(row: dict[str, Any]) -> str | None:
    """A note on what is missing for an estimate, None where nothing is."""
    if row["positives"] is None:
        return "not in the reference"
    if not row["positives"] or not row["negatives"]:
        absent = [name for name in ("positives", "negatives") if not row[name]]
        return f"reference: {', '.join(f'no {name}' for name in absent)}"
    return None if row[DEPLOYED] else "no deployed scores"
