"""Altair charts of tidy tables; they compute no measures."""

from polaroc.charts.curves import operating_drift, pr, roc
from polaroc.charts.explore import explorer
from polaroc.charts.measures import accsens_plane, auprec_by_prior
from polaroc.charts.monitoring import monitor
from polaroc.charts.pairwise import pairs
from polaroc.charts.probabilities import cost_curves, decision_curves, reliability

__all__ = [
    "accsens_plane", "auprec_by_prior", "cost_curves", "decision_curves", "explorer", "monitor",
    "operating_drift", "pairs", "pr", "reliability", "roc",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
