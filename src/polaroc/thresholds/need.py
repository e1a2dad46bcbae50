"""The goal of a threshold, and the rates that meet it best."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from polaroc import rates
from polaroc.base.statistics import ROUNDING
from polaroc.priors.grids import skew
from polaroc.thresholds.constraints import Constraints
from polaroc.typing import Array


@dataclass(frozen=True)
class Need:
    """A condition on the rates at a threshold, at all of some priors, or costs at one prior."""

    kind: Literal["recall", "precision", "capacity", "cost"]
    priors: tuple[float, ...]
    value: float = 0  # least recall, least precision, or largest share of cases to look at
    cost_fn: float = 1
    cost_fp: float = 1

    def best(self, recall: Array, alarms: Array) -> int:
        """The place of the best rates, of which the first call nothing positive.

        That place also stands for a condition that no other rates meet.
        """
        if self.kind == "cost":
            costs = self.cost(recall, alarms)
            return int((costs <= costs.min() + ROUNDING * costs.max()).argmax())
        limits: dict[str, float] = {"posfrac" if self.kind == "capacity" else self.kind: self.value}
        asked = Constraints(limits, (min(self.priors), max(self.priors)))
        fits = np.all(asked.kept(recall, alarms, np.nan), axis=0)
        if self.kind == "recall":
            return int(fits.argmax())
        return int((fits & (recall >= recall[fits].max(initial=0))).argmax())

    def cost(self, recall: Any, alarms: Any) -> Any:
        """The expected cost of rates at the middle prior."""
        middle = self.priors[len(self.priors) // 2]
        return rates.loss(recall, alarms, skew(middle), cost_fn=self.cost_fn, cost_fp=self.cost_fp)

    @property
    def fixes_count(self) -> bool:
        """Whether it fixes how many cases, or positives, lie above the threshold."""
        return self.kind in ("recall", "capacity")

    @property
    def goal(self) -> str:
        """The goal in words that follow "to", without the costs of errors."""
        middle = self.priors[len(self.priors) // 2]
        return {
            "recall": f"find at least {100 * self.value:.3g} % of positives",
            "precision": f"be right in at least {100 * self.value:.3g} % of alarms",
            "capacity": f"look at no more than {1000 * self.value:.3g} of 1,000 cases",
            "cost": f"cost least at {100 * middle:.3g} % positives",
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
