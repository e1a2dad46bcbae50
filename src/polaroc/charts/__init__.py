"""Altair charts of tidy tables; they compute no measures."""

from polaroc.charts.accsens import accsens_plane
from polaroc.charts.by_prior import auprec_by_prior, interaction
from polaroc.charts.choice import regret, winner_map
from polaroc.charts.costs import cost_curves, decision_curves
from polaroc.charts.dominance import dominance
from polaroc.charts.drift import operating_drift
from polaroc.charts.explorer import explorer
from polaroc.charts.export import export, save
from polaroc.charts.monitor import monitor
from polaroc.charts.pairs import pairs
from polaroc.charts.precision_recall import pr
from polaroc.charts.reliability import reliability
from polaroc.charts.roc import roc
from polaroc.charts.skew_effect import skew_effect
from polaroc.charts.surface import surface
from polaroc.charts.theme import palette

__all__ = [
    "accsens_plane", "auprec_by_prior", "cost_curves", "decision_curves", "dominance", "explorer",
    "export", "interaction", "monitor", "operating_drift", "pairs", "palette", "pr", "regret",
    "reliability",
    "roc", "save", "skew_effect", "surface", "winner_map",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
