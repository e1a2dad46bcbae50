"""The sums of rows of a lazy table, in parts where they do not fit in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from polaroc.evaluation.sums import sums_of_rows
from polaroc.files.memory import Memory
from polaroc.files.progress import Progress
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import Cases
from polaroc.predictions.table import Predictions, read


def sums_within(
    cases: Cases[Any],
    predictions: Predictions,
    measures: Sequence[Measure],
    memory: Memory,
    report: Progress | None,
) -> pl.DataFrame:
    """Per key its totals with a `note`, and the sums and minima of the measures."""
    held = cases.collect()
    return sums_of_rows(read(held), measures)
