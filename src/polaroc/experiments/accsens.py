"""AccSens §6: the models of its Table 2 on hold-outs of Sonar, Ionosphere and Phoneme.

``python -m polaroc.experiments.accsens`` makes again the tables that
`polaroc.datasets.sonar_predictions` and `ionosphere_predictions` load.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl

from polaroc.datasets import ionosphere, sonar
from polaroc.experiments.estimators import Estimator
from polaroc.experiments.runs import Progress, holdouts, write_tables
from polaroc.sklearn.estimators import need_scikit_learn

FOLDS = 30
SEED = 2005
OVER = (0.1, 0.9)
POSITIVE = {"sonar": "mine", "ionosphere": "good", "phoneme": "nasal"}


def models(dataset: str) -> dict[str, Estimator]:
    """The models of AccSens Table 2 for a data set, by the names they have there.

    Parameters
    ----------
    dataset
        "sonar", "ionosphere" or "phoneme".

    Examples
    --------
    >>> list(models("phoneme"))
    ['sc knnc3', 'sc knnc1', 'sc parzenc']
    """
    need_scikit_learn()
    from sklearn.pipeline import make_pipeline

    return {name: make_pipeline(*steps) for name, steps in _steps()[dataset].items()}


def predictions(
    dataset: str,
    data: pl.DataFrame | None = None,
    folds: int = FOLDS,
    seed: int = SEED,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Scores of the models of AccSens Table 2 on stratified 80/20 hold-outs.

    Parameters
    ----------
    dataset
        "sonar", "ionosphere", or "phoneme", which needs `data`.
    data
        The table, where it is not embedded: the result of `datasets.phoneme`.
    folds, seed, progress
        As in `holdouts`.

    Returns
    -------
    DataFrame
        `model`, `fold`, `case`, `truth`, `score`, as from `holdouts`.

    Examples
    --------
    >>> predictions("sonar", folds=1).height
    168
    """
    embedded: dict[str, Callable[[], pl.DataFrame]] = {"sonar": sonar, "ionosphere": ionosphere}
    return holdouts(
        embedded[dataset]() if data is None else data,
        models(dataset),
        positive=POSITIVE[dataset],
        n=folds,
        seed=seed,
        progress=progress,
    )


def _steps() -> dict[str, dict[str, tuple[Any, ...]]]:
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Linear
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as Quadratic
    from sklearn.preprocessing import StandardScaler as Scaled
    from sklearn.svm import SVC

    from polaroc.experiments.classifiers import (
        GaussianMixtures,
        NearestNeighbours,
        Parzen,
        SigmoidOutput,
    )

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


if __name__ == "__main__":
    write_tables(
        {f"{name}_predictions": partial(predictions, name) for name in ("sonar", "ionosphere")}
    )
