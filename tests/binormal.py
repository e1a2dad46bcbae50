"""Binormal samples with four negatives per positive, and what their measures truly are."""

import numpy as np
import polars as pl
from scipy.integrate import quad
from scipy.stats import norm

AUC = 0.898
SHIFT = float(norm.ppf(AUC) * np.sqrt(2))


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


def auprec(prior: float) -> float:
    """∫ precision dt along the curve t = Φ(μ − c), f = Φ(−c)."""
    skew = (1 - prior) / prior

    def at(threshold: float) -> float:
        t, f = norm.sf(threshold - SHIFT), norm.sf(threshold)
        return float(norm.pdf(threshold - SHIFT) * t / (t + skew * f))

    return quad(at, SHIFT - 9, SHIFT + 9, epsabs=1e-11)[0]


def true_values(over: tuple[float, float]) -> dict[str, float]:
    """AUC and IAUPREC of the population."""
    lo, hi = over
    return {"auc": AUC, "iauprec": quad(auprec, lo, hi, epsabs=1e-9)[0] / (hi - lo)}
