"""Audit of a prediction table: contents of each key, warnings, and test sets that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import (
    COUNT,
    ROW_ERROR,
    ROWS,
    SHARE,
    SIZE,
    TRUTH,
    WEIGHT,
    private,
    refuse_clash,
    within,
)
from polaroc.base.text import joined_notes
from polaroc.errors import quoted
from polaroc.predictions.cases import Cases, as_cases
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import (
    SCORE,
    error_counts,
    errors_in_words,
    label_extremes,
    label_note,
)
from polaroc.predictions.table import one_class_note, read
from polaroc.typing import Table

DIFFERS = private("differs")
# Columns of `check` that no key may have; the totals are reserved names anyway.
REPORT = ("rows", "missing", "scores", "lowest", "highest")
# A test set is unusual if its number of cases differs from the median by this factor, or its share
# of positives from that of all test sets by this many standard errors and this part of it.
SIZE_FACTOR, STD_ERRORS, RELATIVE = 2, 4, 0.1
# Relative difference up to which sums of weights are equal.
WEIGHT_TOLERANCE = 1e-9
# Of a longer table a sample of so many rows is searched for shared cases first.
SAMPLED_ROWS = 10_000


def check(table: Table | Cases[Any], **columns: Unpack[Columns]) -> pl.DataFrame:
    """Audit a prediction table in one pass: contents and defects of each key.

    Parameters
    ----------
    table
        Predictions, one row per case: any table that `cases` takes, or its result. With a column
        `case`, `note` says where a case is twice in a key, or has two truths in rows of one `by`.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    DataFrame
        One row per key, sorted: the keys; `rows` Int64, the sum of the counts if there is a
        `count`; `missing` Int64, how many of them have a null or NaN score, truth or weight (`note`
        counts rows of the table); of the others `positives`, `negatives` (Int64, Float64 if
        weighted); `prior` Float64, the observed share of positives; `scores` Int64, the number of
        distinct scores; `lowest`, `highest` Float64; `note` String, or null. With several keys,
        "model" or else the first key tells models apart, and the others test sets: `note` says
        which test sets some models lack, where models have different numbers of cases, and which
        test sets have over twice or less than half as many cases as usual, or clearly another
        share of positives.

    Raises
    ------
    InvalidPredictions
        For unclear labels, invalid weights or counts and scores that no Float64 holds, with their
        number and the first keys that have them.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> report = pr.check(pr.datasets.twenty_scores(), truth="truth", score="score")
    >>> report.select("rows", "positives", "negatives", "scores").row(0)
    (20, 10, 10, 20)
    """
    if isinstance(table, Cases) and not columns:
        cases = replace(table, nulls="drop").collect()
    else:
        cases = as_cases(table, {**columns, "nulls": "drop"}).collect()
    case, keys = cases.case, cases.keys
    refuse_clash(keys, REPORT)
    predictions = read(cases, also=[] if case is None else [case])
    rows, errors, weighted = predictions.rows, predictions.possible_errors, predictions.weighted
    is_usable = pl.col(ROW_ERROR).is_null()
    # A row without a count is counted once; the score of a row with a count of 0 is ignored.
    copies = pl.lit(1) if cases.count is None else pl.col(WEIGHT).fill_null(1)
    values = [TRUTH, SCORE, *([WEIGHT] if weighted else [])]
    differs_in_truth = pl.lit(False)
    if case is not None:
        # Positive in one row, negative in another: by sets, since a group per case would be slow.
        positive = pl.col(case).filter(TRUTH)
        both = pl.col(case).filter(~pl.col(TRUTH) & pl.col(case).is_in(positive.implode()))
        differs_in_truth = within(pl.col(case).is_in(both.implode()), cases.by)
    rows = rows.with_columns(differs_in_truth.alias(DIFFERS)).with_columns(
        pl.when(is_usable).then(pl.col(values)), copies.alias(COUNT)
    )
    weight = predictions.weight if predictions.sampled else predictions.weight.cast(pl.Int64)
    score = pl.col(SCORE) if cases.count is None else pl.col(SCORE).filter(pl.col(COUNT) > 0)
    report = (
        rows.group_by(keys)
        .agg(
            _case_note(case),
            *label_extremes(is_usable & (pl.col(WEIGHT) > 0 if weighted else True)),
            *error_counts(errors),
            pl.len().alias(ROWS),
            rows=pl.col(COUNT).sum().cast(pl.Int64),
            missing=pl.col(COUNT).filter(~is_usable).sum().cast(pl.Int64),
            positives=(pl.col(TRUTH) * weight).sum(),
            negatives=(~pl.col(TRUTH) * weight).sum(),
            scores=score.drop_nulls().n_unique().cast(pl.Int64),
            lowest=score.min(),
            highest=score.max(),
        )
        .filter(pl.col(ROWS) > 0)
    )
    note = joined_notes(
        errors_in_words(errors),
        one_class_note(),
        pl.when(pl.col("scores") == 1).then(pl.lit("constant score")).otherwise(label_note()),
        "note",
        balance_note(keys),
    )
    return (
        report.select(
            *keys, "rows", "missing", "positives", "negatives",
            SHARE.fill_nan(None).alias("prior"),
            "scores", "lowest", "highest", note,
        )
        .sort(keys, nulls_last=True)
        .collect()
    )  # fmt: skip


def _case_note(case: str | None) -> pl.Expr:
    """Note on invalid cases of a key."""
    if case is None:
        return pl.lit(None, pl.String).alias("note")
    known = pl.col(case).drop_nulls()
    wrong = [
        (pl.col(case).null_count(), "{} rows without a case"),
        (known.len().cast(pl.Int64) - known.n_unique(), "{} rows repeat a case"),
        (pl.col(case).filter(pl.col(DIFFERS)).drop_nulls().n_unique(), "{} cases have two truths"),
    ]
    return joined_notes(
        *(pl.when(count > 0).then(pl.format(words, count)) for count, words in wrong)
    )


def balance_note(keys: Sequence[str]) -> pl.Expr:
    """A note on how the test set of each key differs from others of its fold or model.

    The rows are one per key, with `positives` and `negatives`. Null where no test set has
    two models: the keys are then nested, such as patients in hospitals.
    """
    if len(keys) < 2:
        return pl.lit(None, pl.String)
    models = "model" if "model" in keys else keys[0]
    blocks = [key for key in keys if key != models]
    models_in_block = pl.col(models).n_unique().over(blocks)
    count = pl.col(models).n_unique()
    lacking = pl.format("{} of {} models lack this test set", count - models_in_block, count)
    note = joined_notes(
        pl.when(models_in_block < count).then(lacking),
        pl.when(differs(blocks)).then(
            pl.lit("the models of this test set have different numbers of cases")
        ),
        unusual(models),
    )
    return pl.when(models_in_block.max() > 1).then(note)


def differs(blocks: Sequence[str]) -> pl.Expr:
    """Whether numbers of positives or negatives differ between the models of a test set."""
    counts = pl.col("positives", "negatives")
    spread = within(counts.max(), blocks) - within(counts.min(), blocks)
    return pl.any_horizontal(spread > WEIGHT_TOLERANCE * within(counts.max(), blocks)).fill_null(
        False
    )


def unusual(models: str) -> pl.Expr:
    """Note on a test set that clearly differs from the others of its model, else null."""
    cases = pl.col("positives") + pl.col("negatives")
    usual = cases.median().over(models)
    overall = (pl.col("positives").sum() / cases.sum()).over(models)
    distance, chance = (SHARE - overall).abs(), (overall * (1 - overall) / cases).sqrt()
    is_other_share = (distance > STD_ERRORS * chance) & (
        distance > RELATIVE * pl.min_horizontal(overall, 1 - overall)
    )
    sizes = [size.round().cast(pl.Int64) for size in (cases, usual)]
    shares = [one.round_sig_figs(2) for one in (SHARE, overall)]
    return joined_notes(
        pl.when((cases > SIZE_FACTOR * usual) | (cases * SIZE_FACTOR < usual)).then(
            pl.format("{} cases, where {} are usual", *sizes)
        ),
        pl.when(is_other_share).then(
            pl.format("{} of the cases are positive, of all test sets {}", *shares)
        ),
    )


def dependence(cases: Cases[Any]) -> str | None:
    """Note on rows of a key that share a case; None where none do, or clusters are named.

    A lazy table is not read for it.
    """
    if cases.case is None or cases.cluster is not None or isinstance(cases.rows, pl.LazyFrame):
        return None
    rows = cases.rows.select(*cases.keys, "case")
    if rows.height > SAMPLED_ROWS:
        # The rows of a case may be adjacent or scattered.
        parts = rows.head(SAMPLED_ROWS), rows.sample(SAMPLED_ROWS, seed=0)
        if not any(_shared(part).height for part in parts):
            return None
    # A column with fewer values divides the cases, such as a kind of device, and names no cases.
    worst = _shared(rows).filter(pl.col(COUNT) >= 10)
    if worst.is_empty():
        return None
    count, size = worst.row(0)
    name = quoted(cases.names.get("case", ["case"]))
    return (
        f"rows with the same {name} are not independent ({count:,} values on {size:,} rows), so "
        f"limits, tests and promises are too sure: "
        f"name it as cluster={name}, or take one row of each"
    )


def _shared(rows: pl.DataFrame) -> pl.DataFrame:
    """Cases and rows of the keys with several rows of a case, those with most such rows first."""
    of_keys = rows.lazy().drop_nulls("case").group_by(pl.exclude("case"))
    counts = of_keys.agg(pl.col("case").n_unique().alias(COUNT), pl.len().alias(SIZE))
    more = pl.col(SIZE) - pl.col(COUNT)
    return counts.filter(more > 0).sort(more, SIZE, descending=True).select(COUNT, SIZE).collect()


def with_note(rows: pl.LazyFrame, note: str | None, where: pl.Expr) -> pl.LazyFrame:
    """Rows with one more note `where` it applies."""
    if note is None:
        return rows
    return rows.with_columns(joined_notes("note", pl.when(where).then(pl.lit(note))))
