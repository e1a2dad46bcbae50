import numpy as np

from polaroc.deployment.estimators import Labelled, Unlabelled


def expit(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def binormal(
    rng: np.random.Generator, rows: int, prior: float, distance: float, posterior: float
) -> tuple[np.ndarray, np.ndarray]:
    """The logit of the posterior at a prior, and the truth, of cases at another."""
    truth = (rng.random(rows) < prior).astype(int)
    raw = rng.normal(size=rows) + distance * truth
    return np.log(posterior / (1 - posterior)) + distance * raw - distance**2 / 2, truth


def labelled(score: np.ndarray, truth: np.ndarray) -> Labelled:
    distinct, place = np.unique(-score, return_inverse=True)
    pos, neg = (np.bincount(place[truth == y], minlength=len(distinct)) for y in (1, 0))
    return Labelled(-distinct, pos, neg)


def unlabelled(score: np.ndarray) -> Unlabelled:
    distinct, count = np.unique(-score, return_counts=True)
    return Unlabelled(-distinct, count)
