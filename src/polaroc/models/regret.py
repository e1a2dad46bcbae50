"""Expected measure and regret of models over uncertain priors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.statistics import ROUNDING
from polaroc.errors import InvalidArgument
from polaroc.measures.catalog import higher_is_better, label, mean_name
from polaroc.models.fold_values import FoldValues, fold_values
from polaroc.models.measure_rows import Rows, distinct, only_range, range_rows, rows_of
from polaroc.models.posterior import Posterior, posterior_columns
from polaroc.priors.beliefs import Belief, Over, discrete, resolve_belief
from polaroc.priors.grids import SAME, skew
from polaroc.typing import Array

# Tail of a belief at each end in which models are not evaluated.
TAIL = 0.005
# Share of a belief that may lie beyond the measured priors.
BEYOND = 0.01
# Least number of priors within a range to interpolate between them.
ENOUGH = 8
# Marks rows of the mean over the whole range, in the place of a prior.
WHOLE = -1.0
# Priors at which models of predictions are compared within a range.
GRID = 25


@dataclass(frozen=True, eq=False)
class ExpectedMeasures:
    """The values of a measure at some priors, and their expectation under a belief."""

    values: "Array"  # folds × models × priors of the grid
    grid: tuple[float, ...]  # ascending
    belief: Belief
    evaluated_priors: tuple[float, ...]  # where models are compared one by one
    overall: "Array | None" = None  # folds × models, where known without the grid
    covers: bool = True  # enough to interpolate
    higher: bool = True  # is better

    @property
    def expected(self) -> "Array":
        """The expected measure, folds × models."""
        if self.overall is not None:
            return self.overall
        return self._expectation(self._at(self.belief.priors))

    def model_table(self, models: pl.Series, known: Posterior | None) -> pl.DataFrame:
        """The models, the best first, with what is known of their true means."""
        gains = self.expected * self._sign
        gain, unknown = gains.mean(axis=0), [None] * len(models)
        mean_regret = worst_regret = unknown
        if self.covers and len(models):
            at_nodes = self._at(self.belief.priors).mean(axis=0) * self._sign
            of_first = self._expectation(shortfall(at_nodes))[gain.argmax()]
            # The mean regret and the expected measure have a constant sum.
            mean_regret, worst_regret = of_first + shortfall(gain), self._regret.max(axis=1)
        is_several = len(self.values) > 1
        columns: dict[str, Any] = {
            "mean": gain * self._sign,
            **posterior_columns(known, len(models)),
            "mean_regret": mean_regret,
            "worst_regret": worst_regret,
            "share": best_shares(gains).mean(axis=0) if is_several else unknown,
        }
        table = pl.DataFrame(
            [models, *(pl.Series(name, values, pl.Float64) for name, values in columns.items())]
        )
        return table.sort("mean", descending=self.higher, maintain_order=True)

    def prior_table(self, models: pl.Series) -> pl.DataFrame:
        """Mean and regret of all models at one evaluated prior after the other."""
        at_priors, priors = self._at(self.evaluated_priors), self.evaluated_priors
        shares: Any = [None] * (len(priors) * len(models))
        if len(self.values) > 1:
            shares = best_shares(at_priors * self._sign).mean(axis=0).T.ravel()
        return pl.DataFrame(
            [
                pl.Series("prior", [prior for prior in priors for _ in models], pl.Float64),
                pl.concat([models.clear(), *[models] * len(priors)]),
                pl.Series("mean", at_priors.mean(axis=0).T.ravel(), pl.Float64),
                pl.Series("regret", self._regret.T.ravel(), pl.Float64),
                pl.Series("share", shares, pl.Float64),
            ]
        ).with_columns((pl.col("regret") <= ROUNDING * pl.col("mean").abs()).alias("best"))

    @property
    def _regret(self) -> "Array":
        """How far the mean over folds is from the best, models × evaluated priors."""
        return shortfall(self._at(self.evaluated_priors).mean(axis=0) * self._sign)

    @property
    def _sign(self) -> int:
        return 1 if self.higher else -1

    def _expectation(self, at_nodes: "Array") -> "Array":
        expectation: Array = at_nodes @ np.array(self.belief.weights)
        return expectation

    def _at(self, priors: Sequence[float]) -> "Array":
        """The measure at other priors, interpolated in ln λ."""
        if not priors:
            return self.values[..., :0]
        known = [-log(skew(prior)) for prior in self.grid]
        positions = [-log(skew(prior)) for prior in priors]
        places = np.interp(positions, known, np.arange(len(known)))
        below = np.floor(places).astype(int)
        above = np.minimum(below + 1, len(known) - 1)
        share = places - below
        before, after = self.values[..., below], self.values[..., above]
        interpolated: Array = before * (1 - share) + after * share
        return interpolated


class UnderBelief(NamedTuple):
    """A measure under a belief about the prior, from a tidy table."""

    measured: ExpectedMeasures
    table: FoldValues  # of the expected measure
    over: Over | None
    warnings: tuple[str, ...]


def under_belief(
    measures: pl.DataFrame,
    measure: str,
    over: Over | None,
) -> UnderBelief:
    """The measure of a tidy table under a belief; raise where the table has too few priors.

    The default of `over` is the range of the table's mean of the measure (for "auprec" its
    IAUPREC), if the table names one, or else the priors of the table, equally likely.
    """
    mean = mean_name(measure)
    if over is None and mean is not None:
        over = only_range(measures, mean)
    whole = None if over is None or mean is None else range_rows(measures, mean, over)
    rows = _rows(measures, measure, whole)
    grid = rows.fixed_priors
    if over is None and not grid:
        raise InvalidArgument(
            f"the table has {measure!r} at 0 fixed prior(s), needed are one or more.",
            hint="evaluate with priors=prior_grid(0.05, 0.20, 16), or compare(...) at one prior.",
        )
    asked = discrete(grid) if over is None else over
    warnings = []
    if len(distinct(rows.frame["prior"])) != len(grid):
        warnings.append("Left out the rows at each key's own prior, which differs from key to key.")
    grid, evaluated, covers, more = _within(asked, grid, measure, has_mean=whole is not None)
    own = [] if whole is None else [WHOLE]
    if whole is not None:
        of_range = whole.frame.with_columns(prior=pl.lit(WHOLE))
        rows = replace(rows, frame=pl.concat([rows.frame, of_range], how="vertical_relaxed"))
    table = fold_values(rows, [*grid, *own], noted=[*evaluated, *own])
    table.check_models()
    measured = ExpectedMeasures(
        table.values[:, :, : len(grid)], tuple(grid), resolve_belief(asked), evaluated,
        table.values[:, :, -1] if own else None, covers, higher_is_better(measure),
    )  # fmt: skip
    expected = replace(table, values=measured.expected[:, :, None])
    return UnderBelief(measured, expected, over, (*warnings, *more))


def _within(
    asked: Over, grid: list[float], measure: str, *, has_mean: bool
) -> tuple[list[float], tuple[float, ...], bool, list[str]]:
    """The priors used, those at which models are compared, whether they cover, and warnings."""
    lo, hi = _ends(asked)
    problem, warnings = _coverage(asked, grid, measure, has_mean=has_mean)
    if problem is not None:
        if not has_mean:
            raise InvalidArgument(problem, hint=evaluate_hint(asked))
        within = [prior for prior in grid if lo - SAME <= prior <= hi + SAME]
        few = (
            f"The table has {label(measure)} at {len(within)} prior(s) of the range, too few to "
            "judge models prior by prior: regrets are not known. To know them: "
            + evaluate_hint(asked)
        )
        return within, tuple(within), False, [few]
    # Those between which the measure is interpolated.
    first = max((prior for prior in grid if prior <= lo + SAME), default=grid[0])
    last = min((prior for prior in grid if prior >= hi - SAME), default=grid[-1])
    kept = [prior for prior in grid if first <= prior <= last]
    return kept, priors_to_evaluate(asked, kept), True, warnings


def _rows(measures: pl.DataFrame, measure: str, whole: Rows | None) -> Rows:
    """The rows of the measure; empty where the table has only its mean over this range."""
    has = (measures["measure"].cast(pl.String) == measure).any()
    if whole is None or has:
        return rows_of(measures, measure)
    return replace(whole, frame=whole.frame.clear(), measure=measure)


def shortfall(means: "Array") -> "Array":
    """Regret: how far each model (axis 0) is below the best, where more is better."""
    below: Array = means.max(axis=0, initial=-inf) - means
    return below


def best_shares(values: "Array") -> "Array":
    """1 for the best model (axis 1), shared among those that tie, 0 for the others."""
    best = values.max(axis=1, keepdims=True)
    ties = values >= best - ROUNDING * np.abs(best)
    shared: Array = ties / ties.sum(axis=1, keepdims=True)
    return shared


def priors_to_evaluate(over: Over, grid: Sequence[float]) -> tuple[float, ...]:
    """The priors at which models are compared prior by prior.

    For a range, the priors of the grid within it and its ends; for a belief, its nodes without
    the tails.
    """
    if isinstance(over, tuple):
        lo, hi = over
        return (lo, *(prior for prior in grid if lo + SAME < prior < hi - SAME), hi)
    nodes = sorted(zip(over.priors, over.weights, strict=True))
    below = list(accumulate(weight for _, weight in nodes))
    return tuple(
        prior
        for (prior, weight), upto in zip(nodes, below, strict=True)
        if upto > TAIL and upto - weight < 1 - TAIL
    )


def _coverage(
    over: Over, grid: Sequence[float], measure: str, *, has_mean: bool
) -> tuple[str | None, list[str]]:
    """Why the grid does not cover a range or belief, None where it does; and warnings."""
    if not grid:
        return "the table has the measure at 0 fixed priors.", []
    (lowest, highest), belief = _ends(over), resolve_belief(over)
    lo, hi = grid[0] - SAME, grid[-1] + SAME
    nodes = list(zip(belief.priors, belief.weights, strict=True))
    beyond = sum(weight for prior, weight in nodes if not lo <= prior <= hi)
    if beyond > BEYOND or (isinstance(over, tuple) and not lo <= lowest < highest <= hi):
        return (
            f"{over!r} leaves the priors at which the table has the measure, "
            f"{grid[0]:.6g} to {grid[-1]:.6g}."
        ), []
    warnings = []
    if beyond > 0:
        warnings.append(
            f"{beyond:.2g} of the belief lies beyond the priors of the table and counts at the "
            "nearest of them."
        )
    within = sum(lowest - SAME <= prior <= highest + SAME for prior in grid)
    if within >= ENOUGH or _are_among([one for one, _ in nodes if lo <= one <= hi], grid):
        return None, warnings
    if not (has_mean and _are_among([lowest, highest], grid)):
        mean = mean_name(measure)
        whole = "" if mean is None else f", or its {label(mean)} over just that"
        return (
            f"the table has the measure at {within} prior(s) of {over!r}, needed are {ENOUGH} or "
            f"more{whole}."
        ), []
    few = (
        f"Only {within} of the table's priors lie within the range: between them regrets are "
        "interpolated in ln λ."
    )
    return None, [*warnings, few]


def _are_among(priors: Sequence[float], grid: Sequence[float]) -> bool:
    return all(any(abs(prior - at) <= SAME for at in grid) for prior in priors)


def evaluate_hint(over: Over) -> str:
    """Hint: the call that makes a sufficient table."""
    if isinstance(over, Belief):
        return f"pr.evaluate(..., over=belief, priors=belief.priors) with belief = {over!r}."
    lo, hi = (f"{float(end)!r}" for end in over)
    return f"pr.evaluate(..., over=({lo}, {hi}), priors=pr.prior_grid({lo}, {hi}, 16))."


def _ends(over: Over) -> tuple[float, float]:
    return over if isinstance(over, tuple) else (min(over.priors), max(over.priors))


def one_prior(over: object) -> float | None:
    """The prior of a range of one point."""
    return over[0] if isinstance(over, tuple) and over[0] == over[1] else None
