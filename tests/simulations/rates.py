"""How often 0.95 intervals of rates, net benefits and costs at thresholds hold the true value.

known
    Precision, share of cases called positive and cost of `apply_thresholds` at a known prior: every
    possible table of few cases is counted with its probability, over 90 pairs of recall and false
    positive rate, so that nothing here has an error of simulation.
further
    The further rates of `apply_thresholds`, over 16 pairs of rates; with many cases samples of six.
decisions
    The net benefit of `decision_curve` on binormal scores, at the threshold probability where
    limits hold least often. Rows of a patient share half the variance of their scores.
picked
    The limits of `report` for both rates at a threshold of a precision or of costs that was set on
    the same test set, of binormal scores.
"""

from itertools import product

import numpy as np
import polars as pl
from scipy.stats import binom, norm

import polaroc as pr
from polaroc.base.statistics import binomial_band
from polaroc.models.fold_thresholds import Folds, rates_within_folds
from polaroc.reports.thresholds import PICKED
from polaroc.thresholds.rules import Need
from simulations.design import Design

QUANTITIES, COST_FN = ("precision", "posfrac", "cost"), 10
RECALLS = (0.02, 0.1, 0.3, 0.5, 0.6, 0.75, 0.85, 0.93, 0.97, 0.995)
ALARMS = (0.002, 0.01, 0.03, 0.07, 0.13, 0.2, 0.35, 0.5, 0.8)
FEWER = list(product((0.3, 0.6, 0.85, 0.97), (0.01, 0.07, 0.2, 0.5)))
FURTHER = (
    ("likelihood_ratio_positive", None), ("likelihood_ratio_negative", None),
    ("informedness", None),
    *product(("npv", "f_measure", "error"), (0.01, 0.1, 0.3)),
)  # fmt: skip
ROUNDING = 1e-7
# All tables are counted, up to so many.
MOST_TABLES = 5_000


def tables_of(
    rng: np.random.Generator, sizes: tuple[int, int], pairs: list[tuple[float, float]], runs: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Positives and negatives called, and the probabilities of both at each pair of rates.

    These are all tables of small sizes, else samples.
    """
    if (sizes[0] + 1) * (sizes[1] + 1) <= MOST_TABLES:
        x, y = (a.ravel() for a in np.mgrid[: sizes[0] + 1, : sizes[1] + 1])
        weights = [binom.pmf(x, sizes[0], t) * binom.pmf(y, sizes[1], f) for t, f in pairs]
        return np.stack([x, y]), weights
    drawn = [
        np.stack([rng.binomial(n, rate, runs) for n, rate in zip(sizes, pair, strict=True)])
        for pair in pairs
    ]
    found, place = np.unique(np.concatenate(drawn, axis=1), axis=1, return_inverse=True)
    parts = np.split(place.ravel(), len(pairs))
    return found, [np.bincount(part, minlength=found.shape[1]) / runs for part in parts]


def judged(
    called: np.ndarray, sizes: tuple[int, int], prior: float, cost_fn: float, *rates: str
) -> pl.DataFrame:
    """`apply_thresholds` of tables with so many positives and negatives called, in their order."""
    tp, fp = called
    rows = pl.DataFrame({
        "table": np.repeat(np.arange(tp.size), 4),
        "truth": [True, True, False, False] * tp.size,
        "score": [0.9, 0.1] * (2 * tp.size),
        "n": np.stack([tp, sizes[0] - tp, fp, sizes[1] - fp], axis=1).ravel(),
    })  # fmt: skip
    return pr.apply_thresholds(
        rows, 0.5, by="table", count="n", priors=prior, intervals=True, cost_fn=cost_fn, rates=rates
    ).sort("table")


def two_sizes(cases: str) -> tuple[int, int]:
    """Positives and negatives."""
    positives, negatives = (int(one.replace(",", "")) for one in cases.split(" + "))
    return positives, negatives


def coverage(
    quantity: str, found: pl.DataFrame, weights: list[np.ndarray], true: list[float]
) -> dict[str, float]:
    """Least and mean over pairs of rates."""
    low, high = (found[f"{quantity}_{end}"].to_numpy() for end in ("lower", "upper"))
    held = [
        float(weight @ ((low <= one + ROUNDING) & (one - ROUNDING <= high)))
        for one, weight in zip(true, weights, strict=True)
    ]
    return {"least": min(held), "mean": float(np.mean(held))}


def true_value(quantity: str, t: float, f: float, prior: float) -> float:
    """A rate, or the cost, at true rates."""
    if quantity == "cost":
        return COST_FN * prior * (1 - t) + (1 - prior) * f
    value: float = getattr(pr.rates, quantity)(t, f, (1 - prior) / prior)
    return value


def of_known(replicates: int, seed: int, cases: str, prior: float) -> list[dict[str, object]]:
    """Coverage of the three quantities, by enumeration."""
    pairs, sizes = list(product(RECALLS, ALARMS)), two_sizes(cases)
    called, weights = tables_of(np.random.default_rng(seed), sizes, pairs, 0)
    found = judged(called, sizes, prior, COST_FN)
    return [
        {"of": name} | coverage(name, found, weights, [true_value(name, *p, prior) for p in pairs])
        for name in QUANTITIES
    ]


def of_further(replicates: int, seed: int, cases: str) -> list[dict[str, object]]:
    """Coverage of further rates; specificity, misses and accuracy are one less another."""
    sizes, rows = two_sizes(cases), []
    pairs = FEWER if (sizes[0] + 1) * (sizes[1] + 1) <= MOST_TABLES else FEWER[::3]
    called, weights = tables_of(np.random.default_rng(seed), sizes, pairs, replicates)
    for rate, prior in FURTHER:
        at = 0.5 if prior is None else prior
        found = judged(called, sizes, at, 1, rate)
        known = coverage(rate, found, weights, [true_value(rate, *pair, at) for pair in pairs])
        rows.append({"rate": rate, "prior": None if prior is None else str(prior)} | known)
    return rows


def patients(
    rng: np.random.Generator, runs: int, sizes: tuple[int, int], distance: float, rows: int
) -> pl.DataFrame:
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


def table_of(
    runs: int, seed: int, cases: str, auc: float
) -> tuple[pl.DataFrame, float, dict[str, str]]:
    """Tables of a kind, the distance of its classes, and the roles of its columns."""
    size, _, clustered = cases.partition(" patients")
    distance = 2**0.5 * norm.ppf(auc)
    rng = np.random.default_rng([seed, CASES.index(cases), int(100 * auc)])
    table = patients(rng, runs, two_sizes(size), distance, 10 if clustered else 1)
    roles = {"truth": "truth", "score": "score", "by": "run"}
    if clustered:
        return table, distance, roles | {"cluster": "patient"}
    return table.drop("patient"), distance, roles


def of_decisions(replicates: int, seed: int, cases: str, auc: float) -> list[dict[str, object]]:
    """Coverage at that of four threshold probabilities where it is least."""
    at, rows = np.array([0.02, 0.1, 0.25, 0.5]), []
    table, distance, roles = table_of(replicates, seed, cases, auc)
    for prior in (0.01, 0.1, 0.3):
        cut = np.log(at / (1 - at) * (1 - prior) / prior) / distance + distance / 2
        weight = (1 - prior) * at / (1 - at)
        true = prior * norm.sf(cut - distance) - weight * norm.sf(cut)
        found = pr.decision_curve(table, at, prior, **roles, intervals=True)
        low, high = (found[end].to_numpy().reshape(replicates, -1) for end in ("lower", "upper"))
        known = ~np.isnan(low).any(axis=1)
        inside = ((low <= true + ROUNDING) & (true - ROUNDING <= high))[known]
        rows.append({"prior": str(prior), "holds": float(inside.mean(axis=0).min())})
    return rows


def of_picked(replicates: int, seed: int, cases: str, auc: float) -> list[dict[str, object]]:
    """Coverage of both rates, and the width of their limits over that of exact ones."""
    sizes, distance = two_sizes(cases), 2**0.5 * norm.ppf(auc)
    rng = np.random.default_rng([seed, *sizes, int(100 * auc)])
    truth, rows = np.arange(sum(sizes)) < sizes[0], []
    needs = {
        "cost 5:1": Need("cost", (0.2,), cost_fn=5), "cost 10:1": Need("cost", (0.05,), cost_fn=10),
        "precision 0.5": Need("precision", (0.2,), 0.5),
        "precision 0.3": Need("precision", (0.05, 0.2), 0.3),
    }  # fmt: skip
    for name, need in needs.items():
        held, widths = [], []
        for _ in range(replicates):
            score = rng.normal(size=truth.size) + distance * truth
            order = np.argsort(-score)
            fold = np.zeros(truth.size, int)
            folds = Folds(score[order], truth[order], fold + 1.0, fold, rng.permutation(truth.size))
            (at,) = folds.thresholds([need])
            if at is None:
                continue
            rates = rates_within_folds(folds, [need])
            for size, own, mean, shift in (
                (sizes[0], truth, rates.tpr[0, 0], distance),
                (sizes[1], ~truth, rates.fpr[0, 0], 0.0),
            ):
                called = (score[own] >= at).sum()
                low, high = binomial_band(called, size, PICKED * 0.05)
                low, high = min(low, mean), max(high, mean)
                exact = binomial_band(called, size, 0.05)
                held.append(low <= norm.sf(at - shift) <= high)
                widths.append((high - low) / (exact.upper - exact.lower))
        tpr, fpr = np.reshape(held, (-1, 2)).mean(axis=0)
        rows.append({"need": name, "tpr": tpr, "fpr": fpr, "width": float(np.mean(widths))})
    return rows


PATIENTS = ("10 + 40 patients, 10 rows each", "20 + 60 patients, 10 rows each")
CASES = ("15 + 60", "15 + 135", "50 + 200", "100 + 900", "500 + 2,000", *PATIENTS)
KINDS = [{"cases": cases, "auc": auc} for cases, auc in product(CASES, (0.8, 0.95))]
DESIGNS = {
    "known": Design(
        [{"cases": cases, "prior": prior} for cases, prior in product(
            ("20 + 20", "20 + 80", "50 + 20", "30 + 60"), (0.01, 0.1, 0.5))],
        of_known, 1,
    ),
    "further": Design(
        [{"cases": cases}
         for cases in ("15 + 15", "15 + 135", "30 + 60", "100 + 400", "500 + 2,000")],
        of_further, 1000,
    ),
    "decisions": Design(KINDS, of_decisions, 100),
    "picked": Design(
        [{"cases": cases, "auc": auc}
         for cases, auc in product(("20 + 80", "30 + 300", "100 + 400"), (0.7, 0.8, 0.95))],
        of_picked, 400,
    ),
}  # fmt: skip
