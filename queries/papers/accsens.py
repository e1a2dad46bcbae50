"""AccSens §6: the models of its Table 2 on hold-outs of Sonar, Ionosphere and Phoneme."""

from typing import Any

import polars as pl
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Linear
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as Quadratic
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler as Scaled
from sklearn.svm import SVC

from papers.classifiers import GaussianMixtures, NearestNeighbours, Parzen, SigmoidOutput
from papers.holdouts import holdouts
from polaroc import datasets

FOLDS = 30
SEED = 2005
OVER = (0.1, 0.9)
POSITIVE = {"sonar": "mine", "ionosphere": "good", "phoneme": "nasal"}


def models(dataset: str) -> dict[str, Any]:
    """The models of AccSens Table 2 for "sonar", "ionosphere" or "phoneme", named as there."""
    return {name: make_pipeline(*steps) for name, steps in _steps()[dataset].items()}


def predictions(
    dataset: str, data: pl.DataFrame | None = None, folds: int = FOLDS, seed: int = SEED
) -> pl.DataFrame:
    """Scores of these models, as from `holdouts`; "phoneme" is not embedded and needs `data`."""
    return holdouts(
        getattr(datasets, dataset)() if data is None else data,
        models(dataset), positive=POSITIVE[dataset], n=folds, seed=seed,
    )  # fmt: skip


def _steps() -> dict[str, dict[str, tuple[Any, ...]]]:
    # The kernels of PRTools: (x·y + 1)^p and exp(−|x − y|²/r²).
    polynomial = SVC(kernel="poly", degree=4, gamma=1, coef0=1)
    return {
        "sonar": {
            "sc knnc3": (Scaled(), NearestNeighbours(3)),
            "sc knnc1": (Scaled(), NearestNeighbours(1)),
            "pca6 parzenc": (PCA(6), Parzen()),
            "sc svc p4": (Scaled(), SigmoidOutput(polynomial)),
        },
        "ionosphere": {
            "pca0.999 ldc": (PCA(0.999), Linear()),
            "fisherm qdc": (Linear(), Quadratic()),
            "fisherm mogc 3 3": (Linear(), GaussianMixtures(3)),
            "sc svc r 1.0": (Scaled(), SigmoidOutput(SVC(kernel="rbf", gamma=1.0))),
        },
        "phoneme": {
            "sc knnc3": (Scaled(), NearestNeighbours(3)),
            "sc knnc1": (Scaled(), NearestNeighbours(1)),
            "sc parzenc": (Scaled(), Parzen()),
        },
    }
