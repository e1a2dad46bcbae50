"""Confidence limits of what a threshold does: class rates, precision, alarms and cost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from polaroc.base.lazy import np
from polaroc.priors.in_use import KnownPrior, OfNegatives, PriorInUse
from polaroc.typing import Array

Quantity: TypeAlias = Literal["tpr", "fpr", "precision", "posfrac", "cost", "f_measure"]
QUANTITIES: tuple[Quantity, ...] = ("tpr", "fpr", "precision", "posfrac", "cost")
# The trapezoid rule over normal scores of step ½ is exact to 1e-7 for functions that rise over
# half a standard deviation or more.
STEP, FURTHEST = 0.5, 6.0
HALVINGS = 40


@dataclass(frozen=True)
class Calls:
    """How many cases of a class a threshold calls positive, at least and at most, and of how many.

    The two differ where cases that score just the threshold are called with a probability.
    """

    least: Array
    most: Array
    total: Array

    @property
    def negative(self) -> "Calls":
        """The cases that are called negative."""
        return Calls(self.total - self.most, self.total - self.least, self.total)


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

        a, b = self._shaped(share)
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

    def _shaped(self, share: "Array | float") -> tuple[Array, Array]:
        if np.ndim(share) == 0:
            return self.a, self.b
        return self.a[:, None], self.b[:, None]


@dataclass(frozen=True)
class Costs:
    """The costs of a missed positive and of a false alarm."""

    fn: float = 1.0
    fp: float = 1.0


def _precision(t: Array, f: Array, p: Array) -> Array:
    right, wrong = p * t, (1 - p) * f
    # Where nothing is called positive, precision may be anything.
    called = right + wrong
    share: Array = np.divide(right, called, out=np.zeros_like(called), where=called > 0)
    return share


def limits(
    quantity: Quantity,
    positives: Calls,
    negatives: Calls,
    prior: PriorInUse,
    level: float,
    costs: Costs,
) -> tuple[Array, Array]:
    """Lower and upper limits of a quantity, each exceeded with probability (1 − level)/2."""
    tail = (1 - level) / 2
    if quantity in ("tpr", "fpr"):
        calls = positives if quantity == "tpr" else negatives
        low, high = RateDistribution.low(calls), RateDistribution.high(calls)
        return low.quantile(tail), high.quantile(1 - tail)
    grows_with_t, grows_with_f = DIRECTIONS[quantity]
    ends = []
    for lower in (True, False):
        t = (RateDistribution.low if grows_with_t == lower else RateDistribution.high)(positives)
        f = (RateDistribution.low if grows_with_f == lower else RateDistribution.high)(negatives)
        meld = Meld(quantity, t, f, prior, costs)
        ends.append(meld.quantile(tail if lower else 1 - tail))
    return ends[0], ends[1]


DIRECTIONS = {
    "precision": (True, False), "posfrac": (True, True), "cost": (False, True),
    "f_measure": (True, False),
}  # fmt: skip


def further_limits(
    rate: str, positives: Calls, negatives: Calls, prior: PriorInUse, level: float
) -> tuple[Array, Array]:
    """Limits as of `limits` of one of `FURTHER`, each a rising or falling function of a quantity.

    The negative predictive value is the precision of calling negative. A likelihood ratio is the
    odds of a precision at equal priors, as informedness is of a cost there.
    """
    even = KnownPrior(np.full(len(positives.total), 0.5))

    def of(quantity: Quantity, at: PriorInUse = prior) -> tuple[Array, Array]:
        return limits(quantity, positives, negatives, at, level, Costs())

    def of_called_negative(at: PriorInUse) -> tuple[Array, Array]:
        others = negatives.negative, positives.negative
        return limits("precision", *others, OfNegatives(at), level, Costs())

    if rate in ("specificity", "fnr"):
        low, high = of("fpr" if rate == "specificity" else "tpr")
        return 1 - high, 1 - low
    if rate == "accuracy":
        low, high = of("cost")
        return 1 - high, 1 - low
    if rate == "informedness":
        low, high = of("cost", even)
        return 1 - 2 * high, 1 - 2 * low
    if rate == "npv":
        return of_called_negative(prior)
    if rate in ("likelihood_ratio_positive", "likelihood_ratio_negative"):
        is_positive = rate == "likelihood_ratio_positive"
        low, high = of("precision", even) if is_positive else of_called_negative(even)
        with np.errstate(divide="ignore"):
            return (
                (low / (1 - low), high / (1 - high)) if is_positive else (1 / high - 1, 1 / low - 1)
            )
    return of("cost" if rate == "error" else "f_measure")


# Rates that have limits, beside the quantities above.
FURTHER = (
    "specificity", "fnr", "npv", "likelihood_ratio_positive", "likelihood_ratio_negative",
    "f_measure", "accuracy", "error", "informedness",
)  # fmt: skip


@dataclass(frozen=True)
class Meld:
    """The distribution of a quantity whose rates and prior are independent."""

    quantity: Quantity
    t: RateDistribution
    f: RateDistribution
    prior: PriorInUse
    costs: Costs

    def value(self, t: Array, f: Array, p: Array) -> Array:
        """The quantity at rates and a prior."""
        if self.quantity == "precision":
            return _precision(t, f, p)
        if self.quantity == "f_measure":
            # Where t and f are 0, F is 0, too.
            share: Array = 2 * p * t / (p * t + (1 - p) * f + p)
            return share
        alarms: Array = p * t + (1 - p) * f
        cost: Array = self.costs.fn * p * (1 - t) + self.costs.fp * (1 - p) * f
        return alarms if self.quantity == "posfrac" else cost

    def quantile(self, share: float) -> Array:
        """The quantile of each row, by bisection."""
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

        scores, weights = _normal_nodes()
        shares = ndtr(scores)
        return {
            "t": (self.t.quantile(shares), weights),
            "f": (self.f.quantile(shares), weights),
            "p": self.prior.nodes(scores, weights),
        }

    def _range(self, nodes: dict[str, Array]) -> tuple[Array, Array]:
        """The least and the greatest value: at the ends of each variable."""
        t, f, p = (np.stack([nodes[name].min(axis=1), nodes[name].max(axis=1)]) for name in "tfp")
        corners = self.value(t[:, None, None], f[None, :, None], p[None, None, :])
        return corners.min(axis=(0, 1, 2)), corners.max(axis=(0, 1, 2))

    def _below(self, nodes: dict[str, tuple[Array, Array]]) -> Callable[[Array], Array]:
        """The distribution function, exact in what spreads most and summed over the other two."""
        widest = self._widest()
        groups = [(name, np.flatnonzero(widest == name)) for name in "tfp"]

        def below(level: Array) -> Array:
            total = np.empty_like(level)
            for name, rows in groups:
                if rows.size:
                    own = {one: (values[rows], w) for one, (values, w) in nodes.items()}
                    total[rows] = self._rows(rows)._given(name, own, level[rows])
            return total

        return below

    def _rows(self, rows: Array) -> "Meld":
        t, f = (RateDistribution(x.a[rows], x.b[rows]) for x in (self.t, self.f))
        return Meld(self.quantity, t, f, self.prior.rows(rows), self.costs)

    def _widest(self) -> Array:
        """Which of the three moves the quantity most, for each row."""
        (t, sd_t), (f, sd_f) = self.t.spread, self.f.spread
        p, sd_p = self.prior.spread
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.quantity == "precision":
                moves = [sd_t / t, sd_f / f, sd_p / (p * (1 - p))]
            elif self.quantity == "posfrac":
                moves = [p * sd_t, (1 - p) * sd_f, sd_p * abs(t - f)]
            elif self.quantity == "f_measure":
                # Up to what is alike in all three.
                moves = [p * (p + (1 - p) * f) * sd_t, p * t * (1 - p) * sd_f, t * f * sd_p]
            else:
                fn, fp = self.costs.fn, self.costs.fp
                moves = [fn * p * sd_t, fp * (1 - p) * sd_f, sd_p * abs(fn * (1 - t) - fp * f)]
        names: Array = np.array(list("tfp"))
        widest: Array = names[np.nan_to_num(np.stack(moves), nan=0.0).argmax(axis=0)]
        return widest

    def _given(self, name: str, nodes: dict[str, tuple[Array, Array]], level: Array) -> Array:
        """The distribution function, exact in the variable `name`."""
        first, second = (other for other in "tfp" if other != name)
        (values, w), (others, v) = nodes[first], nodes[second]
        given = {first: values[:, :, None], second: others[:, None, :]}
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = getattr(self, f"_by_{name}")(level[:, None, None], **given)
        summed: Array = np.einsum("rij,i,j->r", inner, w, v)
        return summed

    def _by_t(self, q: Array, f: Array, p: Array) -> Array:
        if self.quantity == "precision":
            at = np.nan_to_num(q * (1 - p) * f / (p * (1 - q)), nan=0.0, posinf=2.0)
            return self.t.below(at)
        if self.quantity == "posfrac":
            return self.t.below((q - (1 - p) * f) / p)
        if self.quantity == "f_measure":
            return self.t.below(q * ((1 - p) * f + p) / (p * (2 - q)))
        at = 1 - (q - self.costs.fp * (1 - p) * f) / (self.costs.fn * p)
        return 1 - self.t.below(at)

    def _by_f(self, q: Array, t: Array, p: Array) -> Array:
        if self.quantity == "precision":
            at = np.nan_to_num(p * t * (1 - q) / (q * (1 - p)), nan=0.0, posinf=2.0)
            return 1 - self.f.below(at)
        if self.quantity == "posfrac":
            return self.f.below((q - p * t) / (1 - p))
        if self.quantity == "f_measure":
            at = np.nan_to_num(p * (2 * t / q - t - 1) / (1 - p), nan=0.0, posinf=2.0)
            return 1 - self.f.below(at)
        return self.f.below((q - self.costs.fn * p * (1 - t)) / (self.costs.fp * (1 - p)))

    def _by_p(self, q: Array, t: Array, f: Array) -> Array:
        if self.quantity == "precision":
            at = q * f / (q * f + (1 - q) * t)
            return self.prior.below(np.nan_to_num(at, nan=1.0))
        if self.quantity == "f_measure":
            # It rises with the prior: p(2t − q(1 + t − f)) ≤ qf.
            slope = 2 * t - q * (1 + t - f)
            return np.where(
                slope > 0, self.prior.below(np.nan_to_num(q * f / slope, posinf=1.0)), 1.0
            )
        # Linear in the prior, from `start` at 0 to `end` at 1.
        start, end = (
            (f, t) if self.quantity == "posfrac" else (self.costs.fp * f, self.costs.fn * (1 - t))
        )
        start, end = np.broadcast_arrays(start, end)
        at = (q - start) / (end - start)
        rising = self.prior.below(np.nan_to_num(at))
        return np.where(end > start, rising, np.where(end < start, 1 - rising, q >= start))


def _normal_nodes() -> tuple[Array, Array]:
    """Normal scores and their weights, which sum to 1."""
    scores = np.arange(-FURTHEST, FURTHEST + STEP / 2, STEP)
    density = np.exp(-(scores**2) / 2)
    return scores, density / density.sum()
