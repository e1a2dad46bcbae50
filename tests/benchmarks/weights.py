"""How often tests and intervals err where rows have sampling weights.

``python tests/benchmarks/weights.py [--samples N] [--seed S] [--jobs J] [--write]``: scores of two
models are normal in each class. Weights of 1 to 20 say nothing of the scores, or cases of a low
score were drawn with a chance of one in 5 or 20, and weigh so much. Counted is what
``tests/benchmarks/clusters.py`` counts, and

rate
    in how many samples the limits of the recall at a fixed threshold hold the true one, at 0.95
    (``apply_thresholds(intervals=True)``).

In brackets, of every fourth sample: with the weights taken for counts of equal rows. With
``--write`` the counts go to ``tests/benchmarks/weights.csv``, and the table to
``docs/concepts/limits.md``; else it is printed.
"""

import argparse
import re
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import norm

import polaroc as pr

HERE = Path(__file__).parent
sys.path += [str(HERE.parent / "support"), str(HERE)]
import binormal  # noqa: E402
from clusters import APART, AUC, BOTH, OVER, PAGE, WORSE, outcomes  # noqa: E402
from clusters import NAMES as ROLES  # noqa: E402
from clusters import WORDS as OF_CLUSTERS  # noqa: E402

COUNTS = HERE / "weights.csv"
MARKED = re.compile(r"<!-- weights -->\n.*?<!-- end -->", re.DOTALL)
THRESHOLD = 1.0
WORDS = OF_CLUSTERS | {"rate": "recall"}


class Weights(NamedTuple):
    """About how many cases of each class there are, their heaviest weight, and what has it."""

    positives: int
    negatives: int
    heaviest: int = 20
    by_score: bool = False

    @property
    def words(self) -> tuple[str, str]:
        """The kind, in the table."""
        how = f"low scores {self.heaviest}" if self.by_score else f"any, 1 to {self.heaviest}"
        return f"{self.positives} + {self.negatives}", how


KINDS = (
    Weights(30, 170), Weights(60, 240), Weights(200, 800), Weights(60, 240, 5, by_score=True),
    Weights(200, 800, 5, by_score=True), Weights(200, 800, by_score=True),
)  # fmt: skip


def scored(rng: np.random.Generator, kind: Weights, aucs: tuple[float, float]) -> pl.DataFrame:
    """One sample, as two models score it."""
    truth = np.repeat([True, False], kind[:2])
    if kind.by_score:
        # About half of a class has a low score, of which few are kept.
        truth = np.repeat(truth, 2)
    row = rng.normal(size=truth.size)
    noise = [BOTH**0.5 * row + (1 - BOTH) ** 0.5 * rng.normal(size=truth.size) for _ in aucs]
    scores = [binormal.shift(auc) * truth + own for auc, own in zip(aucs, noise, strict=True)]
    kept, weight = np.full(truth.size, True), kind.heaviest ** rng.random(truth.size)
    if kind.by_score:
        is_low = noise[0] < 0
        kept = ~is_low | (rng.random(truth.size) < 1 / kind.heaviest)
        weight = np.where(is_low, float(kind.heaviest), 1.0)
    return pl.concat(
        pl.DataFrame(
            {"model": model, "row": np.arange(truth.size), "truth": truth, "score": score,
             "weight": weight}
        ).filter(kept)
        for model, score in zip(("champion", "challenger"), scores, strict=True)
    )  # fmt: skip


def counted(kind: Weights, samples: int, seed: int) -> list[dict[str, object]]:
    """What was found in so many samples of a kind, with weights and with these as counts."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    true = {"auc": AUC, "iauprec": binormal.iauprec(OVER, AUC)}
    recall = float(norm.sf(THRESHOLD - binormal.shift(AUC)))
    found: dict[str, Counter[str]] = {"weight": Counter(), "count": Counter()}
    of: dict[str, Counter[str]] = {"weight": Counter(), "count": Counter()}
    for sample in range(samples):
        equal, worse = scored(rng, kind, (AUC, AUC)), scored(rng, kind, (AUC, WORSE))
        for way, column in (("weight", pl.col("weight")), ("count", pl.col("weight").ceil())):
            if way == "count" and sample % APART:
                continue
            roles = ROLES | {way: column}
            for name, is_found in outcomes(equal, worse, roles, true):
                of[way][name] += 1
                found[way][name] += is_found
            judged = pr.apply_thresholds(
                equal.filter(model="champion"), THRESHOLD, **roles, intervals=True
            )
            low, high = judged.select("tpr_lower", "tpr_upper").row(0)
            if low is not None:
                of[way]["rate"] += 1
                found[way]["rate"] += low <= recall <= high
    return [
        {**kind._asdict(), "way": way, "what": name, "count": found[way][name],
         "of": of[way][name]}
        for way, name in product(found, WORDS)
    ]  # fmt: skip


def page_table(counts: pl.DataFrame) -> str:
    """The rates by kind, as a table of the page, those of counts in brackets."""
    heads = ["cases", "weights", *WORDS.values()]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for key, rows in counts.group_by(*Weights._fields, maintain_order=True):
        rate = {
            (way, what): f"{count / of:.3f}" if of else "–"
            for way, what, count, of in rows.select("way", "what", "count", "of").rows()
        }
        cells = [f"{rate['weight', name]} ({rate['count', name]})" for name in WORDS]
        lines.append(f"| {' | '.join([*Weights(*key).words, *cells])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the rates, or write the counts and the table of the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", type=int, nargs="+", default=list(range(len(KINDS))))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the counts and the page")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    # Threads of Polars do not survive a fork.
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        kinds = [KINDS[place] for place in options.kinds]
        for job in [pool.submit(counted, kind, options.samples, options.seed) for kind in kinds]:
            rows += job.result()
            print(page_table(pl.DataFrame(job.result())).splitlines()[-1], flush=True)
    if not options.write:
        return
    found = pl.DataFrame(rows)
    found.write_csv(COUNTS)
    table = f"<!-- weights -->\n{page_table(found)}<!-- end -->"
    PAGE.write_text(MARKED.sub(table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
