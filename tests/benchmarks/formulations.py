"""Where the time of `evaluate` goes, and other ways to the same cells that were tried.

``python tests/benchmarks/formulations.py [--rows N] [--repeats R]``: least seconds of
wall clock and of processor time, in turn, on continuous scores with a tenth and a half of
positives and on scores of three decimals, 60 keys.
"""

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import polars as pl
from contenders import OVER, PRIORS, bare_sort, evaluate
from rich.console import Console
from rich.table import Table
from tables import predictions

from polaroc.base.arrays import ARRAYS
from polaroc.curves.curve import curve_tables
from polaroc.curves.ranking import ranked_cells
from polaroc.evaluation.request import Request
from polaroc.evaluation.sums import curve_totals
from polaroc.measures.array_sums import array_sums
from polaroc.measures.table import per_key, tidy
from polaroc.predictions.resolved import keyed
from polaroc.predictions.table import Predictions, read

KEYS = ["model", "fold"]
NAMED = {"truth": "truth", "score": "score"}
TRUTH, SCORE = pl.col("truth"), pl.col("score")
COUNTS = [TRUTH.cast(pl.Int64).alias("pos"), (~TRUTH).cast(pl.Int64).alias("neg")]


def cumulated(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Cumulative counts per key."""
    return frame.with_columns(
        pl.col("pos").cum_sum().over(KEYS).alias("tp"),
        pl.col("neg").cum_sum().over(KEYS).alias("fp"),
    )


def window(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Sort by score, cumulate over the keys; last row of each run over the keys."""
    ends = (SCORE.shift(-1).over(KEYS) != SCORE).fill_null(True)
    ranked = cumulated(frame.with_columns(COUNTS).sort("score", descending=True))
    return ranked.filter(ends)


def grouped(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Group by key and score first, then sort and cumulate over the keys."""
    ties = frame.group_by(*KEYS, "score").agg(
        TRUTH.cast(pl.Int64).sum().alias("pos"), (~TRUTH).cast(pl.Int64).sum().alias("neg")
    )
    return cumulated(ties.sort("score", descending=True))


def by_columns(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Sort by key and score as columns, cumulate without a window; last row of each run."""
    key = pl.struct(*KEYS, "score")
    ranked = frame.with_columns(COUNTS).sort(*KEYS, "score", descending=[False, False, True])
    return ranked.with_columns(pl.col("pos", "neg").cum_sum()).filter(
        (key != key.shift(-1)).fill_null(True)
    )


def of_curve(frame: pl.LazyFrame) -> pl.LazyFrame:
    """`curve` of a lazy frame: the rows of each key gathered and sorted, then cumulated."""
    return curve_tables(_read(frame))


def _read(frame: pl.LazyFrame | pl.DataFrame) -> Predictions:
    return read(keyed(frame, **NAMED, by=KEYS))


def drained(made: Callable[[pl.LazyFrame], pl.LazyFrame]) -> Callable[[pl.LazyFrame], object]:
    """Compute all rows and columns, and keep next to nothing."""
    return lambda frame: made(frame).select(pl.all().cast(pl.Float64).arg_max()).collect()


def stages(frame: pl.LazyFrame) -> dict[str, Callable[[pl.LazyFrame], object]]:
    """The steps of `evaluate`, each timed alone."""
    table = frame.collect()
    rows = _read(table)
    request = Request(priors=PRIORS, over=OVER)
    measures, of_arrays = request.selected.measures, request.select(ARRAYS).on_curve
    ranked = ranked_cells(rows)
    wide = curve_totals(keyed(table, **NAMED, by=KEYS), request).wide
    curves = curve_tables(rows).filter(pl.col("pos") > 0).collect().lazy()
    return {
        "evaluate": lambda _: evaluate(table),
        "  rows sorted as one array, and cells": lambda _: ranked_cells(rows),
        "  sums of all measures": lambda _: array_sums(ranked, of_arrays),
        "  rows of the result": lambda _: tidy(wide.lazy(), KEYS, measures).collect(),
        "evaluate of a plan": evaluate,
        "sums of curves, as expressions": lambda _: per_key(curves, KEYS, measures).collect(),
    }


def timed(
    works: dict[str, Callable[[pl.LazyFrame], object]], frame: pl.LazyFrame, repeats: int
) -> dict[str, tuple[float, float]]:
    """Least wall clock and processor seconds."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(repeats + 1):
        for name, work in works.items():
            used, start = _processor(), time.perf_counter()
            work(frame)
            runs[name].append((time.perf_counter() - start, _processor() - used))
    return {name: tuple(map(min, zip(*found[1:], strict=True))) for name, found in runs.items()}  # type: ignore[misc]


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    forms = {
        made.__doc__.splitlines()[0]: drained(made)
        for made in (of_curve, window, grouped, by_columns)
    }
    cases: dict[str, dict[str, Any]] = {
        "continuous scores": {},
        "scores of 3 decimals": {"decimals": 3},
        "continuous scores, half of them positive": {"positives": 0.5},
    }
    for name, made in cases.items():
        frame = predictions(asked.rows, **made).lazy()
        works = {"bare sort of the table": bare_sort, **forms, **stages(frame)}
        table = Table(title=f"{asked.rows:,} rows, {name}", title_justify="left")
        for column in ("work", "seconds", "of processors"):
            table.add_column(column, justify="left" if column == "work" else "right")
        for work, (wall, processor) in timed(works, frame, asked.repeats).items():
            table.add_row(work, f"{wall:.2f}", f"{processor:.2f}")
        Console(width=120).print(table)


if __name__ == "__main__":
    main()
