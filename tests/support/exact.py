"""Curves and measures of small tables by their definitions, in rational numbers."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

Row = tuple[bool, float, float]
Point = tuple[Fraction, Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Curve:
    """Cumulative counts from (0, 0) on, best score first; rates where both classes are there."""

    thresholds: list[float | None]
    tp: list[Fraction]
    fp: list[Fraction]

    @property
    def totals(self) -> tuple[Fraction, Fraction]:
        return self.tp[-1], self.fp[-1]

    @property
    def has_both(self) -> bool:
        return all(total > 0 for total in self.totals)

    @property
    def observed(self) -> Fraction:
        positives, negatives = self.totals
        return positives / (positives + negatives)

    @cached_property
    def points(self) -> list[Point]:
        positives, negatives = self.totals
        return [(tp / positives, fp / negatives) for tp, fp in zip(self.tp, self.fp, strict=True)]

    @property
    def segments(self) -> Iterable[tuple[Point, Point]]:
        return pairwise(self.points)


def curve(rows: Iterable[Row]) -> Curve:
    at: dict[float, list[Fraction]] = defaultdict(lambda: [ZERO, ZERO])
    for truth, score, weight in rows:
        if weight > 0:
            # -0.0 and 0.0 are one key of a dictionary, as they are one score.
            at[score][not truth] += Fraction(weight)
    thresholds: list[float | None] = [None]
    tp, fp = [ZERO], [ZERO]
    for score in sorted(at, reverse=True):
        thresholds.append(score)
        tp.append(tp[-1] + at[score][0])
        fp.append(fp[-1] + at[score][1])
    return Curve(thresholds, tp, fp)


def hull(of: Curve) -> Curve:
    """By the monotone chain."""
    kept: list[int] = []
    for i in range(len(of.tp)):
        while len(kept) > 1 and not _turns_right(of, kept[-2], kept[-1], i):
            kept.pop()
        if not kept or (of.tp[i], of.fp[i]) != (of.tp[kept[-1]], of.fp[kept[-1]]):
            kept.append(i)
    return Curve(*([column[i] for i in kept] for column in (of.thresholds, of.tp, of.fp)))


def _turns_right(of: Curve, a: int, b: int, c: int) -> bool:
    rise, run = of.tp[b] - of.tp[a], of.fp[b] - of.fp[a]
    return rise * (of.fp[c] - of.fp[b]) > (of.tp[c] - of.tp[b]) * run


def skew(prior: float | Fraction) -> Fraction:
    return (1 - Fraction(prior)) / Fraction(prior)


def auc(of: Curve) -> Fraction:
    return sum(((f1 - f0) * (t0 + t1) / 2 for (t0, f0), (t1, f1) in of.segments), ZERO)


def auc_below(of: Curve, lo: float, hi: float) -> Fraction:
    """∫ t df from one false positive rate to another."""
    area = ZERO
    for (t0, f0), (t1, f1) in of.segments:
        first, last = (min(max(f, Fraction(lo)), Fraction(hi)) for f in (f0, f1))
        if last > first:
            middle = ((first + last) / 2 - f0) / (f1 - f0)
            area += (last - first) * (t0 + middle * (t1 - t0))
    return area


def precision(t: Fraction, f: Fraction, skewed: Fraction) -> Fraction:
    return t / (t + skewed * f)


def auprec(of: Curve, skewed: Fraction, interpolation: str, start: str = "limit") -> float:
    if interpolation == "exact":
        return float(_auprec_between_straight_lines(of, skewed, start))
    if interpolation == "hull":
        return float(_auprec_between_straight_lines(hull(of), skewed, start))
    area = ZERO
    for (t0, f0), (t1, f1) in of.segments:
        is_first = t0 == f0 == 0
        if t1 == t0 or (is_first and start == "drop"):
            continue
        end = precision(t1, f1, skewed)
        begin = end
        if interpolation == "linear":
            begin = (
                {"one": ONE, "zero": ZERO}.get(start, end)
                if is_first
                else precision(t0, f0, skewed)
            )
        area += (t1 - t0) * (begin + end) / 2
    return float(area)


def _auprec_between_straight_lines(of: Curve, skewed: Fraction, start: str) -> Decimal:
    """∫ t/(t + λf) dt by its antiderivative, with 60 digits after those that λ takes."""
    with localcontext(prec=60 + 2 * len(str(int(skewed)))):
        area = Decimal(0)
        for (t0, f0), (t1, f1) in of.segments:
            is_first = t0 == f0 == 0
            if t1 == t0 or (is_first and start == "drop"):
                continue
            slope = (f1 - f0) / (t1 - t0)
            whole = 1 + skewed * slope
            rest = skewed * (f0 - slope * t0)
            area += _decimal((t1 - t0) / whole)
            if rest:
                called = (t1 + skewed * f1) / (t0 + skewed * f0)
                area -= _decimal(rest / whole**2) * _decimal(called).ln()
        return area


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def balanced(of: Curve, skewed: Fraction) -> tuple[int, Fraction, Point]:
    """The segment that crosses the ray 1 − t = λf, how far along it, and the point."""
    for i, ((t0, f0), (t1, f1)) in enumerate(of.segments, start=1):
        if 1 - t1 <= skewed * f1:
            share = (1 - t0 - skewed * f0) / ((t1 - t0) + skewed * (f1 - f0))
            return i, share, (t0 + share * (t1 - t0), f0 + share * (f1 - f0))
    raise AssertionError("a curve ends beyond every ray")


def sens(of: Curve, lo: float, hi: float) -> float:
    (_, _, (t_lo, f_lo)), (_, _, (t_hi, f_hi)) = (balanced(of, skew(p)) for p in (lo, hi))
    return float(((t_lo - t_hi) ** 2 + (f_hi - f_lo) ** 2) / 2) ** 0.5


def equal_error(of: Curve) -> float:
    return float(balanced(of, ONE)[2][1])


def confusion(point: Point, skewed: Fraction) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Shares of all cases: true and false positives, false and true negatives."""
    t, f = point
    prior = 1 / (1 + skewed)
    return prior * t, (1 - prior) * f, prior * (1 - t), (1 - prior) * (1 - f)


def _over(numerator: Fraction, denominator: Fraction) -> Fraction | float | None:
    if denominator == 0:
        return None if numerator == 0 else float("inf")
    return numerator / denominator


RATES: dict[str, Callable[[Fraction, Fraction, Fraction, Fraction], Fraction | float | None]] = {
    "precision": lambda tp, fp, fn, tn: _over(tp, tp + fp),
    "recall": lambda tp, fp, fn, tn: tp / (tp + fn),
    "specificity": lambda tp, fp, fn, tn: tn / (tn + fp),
    "fnr": lambda tp, fp, fn, tn: fn / (tp + fn),
    "npv": lambda tp, fp, fn, tn: _over(tn, tn + fn),
    "error": lambda tp, fp, fn, tn: fp + fn,
    "accuracy": lambda tp, fp, fn, tn: tp + tn,
    "posfrac": lambda tp, fp, fn, tn: tp + fp,
    "f_measure": lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
    "lift": lambda tp, fp, fn, tn: _over(tp, (tp + fp) * (tp + fn)),
    "likelihood_ratio_positive": lambda tp, fp, fn, tn: _over(tp * (fp + tn), fp * (tp + fn)),
    "likelihood_ratio_negative": lambda tp, fp, fn, tn: _over(fn * (fp + tn), tn * (tp + fn)),
    "informedness": lambda tp, fp, fn, tn: tp / (tp + fn) - fp / (fp + tn),
}


def least_cost(of: Curve, share: float) -> Fraction:
    """The least of (1 − t)x + f(1 − x) over all thresholds."""
    x = Fraction(share)
    return min((1 - t) * x + f * (1 - x) for t, f in of.points)


def relation(a: Sequence[Point], b: Sequence[Point]) -> str:
    """Whether one curve lies above the other along every diagonal t + f."""
    along = sorted({t + f for t, f in (*a, *b)})
    leads = [_height(a, at) - _height(b, at) for at in along]
    above, below = any(lead > 0 for lead in leads), any(lead < 0 for lead in leads)
    if above and below:
        return "crosses"
    return "dominates" if above else "dominated" if below else "equal"


def _height(points: Sequence[Point], along: Fraction) -> Fraction:
    for (t0, f0), (t1, f1) in pairwise(points):
        begin, end = t0 + f0, t1 + f1
        if begin <= along <= end:
            share = (along - begin) / (end - begin)
            return (t0 - f0) + share * ((t1 - f1) - (t0 - f0))
    raise AssertionError("along is from 0 to 2")
