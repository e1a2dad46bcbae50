"""Time and peak memory of `evaluate` beside a bare sort and other libraries.

``python tests/benchmarks/bench.py [--rows N] [--repeats R] [--runs R] [--json FILE]``
makes the data from a seed. All contenders run in turn in one process, after a warm-up; a
time is the median of the repeats of a run, shown from the least to the greatest over the
runs, and ratios are of times of the same run. Each figure of memory is the peak of a
process of its own, which reads the table from Parquet. ``--only targets`` times what
the targets compare, without other libraries; ``--only pages`` the report and
`polaroc evaluate` with charts, for which ``--rows 5_000_000`` is aimed at.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import contenders
import numpy as np
import page_times
import polars as pl
from rich.console import Console
from rich.table import Table
from tables import predictions, write

EVERYWHERE = {
    "bare sort": contenders.bare_sort,
    "evaluate": contenders.evaluate_table,
    "evaluate, of a lazy frame": contenders.evaluate,
}
CLICKHOUSE = {
    "ClickHouse, ROC": contenders.clickhouse_roc,
    "ClickHouse, ROC + PR": contenders.clickhouse_both,
}
FURTHER = {
    "evaluate, AUC": contenders.evaluate_auc,
    "evaluate, 1,000 priors": contenders.evaluate_1000,
    "evaluate, areas": contenders.evaluate_areas,
    "evaluate, losses": contenders.evaluate_losses,
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
USUAL, MANY, WEIGHTS = "60 keys, continuous scores", "many keys of 100 rows", "weights"


@dataclass(frozen=True)
class Target:
    """At most `most` times as long as another contender, on the same or another table."""

    table: str
    who: str
    most: float
    other: str
    on: str | None = None

    def ratio(self, seconds: Mapping[tuple[str, str], float]) -> float:
        """The ratio in one run."""
        return seconds[self.table, self.who] / seconds[self.on or self.table, self.other]


TARGETS = [
    Target(USUAL, "evaluate", 0.7, "ClickHouse, ROC"),
    Target(MANY, "evaluate", 1, "ClickHouse, ROC"),
    Target(USUAL, "evaluate, of a lazy frame", 1.1, "evaluate"),
    Target(WEIGHTS, "evaluate", 1.5, "evaluate", on=USUAL),
    Target(USUAL, "evaluate, 1,000 priors", 2, "evaluate"),
    Target(USUAL, "evaluate, losses", 2, "evaluate, areas"),
]
# What else is aimed at, and the recipe that measures it.
ELSEWHERE = {
    "10⁹ rows from Parquet, memory 4 GB, at most 80 s": (
        "just bench --no-peers --grow 1e9 --memory 4GB"
    ),
    "10⁸ rows with memory 8 GB: the time with 1.5 GB": (
        "just bench --no-peers --grow 1e8 --memory 8GB"
    ),
    "a scan: 1.1 × reading and evaluating": "just lazy-time",
    "in DuckDB, Sail and Spark: 2.5 × an AUC by hand": "just bench-warehouse",
    "import: 1.25 × that of Polars": "just import-time",
    "the report of 5 million rows, 60 curves: 5 s": "just bench --only pages --rows 5000000",
}


def cases(
    rows: int, only_targets: bool
) -> Iterator[tuple[str, pl.LazyFrame, dict[str, Contender]]]:
    """The tables by name, and who is timed on each."""
    plain = predictions(rows)
    peers, loop = ({}, {}) if only_targets else (PEERS | SAME_WORK, LOOP)
    yield USUAL, plain.lazy(), EVERYWHERE | FURTHER | CLICKHOUSE | peers
    weights = np.random.default_rng(1).random(rows)
    yield WEIGHTS, plain.with_columns(weight=weights).lazy(), EVERYWHERE
    yield MANY, predictions(rows, keys="many").lazy(), EVERYWHERE | CLICKHOUSE | loop
    if only_targets:
        return
    others = EVERYWHERE | CLICKHOUSE | PEERS
    yield "scores of 3 decimals", predictions(rows, decimals=3).lazy(), others
    yield "0.1 % positives", predictions(rows, positives=0.001).lazy(), others
    yield "string keys", predictions(rows, keys="string").lazy(), EVERYWHERE | CLICKHOUSE
    yield "categorical keys", predictions(rows, keys="categorical").lazy(), EVERYWHERE
    yield "no keys", predictions(rows, keys="none").lazy(), EVERYWHERE


def timed(rows: int, repeats: int, only_targets: bool) -> dict[tuple[str, str], float]:
    """Median seconds per table and contender, taken in turn."""
    medians: dict[tuple[str, str], float] = {}
    for name, frame, running in cases(rows, only_targets):
        seconds: dict[str, list[float]] = {contender: [] for contender in running}
        for _ in range(repeats + 1):
            for contender, work in running.items():
                if contender in SAME_WORK and seconds[contender]:
                    continue
                start = time.perf_counter()
                scale = work(frame)
                seconds[contender].append((time.perf_counter() - start) * scale)
        contenders.drop_clickhouse()
        # The first run of each warms up; the slowest of all runs once only.
        for contender, taken in seconds.items():
            medians[name, contender] = statistics.median(taken[1:] or taken)
        print(f"done: {name}", file=sys.stderr)
    return medians


def spread(values: Sequence[float]) -> str:
    """The least and the greatest of the runs."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low}–{high}"


def times(runs: Sequence[Mapping[tuple[str, str], float]]) -> list[dict[str, object]]:
    """Seconds and the ratio to the bare sort, over all runs, per table and contender."""
    return [
        {
            "table": table, "who": who, "seconds": spread([run[table, who] for run in runs]),
            "to sort": spread([run[table, who] / run[table, "bare sort"] for run in runs]),
            "ratio": statistics.median(run[table, who] / run[table, "bare sort"] for run in runs),
        }
        for table, who in runs[0]
    ]  # fmt: skip


def reached(runs: Sequence[Mapping[tuple[str, str], float]]) -> list[dict[str, object]]:
    """Each target, its ratio over all runs, and "met" or by what factor it is missed."""
    rows: list[dict[str, object]] = []
    for target in TARGETS:
        ratios = [target.ratio(run) for run in runs]
        missing = max(ratios) / target.most
        asked = f"≤ {target.most:g} × {target.other}{', ' + target.on if target.on else ''}"
        rows.append(
            {
                "table": target.table, "who": target.who, "target": asked,
                "ratio": spread(ratios),
                "": "met" if missing <= 1 else f"missed: {missing:.2f} times too long",
            }
        )  # fmt: skip
    return rows


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
    with_theme(dots).save(folder / "benchmark.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--runs", type=int, default=2, help="over which ranges are shown")
    parser.add_argument(
        "--only", choices=["targets", "pages"],
        help="only what the targets compare, or only the report and charts",
    )  # fmt: skip
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
    if asked.only == "pages":
        formats = {
            "table": "",
            "work": "",
            "seconds": ".2f",
            "processor": ".2f",
            "to the first": ".1f",
        }
        for run in range(asked.runs):
            console.print(drawn(f"run {run + 1}", list(page_times.timed(asked.rows)), formats))
        return
    only_targets = asked.only == "targets"
    runs = [
        timed(asked.rows, asked.repeats, only_targets)
        for _ in range(0 if asked.no_peers else asked.runs)
    ]
    found = times(runs) if runs else []
    if runs:
        formats = {"table": "", "who": "", "seconds": "s", "to sort": "s"}
        console.print(drawn(f"{asked.rows:,} rows; ratio to the bare sort", found, formats))
        formats = {"table": "", "who": "", "target": "", "ratio": "s", "": ""}
        console.print(drawn("targets", reached(runs), formats))
        others = [{"target": target, "recipe": recipe} for target, recipe in ELSEWHERE.items()]
        console.print(drawn("targets of other recipes", others, {"target": "", "recipe": ""}))
    if only_targets:
        return
    grown = growth(sizes, asked.memory, asked.keys)
    formats = {"rows": ",", "keys": "", "memory": "", "seconds": ".2f", "peak_gb": ".2f"}
    console.print(drawn("evaluate from Parquet, as the table grows", grown, formats))
    if asked.json:
        asked.json.write_text(json.dumps({"rows": asked.rows, "times": found, "growth": grown}))
    if asked.picture:
        picture(found, asked.picture)


if __name__ == "__main__":
    main()
