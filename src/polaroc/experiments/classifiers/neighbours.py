"""k nearest neighbours, with posteriors that are never 0 or 1."""

from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from polaroc.experiments.classifiers.binary import BinaryClassifier
from polaroc.experiments.classifiers.prototypes import distance_share
from polaroc.typing import Array


class NearestNeighbours(BinaryClassifier):
    """The k nearest neighbours with the posteriors of AccSens Table 2 (`knnc`).

    Parameters
    ----------
    neighbours
        k ≥ 1.

    Notes
    -----
    With n of k neighbours in the second class its posterior is (n + 1)/(k + 2).
    One neighbour would leave two posteriors only: for k = 1 it is
    d₀²/(d₀² + d₁²), of the distances to the nearest case of each class.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> NearestNeighbours(3).fit(X, y).predict_proba([[4.4]])[0].round(3).tolist()
    [0.4, 0.6]
    >>> NearestNeighbours(1).fit(X, y).predict_proba([[2.0]])[0].round(3).tolist()
    [0.8, 0.2]
    """

    def __init__(self, neighbours: int = 3) -> None:
        self.neighbours = neighbours

    def _learn(self, features: Array, truth: Array) -> None:
        if not 1 <= self.neighbours <= len(features):
            raise ValueError(f"neighbours is {self.neighbours}, allowed are 1 to {len(features)}.")
        self.features_, self.truth_ = features, truth

    def _posterior(self, features: Array) -> Array:
        if self.neighbours == 1:
            squares = pairwise_distances(features, self.features_, metric="sqeuclidean")
            return distance_share(squares, self.truth_)
        search = NearestNeighbors(n_neighbors=self.neighbours).fit(self.features_)
        nearest = search.kneighbors(features, return_distance=False)
        posterior: Array = (self.truth_[nearest].sum(axis=1) + 1) / (self.neighbours + 2)
        return posterior
