"""Altair charts of tidy tables; they compute no measures."""

from polaroc.charts.accsens import accsens_plane
from polaroc.charts.by_prior import auprec_by_prior
from polaroc.charts.calibration import reliability
from polaroc.charts.costs import cost_curves, decision_curves
from polaroc.charts.curves import pr, roc
from polaroc.charts.drift import operating_drift
from polaroc.charts.explore import explorer
from polaroc.charts.monitoring import monitor
from polaroc.charts.pairwise import pairs

__all__ = [
    "accsens_plane", "auprec_by_prior", "cost_curves", "decision_curves", "explorer", "monitor",
    "operating_drift", "pairs", "pr", "reliability", "roc",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
