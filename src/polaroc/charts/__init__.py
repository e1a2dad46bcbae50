"""Altair charts of tidy tables; they compute no measures."""

from polaroc.charts.accsens import accsens_plane
from polaroc.charts.by_prior import auprec_by_prior
from polaroc.charts.calibration import reliability
from polaroc.charts.choice import regret, winner_map
from polaroc.charts.costs import cost_curves, decision_curves
from polaroc.charts.drift import operating_drift
from polaroc.charts.explore import explorer
from polaroc.charts.monitoring import monitor
from polaroc.charts.pairwise import pairs
from polaroc.charts.precision_recall import pr
from polaroc.charts.roc_curves import roc
from polaroc.charts.saving import export, save
from polaroc.charts.theme import palette

__all__ = [
    "accsens_plane", "auprec_by_prior", "cost_curves", "decision_curves", "explorer", "export",
    "monitor", "operating_drift", "pairs", "palette", "pr", "regret",
    "reliability", "roc", "save", "winner_map",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
