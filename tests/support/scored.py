import numpy as np


def expit(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def binormal(
    rng: np.random.Generator, rows: int, prior: float, distance: float, posterior: float
) -> tuple[np.ndarray, np.ndarray]:
    """The logit of the posterior at a prior, and the truth, of cases at another."""
    truth = (rng.random(rows) < prior).astype(int)
    raw = rng.normal(size=rows) + distance * truth
    return np.log(posterior / (1 - posterior)) + distance * raw - distance**2 / 2, truth
