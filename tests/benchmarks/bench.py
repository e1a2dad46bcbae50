"""Time and memory of `evaluate`, beside a bare sort and other libraries: ``just bench``.

speed
    Seconds of `evaluate` and of others on the same tables, in turn in one process after a warm-up:
    the median of the repeats, from the least to the greatest over the runs. ClickHouse (chdb) has
    the table in its memory, in columns that cannot be null, and as many threads as Polars.
memory
    Seconds and peak memory of `evaluate` from Parquet, in a process of its own.
models
    `choose` and `gate` on one test set, as multiples of `evaluate` on the same cases.
warehouse
    The AUC, and everything at 16 priors, on DuckDB, Sail and Spark, as multiples of an AUC in SQL
    written by hand, the least of the repeats.
imports
    `import polaroc`, one of its names and all, as multiples of `import polars`; it fails above
    1.25.

Tables are made from a seed: 60 keys (3 models × 20 folds), 10 % positives, continuous scores,
unless a line says otherwise.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import polaroc as pr

PRIORS, OVER = pr.prior_grid(0.01, 0.5, 16, "log"), (0.05, 0.20)
MODELS, FOLDS = 3, 20
CHUNK = 5_000_000
# A loop over more keys than this is timed on these many, and scaled.
MAX_LOOPS = 2_000
Contender = Callable[[pl.LazyFrame], float]


def predictions(
    rows: int, *, decimals: int | None = None, positives: float = 0.1, many: bool = False,
    seed: int = 0,
) -> pl.DataFrame:  # fmt: skip
    """Binormal scores (AUC 0.856) squeezed into (0, 1); 60 keys, or many of a hundred rows."""
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < positives
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) + 1.5 * truth)))
    columns = {"truth": truth, "score": score if decimals is None else score.round(decimals)}
    if many:
        return pl.DataFrame({"model": rng.integers(0, max(rows // 100, 1), rows), **columns})
    key = rng.integers(0, MODELS * FOLDS, rows)
    return pl.DataFrame({"model": key % MODELS, "fold": key // MODELS, **columns})


def write(file: Path, rows: int) -> None:
    """The same as a Parquet file, made in chunks so that any number of rows will do."""
    with tempfile.TemporaryDirectory(dir=file.parent) as parts:
        for i, start in enumerate(range(0, rows, CHUNK)):
            part = predictions(min(CHUNK, rows - start), seed=i)
            part.write_parquet(Path(parts) / f"{i:05}.parquet", row_group_size=1_000_000)
        pl.scan_parquet(Path(parts) / "*.parquet").sink_parquet(file, row_group_size=1_000_000)


def keys(frame: pl.LazyFrame) -> list[str]:
    """The key columns of a benchmark table."""
    return [name for name in ("model", "fold") if name in frame.collect_schema()]


def evaluate(
    measures: list[str] | None = None, *, memory: str | None = None, lazy: bool = False,
    priors: pl.DataFrame = PRIORS,
) -> Contender:  # fmt: skip
    """All measures of every key: AUC, AUPREC at 16 priors, IAUPREC, Sens, AccSens; or some."""

    def work(frame: pl.LazyFrame) -> float:
        asked = {"measure": measures} if measures else {"over": OVER}
        if measures != ["auc"]:
            asked["priors"] = priors
        weight = "weight" if "weight" in frame.collect_schema() else None
        (frame if lazy else frame.collect()).pipe(
            pr.evaluate, truth="truth", score="score", weight=weight, memory=memory,
            **asked,
        ).lazy().collect()  # fmt: skip
        return 1

    return work


def bare_sort(frame: pl.LazyFrame) -> float:
    """The engine's own sort of the whole table by score."""
    places = pl.all().to_physical().cast(pl.Float64, strict=False).arg_max()
    frame.sort("score").select(places).collect()
    return 1


def polarbearings_auc(frame: pl.LazyFrame) -> float:
    """polarbearings' ROC AUC, an expression, per key."""
    from polarbearings import roc_auc

    weight = "weight" if "weight" in frame.collect_schema() else None
    frame.group_by(keys(frame)).agg(roc_auc("truth", "score", weight=weight)).collect()
    return 1


def polars_ds_auc(frame: pl.LazyFrame) -> float:
    """polars_ds' ROC AUC, a plugin in Rust, per key."""
    from polars_ds import query_roc_auc

    frame.group_by(keys(frame)).agg(query_roc_auc("truth", "score")).collect()
    return 1


def clickhouse_roc(frame: pl.LazyFrame) -> float:
    """ClickHouse's `arrayROCAUC` per key, of a table that it holds in memory."""
    return _clickhouse(frame, "arrayROCAUC(scores, truths)")


def clickhouse_both(frame: pl.LazyFrame) -> float:
    """ClickHouse's `arrayROCAUC` and `arrayAUCPR`, which knows one prior, per key."""
    return _clickhouse(frame, "arrayROCAUC(scores, truths), arrayAUCPR(scores, truths)")


class ClickHouse:
    """A ClickHouse in this process with as many threads as Polars, and one table."""

    def __init__(self, frame: pl.LazyFrame) -> None:
        import chdb

        self.frame = frame
        self.connection = chdb.connect(":memory:")
        self.connection.query(f"SET max_threads = {pl.thread_pool_size()}")
        rows = frame.collect().to_arrow()  # the query names it
        # Columns that may be null took ClickHouse longer.
        names = ", ".join(f"assumeNotNull({name}) AS {name}" for name in rows.column_names)
        self.connection.query(f"CREATE TABLE t ENGINE = Memory AS SELECT {names} FROM Python(rows)")

    def close(self) -> None:
        """Free the table."""
        self.connection.close()


_clickhouses: list[ClickHouse] = []


def _clickhouse(frame: pl.LazyFrame, measured: str) -> float:
    """Run a query on the table, which the warm-up loads: one at a time is held."""
    if not _clickhouses or _clickhouses[0].frame is not frame:
        drop_clickhouse()
        _clickhouses.append(ClickHouse(frame))
    by = ", ".join(keys(frame))
    arrays = f"{by}, groupArray(score) AS scores, groupArray(truth) AS truths"
    _clickhouses[0].connection.query(
        f"SELECT {by}, {measured} FROM (SELECT {arrays} FROM t GROUP BY {by}) FORMAT Null"
    )
    return 1


def drop_clickhouse() -> None:
    """Free the table that ClickHouse holds."""
    while _clickhouses:
        _clickhouses.pop().close()


def scikit_learn(frame: pl.LazyFrame) -> float:
    """scikit-learn's AUC and average precision of every key, in a loop."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    def both(truth: np.ndarray, score: np.ndarray, weight: np.ndarray | None) -> None:
        roc_auc_score(truth, score, sample_weight=weight)
        average_precision_score(truth, score, sample_weight=weight)

    return _loop(frame, both)


def scikit_learn_same_work(frame: pl.LazyFrame) -> float:
    """scikit-learn's AUC, and average precision weighted to each of the 16 priors, in a loop."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    def at_all_priors(truth: np.ndarray, score: np.ndarray, weight: np.ndarray | None) -> None:
        roc_auc_score(truth, score)
        observed = (len(truth) - truth.sum()) / truth.sum()
        for skew in PRIORS["skew"]:
            weights = np.where(truth, 1.0, skew / observed)
            average_precision_score(truth, score, sample_weight=weights)

    return _loop(frame, at_all_priors)


def _loop(frame: pl.LazyFrame, work: Callable[..., object]) -> float:
    """Run over the keys; returns by how much to scale the time where not all of them are run."""
    by = keys(frame)
    table = frame.collect()
    if not by:
        parts = [table]
    else:
        found = table.select(by).unique(maintain_order=True)
        wanted = found.head(MAX_LOOPS)
        parts = table.join(wanted, on=by).partition_by(by)
    for part in parts:
        weight = part["weight"].to_numpy() if "weight" in part.columns else None
        if part["truth"].n_unique() == 2:
            work(part["truth"].to_numpy(), part["score"].to_numpy(), weight)
    return 1 if not by else found.height / len(parts)


LOSSES = ["brier", "calibration_loss", "refinement_loss", "log_loss"]
EVALUATE = {
    "bare sort": bare_sort, "ClickHouse, ROC": clickhouse_roc,
    "ClickHouse, ROC + PR": clickhouse_both, "evaluate, everything": evaluate(),
    "evaluate, of a lazy frame": evaluate(lazy=True),
}  # fmt: skip
USUAL = EVALUATE | {
    "evaluate, AUC alone": evaluate(["auc"]), "evaluate, areas": evaluate(["auc", "auprec"]),
    "evaluate, losses": evaluate(LOSSES),
    "evaluate, 1,000 priors": evaluate(priors=pr.prior_grid(0.01, 0.5, 1_000, "log")),
}  # fmt: skip
PEERS = {
    "polarbearings, AUC": polarbearings_auc, "polars_ds, AUC": polars_ds_auc,
    "scikit-learn, AUC + AP": scikit_learn, "scikit-learn, the same work": scikit_learn_same_work,
}  # fmt: skip


def tables(rows: int) -> Iterator[tuple[str, pl.LazyFrame, dict[str, Contender]]]:
    """The tables by name, and who is timed on each."""
    plain = predictions(rows)
    weights = np.random.default_rng(1).random(rows)
    own = {name: work for name, work in EVALUATE.items() if "ClickHouse" not in name}
    yield "60 keys", plain.lazy(), USUAL
    yield "60 keys, weights", plain.with_columns(weight=weights).lazy(), own
    yield "60 keys, half positive", predictions(rows, positives=0.5).lazy(), EVALUATE
    yield f"{rows // 100:,} keys of 100 rows", predictions(rows, many=True).lazy(), EVALUATE


def speed(rows: int, repeats: int, runs: int, peers: bool) -> None:
    """Seconds of every table, and multiples of ClickHouse's ROC or of the bare sort."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        for name, frame, running in tables(rows):
            if peers and name == "60 keys":
                running = running | PEERS
            taken: dict[str, list[float]] = {who: [] for who in running}
            for _ in range(repeats + 1):
                for who, work in running.items():
                    start = time.perf_counter()
                    scale = work(frame)
                    taken[who].append((time.perf_counter() - start) * scale)
            drop_clickhouse()
            for who, values in taken.items():
                # The first warms up.
                seconds.setdefault((name, who), []).append(statistics.median(values[1:]))
    for (name, who), values in seconds.items():
        other = seconds.get((name, "ClickHouse, ROC"), seconds[name, "bare sort"])
        ratios = [own / one for own, one in zip(values, other, strict=True)]
        print(f"{name} | {who} | {spread(values)} s | {spread(ratios)}")


def spread(values: list[float]) -> str:
    """The least and the greatest of the runs."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def memory(rows: int, limit: str | None) -> None:
    """Seconds and peak memory of `evaluate` from Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "predictions.parquet"
        write(file, rows)
        run = [sys.executable, __file__, "peak", str(file), *(["--memory", limit] if limit else [])]
        print(subprocess.run(run, check=True, capture_output=True, text=True).stdout, end="")


def peak(file: Path, limit: str | None) -> None:
    """The same in this process; `ru_maxrss` would count its parent's before it started."""
    start = time.perf_counter()
    evaluate(lazy=True, memory=limit)(pl.scan_parquet(file))
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in status if "VmHWM" in line)
    print(f"{seconds:.1f} s, {int(line.split()[1]) * 1024 / 1e9:.2f} GB")


def models(rows: int, repeats: int) -> None:
    """`choose` of five models and `gate` of two, with and without clusters of about five cases."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < 0.1
    shared = rng.normal(size=rows) + 1.2 * truth
    names = [f"model {i}" for i in range(5)]
    table = pl.DataFrame(
        {"id": np.arange(rows), "truth": truth, "cluster": rng.integers(0, rows // 5, rows)}
        | {name: shared + 0.5 * rng.normal(size=rows) for name in names}
    )
    five = {"truth": "truth", "score": names, "case": "id", "over": OVER}
    two = five | {"score": names[:2]}
    gated = two | {"champion": names[0], "challenger": names[1], "margin": 0.01}
    for plain, one, roles in ((five, pr.choose, five), (two, pr.gate, gated)):
        calls = {
            "evaluate": lambda plain=plain: pr.evaluate(table, **plain),
            one.__name__: lambda one=one, roles=roles: one(table, **roles),
            f"{one.__name__}, clusters": lambda one=one, roles=roles: one(
                table, **roles, cluster="cluster"
            ),
        }
        least = dict.fromkeys(calls, float("inf"))
        for _ in range(repeats):
            for name, call in calls.items():
                start = time.perf_counter()
                call()
                least[name] = min(least[name], time.perf_counter() - start)
        for name, seconds in least.items():
            print(f"{name}: {seconds:.2f} s, {seconds / least['evaluate']:.2f} x evaluate")


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
# A connection of ibis with the table `predictions`, and how its engine runs a text.
Connected = tuple[Any, Callable[[str], list[tuple[Any, ...]]]]


@contextmanager
def duckdb(file: Path) -> Iterator[Connected]:
    import ibis

    connection = ibis.duckdb.connect(threads=2)
    connection.con.execute(f"CREATE TABLE predictions AS FROM '{file}'")
    yield connection, lambda query: connection.con.execute(query).fetchall()


@contextmanager
def sail(file: Path) -> Iterator[Connected]:
    import ibis
    from pyspark.sql import SparkSession

    sys.path.insert(0, str(Path(__file__).parents[1] / "warehouse"))
    from sail import sail_server

    with sail_server() as address:
        session = SparkSession.builder.remote(address).create()
        session.read.parquet(str(file)).createOrReplaceTempView("predictions")
        connection = ibis.pyspark.connect(session)
        yield connection, lambda query: [tuple(row) for row in session.sql(query).collect()]
        session.stop()


@contextmanager
def spark(file: Path) -> Iterator[Connected]:
    import ibis
    from pyspark.sql import SparkSession

    # A Connect server of its own, since one process has either kind of session.
    settings = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    session = settings.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.read.parquet(str(file)).createOrReplaceTempView("predictions")
    connection = ibis.pyspark.connect(session)
    yield connection, lambda query: [tuple(row) for row in session.sql(query).collect()]
    session.stop()


ENGINES = {"duckdb": duckdb, "sail": sail, "spark": spark}


def least_seconds(connected: Connected, repeats: int) -> dict[str, float]:
    """The least seconds of each AUC by hand and of `evaluate`, in turn after a warm-up."""
    connection, run = connected
    columns = {"truth": "truth", "score": "score"}

    def evaluate(**asked: Any) -> list[tuple[Any, ...]]:
        table = connection.table("predictions")
        measures = pr.warehouse.evaluate(table, **columns, **asked)
        return measures.filter(measure="auc").select("model", "fold", "estimate").rows()

    calls = {
        "AUC by ranks": lambda: run(RANKS),
        "by running sums": lambda: run(RUNNING),
        "evaluate, AUC": lambda: evaluate(measure="auc"),
        "evaluate": lambda: evaluate(priors=PRIORS, over=OVER),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    areas = {}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            rows = call()
            seconds[name].append(time.perf_counter() - start)
            areas[name] = {row[:2]: row[2] for row in rows}
    first, *others = areas.values()
    assert all(abs(other[key] - area) < 1e-9 for other in others for key, area in first.items())
    return {name: min(runs[1:]) for name, runs in seconds.items()}


def warehouse(rows: int, repeats: int, engines: list[str]) -> None:
    """`warehouse.evaluate` beside both forms of the AUC that count ties in halves."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "predictions.parquet"
        predictions(rows).write_parquet(file)
        for engine in engines:
            with ENGINES[engine](file) as connected:
                seconds = least_seconds(connected, repeats)
            by_hand = min(list(seconds.values())[:2])
            shown = (f"{name} {one:.2f} s, {one / by_hand:.2f} x" for name, one in seconds.items())
            print(f"{engine}: {'; '.join(shown)}", flush=True)


ONCE = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
BARE, OURS = "import polars", "import polaroc"
IMPORTS = [BARE, OURS, "from polaroc import evaluate", "from polaroc import *"]
MAX_RATIO = 1.25


def seconds_of(statement: str, compiled: str) -> float:
    """How long one import takes in a new process, with bytecode in that folder."""
    run = [sys.executable, "-X", f"pycache_prefix={compiled}", "-c", ONCE.format(statement)]
    # As installed: compiled once, and read from then on.
    writing = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=writing)
    return float(done.stdout)


def imports(runs: int) -> None:
    """Median seconds of each import, and its ratio to that of Polars, taken in turn."""
    with tempfile.TemporaryDirectory() as compiled:
        for one in IMPORTS:
            seconds_of(one, compiled)
        times = [{one: seconds_of(one, compiled) for one in IMPORTS} for _ in range(runs)]
    ratios = {one: statistics.median(run[one] / run[BARE] for run in times) for one in IMPORTS}
    for one, ratio in ratios.items():
        print(f"{one}: {statistics.median(run[one] for run in times):.3f} s, ratio {ratio:.2f}")
    if ratios[OURS] > MAX_RATIO:
        sys.exit(f"{OURS} takes more than {MAX_RATIO} times as long as {BARE}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "what", nargs="?", default="speed",
        choices=["speed", "memory", "models", "warehouse", "imports", "peak"],
    )  # fmt: skip
    parser.add_argument("file", nargs="?", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", action="store_true", help="other libraries, too")
    parser.add_argument("--memory", help="given to evaluate")
    parser.add_argument("--engines", nargs="*", choices=list(ENGINES), default=list(ENGINES))
    asked = parser.parse_args()
    rows = int(asked.rows)
    match asked.what:
        case "speed":
            speed(rows, asked.repeats, asked.runs, asked.peers)
        case "memory":
            memory(rows, asked.memory)
        case "peak":
            peak(asked.file, asked.memory)
        case "models":
            models(rows, asked.repeats)
        case "warehouse":
            warehouse(rows, asked.repeats, asked.engines)
        case _:
            imports(asked.runs)


if __name__ == "__main__":
    main()
