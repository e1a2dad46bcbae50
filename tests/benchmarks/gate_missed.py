"""How often `gate` passes a challenger that misses positives, and so is worse by just the margin.

``python tests/benchmarks/gate_missed.py [--replicates N] [--seed S] [--sizes 20+100 …]``: of the
interval of `gate` on one test set, at α = 0.05, so that a pass may have the rate 0.025. Scores of
the champion are normal, those of the two models correlated. The challenger's positives are

hidden 10 %, hidden 5 %
    of them like negatives, the others as good as the champion's;
lowest 3 %
    of them below all negatives;
spread
    spread twice as widely as negatives, with an AUC that is 0.04 less;
at the bound
    below all negatives in so large a share that their number shows none of them with the chance
    0.025: where `gate` has too few positives, only such margins pass.

With ``--write`` the counts go to ``src/polaroc/comparison/gate_rates.csv``, of which `gate` quotes
the largest rate of each size, and the table to ``docs/concepts/tests.md``; else it is printed.
"""

import argparse
import re
import runpy
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import norm

from polaroc.comparison.missed_positives import AT_BOUND, ENOUGH, RATES, bound

HERE = Path(__file__).parent
SMALL = runpy.run_path(str(HERE / "gate_small.py"), run_name="gate_small")
sys.path.append(str(HERE.parent / "support"))
import binormal  # noqa: E402

PAGE = HERE.parents[1] / "docs" / "concepts" / "tests.md"
MARKED = re.compile(r"<!-- gate rates -->\n.*?<!-- end -->", re.DOTALL)
SIZES = ("20+100", "30+300", "50+400", "100+400", "200+600", "500+1500")
SHAPES = ("hidden 10 %", "hidden 5 %", "lowest 3 %", "spread", AT_BOUND)
AUCS, CORRELATIONS = (0.9, 0.95), (0.5, 0.9)
ALPHA, SPREAD, OTHERWISE_WORSE = 0.05, 2.0, 0.04
MEASURES = ("auc", "iauprec")
LOWEST = -40.0
BATCH = 500


class Positives(NamedTuple):
    """The challenger's positives: a share in another place, and the mean and spread of the rest."""

    share: float
    place: float
    mean: float
    spread: float = 1.0

    def drawn(self, rng: np.random.Generator, noise: np.ndarray) -> np.ndarray:
        """Their scores, from noise."""
        is_missed = rng.random(noise.shape) < self.share
        return np.where(is_missed, self.place + noise, self.mean + self.spread * noise)

    def area(self, measure: str) -> float:
        """The measure of the population."""
        cuts = np.linspace(12, -8, 40_001)
        f = norm.sf(cuts)
        t = self.share * norm.sf(cuts - self.place)
        t += (1 - self.share) * norm.sf((cuts - self.mean) / self.spread)
        # Up to the last positive all negatives have been called.
        last = np.linspace(t[-1], 1, 1000)
        f, t = np.append(f, np.ones(1000)), np.append(t, last)
        if measure == "auc":
            return float(np.trapezoid(t, f))
        return sum(
            weight * float(np.trapezoid(t / (t + skew * f), t))
            for skew, weight in SMALL["NODES"][measure]
        )


def positives_of(shape: str, auc: float, count: int) -> Positives:
    """The challenger's, beside a champion with this AUC."""
    shift = binormal.shift(auc)
    if shape == "spread":
        mean = float(norm.ppf(auc - OTHERWISE_WORSE)) * (1 + SPREAD**2) ** 0.5
        return Positives(0.0, 0.0, mean, SPREAD)
    if shape == AT_BOUND:
        return Positives(bound(count, ALPHA) / auc, LOWEST, shift)
    kind, share, _ = shape.split()
    return Positives(int(share) / 100, 0.0 if kind == "hidden" else LOWEST, shift)


def counts(
    sizes: tuple[int, int], measure: str, shape: str, auc: float, correlation: float,
    replicates: int, seed: int,
) -> dict[str, object]:  # fmt: skip
    """In how many samples of a kind the challenger passes, and fails, at the margin."""
    rng = np.random.default_rng(
        [seed, *sizes, SHAPES.index(shape), int(1000 * auc), int(10 * correlation)]
    )
    own = positives_of(shape, auc, sizes[0])
    margin = Positives(0.0, 0.0, binormal.shift(auc)).area(measure) - own.area(measure)
    passed = failed = 0
    for start in range(0, replicates, BATCH):
        shared = rng.normal(size=(min(BATCH, replicates - start), sum(sizes)))
        champion, challenger = (
            correlation**0.5 * shared + (1 - correlation) ** 0.5 * rng.normal(size=shared.shape)
            for _ in range(2)
        )
        champion[:, : sizes[0]] += binormal.shift(auc)
        challenger[:, : sizes[0]] = own.drawn(rng, challenger[:, : sizes[0]])
        models = (SMALL["measured"](scores, sizes[0], measure) for scores in (champion, challenger))
        _, passes, fails = next(SMALL["verdicts"](*models, margin, measure, ALPHA))
        passed, failed = passed + int(passes.sum()), failed + int(fails.sum())
    return {
        "measure": measure, "positives": sizes[0], "negatives": sizes[1], "shape": shape,
        "auc": auc, "correlation": correlation, "margin": round(margin, 6), "passed": passed,
        "failed": failed, "of": replicates,
    }  # fmt: skip


def simulated(
    sizes: list[str], measures: list[str], replicates: int, seed: int
) -> Iterator[dict[str, object]]:
    """The counts of all kinds of samples, where `gate` has an interval."""
    for measure, given in product(measures, sizes):
        positives, negatives = map(int, given.split("+"))
        if SMALL["refused"](positives, negatives, measure):
            continue
        for shape, auc, correlation in product(SHAPES, AUCS, CORRELATIONS):
            if shape != AT_BOUND or (measure == "auc" and positives < ENOUGH):
                yield counts(
                    (positives, negatives), measure, shape, auc, correlation, replicates, seed
                )


def page_table(rates: pl.DataFrame) -> str:
    """The largest rates of passes by size and shape, as a table of the page."""
    largest = rates.with_columns(rate=pl.col("passed") / pl.col("of")).pivot(
        "shape", index=["measure", "positives", "negatives"], values="rate",
        aggregate_function="max", maintain_order=True,
    )  # fmt: skip
    lines = [f"| cases, measure | {' | '.join(SHAPES)} |", "|---" * (len(SHAPES) + 1) + "|"]
    for row in largest.iter_rows(named=True):
        cells = ["–" if row[shape] is None else f"{row[shape]:.3f}" for shape in SHAPES]
        size = f"{row['positives']} + {row['negatives']:,}, {row['measure'].upper()}"
        lines.append(f"| {size} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the rates, or write the counts and the table of the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES))
    parser.add_argument("--measures", nargs="+", default=list(MEASURES), choices=MEASURES)
    parser.add_argument("--write", action="store_true", help="write the counts and the page")
    options = parser.parse_args()
    found = pl.DataFrame(
        list(simulated(options.sizes, options.measures, options.replicates, options.seed))
    )
    if not options.write:
        print(page_table(found))
        return
    found.write_csv(RATES)
    table = f"<!-- gate rates -->\n{page_table(found)}<!-- end -->"
    PAGE.write_text(MARKED.sub(table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
