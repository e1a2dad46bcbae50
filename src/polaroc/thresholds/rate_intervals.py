"""Confidence limits of what a threshold does: class rates, precision, alarms and cost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from polaroc.base.statistics import ROUNDING
from polaroc.priors.in_use import KnownPrior, PriorInUse
from polaroc.thresholds.named_rates import WITHOUT_PRIOR
from polaroc.typing import Array

QUANTITIES = ("tpr", "fpr", "precision", "posfrac", "cost")
# Rates that have limits, beside the quantities above.
# The trapezoid rule over normal scores of step ½ is exact to 1e-7 for functions that rise over
# half a standard deviation or more.
STEP, FURTHEST = 0.5, 6.0
HALVINGS = 40
# Rows whose nodes are in memory at once.
CHUNK = 1_000


@dataclass(frozen=True)
class Calls:
    """How many cases of a class a threshold calls positive, at least and at most, and of how many.

    The two differ where cases that score just the threshold are called with a probability.
    """

    least: Array
    most: Array
    total: Array


@dataclass(frozen=True)
class Costs:
    """The costs of a missed positive and of a false alarm."""

    fn: float = 1.0
    fp: float = 1.0


# Of the rates of both classes, the prior and the costs: two sums that are linear in each of the
# first three, of which a quantity is the quotient. The odds of that of a likelihood ratio are the
# ratio.
Quotient: TypeAlias = Callable[..., tuple[Array, "Array | float"]]
QUOTIENTS: dict[str, Quotient] = {
    "precision": lambda t, f, p, _: (p * t, p * t + (1 - p) * f),
    "npv": lambda t, f, p, _: ((1 - p) * (1 - f), (1 - p) * (1 - f) + p * (1 - t)),
    "f_measure": lambda t, f, p, _: (2 * p * t, p * t + (1 - p) * f + p),
    "likelihood_ratio_positive": lambda t, f, _p, _: (t, t + f),
    "likelihood_ratio_negative": lambda t, f, _p, _: (1 - t, (1 - t) + (1 - f)),
    "posfrac": lambda t, f, p, _: (p * t + (1 - p) * f, 1.0),
    "cost": lambda t, f, p, costs: (costs.fn * p * (1 - t) + costs.fp * (1 - p) * f, 1.0),
    "error": lambda t, f, p, _: (p * (1 - t) + (1 - p) * f, 1.0),
    "accuracy": lambda t, f, p, _: (p * t + (1 - p) * (1 - f), 1.0),
    "informedness": lambda t, f, _p, _: (t - f, 1.0),
}
# Those that do not rise with the true and fall with the false positive rate.
WITH_MISSES, WITH_CALLS = ("cost", "error", "likelihood_ratio_negative"), ("posfrac",)


@dataclass(frozen=True)
class RateDistribution:
    """Beta(a, b) of a rate for each row: one of two behind the limits of Clopper and Pearson.

    With `a` or `b` zero the rate is 0 or 1.
    """

    a: Array
    b: Array

    @classmethod
    def low(cls, calls: Calls) -> "RateDistribution":
        """Its α-quantiles are lower limits at level 1 − α."""
        return cls(calls.least, calls.total - calls.least + 1)

    @classmethod
    def high(cls, calls: Calls) -> "RateDistribution":
        """Its (1 − α)-quantiles are upper limits at level 1 − α."""
        return cls(calls.most + 1, calls.total - calls.most)

    def quantile(self, share: "Array | float") -> Array:
        """The quantile of each row, at each share along a last axis."""
        from scipy.special import betaincinv

        of_rows = slice(None) if np.ndim(share) == 0 else (slice(None), None)
        a, b = self.a[of_rows], self.b[of_rows]
        with np.errstate(invalid="ignore"):
            inner = betaincinv(np.maximum(a, 1e-9), np.maximum(b, 1e-9), share)
        return np.where(a <= 0, 0.0, np.where(b <= 0, 1.0, inner))

    def below(self, rate: Array) -> Array:
        """The probability of at most a rate, for each row and along further axes."""
        from scipy.special import betainc

        a, b = (x.reshape(x.shape + (1,) * (rate.ndim - 1)) for x in (self.a, self.b))
        inner = betainc(np.maximum(a, 1e-9), np.maximum(b, 1e-9), np.clip(rate, 0, 1))
        certain = np.where(a <= 0, rate >= 0, rate >= 1)
        return np.where((a <= 0) | (b <= 0), certain, inner)

    @property
    def spread(self) -> tuple[Array, Array]:
        """Mean and standard deviation."""
        a, b, n = self.a, self.b, self.a + self.b
        return a / n, np.sqrt(a * b / (n + 1)) / n


def class_limits(rate: str, calls: Calls, level: float) -> tuple[Array, Array]:
    """Limits of Clopper and Pearson of a rate of one class, from its cases."""
    tail = (1 - level) / 2
    low = RateDistribution.low(calls).quantile(tail)
    high = RateDistribution.high(calls).quantile(1 - tail)
    return (1 - high, 1 - low) if rate in ("specificity", "fnr") else (low, high)


def limits(
    quantity: str, positives: Calls, negatives: Calls, prior: PriorInUse, level: float, costs: Costs
) -> tuple[Array, Array]:
    """Lower and upper limits of a quantity of both classes, each exceeded with (1 − level)/2."""
    tail = (1 - level) / 2
    if quantity in WITHOUT_PRIOR:
        # Any does, and of a known one there is one node.
        prior = KnownPrior(np.full(len(positives.total), 0.5))
    grows_with_t = quantity not in WITH_MISSES
    grows_with_f = quantity in (*WITH_MISSES, *WITH_CALLS)
    ends = []
    for lower in (True, False):
        t = (RateDistribution.low if grows_with_t == lower else RateDistribution.high)(positives)
        f = (RateDistribution.low if grows_with_f == lower else RateDistribution.high)(negatives)
        meld = Meld(quantity, t, f, prior, costs)
        ends.append(meld.quantile(tail if lower else 1 - tail))
    low, high = ends
    if quantity not in ("likelihood_ratio_positive", "likelihood_ratio_negative"):
        return low, high
    with np.errstate(divide="ignore"):
        return low / (1 - low), high / (1 - high)


@dataclass(frozen=True)
class Meld:
    """The distribution of a quantity whose rates and prior are independent."""

    quantity: str
    t: RateDistribution
    f: RateDistribution
    prior: PriorInUse
    costs: Costs

    def value(self, t: Array, f: Array, p: Array) -> Array:
        """The quantity at rates and a prior; 0 where it is 0/0 and may be anything."""
        over, under = QUOTIENTS[self.quantity](t, f, p, self.costs)
        share: Array = np.divide(over, under, out=np.zeros_like(over), where=np.asarray(under) > 0)
        return share

    def quantile(self, share: float) -> Array:
        """The quantile of each row, by bisection."""
        rows = np.arange(len(self.t.a))
        if len(rows) > CHUNK:
            parts = np.split(rows, rows[CHUNK::CHUNK])
            return np.concatenate([self._rows(part).quantile(share) for part in parts])
        nodes = self._nodes()
        low, high = self._range({name: values for name, (values, _) in nodes.items()})
        below = self._below(nodes)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            too_low = below(middle) < share
            low, high = np.where(too_low, middle, low), np.where(too_low, high, middle)
        return (low + high) / 2

    def _nodes(self) -> dict[str, tuple[Array, Array]]:
        """The nodes of each variable, for every row, and their weights."""
        from scipy.special import ndtr

        scores = np.arange(-FURTHEST, FURTHEST + STEP / 2, STEP)
        density = np.exp(-(scores**2) / 2)
        shares, weights = ndtr(scores), density / density.sum()
        return {
            "t": (self.t.quantile(shares), weights),
            "f": (self.f.quantile(shares), weights),
            "p": self.prior.nodes(scores, weights),
        }

    def _range(self, nodes: dict[str, Array]) -> tuple[Array, Array]:
        """The least and the greatest value: at the ends of each variable."""
        t, f, p = (np.stack([nodes[name].min(axis=1), nodes[name].max(axis=1)]) for name in "tfp")
        corners = self.value(
            *np.broadcast_arrays(t[:, None, None], f[None, :, None], p[None, None, :])
        )
        return corners.min(axis=(0, 1, 2)), corners.max(axis=(0, 1, 2))

    def _below(self, nodes: dict[str, tuple[Array, Array]]) -> Callable[[Array], Array]:
        """The distribution function, exact in what spreads most and summed over the other two."""
        widest = self._widest()
        parts = []
        for name in "tfp":
            rows = np.flatnonzero(widest == name)
            if rows.size:
                own = {one: (values[rows], w) for one, (values, w) in nodes.items()}
                parts.append((rows, self._rows(rows)._given(name, own)))

        def below(level: Array) -> Array:
            total = np.empty_like(level)
            for rows, of_rows in parts:
                total[rows] = of_rows(level[rows])
            return total

        return below

    def _rows(self, rows: Array) -> "Meld":
        t, f = (RateDistribution(x.a[rows], x.b[rows]) for x in (self.t, self.f))
        return Meld(self.quantity, t, f, self.prior.rows(rows), self.costs)

    def _widest(self) -> Array:
        """Which of the three moves the quantity most, for each row."""
        centre, spread = zip(self.t.spread, self.f.spread, self.prior.spread, strict=True)
        value = self.value(*centre)
        moves = []
        for i, sd in enumerate(spread):
            ends = ([*centre[:i], np.full_like(sd, end), *centre[i + 1 :]] for end in (0, 1))
            start, stop = (QUOTIENTS[self.quantity](*own, self.costs) for own in ends)
            # Up to what is alike in all three.
            moves.append(sd * np.abs(stop[0] - start[0] - value * (stop[1] - start[1])))
        # Of those that move it alike the first, whatever rounding says.
        moved = np.stack(moves)
        names: Array = np.array(list("tfp"))
        widest: Array = names[(moved >= moved.max(axis=0) * (1 - ROUNDING)).argmax(axis=0)]
        return widest

    def _given(self, name: str, nodes: dict[str, tuple[Array, Array]]) -> Callable[[Array], Array]:
        """The distribution function, exact in the variable `name`.

        The quantity is at most q where N − qD ≤ 0, with N over D its quotient, and this is linear
        in the variable.
        """
        others = [other for other in "tfp" if other != name]
        (first, w), (second, v) = (nodes[other] for other in others)
        known = np.broadcast_arrays(first[:, :, None], second[:, None, :])
        at = dict(zip(others, known, strict=True))
        ends = [
            QUOTIENTS[self.quantity](*((at | {name: 0 * known[0] + end})[one] for one in "tfp"),
                                     self.costs)
            for end in (0, 1)
        ]  # fmt: skip
        (over, under), (over_rise, under_rise) = (
            ends[0],
            [b - a for a, b in zip(*ends, strict=True)],
        )
        exact = {"t": self.t, "f": self.f, "p": self.prior}[name]

        def below(level: Array) -> Array:
            q = level[:, None, None]
            start, rise = over - q * under, over_rise - q * under_rise
            with np.errstate(divide="ignore", invalid="ignore"):
                held = exact.below(np.nan_to_num(-start / rise))
            inner = np.where(rise > 0, held, np.where(rise < 0, 1 - held, start <= 0))
            summed: Array = np.einsum("rij,i,j->r", inner, w, v)
            return summed

        return below
