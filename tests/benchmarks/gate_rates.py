"""How often `gate` passes a challenger that is worse by exactly the margin.

``python tests/benchmarks/gate_rates.py [--replicates N] [--seed S]``: at this edge a pass, and
a fail, may each have the probability α/2.

One test set
    Scores of either class are normal, and those of the two models correlated. The margin is
    the difference of the true measures of champion and challenger.
Folds
    The samples and models of ``error_rates.py``: algorithms that are equal over all samples
    (margin 0), or of which the champion leads (the margin is its mean lead in as many other
    samples).

``--only equal``: one test set and two models with the same true measure, of which
``compare(target="trained")`` then finds a difference at 0.05 and 0.005 in the share printed.

Rates are printed with their standard errors.
"""

import argparse
import runpy
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import polaroc as pr
from polaroc.comparison.fitted import single_measure
from polaroc.comparison.verdict import decide
from polaroc.uncertainty.scored_cases import read_cases
from polaroc.uncertainty.small_samples import difference_limits
from polaroc.uncertainty.test_sets import of_test_set

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "support"))
import binormal  # noqa: E402
from paired import paired_test  # noqa: E402

OVER, ALPHA = (0.05, 0.20), 0.05
AUCS = (0.90, 0.87)
SIZES = ((20, 80), (50, 450), (200, 1800))
CORRELATIONS = (0.5, 0.9)
# The split, the learner, and how much farther apart the champion's classes are.
FOLDS = (
    ({"folds": 10}, "linear", 0.0),
    ({"folds": 10}, "linear", 0.2),
    ({"folds": 10}, "nearest", 0.0),
    ({"folds": 10, "repeats": 10}, "linear", 0.0),
    ({"blocks": 20}, "linear", 0.0),
)
BATCH = 200


def true_margin(measure: str) -> float:
    """How much worse the challenger truly is."""
    champion, challenger = (
        auc if measure == "auc" else binormal.iauprec(OVER, auc) for auc in AUCS
    )
    return champion - challenger


def samples(
    rng: np.random.Generator,
    replicates: int,
    sizes: tuple[int, int],
    correlation: float,
    aucs: tuple[float, float] = AUCS,
) -> pl.DataFrame:
    """Scores of both models for the cases of each replicate."""
    truth = np.tile(np.arange(sum(sizes)) < sizes[0], (replicates, 1))
    shared = rng.normal(size=truth.shape)
    return pl.concat(
        pl.DataFrame(
            {
                "replicate": np.repeat(np.arange(replicates), sum(sizes)),
                "id": np.tile(np.arange(sum(sizes)), replicates),
                "model": name,
                "truth": truth.ravel(),
                "score": (
                    binormal.shift(auc) * truth
                    + correlation**0.5 * shared
                    + (1 - correlation) ** 0.5 * rng.normal(size=truth.shape)
                ).ravel(),
            }
        )
        for name, auc in zip(("champion", "challenger"), aucs, strict=True)
    )


def paired_verdicts(table: pl.DataFrame, measure: str, margin: float) -> list[str]:
    """The verdict on each replicate, as `gate` has it of one at a time."""
    replicates = (
        read_cases(pr.cases(part, truth="truth", score="score"))
        for _, part in table.group_by("replicate", maintain_order=True)
    )
    one = single_measure(measure, "observed", OVER)
    # In the order of their names, the challenger comes first.
    limits = (
        difference_limits(of_test_set(cases.scored, [one]), (0, 1), 1 - ALPHA, measure)
        for cases in replicates
    )
    return [decide(*ends, margin, higher=True) for ends in limits]


def equal_rates(replicates: int, seed: int) -> Iterator[list[str]]:
    """Per sizes, correlation and measure how often two equal models are told apart."""
    for sizes in SIZES:
        for correlation in CORRELATIONS:
            rng = np.random.default_rng([seed, 1, *sizes, int(100 * correlation)])
            p_values: dict[str, list[float]] = {"auc": [], "iauprec": []}
            for start in range(0, replicates, BATCH):
                count = min(BATCH, replicates - start)
                table = samples(rng, count, sizes, correlation, (AUCS[0], AUCS[0]))
                for measure, found in p_values.items():
                    at = {"over": OVER} if measure == "iauprec" else {}
                    for _, one in table.group_by("replicate"):
                        pairs = paired_test(one, measure, truth="truth", score="score", **at)
                        found += pairs["p_value"].to_list()
            for measure, found in p_values.items():
                shares = [(np.array(found) < alpha).mean() for alpha in (0.05, 0.005)]
                errors = [(p * (1 - p) / replicates) ** 0.5 for p in shares]
                rates = [f"{p:.4f} ({e:.4f})" for p, e in zip(shares, errors, strict=True)]
                design = f"{sizes[0]} + {sizes[1]} cases, correlation {correlation:g}"
                yield [design, measure, *rates]


def fold_verdicts(values: np.ndarray, margin: float, ratio: float) -> Iterator[str]:
    """The verdict of `gate` on each replicate: replicates × folds × (champion, challenger)."""
    for one in values:
        measures = pl.DataFrame(
            {
                "model": ["champion", "challenger"] * len(one),
                "fold": np.repeat(np.arange(len(one)), 2),
                "measure": "iauprec",
                "estimate": one.ravel(),
            }
        )
        yield pr.gate(
            measures, champion="champion", challenger="challenger", margin=margin, level=1 - ALPHA,
            test_train_ratio=ratio,
        ).verdict  # fmt: skip


def rates(verdicts: Iterable[str]) -> list[str]:
    """Shares of the verdicts with their standard errors."""
    given = list(verdicts)
    shares = {name: given.count(name) / len(given) for name in ("pass", "fail")}
    return [f"{p:.4f} ({(p * (1 - p) / len(given)) ** 0.5:.4f})" for p in shares.values()]


def main() -> None:
    """Print the rates of both designs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("cases", "folds", "equal"))
    options = parser.parse_args()
    started = time.perf_counter()
    if options.only == "equal":
        for row in equal_rates(options.replicates, options.seed):
            print(" | ".join(row))
        return
    title = f"Rates (SE) where the challenger is worse by the margin, α/2 = {ALPHA / 2:g}"
    drawn = Table(title=f"{title}, {options.replicates} replicates", title_justify="left")
    for name in ("design", "measure", "margin", "pass", "fail"):
        drawn.add_column(name, justify="left" if name == "design" else "right")
    if options.only != "folds":
        for sizes in SIZES:
            for correlation in CORRELATIONS:
                design = f"{sizes[0]} + {sizes[1]} cases, correlation {correlation:g}"
                rng = np.random.default_rng([options.seed, *sizes, int(100 * correlation)])
                given: dict[str, list[str]] = {"auc": [], "iauprec": []}
                for start in range(0, options.replicates, BATCH):
                    count = min(BATCH, options.replicates - start)
                    table = samples(rng, count, sizes, correlation)
                    for measure, verdicts in given.items():
                        verdicts += paired_verdicts(table, measure, true_margin(measure))
                for measure, verdicts in given.items():
                    drawn.add_row(design, measure, f"{true_margin(measure):.3f}", *rates(verdicts))
    if options.only != "cases":
        errors = runpy.run_path(str(HERE / "error_rates.py"))
        for split, learner, ahead in FOLDS:
            setting = errors["Setting"](learner=learner, ahead=ahead, **split)

            def drawn_values(seed: int, setting=setting) -> np.ndarray:
                found = errors["estimates"]("population", setting, options.replicates, seed)
                return found[:, :, :2, -1]

            margin = 0.0
            if ahead:
                other = drawn_values(options.seed + 1).mean(axis=(0, 1))
                margin = float(other[0] - other[1])
            values = drawn_values(options.seed)
            verdicts = fold_verdicts(values, margin, setting.ratio)
            drawn.add_row(
                f"{setting.split}, {learner}", "iauprec", f"{margin:.3f}", *rates(verdicts)
            )
    Console(width=110).print(drawn)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
