"""Constraints on the rates at a threshold, as half-planes of ROC space, and in words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import polars as pl

from polaroc.base.checks import is_number, shortened
from polaroc.base.statistics import ROUNDING
from polaroc.errors import InvalidArgument, example, quoted
from polaroc.priors.beliefs import Belief
from polaroc.priors.distributions import Beta
from polaroc.priors.grids import range_of, skew
from polaroc.priors.in_use import within_unit
from polaroc.typing import Quantity

# Slope and intercept of the least recall at a false positive rate.
Line: TypeAlias = tuple[Quantity, Quantity]


class Limited(NamedTuple):
    """How a threshold is held to a limit on a rate.

    Attributes
    ----------
    words
        What the limit says, with a place for it.
    at_least
        Whether the limit is the lowest the rate may be, or the highest.
    line
        The least recall, of the limit and the skew, as t ≥ slope·f + intercept, from the formulas
        of `rates`; None where there is none.
    cap
        The highest false positive rate, of the limit; None where there is none.
    by_prior
        Whether the rate depends on the prior.
    of_alarms
        Whether there is no rate without alarms.
    """

    words: str
    at_least: bool
    line: Callable[[float, Quantity], Line] | None = None
    cap: Callable[[float], float] | None = None
    by_prior: bool = False
    of_alarms: bool = False


LIMITED = {
    "recall": Limited("at least {} positives are found", True, lambda limit, skew: (0.0, limit)),
    # All alarms are right where no negative raises one.
    "precision": Limited(
        "at least {} alarms are right", True,
        lambda limit, skew: (skew * limit / (1 - limit) if limit < 1 else 0.0, 0.0),
        lambda limit: 1.0 if limit < 1 else 0.0, by_prior=True, of_alarms=True,
    ),
    "specificity": Limited(
        "at least {} negatives raise no alarm", True, cap=lambda limit: 1 - limit
    ),
    "npv": Limited(
        "at least {} cases without an alarm are negatives", True,
        lambda limit, skew: (skew * (1 - limit) / limit, 1 - skew * (1 - limit) / limit),
        by_prior=True,
    ),
    "accuracy": Limited(
        "at least {} cases are called rightly", True,
        lambda limit, skew: (skew, limit - skew * (1 - limit)), by_prior=True,
    ),
    "informedness": Limited(
        "recall is above the false positive rate by at least {}", True,
        lambda limit, skew: (1.0, limit),
    ),
    "fpr": Limited("at most {} negatives raise an alarm", False, cap=lambda limit: limit),
    "fnr": Limited(
        "at most {} positives are missed", False, lambda limit, skew: (0.0, 1 - limit)
    ),
    "posfrac": Limited("at most {} cases raise an alarm", False, by_prior=True),
    "error": Limited(
        "at most {} cases are called wrongly", False,
        lambda limit, skew: (skew, 1 - limit - skew * limit), by_prior=True,
    ),
}  # fmt: skip
AT_LEAST = tuple(name for name, rate in LIMITED.items() if rate.at_least)
AT_MOST = tuple(name for name in LIMITED if name not in AT_LEAST)
# The rate that the target of a rule limits.
LIMITED_BY_RULE = {
    "recall": "recall", "precision": "precision", "fpr": "fpr", "capacity": "posfrac",
}  # fmt: skip


@dataclass(frozen=True)
class Constraints:
    """Limits by the name of their rate, to be kept at every prior from `lo` to `hi`.

    Without ends they are to be kept at the prior of each row. Every rate is monotone in the prior
    (precision, negative predictive value), linear in it (accuracy, error, share of cases called
    positive) or independent of it, so that the worst prior of a range is one of its ends.
    """

    limits: Mapping[str, float]
    ends: tuple[float, float] | None = None

    def skews(self, own: Quantity) -> list[Quantity]:
        """The skews at the ends of the range, by default the `own` one."""
        return [own] if self.ends is None else [skew(end) for end in sorted(set(self.ends))]

    def lines(self, own: Quantity) -> list[Line]:
        """The least recalls, as lines over the false positive rate."""
        rated = [(LIMITED[name].line, limit) for name, limit in self.limits.items()]
        return [line(limit, at) for line, limit in rated if line for at in self.skews(own)]

    @property
    def cap(self) -> float:
        """The highest false positive rate."""
        capped = [(LIMITED[name].cap, limit) for name, limit in self.limits.items()]
        return min((cap(limit) for cap, limit in capped if cap), default=1.0)

    @property
    def of_alarms(self) -> bool:
        """Whether calling nothing positive keeps them not, as one is a rate of the alarms."""
        return any(LIMITED[name].of_alarms for name in self.limits)

    @property
    def capacity(self) -> float | None:
        """The highest share of cases called positive."""
        return self.limits.get("posfrac")

    def kept(self, t: Quantity, f: Quantity, own: Quantity) -> Iterator[Quantity]:
        """Whether a point keeps each of them, up to rounding."""
        for slope, intercept in self.lines(own):
            yield t - slope * f - intercept >= -ROUNDING * (1 + slope * f)
        yield f <= self.cap + ROUNDING
        if self.capacity is not None:
            for at in self.skews(own):
                yield t + at * f <= self.capacity * (1 + at) * (1 + ROUNDING)
        if self.of_alarms:
            yield t + f > 0


def resolve_constraints(
    constraints: Mapping[str, float] | None, rule: str, target: float | None, over: object
) -> Constraints:
    """The constraints that were given and the one that the rule makes of its target."""
    limits = checked_limits(constraints)
    limited = LIMITED_BY_RULE.get(rule)
    if limited is not None and target is not None:
        if limited in limits:
            raise InvalidArgument(
                f"{limited} is limited twice: to {limits[limited]:g} in constraints, and to the "
                f"target {target:g} of the rule {rule!r}.",
                hint="leave it out of the constraints, or take the rule 'max_recall'.",
            )
        limits[limited] = float(target)
    return Constraints(limits, None if over is None or not limits else ends_of(over))


EXAMPLE = example("constraints", {"precision": 0.8})


def checked_limits(constraints: Mapping[str, float] | None) -> dict[str, float]:
    """The limits, refused where a rate is unknown or a limit is not a share."""
    if constraints is None:
        return {}
    if not isinstance(constraints, Mapping) or not constraints:
        raise InvalidArgument(
            f"constraints is {shortened(constraints)}, allowed is a mapping of rates to limits.",
            hint=EXAMPLE,
        )
    unknown = [name for name in constraints if name not in LIMITED]
    if unknown:
        raise InvalidArgument(
            f"constraints has {quoted(unknown)}; a threshold can be held to at least a "
            f"{', '.join(AT_LEAST)}, and to at most a {', '.join(AT_MOST)}.",
            hint=EXAMPLE,
        )
    for name, limit in constraints.items():
        if not is_number(limit) or isinstance(limit, bool) or not 0 < float(limit) < 1:
            raise InvalidArgument(
                f"constraints has {name} = {shortened(limit)}, allowed is 0 < {name} < 1.",
                hint=EXAMPLE,
            )
    return {name: float(limit) for name, limit in constraints.items()}


def ends_of(over: object) -> tuple[float, float]:
    """The least and the greatest prior of a range or belief."""
    if not isinstance(over, Belief):
        return range_of(over)
    if isinstance(over.distribution, Beta):
        raise InvalidArgument(
            f"over is {over!r}, a belief without ends: constraints are kept at every prior of a "
            "range.",
            hint="give the range: over=(0.05, 0.20).",
        )
    return within_unit(*over.range)


def promise(
    constraints: Mapping[str, float],
    confidence: float,
    priors: float | Sequence[float] | None = None,
) -> str:
    """The promise of a threshold, as a sentence, at a prior or from the first to the last.

    Examples
    --------
    >>> promise({"precision": 0.8}, 0.95, (0.05, 0.2))
    'With 95 % confidence at least 8 of 10 alarms are right, as long as 5 to 20 % are positive.'
    """
    parts = [_phrase(name, limit) for name, limit in constraints.items()]
    together = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    while_so = _as_long_as(constraints, priors)
    return f"With {_per_cent(confidence)} % confidence {together}{while_so}."


def _phrase(name: str, limit: float) -> str:
    # A difference of two shares counts no cases.
    return LIMITED[name].words.format(f"{limit:g}" if name == "informedness" else _of_many(limit))


def _of_many(share: float) -> str:
    """A share as a count of ten, a hundred, a thousand cases."""
    for many in (10, 100, 1000):
        if abs(share * many - round(share * many)) < 1e-9:
            return f"{round(share * many)} of {many:,}"
    return f"{_per_cent(share)} % of the"


def _as_long_as(names: Iterable[str], priors: float | Sequence[float] | None) -> str:
    if priors is None or not any(depends_on_prior(name) for name in names):
        return ""
    ends = [priors] if isinstance(priors, int | float) else sorted(set(priors))
    words = " to ".join(_per_cent(end) for end in ends)
    return f", as long as {words} % are positive"


def depends_on_prior(name: str) -> bool:
    """Whether a rate depends on the prior."""
    return LIMITED[name].by_prior


def _per_cent(share: float) -> str:
    return f"{100 * share:.6g}"


def admissible(constraints: Constraints) -> pl.Expr:
    """Whether a point of a surface keeps the constraints on the table itself."""
    own = pl.col("skew")
    return pl.all_horizontal(list(constraints.kept(pl.col("tpr"), pl.col("fpr"), own)))


def check_promise(constraints: Constraints, rule: str, target: float | None) -> None:
    """Refuse a confidence where there is nothing to promise, or more than can be."""
    if rule in LIMITED_BY_RULE and target in (0, 1):
        raise InvalidArgument(
            f"target is {target:g}, of which no sample can be confident; with confidence allowed "
            "is 0 < target < 1.",
            hint="give another target=0.9, or leave confidence out.",
        )
    if not constraints.limits:
        raise InvalidArgument(
            "confidence is given, but no constraint that could be promised.",
            hint="give constraints={'precision': 0.8}, or a rule with a target, such as 'recall'.",
        )
