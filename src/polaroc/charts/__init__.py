"""Altair charts of the tidy tables; they draw what a table holds and compute no measure."""

from polaroc.charts.explorer import explorer
from polaroc.charts.export import export
from polaroc.charts.precision_recall import auprec_by_prior, pr
from polaroc.charts.roc import roc
from polaroc.charts.theme import palette

__all__ = ["auprec_by_prior", "explorer", "export", "palette", "pr", "roc"]
