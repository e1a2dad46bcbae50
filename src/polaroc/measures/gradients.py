"""How areas change with the segments they are summed from: what influence is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.base.columns import PRIVATE
from polaroc.curves.segments import CELLS, Cells
from polaroc.typing import Interpolation, Quantity

# The negatives on the level run before a segment.
LEVEL = PRIVATE + "level"
# Rise of t + λf within a segment, as a share of what it starts from, below which
# the closed form loses digits; and how many terms the series then needs.
NARROW = 0.01
TERMS = 6
# Stands for t + λf at the origin, where all that it divides is zero.
NOTHING = 1e-30
SIDES = ("t0", "f0", "dt", "df")
ENDS = ("start", "rise", "bend")
MOMENTS = tuple(PRIVATE + name for name in ("once", "slope", "flat", "middle", "steep"))


@dataclass(frozen=True)
class Gradient:
    """How a number of a curve changes with the segment that ends at a cell.

    Attributes
    ----------
    t0, f0
        Its derivatives by where the segment, and the level run of negatives
        before it, starts.
    dt, df
        Its derivatives by how far the segment rises and runs.
    stages
        Columns they are written in, made one after the other: Polars computes
        what expressions share once only where it stands in a column.
    """

    t0: pl.Expr
    f0: pl.Expr
    dt: pl.Expr
    df: pl.Expr
    stages: tuple[Mapping[str, pl.Expr], ...] = ()


def auc_gradient(cells: Cells = CELLS) -> Gradient:
    """Of the AUC: by Δt it is the placement of the positives at a cell."""
    _, (_, f1), (dt, df) = cells.segment
    return Gradient(pl.lit(0.0), -dt, 1 - f1 + df / 2, -dt / 2)


def area_gradient(
    nodes: Sequence[tuple[Quantity, float]],
    interpolation: Interpolation,
    cells: Cells = CELLS,
    label: str = "",
) -> Gradient:
    """Of the weighted sum of AUPREC at skews, with the limit as precision at recall 0.

    `nodes` are skews and their weights; the names of its columns end with `label`.
    """
    if interpolation == "exact":
        return _exact(nodes, cells, label)
    parts = [_of_ends(skewed, interpolation, cells) for skewed, _ in nodes]
    weights = [weight for _, weight in nodes]
    t0, f0, dt, df = (
        pl.sum_horizontal(
            weight * getattr(part, side) for part, weight in zip(parts, weights, strict=True)
        )
        for side in SIDES
    )
    return Gradient(t0, f0, dt, df)


def _of_ends(skewed: Quantity, interpolation: Interpolation, cells: Cells) -> Gradient:
    """Where the area is Δt times the precision at the end, or the mean of both ends."""
    (t0, f0), (t1, f1), (dt, _) = cells.segment
    q0, q1 = t0 + skewed * f0, t1 + skewed * f1
    end, by_t, by_f = t1 / q1, skewed * f1 / q1**2, -skewed * t1 / q1**2
    if interpolation == "step":
        return Gradient(dt * by_t, dt * by_f, end + dt * by_t, dt * by_f)
    # On the first segment precision is that of its end all along.
    first = cells.is_first
    half = pl.when(first).then(1.0).otherwise(0.5) * dt
    begin = pl.when(first).then(end).otherwise(t0 / q0)
    begin_by_t = pl.when(first).then(0.0).otherwise(skewed * f0 / q0**2)
    begin_by_f = pl.when(first).then(0.0).otherwise(-skewed * t0 / q0**2)
    return Gradient(
        half * (begin_by_t + by_t),
        half * (begin_by_f + by_f),
        (begin + end) / 2 + half * by_t,
        half * by_f,
    )


def _exact(nodes: Sequence[tuple[Quantity, float]], cells: Cells, label: str) -> Gradient:
    """Of Δt ∫ n/q du from 0 to 1, where n = t₀ + u Δt and q = n + λ(f₀ + u Δf).

    With x = Δq/q₀ all that depends on λ are ∫ uⁱ/(1 + ux)ʲ du, which follow
    from one of them, over q₀ʲ.
    """
    (t0, f0), _, (dt, df) = cells.segment
    first = cells.is_first
    starts, rises, bends = {}, {}, {}
    once, slope, flat, middle, steep = [], [], [], [], []
    for i, (skewed, weight) in enumerate(nodes):
        q0, x, bent = (pl.col(f"{PRIVATE}{name}_{i}{label}") for name in ENDS)
        starts[q0.meta.output_name()] = pl.when(first).then(NOTHING).otherwise(t0 + skewed * f0)
        rises[x.meta.output_name()] = (dt + skewed * df) / q0
        bends[bent.meta.output_name()] = x * square_share(x)
        level = 1 / (1 + x)
        once.append(weight * (1 + level - x * bent) / q0)
        slope.append(weight * (level + bent) / q0)
        scale = weight * skewed / (q0 * q0)
        flat.append(scale * level)
        middle.append(scale * (level - bent))
        steep.append(scale * bent / x)
    sums = {
        name + label: pl.sum_horizontal(terms)
        for name, terms in zip(MOMENTS, (once, slope, flat, middle, steep), strict=True)
    }
    whole, rising, level, twice, square = (pl.col(name + label) for name in MOMENTS)
    whole, rising = whole / 2, rising / 2
    twice = pl.when(first).then(0.0).otherwise(twice / 2)
    # Nothing starts above the first segment.
    by_start = pl.when(first).then(0.0).otherwise(dt)
    return Gradient(
        by_start * (f0 * level + df * twice),
        -by_start * (t0 * level + dt * twice),
        t0 * whole + dt * rising + dt * (f0 * twice + df * square),
        -dt * (t0 * twice + dt * square),
        stages=(starts, rises, bends, sums),
    )


def square_share(x: Quantity) -> pl.Expr:
    """∫ u²/(1 + ux)² du from 0 to 1, for x ≥ 0.

    Examples
    --------
    >>> pl.select(square_share(pl.lit(0.0))).item() == 1 / 3
    True
    """
    closed = (1 + 1 / (1 + x) - 2 * x.log1p() / x) / (x * x)
    series: Quantity = 0.0
    for k in reversed(range(TERMS)):
        series = (k + 1) / (k + 3) - x * series
    return pl.when(x < NARROW).then(series).otherwise(closed)
