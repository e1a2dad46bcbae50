"""How often intervals hold where cases come in clusters, or with sampling weights.

``python tests/benchmarks/dependent_cases.py [--only clusters|weights] [--samples N]
[--seed S]``: scores are normal in each class, with an AUC of 0.9; the AUC and IAUPREC over 0.05
to 0.20 at a nominal 0.95, with the share of samples whose interval holds the true value, its
standard error, and the mean width.

Clusters
    Cases of a cluster, such as the scans of a patient, share half the variance of their scores.
    Either all of them are of one class, or each is positive with probability 0.3.
Sampling weights
    Of a population scores in the upper part are all kept, of the others one in ten, which weighs
    ten; or every case has a weight that says nothing of its score.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import polaroc as pr

sys.path.append(str(Path(__file__).parents[1] / "support"))
import binormal

OVER, AUC, ALIKE = (0.05, 0.20), 0.9, 0.5
NAMES = {"truth": "truth", "score": "score"}
ASKED = {"measures": ["auc", "iauprec"], "over": OVER, "priors": 0.1}


class Clusters(NamedTuple):
    """How many clusters of positives and of negatives, or of both, and how many cases in each."""

    of_positives: int
    of_negatives: int = 0  # 0: each case is of either class
    size: int = 10
    uneven: bool = False

    @property
    def words(self) -> str:
        """The line of the table."""
        sizes = f"1 to {2 * self.size - 1}" if self.uneven else f"{self.size}"
        if not self.of_negatives:
            return f"{self.of_positives} of both classes, {sizes} cases each"
        return f"{self.of_positives} + {self.of_negatives} of one class, {sizes} cases each"


CLUSTERS = (
    Clusters(5, 15), Clusters(10, 10), Clusters(20), Clusters(10, 10, uneven=True),
    Clusters(10, 30), Clusters(20, uneven=True), Clusters(25, 75), Clusters(50),
)  # fmt: skip

WEIGHTS = {
    "by score": "one of ten below a score, weights 1 and 10; about 160 + 440 cases",
    "any": "weights that say nothing, fractions; 60 + 240 cases",
    "whole": "weights that say nothing, whole numbers; 60 + 240 cases",
}


def in_clusters(rng: np.random.Generator, kind: Clusters) -> pl.DataFrame:
    """One sample."""
    count = kind.of_positives + kind.of_negatives
    sizes = np.full(count, kind.size)
    if kind.uneven:
        sizes = rng.integers(1, 2 * kind.size, count)
    member = np.repeat(np.arange(count), sizes)
    truth = member < kind.of_positives if kind.of_negatives else rng.random(member.size) < 0.3
    shared = rng.normal(size=count)[member]
    noise = ALIKE**0.5 * shared + (1 - ALIKE) ** 0.5 * rng.normal(size=member.size)
    return pl.DataFrame(
        {"truth": truth, "score": noise + binormal.shift(AUC) * truth, "cluster": member}
    )


def cluster_limits(kind: Clusters, samples: int, seed: int) -> Iterator[pl.DataFrame]:
    """The measures with the limits of each method, of all samples."""
    rng = np.random.default_rng([seed, *map(int, kind)])
    table = pl.concat(
        in_clusters(rng, kind).with_columns(sample=pl.lit(place)) for place in range(samples)
    )
    found = pr.evaluate(table, **NAMES, by="sample", cluster="cluster", **ASKED, intervals=True)
    yield found.with_columns(method=pl.lit("by cluster"))
    alone = pr.evaluate(table, **NAMES, by="sample", **ASKED, intervals=True)
    yield alone.with_columns(method=pl.lit("clusters neglected"))


def weighted(rng: np.random.Generator, kind: str) -> pl.DataFrame:
    """One weighted sample."""
    if kind == "by score":
        truth = np.arange(2_000) < 200
        score = rng.normal(size=truth.size) + binormal.shift(AUC) * truth
        kept = (score > 1) | (rng.random(truth.size) < 0.1)
        truth, score = truth[kept], score[kept]
        weight = np.where(score > 1, 1.0, 10.0)
    else:
        truth = np.arange(300) < 60
        score = rng.normal(size=truth.size) + binormal.shift(AUC) * truth
        weight = rng.lognormal(size=truth.size)
        if kind == "whole":
            weight = np.ceil(3 * weight)
    return pl.DataFrame({"truth": truth, "score": score, "weight": weight})


def weight_limits(kind: str, samples: int, seed: int) -> Iterator[pl.DataFrame]:
    """The measures with the limits of each method, of all samples."""
    rng = np.random.default_rng([seed, list(WEIGHTS).index(kind)])
    table = pl.concat(
        weighted(rng, kind).with_columns(sample=pl.lit(place)) for place in range(samples)
    )
    found = pr.evaluate(table, **NAMES, by="sample", weight="weight", **ASKED, intervals=True)
    yield found.with_columns(method=pl.lit("by weight"))
    if kind != "any":
        counts = pl.col("weight").ceil()
        found = pr.evaluate(table, **NAMES, by="sample", count=counts, **ASKED, intervals=True)
        yield found.with_columns(method=pl.lit("taken for counts"))


def held(found: pl.DataFrame) -> pl.DataFrame:
    """Per measure the share of limits that hold what is true."""
    true = {"auc": AUC, "iauprec": binormal.iauprec(OVER, AUC)}
    holds = pl.col("measure").replace_strict(true).is_between("lower", "upper")
    given = found.drop_nulls("lower")
    return given.group_by("measure", maintain_order=True).agg(
        pl.len().alias("of"), holds.mean().alias("coverage"),
        (holds.std(ddof=0) / pl.len().sqrt()).alias("std_error"),
        (pl.col("upper") - pl.col("lower")).mean().alias("width"),
    )  # fmt: skip


def show(place: str, found: pl.DataFrame) -> None:
    """Print a line per method and measure."""
    for measure, of, coverage, error, width in held(found).iter_rows():
        method = found["method"][0]
        print(f"{place} | {method} | {measure} | {of} | {coverage:.3f} ({error:.3f}) | {width:.3f}",
              flush=True)  # fmt: skip


def main() -> None:
    """Print the coverage of every kind of sample."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=("clusters", "weights"))
    parser.add_argument("--kinds", type=int, default=None, help="only the first so many of each")
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started, size = time.perf_counter(), (options.samples, options.seed)
    if options.only != "weights":
        for kind in CLUSTERS[: options.kinds]:
            for found in cluster_limits(kind, *size):
                show(kind.words, found)
    if options.only != "clusters":
        for kind, words in list(WEIGHTS.items())[: options.kinds]:
            for found in weight_limits(kind, *size):
                show(words, found)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
