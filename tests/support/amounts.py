"""Predictions whose cases have costs of their own, and what thresholds cost by brute force."""

import numpy as np
import polars as pl

PRIORS = (0.02, 0.1, 0.4)


def cases(seed, size=400):
    """Scores of two models, with ties, and what a wrong call of each case costs."""
    rng = np.random.default_rng(seed)
    truth = np.arange(size) < size // 5
    shared = rng.normal(size=size)
    scores = {
        name: (shared + rng.normal(size=size) + gap * truth).round(1)
        for name, gap in (("A", 2.5), ("B", 1.0))
    }
    cost = np.where(truth, np.exp(4 + rng.normal(size=size)), rng.integers(0, 30, size))
    ids, sites = np.arange(size) + 10_000 * seed, rng.integers(0, 2, size)
    return pl.DataFrame({"id": ids, "truth": truth, "cost": cost, "site": sites, **scores})


def mean_costs(table):
    """The mean cost of a miss and of a false alarm."""
    of_class = dict(table.group_by("truth").agg(pl.col("cost").mean()).iter_rows())
    return {"cost_fn": of_class[True], "cost_fp": of_class[False]}


def class_costs(table, model, at):
    """What is missed per positive, and what alarms cost per negative, case by case."""
    sums, totals = {True: 0.0, False: 0.0}, {True: 0, False: 0}
    for truth, score, cost in table.select("truth", model, "cost").iter_rows():
        called = at is not None and score >= at
        sums[truth] += cost * (called != truth)
        totals[truth] += 1
    return sums[True] / totals[True], sums[False] / totals[False]


def cheapest(table, model, prior):
    """The highest threshold of least cost, None for calling nothing positive, and its cost."""
    found = None
    for at in [None, *sorted(table[model].unique(), reverse=True)]:
        missed, alarms = class_costs(table, model, at)
        own = prior * missed + (1 - prior) * alarms
        if found is None or own < found[1] * (1 - 1e-12):
            found = at, own
    return found
