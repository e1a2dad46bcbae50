"""How often the model that `choose` picks is the best, beside the probability that it gives.

``python tests/benchmarks/how_sure.py [--replicates N] [--seed S] [--design NAME]``

The true means of k models are drawn around a common one, so that the SD of their pairwise
differences is so many standard errors of a difference (the spread). Then data are drawn:

one test set
    Scores of 200 + 800 cases, normal in either class, of which the models share half the
    variance. The measure is the AUC, its covariance that of the influence of the cases.
10 folds, 20 hold-outs
    A number per fold and model, normal. Folds share training cases: their errors are as
    correlated as Nadeau and Bengio's correction takes them to be (a stable learner).
100 folds, unstable
    Ten 10-folds whose errors are so correlated that the standard error is 1.4 times what the
    correction says: where that test errs in 0.16 in place of 0.05 of samples, as was
    measured for a nearest neighbour.
"""

import argparse
import sys
import time
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import norm, rankdata

from polaroc.choice.by_cost import of_costs
from polaroc.choice.posterior import at_least_own, posterior
from polaroc.priors.in_use import KnownPrior
from polaroc.thresholds.rate_intervals import Calls, Costs, limits

MODELS = (2, 3, 10)
SPREADS = (0.0, 0.5, 1.0, 2.0, 4.0)
DRAWS = 1_000
# Bands with fewer answers are not judged.
LEAST = 100
CASES, SHARED, AUC = (200, 800), 0.5, 0.80


class Folds(NamedTuple):
    """Folds whose errors are correlated: how many, test over training cases, true over said SE."""

    folds: int
    ratio: float
    factor: float = 1.0


class CostCases(NamedTuple):
    """Positives and negatives that thresholds are judged on, and the AUC of the models."""

    positives: int
    negatives: int
    auc: float


PRIOR, COSTS, TUNING = 0.125, Costs(fn=5.0), (100, 400)
DESIGNS: dict[str, Folds | CostCases | None] = {
    "one test set": None,
    "10 folds": Folds(10, 1 / 9),
    "20 hold-outs": Folds(20, 1 / 4),
    "100 folds, unstable": Folds(100, 1 / 9, 1.4),
    "expected cost, 20 positives": CostCases(20, 80, 0.9),
    "expected cost, few errors": CostCases(100, 400, 0.97),
}


class Answer(NamedTuple):
    """What was said of the picked model, and what is true of it."""

    probability: float
    right: bool
    bias: float  # of its mean
    kept: float  # of its corrected mean
    covered: bool
    loss: float
    lost: float


def answers(design: str, models: int, spread: float, replicates: int, seed: int = 0) -> np.ndarray:
    """The answers in so many replicates, one row each."""
    rng = np.random.default_rng((seed, models, int(10 * spread)))
    shape, rows = DESIGNS[design], []
    if isinstance(shape, CostCases):
        return answers_by_cost(rng, shape, models, spread, replicates)
    error = standard_error(design)
    for replicate in range(replicates):
        deviations = rng.normal(size=models) * spread * error / 2**0.5
        if shape is None:
            true = np.clip(AUC + deviations, 0.51, 0.999)
            means, covariance = of_cases(rng, true)
            freedom = np.inf
        else:
            true = deviations
            values = of_folds(rng, true, shape)
            means, freedom = values.mean(axis=0), shape.folds - 1
            covariance = np.cov(values.T) * (1 / shape.folds + shape.ratio)
        said = posterior(means, covariance, freedom, draws=DRAWS, seed=replicate)
        if said is None:
            continue
        said = at_least_own(said, means, covariance, freedom, 0.95)
        one = means.argmax()
        rows.append(
            Answer(
                said.probability_best[one],
                true.argmax() == one,
                means[one] - true[one],
                said.expected[one] - true[one],
                said.lower[one] <= true[one] <= said.upper[one],
                said.expected_loss[one],
                true.max() - true[one],
            )
        )
    return np.array(rows, float)


def answers_by_cost(
    rng: np.random.Generator, shape: CostCases, models: int, spread: float, replicates: int
) -> np.ndarray:
    """The same of models that are chosen with their thresholds, by expected cost."""
    shift = norm.ppf(shape.auc) * 2**0.5
    step = spread * shift_error(shape) / 2**0.5
    rows, counts, known = [], [], []
    for replicate in range(replicates):
        shifts = shift + step * rng.normal(size=models)
        thresholds = cheapest(*scores_of(rng, shifts, *TUNING))
        truth, scores = scores_of(rng, shifts, shape.positives, shape.negatives)
        true = cost(norm.cdf(thresholds - shifts), norm.sf(thresholds))
        wrong = (scores >= thresholds) != truth[:, None]
        rates = wrong[truth].mean(axis=0), wrong[~truth].mean(axis=0)
        means = cost(*rates)
        covariance = (PRIOR * COSTS.fn) ** 2 * np.cov(wrong[truth].T) / shape.positives
        covariance += ((1 - PRIOR) * COSTS.fp) ** 2 * np.cov(wrong[~truth].T) / shape.negatives
        said = posterior(-means, covariance, draws=DRAWS, seed=replicate)
        if said is None:
            continue
        one = means.argmin()
        known.append([values[one] for values in said])
        counts.append([wrong[truth][:, one].sum(), wrong[~truth][:, one].sum()])
        rows.append([means[one], true[one], true.argmin() == one, true.min()])
    missed, alarms = np.array(counts, float).T
    means, true, right, least = np.array(rows, float).T
    found = shape.positives - missed
    totals = (np.full_like(means, count) for count in (shape.positives, shape.negatives))
    positives, negatives = (
        Calls(called, called, n) for called, n in zip((found, alarms), totals, strict=True)
    )
    exact = limits(
        "cost", positives, negatives, KnownPrior(np.full_like(means, PRIOR)), 0.95, COSTS
    )
    said = of_costs(type(said)(*np.array(known).T), means, *exact)
    covered = (said.lower <= true) & (true <= said.upper)
    lost = true - least
    # Less is better: the bias is how much too low a cost is.
    return np.column_stack(
        [said.probability_best, right, true - means, true - said.expected, covered,
         said.expected_loss, lost]
    )  # fmt: skip


def cost(missed: np.ndarray, alarms: np.ndarray) -> np.ndarray:
    """The expected cost per case."""
    return PRIOR * COSTS.fn * missed + (1 - PRIOR) * COSTS.fp * alarms


def cheapest(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The threshold of least cost of each model, the highest where several are."""
    order = np.argsort(-scores, axis=0)
    positive = truth[order]
    costs = cost(1 - np.cumsum(positive, axis=0) / truth.sum(),
                 np.cumsum(~positive, axis=0) / (~truth).sum())  # fmt: skip
    best = costs.argmin(axis=0)
    models = np.arange(scores.shape[1])
    at = scores[order[best, models], models]
    return np.where(costs[best, models] < PRIOR * COSTS.fn, at, np.inf)


def shift_error(shape: CostCases) -> float:
    """The standard error of a difference of two costs, as one of how far classes are apart."""
    rng, shift = np.random.default_rng(0), norm.ppf(shape.auc) * 2**0.5
    # Where the likelihood ratio is that of the costs.
    at = shift / 2 + np.log((1 - PRIOR) * COSTS.fp / (PRIOR * COSTS.fn)) / shift
    truth, scores = scores_of(rng, np.full(2, shift), 40_000, 160_000)
    wrong = (scores >= at) != truth[:, None]
    apart = np.subtract(*wrong.T.astype(float))
    variance = (PRIOR * COSTS.fn) ** 2 * apart[truth].var() / shape.positives
    variance += ((1 - PRIOR) * COSTS.fp) ** 2 * apart[~truth].var() / shape.negatives
    return float(variance**0.5 / (PRIOR * COSTS.fn * norm.pdf(at - shift)))


def scores_of(
    rng: np.random.Generator, shifts: np.ndarray, positives: int, negatives: int
) -> tuple[np.ndarray, np.ndarray]:
    """Classes and scores of cases, of which models share half the variance."""
    truth = np.arange(positives + negatives) < positives
    own = rng.normal(size=(len(truth), len(shifts)))
    scores = SHARED**0.5 * rng.normal(size=(len(truth), 1)) + (1 - SHARED) ** 0.5 * own
    return truth, scores + truth[:, None] * shifts


def of_folds(rng: np.random.Generator, true: np.ndarray, shape: Folds) -> np.ndarray:
    """Folds × models: what a fold shares among models, what a model shares among folds, noise."""
    own = rng.normal(size=(shape.folds, len(true)))
    # The mean of J values of variance 1 has the variance 1/J + r, at a factor of 1.
    shared = shape.factor**2 * (1 / shape.folds + shape.ratio) - 1 / shape.folds
    among_folds = rng.normal(size=len(true)) * shared**0.5
    return true + own + among_folds + rng.normal(size=(shape.folds, 1))


def standard_error(design: str) -> float:
    """The true standard error of a difference of two equal models."""
    shape = DESIGNS[design]
    if shape is not None:
        return shape.factor * (2 * (1 / shape.folds + shape.ratio)) ** 0.5
    rng = np.random.default_rng(0)
    found = [of_cases(rng, np.full(2, AUC))[1] for _ in range(50)]
    return float(np.mean([c[0, 0] + c[1, 1] - 2 * c[0, 1] for c in found])) ** 0.5


def of_cases(rng: np.random.Generator, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The AUCs of models on the same cases, and their covariance as DeLong has it."""
    positives, negatives = CASES
    _, scores = scores_of(rng, norm.ppf(true) * 2**0.5, positives, negatives)
    ranks = rankdata(scores, axis=0)
    above = (ranks[:positives] - rankdata(scores[:positives], axis=0)) / negatives
    below = (ranks[positives:] - rankdata(scores[positives:], axis=0)) / positives
    covariance = np.cov(above.T) / positives + np.cov(below.T) / negatives
    return above.mean(axis=0), covariance


def bands(found: np.ndarray) -> list[tuple[float, int, float, float]]:
    """Per band of the probability: its lower end, answers, share right, distance from the band."""
    probability, right = found[:, 0], found[:, 1]
    rows = []
    for tenth in range(10):
        low = tenth / 10
        within = np.minimum((10 * probability + 1e-9).astype(int), 9) == tenth
        if within.sum() < LEAST:
            continue
        share = float(right[within].mean())
        rows.append((low, int(within.sum()), share, share - np.clip(share, low, low + 0.1)))
    return rows


def summary(found: np.ndarray) -> dict[str, float]:
    """The figures of one design, number of models and spread."""
    count = len(found)
    off = [row[3] for row in bands(found)] or [0.0]
    return {
        "probability": found[:, 0].mean(),
        "right": found[:, 1].mean(),
        "SE": float((found[:, 1].mean() * (1 - found[:, 1].mean()) / count) ** 0.5),
        "below": min(off),
        "above": max(off),
        "bias kept": found[:, 3].mean() / found[:, 2].mean(),
        "kept SE": float(found[:, 3].std() / count**0.5 / found[:, 2].mean()),
        "covered": found[:, 4].mean(),
        "loss": found[:, 5].mean() / max(found[:, 6].mean(), 1e-12),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--design", choices=DESIGNS, action="append")
    parser.add_argument("--bands", action="store_true", help="every band, too")
    options = parser.parse_args()
    start = time.perf_counter()
    console = Console(width=120)
    for design in options.design or DESIGNS:
        table = Table(title=f"{design}: {options.replicates:,} replicates")
        for name in (
            "models", "spread", "probability", "right (SE)", "off a band, below", "above",
            "bias kept (SE)", "interval covers", "said / true loss",
        ):  # fmt: skip
            table.add_column(name, justify="right")
        detail = []
        for models in MODELS:
            for spread in SPREADS:
                found = answers(design, models, spread, options.replicates, options.seed)
                row = summary(found)
                equal = spread == 0
                table.add_row(
                    str(models), f"{spread:g}", f"{row['probability']:.3f}",
                    "" if equal else f"{row['right']:.3f} ({row['SE']:.3f})",
                    "" if equal else f"{row['below']:+.3f}",
                    "" if equal else f"{row['above']:+.3f}",
                    f"{row['bias kept']:.2f} ({row['kept SE']:.2f})",
                    f"{row['covered']:.3f}",
                    "" if equal else f"{row['loss']:.2f}",
                )  # fmt: skip
                detail += [(models, spread, *band) for band in bands(found)] if not equal else []
        console.print(table)
        if options.bands:
            for models, spread, low, count, share, off in detail:
                error = (share * (1 - share) / count) ** 0.5
                console.print(
                    f"{models:3} models, spread {spread:g}, {low:.1f} to {low + 0.1:.1f}: right in "
                    f"{share:.3f} ({error:.3f}) of {count}, off by {off:+.3f}"
                )
    console.print(f"{time.perf_counter() - start:.0f} s, seed {options.seed}")


if __name__ == "__main__":
    sys.exit(main())
