"""How often the intervals of one test set hold what is true, and how wide they are.

``python tests/benchmarks/coverage.py [--replications N] [--json F]``:
binormal scores with AUC 0.8, 0.9 and 0.995, continuous and in five levels, 20 to
500 positives and 1 to 200 negatives per positive, from seeds; AUC, AUPREC at
four priors and IAUPREC over 0.05 to 0.20, at a nominal 0.95, for N test sets of each
kind (a quarter where there are 500 positives). An interval that is not given counts
neither way.
``--cases 20+10000 …``: these numbers of positives and negatives in place of the grid's.
``--balanced``: sens, AUC over the range, accsens and the equal error in place of the areas.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

import polaroc as pr

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import binormal

OVER = (0.05, 0.20)
PRIORS = [0.5, 0.2, 0.1, 0.01]
POSITIVES, RATIOS, AUCS = (20, 50, 100, 500), (1, 4, 20, 200), (0.8, 0.9, 0.995)
SIZES = tuple(product(POSITIVES, RATIOS))
ASKED = {"priors": PRIORS, "over": OVER}
AREAS, BALANCED = ("auc", "auprec", "iauprec"), ("sens", "auc_range", "accsens", "equal_error")
LEAST, SURE = 0.93, 2.576
KEYS = ["measure", "prior", "auc", "rounded", "positives", "ratio"]


@cache
def true_values(auc: float, rounded: bool, measures: tuple[str, ...]) -> pl.DataFrame:
    """What the measures truly are."""
    schema = {"measure": pl.String, "prior": pl.Float64, "true": pl.Float64}
    if measures == BALANCED:
        found = binormal.balanced_values(OVER, auc, rounded=rounded)
        rows = [(name, None, value) for name, value in found.items()]
        return pl.DataFrame(rows, schema=schema, orient="row")
    rows = [("auc", None, binormal.true_auc(auc, rounded=rounded))]
    rows += [("auprec", prior, binormal.auprec(prior, auc, rounded=rounded)) for prior in PRIORS]
    rows += [("iauprec", None, binormal.iauprec(OVER, auc, rounded=rounded))]
    return pl.DataFrame(rows, schema=schema, orient="row")


def covered(found: pl.DataFrame, true: pl.DataFrame) -> pl.DataFrame:
    """How many of the limits are given, how many of those hold, and their mean width."""
    joined = found.join(true, on=["measure", "prior"], nulls_equal=True).drop_nulls("lower")
    return joined.group_by("measure", "prior").agg(
        pl.len().cast(pl.Int64).alias("given"),
        pl.col("true").is_between("lower", "upper").sum().cast(pl.Int64).alias("hold"),
        (pl.col("true") < pl.col("lower")).sum().cast(pl.Int64).alias("too_high"),
        (pl.col("upper") - pl.col("lower")).mean().alias("width"),
    )


def grid(
    replications: int,
    sizes: Sequence[tuple[int, int]] = SIZES,
    first_seed: int = 0,
    measures: tuple[str, ...] = AREAS,
) -> pl.DataFrame:
    """Coverage in every kind of test set."""
    parts, started = [], time.perf_counter()
    kinds = list(product(AUCS, (False, True), sizes))
    for seed, (auc, rounded, (positives, ratio)) in enumerate(kinds, first_seed):
        true = true_values(auc, rounded, measures)
        count = replications // 4 if positives == max(POSITIVES) else replications
        table = binormal.samples(
            count, positives, positives * ratio, auc, rounded=rounded, seed=seed
        )
        limits = pr.evaluate(
            table, truth="truth", score="score", by="replication", count="count", **ASKED,
            measures=list(measures), intervals=True,
        )  # fmt: skip
        place = {"auc": auc, "rounded": rounded}
        size = {"positives": positives, "ratio": ratio, "replications": count}
        named = {name: pl.lit(value) for name, value in (place | size).items()}
        parts.append(covered(limits, true).with_columns(**named))
        print(
            f"{seed + 1 - first_seed}/{len(kinds)}: {time.perf_counter() - started:.0f} s",
            file=sys.stderr,
        )
    share = pl.col("hold") / pl.col("given")
    return pl.concat(parts).select(
        *KEYS, "replications", "given", "too_high", "width",
        share.alias("coverage"),
        (share * (1 - share) / pl.col("given")).sqrt().alias("std_error"),
    )  # fmt: skip


def report(found: pl.DataFrame, console: Console) -> None:
    """One row per measure over the whole grid, then the cells of each."""
    below = pl.col("coverage") + SURE * pl.col("std_error") < LEAST
    table = Table(title="Coverage of nominal 0.95 over the grid")
    for name in ("measure", "prior", "given", "mean", "least", "± its error", "< 0.93"):
        table.add_column(name)
    rows = found.group_by("measure", "prior", maintain_order=True).agg(
        pl.col("given").sum() / pl.col("replications").sum(),
        pl.col("coverage").mean().alias("mean"),
        pl.col("coverage").min().alias("least"),
        pl.col("std_error").sort_by("coverage").first(),
        below.sum().alias("below"),
    )
    for measure, prior, given, mean, least, error, count in rows.iter_rows():
        at = "" if prior is None else f"{prior:g}"
        numbers = f"{given:.3f}", f"{mean:.3f}", f"{least:.3f}", f"{error:.3f}", str(count)
        table.add_row(measure, at, *numbers)
    console.print(table)
    for (measure, prior), part in found.group_by("measure", "prior", maintain_order=True):
        at = "" if prior is None else f" at prior {prior:g}"
        cells = Table(title=f"{measure}{at}, coverage (width)")
        cells.add_column("AUC, scores")
        for positives, ratio in part.select("positives", "ratio").unique().sort(pl.all()).rows():
            cells.add_column(f"{positives} + {positives * ratio}")
        for (auc, rounded), own in part.group_by("auc", "rounded", maintain_order=True):
            ordered = own.sort("positives", "ratio")
            numbers = [
                f"{one:.3f} ({width:.2f})"
                for one, width in ordered.select("coverage", "width").iter_rows()
            ]
            cells.add_row(f"{auc:g}, {'5 levels' if rounded else 'continuous'}", *numbers)
        console.print(cells)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--cases", nargs="+", help="such as 20+10000, in place of the grid's")
    parser.add_argument("--seed", type=int, default=0, help="of the first kind of test set")
    parser.add_argument("--balanced", action="store_true", help="measures of balanced points")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    measures = BALANCED if asked.balanced else AREAS
    given = [tuple(map(int, cases.split("+"))) for cases in asked.cases or ()]
    sizes = [(positives, negatives // positives) for positives, negatives in given] or SIZES
    found = grid(asked.replications, sizes, asked.seed, measures)
    report(found.sort(KEYS, nulls_last=True), Console(width=260))
    if asked.json:
        asked.json.write_text(json.dumps(found.to_dicts(), indent=1))


if __name__ == "__main__":
    main()
