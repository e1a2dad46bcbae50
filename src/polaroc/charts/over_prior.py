"""Axis, lines and bands of charts against the prior."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

import polars as pl

from polaroc.charts.layers import data, drawn_lines
from polaroc.charts.libraries import alt
from polaroc.charts.lines import Lines, lines

# Relative difference below which priors are equal.
NEAR = 1e-9
FEW = 3
# A share written as in words.
PERCENT_LABEL = "format(100 * datum.value, '.3~r') + ' %'"
# Significant digits, since means differ in the last digits from run to run.
DECIMALS, DIGITS = 6, 9
# Share of the axis that a label needs.
APART = 0.08


def prior_axis(priors: Sequence[float], title: str = "share of positives in use") -> Any:
    """A logarithmic axis that spans the priors, marked in percent."""
    ends = min(priors, default=0.01), max(priors, default=1.0)
    lo, hi = (float(f"{end:.{DIGITS}g}") for end in ends)
    if hi <= lo * (1 + NEAR):
        lo, hi = lo / 2, min(2 * hi, 1.0)
    return {
        "scale": alt.Scale(type="log", domain=[lo, hi], nice=False),
        "axis": alt.Axis(labelExpr=PERCENT_LABEL, values=with_ends(lo, hi)),
        "title": title,
    }


def marks(lo: float, hi: float) -> list[float]:
    """Round numbers from `lo` to `hi`: 1, 2, 5 times powers of ten, or finer where few fit.

    Examples
    --------
    >>> marks(0.01, 0.5)
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    >>> marks(0.35, 0.65)
    [0.4, 0.5, 0.6]
    """
    decades = range(floor(log10(lo)), floor(log10(hi)) + 1)
    for digits in ((1, 2, 5), range(1, 10), [1 + i / 10 for i in range(90)]):
        steps = [round(digit * 10.0**power, 12) for power in decades for digit in digits]
        within = [step for step in steps if lo * (1 - NEAR) <= step <= hi * (1 + NEAR)]
        if len(within) >= FEW:
            return within
    return [lo, hi]


def with_ends(lo: float, hi: float) -> list[float]:
    """The same with both ends, where there is room to label them.

    Examples
    --------
    >>> with_ends(0.1, 0.9)
    [0.1, 0.2, 0.5, 0.9]
    """
    steps = marks(lo, hi)
    room = (hi / lo) ** APART
    return [lo] * (steps[0] / lo > room) + steps + [hi] * (hi / steps[-1] > room)


def same_prior() -> pl.Expr:
    """The column of priors, in which 0.05 and 0.05000000000000001 are one."""
    return pl.col("prior").round_sig_figs(DIGITS)


def lines_by_prior(
    points: pl.DataFrame, keys: Sequence[str], value: str = "estimate", decimals: int = DECIMALS
) -> Lines:
    """A line per key of a column against the prior."""
    return lines(points.with_columns(pl.col(value).round(decimals)), keys, "prior", value)


def prior_lines(
    drawn: Lines,
    encoding: Sequence[Any],
    value: str,
    *,
    bold: bool = True,
    points: bool = True,
) -> "alt.Chart":
    """Lines against the prior."""
    tooltip = [
        alt.Tooltip("line:N", title="key"),
        alt.Tooltip("x:Q", title="prior", format=".3~%"),
        alt.Tooltip("y:Q", title=value, format=".3f"),
    ]
    width, opacity = (2.5, 1) if bold else (0.8, 0.35)
    return drawn_lines(
        data(drawn.records), *encoding, tooltip,
        strokeWidth=width, strokeOpacity=opacity, point=bold and points,
    )  # fmt: skip


def prior_bands(
    points: pl.DataFrame, keys: Sequence[str], encoding: Sequence[Any], opacity: float = 0.18
) -> "alt.Chart":
    """A pale band from `lower` to `upper` for each key, broken where they are null."""
    low, high = (lines_by_prior(points, keys, limit) for limit in ("lower", "upper"))
    records = [
        {**below, "top": above["y"]} for below, above in zip(low.records, high.records, strict=True)
    ]
    return (
        data(records)
        .transform_flatten(["x", "y", "top", "at"])
        .mark_area(opacity=opacity, clip=True)
        .encode(*encoding, alt.Y2("top:Q"), alt.Detail("id:N"))
    )
