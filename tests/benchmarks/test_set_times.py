"""Time of choose and gate on one test set, as multiples of evaluate on the same cases.

``python tests/benchmarks/test_set_times.py [--cases 300000] [--clock wall]``: five models (two for
the gate) whose scores go together, with and without clusters of five cases. The calls take turns,
and of each the least time counts. Time of all processors tells more than that of the wall where
other programs run.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import polars as pl

import polaroc as pr

OVER = (0.05, 0.20)
CLOCKS = {"wall": time.perf_counter, "processors": time.process_time}


def predictions(rows: int) -> pl.DataFrame:
    """Scores of five models, and clusters of about five cases."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < 0.1
    shared = rng.normal(size=rows) + 1.2 * truth
    return pl.DataFrame(
        {"id": np.arange(rows), "truth": truth, "cluster": rng.integers(0, rows // 5, rows)}
        | {f"model {i}": shared + 0.5 * rng.normal(size=rows) for i in range(5)}
    )


def calls(table: pl.DataFrame) -> dict[str, Callable[[], object]]:
    """What is timed."""
    names = [name for name in table.columns if name.startswith("model")]
    all_models = {"truth": "truth", "score": names, "case": "id", "over": OVER}
    two = all_models | {"score": names[:2]}
    gated = two | {"champion": names[0], "challenger": names[1], "margin": 0.01}
    return {
        "evaluate, 5 models": lambda: pr.evaluate(table, **all_models),
        "choose": lambda: pr.choose(table, **all_models),
        "choose, clusters": lambda: pr.choose(table, **all_models, cluster="cluster"),
        "evaluate, 2 models": lambda: pr.evaluate(table, **two),
        "gate": lambda: pr.gate(table, **gated),
        "gate, clusters": lambda: pr.gate(table, **gated, cluster="cluster"),
    }


def main() -> None:
    """Print the seconds and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, nargs="+", default=[300_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    options = parser.parse_args()
    clock = CLOCKS[options.clock]
    for rows in options.cases:
        timed = calls(predictions(rows))
        least = dict.fromkeys(timed, float("inf"))
        for _ in range(options.rounds):
            for name, call in timed.items():
                start = clock()
                call()
                least[name] = min(least[name], clock() - start)
        print(f"{rows:,} cases")
        for name, seconds in least.items():
            models = 2 if "gate" in name or "2" in name else 5
            ratio = seconds / least[f"evaluate, {models} models"]
            plain = least[name.partition(",")[0]] if "clusters" in name else seconds
            print(f"  {name:20} {seconds:7.3f} s  {ratio:5.2f} x evaluate  {seconds / plain:5.2f}")


if __name__ == "__main__":
    main()
