"""Time of 2,000 bootstrap draws from cells, beside resampled rows and scikit-learn.

``python tests/benchmarks/bootstrap.py [--rows N] [--draws B] [--timed K]``: one
binormal table from a seed, 10 % positives; AUPREC at 0.1 and IAUPREC over 0.05
to 0.20. scikit-learn scores the same work, average precision with class weights
at each prior: 1 for AUPREC, and for IAUPREC as many as the belief has nodes. Of
its B draws only K are timed, and the rest extrapolated.
"""

import argparse
import statistics
import time

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score

import polaroc as pr

OVER = (0.05, 0.20)
PRIOR = 0.1


def predictions(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth and binormal scores (AUC 0.9)."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < 0.1
    return truth, rng.normal(size=rows) + 1.8 * truth


def ours(truth: np.ndarray, score: np.ndarray, draws: int) -> float:
    """Seconds of everything, from the table to the limits."""
    table = pl.DataFrame({"truth": truth, "score": score})
    started = time.perf_counter()
    curve = pr.curve(table, truth="truth", score="score")
    pr.bootstrap(curve, priors=PRIOR, over=OVER, measures=["auprec", "iauprec"], draws=draws)
    return time.perf_counter() - started


def values_by_row(truth: np.ndarray, score: np.ndarray, timed: int) -> float:
    """Seconds of one draw of rows, scored by scikit-learn; the median of those timed."""
    rng = np.random.default_rng(0)
    groups = [np.flatnonzero(truth == label) for label in (True, False)]
    belief = pr.uniform(*OVER)
    seconds = []
    for _ in range(timed):
        started = time.perf_counter()
        drawn = np.concatenate([rng.choice(group, group.size) for group in groups])
        y, s = truth[drawn], score[drawn]
        areas = []
        for prior in (PRIOR, *belief.priors):
            weight = np.where(y, prior / y.sum(), (1 - prior) / (~y).sum())
            areas.append(average_precision_score(y, s, sample_weight=weight))
        float(np.dot(areas[1:], belief.weights))
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--timed", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    truth, score = predictions(asked.rows)
    ours(truth, score, 100)
    cells, rows = [], []
    for _ in range(asked.repeats):
        cells.append(ours(truth, score, asked.draws))
        rows.append(values_by_row(truth, score, asked.timed) * asked.draws)
    nodes = len(pr.uniform(*OVER).skews)
    own, other = statistics.median(cells), statistics.median(rows)
    print(f"{asked.draws:,} draws of {asked.rows:,} rows, median of {asked.repeats}:")
    print(f"  polaroc.bootstrap                      {own:8.1f} s")
    print(f"  rows and scikit-learn at {1 + nodes} priors     {other:8.1f} s, {other / own:.0f} ×")
    print(f"  (the latter extrapolated from {asked.timed} draws)")


if __name__ == "__main__":
    main()
