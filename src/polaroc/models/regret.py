"""A measure at several priors: its mean under a belief, and the regret of each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.statistics import ROUNDING
from polaroc.errors import InvalidArgument
from polaroc.measures.catalog import label, mean_name
from polaroc.models.measure_rows import (
    FoldValues,
    distinct,
    fold_values,
    only_range,
    range_rows,
    rows_of,
)
from polaroc.priors.beliefs import Belief, Over, discrete, resolve_belief
from polaroc.priors.grids import SAME
from polaroc.typing import Array

# Marks rows of the mean over the whole range, in the place of a prior.
WHOLE = -1.0


class UnderBelief(NamedTuple):
    """A measure under a belief about the prior, from a tidy table."""

    means: FoldValues  # under the belief
    at_priors: Array  # folds × models × priors
    priors: Sequence[float]  # where models are compared one by one, ascending
    belief: Belief
    over: Over | None
    warnings: tuple[str, ...]
    regrets_known: bool  # whether the priors reach the ends of the range


def under_belief(measures: pl.DataFrame, measure: str, over: Over | None) -> UnderBelief:
    """The measure of a tidy table under a belief; raise where the table does not have it there.

    The default of `over` is the range of the table's mean of the measure (for "auprec" its
    IAUPREC), if the table names one, or else the priors of the table, equally likely.
    """
    mean, whole = mean_name(measure), None
    if mean is not None:
        over = only_range(measures, mean) if over is None else over
        whole = None if over is None else range_rows(measures, mean, over)
    if whole is not None and measure not in measures["measure"].cast(pl.String):
        rows = replace(whole, frame=whole.frame.clear(), measure=measure)
    else:
        rows = rows_of(measures, measure)
    grid = rows.fixed_priors
    if over is None and not grid:
        raise InvalidArgument(
            f"the table has {measure!r} at 0 fixed prior(s), needed are one or more.",
            hint="evaluate with priors=prior_grid(0.05, 0.20, 16), or compare(...) at one prior.",
        )
    belief = discrete(grid) if over is None else resolve_belief(over)
    if whole is None and not all(_place(node, grid) for node in belief.priors):
        either = "" if mean is None else f"neither {mean!r} over {over!r} nor "
        raise InvalidArgument(
            f"the table has {either}{measure!r} at all {len(belief.priors)} priors that stand for "
            f"{over!r}.",
            hint=evaluate_hint(over, mean),
        )
    low, high = belief.range
    priors = [one for one in grid if low - SAME <= one <= high + SAME]
    needed = (
        [low, high]
        if isinstance(over, tuple)
        else [node for node in belief.priors if low <= node <= high]
    )
    regrets_known = all(_place(one, priors) for one in needed)
    warnings = []
    if len(distinct(rows.frame["prior"])) != len(grid):
        warnings.append("Left out the rows at each key's own prior, which differs from key to key.")
    if not regrets_known:
        warnings.append(
            f"The table has {label(measure)} at {len(priors)} prior(s) of the range, not from end "
            f"to end: regrets are not known. To know them: {evaluate_hint(over, mean)}"
        )
    if whole is not None:
        of_range = whole.frame.with_columns(prior=pl.lit(WHOLE))
        rows = replace(rows, frame=pl.concat([rows.frame, of_range], how="vertical_relaxed"))
        used, weights = [*priors, WHOLE], np.eye(len(priors) + 1)[-1]
    else:
        used, weights = grid, np.zeros(len(grid))
        for node, weight in zip(belief.priors, belief.weights, strict=True):
            weights[grid.index(_place(node, grid)[0])] += weight
    table = fold_values(rows, used, noted=[*priors, WHOLE])
    at_priors = table.values[..., [used.index(one) for one in priors]]
    means = replace(table, values=(table.values @ weights)[..., None])
    return UnderBelief(means, at_priors, priors, belief, over, tuple(warnings), regrets_known)


def regret_table(
    models: pl.Series, at_priors: Array, priors: Sequence[float], *, higher: bool
) -> pl.DataFrame:
    """The mean over folds and the regret of all models, at one prior after the other."""
    table = pl.DataFrame(
        [
            pl.Series("prior", np.repeat(priors, len(models)), pl.Float64),
            pl.concat([models.clear(), *[models] * len(priors)]),
            pl.Series("mean", at_priors.mean(axis=0).T.ravel(), pl.Float64),
            pl.Series("share", best_shares(at_priors if higher else -at_priors).T.ravel()),
        ]
    ).fill_nan(None)
    best = pl.col("mean").max() if higher else pl.col("mean").min()
    return table.with_columns(regret=(best.over("prior") - pl.col("mean")).abs()).with_columns(
        best=pl.col("regret") <= ROUNDING * pl.col("mean").abs()
    )


def best_shares(values: Array) -> Array:
    """The share of folds in which each model is the best, NaN without folds; ties share one."""
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    best = values.max(axis=1, keepdims=True)
    ties = values >= best - ROUNDING * np.abs(best)
    shares: Array = (ties / ties.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def evaluate_hint(over: Over | None, mean: str | None = "iauprec") -> str:
    """Hint: the call that makes a sufficient table."""
    if isinstance(over, Belief):
        return f"pr.evaluate(..., over=belief, priors=belief.priors) with belief = {over!r}."
    assert over is not None
    lo, hi = (f"{float(end)!r}" for end in over)
    if mean is None:
        return f"pr.evaluate(..., priors=pr.uniform({lo}, {hi}).priors)."
    return f"pr.evaluate(..., over=({lo}, {hi}), priors=pr.prior_grid({lo}, {hi}, 16))."


def _place(prior: float, grid: Sequence[float]) -> list[float]:
    """The prior of the grid that is the same, if there is one."""
    return [one for one in grid if abs(one - prior) <= SAME][:1]
