"""What the thresholds of a report are to achieve."""

from dataclasses import dataclass

from polaroc.base.checks import check_factors, check_share, is_number, shortened
from polaroc.errors import Hint, InvalidArgument
from polaroc.thresholds.alerts import Capacity
from polaroc.thresholds.need import Need

# Least recalls of the thresholds that are shown where nobody said what is needed.
TYPICAL_RECALLS = (0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Needs:
    """What the thresholds of a report are to achieve; arguments of `report` of the same names."""

    recall: float | None = None
    precision: float | None = None
    capacity: float | None = None
    cost_fn: float | None = None
    cost_fp: float | None = None
    a_day: Capacity | None = None  # a need where nothing else is needed

    def __post_init__(self) -> None:
        for name in ("recall", "precision"):
            if getattr(self, name) is not None:
                check_share(name, getattr(self, name))
        if self.capacity is not None and not (
            is_number(self.capacity) and 1 <= self.capacity <= 1000
        ):
            raise InvalidArgument(
                f"capacity is {shortened(self.capacity)}, allowed are 1 to 1000: so many of 1,000 "
                "cases can be looked at.",
                hint=Hint.example("capacity", 50),
            )
        if self.capacity is not None and self.a_day is not None:
            raise InvalidArgument(
                "capacity is given, and alerts a day besides.",
                hint="leave capacity out: it is the alerts of 1,000 cases.",
            )
        costs = {"cost_fn": self.cost_fn, "cost_fp": self.cost_fp}
        check_factors(**{name: cost for name, cost in costs.items() if cost is not None})
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
        if self.a_day is not None and self.recall is None:
            return [self.full(priors)]
        recalls = TYPICAL_RECALLS if self.recall is None else (self.recall,)
        return [Need("recall", priors, recall) for recall in recalls]

    def full(self, priors: tuple[float, ...]) -> Need:
        """The need to look at as many cases as there is capacity for."""
        assert self.a_day is not None
        return Need("capacity", priors, self.a_day.share, alerts=self.a_day.alerts)
