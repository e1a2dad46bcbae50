"""Time of the report and of `polaroc evaluate` with its charts, beside `evaluate` alone."""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
from tables import one_test_set, predictions

import polaroc as pr

COLUMNS = {"truth": "truth", "score": "score"}
FEW, OVER, GRID = 14_000, (0.05, 0.20), pr.prior_grid(0.01, 0.5, 16)
ALONE, COMMAND, CHARTS = "evaluate", "polaroc evaluate --no-charts", "polaroc evaluate"
Seconds = tuple[float, float]  # of the clock and of the processors


def timed(rows: int) -> Iterator[dict[str, object]]:
    """Each table and work with its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        once, folds = one_test_set(rows), predictions(rows, keys="string")
        # Models, folds and cases are found by the names of their columns.
        tables: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
            f"{FEW:,} rows, 4 models": (one_test_set(FEW), {}),
            f"{rows:,} rows, 4 models": (once, {}),
            f"{rows:,} rows, 60 keys": (folds, {"test_train_ratio": 0.25}),
        }
        for name, (table, options) in tables.items():
            arguments = {**COLUMNS, "over": OVER}
            taken = {
                ALONE: _seconds(pr.evaluate, table, priors=GRID, **arguments),
                "report": _seconds(pr.report, table, path=page, **arguments, **options),
            }
            yield from _rows(name, taken)
        file = Path(folder) / "predictions.parquet"
        folds.write_parquet(file)
        del once, folds, tables
        command = [sys.executable, "-m", "polaroc", "evaluate", str(file), "--no-fold",
                   "--by", "fold", "--truth", "truth", "--score", "score", "--out"]  # fmt: skip
        silent = {"check": True, "capture_output": True}
        taken = {
            COMMAND: _seconds(subprocess.run, [*command, f"{folder}/a", "--no-charts"], **silent),
            CHARTS: _seconds(subprocess.run, [*command, f"{folder}/b"], **silent),
        }
        yield from _rows(f"{rows:,} rows, 60 keys, a file", taken)


def _rows(table: str, taken: dict[str, Seconds]) -> Iterator[dict[str, object]]:
    """A row for each, with the ratio to the first."""
    first, _ = next(iter(taken.values()))
    for work, (clock, processors) in taken.items():
        yield {
            "table": table, "work": work, "seconds": clock, "processor": processors,
            "to the first": clock / first,
        }  # fmt: skip


def _seconds(work: Callable[..., object], *given: Any, **options: Any) -> Seconds:
    """By the clock, and of all processors, those of child processes too."""
    start, before = time.perf_counter(), _processors()
    work(*given, **options)
    return time.perf_counter() - start, _processors() - before


def _processors() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)
