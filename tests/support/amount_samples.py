"""Samples whose positives have amounts of a known law, and how often limits of costs hold."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

import polaroc as pr

PRIOR, ALARMS, ROWS_OF_CUSTOMER, THRESHOLD = 0.05, 0.05, 5, 0.5
MEASURES = ("expected_cost", "saving_over_none", "saving_over_all")


@dataclass(frozen=True)
class Law:
    """Amounts of positives, whose mean is known."""

    words: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    mean: float
    in_customers: bool = False  # whether amounts and scores of a customer are the same


def lognormal(sigma: float, *, in_customers: bool = False) -> Law:
    of = ", 5 rows a customer" if in_customers else ""
    return Law(
        f"lognormal, σ = {sigma:g}{of}", lambda rng, size: np.exp(sigma * rng.normal(size=size)),
        float(np.exp(sigma**2 / 2)), in_customers,
    )  # fmt: skip


def pareto(tail: float) -> Law:
    return Law(
        f"Pareto, α = {tail:g}", lambda rng, size: (1 - rng.random(size)) ** (-1 / tail),
        tail / (tail - 1),
    )  # fmt: skip


def sample(
    rng: np.random.Generator, law: Law, positives: int, missed: float, runs: int
) -> pl.DataFrame:
    """So many samples, each with four times as many negatives, of which 5 % raise an alarm."""
    negatives, copies = 4 * positives, ROWS_OF_CUSTOMER if law.in_customers else 1
    parts = []
    for run in range(runs):
        of_pos = np.repeat(rng.random(positives // copies) >= missed, copies)
        of_neg = np.repeat(rng.random(negatives // copies) < ALARMS, copies)
        amount = np.repeat(law.draw(rng, positives // copies), copies)
        parts.append(
            pl.DataFrame({
                "run": run, "truth": np.repeat([True, False], [positives, negatives]),
                "score": np.concatenate([of_pos, of_neg]).astype(float),
                "amount": np.concatenate([amount, np.ones(negatives)]),
                "customer": np.arange(positives + negatives) // copies,
            })
        )  # fmt: skip
    return pl.concat(parts)


def truth_of(law: Law, missed: float) -> dict[str, float]:
    """The expected cost and both savings of the threshold, an alarm costing a fifth of a mean."""
    cost = PRIOR * law.mean * missed + (1 - PRIOR) * ALARMS * law.mean / 5
    none, every = PRIOR * law.mean, (1 - PRIOR) * law.mean / 5
    return dict(zip(MEASURES, (cost, none - cost, every - cost), strict=True))


def held(law: Law, positives: int, missed: float, runs: int, seed: int) -> pl.DataFrame:
    """By measure the runs, those with limits, and those whose limits hold what is true."""
    rng = np.random.default_rng([seed, positives, int(100 * missed)])
    found = pr.savings(
        sample(rng, law, positives, missed, runs), THRESHOLD, truth="truth", score="score",
        by="run", cluster="customer" if law.in_customers else (), priors=PRIOR,
        cost_fn="amount", cost_fp=law.mean / 5,
    )  # fmt: skip
    true = pl.col("measure").replace_strict(truth_of(law, missed))
    return found.group_by("measure", maintain_order=True).agg(
        runs=pl.len(), given=pl.col("lower").count(),
        held=true.is_between("lower", "upper").sum(),
    )  # fmt: skip
