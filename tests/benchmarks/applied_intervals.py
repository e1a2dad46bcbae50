"""How often intervals of applied thresholds, decisions and costs hold the truth.

``python tests/benchmarks/applied_intervals.py [--runs N] [--write] [PART ...]``, parts are "known",
"belief", "rates", "estimated", "measures", "decisions" and "costs". With a known
prior or a belief, and of rates with few cases, every possible table is counted with its
probability, so that these figures have no error of simulation; the others are over simulated
binormal scores. With ``--write`` the tables of "rates", "decisions" and "costs" go to
``docs/concepts/limits.md``.
"""

import argparse
import re
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import binom, norm

import polaroc as pr
from polaroc.priors.in_use import BelievedPrior, KnownPrior
from polaroc.thresholds.rate_intervals import (
    Calls,
    Costs,
    Meld,
    limits,
)

QUANTITIES = ("precision", "posfrac", "cost")
COSTS = Costs(10, 1)
RECALLS = (0.02, 0.1, 0.3, 0.5, 0.6, 0.75, 0.85, 0.93, 0.97, 0.995)
ALARMS = (0.002, 0.01, 0.03, 0.07, 0.13, 0.2, 0.35, 0.5, 0.8)
SIZES = ((20, 20), (20, 80), (50, 20), (30, 60))
ROUNDING = 1e-7
PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "limits.md"
WITHOUT_PRIOR = ("likelihood_ratio_positive", "likelihood_ratio_negative", "informedness")
# Of these rates of a threshold all tables are counted, up to so many.
SIZES_OF_RATES = ((15, 15), (15, 135), (30, 60), (100, 400), (500, 2_000))
MOST_TABLES = 5_000


def value(quantity, t, f, prior):
    return Meld(quantity, None, None, None, COSTS).value(t, f, prior)


def every_table(positives, negatives):
    """Calls of every possible table."""
    x, y = (a.ravel().astype(float) for a in np.mgrid[: positives + 1, : negatives + 1])
    return Calls(x, x, np.full_like(x, positives)), Calls(y, y, np.full_like(y, negatives))


def enumerated(positives, negatives, prior, draws):
    """Least and mean coverage of each quantity over pairs of rates, and the worst tail."""
    tables = every_table(positives, negatives)
    rows = {}
    for quantity in QUANTITIES:
        low, high = limits(quantity, *tables, prior, 0.95, COSTS)
        held, tails = [], []
        for t, f in product(RECALLS, ALARMS):
            weights = np.outer(
                binom.pmf(np.arange(positives + 1), positives, t),
                binom.pmf(np.arange(negatives + 1), negatives, f),
            ).ravel()
            truth = value(quantity, np.full_like(draws, t), np.full_like(draws, f), draws)
            above = np.mean([weights @ (low > one + ROUNDING) for one in truth])
            under = np.mean([weights @ (high < one - ROUNDING) for one in truth])
            held.append(1 - above - under)
            tails += [above, under]
        rows[quantity] = {"least": min(held), "mean": np.mean(held), "worst tail": max(tails)}
    return rows


def known():
    for sizes, prior in product(SIZES, (0.01, 0.1, 0.5)):
        rows = (sizes[0] + 1) * (sizes[1] + 1)
        found = enumerated(*sizes, KnownPrior(np.full(rows, prior)), np.array([prior]))
        for quantity, figures in found.items():
            yield {"sizes": str(sizes), "prior": str(prior), "of": quantity} | figures


def is_counted(sizes):
    return (sizes[0] + 1) * (sizes[1] + 1) <= MOST_TABLES


def tables_of(rng, sizes, pairs, runs):
    """Tables, and their probabilities at each pair of rates: all of small sizes, else samples."""
    if is_counted(sizes):
        positives, negatives = every_table(*sizes)
        x, y = positives.least, negatives.least
        weights = [binom.pmf(x, sizes[0], t) * binom.pmf(y, sizes[1], f) for t, f in pairs]
        return x, y, weights
    drawn = [np.stack([rng.binomial(n, rate, runs) for n, rate in zip(sizes, pair, strict=True)])
             for pair in pairs]  # fmt: skip
    found, place = np.unique(np.concatenate(drawn, axis=1), axis=1, return_inverse=True)
    parts = np.split(place.ravel(), len(pairs))
    weights = [np.bincount(part, minlength=found.shape[1]) / runs for part in parts]
    return *found.astype(float), weights


def rates(runs):
    """Least and mean coverage of further rates, over pairs of rates.

    Specificity and misses are one less a rate of Clopper and Pearson, accuracy is one less error.
    """
    rng = np.random.default_rng(0)
    every = [*product((0.3, 0.6, 0.85, 0.97), (0.01, 0.07, 0.2, 0.5))]
    for sizes in SIZES_OF_RATES:
        pairs = every if is_counted(sizes) else every[::3]
        x, y, weights = tables_of(rng, sizes, pairs, runs)
        calls = [
            Calls(own, own, np.full_like(own, n)) for own, n in zip((x, y), sizes, strict=True)
        ]
        row = {"cases": f"{sizes[0]} + {sizes[1]:,}"}
        of_priors = [*product(("npv", "f_measure", "error"), (0.01, 0.1, 0.3))]
        for rate, prior in [*((one, None) for one in WITHOUT_PRIOR), *of_priors]:
            at = 0.5 if prior is None else prior
            low, high = limits(rate, *calls, KnownPrior(np.full(len(x), at)), 0.95, COSTS)
            held = []
            for pair, weight in zip(pairs, weights, strict=True):
                truth = getattr(pr.rates, rate)(*pair, (1 - at) / at)
                inside = (low <= truth + ROUNDING) & (truth - ROUNDING <= high)
                held.append(weight @ inside)
            name = rate if prior is None else f"{rate} at {prior}"
            row[name] = f"{min(held):.3f} · {np.mean(held):.3f}"
        yield row


def belief():
    shares = (np.arange(200) + 0.5) / 200
    for sizes, over in product(((20, 20), (20, 40)), (pr.uniform(0.05, 0.2), pr.beta(2, 18))):
        rows = (sizes[0] + 1) * (sizes[1] + 1)
        in_use = BelievedPrior(over.distribution, np.full(rows, over.mean))
        found = enumerated(*sizes, in_use, over.distribution.quantile(shares))
        for quantity, figures in found.items():
            yield {"sizes": str(sizes), "prior": str(over), "of": quantity} | figures


def binormal(rng, runs, positives, negatives, distance):
    """Truth, raw score and the posterior at the share of positives, of as many tables."""
    truth = np.tile(np.r_[np.ones(positives, bool), np.zeros(negatives, bool)], runs)
    raw = rng.normal(size=truth.size) + distance * truth
    odds = positives / negatives * np.exp(distance * raw - distance**2 / 2)
    run = np.repeat(np.arange(runs), positives + negatives)
    return pl.DataFrame({"run": run, "truth": truth, "raw": raw, "score": odds / (1 + odds)})


def deployed(rng, runs, cases, prior, distance, odds):
    truth = rng.random(runs * cases) < prior
    raw = rng.normal(size=truth.size) + distance * truth
    odds = odds * np.exp(distance * raw - distance**2 / 2)
    return pl.DataFrame(
        {"run": np.repeat(np.arange(runs), cases), "raw": raw, "score": odds / (1 + odds)}
    )


def coverage_at_estimates(rng, runs, sizes, distance, prior, method, cases=1000):
    """Coverage at an estimated prior; the reference is another table, or the test table."""
    test, other = (binormal(rng, runs, *sizes, distance) for _ in range(2))
    use = deployed(rng, runs, cases, prior, distance, sizes[0] / sizes[1])
    limit = norm.ppf(0.9)
    odds = sizes[0] / sizes[1] * np.exp(distance * limit - distance**2 / 2)
    score, threshold = ("score", odds / (1 + odds)) if method == "em" else ("raw", limit)
    columns = {"truth": "truth", "score": score, "by": "run"}
    points = pr.curve(other, **columns).pipe(
        pr.operating_points, "threshold", target=threshold, priors=prior
    )
    # The threshold itself, not the nearest score above it.
    points = points.with_columns(pl.lit(threshold).alias("threshold"))
    truth = {name: float(value(name, norm.sf(limit - distance), 0.1, prior)) for name in QUANTITIES}
    figures = {}
    for name, reference in (("other", other), ("same", test)):
        estimates = pr.estimate_prior(reference, use, **columns, method=method)
        judged = pr.apply_thresholds(
            test, points, **columns, priors=estimates, intervals=True, cost_fn=10
        ).drop_nulls("precision_lower")
        for quantity in QUANTITIES:
            held = pl.lit(truth[quantity]).is_between(
                pl.col(f"{quantity}_lower") - ROUNDING, pl.col(f"{quantity}_upper") + ROUNDING
            )
            figures[f"{quantity}, {name}"] = judged.select(held.mean()).item()
    return figures


def estimated(runs):
    rng = np.random.default_rng(0)
    for sizes, distance, prior, method in product(
        ((50, 200), (50, 50)), (1.5, 2.5), (0.05, 0.2), ("em", "confusion")
    ):
        row = {"sizes": str(sizes), "d": str(distance), "prior": str(prior), "method": method}
        yield row | coverage_at_estimates(rng, runs, sizes, distance, prior, method)


def auprec_at_estimates(rng, runs, sizes, distance, prior, method, cases=1000, chunk=20):
    """Coverage of AUPREC at an estimated prior."""
    recall = (np.arange(100_000) + 0.5) / 100_000
    fpr = norm.sf(norm.isf(recall) + distance)
    truth = float(np.mean(recall / (recall + (1 - prior) / prior * fpr)))
    figures = {}
    for name in ("other", "same"):
        held = []
        for _ in range(runs // chunk):
            test, other = (binormal(rng, chunk, *sizes, distance) for _ in range(2))
            use = deployed(rng, chunk, cases, prior, distance, sizes[0] / sizes[1])
            score = "score" if method == "em" else "raw"
            columns = {"truth": "truth", "score": score, "by": "run"}
            reference = test if name == "same" else other
            estimates = pr.estimate_prior(reference, use, **columns, method=method)
            found = pr.evaluate(
                test, **columns, priors=estimates, intervals=True, measures="auprec"
            ).drop_nulls("lower")
            held += found.select(pl.lit(truth).is_between("lower", "upper")).to_series().to_list()
        figures |= {f"AUPREC, {name}": np.mean(held), f"tables, {name}": str(len(held))}
    return figures


def measures(runs):
    rng = np.random.default_rng(0)
    for sizes, distance, prior, method in product(
        ((50, 200), (50, 50)), (1.5, 2.5), (0.05, 0.2), ("em", "confusion")
    ):
        row = {"sizes": str(sizes), "d": str(distance), "prior": str(prior), "method": method}
        yield row | auprec_at_estimates(rng, runs, sizes, distance, prior, method)


def patients(rng, runs, sizes, distance, rows):
    """Tables of probabilities that are right at their share of positives; rows of a patient alike.

    `sizes` count patients of either class. With one row each they are independent cases.
    """
    count = sum(sizes)
    patient = np.tile(np.repeat(np.arange(count), rows), runs)
    truth = patient < sizes[0]
    shared = np.repeat(rng.normal(size=runs * count), rows)
    noise = shared if rows == 1 else 0.5**0.5 * (shared + rng.normal(size=truth.size))
    odds = sizes[0] / sizes[1] * np.exp(distance * (distance * truth + noise) - distance**2 / 2)
    run = np.repeat(np.arange(runs), count * rows)
    table = {"run": run, "truth": truth, "score": odds / (1 + odds), "patient": patient}
    return pl.DataFrame(table)


KINDS = [((15, 60), 1), ((15, 135), 1), ((50, 200), 1), ((100, 900), 1), ((500, 2_000), 1),
         ((10, 40), 10), ((20, 60), 10)]  # fmt: skip


def kinds(rng, runs):
    """Kinds of tables, with words for the size, and the roles of their columns."""
    for (sizes, rows), auc in product(KINDS, (0.8, 0.95)):
        distance = 2**0.5 * norm.ppf(auc)
        words = f"{sizes[0]} + {sizes[1]:,}" + ("" if rows == 1 else f" patients, {rows} rows each")
        roles = {"truth": "truth", "score": "score", "by": "run"}
        table = patients(rng, runs, sizes, distance, rows)
        roles |= {} if rows == 1 else {"cluster": "patient"}
        if rows == 1:
            table = table.drop("patient")
        yield {"positives + negatives": words, "AUC": str(auc)}, table, distance, roles


def decisions(runs):
    """Coverage of limits of the net benefit at the threshold where they hold least often."""
    at = np.array([0.02, 0.1, 0.25, 0.5])
    for row, table, distance, roles in kinds(np.random.default_rng(0), runs):
        for prior in (0.01, 0.1, 0.3):
            cut = np.log(at / (1 - at) * (1 - prior) / prior) / distance + distance / 2
            weight = (1 - prior) * at / (1 - at)
            truth = prior * norm.sf(cut - distance) - weight * norm.sf(cut)
            found = pr.decision_curve(table, at, prior, **roles, intervals=True)
            low, high = (found[end].to_numpy().reshape(runs, -1) for end in ("lower", "upper"))
            known = ~np.isnan(low).any(axis=1)
            inside = ((low <= truth + ROUNDING) & (truth - ROUNDING <= high))[known]
            row[f"{prior}"] = float(inside.mean(axis=0).min())
        yield row


def costs(runs):
    """Coverage of limits of the expected cost, where there are any; the least of three costs."""
    for row, table, distance, roles in kinds(np.random.default_rng(0), runs):
        for over in (0.01, 0.1, 0.3, (0.05, 0.2)):
            held, given = [], []
            for share in (0.5, 0.8, 0.95):
                found = pr.expected_cost(table, **roles, over=over, cost=share, intervals=True)
                at = np.linspace(*over, 2_001) if isinstance(over, tuple) else np.array([over])
                odds = share * at / ((1 - share) * (1 - at))
                cut = distance / 2 - np.log(odds) / distance
                least = share * at * norm.cdf(cut - distance)
                least += (1 - share) * (1 - at) * norm.sf(cut)
                known = found.drop_nulls("cost_following_lower")
                inside = pl.lit(least.mean()).is_between(
                    "cost_following_lower", "cost_following_upper"
                )
                given.append(known.height / runs)
                held.append(known.select(inside.mean()).item() if known.height > runs / 4 else None)
            some = [one for one in held if one is not None]
            where = f"{over[0]:g} to {over[1]:g}" if isinstance(over, tuple) else f"prior {over:g}"
            row[where] = f"{min(some):.3f}" if some else "none"
            row[where] += f" of {min(given):.0%}" if 0 < min(given) < 1 else ""
        yield row


def write(part, rows):
    """Put the table of a part between its marks on the page."""

    def cells(values):
        return f"| {' | '.join(values)} |"

    shown = [
        [one if isinstance(one, str) else f"{one:.3f}" for one in row.values()] for row in rows
    ]
    lines = [cells(rows[0]), cells(["---"] * len(rows[0])), *map(cells, shown)]
    start, end = f"<!-- applied-intervals {part} -->", f"<!-- /applied-intervals {part} -->"
    page = PAGE.read_text()
    between = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if not between.search(page):
        raise SystemExit(f"{PAGE} has no {start}")
    PAGE.write_text(between.sub(lambda _: "\n".join([start, "", *lines, "", end]), page))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["known", "belief", "estimated", "measures"])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--write", action="store_true", help=f"to {PAGE.name}, between its marks")
    asked = parser.parse_args()
    for part in asked.parts:
        rows = {
            "known": known,
            "belief": belief,
            "rates": lambda: rates(asked.runs),
            "estimated": lambda: estimated(asked.runs),
            "measures": lambda: measures(asked.runs),
            "decisions": lambda: decisions(asked.runs),
            "costs": lambda: costs(asked.runs),
        }[part]()
        table = None
        if asked.write:
            write(part, [*rows])
            continue
        for row in rows:
            if table is None:
                table = Table(*row, title=f"{part}, nominal 0.95")
            table.add_row(*(one if isinstance(one, str) else f"{one:.3f}" for one in row.values()))
        Console(width=150).print(table)


if __name__ == "__main__":
    main()
