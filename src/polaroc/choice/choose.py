"""Which model to take where the prior is uncertain, and how sure that is."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from polaroc.base.checks import check_text, pair_of
from polaroc.base.columns import as_lazy, column_names, require
from polaroc.base.statistics import ROUNDING
from polaroc.choice.answer import best_expected, changes, describe_belief, describe_certainty
from polaroc.choice.regret import ExpectedMeasures, best_shares, measure_under_belief
from polaroc.choice.result import Choice
from polaroc.comparison import caveats
from polaroc.comparison.compare import of_design
from polaroc.comparison.design import Design, Incomplete, Plan, balanced
from polaroc.comparison.letters import check_result_name
from polaroc.comparison.measure_rows import below_chance, over_labels, range_rows, rows_of
from polaroc.errors import Hint, InvalidArgument
from polaroc.measures.catalog import higher_is_better, label
from polaroc.priors.beliefs import Belief

COLUMNS = ("mean", "regret", "best", "expected", "mean_regret", "worst_regret", "sens")
# Difference of an IAUPREC from the expectation above which there is a warning.
OFF = 0.002


def choose(
    measures: pl.LazyFrame | pl.DataFrame,
    between: str = "model",
    block: str | Sequence[str] | None = "fold",
    measure: str = "auprec",
    *,
    over: tuple[float, float] | Belief | None = None,
    test_train_ratio: float | None = None,
    alpha: float = 0.005,
    incomplete: Incomplete = "raise",
) -> Choice:
    """Which model to take over a range of priors, and how sure that is.

    Parameters
    ----------
    measures
        Tidy measures of every model and block, as `evaluate` gives them with
        ``over=(0.05, 0.20), priors=prior_grid(0.05, 0.20, 16)``; a lazy frame is
        collected.
    between
        The key column that tells the models apart.
    block
        The key column, or columns, of the blocks such as folds; None where each
        model was measured once, and then nothing says how sure the choice is.
    measure
        A measure taken at priors, of which more is better.
    over
        The range (lo, hi) of priors, or a belief about the prior; by default the
        range of the table's IAUPREC, else the priors of the table, equally likely.
    test_train_ratio
        Test over training cases of a block, as in `compare`; without it no test
        is made.
    alpha
        As in `compare`.
    incomplete
        As in `compare`.

    Returns
    -------
    Choice
        The models `bayes` (best expected measure), `minimax` (least worst regret)
        and `steadiest` (least Sens), an `answer` in words, the frames `models`
        and `priors`, `warnings`, the `comparison`, and a `summary()` to print.

    Raises
    ------
    InvalidArgument, InvalidTable
        As in `compare`; where the table has neither IAUPREC over the very range or
        belief, nor the measure at eight priors within the range or at all nodes of
        the belief.

    See Also
    --------
    compare : Whether models differ on a measure.
    report : All of it as one HTML page.
    uniform : All priors of a range, equally likely.

    Notes
    -----
    The expected AUPREC over a range is IAUPREC (P-ROC Eq. 5): that of the table,
    where its column `over` names this range, so that it is the number that `compare`
    tests; otherwise it is computed from the priors of the table, between which the
    measure is interpolated in ln λ. Regret and the best model at a prior are those of
    means over the blocks: at the table's priors within a range and at its ends; at
    the nodes of a belief, without 0.5 % at either end. Priors that are each key's own
    ("observed") and differ between keys are not used.

    References
    ----------
    Landgrebe, Paclík, Duin, Bradley, "Precision-recall operating characteristic (P-ROC)
    curves in imprecise environments", 2006.

    Nadeau, Bengio, "Inference for the generalization error", 2003.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", by=["model", "fold"],
    ...     over=(0.05, 0.20), priors=pr.prior_grid(0.05, 0.20, 16),
    ... )
    >>> choice = pr.choose(measures, over=(0.05, 0.20), test_train_ratio=0.25)
    >>> print(choice.answer)
    A: best expected AUPREC over 5 to 20 % positives (0.779, before C with 0.735);
    the corrected test at α = 0.005 tells it from none of the others. It is the best in 17 of
    the 20 folds.
    """
    check_result_name(between, COLUMNS)
    check_text("measure", measure, "auprec")
    if not higher_is_better(measure):
        raise InvalidArgument(
            f"measure is {measure!r}, of which less is better; models are chosen by one of which "
            "more is better.",
            hint=Hint("use {measure}, which is that of the Brier score.", measure="brier_skill"),
        )
    table = as_lazy(measures)
    require(table, ("measure", "estimate"), source="evaluate(...)")
    frame = table.collect()
    over = over if over is None or isinstance(over, Belief) else pair_of(over) or over
    under_belief = measure_under_belief(frame, measure, over)
    blocks = column_names(block, "block")
    design = balanced(
        under_belief.rows,
        under_belief.columns,
        between,
        blocks,
        incomplete,
        noted=under_belief.noted,
    )
    measured = under_belief.expected_measures(design.values)
    over, ends, belief = under_belief.over, under_belief.ends, under_belief.belief
    sens = _sens(frame, between, over)
    models = _models(measured, design.models.alias(between), sens)
    priors = _priors(measured, design.models.alias(between))
    comparison = None
    if len(design.values) > 1 and test_train_ratio is not None:
        expected_design = Design(design.models, design.blocks, measured.expected[:, :, None])
        plan = Plan(test_train_ratio=test_train_ratio, alpha=alpha)
        comparison = of_design(expected_design, f"expected {measure}", between, blocks, plan)
    name = label(measure)
    below_chance_warnings = below_chance(frame, measure)
    certainty = describe_certainty(models, len(design.values), comparison)
    best = best_expected(models, name, describe_belief(ends, over, under_belief.grid))
    return Choice(
        bayes=models[between][0],
        minimax=_least(models, between, "worst_regret"),
        steadiest=_least(models, between, "sens"),
        answer="".join(f"{warning} " for warning in below_chance_warnings) + best + certainty,
        models=models,
        priors=priors,
        warnings=(
            *under_belief.warnings,
            caveats.picked(models.height, name),
            *changes(priors),
            *([] if under_belief.is_exact else _other_range(frame, models, between, measure, over)),
            *([] if comparison is None else comparison.warnings),
            *design.warnings,
            *below_chance_warnings,
        ),
        comparison=comparison,
        over=belief,
        measure=measure,
        block=tuple(blocks),
    )


def _models(
    measured: ExpectedMeasures, models: pl.Series, sens: pl.DataFrame | None
) -> pl.DataFrame:
    blocks = len(measured.values)
    shares = best_shares(measured.expected).mean(axis=0)
    unknown: Any = [None] * len(models)
    mean = worst = unknown
    if measured.covers:
        mean, worst = measured.mean_regret, measured.regret.max(axis=1)
    table = pl.DataFrame(
        [
            models,
            pl.Series("expected", measured.expected.mean(axis=0)),
            pl.Series("mean_regret", mean, pl.Float64),
            pl.Series("worst_regret", worst, pl.Float64),
            pl.Series("share", shares if blocks > 1 else unknown, pl.Float64),
        ]
    )
    if sens is None:
        table = table.with_columns(pl.lit(None, pl.Float64).alias("sens"))
    else:
        table = table.join(sens, on=models.name, how="left", nulls_equal=True)
    return table.sort("expected", descending=True, maintain_order=True)


def _priors(measured: ExpectedMeasures, models: pl.Series) -> pl.DataFrame:
    if not measured.evaluated_priors:
        numbers = dict.fromkeys(("mean", "regret", "share"), pl.Float64())
        return pl.DataFrame(
            schema={
                "prior": pl.Float64(),
                models.name: models.dtype,
                **numbers,
                "best": pl.Boolean(),
            }
        )
    blocks, count = len(measured.values), len(models)
    priors = pl.Series(
        "prior", [p for p in measured.evaluated_priors for _ in range(count)], pl.Float64
    )
    shares = measured.shares.T.ravel() if blocks > 1 else [None] * len(priors)
    return pl.DataFrame(
        [
            priors,
            pl.concat([models] * len(measured.evaluated_priors)),
            pl.Series("mean", measured.means.T.ravel()),
            pl.Series("regret", measured.regret.T.ravel()),
            pl.Series("share", shares, pl.Float64),
        ]
    ).with_columns((pl.col("regret") <= ROUNDING * pl.col("mean").abs()).alias("best"))


def _sens(
    frame: pl.DataFrame, between: str, over: tuple[float, float] | Belief | None
) -> pl.DataFrame | None:
    """The mean Sens per model over the range, where the table has it for all."""
    labels = over_labels(frame, "sens")
    if labels and over is not None:
        rows = range_rows(frame, "sens", over)
    else:
        rows = rows_of(frame, "sens") if "sens" in frame["measure"] and len(labels) < 2 else None
    if rows is None:
        return None
    sens = rows.frame.group_by(between).agg(pl.col("estimate").mean().alias("sens"))
    return None if sens["sens"].null_count() else sens


def _least(models: pl.DataFrame, between: str, column: str) -> Any:
    """The model with the least value, the better one where two tie."""
    if models[column].null_count():
        return None
    close = pl.col(column) <= pl.col(column).min() + ROUNDING
    return models.filter(close)[between][0]


def _other_range(
    frame: pl.DataFrame,
    models: pl.DataFrame,
    between: str,
    measure: str,
    over: tuple[float, float] | Belief | None,
) -> list[str]:
    """Warning where the IAUPREC of the table is not the expected AUPREC."""
    if over is None or measure != "auprec" or "iauprec" not in frame["measure"]:
        return []
    labels = over_labels(frame, "iauprec")
    if labels:
        return [
            f"The table's IAUPREC is over {', '.join(labels)}, not over the range asked for: the "
            "expected AUPREC is worked out from the priors of the table."
        ]
    rows = rows_of(frame, "iauprec").frame
    means = rows.group_by(between).agg(pl.col("estimate").mean())
    both = models.join(means, on=between, nulls_equal=True)
    difference = max(
        (both["expected"] - both["estimate"]).abs().drop_nulls().to_list(), default=0.0
    )
    if difference <= OFF:
        return []
    return [
        f"The table's IAUPREC differs from the expected AUPREC by up to {difference:.2g}: it was "
        "taken over another range, or the priors of the table are too far apart."
    ]
