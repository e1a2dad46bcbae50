"""Which classifier, and which threshold, when the share of positives is uncertain."""

from polaroc import charts, datasets, errors, rates
from polaroc.areas import auc, auprec, iauprec
from polaroc.beliefs import beta, points, uniform
from polaroc.curves import curve
from polaroc.evaluation import evaluate
from polaroc.hulls import hull
from polaroc.predictions import check
from polaroc.priors import prior, prior_grid, skew
from polaroc.sensitivity import accsens, sens
from polaroc.surfaces import surface

__all__ = [
    "accsens",
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
    "sens",
    "skew",
    "surface",
    "uniform",
]
