"""Altair charts of the tidy tables; they draw what a table holds and compute no measure."""

from polaroc.charts.export import export
from polaroc.charts.precision_recall import auprec_by_prior, pr
from polaroc.charts.roc import roc

__all__ = ["auprec_by_prior", "export", "pr", "roc"]
