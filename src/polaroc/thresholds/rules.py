"""Rules for choosing a threshold, constraints on its rates, and the goals that reports name."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from polaroc import rates
from polaroc.base.checks import check_share
from polaroc.base.columns import within
from polaroc.base.statistics import ROUNDING
from polaroc.errors import InvalidArgument, check_choice, example, quoted
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.grids import reweighted, skew, skew_at
from polaroc.typing import Array, Prior, Quantity

T, F, SKEW = pl.col("tpr"), pl.col("fpr"), pl.col("skew")
CALLED = pl.col("tp") + pl.col("fp")


class Options(NamedTuple):
    """The arguments of `operating_points` that objectives depend on, and the keys of the curves."""

    keys: Sequence[str]
    target: float | None
    cost_fn: float
    cost_fp: float
    beta: float
    score_prior: Prior


class ThresholdRule(NamedTuple):
    """A rule for the threshold: the point of a surface where its objective is greatest.

    Of equals it is the highest threshold; points where the objective is null are not chosen.
    """

    objective: Callable[[Options], pl.Expr]
    limits: str | None = None  # the rate that its target limits
    needs_one_prior: bool = False  # it has no meaning over a range of priors
    takes_constraints: bool = True  # it chooses among the thresholds that keep them
    must_call: bool = False  # calling nothing positive is no choice


def _posterior(options: Options) -> pl.Expr:
    """The cases that are called where it pays, null where scores are no probabilities."""
    score, classes = pl.col(SCORE), (pl.col("positives"), pl.col("negatives"))
    right_at = skew_at(options.score_prior, *classes, "score_prior")
    break_even = options.cost_fp / (options.cost_fn + options.cost_fp)
    pays = score >= reweighted(break_even, SKEW, right_at) * (1 - ROUNDING)
    are_probabilities = within((score.min() >= 0) & (score.max() <= 1), options.keys)
    return pl.when(pays.fill_null(True) & are_probabilities).then(CALLED)


INFORMEDNESS = ThresholdRule(lambda options: T - F)
MAX_RECALL = ThresholdRule(lambda options: T, must_call=True)
FEWEST_ALARMS = ThresholdRule(lambda options: -CALLED, must_call=True)
RULES = {
    "balanced": ThresholdRule(
        lambda options: -(1 - T - SKEW * F).abs(), needs_one_prior=True, takes_constraints=False
    ),
    "cost": ThresholdRule(
        lambda options: -rates.loss(T, F, SKEW, cost_fn=options.cost_fn, cost_fp=options.cost_fp)
    ),
    "posterior": ThresholdRule(_posterior, needs_one_prior=True, takes_constraints=False),
    "recall": FEWEST_ALARMS._replace(limits="recall"),
    "precision": MAX_RECALL._replace(limits="precision"),
    "fpr": MAX_RECALL._replace(limits="fpr"),
    "capacity": MAX_RECALL._replace(limits="posfrac"),
    "max_recall": MAX_RECALL,
    "fewest_alarms": FEWEST_ALARMS,
    "f_measure": ThresholdRule(
        lambda options: rates.f_measure(T, F, SKEW, beta=options.beta), needs_one_prior=True
    ),
    "informedness": INFORMEDNESS,
    "youden": INFORMEDNESS,
    "threshold": ThresholdRule(
        lambda options: pl.when((pl.col(SCORE) >= options.target).fill_null(True)).then(CALLED),
        takes_constraints=False,
    ),
}


class Limited(NamedTuple):
    """A rate that can be limited, to x at the skew s.

    The limit is kept in the half-plane a·t + b·f + c ≥ 0, from the formulas of `rates`.
    """

    words: str  # with a place for the limit
    half_plane: Callable[[float, Quantity], tuple[Quantity, Quantity, Quantity]]  # (a, b, c)
    easiest: Literal["few", "many", "some"]  # with how many alarms the limit is kept most easily
    by_prior: bool = False  # the rate depends on the prior


LIMITED = {
    "recall": Limited("at least {} positives are found", lambda x, s: (1, 0, -x), "many"),
    "precision": Limited(
        "at least {} alarms are right", lambda x, s: (1 - x, -s * x, 0), "few", by_prior=True
    ),
    "specificity": Limited(
        "at least {} negatives raise no alarm", lambda x, s: (0, -1, 1 - x), "few"
    ),
    "npv": Limited(
        "at least {} cases without an alarm are negatives",
        lambda x, s: (x, -s * (1 - x), s * (1 - x) - x), "many", by_prior=True,
    ),
    "accuracy": Limited(
        "at least {} cases are called rightly",
        lambda x, s: (1, -s, s - x * (1 + s)), "some", by_prior=True,
    ),
    "informedness": Limited(
        "recall is above the false positive rate by at least {}", lambda x, s: (1, -1, -x), "some"
    ),
    "fpr": Limited("at most {} negatives raise an alarm", lambda x, s: (0, -1, x), "few"),
    "fnr": Limited("at most {} positives are missed", lambda x, s: (1, 0, x - 1), "many"),
    "posfrac": Limited(
        "at most {} cases raise an alarm",
        lambda x, s: (-1, -s, x * (1 + s)), "few", by_prior=True,
    ),
    "error": Limited(
        "at most {} cases are called wrongly",
        lambda x, s: (1, -s, x * (1 + s) - 1), "some", by_prior=True,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Constraints:
    """Limits by the name of their rate, to be kept at every prior from the first end to the last.

    Without ends they are to be kept at the prior of each row. Every rate is monotone in the prior
    (precision, negative predictive value), linear in it (accuracy, error, share of cases called
    positive) or independent of it, so that the worst prior of a range is one of its ends.
    """

    limits: Mapping[str, float]
    ends: tuple[float, float] | None = None

    def half_planes(self, name: str, row_skew: Quantity) -> list[tuple[Quantity, ...]]:
        """The half-planes of a limit at the ends of the range, by default at `row_skew`."""
        ends = [row_skew] if self.ends is None else [skew(end) for end in sorted(set(self.ends))]
        return [LIMITED[name].half_plane(self.limits[name], end) for end in ends]

    def kept(self, t: Quantity, f: Quantity, row_skew: Quantity) -> list[Quantity]:
        """Whether a point keeps each of them, up to rounding."""
        kept = [
            a * t + b * f + c >= -ROUNDING * (abs(a) * t + abs(b) * f + abs(c))
            for name in self.limits
            for a, b, c in self.half_planes(name, row_skew)
        ]
        # Precision is undefined where nothing is called positive.
        return [*kept, t + f > 0] if "precision" in self.limits else kept


def checked_limits(constraints: Mapping[str, float] | None) -> dict[str, float]:
    """The limits, refused where a rate is unknown or a limit is not a share."""
    if constraints is None:
        return {}
    if not isinstance(constraints, Mapping) or not constraints:
        raise InvalidArgument(
            f"constraints is {quoted([constraints])}, allowed is a mapping of rates to limits.",
            hint=example("constraints", {"precision": 0.8}),
        )
    for name, limit in constraints.items():
        check_choice("the rate of a constraint", name, tuple(LIMITED))
        check_share(name, limit)
    return {name: float(limit) for name, limit in constraints.items()}


def promise(limits: Mapping[str, float], confidence: float, priors: Sequence[float]) -> str:
    """The promise of a threshold, as a sentence, at a prior or from the first to the last.

    Examples
    --------
    >>> promise({"precision": 0.8}, 0.95, (0.05, 0.2))
    'With 95 % confidence at least 8 of 10 alarms are right, as long as 5 to 20 % are positive.'

    Estimated ends are rounded to where the promise holds:

    >>> promise({"precision": 0.8}, 0.95, (0.0811735, 0.123033)).partition(", ")[2]
    'as long as 8.12 to 12.3 % are positive.'
    """
    # Informedness is a difference of two shares, so it is no number of cases.
    parts = [
        LIMITED[name].words.format(f"{limit:g}" if name == "informedness" else _of_many(limit))
        for name, limit in limits.items()
    ]
    together = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    while_so = ""
    if any(LIMITED[name].by_prior for name in limits):
        while_so = f", as long as {_per_cent(min(priors), max(priors))} % are positive"
    return f"With {100 * confidence:.6g} % confidence {together}{while_so}."


def _per_cent(low: float, high: float) -> str:
    """A prior, or a range rounded inwards by less than a hundredth of its width."""
    if low == high:
        return f"{100 * low:.6g}"
    scale = 100 * 10.0 ** (2 - floor(log10(100 * (high - low))))
    # Rounded twice, so that 0.07 is not above 7 %.
    ends = ceil(round(low * scale, 6)), floor(round(high * scale, 6))
    return " to ".join(f"{100 * end / scale:.12g}" for end in ends)


def _of_many(share: float) -> str:
    """A share as a count of ten, a hundred, a thousand cases."""
    for many in (10, 100, 1000):
        if abs(share * many - round(share * many)) < 1e-9:
            return f"{round(share * many)} of {many:,}"
    return f"{100 * share:.6g} % of the"


def rule_of(constraints: Collection[str]) -> Literal["max_recall", "fewest_alarms"]:
    """The rule for constraints without costs."""
    # Limits of missed positives alone are kept best by calling everything positive.
    return "max_recall" if {*constraints} - {"recall", "fnr"} else "fewest_alarms"


@dataclass(frozen=True)
class Need:
    """A condition on the rates at a threshold, at all of some priors, or what it is best at."""

    kind: Literal["recall", "precision", "capacity", "cost", "max_recall", "fewest_alarms"]
    priors: tuple[float, ...]
    value: float = 0  # least recall, least precision, or largest share of cases to look at
    cost_fn: float = 1
    cost_fp: float = 1

    @property
    def prior(self) -> float:
        """The middle prior, at which costs are counted."""
        return self.priors[len(self.priors) // 2]

    @property
    def fixes_count(self) -> bool:
        """Whether it fixes how many cases, or positives, lie above the threshold."""
        return self.kind in ("recall", "capacity")

    def cost(self, recall: Any, alarms: Any) -> Any:
        """The expected cost of rates at the middle prior."""
        at = skew(self.prior)
        return rates.loss(recall, alarms, at, cost_fn=self.cost_fn, cost_fp=self.cost_fp)

    def best(self, recall: Array, alarms: Array) -> int:
        """The place of the best rates, of which the first call nothing positive.

        That place also stands for a condition that no other rates meet.
        """
        if self.kind == "cost":
            costs = self.cost(recall, alarms)
            return int((costs <= costs.min() + ROUNDING * costs.max()).argmax())
        limits: dict[str, float] = {"posfrac" if self.kind == "capacity" else self.kind: self.value}
        constraints = Constraints(limits, (min(self.priors), max(self.priors)))
        fits = np.all(constraints.kept(recall, alarms, np.nan), axis=0)
        if self.kind != "recall":
            fits &= recall >= recall[fits].max(initial=0)
        return int(fits.argmax())

    @property
    def goal(self) -> str:
        """The goal in words that follow "to", without the costs of errors."""
        return {
            "recall": f"find at least {100 * self.value:.3g} % of positives",
            "precision": f"be right in at least {100 * self.value:.3g} % of alarms",
            "capacity": f"look at no more than {1000 * self.value:.3g} of 1,000 cases",
            "cost": f"cost least at {100 * self.prior:.3g} % positives",
            "max_recall": "find as many positives as the constraints allow",
            "fewest_alarms": "raise as few alarms as the constraints allow",
        }[self.kind]

    def __str__(self) -> str:
        """The goal in words that follow "to".

        Examples
        --------
        >>> str(Need("recall", (0.1,), 0.9)), str(Need("capacity", (0.1,), 0.05))
        ('find at least 90 % of positives', 'look at no more than 50 of 1,000 cases')
        >>> str(Need("cost", (0.1,), cost_fn=5))
        'cost least at 10 % positives, where a missed positive costs 5 times a false alarm'
        """
        if self.kind != "cost":
            return self.goal
        ratio = self.cost_fn / self.cost_fp
        words = f"{ratio:.3g} times" if ratio > 1 else f"1/{1 / ratio:.3g} of"
        cost = "as much as" if ratio == 1 else words
        return f"{self.goal}, where a missed positive costs {cost} a false alarm"
