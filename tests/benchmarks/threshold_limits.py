"""How often the limits of a report's thresholds hold the true rates of the printed threshold.

``python tests/benchmarks/threshold_limits.py [--replicates N]``: each replicate draws one
test set with normal scores, sets the thresholds of a report on it, and takes their limits.
The true recall, false alarm rate and, in the middle of the range, share of right alarms of each
threshold have a closed form. Printed per need and size: the share of replicates with a threshold
whose limits hold them, and by how much the printed rates are above (+) or below the true ones on
average; standard errors in brackets.
"""

import argparse

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import norm

from polaroc import rates
from polaroc.base.private_columns import TRUTH
from polaroc.comparison.compared import Compared
from polaroc.predictions.resolved import keyed
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.grids import skew
from polaroc.reports.inputs import Needs, Question
from polaroc.reports.thresholds import thresholds

SHIFT, OVER = 1.8, (0.02, 0.1)
SKEW = skew(sum(OVER) / 2)
SIZES = ((50, 200), (200, 800), (100, 2000))
NEEDS = {
    "recall .9": Needs(recall=0.9),
    "recall .7": Needs(recall=0.7),
    "capacity 100": Needs(capacity=100),
    "precision .3": Needs(precision=0.3),
    "costs 10 : 1": Needs(cost_fn=10),
}


def replicate(rng: np.random.Generator, positives: int, negatives: int, needs: Needs) -> np.ndarray:
    """Recall, false alarm rate, right alarms: whether the limits hold the true one, and the error.

    NaN where no threshold meets the need.
    """
    truth = np.arange(positives + negatives) < positives
    rows = pl.DataFrame(
        {"model": "m", TRUTH: truth, SCORE: rng.normal(size=truth.size) + SHIFT * truth}
    )
    cases = keyed(rows, truth=TRUTH, score=SCORE, model="model")
    question = Question(Compared(cases, "model", ()), OVER, None, 0.95, 0.95, needs)
    taken = thresholds(cases, question, pl.Series("model", ["m"])).taken
    if taken["threshold"] is None:
        return np.full((3, 2), np.nan)
    true = {"tpr": norm.sf(taken["threshold"] - SHIFT), "fpr": norm.sf(taken["threshold"])}
    limits = {name: (taken[f"{name}_lower"], taken[f"{name}_upper"]) for name in true}
    (least, most), (fewest, alarms) = limits.values()
    limits["right"] = rates.precision(least, alarms, SKEW), rates.precision(most, fewest, SKEW)
    shown = {**taken, "right": rates.precision(taken["tpr"], taken["fpr"], SKEW)}
    true["right"] = rates.precision(true["tpr"], true["fpr"], SKEW)
    return np.array([
        (limits[name][0] <= rate <= limits[name][1], shown[name] - rate)
        for name, rate in true.items()
    ])  # fmt: skip


def coverage(positives: int, negatives: int, need: str, replicates: int, seed: int) -> np.ndarray:
    """Replicates with a threshold × rates × (held, error)."""
    rng = np.random.default_rng([seed, positives, negatives])
    judged = [replicate(rng, positives, negatives, NEEDS[need]) for _ in range(replicates)]
    return np.array([one for one in judged if not np.isnan(one).any()])


def main() -> None:
    """Print the coverage of each need and size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    title = f"Coverage of limits at .95, and the mean error (SE): {asked.replicates} replicates"
    of = ("recall", "false alarms", "right alarms")
    heads = (*(f"held: {name}" for name in of), *(f"error: {name}" for name in of))
    drawn = Table("cases", "need", *heads, title=title)
    for positives, negatives in SIZES:
        for need in NEEDS:
            found = coverage(positives, negatives, need, asked.replicates, asked.seed)
            means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / len(found) ** 0.5
            cells = [f"{means[i, j]:.4f} ({errors[i, j]:.4f})" for j in range(2) for i in range(3)]
            drawn.add_row(f"{positives} + {negatives}", need, *cells)
    Console(width=160).print(drawn)


if __name__ == "__main__":
    main()
