"""`evaluate` of a lazy frame over that of the frame, and of a scan over reading and evaluating.

`just lazy-time` prints a line per number of rows: the four alternate, and of each the least time
counts; then the peak memory of both ways from Parquet, each in a process of its own.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import contenders
import polars as pl
from bench import peak
from tables import predictions

ROWS = (2_000_000, 10_000_000)


def least(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least seconds of each."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = perf_counter()
            work()
            found[name].append(perf_counter() - start)
    return {name: min(seconds) for name, seconds in found.items()}


def from_parquet(file: Path, way: str) -> None:
    """All measures of a file."""
    contenders.evaluate(pl.scan_parquet(file) if way == "scan" else pl.read_parquet(file))


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peak:
        from_parquet(Path(given.peak[0]), given.peak[1])
        print(peak() / 1e9)
        return
    for rows in ROWS:
        frame = predictions(rows)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "predictions.parquet"
            frame.write_parquet(file, row_group_size=1_000_000)
            works: dict[str, Callable[[], object]] = {
                "frame": lambda frame=frame: contenders.evaluate(frame),
                "lazy": lambda frame=frame: contenders.evaluate(frame.lazy()),
                "scan": lambda file=file: from_parquet(file, "scan"),
                "read": lambda file=file: from_parquet(file, "read"),
            }
            found = least(works, given.rounds)
            words = [sys.executable, __file__, "--peak", str(file)]
            scan, read = (
                float(subprocess.run([*words, way], check=True, capture_output=True).stdout)
                for way in ("scan", "read")
            )
        print(
            f"{rows:,} rows: lazy {found['lazy'] / found['frame']:.2f} times the frame, scan "
            f"{found['scan'] / found['read']:.2f} times reading and evaluating; peak of a scan "
            f"{scan:.2f} GB, of reading and evaluating {read:.2f} GB",
            flush=True,
        )


if __name__ == "__main__":
    main()
