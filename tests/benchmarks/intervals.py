"""What intervals cost: `evaluate` with them, and with clusters, over `evaluate` without.

`just intervals-time` prints a line per table and set of measures, by the clock and by the time of
all processors, which tells more where other programs run; rounds of the three alternate, and of
each the least time counts.
"""

import argparse
from time import perf_counter, process_time

import numpy as np
import polars as pl

import polaroc as pr

COLUMNS = {"truth": "truth", "score": "score", "by": "key"}
TABLES = ((2_000_000, 60), (2_000_000, 20_000), (8_000_000, 60))
SHARE, SHIFT, CLUSTER = 0.1, 1.2, 5
ASKED = {
    "areas": {"measures": ["auc", "auprec", "iauprec"], "priors": ["observed", 0.5, 0.1, 0.01]},
    "default": {},
}
OVER = (0.05, 0.2)


def table(rows: int, keys: int) -> pl.DataFrame:
    """Normal scores of two classes, and clusters of some cases each."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < SHARE
    return pl.DataFrame(
        {
            "key": rng.integers(0, keys, rows), "truth": truth,
            "score": rng.normal(size=rows) + SHIFT * truth,
            "cluster": rng.integers(0, rows // CLUSTER, rows),
        }
    )  # fmt: skip


CLOCKS = {"clock": perf_counter, "processors": process_time}


def times(cases: pl.DataFrame, asked: dict[str, object], rounds: int) -> dict[str, list[float]]:
    """The least times without intervals, with them, and with clusters, in seconds, by clock."""
    kinds = [{}, {"intervals": True}, {"intervals": True, "cluster": "cluster"}]
    least = {name: [float("inf")] * len(kinds) for name in CLOCKS}
    for _ in range(rounds):
        for place, more in enumerate(kinds):
            starts = {name: clock() for name, clock in CLOCKS.items()}
            pr.evaluate(cases, **COLUMNS, over=OVER, **asked, **more)
            for name, clock in CLOCKS.items():
                least[name][place] = min(least[name][place], clock() - starts[name])
    return least


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tables", type=int, default=len(TABLES), help="only the first so many")
    given = parser.parse_args()
    for rows, keys in TABLES[: given.tables]:
        cases = table(rows, keys)
        for name, asked in ASKED.items():
            for clock, (plain, sure, clustered) in times(cases, asked, given.rounds).items():
                print(
                    f"{rows:,} rows, {keys:,} keys, {name}, {clock}: {plain:.2f} s; intervals "
                    f"{sure / plain:.2f} times; clusters {clustered / sure:.2f} times that",
                    flush=True,
                )


if __name__ == "__main__":
    main()
