"""Cases of several months, made from a seed."""

import numpy as np
import polars as pl

ROLES = {"truth": "truth", "score": "score", "time": "month"}


def months(seed, number=12, size=200, *, decay=0.0, sd=0.0, patients=0, prior=0.2):
    """Cases of months; positives score `decay` less each month, with a deviation of `sd`."""
    rng = np.random.default_rng(seed)
    month = np.repeat(np.arange(number), size)
    truth = rng.random(month.size) < prior
    shift = rng.normal(scale=sd, size=number) - decay * np.arange(number)
    patient = rng.integers(0, patients or month.size, month.size)
    own = rng.normal(size=patient.max() + 1)[patient] if patients else rng.normal(size=month.size)
    score = 0.7 * own + 0.7 * rng.normal(size=month.size) + truth * (1.5 + shift[month])
    return pl.DataFrame({"month": month, "truth": truth, "score": score, "patient": patient})


TABLE = months(1, decay=0.1, patients=300)
