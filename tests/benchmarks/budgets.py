"""Whether the labels that `label_budget` asks for give the width that was asked for.

``python tests/benchmarks/budgets.py [widths] [clusters] [alerts] [--runs N] [--seed S] [--write]``

Scores of negatives are normal, those of positives two standard deviations higher; the threshold is
1.8. `--write` puts the table into docs/concepts/monitoring.md.

*widths*: 20,000 cases in use, labels drawn by the budget and given to `monitor`. Reached is the
share of runs in which half of its interval is at most the width asked for.

*clusters*: patients of ten cases whose scores are alike, and whose classes are, in a reference of
50 or 400 patients and among 200 in use. How often the share of positives among the labels, each
as one over its chance, is within the width of what is true for all patients, where they are named
and where they are not. Runs in which all cases are said to be too few are left out, and counted.

*alerts*: labels of all alerts and of a share of the other cases, on twenty days of 5,000 cases.
Those of the last ten days are of half of the other positives, too, as these come to light sooner.
How often limits of all days together held, with and without the delay named.
"""

import argparse
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from clusters import write_table
from in_use import DISTANCE, THRESHOLD, shown
from scipy.stats import norm

import polaroc as pr

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "monitoring.md"
USED, SEED = 20_000, 7
REFERENCES = ((30, 270), (100, 900), (1_000, 9_000))
NAMES = {"truth": "truth", "score": "score", "points": THRESHOLD}
PATIENTS, ROWS = (50, 400), 10


def scored(rng: np.random.Generator, truth: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({"truth": truth, "score": rng.normal(size=truth.size) + DISTANCE * truth})


def drawn(rng: np.random.Generator, used: pl.DataFrame, budget: pl.DataFrame) -> pl.DataFrame:
    """The labels of a budget, with the chance of each."""
    score, parts = used["score"].to_numpy(), []
    for row in budget.iter_rows(named=True):
        low = -np.inf if row["from_score"] is None else row["from_score"]
        top = np.inf if row["to_score"] is None else row["to_score"]
        own = np.flatnonzero((score >= low) & (score < top))
        chosen = used[rng.choice(own, row["labels"], replace=False)]
        parts.append(chosen.with_columns(inclusion=pl.lit(row["inclusion"])))
    return pl.concat(parts)


def widths(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """Half widths by labels of a budget."""
    rates = norm.sf(THRESHOLD - DISTANCE), norm.sf(THRESHOLD)
    asked = (("prior", 0.04), ("prior", 0.02), ("precision", 0.08), ("precision", 0.04))
    for sizes, (quantity, width), prior in product(REFERENCES, asked, (0.1, 0.3)):
        rng, half, held, labels, at_random = np.random.default_rng(seed), [], 0, [], []
        share = prior * rates[0] + (1 - prior) * rates[1]
        true = prior if quantity == "prior" else prior * rates[0] / share
        for _ in range(runs):
            reference = scored(rng, np.repeat([True, False], sizes))
            used = scored(rng, rng.random(USED) < prior).with_columns(day=1)
            budget = pr.label_budget(
                reference, used.select("score"), **NAMES, quantity=quantity, width=width
            )
            found = pr.monitor(
                reference, used.drop("truth"), **NAMES, time="day",
                labelled=drawn(rng, used, budget),
            ).table.filter(quantity=f"{quantity}_labelled")  # fmt: skip
            low, top = found.select("lower", "upper").row(0)
            half.append((top - low) / 2)
            held += low <= true <= top
            labels.append(budget["labels"].sum())
            at_random.append(budget["at_random"][0])
        reached = np.mean(np.array(half) <= width)
        yield {
            "reference": "{:,} + {:,}".format(*sizes), "known is to be": quantity,
            "prior": f"{prior * 100:g} %", "to ±": width, "runs": runs,
            "labels": f"{np.mean(labels):.0f}", "at random": f"{np.mean(at_random):.0f}",
            "got ±": f"{np.mean(half):.3f}", "reached": f"{reached:.2f}",
            "SE": f"{np.sqrt(reached * (1 - reached) / runs):.2f}", "held": f"{held / runs:.2f}",
        }  # fmt: skip


def of_patients(rng: np.random.Generator, number: int, prior: float, alike: float) -> pl.DataFrame:
    """Cases of patients whose truths, and scores within a class, have this share in common."""
    patient = np.repeat(np.arange(number), ROWS)
    common = np.sqrt(alike) * rng.normal(size=(2, number))[:, patient]
    own = np.sqrt(1 - alike) * rng.normal(size=(2, patient.size))
    latent, noise = common + own
    truth = latent > norm.isf(prior)
    return pl.DataFrame({"truth": truth, "score": noise + DISTANCE * truth, "patient": patient})


def clusters(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """How near the share of positives is to that of all patients."""
    t, f = norm.sf(THRESHOLD - DISTANCE), norm.sf(THRESHOLD)
    asked = (("prior", 0.04, 0.2), ("precision", 0.08, 0.2))
    for (quantity, width, prior), number, alike, named in product(
        asked, PATIENTS, (0.0, 0.5), (False, True)
    ):
        rng, near, labels, few = np.random.default_rng(seed), [], [], 0
        true = prior if quantity == "prior" else prior * t / (prior * t + (1 - prior) * f)
        for _ in range(runs):
            reference = of_patients(rng, number, prior, alike)
            used = of_patients(rng, 200, prior, alike)
            cluster = {"cluster": "patient"} if named else {}
            without = reference if named else reference.drop("patient")
            budget = pr.label_budget(
                without, used.drop("truth"), **NAMES, **cluster, quantity=quantity, width=width
            )
            if budget["note"].str.contains("more cases are needed").any():
                few += 1
                continue
            found = drawn(rng, used, budget).select(
                (pl.col("truth") / pl.col("inclusion")).sum() / (1 / pl.col("inclusion")).sum()
            )
            near.append(abs(found.item() - true) <= width)
            labels.append(budget["labels"].sum())
        share = np.mean(near) if near else np.nan
        yield {
            "known is to be": quantity, "to ±": width, "reference": f"{number} patients",
            "correlation": alike, "named": "yes" if named else "no", "runs": runs,
            "labels": f"{np.mean(labels):.0f}" if labels else "–",
            "within the width": f"{share:.2f}" if near else "–",
            "SE": f"{np.sqrt(share * (1 - share) / len(near)):.2f}" if near else "–",
            "too few": f"{few / runs:.2f}",
        }  # fmt: skip


def alerts(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """Whether limits by labels of alerts, and of a share of the others, hold."""
    for (prior, lower, threshold), share, delay in product(
        ((0.05, 0.0, 2.0), (0.01, 0.0, 2.5), (0.01, 1.0, 2.5)), (0.01, 0.05), (10, None)
    ):
        rng, told = np.random.default_rng(seed), []
        t, f = norm.sf(threshold - DISTANCE + lower), norm.sf(threshold)
        called = prior * t + (1 - prior) * f
        cost = prior * (1 - t) + (1 - prior) * f
        true = {"prior": prior, "precision": prior * t / called, "recall": t, "cost": cost}
        for _ in range(runs):
            reference = scored(rng, np.repeat([True, False], (1_000, 9_000)))
            truth = rng.random(20 * 5_000) < prior
            used = scored(rng, truth).with_columns(
                pl.col("score") - lower * pl.col("truth"), day=np.repeat(np.arange(20), 5_000)
            )
            some, soon = rng.random((2, used.height))
            early = truth & (used["day"] >= 10).to_numpy() & (soon < 0.5)
            drawn = (used["score"] >= threshold).to_numpy() | (some < share) | early
            table = pr.monitor(
                reference, used.drop("truth"), truth="truth", score="score", points=threshold,
                time="day", labelled=used.filter(drawn), label_alerts=True, label_share="observed",
                label_delay=delay,
            ).labelled  # fmt: skip
            told.append({row["quantity"].removesuffix("_labelled"): row for row in
                         table.iter_rows(named=True)})  # fmt: skip
        known = [one for one in told if "recall" in one]
        held = {
            name: np.mean([one[name]["lower"] <= value <= one[name]["upper"] for one in known])
            for name, value in true.items()
        }
        half = np.mean([one["recall"]["upper"] - one["recall"]["lower"] for one in known]) / 2
        least = min(held.values())
        yield {
            "positives": f"{prior * 100:g} %, {lower:g} lower", "recall": f"{t:.2f}",
            "share of the others": f"{share:g}", "delay named": "yes" if delay else "no",
            "runs": runs, "days told": f"{np.mean([one['recall']['times'] for one in known]):.1f}",
            **{name: f"{value:.2f}" for name, value in held.items() if name != "recall"},
            "recall held": f"{held['recall']:.2f}", "recall to ±": f"{half:.3f}",
            "SE of the least": f"{np.sqrt(least * (1 - least) / runs):.3f}",
        }  # fmt: skip


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


PARTS: dict[str, Callable[[int, int], Iterator[dict[str, object]]]] = {
    "widths": widths, "clusters": clusters, "alerts": alerts,
}  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    for name in given.parts or PARTS:
        rows = [*PARTS[name](given.runs, given.seed)]
        shown(f"{name}: {PARTS[name].__doc__}", rows)
        if given.write:
            write_table(f"budgets {name}", as_page_table(rows), PAGE)
