"""Which classifier, and which threshold, when the share of positives is uncertain."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polaroc import datasets, errors, expr, rates
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

if TYPE_CHECKING:
    from polaroc import charts, experiments, warehouse

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

# Imported when they are first named, so that `import polaroc` costs little.
LATER = ("charts", "experiments", "warehouse")


def __getattr__(name: str) -> Any:
    if name in LATER:
        return import_module(f"polaroc.{name}")
    raise AttributeError(f"module 'polaroc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
