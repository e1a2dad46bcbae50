"""P-ROC §6: three models on 20 hold-outs of the Satellite data, as a prediction table.

``python -m polaroc.experiments.satellite [FILE]`` makes again the table that
`polaroc.datasets.satellite_predictions` loads.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polaroc.datasets import satellite

POSITIVE = ("cotton crop", "damp grey soil")
PROTOTYPES = {"B": 15, "C": 50}
FOLDS = 20
TEST_SHARE = 0.2
SEED = 2005

Array = np.ndarray[Any, np.dtype[Any]]


def predictions(folds: int = FOLDS, seed: int = SEED) -> pl.DataFrame:
    """Scores of models A, B and C on stratified hold-outs.

    Parameters
    ----------
    folds
        Number of random 80/20 hold-outs.
    seed
        Seed of the hold-outs, the mixtures and the prototypes.

    Returns
    -------
    DataFrame
        `model`, `fold` (from 1), `case` (row of the raw table), `truth`, `score`,
        sorted by model, fold and case.

    Examples
    --------
    >>> predictions(folds=1).height
    3861
    """
    from sklearn.model_selection import StratifiedShuffleSplit

    raw = satellite()
    features = raw.drop("class").to_numpy().astype(np.float64)
    truth = raw["class"].is_in(POSITIVE).to_numpy()
    splits = StratifiedShuffleSplit(folds, test_size=TEST_SHARE, random_state=seed)
    parts = []
    for fold, (train, test) in enumerate(splits.split(features, truth), start=1):
        rng = np.random.default_rng([seed, fold])
        for model, score in _scores(features[train], truth[train], features[test], rng):
            parts.append(
                pl.DataFrame(
                    {"case": test.astype(np.int64), "truth": truth[test], "score": score}
                ).select(pl.lit(model).alias("model"), pl.lit(fold, pl.Int64).alias("fold"), "*")
            )
    return pl.concat(parts).sort("model", "fold", "case")


def _scores(
    train: Array, truth: Array, test: Array, rng: np.random.Generator
) -> Iterator[tuple[str, Array]]:
    yield "A", _mixture_log_odds(train, truth, test, rng)
    for model, size in PROTOTYPES.items():
        yield model, _nearest_prototype_share(train, truth, test, size, rng)


def _mixture_log_odds(train: Array, truth: Array, test: Array, rng: np.random.Generator) -> Array:
    """Three scaled principal components, three Gaussians per class: ln posterior odds."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    represent = make_pipeline(StandardScaler(), PCA(3)).fit(train)
    seen, unseen = represent.transform(train), represent.transform(test)

    def log_density(of: Array) -> Array:
        state = int(rng.integers(2**31))
        mixture = GaussianMixture(3, random_state=state).fit(seen[of])
        density: Array = mixture.score_samples(unseen)
        return density

    odds = np.log(truth.sum()) - np.log((~truth).sum())
    score: Array = log_density(truth) - log_density(~truth) + odds
    return score


def _nearest_prototype_share(
    train: Array, truth: Array, test: Array, size: int, rng: np.random.Generator
) -> Array:
    """Distance to the nearest negative prototype as a share of that and the nearest positive."""
    from sklearn.metrics import pairwise_distances

    chosen = rng.choice(len(train), size, replace=False)
    while truth[chosen].all() or not truth[chosen].any():
        chosen = rng.choice(len(train), size, replace=False)
    distance = pairwise_distances(test, train[chosen])
    to_positive = distance[:, truth[chosen]].min(axis=1)
    to_negative = distance[:, ~truth[chosen]].min(axis=1)
    both = to_negative + to_positive
    # A case equal to a prototype of each class is as near to both.
    share: Array = np.divide(to_negative, both, out=np.full(len(test), 0.5), where=both > 0)
    return share


def write(path: Path) -> Path:
    """Write the prediction table as compact Parquet."""
    predictions().write_parquet(path, compression="zstd", compression_level=22, statistics=False)
    return path


if __name__ == "__main__":
    import sys

    asked = sys.argv[1:] or [
        str(Path(__file__).parents[1] / "datasets/satellite_predictions.parquet")
    ]
    print(write(Path(asked[0])))
