"""One key of many rows on a Spark cluster of two workers, and what happens when one is lost.

``python tests/benchmarks/spark_scale.py [--rows N] [--memory SIZE] [--ranges K] [--cases I ...]``
makes the data from a seed, starts a cluster of its own for each line (a master, workers and a
Connect server, each a process on loopback), evaluates the one key there, and holds the measures
against those of Polars. Times are of the query alone; only their ratios tell something, and where
both workers share two cores with other work, not even these.
"""

import argparse
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import ibis
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from tables import CHUNK, predictions

import polaroc as pr
from polaroc.warehouse.connections import collected

sys.path += [str(Path(__file__).parents[1] / name) for name in ("support", "warehouse")]
from spark_cluster import Cluster, spark_cluster

ASKED = {"truth": "truth", "score": "score", "priors": [0.5, 0.1, 0.01]}
TOLERANCE = 1e-9


class Case(NamedTuple):
    """What is run: on how many workers, in how many ranges, and whether one of them dies."""

    name: str
    workers: int
    ranges: int
    killed: bool = False


def cases(ranges: int) -> list[Case]:
    """Those of the table, the one that tells the others' time first."""
    return [
        Case(f"2 workers, {ranges} ranges", 2, ranges),
        Case(f"2 workers, {ranges} ranges, one killed halfway", 2, ranges, killed=True),
        Case(f"1 worker, {ranges} ranges", 1, ranges),
        Case("2 workers, a single range", 2, 1),
    ]


def made(folder: Path, rows: int) -> Path:
    """The rows of one key, in files of Parquet."""
    place = folder / "predictions"
    place.mkdir()
    for i, start in enumerate(range(0, rows, CHUNK)):
        part = predictions(min(CHUNK, rows - start), keys="none", seed=i)
        part.write_parquet(place / f"{i:05}.parquet", row_group_size=1_000_000)
    return place


class Outcome(NamedTuple):
    """The measures, the seconds they took, the most bytes on disk, the fate of the workers."""

    measures: pl.DataFrame
    seconds: float
    disk: int
    fate: str


class Disk(threading.Thread):
    """Looks at a folder every second and remembers its largest size."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.largest, self.done = folder, 0, threading.Event()

    def run(self) -> None:
        """Look until done."""
        while not self.done.wait(1):
            with suppress(FileNotFoundError):
                self.largest = max(self.largest, size_of(self.folder))


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def run(case: Case, files: Path, memory: str, halfway: float) -> Outcome:
    """Evaluate the key on a cluster of its own."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as place:
        settings = {"spark.sql.shuffle.partitions": str(max(case.ranges, 8))}
        with spark_cluster(
            Path(place), workers=case.workers, executor_memory=memory, settings=settings
        ) as cluster:
            session = SparkSession.builder.remote(cluster.address).create()
            table = ibis.pyspark.connect(session).read_parquet(files, table_name="predictions")
            killer = threading.Timer(halfway, cluster.workers[-1].kill)
            disk = Disk(Path(place) / "scratch")
            disk.start()
            started = time.perf_counter()
            if case.killed:
                killer.start()
            found = collected(pr.warehouse.evaluate(table, **ASKED, ranges=case.ranges))
            seconds = time.perf_counter() - started
            killer.cancel()
            disk.done.set()
            with suppress(Exception):
                session.stop()
            return Outcome(found, seconds, disk.largest, _fate(cluster, Path(place)))


def _fate(cluster: Cluster, folder: Path) -> str:
    """How many workers were there at the end, and how many tasks were done again."""
    alive = sum(worker.running for worker in cluster.workers)
    lines = (folder / "connect.log").read_text(errors="replace").splitlines()
    lost = sum("Lost executor" in line for line in lines)
    again = sum("Resubmitting" in line or "Resubmitted" in line for line in lines)
    left = f"{alive} of {len(cluster.workers)} workers left"
    return f"{left}; {lost} executors lost, {again} stages or tasks done again"


def check(found: pl.DataFrame, expected: pl.DataFrame) -> float:
    """The greatest difference to the measures of Polars, which must be next to none."""
    order = ["measure", "prior"]
    one, other = (frame.sort(order) for frame in (found, expected))
    assert one.select(*order, "positives", "negatives").equals(
        other.select(*order, "positives", "negatives")
    )
    worst = float(np.abs(one["estimate"].to_numpy() - other["estimate"].to_numpy()).max())
    assert worst < TOLERANCE, worst
    return worst


def main() -> None:
    """Run every case and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--memory", default="2g", help="heap of an executor")
    parser.add_argument("--ranges", type=int, default=64)
    parser.add_argument(
        "--cases", type=int, nargs="+", default=[0, 1, 2, 3], help="which lines, in which order"
    )
    asked = parser.parse_args()
    console = Console()
    table = Table("case", "s", "ratio", "difference", "bytes on disk per row", "workers")
    with tempfile.TemporaryDirectory() as place:
        files = made(Path(place), asked.rows)
        rows = pl.scan_parquet(files / "*.parquet")
        expected = pr.evaluate(rows, **ASKED, memory="2GB").collect()
        first = 0.0
        for case in [cases(asked.ranges)[i] for i in asked.cases]:
            of = run(case, files, asked.memory, first / 2)
            first = first or of.seconds
            worst, disk = f"{check(of.measures, expected):.1e}", f"{of.disk / asked.rows:.1f}"
            row = (
                case.name, f"{of.seconds:.0f}", f"{of.seconds / first:.2f}", worst, disk, of.fate
            )  # fmt: skip
            console.print(" | ".join(row))
            table.add_row(*row)
        parquet = size_of(files) / asked.rows
    console.print(
        f"{asked.rows:,} rows of one key, {parquet:.1f} bytes each in Parquet, executors of "
        f"{asked.memory}"
    )
    console.print(table)


if __name__ == "__main__":
    main()
