"""Everything at 16 priors in a database, beside an AUC in SQL written by hand.

``python tests/benchmarks/warehouse.py [--rows N] [--repeats R] [--engines duckdb sail spark]``
makes the data from a seed, runs both forms of the AUC that count ties in halves and the query of
`warehouse.evaluate` in turn, and prints the least time of each, as wall clock, with the ratio to
the faster form, and the length of the query's text. All engines have two threads.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import ibis
from contenders import OVER, PRIORS
from rich.console import Console
from rich.table import Table
from tables import predictions

import polaroc as pr

RANKS = """
WITH ranked AS (
  SELECT model, fold, CASE WHEN truth THEN 1 ELSE 0 END AS pos,
    rank() OVER (PARTITION BY model, fold ORDER BY score)
      + (count(*) OVER (PARTITION BY model, fold, score) - 1) / 2e0 AS mid
  FROM predictions
), summed AS (
  SELECT model, fold, sum(pos * mid) AS mids, sum(pos) AS p, count(*) - sum(pos) AS n
  FROM ranked GROUP BY model, fold
)
SELECT model, fold, (mids - p * (p + 1) / 2e0) / (p * n) AS auc FROM summed
"""
RUNNING = """
WITH counted AS (
  SELECT model, fold, score, sum(CASE WHEN truth THEN 1 ELSE 0 END) AS pos,
    sum(CASE WHEN truth THEN 0 ELSE 1 END) AS neg
  FROM predictions GROUP BY model, fold, score
), running AS (
  SELECT model, fold, pos, neg, sum(neg) OVER (
    PARTITION BY model, fold ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) - neg / 2e0 AS below
  FROM counted
)
SELECT model, fold, sum(pos * below) / sum(pos) / sum(neg) AS auc FROM running GROUP BY model, fold
"""
Run = Callable[[str], list[tuple[object, ...]]]


@contextmanager
def duckdb(file: Path) -> Iterator[Run]:
    import duckdb

    connection = duckdb.connect(config={"threads": 2})
    connection.execute(f"CREATE TABLE predictions AS FROM '{file}'")
    yield lambda query: connection.execute(query).fetchall()


@contextmanager
def sail(file: Path) -> Iterator[Run]:
    from pyspark.sql import SparkSession

    sys.path.insert(0, str(Path(__file__).parents[1] / "warehouse"))
    from sail import sail_server

    with sail_server() as address:
        session = SparkSession.builder.remote(address).create()
        session.read.parquet(str(file)).createOrReplaceTempView("predictions")
        yield lambda query: [tuple(row) for row in session.sql(query).collect()]
        session.stop()


@contextmanager
def spark(file: Path) -> Iterator[Run]:
    from pyspark.sql import SparkSession

    # A Connect server of its own, since one process has either kind of session.
    settings = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    session = settings.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.read.parquet(str(file)).createOrReplaceTempView("predictions")
    yield lambda query: [tuple(row) for row in session.sql(query).collect()]
    session.stop()


ENGINES = {"duckdb": duckdb, "sail": sail, "spark": spark}


def query(engine: str) -> str:
    """The text of everything at 16 priors."""
    kinds = {"model": "int64", "fold": "int64", "truth": "boolean", "score": "float64"}
    table = ibis.table(kinds, name="predictions")
    measures = pr.warehouse.evaluate(table, truth="truth", score="score", priors=PRIORS, over=OVER)
    return pr.warehouse.sql(measures, "duckdb" if engine == "duckdb" else "spark")


def timed(run: Run, queries: dict[str, str], repeats: int) -> dict[str, float]:
    """The least seconds of each query, taken in turn after a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in queries}
    areas = {}
    for _ in range(repeats + 1):
        for name, text in queries.items():
            start = time.perf_counter()
            rows = run(text)
            seconds[name].append(time.perf_counter() - start)
            of_keys = [row for row in rows if len(row) == 3 or row[2] == "auc"]
            areas[name] = {row[:2]: row[-1 if len(row) == 3 else 4] for row in of_keys}
    first, *others = areas.values()
    assert all(abs(other[key] - area) < 1e-9 for other in others for key, area in first.items())
    return {name: min(runs[1:]) for name, runs in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--decimals", type=int, help="round the scores, so that many are tied")
    parser.add_argument("--positives", type=float, default=0.1, help="share of positives")
    parser.add_argument("--engines", nargs="*", choices=list(ENGINES), default=list(ENGINES))
    given = parser.parse_args()
    table = Table(title=f"{given.rows:,} rows, 60 keys; ratio to the faster AUC by hand")
    for column in ("engine", "AUC by ranks, s", "AUC by running sums, s", "evaluate, s", "ratio",
                   "characters", "of them no blanks"):  # fmt: skip
        table.add_column(column, justify="left" if column == "engine" else "right")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "predictions.parquet"
        made = predictions(given.rows, decimals=given.decimals, positives=given.positives)
        made.write_parquet(file)
        for engine in given.engines:
            ours = query(engine)
            with ENGINES[engine](file) as run:
                ranks, running, everything = timed(
                    run, {"ranks": RANKS, "running": RUNNING, "ours": ours}, given.repeats
                ).values()
            length = f"{len(ours):,}", f"{len(''.join(ours.split())):,}"
            seconds = [f"{value:.2f}" for value in (ranks, running, everything)]
            ratio = f"{everything / min(ranks, running):.2f}"
            table.add_row(engine, *seconds, ratio, *length)
            print("done:", engine, *seconds, ratio, file=sys.stderr)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
