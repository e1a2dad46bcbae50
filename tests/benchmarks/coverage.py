"""How often the intervals of one test set hold what is true, and how wide they are.

``python tests/benchmarks/coverage.py [--replications N] [--draws B] [--json FILE]``:
binormal scores with AUC 0.898 and four negatives per positive, from a seed; AUC
and IAUPREC over 0.05 to 0.20 at a nominal 0.95, for 20, 100 and 500 positives.
N test sets are resampled, B draws each; the methods without resampling see ten
times as many. Each cell is coverage ± its standard error (mean width).
"""

import argparse
import json
import sys
import time
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

import polaroc as pr
from polaroc.draw_limits import accelerations, limits_of_draws
from polaroc.draws import DRAW, draws_of_cells, generator
from polaroc.measures import per_key
from polaroc.wanted import chosen

sys.path.insert(0, str(Path(__file__).parents[1]))
from binormal import replications, true_values

OVER = (0.05, 0.20)
SIZES = (20, 100, 500)
ASKED = {"priors": [], "over": OVER, "measures": ["auc", "iauprec"]}
METHODS = ("wald", "logit", "percentile", "bca", "bootstrap logit")
NAMES = {"truth": "truth", "score": "score", "by": "replication"}


def from_influence(count: int, positives: int) -> pl.DataFrame:
    """Limits of the methods that need no draws."""
    table = replications(count, positives, seed=positives)
    found = [
        pr.evaluate(table, **NAMES, **ASKED, intervals=method).with_columns(
            pl.lit(method).alias("method")
        )
        for method in ("wald", "logit")
    ]
    return pl.concat(found).select("method", "measure", "lower", "upper")


def from_draws(count: int, positives: int, draws: int) -> pl.DataFrame:
    """Limits of the methods that resample, all from the same draws."""
    curves = pr.curve(replications(count, positives, seed=positives), **NAMES)
    measures = chosen(["auc", "iauprec"], [], OVER, "exact").measures
    numbers = [measure.estimate.alias(measure.name) for measure in measures]
    rows = []
    for (key,), curve in curves.group_by("replication", maintain_order=True):
        roc = curve.drop("replication")
        whole = per_key(roc.lazy(), [], measures).select(numbers).collect()
        drawn = pl.concat(
            per_key(block.lazy(), [DRAW], measures).select(numbers).collect()
            for block in draws_of_cells(roc, generator(0, (key,)), draws)
        )
        bent = accelerations(roc, measures)
        smallest = 1 / (2 * roc["positives"][0] * roc["negatives"][0])
        for measure, acceleration in zip(measures, bent, strict=True):
            for method in ("percentile", "bca", "logit"):
                lower, upper, _, _ = limits_of_draws(
                    whole[measure.name][0], drawn[measure.name].to_numpy(), method, 0.95,
                    acceleration, smallest,
                )  # fmt: skip
                name = "bootstrap logit" if method == "logit" else method
                rows.append((name, measure.name, lower, upper))
    schema = {"method": pl.String, "measure": pl.String, "lower": pl.Float64, "upper": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def summary(limits: pl.DataFrame) -> pl.DataFrame:
    """Coverage, its standard error and the mean width, per method and measure."""
    true = pl.col("measure").replace_strict(true_values(OVER))
    covered = true.is_between("lower", "upper").fill_null(False)
    return limits.group_by("method", "measure", maintain_order=True).agg(
        covered.mean().alias("coverage"),
        (covered.mean() * (1 - covered.mean()) / pl.len()).sqrt().alias("std_error"),
        (pl.col("upper") - pl.col("lower")).mean().alias("width"),
        pl.len().cast(pl.Int64).alias("replications"),
    )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=500)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    started, parts = time.perf_counter(), []
    for positives in SIZES:
        limits = [
            from_influence(10 * asked.replications, positives),
            from_draws(asked.replications, positives, asked.draws),
        ]
        told = [summary(part) for part in limits]
        parts += [part.with_columns(pl.lit(positives).alias("positives")) for part in told]
        print(f"{positives} positives: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    found = pl.concat(parts)
    cells = {
        row[:3]: f"{row[3]:.3f} ± {row[4]:.3f} ({row[5]:.3f})"
        for row in found.select(
            "method", "measure", "positives", "coverage", "std_error", "width"
        ).iter_rows()
    }
    drawn = Table(title="Coverage of nominal 0.95 ± its standard error (width)")
    for name in ("method", "measure", *(f"{size} positives" for size in SIZES)):
        drawn.add_column(name)
    for measure in ("auc", "iauprec"):
        for method in METHODS:
            drawn.add_row(method, measure, *(cells[method, measure, size] for size in SIZES))
    Console(width=120).print(drawn)
    if asked.json:
        asked.json.write_text(json.dumps(found.to_dicts(), indent=1))


if __name__ == "__main__":
    main()
