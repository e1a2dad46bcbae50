"""P-ROC §6: three models on 20 hold-outs of the Satellite data, as a prediction table.

``python -m polaroc.experiments.satellite [FILE]`` makes again the table that
`polaroc.datasets.satellite_predictions` loads.
"""

from typing import TYPE_CHECKING

import polars as pl

from polaroc.datasets import satellite
from polaroc.experiments.estimators import Estimator
from polaroc.experiments.runs import Progress, holdouts, write_tables

if TYPE_CHECKING:
    import numpy as np

POSITIVE = ("cotton crop", "damp grey soil")
FOLDS = 20
SEED = 2005


def models(rng: "np.random.Generator") -> dict[str, Estimator]:
    """Models A, B and C of P-ROC §6; they draw from one generator, A first."""
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from polaroc.experiments.classifiers import GaussianMixtures, NearestPrototypes

    return {
        "A": make_pipeline(StandardScaler(), PCA(3), GaussianMixtures(3, random_state=rng)),
        "B": NearestPrototypes(15, random_state=rng),
        "C": NearestPrototypes(50, random_state=rng),
    }


def predictions(
    folds: int = FOLDS, seed: int = SEED, progress: Progress | None = None
) -> pl.DataFrame:
    """Scores of models A, B and C on stratified 80/20 hold-outs.

    Parameters
    ----------
    folds
        Number of hold-outs.
    seed
        Seed of the hold-outs, the mixtures and the prototypes.
    progress
        As in `holdouts`.

    Returns
    -------
    DataFrame
        `model`, `fold` (from 1), `case` (row of the raw table), `truth`, `score`
        (log-odds for A, a share from 0 to 1 for B and C), sorted by model, fold
        and case.

    Examples
    --------
    >>> predictions(folds=1).height
    3861
    """
    return holdouts(satellite(), models, positive=POSITIVE, n=folds, seed=seed, progress=progress)


if __name__ == "__main__":
    write_tables({"satellite_predictions": predictions})
