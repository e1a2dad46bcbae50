"""How far the chance that `plan` says is from the share of studies that did what was wished.

``python tests/benchmarks/plan.py [--studies N] [--seed S] [--positives 20 …] [--priors .05 …]
[--rows 1 5] [--wishes promise …] [--write]``: normal scores with an AUC of 0.9, drawn anew here,
as many negatives as the prior says, alone or in clusters of 5 rows with a correlation of 0.3.
Of each study the functions themselves are asked:

promise
    `operating_points` with `confidence`: is there a threshold with this precision?
width
    `evaluate` with intervals: is the AUPREC known to within this?
gate
    `gate` in AUPREC of a challenger that is as good: does it pass by this margin?
compare
    `compare` in AUC of a challenger that is better by this: is it found better?

What is wished for is what `plan` itself gives about an even chance, where errors are largest.
``--folds N`` takes N pilots, each with a study like it, of 5 and 20 folds of two classifiers that
are trained anew for each fold (``tests/support/trained_anew.py``), and compares the chance said of
each with the share of studies in which `compare` finds the challenger better.

With ``--write`` the cells go to ``tests/benchmarks/plan.csv``, in the place of the same ones, and
the table of all of them to ``docs/guide/plan.md``.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import ndtri

import polaroc as pr
from polaroc.thresholds import promises

sys.path.append(str(Path(__file__).parents[1] / "support"))
from trained_anew import said_and_done

CELLS = Path(__file__).with_suffix(".csv")
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "plan.md"
AUC, BETWEEN, ALIKE = 0.9, 0.5, 0.3
POSITIVES, PRIORS, ROWS = (20, 50, 100, 200, 500), (0.005, 0.05, 0.3), (1, 5)
WISHES = ("promise", "width", "gate", "compare")
# Values of a wish that are tried; the one with about an even chance is taken.
TRIED = {
    "promise": (0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "width": (0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.21, 0.25, 0.3, 0.35),
    "gate": (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    "compare": (0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09),
}
MOST_ROWS = 6_000_000
ALLOWED = 0.04
REPEATS, ENDS = (1, 4), (0.0, 0.1, 0.3, 0.6, 1.0)


def studies(
    rng: np.random.Generator, count: int, positives: int, negatives: int, rows: int, ahead: float
) -> Iterator[pl.DataFrame]:
    """Studies of a champion and a challenger, one row per case."""

    def normal(cases: int, shared: float) -> np.ndarray:
        both = np.sqrt(shared) * rng.normal(size=cases)
        return np.stack([both + np.sqrt(1 - shared) * rng.normal(size=cases) for _ in "ab"])

    def of_class(cases: int, shift: np.ndarray) -> np.ndarray:
        own = normal(cases, BETWEEN)
        if rows > 1:
            clusters = normal(-(-cases // rows), BETWEEN).repeat(rows, axis=1)[:, :cases]
            own = np.sqrt(ALIKE) * clusters + np.sqrt(1 - ALIKE) * own
        return own + shift[:, None]

    means = np.sqrt(2) * ndtri([AUC, AUC + ahead])
    number = [np.arange(cases) // rows for cases in (positives, negatives)]
    for _ in range(count):
        scores = np.append(of_class(positives, means), of_class(negatives, 0 * means), axis=1)
        yield pl.DataFrame({
            "truth": np.repeat([True, False], [positives, negatives]), "A": scores[0],
            "B": scores[1], "cluster": np.append(number[0], number[1] + number[0][-1] + 1),
        })  # fmt: skip


def asked(wish: str, value: float, prior: float) -> dict:
    """The arguments of `plan`."""
    if wish == "promise":
        return {"constraints": {"precision": value}, "prior": prior}
    if wish == "width":
        return {"width": value, "prior": prior}
    if wish == "gate":
        return {"margin": value, "prior": prior}
    return {"difference": value}


def did(wish: str, value: float, prior: float, given: list[pl.DataFrame], rows: int) -> np.ndarray:
    """Whether the functions did what was wished for in each study."""
    cluster = ["cluster"] if rows > 1 else []
    if wish in ("promise", "width"):
        table = pl.concat(
            one.select("truth", "cluster", score="A", study=pl.lit(i))
            for i, one in enumerate(given)
        )
        cases = pr.cases(table, truth="truth", score="score", by="study", cluster=cluster)
        if wish == "promise":
            points = pr.operating_points(
                cases, "max_recall", priors=prior, constraints={"precision": value}, confidence=0.95
            )
            return points["promise"].is_not_null().to_numpy()
        found = pr.evaluate(cases, measures="auprec", priors=prior, intervals="logit")
        return ((found["upper"] - found["lower"]) / 2 <= value).fill_null(False).to_numpy()
    roles = {"truth": "truth", "score": ["A", "B"], "cluster": cluster}
    if wish == "gate":
        models = {"champion": "A", "challenger": "B", "margin": value}
        results = [pr.gate(one, **roles, **models, measure="auprec", prior=prior) for one in given]
        return np.array([one.verdict == "pass" for one in results])
    pairs = [pr.compare(one, "auc", **roles).pairs for one in given]
    return np.array([one["upper"].item() < 0 for one in pairs])


def cell(
    wish: str, positives: int, prior: float, rows: int, count: int, seed: int
) -> dict[str, object] | None:
    """One row of the table; None where no value that is tried has a chance between 2 and 98 %."""
    negatives = round(positives * (1 - prior) / prior)
    sizes = {"positives": positives, "negatives": negatives}
    if rows > 1:
        sizes |= {"cluster_rows": rows, "cluster_correlation": ALIKE}
    said = {}
    # From a value of which the chance is small to one of which it is large, or the other way.
    for value in TRIED[wish]:
        if wish == "compare" and AUC + value >= 1:
            continue
        found = pr.plan(auc=AUC, **asked(wish, value, prior), **sizes, seed=seed)
        said[value] = found.table["chance"].item()
        if len(said) > 1 and (said[value] - 0.5) * (said[[*said][-2]] - 0.5) <= 0:
            break
    value = min(said, key=lambda one: abs(said[one] - 0.5))
    if not 0.02 < said[value] < 0.98:
        return None
    count = max(min(count, MOST_ROWS // (positives + negatives)), 60)
    ahead = value if wish == "compare" else 0.0
    rng = np.random.default_rng([seed, 1, positives, negatives, rows, WISHES.index(wish)])
    given = [*studies(rng, count, positives, negatives, rows, ahead)]
    share = float(did(wish, value, prior, given, rows).mean())
    error = (share * (1 - share) / count) ** 0.5
    return {
        "wish": wish, "value": value, "positives": positives, "negatives": negatives, "rows": rows,
        "said": said[value], "done": share, "error": error, "studies": count, "prior": prior,
        "held": abs(said[value] - share) <= ALLOWED + 2 * error,
    }  # fmt: skip


def table_of(found: pl.DataFrame) -> str:
    """The largest difference by wish, clusters and positives, and how many cells hold."""
    lines = [
        "| wish | rows of a cluster | positives | cells | largest difference | mean | within |",
        "|---|---|---|---|---|---|---|",
    ]
    apart = (pl.col("said") - pl.col("done")).abs()
    summary = found.group_by("wish", "rows", "positives", maintain_order=True).agg(
        pl.len().alias("cells"), apart.max().alias("most"), apart.mean().alias("mean"),
        pl.col("held").sum(),
    )  # fmt: skip
    for row in summary.sort("wish", "rows", "positives").iter_rows(named=True):
        lines.append(
            f"| {row['wish']} | {row['rows']} | {row['positives']} | {row['cells']} | "
            f"{row['most']:.3f} | {row['mean']:.3f} | {row['held']} |"
        )
    total = f"{found['held'].sum()} of {found.height} cells"
    return "\n".join([*lines, "", f"Within {ALLOWED} and two standard errors: {total}."])


def table_of_folds(count: int, seed: int) -> str:
    """The chance said of so many pilots with folds, and the share of studies that did it."""
    lines = ["| folds | chance said | pilots | mean | done | SE |", "|---|---|---|---|---|---|"]
    for repeats in REPEATS:
        found = [said_and_done([seed, repeats, one], repeats) for one in range(count)]
        said, done = np.array(found, dtype=float).T
        for low, high in pairwise(ENDS):
            own = (said >= low) & (said < high)
            if not own.any():
                continue
            share = done[own].mean()
            error = (said[own] * (1 - said[own])).mean() / own.sum()
            lines.append(
                f"| {5 * repeats} | {low:g} to {high:g} | {own.sum()} | {said[own].mean():.3f} | "
                f"{share:.3f} | {error**0.5:.3f} |"
            )
    return "\n".join(lines)


def written_to_page(name: str, table: str) -> None:
    """Put a table in its place on the page."""
    marked = f"<!-- {name} -->\n\n{table}\n\n<!-- end -->"
    place = re.compile(rf"<!-- {name} -->\n.*?<!-- end -->", re.DOTALL)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(place.sub(lambda _: marked, page), encoding="utf-8")


def main() -> None:
    """Print the chances, or write the table of the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--positives", type=int, nargs="+", default=POSITIVES)
    parser.add_argument("--priors", type=float, nargs="+", default=PRIORS)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--wishes", nargs="+", choices=WISHES, default=WISHES)
    parser.add_argument("--folds", type=int, default=0, help="pilots with folds, and nothing else")
    parser.add_argument("--write", action="store_true", help="write the table of the page")
    options = parser.parse_args()
    if options.folds:
        written = table_of_folds(options.folds, options.seed)
        written_to_page("folds", written) if options.write else print(written)
        return
    # How many cases would do is not asked, and takes most of the time.
    promises.cases_needed = lambda *_: "not asked"
    rows = []
    for wish, positives, prior, each in product(
        options.wishes, options.positives, options.priors, options.rows
    ):
        start = time.perf_counter()
        row = cell(wish, positives, prior, each, options.studies, options.seed)
        if row is None:
            print(f"{wish} {positives} {prior:g} {each}: no even chance", flush=True)
            continue
        rows.append(row)
        shown = [f"{one:.3f}" if isinstance(one, float) else str(one) for one in row.values()]
        print(*shown, f"{time.perf_counter() - start:.1f} s", flush=True)
    found = pl.DataFrame(rows)
    if options.write:
        key = ["wish", "positives", "prior", "rows"]
        if CELLS.exists():
            found = pl.concat([pl.read_csv(CELLS), found]).unique(key, keep="last")
        found.sort(key).write_csv(CELLS, float_precision=6)
    written = table_of(found)
    if options.write:
        written_to_page("chances", written)
    else:
        print(written)


if __name__ == "__main__":
    main()
