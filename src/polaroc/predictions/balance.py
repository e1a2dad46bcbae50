"""Notes on test sets that differ between models, or from others of a model."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import within
from polaroc.base.text import joined_notes

# A test set differs clearly by its number of cases relative to the median one, or by its
# share of positives, in standard errors and relative to that share.
TIMES, ERRORS, PART = 2, 4, 0.1
# Sums of weights are rounded.
SAME = 1e-9


def model_key(keys: Sequence[str]) -> str:
    """The default key of models: "model" if there is one, else the first."""
    return "model" if "model" in keys else keys[0]


def balance_note(keys: Sequence[str], model: str | None = None) -> pl.Expr:
    """A note on how the test set of each key differs from others of its fold or model.

    The rows are one per key, with `positives` and `negatives`. Null where no test set has
    two models: the keys are then nested, such as patients in hospitals.

    Examples
    --------
    >>> totals = pl.DataFrame({
    ...     "model": ["A", "A", "B"], "fold": [1, 2, 1],
    ...     "positives": [10, 10, 10], "negatives": [90, 90, 90],
    ... })
    >>> totals.select(balance_note(["model", "fold"])).to_series().to_list()
    [None, '1 of 2 models lack this test set', None]
    """
    if len(keys) < 2:
        return pl.lit(None, pl.String)
    models = model_key(keys) if model is None else model
    blocks = [key for key in keys if key != models]
    models_in_block = pl.col(models).n_unique().over(blocks)
    lacking = pl.col(models).n_unique() - models_in_block
    note = joined_notes(
        pl.when(lacking > 0).then(
            pl.format("{} of {} models lack this test set", lacking, lacking + models_in_block)
        ),
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
    return pl.any_horizontal(spread > SAME * within(counts.max(), blocks)).fill_null(False)


def unusual(models: str) -> pl.Expr:
    """How a test set differs clearly from the others of its model, else null."""
    cases = pl.col("positives") + pl.col("negatives")
    usual = cases.median().over(models)
    share, overall_share = (
        pl.col("positives") / cases,
        (pl.col("positives").sum() / cases.sum()).over(models),
    )
    chance = ERRORS * (overall_share * (1 - overall_share) / cases).sqrt()
    distance = (share - overall_share).abs()
    return joined_notes(
        pl.when((cases > TIMES * usual) | (cases * TIMES < usual)).then(
            pl.format(
                "{} cases, where {} are usual",
                *(one.round().cast(pl.Int64) for one in (cases, usual)),
            )
        ),
        pl.when(
            (distance > chance)
            & (distance > PART * pl.min_horizontal(overall_share, 1 - overall_share))
        ).then(
            pl.format(
                "{} of the cases are positive, of all test sets {}",
                *(one.round_sig_figs(2) for one in (share, overall_share)),
            )
        ),
    )
