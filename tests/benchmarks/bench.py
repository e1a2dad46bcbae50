"""Time and peak memory of `evaluate` beside a bare sort and other libraries.

``python tests/benchmarks/bench.py [--rows N] [--repeats R] [--json FILE]`` makes the
data from a seed. All contenders run in turn in one process, after a warm-up; a time
is the median of the repeats, and ratios are to the bare sort of the same table in
the same run. Each figure of memory is the peak of a process of its own, which reads
the table from Parquet.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import contenders
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from tables import predictions, write

EVERYWHERE = {
    "bare sort": contenders.bare_sort,
    "evaluate": contenders.evaluate_table,
    "evaluate, as a plan": contenders.evaluate,
}
PEERS = {
    "polarbearings, AUC": contenders.polarbearings_auc,
    "polars_ds, AUC": contenders.polars_ds_auc,
    "scikit-learn, AUC + AP": contenders.scikit_learn,
}
SAME_WORK = {"scikit-learn, the same work": contenders.scikit_learn_same_work}
LOOP = {
    "polarbearings, AUC": contenders.polarbearings_auc,
    "scikit-learn, AUC": contenders.scikit_learn_auc,
}
Contender = Callable[[pl.LazyFrame], float]


def cases(rows: int) -> Iterator[tuple[str, pl.LazyFrame, dict[str, Contender]]]:
    """The tables by name, and who is timed on each."""
    plain = predictions(rows)
    yield "60 keys, continuous scores", plain.lazy(), EVERYWHERE | PEERS | SAME_WORK
    yield "scores of 3 decimals", predictions(rows, decimals=3).lazy(), EVERYWHERE | PEERS
    yield "0.1 % positives", predictions(rows, positives=0.001).lazy(), EVERYWHERE | PEERS
    weights = np.random.default_rng(1).random(rows)
    yield "weights", plain.with_columns(weight=weights).lazy(), EVERYWHERE
    yield "string keys", predictions(rows, keys="string").lazy(), EVERYWHERE
    yield "categorical keys", predictions(rows, keys="categorical").lazy(), EVERYWHERE
    yield "no keys", predictions(rows, keys="none").lazy(), EVERYWHERE
    many = predictions(rows, keys="many").lazy()
    yield f"{rows // 100:,} keys of 100 rows", many, EVERYWHERE | LOOP


def timed(rows: int, repeats: int) -> list[dict[str, object]]:
    """Seconds per table and contender, taken in turn."""
    results: list[dict[str, object]] = []
    for name, frame, running in cases(rows):
        seconds: dict[str, list[float]] = {contender: [] for contender in running}
        for _ in range(repeats + 1):
            for contender, work in running.items():
                if contender in SAME_WORK and seconds[contender]:
                    continue
                start = time.perf_counter()
                scale = work(frame)
                seconds[contender].append((time.perf_counter() - start) * scale)
        # The first run of each warms up; the slowest of all runs once only.
        medians = {
            contender: statistics.median(runs[1:] or runs) for contender, runs in seconds.items()
        }
        for contender, median in medians.items():
            ratio = median / medians["bare sort"]
            results.append({"table": name, "who": contender, "seconds": median, "ratio": ratio})
        print(f"done: {name}", file=sys.stderr)
    return results


def growth(sizes: list[int], memory: str | None, keys: str) -> list[dict[str, object]]:
    """Seconds and peak memory of `evaluate` from Parquet, each in a process of its own."""
    results: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            file = Path(folder) / f"{rows}.parquet"
            write(file, rows, keys)
            run = [
                sys.executable,
                __file__,
                "--one",
                str(file),
                *(["--memory", memory] * bool(memory)),
            ]
            out = subprocess.run(run, check=True, capture_output=True, text=True).stdout
            seconds, peak = map(float, out.split())
            results.append(
                {"rows": rows, "keys": keys, "memory": memory, "seconds": seconds, "peak_gb": peak}
            )
            file.unlink()
    return results


def one(file: Path, memory: str | None) -> None:
    """Seconds and peak memory in GB of this process."""
    start = time.perf_counter()
    contenders.evaluate(pl.scan_parquet(file), memory)
    seconds = time.perf_counter() - start
    print(seconds, peak() / 1e9)


def peak() -> int:
    """The most bytes this process held; `ru_maxrss` would count its parent's before it started."""
    (line,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line
    )
    return int(line.split()[1]) * 1024


def drawn(title: str, rows: list[dict[str, object]], formats: dict[str, str]) -> Table:
    """Results as a table for the terminal."""
    table = Table(title=title, title_justify="left")
    for column, form in formats.items():
        table.add_column(column, justify="right" if form else "left")
    for row in rows:
        table.add_row(*("–" if row[c] is None else format(row[c], f) for c, f in formats.items()))
    return table


def picture(times: list[dict[str, object]], folder: Path) -> None:
    """The times as multiples of the bare sort, a line per table, as folder/benchmark.svg."""
    import altair as alt

    from polaroc.charts import export
    from polaroc.charts.theme import COLOURS, with_theme

    dots = (
        alt.Chart(pl.DataFrame(times), title="Time, as a multiple of sorting the table by score")
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            alt.X("ratio:Q", title=None, scale=alt.Scale(type="log", domainMin=0.8)),
            alt.Y("table:N", title=None, sort=None, axis=alt.Axis(grid=True, labelLimit=300)),
            alt.Color("who:N", title=None, sort=None, scale=alt.Scale(range=list(COLOURS))),
            alt.Shape("who:N", title=None, sort=None),
        )
        .properties(width=420, height=alt.Step(26))
    )
    export(with_theme(dots), folder, "benchmark", ["svg"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--grow", type=float, nargs="*", default=[1e6, 1e7, 1e8])
    parser.add_argument("--memory", help="memory given to evaluate as the table grows")
    parser.add_argument(
        "--keys", choices=["integer", "string", "none"], default="integer",
        help="keys of the tables that grow",
    )  # fmt: skip
    parser.add_argument("--no-peers", action="store_true", help="only the growth")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path, help="folder for a picture of the times")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(asked.one, asked.memory)
        return
    console, sizes = Console(), [int(rows) for rows in asked.grow]
    times = [] if asked.no_peers else timed(asked.rows, asked.repeats)
    if times:
        formats = {"table": "", "who": "", "seconds": ".2f", "ratio": ".2f"}
        console.print(drawn(f"{asked.rows:,} rows; ratio to the bare sort", times, formats))
    grown = growth(sizes, asked.memory, asked.keys)
    formats = {"rows": ",", "keys": "", "memory": "", "seconds": ".2f", "peak_gb": ".2f"}
    console.print(drawn("evaluate from Parquet, as the table grows", grown, formats))
    if asked.json:
        asked.json.write_text(json.dumps({"rows": asked.rows, "times": times, "growth": grown}))
    if asked.picture:
        picture(times, asked.picture)


if __name__ == "__main__":
    main()
