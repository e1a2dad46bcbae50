"""How often tests and intervals err where the rows of a patient are alike, with `cluster`.

``python tests/benchmarks/clusters.py [--samples N] [--seed S] [--jobs J] [--write]``: scores of
two models are normal in each class; the rows of a patient share a part of the variance of either
model's scores. Given is, with the number of samples it was counted in:

different
    in how many samples equal models differ at 0.05, by `delong`, and by `compare` on IAUPREC;
passed
    in how many `gate` passes a challenger that is worse by just the margin on the AUC, where 0.025
    are right;
held
    in how many the interval of the AUC and of IAUPREC of a model holds the true value
    (``evaluate(intervals=True)``), and that of `choose` for the model that it picks, at 0.95.

Each is counted with the patients as `cluster`, and, in every fourth sample, with rows taken as
independent. With ``--write`` the counts go to ``tests/benchmarks/clusters.csv``, and the table to
``docs/concepts/limits.md``; else it is printed.

With ``--crossed`` rows of either class share their customer and their day, and each is counted with
both as `cluster`, and in every fourth sample with either.

With ``--halves`` classifiers are trained anew in folds of patients, and in halves of them: given is
how often equal ones differ by `compare`, whose degrees of freedom count patients, and in brackets
if they counted rows.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import polaroc as pr

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "support"))
import binormal  # noqa: E402
from crossed import rows_of_both  # noqa: E402

COUNTS, PAGE = HERE / "clusters.csv", HERE.parents[1] / "docs" / "concepts" / "limits.md"
OVER, AUC, WORSE, LEVEL = (0.05, 0.20), 0.90, 0.87, 0.95
# Of the variance of a row that is shared by both models, beside what its patient shares.
BOTH = 0.5
CORRELATIONS = (0.0, 0.2, 0.5)
# Samples of which one is counted with rows taken as independent, which is soon known to be wrong.
APART = 4
NAMES = {"truth": "truth", "score": "score", "model": "model", "case": "row"}
WORDS = {
    "compare auc": "equal models differ: `compare`, AUC", "compare iauprec": "`compare`, IAUPREC",
    "gate": "`gate` passes", "auc": "held: AUC", "iauprec": "IAUPREC", "choose": "`choose`",
}  # fmt: skip


class Patients(NamedTuple):
    """How many patients have positives alone and negatives alone, or rows of both classes."""

    positive: int
    negative: int = 0  # 0: each row is of either class
    uneven: bool = False

    @property
    def words(self) -> str:
        """The kind, in the table."""
        rows = "1 to 41 rows" if self.uneven else "10 rows"
        if not self.negative:
            return f"{self.positive} of both classes, {rows}"
        return f"{self.positive} + {self.negative}, {rows}"


KINDS = (
    Patients(10, 30), Patients(10, 30, uneven=True), Patients(20, 60), Patients(40),
    Patients(40, uneven=True), Patients(20, 60, uneven=True), Patients(50, 150),
    Patients(50, 150, uneven=True), Patients(200), Patients(10), Patients(10, uneven=True),
)  # fmt: skip


def scored(
    rng: np.random.Generator, kind: Patients, correlation: float, aucs: tuple[float, float]
) -> pl.DataFrame:
    """One sample of the rows of patients, as two models score them."""
    count = kind.positive + kind.negative
    sizes = rng.integers(1, 42, count) if kind.uneven else np.full(count, 10)
    patient = np.repeat(np.arange(count), sizes)
    truth = patient < kind.positive if kind.negative else rng.random(patient.size) < 0.3
    row = rng.normal(size=patient.size)
    parts = []
    for name, auc in zip(("champion", "challenger"), aucs, strict=True):
        own = rng.normal(size=patient.size)
        within = BOTH**0.5 * row + (1 - BOTH) ** 0.5 * own
        shared = rng.normal(size=count)[patient]
        noise = correlation**0.5 * shared + (1 - correlation) ** 0.5 * within
        score = binormal.shift(auc) * truth + noise
        parts.append(
            pl.DataFrame(
                {"model": name, "row": np.arange(patient.size), "patient": patient,
                 "truth": truth, "score": score}
            )
        )  # fmt: skip
    return pl.concat(parts)


def counted(kind: Patients, correlation: float, samples: int, seed: int) -> list[dict[str, object]]:
    """What was found in so many samples of a kind, with clusters and without."""
    place = KINDS.index(kind), round(10 * correlation)
    rng = np.random.default_rng([seed, *place])
    true = {"auc": AUC, "iauprec": binormal.iauprec(OVER, AUC)}
    found: dict[str, Counter[str]] = {"patient": Counter(), "rows": Counter()}
    of: dict[str, Counter[str]] = {"patient": Counter(), "rows": Counter()}
    for sample in range(samples):
        equal = scored(rng, kind, correlation, (AUC, AUC))
        worse = scored(rng, kind, correlation, (AUC, WORSE))
        for way, cluster in (("patient", "patient"), ("rows", None)):
            if cluster is None and sample % APART:
                continue
            roles = NAMES if cluster is None else NAMES | {"cluster": cluster}
            for name, is_found in outcomes(equal, worse, roles, true):
                of[way][name] += 1
                found[way][name] += is_found
    return [
        {"positive": kind.positive, "negative": kind.negative, "uneven": kind.uneven,
         "correlation": correlation, "cluster": way, "what": name, "count": found[way][name],
         "of": of[way][name]}
        for way, name in product(found, WORDS)
    ]  # fmt: skip


def outcomes(
    equal: pl.DataFrame,
    worse: pl.DataFrame,
    roles: dict[str, str | list[str]],
    true: dict[str, float],
) -> Iterator[tuple[str, bool]]:
    """Each thing that may be found, and whether it is, where there is an answer."""
    for measure, at in (("auc", {}), ("iauprec", {"over": OVER})):
        pairs = pr.compare(equal, measure, **roles, **at).pairs
        yield f"compare {measure}", pairs["p_value"].item() < 1 - LEVEL
    gate = pr.gate(
        worse, **roles, champion="champion", challenger="challenger", measure="auc",
        margin=AUC - WORSE,
    )  # fmt: skip
    yield "gate", gate.verdict == "pass"
    one = equal.filter(model="champion")
    sure = pr.evaluate(
        one, **roles, measures=["auc", "iauprec"], over=OVER, intervals=True, level=LEVEL
    )
    for name, low, high in sure.select("measure", "lower", "upper").iter_rows():
        if low is not None:
            yield name, low <= true[name] <= high
    picked = pr.choose(equal, **roles, over=OVER, level=LEVEL).models.row(0, named=True)
    low, high = picked["expected_lower"], picked["expected_upper"]
    if low is not None:
        yield "choose", low <= true["iauprec"] <= high


class Crossed(NamedTuple):
    """Rows of customers and days, which share parts of the variance of scores."""

    rows: int
    customers: int
    days: int
    of_customer: float
    of_day: float


CROSSINGS = (
    Crossed(600, 30, 30, 0, 0), Crossed(600, 30, 30, 0.2, 0), Crossed(600, 30, 30, 0.2, 0.2),
    Crossed(600, 15, 60, 0.2, 0.2), Crossed(600, 10, 10, 0.2, 0.2),
    Crossed(1200, 60, 60, 0.2, 0.2),
)  # fmt: skip
WAYS = {
    "both": ["customer", "day"], "customer": ["customer"], "day": ["day"],
}  # fmt: skip


def counted_crossed(kind: Crossed, samples: int, seed: int) -> str:
    """What was found in so many samples of a kind, as lines of the table."""
    rng = np.random.default_rng([seed, CROSSINGS.index(kind)])
    true = {"auc": AUC, "iauprec": binormal.iauprec(OVER, AUC)}
    found, of = ({way: Counter[str]() for way in WAYS} for _ in range(2))
    for sample in range(samples):
        equal, worse = (
            rows_of_both(rng, *kind, apart=[binormal.shift(auc) for auc in aucs])
            .rename({"A": "champion", "B": "challenger"})
            .unpivot(["champion", "challenger"], index=["row", "truth", *WAYS["both"]],
                     variable_name="model", value_name="score")
            for aucs in ((AUC, AUC), (AUC, WORSE))
        )  # fmt: skip
        for way, cluster in WAYS.items():
            if way != "both" and sample % APART:
                continue
            for name, is_found in outcomes(equal, worse, NAMES | {"cluster": cluster}, true):
                of[way][name] += 1
                found[way][name] += is_found
    lines = []
    for way in WAYS:
        rates = [
            f"{found[way][name] / of[way][name]:.3f}" if of[way][name] else "–" for name in WORDS
        ]
        sizes = f"{kind.rows:,} rows, {kind.customers} and {kind.days}"
        shares = f"{kind.of_customer:g} and {kind.of_day:g}"
        lines.append(f"| {sizes} | {shares} | {way} | {' | '.join(rates)} |\n")
    return "".join(lines)


def as_page_table(rows: list[dict[str, object]]) -> str:
    """Rows as a table of a page; what the row above has in its first columns is not said again."""
    heads = [*rows[0]]
    lines, above = [heads, ["---"] * len(heads)], [""] * len(heads)
    for row in rows:
        cells = [*map(str, row.values())]
        same = next(at for at, cell in enumerate(cells) if cell != above[at])
        lines.append([""] * same + cells[same:])
        above = cells
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_table(name: str, table: str, page: Path = PAGE) -> None:
    """Put a table in its place on a page."""
    marked = re.compile(rf"<!-- {re.escape(name)} -->\n.*?<!-- end -->", re.DOTALL)
    text = f"<!-- {name} -->\n{table}<!-- end -->"
    page.write_text(marked.sub(text, page.read_text(encoding="utf-8")), encoding="utf-8")


def page_table(counts: pl.DataFrame) -> str:
    """The rates by kind, as a table of the page, those of independent rows in brackets."""
    heads = ["patients", "correlation", *WORDS.values()]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    each = ["positive", "negative", "uneven", "correlation"]
    for key, rows in counts.group_by(each, maintain_order=True):
        rate = {
            (way, what): count / of if of else None
            for way, what, count, of in rows.select("cluster", "what", "count", "of").rows()
        }
        cells = [
            " ".join(
                text.format("–" if rate[way, name] is None else f"{rate[way, name]:.3f}")
                for way, text in (("patient", "{}"), ("rows", "({})"))
            )
            for name in WORDS
        ]
        lines.append(f"| {Patients(*key[:3]).words} | {key[3]:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def largest_error(counts: pl.DataFrame) -> float:
    """The largest standard error of the rates with clusters."""
    p = pl.col("count") / pl.col("of")
    of_clusters = counts.filter(pl.col("of") > 0, cluster="patient")
    return float(of_clusters.select((p * (1 - p) / pl.col("of")).sqrt().max()).item())


def main() -> None:
    """Print the rates, or write the counts and the table of the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", type=int, nargs="+", default=list(range(len(KINDS))))
    parser.add_argument("--correlations", type=float, nargs="+", default=list(CORRELATIONS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the counts and the page")
    parser.add_argument("--crossed", action="store_true", help="customers and days")
    options = parser.parse_args()
    if options.crossed:
        heads = ["customers and days", "shares", "`cluster`", *WORDS.values()]
        table = f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|\n"
        with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
            jobs = [
                pool.submit(counted_crossed, kind, options.samples, options.seed)
                for kind in CROSSINGS
            ]
            for job in jobs:
                table += job.result()
                print(job.result(), end="", flush=True)
        if options.write:
            write_table("crossed", table)
        return
    rows: list[dict[str, object]] = []
    cells = list(product((KINDS[place] for place in options.kinds), options.correlations))
    # Threads of Polars do not survive a fork.
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        jobs = [pool.submit(counted, *cell, options.samples, options.seed) for cell in cells]
        for job in jobs:
            rows += job.result()
            print(page_table(pl.DataFrame(job.result())).splitlines()[-1], flush=True)
    found = pl.DataFrame(rows)
    print(f"{options.samples} samples each, seed {options.seed}; standard errors with clusters up "
          f"to {largest_error(found):.3f}")  # fmt: skip
    if not options.write:
        return
    # Kinds that were not asked for keep their counts.
    cell = ["positive", "negative", "uneven", "correlation"]
    known = pl.read_csv(COUNTS).join(found, on=cell, how="anti")
    found = pl.concat([known, found])
    found.write_csv(COUNTS)
    write_table("clusters", page_table(found))


if __name__ == "__main__":
    main()
