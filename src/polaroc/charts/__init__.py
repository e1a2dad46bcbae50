"""Altair charts of the tidy tables; they draw what a table holds and compute no measure."""

from polaroc.charts.costs import cost_curves, decision_curves
from polaroc.charts.drift import operating_drift
from polaroc.charts.explorer import explorer
from polaroc.charts.export import export
from polaroc.charts.precision_recall import auprec_by_prior, pr
from polaroc.charts.roc import roc
from polaroc.charts.skew_effect import skew_effect
from polaroc.charts.surface import surface
from polaroc.charts.theme import palette

__all__ = [
    "auprec_by_prior",
    "cost_curves",
    "decision_curves",
    "explorer",
    "export",
    "operating_drift",
    "palette",
    "pr",
    "roc",
    "skew_effect",
    "surface",
]
