"""Thresholds of least cost of one model, with rates on held-out cases."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polaroc import rates
from polaroc.curves.curve import curve
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.grids import skew
from polaroc.reports.fold_thresholds import (
    Costs,
    HeldOutRates,
    compare_scales,
    rates_across_folds,
    rates_within_folds,
    read_folds,
)
from polaroc.reports.inputs import Question, ReportPredictions, within
from polaroc.thresholds.operating_points import operating_points

# Tail of a belief at each end whose priors are not shown.
TAIL = 0.05
CASES = 1000
SHARED = (
    "No column was named that tells the cases apart (case): where folds share cases, as repeated "
    "hold-outs do, thresholds were judged on cases that they were set on, and cost more in use "
    "than is shown."
)
OWN_SCALES = (
    "A threshold of each fold's own costs clearly less than one for all folds: the scores of "
    "models that are fitted anew do not compare here. Take no threshold from this page; turn "
    "scores into probabilities, or set it on cases that the model in use was not trained on."
)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Thresholds of one model, a row of `points` for each prior.

    A null threshold calls nothing positive; `lowest` and `highest` are those that parts of the
    folds give; `found`, `missed` and `alarms` are among `CASES` cases.
    """

    points: pl.DataFrame
    elsewhere: bool  # rates are of folds that the threshold was not set on
    cautions: tuple[str, ...] = ()


def thresholds(predictions: ReportPredictions, question: Question, model: pl.Series) -> Thresholds:
    """Where the least cost is expected, at a low, a middle and a high prior."""
    rows = within(predictions.valid_rows, model.alias(question.between).to_frame())
    priors = shown_priors(question.over)
    blocks = question.blocks
    elsewhere = bool(blocks) and rows.select(blocks).unique().collect().height > 1
    if elsewhere:
        points, cautions = _over_folds(rows, question, priors)
    else:
        points, cautions = _here(rows, predictions, question, priors), ()
    return Thresholds(_with_counts(points), elsewhere, cautions)


def _with_counts(points: pl.DataFrame) -> pl.DataFrame:
    """The points with precision, and their expected counts among `CASES` cases."""
    return (
        points.with_columns(skew(pl.col("prior")).alias("skew"))
        .with_columns(
            rates.precision(pl.col("tpr"), pl.col("fpr"), pl.col("skew"))
            .fill_nan(None)
            .alias("precision"),
            (CASES * pl.col("prior") * pl.col("tpr")).alias("found"),
            (CASES * pl.col("prior") * (1 - pl.col("tpr"))).alias("missed"),
            (CASES * (1 - pl.col("prior")) * pl.col("fpr")).alias("alarms"),
        )
        .drop("skew")
    )


def shown_priors(over: tuple[float, float] | Belief | None) -> list[float]:
    """A low, a middle and a high prior: the ends and the mean of a range, or of a belief.

    Examples
    --------
    >>> [round(prior, 6) for prior in shown_priors((0.05, 0.2))]
    [0.05, 0.125, 0.2]
    """
    belief = resolve_belief(over)
    mean = sum(p * w for p, w in zip(belief.priors, belief.weights, strict=True))
    if isinstance(over, Belief):
        low, high = _quantile(belief, TAIL), _quantile(belief, 1 - TAIL)
    else:
        assert over is not None
        low, high = over
    return sorted({low, mean, high})


def _quantile(belief: Belief, share: float) -> float:
    """The least prior with at least such a share of the belief up to it."""
    total = 0.0
    nodes = sorted(zip(belief.priors, belief.weights, strict=True))
    for prior, weight in nodes:
        total += weight
        if total >= share - 1e-12:
            return prior
    return nodes[-1][0]


def _here(
    rows: pl.LazyFrame, predictions: ReportPredictions, question: Question, priors: Sequence[float]
) -> pl.DataFrame:
    """The points of least expected cost, with their rates on the same rows."""
    nothing = pl.lit(None, pl.Float64)
    chosen = operating_points(
        curve(rows, by=(), **predictions.arguments), "cost", priors=list(priors),
        cost_fn=question.cost_fn, cost_fp=question.cost_fp,
    )  # fmt: skip
    return chosen.select(
        "prior", "threshold", "tpr", "fpr",
        *(nothing.alias(name) for name in ("tpr_sd", "fpr_sd", "lowest", "highest")),
    ).collect()  # fmt: skip


def _over_folds(
    rows: pl.LazyFrame, question: Question, priors: Sequence[float]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The points of least mean cost over the blocks, with their rates on held-out blocks."""
    folds = read_folds(rows, question.blocks, question.case)
    costs = Costs(tuple(priors), question.cost_fn, question.cost_fp)
    held_out = rates_across_folds(folds, costs)
    middle = len(priors) // 2
    own = rates_within_folds(folds, costs)
    cautions = [SHARED] if question.case is None else []
    if not compare_scales(held_out.costs(costs)[middle], own.costs(costs)[middle]):
        cautions.append(OWN_SCALES)
    points = {"prior": list(priors), "threshold": folds.cheapest(costs)} | _summary(held_out)
    schema = dict.fromkeys(points, pl.Float64)
    return pl.DataFrame(points, schema=schema, nan_to_null=True), tuple(cautions)


def _summary(held_out: HeldOutRates) -> dict[str, list[float | None]]:
    """Means and spreads over the blocks, and of the thresholds."""
    import numpy as np

    columns: dict[str, list[float | None]] = {}
    with warnings.catch_warnings():
        # A class that is in no block has no rate, in one block it has no spread.
        warnings.simplefilter("ignore", RuntimeWarning)
        for name, values in (("tpr", held_out.tpr), ("fpr", held_out.fpr)):
            columns[name] = np.nanmean(values, axis=1).tolist()
            columns[f"{name}_sd"] = np.nanstd(values, axis=1, ddof=1).tolist()
    set_to = [[value for value in some if value is not None] for some in held_out.thresholds]
    columns["lowest"] = [min(some, default=None) for some in set_to]
    columns["highest"] = [max(some, default=None) for some in set_to]
    return columns
