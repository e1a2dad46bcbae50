"""Limits on the rates at a threshold: as half-planes of ROC space, and in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from polaroc.base.checks import check_share, shortened
from polaroc.base.statistics import ROUNDING
from polaroc.errors import InvalidArgument, check_choice, example
from polaroc.priors.grids import skew
from polaroc.typing import Quantity


class Limited(NamedTuple):
    """A rate that can be limited.

    Attributes
    ----------
    words
        The limit as a phrase, with a place for its value.
    half_plane
        Function of the limit x and the skew s: the coefficients (a, b, c) with which the limit is
        kept where a·t + b·f + c ≥ 0, from the formulas of `rates`.
    by_prior
        Whether the rate depends on the prior.
    start
        Share of cases called positive, at a prior, where the limit is most likely kept.
    """

    words: str
    half_plane: Callable[[float, Quantity], tuple[Quantity, Quantity, Quantity]]
    by_prior: bool = False
    start: Callable[[float], float] = lambda prior: 0.5


LIMITED = {
    "recall": Limited(
        "at least {} positives are found", lambda x, s: (1, 0, -x), start=lambda prior: 1.0
    ),
    "precision": Limited(
        "at least {} alarms are right", lambda x, s: (1 - x, -s * x, 0),
        by_prior=True, start=lambda prior: prior / 2,
    ),
    "specificity": Limited(
        "at least {} negatives raise no alarm", lambda x, s: (0, -1, 1 - x),
        start=lambda prior: 0.0,
    ),
    "npv": Limited(
        "at least {} cases without an alarm are negatives",
        lambda x, s: (x, -s * (1 - x), s * (1 - x) - x),
        by_prior=True, start=lambda prior: (1 + prior) / 2,
    ),
    "accuracy": Limited(
        "at least {} cases are called rightly", lambda x, s: (1, -s, s - x * (1 + s)),
        by_prior=True, start=lambda prior: prior,
    ),
    "informedness": Limited(
        "recall is above the false positive rate by at least {}", lambda x, s: (1, -1, -x)
    ),
    "fpr": Limited(
        "at most {} negatives raise an alarm", lambda x, s: (0, -1, x),
        start=lambda prior: 0.0,
    ),
    "fnr": Limited(
        "at most {} positives are missed", lambda x, s: (1, 0, x - 1),
        start=lambda prior: 1.0,
    ),
    "posfrac": Limited(
        "at most {} cases raise an alarm", lambda x, s: (-1, -s, x * (1 + s)),
        by_prior=True, start=lambda prior: 0.0,
    ),
    "error": Limited(
        "at most {} cases are called wrongly", lambda x, s: (1, -s, x * (1 + s) - 1),
        by_prior=True, start=lambda prior: prior,
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

    def half_planes(self, name: str, own: Quantity) -> list[tuple[Quantity, ...]]:
        """The half-planes of a limit at the ends of the range, by default at the `own` skew."""
        ends = [own] if self.ends is None else [skew(end) for end in sorted(set(self.ends))]
        return [LIMITED[name].half_plane(self.limits[name], end) for end in ends]

    def kept(self, t: Quantity, f: Quantity, own: Quantity) -> list[Quantity]:
        """Whether a point keeps each of them, up to rounding."""
        planes = [plane for name in self.limits for plane in self.half_planes(name, own)]
        kept = [
            a * t + b * f + c >= -ROUNDING * (abs(a) * t + abs(b) * f + abs(c))
            for a, b, c in planes
        ]
        # Where nothing is called positive there is no precision.
        return [*kept, t + f > 0] if "precision" in self.limits else kept


def admissible(constraints: Constraints) -> pl.Expr:
    """Whether a point of a surface keeps the constraints on the table itself."""
    kept = constraints.kept(pl.col("tpr"), pl.col("fpr"), pl.col("skew"))
    return pl.all_horizontal(pl.lit(True), *kept)


def checked_limits(constraints: Mapping[str, float] | None) -> dict[str, float]:
    """The limits, refused where a rate is unknown or a limit is not a share."""
    if constraints is None:
        return {}
    if not isinstance(constraints, Mapping) or not constraints:
        raise InvalidArgument(
            f"constraints is {shortened(constraints)}, allowed is a mapping of rates to limits.",
            hint=example("constraints", {"precision": 0.8}),
        )
    for name, limit in constraints.items():
        check_choice("the rate of a constraint", name, tuple(LIMITED))
        check_share(name, limit)
    return {name: float(limit) for name, limit in constraints.items()}


def promise(constraints: Mapping[str, float], confidence: float, priors: Sequence[float]) -> str:
    """The promise of a threshold, as a sentence, at a prior or from the first to the last.

    Examples
    --------
    >>> promise({"precision": 0.8}, 0.95, (0.05, 0.2))
    'With 95 % confidence at least 8 of 10 alarms are right, as long as 5 to 20 % are positive.'
    """
    # A difference of two shares counts no cases.
    parts = [
        LIMITED[name].words.format(f"{limit:g}" if name == "informedness" else _of_many(limit))
        for name, limit in constraints.items()
    ]
    together = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    while_so = ""
    if any(LIMITED[name].by_prior for name in constraints):
        ends = " to ".join(f"{100 * prior:.6g}" for prior in sorted(set(priors)))
        while_so = f", as long as {ends} % are positive"
    return f"With {100 * confidence:.6g} % confidence {together}{while_so}."


def _of_many(share: float) -> str:
    """A share as a count of ten, a hundred, a thousand cases."""
    for many in (10, 100, 1000):
        if abs(share * many - round(share * many)) < 1e-9:
            return f"{round(share * many)} of {many:,}"
    return f"{100 * share:.6g} % of the"
