"""Gradients of areas with respect to the segments of curves, in arrays."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from polaroc.inference.moved_segments import Gradient, Segments
from polaroc.typing import Array, Interpolation, Quantity

# A skew, of all keys or of each segment; None is that of the numbers of cases of each key.
Node: TypeAlias = tuple[Quantity, float]
# Relative change of t + λf alone up to which a series replaces the closed form, which loses digits
# there, with the number of its terms.
SMALL, TERMS = 0.01, 6
# Share of wide segments above which all are taken as wide, since a choice costs time.
MOSTLY = 0.7
# Replaces t + λf = 0 at the origin as a divisor of zeros.
NONZERO = 1e-30
# The same of sums that may be too small for a number.
TINY = 1e-300


def auc_gradient(segments: Segments) -> Gradient:
    """Gradient of the AUC; by Δt it is the placement value of the positives at a cell."""
    dt, df = segments.dt, segments.df
    by_dt = 1 - segments.f1 + df / 2
    return Gradient(np.zeros_like(dt), -dt, by_dt, -dt / 2, dt * by_dt)


def area_gradient(
    segments: Segments, nodes: Sequence[Node], interpolation: Interpolation
) -> Gradient:
    """Gradient of the weighted sum of AUPREC at `nodes` of (skew, weight).

    Precision at recall 0 is the limit.
    """
    known = [(segments.skewed(node), weight) for node, weight in nodes]
    if interpolation == "exact":
        return _exact_gradient(segments, known)
    gradients = [_end_gradient(segments, skewed, interpolation) for skewed, _ in known]
    weights = np.array([weight for _, weight in known])
    return Gradient(*(weights @ np.stack(sides) for sides in zip(*gradients, strict=True)))


def _end_gradient(
    segments: Segments, skewed: Quantity, interpolation: Interpolation
) -> "tuple[Array, ...]":
    """Gradient of an area of Δt times the precision at the end, or the mean of both ends."""
    t0, f0, dt, t1, f1 = segments.t0, segments.f0, segments.dt, segments.t1, segments.f1
    q0, q1 = t0 + skewed * f0, t1 + skewed * f1
    end, by_t, by_f = t1 / q1, skewed * f1 / q1**2, -skewed * t1 / q1**2
    if interpolation == "step":
        return dt * by_t, dt * by_f, end + dt * by_t, dt * by_f, dt * end
    # Precision is constant along the first segment.
    first = segments.first
    half = dt / 2
    half[first] = dt[first]
    q0[first] = 1
    begin, begin_by_t, begin_by_f = t0 / q0, skewed * f0 / q0**2, -skewed * t0 / q0**2
    begin[first], begin_by_t[first], begin_by_f[first] = end[first], 0, 0
    mean = (begin + end) / 2
    return (
        half * (begin_by_t + by_t), half * (begin_by_f + by_f), mean + half * by_t, half * by_f,
        dt * mean,
    )  # fmt: skip


def _exact_gradient(segments: Segments, nodes: Sequence[Node]) -> Gradient:
    """Gradient of Δt ∫ n/q du from 0 to 1, where n = t₀ + u Δt and q = n + λ(f₀ + u Δf).

    λ enters only by the moments ∫ uⁱ/q du and λ ∫ uⁱ/q² du, so that these are summed over the
    nodes, and combined once.
    """
    t0, f0, dt, df = segments.t0, segments.f0, segments.dt, segments.df
    wide, first = segments.wide
    if wide.size > MOSTLY * len(segments.pos):
        return Gradient(*_wide(t0, f0, dt, df, segments.first, nodes))
    gradient = (_narrow if segments.tied else _level)(t0, f0, dt, df, nodes)
    of_wide = _wide(t0[wide], f0[wide], dt[wide], df[wide], first, _of(nodes, wide))
    for of_all, own in zip(gradient, of_wide, strict=True):
        of_all[wide] = own
    return Gradient(*gradient)


def _of(nodes: Sequence[Node], place: "Array") -> list[Node]:
    return [
        (skewed if isinstance(skewed, float) else skewed[place], weight) for skewed, weight in nodes
    ]


def _wide(
    t0: "Array",
    f0: "Array",
    dt: "Array",
    df: "Array",
    first: "Array",
    nodes: Sequence[Node],
) -> "tuple[Array, ...]":
    """Gradient and area in closed form; the `first` segments start at the origin.

    With x = Δq/q₀ the moments follow from m = ∫ u²/(1 + ux)² du.
    """
    sums = np.zeros((5, dt.size))
    for skewed, weight in nodes:
        start = skewed * f0
        start += t0
        start[first] = NONZERO
        inverse_start = 1 / start
        x = skewed * df
        x += dt
        x *= inverse_start
        inverse = 1 / (1 + x)
        moment = second_moment(x, inverse)
        bend = x * moment
        squared = inverse_start * inverse_start
        squared *= weight * skewed
        inverse_start *= weight / 2
        half = inverse - bend
        half *= squared
        half *= 0.5
        half[first] = 0
        moment *= squared
        squared *= inverse
        for own, more in zip(
            sums,
            (
                (inverse + 1 - x * bend) * inverse_start, (inverse + bend) * inverse_start,
                squared, half, moment,
            ),
            strict=True,
        ):  # fmt: skip
            own += more
    flat, rising, start_squared, middle_squared, end_squared = sums
    by_t0 = dt * (f0 * start_squared + df * middle_squared)
    by_f0 = -dt * (t0 * start_squared + dt * middle_squared)
    # The origin does not move.
    by_t0[first], by_f0[first] = 0, 0
    mean = t0 * flat + dt * rising
    by_dt = mean + dt * (f0 * middle_squared + df * end_squared)
    by_df = -dt * (t0 * middle_squared + dt * end_squared)
    return by_t0, by_f0, by_dt, by_df, dt * mean


def second_moment(x: "Array", inverse: "Array") -> "Array":
    """∫ u²/(1 + ux)² du from 0 to 1, for x ≥ 0, with `inverse` = 1/(1 + x).

    Examples
    --------
    >>> import numpy as np
    >>> second_moment(np.zeros(1), np.ones(1)).item() == 1 / 3
    True
    """
    small = np.flatnonzero(x < SMALL)
    of_small = x[small]
    if small.size:
        x = x.copy()
        x[small] = 1
    moment = np.log1p(x)
    over = 1 / x
    moment *= over
    moment *= -2
    moment += 1
    moment += inverse
    moment *= over
    moment *= over
    if small.size:
        series: Quantity = 0.0
        for k in reversed(range(TERMS)):
            series = (k + 1) / (k + 3) - of_small * series
        moment[small] = series
    return moment


def _narrow(
    t0: "Array", f0: "Array", dt: "Array", df: "Array", nodes: Sequence[Node]
) -> "tuple[Array, ...]":
    """The same by series about the middle of the segment, in y = Δq/2q ≤ NARROW/2, up to y⁴.

    Moments that are multiplied by the rise or the run, and so small, are taken up to y² or y³.
    """
    middle_t, middle_f = t0 + dt / 2, f0 + df / 2
    sums = np.zeros((5, dt.size))
    for skewed, weight in nodes:
        called = skewed * middle_f
        called += middle_t
        inverse = 1 / called
        y = skewed * df
        y += dt
        y *= inverse
        y *= 0.5
        z = y * y
        # ∫ vⁱ/(1 + 2vy) dv and ∫ vⁱ/(1 + 2vy)² dv from −½ to ½.
        first_0 = z * 0.2
        first_0 += 1 / 3
        first_0 *= z
        first_0 += 1
        first_1 = z * 0.2
        first_1 += 1 / 3
        first_1 *= y
        first_1 *= -0.5
        second_0 = z * z
        second_0 += z
        second_0 += 1
        second_1 = z * 0.4
        second_1 += 1 / 3
        second_1 *= y
        second_1 *= -1
        second_2 = z * 0.15
        second_2 += 1 / 12
        squared = inverse * inverse
        squared *= skewed * weight
        inverse *= weight
        for own, more, scale in zip(
            sums,
            (first_0, first_1, second_0, second_1, second_2),
            (inverse, inverse, squared, squared, squared),
            strict=True,
        ):
            more *= scale
            own += more
    flat, tilted, squared_0, squared_1, squared_2 = sums
    by_t0 = dt * (middle_f * squared_0 + df * squared_1)
    by_f0 = -dt * (middle_t * squared_0 + dt * squared_1)
    mean = middle_t * flat + dt * tilted
    # By Δt the middle moves as well, by half as much.
    by_dt = mean + dt * (middle_f * squared_1 + df * squared_2) + by_t0 / 2
    by_df = -dt * (middle_t * squared_1 + dt * squared_2) + by_f0 / 2
    return by_t0, by_f0, by_dt, by_df, dt * mean


def _level(
    t0: "Array", f0: "Array", dt: "Array", _: "Array", nodes: Sequence[Node]
) -> "tuple[Array, ...]":
    """The same where no segment runs, so that the derivative by its run, here 0, has no use.

    With q in the middle all follows from Σ 1/q and Σ λ/qᵏ of the nodes, k = 2, 3 and 4, by series
    in y². What is beyond y² is taken as at a single node.
    """
    half = dt / 2
    middle_t, squared_half = t0 + half, half * half
    flat, *moments = np.zeros((4, dt.size))
    for skewed, weight in nodes:
        inverse = skewed * f0
        inverse += middle_t
        np.divide(1, inverse, out=inverse)
        power = skewed * weight * inverse
        for moment in moments:
            power *= inverse
            moment += power
        inverse *= weight
        flat += inverse
    by_start, bent, y_squared = moments
    y_squared *= squared_half
    y_squared /= by_start + TINY
    by_start /= 1 - y_squared
    bent *= squared_half
    by_t0 = f0 * by_start
    by_t0 *= dt
    by_f0 = bent * (2 / 3 + 0.8 * y_squared) - middle_t * by_start
    by_f0 *= dt
    bent *= f0
    flat *= middle_t
    mean = flat - bent * (1 / 3 + 0.2 * y_squared)
    by_dt = flat - bent * (1 + y_squared) + by_t0 / 2
    return by_t0, by_f0, by_dt, np.zeros_like(dt), dt * mean
