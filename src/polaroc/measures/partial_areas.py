"""The area under or beside a part of the ROC curve, raw or on McClish's scale."""

from dataclasses import replace

from polaroc.base.backend import Backend
from polaroc.base.checks import pair_of, shortened
from polaroc.base.statistics import ROUNDING
from polaroc.curves.segments import segments_in
from polaroc.errors import InvalidArgument
from polaroc.measures.spec import Measure, total


def partial_auc(
    fpr: tuple[float, float] | None,
    tpr: tuple[float, float] | None,
    standardise: bool,
    backend: Backend,
) -> Measure:
    """The AUC over a range of one of the two rates."""
    if fpr is not None and tpr is not None:
        raise InvalidArgument(
            f"fpr is {fpr!r} and tpr is {tpr!r}, allowed is one of them.",
            hint="leave one of them out.",
        )
    lo, hi = rate_range(fpr if fpr is not None else tpr)
    area = (_below if fpr is not None else _beside)(lo, hi, backend)
    if not standardise:
        return area
    # On the diagonal the area below is (hi² − lo²)/2, that beside it the rest.
    below = (hi**2 - lo**2) / 2
    chance, perfect = (below if fpr is not None else hi - lo - below), hi - lo
    above = area.estimate >= chance * (1 - ROUNDING)
    scaled = (1 + (area.estimate - chance) / (perfect - chance)) / 2
    warning = ~above, "below the diagonal, where McClish's scale has no meaning"
    return replace(area, estimate=backend.where(above, scaled), warning=warning)


def _below(lo: float, hi: float, backend: Backend) -> Measure:
    """∫ t df over a range of f."""
    (t0, f0), (t1, f1), (dt, df) = segments_in(backend).segment
    first, last = backend.clip(f0, lo, hi), backend.clip(f1, lo, hi)
    height = 2 * t0 + (first + last - 2 * f0) * dt / df
    # Equal rates may differ in the last digit after clipping; df is computed from counts.
    moves = (last > first) & (df > 0)
    inner = backend.where(moves, (last - first) * height / 2, 0.0)
    # Level runs of negatives lie between the segments: their area telescopes.
    area = total("auc", inner + t0 * first - t1 * last, backend)
    return replace(area, estimate=area.estimate + hi)


def _beside(lo: float, hi: float, backend: Backend) -> Measure:
    """∫ (1 − f) dt over a range of t."""
    (t0, f0), (t1, _), (dt, df) = segments_in(backend).segment
    first, last = backend.clip(t0, lo, hi), backend.clip(t1, lo, hi)
    width = 2 * f0 + (first + last - 2 * t0) * df / dt
    return total("auc", (last - first) * (1 - width / 2), backend)


def rate_range(given: object) -> tuple[float, float]:
    """Two rates lo < hi; raise for anything else."""
    pair = pair_of(given)
    if pair is None or not 0 <= pair[0] < pair[1] <= 1:
        raise InvalidArgument(
            f"the range is {shortened(given)}, allowed are two rates with 0 ≤ lo < hi ≤ 1.",
            hint="for example (0, 0.1).",
        )
    return float(pair[0]), float(pair[1])
