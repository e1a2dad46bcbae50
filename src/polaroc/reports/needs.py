"""What a threshold is to achieve, and which threshold achieves it best."""

from dataclasses import dataclass
from typing import Any, Literal

from polaroc import rates
from polaroc.base.checks import check_factor, check_share, is_number
from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING
from polaroc.errors import Hint, InvalidArgument
from polaroc.priors.grids import skew
from polaroc.typing import Array

# Least recalls of the thresholds that are shown where nobody said what is needed.
TYPICAL_RECALLS = (0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Need:
    """A condition on the rates at a threshold, at all of some priors, or costs at one prior."""

    kind: Literal["recall", "precision", "capacity", "cost"]
    priors: tuple[float, ...]
    value: float = 0  # least recall, least precision, or largest share of cases to look at
    cost_fn: float = 1
    cost_fp: float = 1

    def best(self, recall: "Array", alarms: "Array") -> int:
        """The place of the best rates, of which the first call nothing positive.

        That place also stands for a condition that no other rates meet.
        """
        low, high = min(self.priors), max(self.priors)
        if self.kind == "cost":
            totals = self.cost(recall, alarms)
            return int((totals <= totals.min() + ROUNDING * totals.max()).argmax())
        if self.kind == "recall":
            enough = recall >= self.value * (1 - ROUNDING)
            return int(enough.argmax())
        if self.kind == "precision":
            # Precision grows with the prior.
            fits = low * recall >= self.value * (1 - ROUNDING) * (low * recall + (1 - low) * alarms)
        else:
            called = [prior * recall + (1 - prior) * alarms for prior in (low, high)]
            fits = np.maximum(*called) <= self.value * (1 + ROUNDING)
        most = recall[fits].max(initial=0)
        return int((fits & (recall >= most)).argmax())

    def cost(self, recall: Any, alarms: Any) -> Any:
        """The expected cost of rates at the middle prior."""
        middle = self.priors[len(self.priors) // 2]
        return rates.loss(recall, alarms, skew(middle), cost_fn=self.cost_fn, cost_fp=self.cost_fp)

    @property
    def fixes_count(self) -> bool:
        """Whether it fixes how many cases, or positives, lie above the threshold."""
        return self.kind in ("recall", "capacity")

    def left(self, recall: Any, alarms: Any) -> Any:
        """What is to be small once the need is met: costs, false alarms, or missed positives."""
        if self.kind == "cost":
            # A loss counts each of the two kinds of error with a weight of one half.
            return 2 * self.cost(recall, alarms)
        return alarms if self.kind == "recall" else 1 - recall

    @property
    def goal(self) -> str:
        """What is needed, in words that follow "to", without what errors cost."""
        if self.kind == "recall":
            return f"find at least {100 * self.value:.3g} % of positives"
        if self.kind == "precision":
            return f"be right in at least {100 * self.value:.3g} % of alarms"
        if self.kind == "capacity":
            return f"look at no more than {1000 * self.value:.3g} of 1,000 cases"
        return f"cost least at {100 * self.priors[len(self.priors) // 2]:.3g} % positives"

    def __str__(self) -> str:
        """What is needed, in words that follow "to".

        Examples
        --------
        >>> str(Need("recall", (0.1,), 0.9)), str(Need("capacity", (0.1,), 0.05))
        ('find at least 90 % of positives', 'look at no more than 50 of 1,000 cases')
        >>> str(Need("cost", (0.1,), cost_fn=5))
        'cost least at 10 % positives, where a missed positive costs 5 times a false alarm'
        """
        if self.kind != "cost":
            return self.goal
        missed, alarm = self.cost_fn, self.cost_fp
        costs = "costs as much as a false alarm"
        if missed > alarm:
            costs = f"costs {missed / alarm:.3g} times a false alarm"
        elif missed < alarm:
            costs = f"costs 1/{alarm / missed:.3g} of a false alarm"
        return f"{self.goal}, where a missed positive {costs}"


@dataclass(frozen=True)
class Needs:
    """What the thresholds of a report are to achieve; arguments of `report` of the same names."""

    recall: float | None = None
    precision: float | None = None
    capacity: float | None = None
    cost_fn: float | None = None
    cost_fp: float | None = None

    def __post_init__(self) -> None:
        for name in ("recall", "precision"):
            if getattr(self, name) is not None:
                check_share(name, getattr(self, name))
        if self.capacity is not None and not (
            is_number(self.capacity) and 1 <= self.capacity <= 1000
        ):
            raise InvalidArgument(
                f"capacity is {self.capacity!r}, allowed are 1 to 1000: so many of 1,000 cases "
                "can be looked at.",
                hint=Hint.example("capacity", 50),
            )
        for name in ("cost_fn", "cost_fp"):
            if getattr(self, name) is not None:
                check_factor(name, getattr(self, name))
        given = [name for name in ("recall", "precision", "capacity") if getattr(self, name)]
        given += ["costs"] if self.has_costs else []
        if len(given) > 1:
            raise InvalidArgument(
                f"{' and '.join(given)} are given, and a threshold can meet one need.",
                hint="give recall, precision, capacity or costs, and read off the page what the "
                "threshold does to the others.",
            )

    @property
    def has_costs(self) -> bool:
        """Whether a cost is given; the other is then 1."""
        return self.cost_fn is not None or self.cost_fp is not None

    @property
    def costs(self) -> tuple[float, float]:
        """The costs of a missed positive and of a false alarm."""
        return (1 if self.cost_fn is None else self.cost_fn), (self.cost_fp or 1)

    @property
    def is_given(self) -> bool:
        """Whether anything is said to be needed."""
        return self != Needs()

    def at(self, priors: tuple[float, ...]) -> list[Need]:
        """The needs, one per threshold; the one that the report acts on is in the middle."""
        if self.has_costs:
            return [Need("cost", (prior,), 0, *self.costs) for prior in priors]
        if self.precision is not None:
            return [Need("precision", priors, self.precision)]
        if self.capacity is not None:
            return [Need("capacity", priors, self.capacity / 1000)]
        recalls = TYPICAL_RECALLS if self.recall is None else (self.recall,)
        return [Need("recall", priors, recall) for recall in recalls]
