"""Estimators of the prior, those of `estimate_prior` and others, on a grid of shifts.

``python tests/benchmarks/prior_estimators.py [--runs N]``: scores are normal, those of positives
`d` standard deviations higher, in 200 equal parts of both classes together; 1,000 cases in use.
"em" has the true posteriors at the prior of the reference, and posteriors whose logits are 1.5
times too large, as of an overconfident model. Error is the root of the mean square, in per cent of
that of "confusion".
"""

import argparse
from itertools import product

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import norm

from polaroc.base.statistics import normal
from polaroc.deployment.estimators import (
    Labelled,
    Unlabelled,
    adjusted_count,
    em_prior,
    nearest_prior,
)

FINE, BINS, USED, LEVEL = 200, 20, 1_000, 0.95
PRIORS = np.concatenate([np.linspace(0, 0.05, 51), np.linspace(0.05, 1, 191)[1:]])
BOOTSTRAP = 200
SIZES, DISTANCES, IN_USE = ((50, 150), (100, 900), (500, 500)), (1.2, 2.5), (0.02, 0.1, 0.5)


def shares(distance):
    """The edges of the parts, and the share of either class in each."""
    grid = np.linspace(-5, 5 + distance, 4_001)
    mixed = (norm.cdf(grid) + norm.cdf(grid - distance)) / 2
    edges = np.interp(np.arange(1, FINE) / FINE, mixed, grid)
    tails = [np.concatenate([[0], norm.cdf(edges - d), [1]]) for d in (distance, 0)]
    centres = np.interp((np.arange(FINE) + 0.5) / FINE, mixed, grid)
    return centres, *(np.diff(tail) for tail in tails)


def coarse(counts):
    return counts.reshape(*counts.shape[:-1], BINS, -1).sum(axis=-1)


def profile(positive, negative, used, steps=80):
    """The log likelihood at each of PRIORS, the shares of the bins being fitted (EM)."""
    p, q = ((one + 0.5) / (one + 0.5).sum() for one in (positive, negative))
    p, q = (np.repeat(one[None], PRIORS.size, axis=0) for one in (p, q))
    prior = PRIORS[:, None]
    for _ in range(steps):
        density = np.maximum(prior * p + (1 - prior) * q, 1e-300)
        of_positives = used * prior * p / density
        p, q = positive + of_positives, negative + used - of_positives
        p, q = (one / one.sum(axis=1, keepdims=True) for one in (p, q))
    density = np.maximum(prior * p + (1 - prior) * q, 1e-300)
    logs = [np.where(n > 0, n * np.log(np.maximum(one, 1e-300)), 0)
            for n, one in ((positive, p), (negative, q), (used, density))]  # fmt: skip
    return sum(logs).sum(axis=1)


def by_likelihood(positive, negative, used):
    """The greatest profile likelihood, and priors where it is near that."""
    logs = profile(positive, negative, used)
    inside = PRIORS[2 * (logs.max() - logs) <= normal(LEVEL) ** 2]
    # To half a step of the grid.
    return PRIORS[logs.argmax()], inside.min() - 0.0025, inside.max() + 0.0025


def smoothed(*counts):
    return [(one + 0.5) / (one + 0.5).sum(axis=-1, keepdims=True) for one in counts]


def by_hellinger(positive, negative, used):
    """The mixture of the least Hellinger distance in the bins (distribution matching)."""
    p, q, share = (one / one.sum() for one in (positive, negative, used))
    mixtures = PRIORS[:, None] * p + (1 - PRIORS[:, None]) * q
    return PRIORS[np.sqrt(mixtures * share).sum(axis=1).argmax()]


def by_ratio(positive, used, gamma=0.01, delta=0.1):
    """The least ratio of shares above a score, less what chance makes of it (best bin)."""
    tails = [one[::-1].cumsum() / one.sum() for one in (positive, used)]
    slack = sum(np.sqrt(np.log(4 / delta) / 2 / one.sum()) for one in (positive, used))
    above = np.maximum(tails[0], 1e-12)
    best = (tails[1] / above + (1 + gamma) / above * slack).argmin()
    return min(tails[1][best] / above[best], 1.0)


def by_squares(positive, negative, used):
    """The mixture whose cumulative shares are nearest."""
    t, f, share = (one.cumsum()[:-1] / one.sum() for one in (positive, negative, used))
    return float(nearest_prior(t, f, share, np.ones_like(t))[0])


def bootstrapped(rng, positive, negative, used):
    """Percentiles of "confusion" over tables drawn anew, at the threshold of greatest t − f."""
    t, f = (one[::-1].cumsum() / one.sum() for one in (positive, negative))
    at = (t - f).argmax() + 1
    drawn = [
        rng.binomial(one.sum(), one[::-1][:at].sum() / one.sum(), BOOTSTRAP) / one.sum()
        for one in (positive, negative, used)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        priors = (drawn[2] - drawn[1]) / (drawn[0] - drawn[1])
    return np.nanquantile(np.clip(priors, 0, 1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])


def once(rng, sizes, distance, prior):
    """Estimates and limits by name."""
    centres, p, q = shares(distance)
    positive, negative = rng.multinomial(sizes[0], p), rng.multinomial(sizes[1], q)
    used = rng.multinomial(USED, prior * p + (1 - prior) * q)
    binned = [coarse(one).astype(float) for one in (positive, negative, used)]
    logit = np.log(sizes[0] / sizes[1]) + distance * centres - distance**2 / 2
    found = {}
    for name, times in (("em", 1.0), ("em, overconfident", 1.5)):
        score = 1 / (1 + np.exp(-times * logit))
        known = Labelled(score[::-1], positive[::-1].astype(float), negative[::-1].astype(float))
        of_use = Unlabelled(score[::-1], used[::-1].astype(float))
        found[name] = em_prior(known, of_use, normal(LEVEL))
    found["confusion"] = adjusted_count(known, of_use, normal(LEVEL))
    found = {
        name: (np.nan,) * 3 if one.prior is None else (one.prior, one.lower, one.upper)
        for name, one in found.items()
    }
    found["likelihood"] = by_likelihood(*binned)
    found["bootstrap"] = found["confusion"][0], *bootstrapped(rng, positive, negative, used)
    for name, estimate in (
        ("hellinger", by_hellinger(*binned)), ("squares", by_squares(*binned)),
        ("best bin", by_ratio(positive, used)),
    ):  # fmt: skip
        found[name] = estimate, np.nan, np.nan
    return found


def compared(runs):
    for sizes, distance, prior in product(SIZES, DISTANCES, IN_USE):
        rng = np.random.default_rng(0)
        found = [once(rng, sizes, distance, prior) for _ in range(runs)]
        row = {"reference": str(sizes), "d": distance, "prior": prior}
        errors = {}
        for name in found[0]:
            estimates, lower, upper = np.array([one[name] for one in found]).T
            known = ~np.isnan(estimates)
            errors[name] = np.sqrt(np.mean((estimates[known] - prior) ** 2))
            row[name] = errors[name] / errors.get("confusion", 1)
            if not np.isnan(lower).all():
                held = (lower[known] <= prior) & (prior <= upper[known])
                row[f"{name}: held"] = held.mean()
                row[f"{name}: width"] = np.nanmean(upper - lower)
        for name in ("em", "em, overconfident"):
            row[name] /= errors["confusion"]
        row["confusion"] = errors["confusion"]
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    rows = list(compared(parser.parse_args().runs))
    for title, names in (
        ("Error, of confusion itself and of others as a share of it",
         [name for name in rows[0] if ":" not in name]),
        ("Coverage of intervals, and mean width",
         ["reference", "d", "prior", *(name for name in rows[0] if ":" in name)]),
    ):  # fmt: skip
        drawn = Table(*names, title=title)
        for row in rows:
            cells = (row[name] for name in names)
            drawn.add_row(*(f"{v:.3f}" if isinstance(v, float) else str(v) for v in cells))
        means = [np.mean([row[name] for row in rows]) for name in names[3:]]
        drawn.add_row("mean", "", "", *(f"{mean:.3f}" for mean in means))
        Console(width=200).print(drawn)


if __name__ == "__main__":
    main()
