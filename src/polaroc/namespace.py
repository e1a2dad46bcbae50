"""`.proc` on Polars frames: sugar for the functions of polaroc.

``import polaroc.namespace`` registers it; then ``frame.proc.curve(...)`` is
``polaroc.curve(frame, ...)``. Type checkers follow the functions, not this.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import polars as pl

import polaroc

STEPS = (
    "accsens", "achievable", "anova", "apply_thresholds", "auc", "auprec", "bin_edges", "binned",
    "bootstrap", "bounds", "brier_curve", "calibration_curve", "cases", "check",
    "check_calibration",
    "choose", "compare", "cost_curve", "curve", "curve_from_bins", "decision_curve",
    "delong", "dominance", "estimate_prior", "evaluate", "expected_cost", "gate", "h_measure",
    "hull", "iauprec", "intervals", "label_budget", "macro", "mean_pr", "mean_roc",
    "merge_bins", "monitor", "one_vs_rest", "operating_points", "pr_band", "probabilities",
    "report", "roc_band", "sens", "surface",
)  # fmt: skip


@pl.api.register_lazyframe_namespace("proc")
@pl.api.register_dataframe_namespace("proc")
class Proc:
    """The functions of polaroc that take a frame first, as methods of the frame.

    Examples
    --------
    >>> import polaroc as pr
    >>> import polaroc.namespace
    >>> curves = pr.datasets.twenty_scores().proc.curve(truth="truth", score="score")
    >>> round(curves.proc.auc()["estimate"].item(), 2)
    0.68
    """

    def __init__(self, frame: pl.LazyFrame | pl.DataFrame) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        return f"polaroc on a {type(self._frame).__name__}: {', '.join(STEPS)}"

    def __dir__(self) -> list[str]:
        return list(STEPS)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in STEPS:
            raise AttributeError(f"proc has no {name!r}; it has {', '.join(STEPS)}.")
        step = getattr(polaroc, name)
        return wraps(step)(partial(step, self._frame))
