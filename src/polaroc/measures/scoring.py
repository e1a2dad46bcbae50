"""Brier score and log loss of scores that are probabilities, at any prior.

A score s that is right at the prior π₀ has the odds s/(1−s) there, and at another prior π these
odds times λ₀/λ. With a = s·λ₀ and c = 1 − s the probability at π is a/(a + λc), which needs no
division by zero for scores of 0 and 1. Classes are weighted to π as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import polars as pl

from polaroc.base.columns import PRIVATE
from polaroc.measures.spec import Measure, MeasureArguments, MeasureDefinition
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.beliefs import resolve_belief
from polaroc.priors.grids import OBSERVED, check_prior
from polaroc.priors.grids import skew as skew_of

NOT_PROBABILITIES = "scores are not probabilities"
INFINITE = "infinite: a positive has the score 0, or a negative the score 1"
ON_THE_HULL = "the hull is fitted to these cases: no interval"
# Sums that do not depend on the prior: cases with scores that are no probabilities, and with
# scores of 0 or 1 that are wrong; the logarithms of a over positives, and of c over negatives.
OUTSIDE, WRONG, LOG_A, LOG_C = (PRIVATE + name for name in ("outside", "wrong", "log_a", "log_c"))
# Means of the losses of cases, which have standard errors.
CASE_LOSSES = ("brier", "brier_range", "log_loss", "log_loss_range", "brier_skill")
Skew: TypeAlias = float | pl.Expr
# Makes a loss, the mean at these skews and weights; the string makes its sums unique.
Build: TypeAlias = Callable[[str, Sequence[tuple[Skew, float]], MeasureArguments], Measure]


@dataclass(frozen=True)
class Scored:
    """A score of a curve, or a case, as expressions."""

    a: pl.Expr  # as in the module's formula
    c: pl.Expr
    pos: pl.Expr  # the share of the positives that have the score
    neg: pl.Expr

    @classmethod
    def of(cls, arguments: MeasureArguments) -> Scored:
        """The score in the columns `threshold`, `pos`, `neg`, `positives` and `negatives`."""
        positives, negatives = arguments.column("positives"), arguments.column("negatives")
        skew_when_right = negatives / positives
        if arguments.score_prior != OBSERVED:
            skew_when_right = skew_of(float(arguments.score_prior))
        score = arguments.column(SCORE).clip(0.0, 1.0)
        pos, neg = arguments.column("pos"), arguments.column("neg")
        return cls(score * skew_when_right, 1 - score, pos / positives, neg / negatives)

    def brier(self, skew: Skew) -> pl.Expr:
        """Its part of the Brier score: π pos (1 − p)² + (1 − π) neg p²."""
        errors = self.neg * self.a.pow(2) + skew * (self.pos * self.c.pow(2))
        return skew * _prior(skew) * errors / (self.a + skew * self.c).pow(2)

    def log_loss(self, skew: Skew) -> pl.Expr:
        """Its part of −π pos ln p − (1 − π) neg ln(1 − p), but for what `LOG_A` adds.

        ln(c + a/λ) + ln λ is the logarithm of a + λc: for large λ fewer digits cancel.
        """
        share = _prior(skew) * (self.pos + skew * self.neg)
        return share * (self.c + self.a / skew).log()

    def losses(self, name: str, skew: Skew) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
        """The losses of a positive and of a negative, and the derivative of what the score adds.

        The derivative is that with respect to the log-odds of the score prior.
        """
        p, prior = self.a / (self.a + skew * self.c), _prior(skew)
        other = skew * prior
        pos, neg = prior * self.pos, other * self.neg
        if name == "log_loss":
            return -prior * p.log(), -other * (-p).log1p(), pos * (1 - p) - neg * p
        derivative = 2 * p * (1 - p) * (pos * (1 - p) - neg * p)
        return prior * (1 - p) ** 2, other * p**2, derivative


@dataclass(frozen=True)
class CaseLoss:
    """A measure as the mean loss of positives plus the mean loss of negatives."""

    positive: pl.Expr  # the loss of a positive with a score
    negative: pl.Expr
    # The weights of both classes in the measure: the greatest losses, if these are `bounded`.
    weights: tuple[pl.Expr, pl.Expr]
    bounded: bool
    # What a score adds to the derivative of the measure by the log-odds of the prior at which
    # scores are right, None where this prior is given and not estimated.
    by_score_prior: pl.Expr | None = None
    scale: pl.Expr | float = 1.0  # the derivative of the measure by the mean


def case_loss(measure: Measure) -> CaseLoss | None:
    """The losses of single cases that the measure is a mean of, None where there are none."""
    if measure.name not in CASE_LOSSES or measure.arguments is None:
        return None
    arguments = measure.arguments
    scored, name = Scored.of(arguments), "log_loss" if "log" in measure.name else "brier"
    observed = arguments.column("negatives") / arguments.column("positives")
    nodes = [(observed if node is None else node, weight) for node, weight in measure.nodes]
    parts = [
        [weight * part for part in (*scored.losses(name, skew), _prior(skew))]
        for skew, weight in nodes
    ]
    positive, negative, slope, of_positives = map(pl.sum_horizontal, zip(*parts, strict=True))
    scale: pl.Expr | float = 1.0
    if measure.name == "brier_skill":
        scale = -_inverse_variance(nodes[0][0])
    # At the observed prior scores are not re-weighted, so that an error of it does not matter.
    depends = arguments.score_prior == OBSERVED and all(
        node is not None for node, _ in measure.nodes
    )
    return CaseLoss(
        positive, negative, (of_positives, sum(weight for _, weight in nodes) - of_positives),
        bounded=name == "brier", by_score_prior=slope if depends else None, scale=scale,
    )  # fmt: skip


def check_score_prior(score_prior: object) -> None:
    """Raise unless it is "observed" or a prior."""
    check_prior(score_prior, "score_prior", allow_observed=True)


def _prior(skew: Skew) -> Skew:
    """The prior π; 1 − π is λπ, which keeps its digits where π is near 1."""
    return 1 / (1 + skew)


def _inverse_variance(skew: Skew) -> Skew:
    """1/(π(1−π)): one over the Brier score of a forecast that is always the prior π."""
    return (1 + skew) * (1 + skew) / skew


def _mean(function: Callable[[Skew], pl.Expr], nodes: Sequence[tuple[Skew, float]]) -> pl.Expr:
    return pl.sum_horizontal(weight * function(skew) for skew, weight in nodes)


def _outside(arguments: MeasureArguments) -> dict[str, pl.Expr]:
    """The sum that counts cases with scores that are no probabilities."""
    score, cases = arguments.column(SCORE), arguments.column("pos") + arguments.column("neg")
    return {OUTSIDE: pl.when((score >= 0) & (score <= 1)).then(0.0).otherwise(1.0 * cases)}


def _brier(label: str, nodes: Sequence[tuple[Skew, float]], arguments: MeasureArguments) -> Measure:
    """The mean of the Brier score at the nodes."""
    name, outside = f"{PRIVATE}brier_{label}", arguments.column(OUTSIDE) > 0
    return Measure(
        name="brier", estimate=pl.when(~outside).then(arguments.column(name)),
        score_sums={name: _mean(Scored.of(arguments).brier, nodes)} | _outside(arguments),
        warnings=((outside, NOT_PROBABILITIES),),
    )  # fmt: skip


def _log_loss(
    label: str, nodes: Sequence[tuple[Skew, float]], arguments: MeasureArguments
) -> Measure:
    """The mean of the log loss at the nodes."""
    scored, name = Scored.of(arguments), f"{PRIVATE}log_loss_{label}"
    summed, log_a, log_c = map(arguments.column, (name, LOG_A, LOG_C))

    def constant(skew: Skew) -> pl.Expr:
        prior = _prior(skew)
        logarithm = skew.log() if isinstance(skew, pl.Expr) else pl.lit(skew).log()
        return prior * (logarithm - log_a - skew * log_c)

    logs = {
        of_class: share * pl.when(part > 0).then(part).otherwise(1.0).log()
        for of_class, share, part in ((LOG_A, scored.pos, scored.a),
                                      (LOG_C, scored.neg, scored.c))
    }  # fmt: skip
    wrong = (
        pl.when(scored.a > 0).then(0.0).otherwise(scored.pos)
        + pl.when(scored.c > 0).then(0.0).otherwise(scored.neg)
    )  # fmt: skip
    outside, infinite = arguments.column(OUTSIDE) > 0, arguments.column(WRONG) > 0
    loss = summed + _mean(constant, nodes)
    return Measure(
        name="log_loss", estimate=pl.when(~(outside | infinite)).then(loss.clip(lower_bound=0.0)),
        score_sums={name: _mean(scored.log_loss, nodes), WRONG: wrong} | logs | _outside(arguments),
        bounds=(0.0, None), warnings=((outside, NOT_PROBABILITIES), (infinite, INFINITE)),
    )  # fmt: skip


def _refinement(
    label: str, nodes: Sequence[tuple[Skew, float]], arguments: MeasureArguments
) -> Measure:
    """The Brier score that is left once scores are calibrated by the hull.

    A segment of the hull holds πΔt positives and (1−π)Δf negatives: times p(1−p) of the segment.
    """
    name, s = f"{PRIVATE}refinement_{label}", arguments.segment
    left = _mean(lambda skew: skew * _prior(skew) * s.dt * s.df / (s.dt + skew * s.df), nodes)
    return Measure(name="refinement_loss", estimate=arguments.column(name), hull_sums={name: left})


def _calibration(
    label: str, nodes: Sequence[tuple[Skew, float]], arguments: MeasureArguments
) -> Measure:
    """The Brier score less its refinement loss: what calibration would save."""
    scored, refined = _brier(label, nodes, arguments), _refinement(label, nodes, arguments)
    # The hull is the best of all calibrations, but both sums are rounded.
    excess = (scored.estimate - refined.estimate).clip(lower_bound=0.0)
    return replace(
        scored, name="calibration_loss", estimate=excess, hull_sums=refined.hull_sums
    )  # fmt: skip


def _at_priors(build: Build, arguments: MeasureArguments) -> list[Measure]:
    """A loss at each prior."""
    return [
        replace(
            build(repr(prior), [(skew, 1.0)], arguments), prior=prior, arguments=arguments,
            nodes=((skew if isinstance(skew, float) else None, 1.0),),
        )
        for prior, skew in arguments.skews
    ]  # fmt: skip


def _over_range(build: Build, arguments: MeasureArguments) -> list[Measure]:
    """The mean of a loss over a range of priors or a belief."""
    belief = resolve_belief(arguments.over)
    mean, name = build("range", belief.nodes, arguments), belief.name
    return [
        replace(mean, name=f"{mean.name}_range", over=name, arguments=arguments, nodes=belief.nodes)
    ]


def _skill(arguments: MeasureArguments) -> list[Measure]:
    """Brier skill: 1 less the Brier score over that of the prior itself, π(1−π)."""
    return [
        replace(brier, name="brier_skill", estimate=1 - brier.estimate * _inverse_variance(skew),
                bounds=(None, 1.0))
        for brier, (_, skew) in zip(_at_priors(_brier, arguments), arguments.skews, strict=True)
    ]  # fmt: skip


def _defined(
    name: str, label: str, description: str, build: Build
) -> tuple[MeasureDefinition, MeasureDefinition]:
    """A loss at each prior, and its mean over a range or belief."""
    return (
        MeasureDefinition(
            name, label, description, partial(_at_priors, build), higher_is_better=False,
            at_priors=True, by_default=False,
        ),
        MeasureDefinition(
            f"{name}_range", f"mean {label}", f"{label} averaged over a range of priors, or under "
            "a belief", partial(_over_range, build), higher_is_better=False, over="belief",
            mean_of=name, by_default=False,
        ),
    )  # fmt: skip


BRIER, BRIER_RANGE = _defined(
    "brier", "Brier score",
    "mean squared error of the scores as probabilities, re-weighted to each prior (Brier 1950)",
    _brier,
)  # fmt: skip
LOG_LOSS, LOG_LOSS_RANGE = _defined(
    "log_loss", "log loss",
    "mean negative logarithm of the probability of the truth, re-weighted to each prior; in nats",
    _log_loss,
)  # fmt: skip
CALIBRATION_LOSS, CALIBRATION_LOSS_RANGE = _defined(
    "calibration_loss", "calibration loss",
    "Brier score less the refinement loss: what calibration would save", _calibration,
)  # fmt: skip
REFINEMENT_LOSS, REFINEMENT_LOSS_RANGE = _defined(
    "refinement_loss", "refinement loss",
    "Brier score of any scores once they are calibrated by the ROC hull", _refinement,
)  # fmt: skip
BRIER_SKILL = MeasureDefinition(
    name="brier_skill",
    label="Brier skill",
    description="1 less the Brier score over π(1−π), that of the prior as the only probability",
    build=_skill,
    at_priors=True,
    by_default=False,
)
SCORING = (
    BRIER, BRIER_RANGE, LOG_LOSS, LOG_LOSS_RANGE, CALIBRATION_LOSS, CALIBRATION_LOSS_RANGE,
    REFINEMENT_LOSS, REFINEMENT_LOSS_RANGE, BRIER_SKILL,
)  # fmt: skip
