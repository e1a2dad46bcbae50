"""Lines of equal rates in ROC and precision-recall space."""

from collections.abc import Sequence
from math import inf
from typing import Literal, TypeAlias, get_args

import polars as pl

from polaroc import rates
from polaroc.base.checks import (
    MAX_NUMBER,
    check_factors,
    check_share,
    check_whole,
    is_number,
    one_or_several,
    shortened,
)
from polaroc.base.statistics import ROUNDING
from polaroc.errors import Hint, InvalidArgument, check_choice
from polaroc.priors.grids import resolve_priors, skew
from polaroc.typing import Priors

IsoRate: TypeAlias = Literal["precision", "f_measure", "loss", "error", "accuracy"]
ISO_RATES: tuple[IsoRate, ...] = get_args(IsoRate)
SPACES = {"roc": ("fpr", "tpr"), "pr": ("tpr", "precision")}
Point: TypeAlias = tuple[float, float]


def iso_lines(
    rate: IsoRate,
    levels: float | Sequence[float],
    priors: Priors,
    space: Literal["roc", "pr"] = "roc",
    n: int = 101,
    *,
    beta: float = 1,
    theta: float = 0.5,
    cost_fn: float = 1,
    cost_fp: float = 1,
) -> pl.DataFrame:
    """Lines of equal precision, F or cost at a prior, to read curves by.

    Parameters
    ----------
    rate
        ``"precision"``, ``"f_measure"``, ``"loss"`` (expected cost), ``"error"``
        or ``"accuracy"``, as in the module `rates`.
    levels
        One or several of its values: > 0, and < 1 but for "loss".
    priors
        One or several priors in (0, 1).
    space
        ``"roc"``, or ``"pr"`` for precision against recall.
    n
        Points of a line, at least 2.
    beta
        Weight > 0 of recall, for "f_measure".
    theta, cost_fn, cost_fp
        Balance in (0, 1) and costs > 0 of the two kinds of error, for "loss".

    Returns
    -------
    DataFrame
        `rate` String, `level` and `prior`, in the order asked, and along each
        line `fpr` and `tpr`, or `tpr` (the recall) and `precision`: Float64 from
        0 to 1. A level that no classifier has at the prior has no rows.

    Raises
    ------
    InvalidArgument
        For a rate, space, level, prior or parameter outside what is allowed.

    Notes
    -----
    All are straight in ROC space: a t + b f = c, from the definitions of the
    rates. Those of equal precision are rays from the origin, those of equal cost
    are parallel, and those of equal F meet at t = 0, f = −β²/λ. In
    precision-recall space the points are as evenly spread in precision as in
    recall.

    Examples
    --------
    >>> import polaroc as pr
    >>> pr.iso_lines("precision", 0.5, priors=0.2, n=3).select("fpr", "tpr").rows()
    [(0.0, 0.0), (0.125, 0.5), (0.25, 1.0)]
    """
    check_choice("rate", rate, ISO_RATES)
    check_choice("space", space, tuple(SPACES))
    check_whole("n", n, 2, MAX_NUMBER)
    check_factors(beta=beta, cost_fn=cost_fn, cost_fp=cost_fp)
    check_share("theta", theta)
    costs = theta * cost_fn, (1 - theta) * cost_fp
    rows = []
    for prior in _priors(priors):
        for level in distinct_levels(levels, rate):
            ends = _ends(_line(rate, level, skew(prior), beta, costs))
            if ends is None:
                continue
            if space == "roc":
                points = [_at(*ends, i / (n - 1)) for i in range(n)]
            else:
                points = _in_pr_space(*ends, n, skew(prior))
            rows += [(rate, level, prior, *point) for point in points]
    numbers = dict.fromkeys(("level", "prior", *SPACES[space]), pl.Float64())
    return pl.DataFrame(rows, schema={"rate": pl.String(), **numbers}, orient="row")


def _line(
    rate: str, level: float, skewed: float, beta: float, costs: tuple[float, float]
) -> tuple[float, float, float]:
    """The line a t + b f = c on which a rate has a level."""
    of_fn, of_fp = costs
    if rate == "precision":
        return 1 - level, -level * skewed, 0.0
    if rate == "f_measure":
        return 1 + beta**2 - level, -level * skewed, level * beta**2
    if rate == "loss":
        return -of_fn, of_fp * skewed, level * (1 + skewed) - of_fn
    error = level if rate == "error" else 1 - level
    return -1.0, skewed, error * (1 + skewed) - 1


def _ends(line: tuple[float, float, float]) -> tuple[Point, Point] | None:
    """Where a rising line enters and leaves the unit square of (f, t), None if it misses it."""
    a, b, c = line
    on_edges = [(0.0, c / a), (1.0, (c - b) / a), (c / b, 0.0), ((c - a) / b, 1.0)]
    inside = sorted(
        (min(max(f, 0.0), 1.0), min(max(t, 0.0), 1.0))
        for f, t in on_edges
        if -ROUNDING <= f <= 1 + ROUNDING and -ROUNDING <= t <= 1 + ROUNDING
    )
    if not inside:
        return None
    (f0, t0), (f1, t1) = inside[0], inside[-1]
    return None if f1 - f0 <= ROUNDING and t1 - t0 <= ROUNDING else ((f0, t0), (f1, t1))


def _at(start: Point, end: Point, share: float) -> Point:
    (f0, t0), (f1, t1) = start, end
    return f0 + share * (f1 - f0), t0 + share * (t1 - t0)


def _in_pr_space(start: Point, end: Point, n: int, skewed: float) -> list[Point]:
    """The line in precision-recall space, half of its points spread evenly over precision."""
    (f0, t0), (f1, t1) = start, end
    called, rise = t0 + skewed * f0, (t1 - t0) + skewed * (f1 - f0)
    last = rates.precision(t1, f1, skewed)
    # A line through the origin has one precision; there it is the limit.
    first = rates.precision(t0, f0, skewed) if called > 0 else last
    even = n if first == last else max(2, (n + 1) // 2)
    shares = [i / (even - 1) for i in range(even)]
    for i in range(1, n - even + 1):
        level = first + (last - first) * i / (n - even + 1)
        shares.append((level * called - t0) / ((t1 - t0) - level * rise))
    points = []
    for share in sorted(shares):
        f, t = _at(start, end, share)
        points.append((t, rates.precision(t, f, skewed) if t + f > 0 else first))
    return points


def _priors(given: Priors) -> list[float]:
    priors = resolve_priors(given)
    known = [prior for prior in priors if prior is not None]
    if not known or len(known) < len(priors):
        raise InvalidArgument(
            f"priors is {shortened(given)}, allowed are one or several priors in (0, 1).",
            hint=Hint.example("priors", 0.1),
        )
    return known


def distinct_levels(given: float | Sequence[float], rate: str) -> list[float]:
    """Distinct levels in order."""
    levels = one_or_several(given)
    most = inf if rate == "loss" else 1
    if not levels or not all(is_number(level) and 0 < level < most for level in levels):
        end = "" if rate == "loss" else " and < 1"
        raise InvalidArgument(
            f"levels is {shortened(given)}, allowed for {rate!r} are numbers > 0{end}.",
            hint=Hint.example("levels", [0.2, 0.5, 0.8]),
        )
    return [float(level) for level in dict.fromkeys(levels)]
