"""How far the cost that a report shows for its thresholds is from what they cost in truth.

``python tests/benchmarks/threshold_costs.py [--replicates N]``: each replicate draws a
sample, 20 stratified 80/20 hold-outs of it (or 10 folds), and fits a linear
discriminant to each. The report's thresholds of least cost are set and judged three
ways: on hold-outs without knowing which rows are of one case, on the same with the
column of cases, and on folds, which share no case. The classes are normal, so the
true cost of a threshold for each fitted model has a closed form.

Printed per number of positives and negatives in a hold-out: the cost shown; how far
it is below (−) or above the true cost of the very thresholds it was judged at, and
of the one threshold that is printed; standard errors in brackets.
"""

import argparse
import time

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import norm

from polaroc.base.private_columns import TRUTH
from polaroc.comparison.fold_thresholds import rates_across_folds, read_folds
from polaroc.predictions.resolved import keyed
from polaroc.predictions.row_checks import SCORE
from polaroc.thresholds.need import Need

FEATURES, SHIFT = 5, 0.75
SIZES = ((30, 120), (60, 240), (150, 600))
PRIOR = 0.2
# A loss takes half of each cost: these make it the share of errors.
COSTS = Need("cost", (PRIOR,), cost_fn=2, cost_fp=2)
HOLD_OUTS, FOLDS = 20, 10
WAYS = {
    "hold-outs, cases unknown": (False, None),
    "hold-outs, cases known": (False, "case"),
    "folds": (True, None),
}


def split(rng: np.random.Generator, truth: np.ndarray, folds: bool) -> np.ndarray:
    """Which cases are tested, test sets × cases, stratified."""
    tested = np.zeros((FOLDS if folds else HOLD_OUTS, len(truth)), dtype=bool)
    for own in map(np.flatnonzero, (truth, ~truth)):
        if folds:
            tested[rng.permutation(len(own)) % FOLDS, own] = True
        else:
            for row in tested:
                row[rng.choice(own, len(own) // 5, replace=False)] = True
    return tested


def fitted(
    rng: np.random.Generator, positives: int, negatives: int, folds: bool
) -> tuple[pl.DataFrame, np.ndarray]:
    """The predictions of a discriminant per test set, and its weights and what it subtracts."""
    truth = np.arange(5 * (positives + negatives)) < 5 * positives
    cases = rng.normal(size=(len(truth), FEATURES)) + SHIFT * truth[:, None]
    parts, weights = [], []
    for fold, test in enumerate(split(rng, truth, folds)):
        train, own = cases[~test], truth[~test]
        means = train[own].mean(axis=0), train[~own].mean(axis=0)
        centred = train - np.where(own[:, None], *means)
        pooled = centred.T @ centred / (len(train) - 2)
        direction = np.linalg.solve(pooled, means[0] - means[1])
        middle = sum(means) / 2 @ direction
        weights.append(np.append(direction, middle))
        score = cases[test] @ direction - middle
        table = {"case": np.flatnonzero(test), TRUTH: truth[test], SCORE: score}
        parts.append(pl.DataFrame(table).with_columns(pl.lit(fold).alias("fold")))
    return pl.concat(parts), np.array(weights)


def true_cost(weights: np.ndarray, thresholds: list[float | None]) -> float:
    """The mean cost of thresholds for fitted models, over the population."""
    size = np.linalg.norm(weights[:, :-1], axis=1)
    ahead = SHIFT * weights[:, :-1].sum(axis=1)
    costs = []
    for threshold in thresholds:
        at = (np.inf if threshold is None else threshold) + weights[:, -1]
        costs.append(COSTS.cost(norm.sf((at - ahead) / size), norm.sf(at / size)))
    return float(np.mean(costs))


def differences(positives: int, negatives: int, way: str, replicates: int, seed: int) -> np.ndarray:
    """Replicates × (cost shown, it less the true cost as judged, it less that as printed)."""
    folds, case = WAYS[way]
    found = []
    for replicate in range(replicates):
        rng = np.random.default_rng([seed, positives, folds, replicate])
        table, weights = fitted(rng, positives, negatives, folds)
        rows = read_folds(keyed(table, truth=TRUTH, score=SCORE, fold="fold", case=case))
        judged = rates_across_folds(rows, [COSTS])
        shown = float(COSTS.cost(judged.tpr, judged.fpr).mean())
        judged_at = true_cost(weights, judged.thresholds[0])
        printed = true_cost(weights, rows.thresholds([COSTS]))
        found.append((shown, shown - judged_at, shown - printed))
    return np.array(found)


def main() -> None:
    """Print the differences of each way and size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    started = time.perf_counter()
    title = (
        f"Share of errors shown at prior {PRIOR}, and less the true one (SE): {asked.replicates} "
        "replicates"
    )
    drawn = Table("cases in a hold-out", "way", "shown", "as judged", "as printed", title=title)
    for positives, negatives in SIZES:
        for way in WAYS:
            found = differences(positives, negatives, way, asked.replicates, asked.seed)
            errors = found.std(axis=0, ddof=1) / len(found) ** 0.5
            cells = [f"{m:.4f} ({e:.4f})" for m, e in zip(found.mean(axis=0), errors, strict=True)]
            drawn.add_row(f"{positives} + {negatives}", way, *cells)
    Console(width=120).print(drawn, f"{time.perf_counter() - started:.0f} s", sep="\n")


if __name__ == "__main__":
    main()
