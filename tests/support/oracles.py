from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
import polars as pl
from scipy import integrate, optimize, sparse, stats


def cases(table: pl.DataFrame) -> list[tuple[bool, float, Fraction]]:
    """Truth, score and weight of each row that counts."""
    weights = table["weight"].to_list() if "weight" in table.columns else [1] * table.height
    rows = zip(table["truth"].to_list(), table["score"].to_list(), weights, strict=True)
    return [(truth, score, Fraction(weight)) for truth, score, weight in rows if weight > 0]


@dataclass(frozen=True)
class Roc:
    """Points of a ROC curve from (0, 0) to (1, 1), by trying every threshold."""

    thresholds: list[float | None]
    tp: list[Fraction]
    fp: list[Fraction]

    @cached_property
    def t(self) -> np.ndarray:
        return np.array([float(tp / self.tp[-1]) for tp in self.tp])

    @cached_property
    def f(self) -> np.ndarray:
        return np.array([float(fp / self.fp[-1]) for fp in self.fp])

    def hull(self) -> "Roc":
        """The points above every chord between an earlier and a later one."""
        last = len(self.tp) - 1
        kept = [i for i in range(last + 1) if i in (0, last) or self._above(i)]
        thresholds, tp, fp = (
            [values[i] for i in kept] for values in (self.thresholds, self.tp, self.fp)
        )
        return Roc(thresholds, tp, fp)

    def _above(self, i: int) -> bool:
        return all(
            (self.tp[i] - self.tp[a]) * (self.fp[b] - self.fp[i])
            > (self.tp[b] - self.tp[i]) * (self.fp[i] - self.fp[a])
            for a, b in combinations(range(len(self.tp)), 2)
            if a < i < b
        )


def roc(table: pl.DataFrame) -> Roc:
    rows = cases(table)
    thresholds: list[float] = sorted({score for _, score, _ in rows}, reverse=True)
    called = [[row for row in rows if row[1] >= threshold] for threshold in thresholds]
    zero = Fraction(0)
    return Roc(
        [None, *thresholds],
        [zero, *(sum((w for y, _, w in group if y), zero) for group in called)],
        [zero, *(sum((w for y, _, w in group if not y), zero) for group in called)],
    )


def auc(table: pl.DataFrame) -> Fraction:
    """The share of pairs that are ranked rightly, ties one half."""
    rows = cases(table)
    pairs = [(s1, s0, w1 * w0) for y1, s1, w1 in rows if y1 for y0, s0, w0 in rows if not y0]
    won = sum(w * (2 * (s1 > s0) + (s1 == s0)) for s1, s0, w in pairs)
    return won / (2 * sum(w for _, _, w in pairs))


def _graded() -> tuple[np.ndarray, np.ndarray]:
    # Panels halve towards 0, where precision may bend within a tiny distance.
    nodes, weights = np.polynomial.legendre.leggauss(14)
    edges = np.concatenate(([0.0], 0.5 ** np.arange(48, -1, -1.0)))
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()


UNIT_NODES, UNIT_WEIGHTS = _graded()


def auprec(curve: Roc, interpolation: str, start: str = "limit") -> Callable[[float], float]:
    """∫ precision dt as a function of the skew, by the definition of each interpolation."""
    points = curve.hull() if interpolation == "hull" else curve
    t, f = points.t, points.f
    # The segment that begins at the origin is the one "drop" leaves out.
    kept = slice(1, None) if start == "drop" else slice(None)
    dt, df = np.diff(t)[kept], np.diff(f)[kept]
    t0, f0, t1, f1 = t[:-1][kept], f[:-1][kept], t[1:][kept], f[1:][kept]

    def on_straight_segments(skew: float) -> float:
        return float((weights * recall / (recall + skew * fpr)).sum())

    def on_trapezoids(skew: float) -> float:
        end = t1 / (t1 + skew * f1)
        origin = (t0 == 0) & (f0 == 0)
        begin = np.where(origin, {"one": 1.0, "zero": 0.0}.get(start, end), t0)
        begin = np.where(origin, begin, t0 / np.where(origin, 1, t0 + skew * f0))
        return float((dt * (begin + end) / 2).sum())

    def on_steps(skew: float) -> float:
        return float((dt * t1 / (t1 + skew * f1)).sum())

    if interpolation == "linear":
        return on_trapezoids
    if interpolation == "step":
        return on_steps
    rising = dt > 0
    recall = t0[rising, None] + dt[rising, None] * UNIT_NODES
    fpr = f0[rising, None] + df[rising, None] * UNIT_NODES
    weights = dt[rising, None] * UNIT_WEIGHTS
    return on_straight_segments


def _quad(function: Callable[[float], float], lo: float, hi: float, **kwargs: object) -> float:
    value, _ = integrate.quad(function, lo, hi, epsabs=1e-11, epsrel=1e-11, limit=400, **kwargs)
    return float(value)


def mean_over_prior(area: Callable[[float], float], lo: float, hi: float) -> float:
    return _quad(lambda prior: area((1 - prior) / prior), lo, hi) / (hi - lo)


def mean_over_skew(area: Callable[[float], float], lo: float, hi: float) -> float:
    most, least = (1 - lo) / lo, (1 - hi) / hi
    # Decade by decade: most of the range says nothing of its beginning.
    cuts = [least, *(10.0**k for k in range(-6, 7) if least < 10.0**k < most), most]
    parts = [_quad(area, a, b) for a, b in pairwise(cuts)]
    return sum(parts) / (most - least)


def mean_under_beta(area: Callable[[float], float], a: float, b: float) -> float:
    belief = stats.beta(a, b)
    if min(a, b) < 1:
        # The density has a pole, its quantiles have none.
        return _quad(lambda share: area(1 / max(belief.ppf(share), 1e-300) - 1), 0, 1)
    near = [float(belief.ppf(q)) for q in (1e-12, 0.01, 0.5, 0.99, 1 - 1e-12)]
    cuts = [0.0, *near, 1.0]
    return sum(
        _quad(lambda prior: area((1 - prior) / prior) * belief.pdf(prior), lo, hi)
        for lo, hi in pairwise(cuts)
    )


def mixture_by_linear_programme(
    prior: float, auc: float, known: dict[float, float], positives: int, negatives: int
) -> float:
    """Greatest AUPREC of a mixture of curves, as mass that moves to higher rates only."""
    fpr = np.arange(negatives + 1) / negatives

    def area(prior: float) -> np.ndarray:
        skew = (1 - prior) / prior
        edges = np.arange(positives + 1) / positives

        def cell(f: float, start: float, end: float) -> float:
            return _quad(lambda t: t / (t + skew * f), start, end)

        cells = [[cell(f, *step) for f in fpr] for step in pairwise(edges)]
        return np.ravel(cells)

    one = np.kron(np.eye(positives), np.ones(negatives + 1))
    moments = [np.tile(1 - fpr, positives) / positives, *(area(prior) for prior in known)]
    below = np.tril(np.ones((negatives + 1, negatives + 1)))
    later = np.kron(np.eye(positives - 1, positives, k=1), below)
    earlier = np.kron(np.eye(positives - 1, positives), below)
    answer = optimize.linprog(
        -area(prior),
        A_eq=np.vstack([one, *moments]),
        b_eq=[*np.ones(positives), auc, *known.values()],
        A_ub=sparse.csr_matrix(later - earlier),
        b_ub=np.zeros(len(later)),
        method="highs",
    )
    assert answer.success
    return float(-answer.fun)


def delong_placements(table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The share of the other class that each positive, and each negative, is ranked rightly to."""
    scores = table["score"].to_numpy()
    truth = table["truth"].to_numpy()
    own, other = scores[truth][:, None], scores[~truth][None, :]
    won = (own > other) + 0.5 * (own == other)
    return won.mean(axis=1), won.mean(axis=0)
