"""Binormal samples, as rows or as curves, and what their measures truly are."""

from itertools import pairwise

import numpy as np
import polars as pl
from numpy.polynomial.legendre import leggauss
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

AUC = 0.898
SHIFT = float(norm.ppf(AUC) * np.sqrt(2))
LEVELS = 5


def shift(auc: float) -> float:
    """How far the scores of positives lie above those of negatives, in standard deviations."""
    return float(norm.ppf(auc) * np.sqrt(2))


def replications(count: int, positives: int, seed: int) -> pl.DataFrame:
    """Replications of a sample with AUC 0.898, one key each."""
    rows = 5 * positives
    scores = np.random.default_rng(seed).normal(size=(count, rows))
    scores[:, :positives] += SHIFT
    return pl.DataFrame(
        {
            "replication": np.repeat(np.arange(count), rows),
            "truth": np.tile(np.arange(rows) < positives, count),
            "score": scores.ravel(),
        }
    )


def samples(
    count: int, positives: int, negatives: int, auc: float, *, rounded: bool, seed: int
) -> pl.DataFrame:
    """Replications of a sample, as rows that count cases of one class and score.

    Scores are normal, or rounded to five levels. The negatives between two
    positives are drawn as one number, so that they cost nothing.
    """
    rng = np.random.default_rng(seed)
    if rounded:
        rates = np.append(norm.sf(cuts(auc)[:, None] - [shift(auc), 0]), [[1, 1]], axis=0)
        shares = np.diff(rates, axis=0, prepend=0)
        pos = rng.multinomial(positives, shares[:, 0], size=count)
        neg = rng.multinomial(negatives, shares[:, 1], size=count)
    else:
        scores = np.sort(rng.normal(shift(auc), 1, (count, positives)))[:, ::-1]
        gaps = np.diff(norm.sf(scores), prepend=0, append=1).clip(0)
        drawn = rng.multinomial(negatives, gaps / gaps.sum(axis=1, keepdims=True))
        pos, neg = (np.zeros((count, 2 * positives + 1), np.int64) for _ in range(2))
        pos[:, 1::2], neg[:, ::2] = 1, drawn
    places = np.arange(pos.shape[1])
    return pl.concat(
        pl.DataFrame(
            {
                "replication": np.repeat(np.arange(count), places.size),
                "truth": np.full(own.size, truth),
                "score": -np.tile(places, count).astype(float),
                "count": own.ravel(),
            }
        ).filter(pl.col("count") > 0)
        for truth, own in ((True, pos), (False, neg))
    )


def cuts(auc: float) -> np.ndarray:
    """The thresholds of five levels that are equally frequent where the classes are."""
    mean = shift(auc)

    def above(cut: float) -> float:
        return (norm.sf(cut - mean) + norm.sf(cut)) / 2

    return np.array(
        [brentq(lambda cut, q=q: above(cut) - q / LEVELS, -12, 15) for q in range(1, LEVELS)]
    )


def auprec(prior: float, auc: float = AUC, *, rounded: bool = False) -> float:
    """∫ precision dt along the curve t = Φ(μ − c), f = Φ(−c), or its chords between levels."""
    skew, mean = (1 - prior) / prior, shift(auc)
    if rounded:
        return sum(
            quad(lambda u, a=a, b=b: chord(a, b, u, skew), 0, 1, epsabs=1e-11)[0]
            for a, b in chords(auc)
        )

    def at(threshold: float) -> float:
        t, f = norm.sf(threshold - mean), norm.sf(threshold)
        return float(norm.pdf(threshold - mean) * t / (t + skew * f))

    return quad(at, mean - 9, mean + 9, epsabs=1e-11)[0]


def chords(auc: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """The two ends of each chord, as (t, f)."""
    rates = norm.sf(cuts(auc)[:, None] - [shift(auc), 0])
    points = np.concatenate([[[0.0, 0.0]], rates, [[1.0, 1.0]]])
    return list(pairwise(points))


def chord(start: np.ndarray, end: np.ndarray, share: float, skew: float) -> float:
    """Precision times the rise of a chord, at a share of its length."""
    t, f = start + share * (end - start)
    return float((end - start)[0] * (t / (t + skew * f) if t > 0 else 0.0))


def true_auc(auc: float, *, rounded: bool = False) -> float:
    """The area under the curve, or under its chords."""
    if not rounded:
        return auc
    return sum(float((b[0] - a[0]) * (1 - (a[1] + b[1]) / 2)) for a, b in chords(auc))


def iauprec(over: tuple[float, float], auc: float = AUC, *, rounded: bool = False) -> float:
    """The mean of AUPREC over a range of priors."""
    lo, hi = over
    mean = quad(lambda prior: auprec(prior, auc, rounded=rounded), lo, hi, epsabs=1e-8)[0]
    return mean / (hi - lo)


def balanced_point(prior: float, auc: float = AUC, *, rounded: bool = False) -> tuple[float, float]:
    """FNr and FPr where missed positives are as many as false alarms."""
    if rounded:
        for start, end in chords(auc):
            excess = [prior * (1 - t) - (1 - prior) * f for t, f in (start, end)]
            if excess[1] <= 0:
                t, f = start + excess[0] / (excess[0] - excess[1]) * (end - start)
                return float(1 - t), float(f)
    mean = shift(auc)
    cut = brentq(
        lambda at: prior * norm.cdf(at - mean) - (1 - prior) * norm.sf(at), -12, 15, xtol=1e-14
    )
    return float(norm.cdf(cut - mean)), float(norm.sf(cut))


def balanced_values(
    over: tuple[float, float], auc: float = AUC, *, rounded: bool = False
) -> dict[str, float]:
    """The measures of balanced points of the population."""
    ends = np.array([balanced_point(prior, auc, rounded=rounded) for prior in over])
    nodes, weights = leggauss(100)
    priors = over[0] + (over[1] - over[0]) * (nodes + 1) / 2
    errors = [2 * at * balanced_point(at, auc, rounded=rounded)[0] for at in priors]
    error, sens = float(errors @ weights / 2), float(np.hypot(*(ends[0] - ends[1])) / np.sqrt(2))
    return {
        "sens": sens,
        "auc_range": 1 - error,
        "accsens": float(np.hypot(error, sens) / np.sqrt(2)),
        "equal_error": balanced_point(0.5, auc, rounded=rounded)[0],
    }


def true_values(over: tuple[float, float]) -> dict[str, float]:
    """AUC and IAUPREC of the population."""
    return {"auc": AUC, "iauprec": iauprec(over)}
