"""Which classifier, and which threshold, when the share of positives is uncertain."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polaroc import datasets, errors, expr, rates
from polaroc.calibration.calibration_curve import calibration_curve
from polaroc.calibration.check_calibration import check_calibration
from polaroc.calibration.probabilities import probabilities
from polaroc.choice.choose import choose
from polaroc.comparison.anova import anova
from polaroc.comparison.compare import compare
from polaroc.comparison.delong import delong
from polaroc.comparison.gate import gate
from polaroc.curves.bins import bin_edges, binned, curve_from_bins, merge_bins
from polaroc.curves.curve import curve
from polaroc.curves.dominance import dominance
from polaroc.curves.hull import achievable, hull
from polaroc.curves.mean import mean_pr, mean_roc
from polaroc.curves.surface import surface
from polaroc.deployment.estimate_prior import estimate_prior
from polaroc.deployment.label_budget import label_budget
from polaroc.deployment.monitor import monitor
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.bounds import bounds
from polaroc.measures.functions import auc, auprec, iauprec
from polaroc.measures.sensitivity import accsens, sens
from polaroc.predictions.audit import check
from polaroc.predictions.multiclass import macro, one_vs_rest
from polaroc.priors.beliefs import beta, points, uniform
from polaroc.priors.bounds import auprec_bounds, greatest_auprec
from polaroc.priors.grids import prior, prior_grid, skew
from polaroc.priors.isolines import iso_lines
from polaroc.priors.roc_pr import pr_from_roc, roc_from_pr
from polaroc.reports import report
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.costs import brier_curve, cost_curve, decision_curve
from polaroc.thresholds.expected_cost import expected_cost, h_measure
from polaroc.thresholds.operating_points import operating_points
from polaroc.uncertainty.bands import pr_band, roc_band
from polaroc.uncertainty.bootstrap import bootstrap
from polaroc.uncertainty.intervals import intervals

if TYPE_CHECKING:
    from polaroc import charts, experiments, warehouse
    from polaroc import sklearn as sklearn

# Without `sklearn`, since `from polaroc import *` would put it in the place of scikit-learn.
__all__ = [
    "accsens",
    "achievable",
    "anova",
    "apply_thresholds",
    "auc",
    "auprec",
    "auprec_bounds",
    "beta",
    "bin_edges",
    "binned",
    "bootstrap",
    "bounds",
    "brier_curve",
    "calibration_curve",
    "charts",
    "check",
    "check_calibration",
    "choose",
    "compare",
    "cost_curve",
    "curve",
    "curve_from_bins",
    "datasets",
    "decision_curve",
    "delong",
    "dominance",
    "errors",
    "estimate_prior",
    "evaluate",
    "expected_cost",
    "experiments",
    "expr",
    "gate",
    "greatest_auprec",
    "h_measure",
    "hull",
    "iauprec",
    "intervals",
    "iso_lines",
    "label_budget",
    "macro",
    "mean_pr",
    "mean_roc",
    "merge_bins",
    "monitor",
    "one_vs_rest",
    "operating_points",
    "points",
    "pr_band",
    "pr_from_roc",
    "prior",
    "prior_grid",
    "probabilities",
    "rates",
    "report",
    "roc_band",
    "roc_from_pr",
    "sens",
    "skew",
    "surface",
    "uniform",
    "warehouse",
]

# Imported when they are first named, so that `import polaroc` costs little.
LAZY_MODULES = ("charts", "experiments", "sklearn", "warehouse")


def __getattr__(name: str) -> Any:
    if name in LAZY_MODULES:
        return import_module(f"polaroc.{name}")
    raise AttributeError(f"module 'polaroc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "sklearn"])
