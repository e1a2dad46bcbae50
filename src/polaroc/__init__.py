"""Which classifier, and which threshold, when the share of positives is uncertain."""

from polaroc import charts, datasets, errors, rates
from polaroc.areas import auc, auprec, iauprec
from polaroc.curves import curve
from polaroc.evaluation import evaluate
from polaroc.hulls import hull
from polaroc.predictions import check
from polaroc.priors import beta, points, prior, prior_grid, skew, uniform
from polaroc.surfaces import surface

__all__ = [
    "auc",
    "auprec",
    "beta",
    "charts",
    "check",
    "curve",
    "datasets",
    "errors",
    "evaluate",
    "hull",
    "iauprec",
    "points",
    "prior",
    "prior_grid",
    "rates",
    "skew",
    "surface",
    "uniform",
]
