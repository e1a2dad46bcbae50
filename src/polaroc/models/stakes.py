"""The costs of wrong calls and the priors at which they count, and a choice by cost in words."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.text import named, one_name
from polaroc.errors import InvalidArgument
from polaroc.models.answer import (
    count_tied,
    describe_priors,
    first_words,
    how_sure,
    three_digits,
    two_digits,
)
from polaroc.models.choice_measures import GRID, NEEDS_RANGE, one_prior
from polaroc.models.regret import ExpectedMeasures, priors_to_evaluate
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Belief, Over, discrete, resolve_belief
from polaroc.priors.grids import prior_grid
from polaroc.thresholds.constraints import promise, resolve_constraints
from polaroc.thresholds.named_rates import EXPECTED_COST
from polaroc.thresholds.operating_points import operating_points

# Positives, at the least, among the cases of which the answer speaks.
MIN_POSITIVES = 10


class Stakes(NamedTuple):
    """Costs of wrong calls, the range or belief of the prior, and constraints."""

    fn: float
    fp: float
    at: float | None  # a single prior, in place of a range or belief
    over: Over | None
    constraints: Mapping[str, float] | None
    confidence: float | None
    estimate: pl.DataFrame | None = None  # whose belief `over` is

    @property
    def belief(self) -> Belief:
        """The belief about the prior."""
        return resolve_belief(self.over) if self.at is None else discrete([self.at])

    def expected(self, rated: pl.DataFrame) -> ExpectedMeasures:
        """Costs of models with their thresholds at every prior, and under the belief."""
        missed = self.fn * (1 - rated["tpr"].to_numpy())
        alarms = self.fp * rated["fpr"].to_numpy()
        grid = tuple(sorted({*self.belief.priors, *self.priors}))
        values = [prior * missed + (1 - prior) * alarms for prior in grid]
        return ExpectedMeasures(
            np.stack(values, axis=-1)[None], grid, self.belief, self.priors, higher=False
        )

    @property
    def priors(self) -> tuple[float, ...]:
        """Where models are compared one by one; regrets are largest at the ends of a range."""
        if isinstance(self.over, tuple):
            return tuple(prior_grid(*self.over, GRID)["prior"])
        return priors_to_evaluate(self.belief, self.belief.priors)

    def thresholds(self, tuning: Cases[pl.DataFrame]) -> pl.DataFrame:
        """The threshold of each model; their promises hold all at once."""
        points: pl.DataFrame = operating_points(
            tuning, "cost", priors=self.at, over=self.over, constraints=self.constraints,
            confidence=self.confidence, cost_fn=self.fn, cost_fp=self.fp,
        )  # fmt: skip
        return points

    def promise(self) -> str | None:
        """The promise of the thresholds."""
        if self.confidence is None:
            return None
        limits = resolve_constraints(self.constraints, "cost", None, self.over)
        return promise(limits.limits, self.confidence, self.at or limits.ends)


def stakes_of(
    cost_fn: float,
    cost_fp: float,
    over: Over | None,
    constraints: Mapping[str, float] | None = None,
    confidence: float | None = None,
    estimate: pl.DataFrame | None = None,
) -> Stakes:
    """The arguments of `choose` that are for costs, checked."""
    if over is None:
        raise InvalidArgument(
            f"measure is {EXPECTED_COST!r}, which is taken over priors, and over is not given.",
            hint=NEEDS_RANGE,
        )
    if confidence is not None:
        check_share("confidence", confidence)
    at = one_prior(over)
    over = over if at is None else None
    return Stakes(cost_fn, cost_fp, at, over, constraints, confidence, estimate)


def take_first(ranked: pl.DataFrame) -> str:
    """Which model to take: of those that cost the same one only, to which the threshold belongs."""
    return first_words(ranked if count_tied(ranked) == 1 else ranked[:1])


def cost_in_words(ranked: pl.DataFrame, stakes: Stakes) -> str:
    """Errors of the first model per number of cases, their cost, and the next model, in words.

    All numbers are as measured. The total is that of the numbers shown, so that it adds up.
    """
    cost, tpr, fpr = ranked.select("mean", "tpr", "fpr").row(0)
    prior, tied = stakes.belief.mean, count_tied(ranked)
    cases = _cases_told(prior)
    missed = three_digits(cases * prior * (1 - tpr))
    alarms = three_digits(cases * (1 - prior) * fpr)
    sentence = (
        f"Of {cases:,} cases, {describe_priors(stakes.over, [prior])}, it misses on average "
        f"{missed} of {cases * prior:,.0f} positives and raises {alarms} false "
        f"alarm{'' if alarms == '1' else 's'}, "
    )
    shown_missed, shown_alarms = (float(shown.replace(",", "")) for shown in (missed, alarms))
    as_many = three_digits(shown_missed * stakes.fn / stakes.fp + shown_alarms)
    sentence += f"which costs as much as about {as_many} false alarms"
    models = ranked[ranked.columns[0]]
    if tied > 1:
        sentence += f", as much as {named(models[1:tied].to_list(), 'and')}"
    if tied < ranked.height:
        other, lead = one_name(models[tied]), ranked["mean"][tied] - cost
        sentence += f", {two_digits(lead * cases / stakes.fp)} fewer than with {other}"
    return f"{sentence}."


def how_sure_of_cost(ranked: pl.DataFrame, stakes: Stakes, *, is_bound: bool) -> str:
    """How likely the first model costs least, and what is lost if it does not."""
    cases = _cases_told(stakes.belief.mean)
    return how_sure(
        ranked.with_columns(pl.col("expected_loss") * cases / stakes.fp), is_bound=is_bound,
        higher=False, unit=f" false alarms per {cases:,} cases",
    )  # fmt: skip


def _cases_told(prior: float) -> int:
    """The number of cases that the answer is about."""
    cases = 1000
    while cases * prior < MIN_POSITIVES:
        cases *= 10
    return cases
