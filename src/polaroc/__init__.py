"""Which classifier, and which threshold, when the share of positives is uncertain."""

from polaroc import charts, datasets, errors, experiments, expr, rates, warehouse
from polaroc.anova import anova
from polaroc.areas import auc, auprec, iauprec
from polaroc.audits import check
from polaroc.beliefs import beta, points, uniform
from polaroc.bounds import auprec_bounds, greatest_auprec
from polaroc.choice import choose
from polaroc.comparison import compare
from polaroc.costs import cost_curve, decision_curve
from polaroc.curves import curve
from polaroc.deployment import estimate_prior
from polaroc.dominance import dominance
from polaroc.evaluation import evaluate
from polaroc.hulls import achievable, hull
from polaroc.intervals import intervals
from polaroc.isolines import iso_lines
from polaroc.mean_curves import mean_pr, mean_roc
from polaroc.multiclass import macro, one_vs_rest
from polaroc.operating import operating_points
from polaroc.paired import delong
from polaroc.priors import prior, prior_grid, skew
from polaroc.report import report
from polaroc.resampling import bootstrap
from polaroc.sensitivity import accsens, sens
from polaroc.spaces import pr_from_roc, roc_from_pr
from polaroc.surfaces import surface
from polaroc.thresholds import apply_thresholds

__all__ = [
    "accsens",
    "achievable",
    "anova",
    "apply_thresholds",
    "auc",
    "auprec",
    "auprec_bounds",
    "beta",
    "bootstrap",
    "charts",
    "check",
    "choose",
    "compare",
    "cost_curve",
    "curve",
    "datasets",
    "decision_curve",
    "delong",
    "dominance",
    "errors",
    "estimate_prior",
    "evaluate",
    "experiments",
    "expr",
    "greatest_auprec",
    "hull",
    "iauprec",
    "intervals",
    "iso_lines",
    "macro",
    "mean_pr",
    "mean_roc",
    "one_vs_rest",
    "operating_points",
    "points",
    "pr_from_roc",
    "prior",
    "prior_grid",
    "rates",
    "report",
    "roc_from_pr",
    "sens",
    "skew",
    "surface",
    "uniform",
    "warehouse",
]
