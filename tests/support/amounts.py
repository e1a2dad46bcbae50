"""Predictions whose cases have amounts, and what thresholds cost by brute force."""

import numpy as np
import polars as pl

PRIORS = (0.02, 0.1, 0.4)
ALARM = 20.0


def cases(seed, size=400, *, sigma=1.0, share=0.2, decimals=1):
    """Scores of two models, with ties; positives score more, and have amounts of their own."""
    rng = np.random.default_rng(seed)
    truth = np.arange(size) < share * size
    shared = rng.normal(size=size)
    scores = {
        name: (shared + rng.normal(size=size) + gap * truth).round(decimals)
        for name, gap in (("A", 2.5), ("B", 1.0))
    }
    amount = np.exp(4 + sigma * rng.normal(size=size))
    table = pl.DataFrame({"id": np.arange(size) + 10_000 * seed, "truth": truth, **scores})
    return table.with_columns(
        amount=amount, work=rng.integers(0, 30, size).astype(float), times=rng.integers(1, 4, size),
        site=rng.integers(0, 2, size), customer=rng.integers(0, size // 4, size),
    )  # fmt: skip


def class_costs(table, model, at, fn="amount", fp=ALARM, weight=None):
    """What is missed per positive, and what alarms cost per negative, case by case."""
    sums, totals = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    for row in table.iter_rows(named=True):
        times = 1 if weight is None else row[weight]
        called = at is not None and row[model] >= at
        cost = (row[fn] if isinstance(fn, str) else fn) * (not called) if row["truth"] else (
            (row[fp] if isinstance(fp, str) else fp) * called
        )  # fmt: skip
        sums[row["truth"]] += times * cost
        totals[row["truth"]] += times
    return sums[True] / totals[True], sums[False] / totals[False]


def cost(table, model, at, prior, **costs):
    missed, alarms = class_costs(table, model, at, **costs)
    return prior * missed + (1 - prior) * alarms


def cheapest(table, model, prior, **costs):
    """The highest threshold of least cost, None for calling nothing positive, and its cost."""
    found = None
    for at in [None, *sorted(table[model].unique(), reverse=True)]:
        own = cost(table, model, at, prior, **costs)
        if found is None or own < found[1] * (1 - 1e-12):
            found = at, own
    return found
