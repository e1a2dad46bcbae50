"""Rules for an operating point: which points each may take, and what it wants most of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import polars as pl

from polaroc import rates
from polaroc.base.checks import is_number
from polaroc.base.columns import within
from polaroc.curves.segments import CELLS
from polaroc.errors import InvalidArgument
from polaroc.predictions.row_checks import SCORE

Rule: TypeAlias = Literal[
    "balanced", "cost", "posterior", "recall", "precision", "fpr", "f_measure", "threshold"
]
RULES = ("balanced", "cost", "posterior", "recall", "precision", "fpr", "f_measure", "threshold")
NEEDS_TARGET = {"recall": (0, 1), "precision": (0, 1), "fpr": (0, 1), "threshold": None}
ROUNDING = 1e-12


@dataclass(frozen=True)
class Choice:
    """Which point of a curve a rule takes.

    Attributes
    ----------
    admissible
        The points it may take.
    worth
        What it wants most of; among equals, the highest threshold.
    share
        With what chance cases that score just the threshold are called positive.
    lack
        What to say where no point is admissible.
    """

    admissible: pl.Expr
    worth: pl.Expr
    share: pl.Expr = field(default_factory=lambda: pl.lit(1.0))
    lack: str = "no such point"


def choices(
    keys: Sequence[str], target: float, cost_fn: float, cost_fp: float, beta: float
) -> dict[str, Callable[[], Choice]]:
    """How to choose by each rule."""
    t, f, skewed, threshold = (pl.col(name) for name in ("tpr", "fpr", "skew", SCORE))
    (t0, f0), (t1, f1), (dt, df) = CELLS.segment
    everything = pl.lit(True)
    early = -(pl.col("tp") + pl.col("fp"))
    balanced = ((1 - t0) - skewed * f0) / (dt + skewed * df)
    own = pl.col("negatives") / pl.col("positives")
    odds = cost_fp / cost_fn * skewed / own
    posterior = odds / (1 + odds)
    are_shares = (threshold.min() >= 0) & (threshold.max() <= 1)
    # Precision 3/4 may come out as the float before 0.75, and reaches it all the same.
    at_least, at_most = target * (1 - ROUNDING), target * (1 + ROUNDING)

    return {
        "balanced": lambda: Choice((1 - t1 <= skewed * f1) & (dt + df > 0), early, balanced),
        "cost": lambda: Choice(
            everything, -rates.loss(t, f, skewed, cost_fn=cost_fn, cost_fp=cost_fp)
        ),
        "posterior": lambda: Choice(
            (threshold >= posterior).fill_null(True) & within(are_shares, keys),
            -early,
            lack="scores are not probabilities",
        ),
        "recall": lambda: Choice(t >= at_least, early),
        "precision": lambda: Choice(
            pl.col("precision") >= at_least, t, lack="no point has such precision"
        ),
        "fpr": lambda: Choice(f <= at_most, t),
        "f_measure": lambda: Choice(everything, rates.f_measure(t, f, skewed, beta=beta)),
        "threshold": lambda: Choice((threshold >= target).fill_null(True), -early),
    }


def check_target(rule: str, target: float | None) -> None:
    """Refuse a target that a rule does not need, or the lack of one that it does."""
    if rule not in NEEDS_TARGET:
        if target is not None:
            raise InvalidArgument(
                f"target is {target!r}, but the rule {rule!r} aims at nothing.",
                hint="leave it out.",
            )
        return
    bounds = NEEDS_TARGET[rule]
    inside = is_number(target) and (bounds is None or bounds[0] <= target <= bounds[1])
    if not inside:
        wanted = "a number" if bounds is None else "a share from 0 to 1"
        raise InvalidArgument(
            f"target is {target!r}, but the rule {rule!r} needs {wanted}.",
            hint="for example operating_points(curve, 'recall', target=0.9).",
        )
