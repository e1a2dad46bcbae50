"""The sources' classifiers that scikit-learn does not have, with its conventions.

Principal components, scaling, the Fisher mapping (`LinearDiscriminantAnalysis` as
a transformer), linear and quadratic Bayes and support vectors are scikit-learn's.
"""

from polaroc.experiments.classifiers.mixtures import GaussianMixtures
from polaroc.experiments.classifiers.neighbours import NearestNeighbours
from polaroc.experiments.classifiers.parzen import Parzen
from polaroc.experiments.classifiers.prototypes import NearestPrototypes
from polaroc.experiments.classifiers.sigmoid import SigmoidOutput

__all__ = [
    "GaussianMixtures",
    "NearestNeighbours",
    "NearestPrototypes",
    "Parzen",
    "SigmoidOutput",
]
