"""Time and peak memory of `evaluate` beside a bare sort and scikit-learn.

``python tests/benchmarks/bench.py [--rows N] [--json FILE]``: data from a seed,
60 keys, 10 % positives, 16 priors. All cases run in turn in one process, after
a warm-up; a figure is the median of `--repeats` runs. Ratios are to the bare
sort of the same table in the same run. Peak memory is that of a process of its
own which reads the table from Parquet.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import polaroc as pr

KEYS = ["model", "fold"]
MODELS, FOLDS = 3, 20
PRIORS = pr.prior_grid(0.01, 0.5, 16, "log")
OVER = (0.05, 0.20)


def predictions(rows: int, decimals: int | None = None, positives: float = 0.1) -> pl.DataFrame:
    """Binormal scores (AUC 0.856) squeezed into (0, 1), keys at random."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < positives
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) + 1.5 * truth)))
    key = rng.integers(0, MODELS * FOLDS, rows)
    return pl.DataFrame(
        {
            "model": key % MODELS,
            "fold": key // MODELS,
            "truth": truth,
            "score": score if decimals is None else score.round(decimals),
        }
    )


def evaluate(frame: pl.LazyFrame) -> pl.DataFrame:
    """All measures of every key: AUC, AUPREC at 16 priors, IAUPREC, Sens, AccSens, ε."""
    lazy = frame.pipe(pr.evaluate, truth="truth", score="score", by=KEYS, priors=PRIORS, over=OVER)
    return lazy.collect()


def bare_sort(frame: pl.LazyFrame) -> pl.DataFrame:
    """The engine's own sort of the whole table by score."""
    last = pl.all().cast(pl.Float64).arg_max()
    return frame.sort("score").select(last).collect()


def scikit_learn(frame: pl.LazyFrame) -> list[float]:
    """AUC and average precision of every key, in a loop."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    found = []
    for part in frame.collect().partition_by(KEYS):
        truth, score = part["truth"].to_numpy(), part["score"].to_numpy()
        found += [roc_auc_score(truth, score), average_precision_score(truth, score)]
    return found


CASES: dict[str, Callable[[pl.LazyFrame], object]] = {
    "bare sort": bare_sort,
    "evaluate": evaluate,
    "scikit-learn, AUC + average precision": scikit_learn,
}


def timed(rows: int, repeats: int) -> list[dict[str, object]]:
    """Seconds per case and table, in turn."""
    tables = {
        "continuous scores": {},
        "scores of 3 decimals": {"decimals": 3},
        "0.1 % positives": {"positives": 0.001},
    }
    results = []
    for table, options in tables.items():
        frame = predictions(rows, **options).lazy()
        seconds: dict[str, list[float]] = {case: [] for case in CASES}
        for run in range(repeats + 1):
            for case, work in CASES.items():
                start = time.perf_counter()
                work(frame)
                if run > 0:
                    seconds[case].append(time.perf_counter() - start)
        base = statistics.median(seconds["bare sort"])
        for case, runs in seconds.items():
            median = statistics.median(runs)
            results.append(
                {"table": table, "case": case, "seconds": median, "ratio": median / base}
            )
    return results


def peak(rows: int) -> float:
    """Peak memory in GB of `evaluate` on a Parquet file, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "predictions.parquet"
        predictions(rows).write_parquet(file)
        run = [sys.executable, __file__, "--only-evaluate", str(file)]
        return float(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only-evaluate", type=Path)
    asked = parser.parse_args()
    if asked.only_evaluate:
        evaluate(pl.scan_parquet(asked.only_evaluate))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)
        return
    results, memory = timed(asked.rows, asked.repeats), peak(asked.rows)
    drawn = Table(
        title=f"{asked.rows:,} rows, 60 keys; evaluate: AUC, AUPREC at 16 priors, IAUPREC"
    )
    for column in ("table", "case", "seconds", "× bare sort"):
        drawn.add_column(column, justify="right" if column[0] in "s×" else "left")
    for row in results:
        drawn.add_row(row["table"], row["case"], f"{row['seconds']:.2f}", f"{row['ratio']:.1f}")
    console = Console()
    console.print(drawn)
    console.print(f"Peak memory of evaluate from Parquet, continuous scores: {memory:.2f} GB")
    if asked.json:
        report = {"rows": asked.rows, "times": results, "peak_gb": memory}
        asked.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
