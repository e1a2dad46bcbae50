"""How often limits of costs and savings hold where each positive has an amount of its own.

``python tests/benchmarks/amounts.py [--runs N] [--seed S] [--write]``. A share has the standard
error √(share (1 − share) / runs).
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from unittest import mock

from amount_samples import MEASURES, held, lognormal, pareto
from clusters import as_page_table, write_table
from in_use import shown

from polaroc.uncertainty import savings

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "limits.md"
LAWS = (
    lognormal(1), lognormal(1, in_customers=True), lognormal(1.5), lognormal(2), pareto(3),
    pareto(2), pareto(1.5),
)  # fmt: skip
SIZES, MISSED, SEED = (50, 200, 1_000), (0.1, 0.5), 11


def coverage(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """Share of samples with limits, of these the share that hold; without the rule in brackets."""
    for law, positives, missed in product(LAWS, SIZES, MISSED):
        found = held(law, positives, missed, runs, seed)
        with mock.patch.object(savings, "WIDEST", float("inf")):
            every = held(law, positives, missed, runs, seed)
        row: dict[str, object] = {
            "amounts": law.words, "positives": f"{positives:,}", "missed": f"{100 * missed:.0f} %",
            "with limits": f"{found['given'][0] / runs:.2f}",
        }  # fmt: skip
        for place, measure in enumerate(MEASURES):
            given, own = found["given"][place], found["held"][place]
            told = f"{own / given:.3f}" if given >= runs / 20 else "–"
            row[measure] = f"{told} ({every['held'][place] / max(every['given'][place], 1):.3f})"
        yield row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [*coverage(asked.runs, asked.seed)]
    shown(f"amounts: {coverage.__doc__}", rows)
    if asked.write:
        write_table("amounts", as_page_table(rows), PAGE)
