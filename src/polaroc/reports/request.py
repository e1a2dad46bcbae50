"""The question that a report answers: priors, the goal of the threshold, and certainty."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polaroc.base.checks import check_factors, check_share, refuse_unused
from polaroc.errors import InvalidArgument, check_choice
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.thresholds.rules import Need, checked_limits, rule_of

# Limits of a rate that can be the goal of a threshold, and what they limit.
GOALS = {"recall": "recall", "precision": "precision", "posfrac": "capacity"}
# Tail of a belief at each end whose priors are not shown.
TAIL = 0.05


@dataclass(frozen=True)
class Request:
    """The arguments of `report` of the same names."""

    over: Any  # a range or belief; of measures at first None
    level: float
    confidence: float | None
    constraints: Mapping[str, float]
    cost_fn: float | None
    cost_fp: float | None
    is_tuned: bool

    def __post_init__(self) -> None:
        check_share("level", self.level)
        check_factors(cost_fn=self.cost_fn, cost_fp=self.cost_fp)
        if self.constraints:
            checked_limits(self.constraints)
        if self.is_tuned:
            return
        refuse_unused(
            "for thresholds set on tuning", "tuning is not given", confidence=self.confidence
        )
        for name in self.constraints:
            check_choice("a constraint of a report", name, tuple(GOALS))
        goals = [*self.constraints, *(["costs"] if self.has_costs else [])]
        if len(goals) > 1:
            raise InvalidArgument(
                f"{' and '.join(goals)} are given, and a threshold can meet one need.",
                hint="give one of them, or tuning=: thresholds that are set on other cases may "
                "cost least and keep to constraints.",
            )

    @property
    def costs(self) -> tuple[float, float]:
        """The costs of a missed positive and of a false alarm."""
        fn, fp = check_factors(cost_fn=self.cost_fn, cost_fp=self.cost_fp)
        return fn, fp

    @property
    def has_costs(self) -> bool:
        """Whether a cost is given."""
        return self.cost_fn is not None or self.cost_fp is not None

    @property
    def has_goal(self) -> bool:
        """Whether it is said what the threshold is for."""
        return self.has_costs or self.is_tuned or bool(self.constraints)

    @property
    def belief(self) -> Belief:
        """The belief about the prior."""
        return resolve_belief(self.over)

    @property
    def of_costs(self) -> dict[str, Any]:
        """The arguments of `choose` and `operating_points` that are about costs."""
        return {
            "cost_fn": self.cost_fn, "cost_fp": self.cost_fp,
            "constraints": dict(self.constraints) or None, "confidence": self.confidence,
        }  # fmt: skip

    @property
    def priors(self) -> tuple[float, float, float]:
        """A low, a middle and a high prior: the ends and the mean of a range, or of a belief.

        Examples
        --------
        >>> from polaroc.priors.beliefs import beta
        >>> request = Request(beta(2, 18), 0.95, None, {}, None, None, is_tuned=False)
        >>> [round(prior, 2) for prior in request.priors]
        [0.02, 0.1, 0.23]
        """
        belief = self.belief
        low, high = belief.ends or (0.0, 1.0)
        least, most = belief.quantile([TAIL, 1 - TAIL])
        low, high = (low if low > 0 else least), (high if high < 1 else most)
        # The mean is between them, also of a belief with a long tail.
        return min(low, belief.mean), belief.mean, max(high, belief.mean)

    @property
    def needs(self) -> tuple[Need, ...]:
        """The goals of thresholds; the one that the report acts on is in the middle."""
        if self.has_costs or self.is_tuned:
            by_cost = self.has_costs or not self.constraints
            rule = "cost" if by_cost else rule_of(self.constraints)
            return (Need(rule, (self.belief.mean,), 0, *self.costs),)
        given: list[Any] = [(GOALS[name], value) for name, value in self.constraints.items()]
        typical: list[Any] = [("recall", recall) for recall in (0.8, 0.9, 0.95)]
        return tuple(Need(kind, self.priors, value) for kind, value in given or typical)
