"""Brier score and log loss of scores that are probabilities, at any prior.

A score s that is right at the prior π₀ has the odds s/(1−s) there, and at another prior π these
odds times λ₀/λ. With a = s·λ₀ and c = 1 − s the probability at π is a/(a + λc), which needs no
division by zero for scores of 0 and 1. Classes are weighted to π as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from typing import TypeAlias, cast

from polaroc.base.backend import Backend
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.segments import segments_in
from polaroc.measures.spec import (
    CaseLoss,
    Measure,
    MeasureArguments,
    MeasureDefinition,
    at_priors,
)
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.beliefs import over_label, resolve_belief
from polaroc.priors.chebyshev import condensed
from polaroc.priors.grids import OBSERVED, check_prior_or_observed, skew
from polaroc.typing import Quantity

NOT_PROBABILITIES = "scores are not probabilities"
INFINITE = "infinite: a positive has the score 0, or a negative the score 1"
ON_THE_HULL = "the hull is fitted to these cases: no interval"
# The score as a and c, and the shares of the positives and of the negatives that are at a cell.
UP, DOWN, OF_POSITIVES, OF_NEGATIVES = (
    PRIVATE + name for name in ("up", "down", "of_positives", "of_negatives")
)
# What the squared errors of positives and of negatives are made of at every prior.
DOWN_SQUARED, UP_SQUARED = (PRIVATE + name for name in ("down_squared", "up_squared"))
# Sums that do not depend on the prior: cases with scores that are no probabilities, and with
# scores of 0 or 1 that are wrong; the logarithms of a over positives, and of c over negatives.
OUTSIDE, WRONG, LOG_UP, LOG_DOWN = (
    PRIVATE + name for name in ("outside", "wrong", "log_up", "log_down")
)
# Skews with the weights of a mean; what makes a loss of a label, of nodes and of all arguments.
Nodes: TypeAlias = Sequence[tuple[Quantity, float]]
Made: TypeAlias = Callable[[str, Nodes, MeasureArguments], Measure]


@dataclass(frozen=True)
class ScoringRule:
    """The sums of a scoring rule, written for a backend.

    `term` is what a cell adds at a skew, `constant` what is added per key; `losses`, the loss of a
    positive and of a negative and the derivative of their sum at a cell by the log-odds of the
    score prior, are for standard errors.
    """

    name: str
    term: Callable[[Quantity, Backend], Quantity]
    constant: Callable[[Quantity, Backend], Quantity]
    losses: Callable[[Quantity, Backend], tuple[Quantity, Quantity, Quantity]]


def _brier_term(skewed: Quantity, backend: Backend) -> Quantity:
    called = backend.column(UP) + skewed * backend.column(DOWN)
    errors = backend.column(UP_SQUARED) + skewed * backend.column(DOWN_SQUARED)
    return (1 - _prior(skewed)) * errors / (called * called)


def _log_term(skewed: Quantity, backend: Backend) -> Quantity:
    # ln(c + a/λ) + ln λ is the logarithm of a + λc: for large λ fewer digits cancel.
    up, down, pos, neg = map(backend.column, (UP, DOWN, OF_POSITIVES, OF_NEGATIVES))
    prior = _prior(skewed)
    return (pos * prior + neg * (1 - prior)) * backend.log(down + up * (1 / skewed))


def _log_constant(skewed: Quantity, backend: Backend) -> Quantity:
    prior = _prior(skewed)
    of_skew = log(skewed) if isinstance(skewed, float) else backend.log(skewed)
    return (
        prior * (of_skew - backend.column(LOG_UP)) - (1 - prior) * backend.column(LOG_DOWN)
    )  # fmt: skip


def _probability(skewed: Quantity, backend: Backend) -> Quantity:
    up, down = backend.column(UP), backend.column(DOWN)
    return up / (up + skewed * down)


def _prior(skewed: Quantity) -> Quantity:
    return 1 / (1 + skewed)


def _brier_losses(skewed: Quantity, backend: Backend) -> tuple[Quantity, Quantity, Quantity]:
    p, prior = _probability(skewed, backend), _prior(skewed)
    pos, neg = backend.column(OF_POSITIVES), backend.column(OF_NEGATIVES)
    by_score_prior = 2 * p * (1 - p) * (prior * pos * (1 - p) - (1 - prior) * neg * p)
    return prior * (1 - p) ** 2, (1 - prior) * p**2, by_score_prior


def _log_losses(skewed: Quantity, backend: Backend) -> tuple[Quantity, Quantity, Quantity]:
    p, prior = _probability(skewed, backend), _prior(skewed)
    pos, neg = backend.column(OF_POSITIVES), backend.column(OF_NEGATIVES)
    by_score_prior = prior * pos * (1 - p) - (1 - prior) * neg * p
    return -prior * backend.log(p), -(1 - prior) * backend.log1p(-p), by_score_prior


BRIER_RULE = ScoringRule("brier", _brier_term, lambda _skewed, _backend: 0.0, _brier_losses)
LOG_RULE = ScoringRule("log_loss", _log_term, _log_constant, _log_losses)


def scored_columns(score_prior: float | str, backend: Backend) -> dict[str, Quantity]:
    """The columns of a cell that scoring rules are written with."""
    positives, negatives = backend.column("positives"), backend.column("negatives")
    own = negatives / positives if score_prior == OBSERVED else skew(float(score_prior))
    score = backend.clip(backend.column(SCORE), 0.0, 1.0)
    up, down = score * own, 1 - score
    pos, neg = backend.column("pos") / positives, backend.column("neg") / negatives
    return {
        UP: up, DOWN: down, OF_POSITIVES: pos, OF_NEGATIVES: neg,
        DOWN_SQUARED: pos * (down * down), UP_SQUARED: neg * (up * up),
    }  # fmt: skip


def check_score_prior(score_prior: object) -> None:
    """Raise unless it is "observed" or a prior."""
    check_prior_or_observed(score_prior, "score_prior")


def _check_sums(backend: Backend) -> dict[str, Quantity]:
    score, pos, neg = map(backend.column, (SCORE, "pos", "neg"))
    return {OUTSIDE: backend.where((score >= 0) & (score <= 1), 0.0, 1.0 * (pos + neg))}


def _log_sums(backend: Backend) -> dict[str, Quantity]:
    up, down, pos, neg = map(backend.column, (UP, DOWN, OF_POSITIVES, OF_NEGATIVES))
    logs = {
        name: share * backend.log(backend.where(part > 0, part, 1.0))
        for name, share, part in ((LOG_UP, pos, up), (LOG_DOWN, neg, down))
    }
    wrong = backend.where(up > 0, 0.0, pos) + backend.where(down > 0, 0.0, neg)
    return {WRONG: wrong, **logs}


def _weighted(
    function: Callable[[Quantity, Backend], Quantity], nodes: Nodes, backend: Backend
) -> Quantity:
    return backend.total(weight * function(skewed, backend) for skewed, weight in nodes)


def _scored(rule: ScoringRule, label: str, nodes: Nodes, given: MeasureArguments) -> Measure:
    """The mean of a scoring rule at the nodes."""
    score_prior, backend = given.score_prior, given.backend
    name = f"{PRIVATE}{rule.name}_{label}"
    summed = backend.column(name)
    terms = _weighted(rule.term, nodes, backend)
    sums = {name: terms} | _check_sums(backend)
    outside = backend.column(OUTSIDE) > 0
    refused, warned = outside, [(outside, NOT_PROBABILITIES)]
    if rule is LOG_RULE:
        sums |= _log_sums(backend)
        summed = summed + _weighted(rule.constant, nodes, backend)
        wrong = backend.column(WRONG) > 0
        refused = outside | wrong
        warned.append((wrong, INFINITE))
    estimate = backend.where(refused, None, backend.where(summed > 0, summed, 0.0))
    losses = [[weight * loss for loss in rule.losses(skewed, backend)] for skewed, weight in nodes]
    positive, negative, by_score_prior = map(backend.total, zip(*losses, strict=True))
    weights = (
        backend.total(weight * _prior(skewed) for skewed, weight in nodes),
        backend.total(weight * (1 - _prior(skewed)) for skewed, weight in nodes),
    )
    # At the observed prior itself scores stay as they are, whatever it is.
    is_moved = score_prior == OBSERVED and all(isinstance(skewed, float) for skewed, _ in nodes)
    loss = CaseLoss(
        scored_columns(score_prior, backend), positive, negative, weights,
        bounded=rule is BRIER_RULE, by_score_prior=by_score_prior if is_moved else None,
    )  # fmt: skip
    return Measure(
        rule.name, estimate, columns=scored_columns(score_prior, backend), sums=sums,
        bounds=(0.0, None), warnings=tuple(warned), mergeable_segments=False, every_cell=True,
        case_loss=loss,
    )  # fmt: skip


def _refined(label: str, nodes: Nodes, given: MeasureArguments) -> Measure:
    """The mean Brier score that is left once scores are calibrated by the hull."""
    name = f"{PRIVATE}refinement_{label}"
    sums = {name: _weighted(_refinement_term, nodes, given.backend)}
    return Measure(
        "refinement_loss", given.backend.column(name), hull_sums=sums, bounds=(0.0, None),
        no_limits=ON_THE_HULL,
    )  # fmt: skip


def _refinement_term(skewed: Quantity, backend: Backend) -> Quantity:
    """A block of the hull holds πΔt positives and (1−π)Δf negatives: times p(1−p) of the block."""
    _, _, (dt, df) = segments_in(backend).segment
    return (1 - _prior(skewed)) * dt * df / (dt + skewed * df)


def _calibrated(label: str, nodes: Nodes, given: MeasureArguments) -> Measure:
    """The mean Brier score less its refinement loss: what calibration would save."""
    scored, refined = _scored(BRIER_RULE, label, nodes, given), _refined(label, nodes, given)
    excess = scored.estimate - refined.estimate
    # The hull is the best of all calibrations, but both sums are rounded.
    estimate = given.backend.where(excess < 0, 0.0, excess)
    return replace(
        scored, name="calibration_loss", estimate=estimate, hull_sums=refined.hull_sums,
        case_loss=None, no_limits=ON_THE_HULL,
    )  # fmt: skip


def _at_priors(made: Made, given: MeasureArguments) -> list[Measure]:
    """A loss at each prior; at many priors interpolated from a few, as AUPREC is."""
    return [
        replace(made(f"at_{i}", [(at.skew, 1.0)], given), prior=at.prior, many=at.many)
        for i, at in enumerate(at_priors(given.priors, given.backend))
    ]


def _mean(made: Made, given: MeasureArguments) -> Measure:
    """The mean of a loss over a range of priors or a belief."""
    belief = resolve_belief(given.over)
    nodes = list(zip(*condensed(belief.skews, belief.weights), strict=True))
    mean = made("range", nodes, given)
    return replace(mean, name=f"{mean.name}_range", over=over_label(given.over, "prior"))


def _skill(given: MeasureArguments) -> list[Measure]:
    """Brier skill: 1 less the Brier score over that of the prior itself, π(1−π)."""
    measures = []
    for measure in _at_priors(partial(_scored, BRIER_RULE), given):
        prior: Quantity = measure.prior
        worth = 1 / (prior * (1 - prior))
        loss = replace(cast(CaseLoss, measure.case_loss), scale=-worth)
        estimate = 1 - measure.estimate * worth
        measures.append(
            replace(
                measure, name="brier_skill", estimate=estimate, case_loss=loss, bounds=(None, 1.0)
            )
        )
    return measures


def _defined(
    name: str, label: str, description: str, made: Made
) -> tuple[MeasureDefinition, MeasureDefinition]:
    """A loss at each prior, and its mean over a range or belief."""
    return (
        MeasureDefinition(
            name, label, description, partial(_at_priors, made), higher_is_better=False,
            at_priors=True, by_default=False,
        ),
        MeasureDefinition(
            f"{name}_range", f"mean {label}", f"{label} averaged over a range of priors, or under "
            "a belief", lambda given: [_mean(made, given)], higher_is_better=False, over="belief",
            mean_of=name, by_default=False,
        ),
    )  # fmt: skip


BRIER, BRIER_RANGE = _defined(
    "brier", "Brier score",
    "mean squared error of the scores as probabilities, re-weighted to each prior (Brier 1950)",
    partial(_scored, BRIER_RULE),
)  # fmt: skip
LOG_LOSS, LOG_LOSS_RANGE = _defined(
    "log_loss", "log loss",
    "mean negative logarithm of the probability of the truth, re-weighted to each prior; in nats",
    partial(_scored, LOG_RULE),
)  # fmt: skip
CALIBRATION_LOSS, CALIBRATION_LOSS_RANGE = _defined(
    "calibration_loss", "calibration loss",
    "Brier score less the refinement loss: what calibration would save", _calibrated,
)  # fmt: skip
REFINEMENT_LOSS, REFINEMENT_LOSS_RANGE = _defined(
    "refinement_loss", "refinement loss",
    "Brier score of any scores once they are calibrated by the ROC hull", _refined,
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
# Means of the losses of cases, which have standard errors.
CASE_LOSSES = ("brier", "brier_range", "log_loss", "log_loss_range", "brier_skill")
