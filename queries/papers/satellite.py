"""P-ROC §6: three models on 20 hold-outs of the Satellite data."""

from typing import Any

import numpy as np
import polars as pl
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.classifiers import GaussianMixtures, NearestPrototypes
from papers.holdouts import holdouts
from polaroc.datasets import satellite

POSITIVE = ("cotton crop", "damp grey soil")
FOLDS = 20
SEED = 2005


def models(rng: np.random.Generator) -> dict[str, Any]:
    """Models A, B and C of P-ROC §6; they draw from one generator, A first."""
    return {
        "A": make_pipeline(StandardScaler(), PCA(3), GaussianMixtures(3, random_state=rng)),
        "B": NearestPrototypes(15, random_state=rng),
        "C": NearestPrototypes(50, random_state=rng),
    }


def predictions(folds: int = FOLDS, seed: int = SEED) -> pl.DataFrame:
    """Scores of models A, B and C, as from `holdouts`: log-odds of A, a share of B and C."""
    return holdouts(satellite(), models, positive=POSITIVE, n=folds, seed=seed)
