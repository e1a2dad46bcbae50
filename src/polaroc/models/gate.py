"""Non-inferiority of a challenger to a champion by a margin, over folds or on one test set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import check_share, check_text, is_number, pair_of, shortened
from polaroc.base.rounding import number, rounded_up
from polaroc.base.statistics import equal_units, least_factor
from polaroc.errors import InvalidArgument, example
from polaroc.inference.evidence import CASES, UnitInfluences, contrasts
from polaroc.inference.influence import influence_of_cases
from polaroc.inference.scored_cases import ScoredCases, scored_by_key
from polaroc.inference.small_samples import (
    AREAS,
    bias_of_few_negatives,
    bias_on_folds,
    difference_limits,
    why_no_promise,
)
from polaroc.inference.unseen_positive import Positives, equal_positives
from polaroc.measures.catalog import CATALOG, at_one_prior, higher_is_better, label, value_range
from polaroc.measures.spec import Measure
from polaroc.models.answer import describe_priors
from polaroc.models.compare import compare, without_variation
from polaroc.models.gate_result import GateResult, Verdict, decide
from polaroc.models.inputs import Inputs, compared_cases, read_inputs, single_prior, two_models
from polaroc.models.measure_rows import needs_range, of_one_range, refuse_places
from polaroc.models.paired_cases import fitted, single_measure, too_few_cases
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief, Over
from polaroc.priors.grids import OBSERVED, check_prior
from polaroc.typing import Prior, Table

# Limits of challenger minus champion if there were so many times the cases.
Limits = Callable[[float], tuple[float, float]]
# With fewer cases of a class the limits are clearly wider than with many.
FEW_CASES = 200
# The largest multiple of the cases that is tried, and the precision with which it is found.
MAX_CASES, PRECISION = 1024, 1.02
FEW_NEGATIVES = (
    "With few negatives areas are biased, by an unknown amount. So the interval is {} wider on "
    "both sides, three times the change with half of the negatives."
)


def gate(
    table: Table | Cases[Any],
    *,
    champion: object,
    challenger: object,
    measure: str = "iauprec",
    over: tuple[float, float] | Belief | None = None,
    priors: Prior | Sequence[Prior] | None = None,
    margin: float = 0.0,
    level: float = 0.95,
    score_prior: Prior = "observed",
    test_train_ratio: float | None = None,
    **columns: Unpack[Columns],
) -> GateResult:
    """Test whether a challenger is worse than the champion by more than a margin.

    Parameters
    ----------
    table
        Predictions of two or more models, as for `compare`: of fitted models on one test set, with
        `case`, or of models fitted anew for each fold. Or the tidy measures of such folds, as
        `evaluate` returns them; they take no column keywords. A lazy frame is collected.
    champion, challenger
        The two models, by their values in the column of the models; others are ignored.
    measure
        The measure compared, as in `compare`. At a single prior, "iauprec" is "auprec" there.
    over
        The range (lo, hi) of priors, or a belief about the prior, that the measure
        needs; of measures in a table, those over this range.
    priors
        The one prior in (0, 1), or ``"observed"``, instead of `over`.
    margin
        By how much the challenger may be worse, ≥ 0, in units of the measure.
    level
        Confidence of the two-sided interval, in (0, 1). Where the challenger is worse by exactly
        `margin`, a pass has the probability (1 − `level`)/2.
    score_prior
        The prior at which scores are right as probabilities: a prior in (0, 1), or ``"observed"``,
        each key's own.
    test_train_ratio
        Test over training cases of a fold: 0.25 for 80/20 hold-outs, 1/(k−1) for k folds.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    GateResult
        `verdict` ("pass", "fail", "undecided"), `difference` (challenger minus
        champion) with `lower` and `upper`, `answer` in one sentence, `warnings`, and a
        `summary()` to print.

    Raises
    ------
    InvalidArgument, InvalidPredictions, InvalidTable
        For a model that the table does not have; arguments outside what is allowed;
        too few folds, or too few cases of a class; as in `compare`.
    NotSupported
        For `by`.

    Notes
    -----
    "pass" if `lower` ≥ −`margin`, "fail" if `upper` < −`margin`, else "undecided". For a measure
    of which less is better, such as "sens", "pass" if `upper` ≤ `margin`, "fail" if `lower` >
    `margin`. Models that rank all cases alike pass.

    On folds the interval is that of the corrected t-test (Nadeau and Bengio 2003), with J−1
    degrees of freedom. It is about models trained again on other samples of this size.

    On one test set it is about these fitted models on other cases like these. It is Student's,
    with one degree of freedom less than there are cases of the rarer class. The variance is that
    of the influences of the cases (for the AUC that of DeLong, DeLong and Clarke-Pearson 1988), to
    which a few cases with the largest influence are added per class: one for the AUC, two for other
    measures. With `cluster` the influences of the cases of a class are summed within each cluster
    (Obuchowski 1997).

    For AUC, AUPREC and IAUPREC two other intervals may widen it: Student's interval of the
    log-odds, and an empirical likelihood with one more positive, which the worse model misses
    completely. So wrong passes stay rare with few cases, and where a challenger misses positives of
    a kind that few cases may not show (``just simulate gates_cases``). On folds this likelihood
    widens the interval, too; each positive then counts once, by its mean over the folds.

    There is no interval, and the verdict is "undecided": with fewer than 20 cases of a class; for
    AUPREC and IAUPREC with far too few negatives for the priors (with somewhat too few it is
    wider by three times what half of them change); for measures of weighted cases, or of folds
    whose `test_train_ratio` is not known, which do not tell how many positives there are; and if
    nothing shows how much the difference varies, such as that of two perfect models.

    Examples
    --------
    >>> import polaroc as pr
    >>> result = pr.gate(
    ...     pr.datasets.satellite_predictions().filter(fold=1), champion="C", challenger="A",
    ...     truth="truth", score="score", over=(0.05, 0.20), margin=0.01,
    ... )
    >>> result.verdict
    'pass'
    >>> print(result.answer)
    Pass: A is not worse than C by more than 0.01 in IAUPREC over 5 to 20 % positives.
    """
    cases = compared_cases(table, columns, score_prior, test_train_ratio)
    over = over if over is None or isinstance(over, Belief) else pair_of(over) or over
    prior, has_scores = single_prior(priors), cases.truth is not None
    check_text("measure", measure, "iauprec")
    if over is not None and prior is not None:
        raise InvalidArgument(
            "both over and priors are given.",
            hint="leave one of them out: over=(0.05, 0.20) is a range, priors=0.1 a single prior.",
        )
    if prior is not None:
        measure = at_one_prior(measure)
        refuse_places(measure, None, prior)
        if prior != OBSERVED:
            check_prior(prior)
    elif over is None and has_scores and needs_range(measure):
        raise InvalidArgument(
            f"{measure!r} is over a range of priors, and neither over nor priors is given.",
            hint="give over=(0.05, 0.20), or priors=0.1 where it is known.",
        )
    elif has_scores and measure in CATALOG and CATALOG[measure].at_priors:
        prior = "observed"
    lowest, highest = value_range(measure)
    most = inf if lowest is None or highest is None else highest - lowest
    if isinstance(margin, bool) or not is_number(margin) or not 0 <= margin < most:
        allowed = f"0 ≤ margin < {most:g}" if most < inf else "margin ≥ 0"
        raise InvalidArgument(
            f"margin is {shortened(margin)}, allowed is {allowed}: by how much the challenger may "
            "be worse.",
            hint=example("margin", 0.01),
        )
    check_share("level", level)
    # A range is allowed for measures that need none, so that all can have the same settings.
    over = over if needs_range(measure) or measure not in CATALOG else None

    two = two_models(cases, champion, challenger)
    given = read_inputs(two)
    shown_over: Over | str | None = over
    if given.on_cases:
        refuse_places(measure, over, None if priors is None else prior)
        difference = _on_cases(
            given, measure, prior or "observed", over, champion, challenger, level
        )
    else:
        if given.are_measures:
            _, shown_over = of_one_range(given.table, measure, over)
        difference = _on_folds(given, two, measure, prior, over, champion, challenger, level)

    higher, warnings = higher_is_better(measure), difference.warnings
    verdict: Verdict = "pass"
    if not difference.identical:
        verdict = decide(difference.lower, difference.upper, margin, higher=higher)
    if verdict == "undecided" and difference.limits is not None:
        needed = _cases_needed(difference.limits, margin, difference.moved, higher=higher)
        warnings = [needed, *warnings]
    if isinstance(prior, str):
        place = f"at the {prior} prior"
    else:
        place = describe_priors(
            shown_over if needs_range(measure) else None, [] if prior is None else [prior]
        )
    return GateResult(
        verdict, difference.estimate, difference.lower, difference.upper, champion, challenger,
        difference.champion, difference.challenger, f"{label(measure)} {place}".rstrip(), higher,
        margin, level, difference.cases, tuple(warnings), *difference.class_counts,
    )  # fmt: skip


@dataclass
class Difference:
    """The challenger minus the champion: estimate, interval, and the limits with more cases."""

    champion: float
    challenger: float
    estimate: float
    cases: str
    warnings: list[str]
    lower: float | None = None
    upper: float | None = None
    identical: bool = False  # by all that was measured
    limits: Limits | None = None
    moved: UnitInfluences | None = None  # the influences of the cases of one test set
    class_counts: tuple[int | None, int | None] = (None, None)


def _on_cases(
    given: Inputs, measure: str, prior: Prior, over: Over | None, champion: object,
    challenger: object, level: float,
) -> Difference:  # fmt: skip
    """The difference of two fitted models, paired by case."""
    models = fitted(given.cases, measure, prior, over)
    scored, evidence = models.cases, models.evidence
    names = list(scored.models)
    pair = names.index(challenger), names.index(champion)
    contrast = contrasts(evidence, np.array(pair[:1]), np.array(pair[1:]))
    estimate, error = contrast.difference.item(), contrast.std_error.item()
    if error != error or (moved := evidence.influences) is None:
        raise too_few_cases()
    result = Difference(
        float(evidence.estimates[0, pair[1]]), float(evidence.estimates[0, pair[0]]), estimate,
        f"{scored.truth.size:,} cases", [*given.warnings, *models.doubts], moved=moved,
        class_counts=scored.class_counts,
    )  # fmt: skip
    few, units = min(moved.counts), moved.unit
    note: str | None = None
    if error > 0 and (why := why_no_promise(models.measure, *scored.class_counts, few, units)):
        note = f"There are too few cases for an interval, a pass or a fail: {why}."
    elif error > 0:
        bias = bias_of_few_negatives(scored, models.measure, pair)
        result.limits = partial(difference_limits, evidence, pair, level, measure, bias=bias)
        result.lower, result.upper = result.limits(1.0)
        if bias:
            note = FEW_NEGATIVES.format(number(bias))
        elif few < FEW_CASES:
            note = f"With {few:,} {units} of a class the interval is wider than with many."
    elif estimate == 0 and scored.same_ranking():
        result.identical = True
        note = "The two models rank all cases alike."
    else:
        (note,) = without_variation(contrast, scored.models)
    result.warnings += [] if note is None else [note]
    result.warnings.append(
        f"This is about {evidence.about}. It says nothing about models that are trained again."
    )
    return result


def _on_folds(
    given: Inputs, two: Cases[Any], measure: str, prior: Prior | None, over: Over | None,
    champion: object, challenger: object, level: float,
) -> Difference:  # fmt: skip
    """The difference where models are fitted anew for each fold."""
    result = compare(
        two, measure, priors=prior, over=over if needs_range(measure) else None, level=level,
        score_prior=two.score_prior, test_train_ratio=two.test_train_ratio,
    )  # fmt: skip
    estimate, lower, upper = result.pairs.select("difference", "lower", "upper").row(0)
    if result.pairs.item(0, 1) != champion:
        # From zero, so that no difference is -0.0.
        estimate = 0 - estimate
        lower, upper = (None if end is None else 0 - end for end in (upper, lower))
    means = dict(result.models.select(result.model, "estimate").iter_rows())
    found = Difference(
        means[champion], means[challenger], estimate, f"{result.size} folds", [],
        lower, upper,
    )  # fmt: skip
    if result.pairs["std_error"].item() is not None:
        positives, bias = None, 0.0
        if measure in AREAS:
            ratio = result.test_train_ratio
            ratio = None if ratio == 0 and given.test_train_ratio is None else ratio
            built = partial(
                single_measure, measure, prior or "observed", over, given.cases.score_prior
            )
            positives, bias = _positives_and_bias(given, challenger, estimate, ratio, built, level)
        if measure in AREAS and positives is None:
            found.lower = found.upper = None
            found.warnings.append(
                "Nothing tells how many positives there are, of which a model may miss some that "
                "few would not show. So there is no interval, pass or fail: give predictions with "
                "case='id'; or of measures without weights test_train_ratio=0.25, 1/(k-1) for k "
                "folds."
            )
        else:
            ends: Any = lower, estimate, upper
            found.limits = partial(_limits_on_folds, ends, positives, bias, level)
            found.lower, found.upper = found.limits(1.0)
            if bias:
                found.warnings.append(FEW_NEGATIVES.format(number(bias)))
    elif estimate == 0:
        found.identical = True
        found.warnings.append("The two models have the same measure in every fold.")
    found.warnings += result.warnings
    return found


def _limits_on_folds(
    of_folds: tuple[float, float, float],
    positives: Positives | None,
    bias: float,
    level: float,
    copies: float,
) -> tuple[float, float]:
    """The wider of the limits of folds and of positives, with `copies` times the cases."""
    lower, difference, upper = of_folds
    root = copies**0.5
    lower = difference - (difference - lower) / root
    upper = difference + (upper - difference) / root
    if positives is not None:
        lower = min(lower, positives.least(level, copies=copies))
        upper = max(upper, -positives.turned.least(level, copies=copies))
    return min(lower, difference) - bias / root, max(upper, difference) + bias / root


def _positives_and_bias(
    given: Inputs, challenger: object, lead: float, ratio: float | None,
    measure: Callable[[], Measure], level: float,
) -> tuple[Positives | None, float]:  # fmt: skip
    """The influences of the positives of all folds on the difference, and its bias.

    Each positive is taken once, by its mean over the folds that test it. Where nothing tells which
    rows are the same case, only their number is known, as if none of them moved the difference;
    where not even that, as in sums of weights, there is None. `ratio` is that of test to training
    cases. The bias of few negatives is 0 for measures, which do not tell it.
    """
    bias = 0.0
    if given.are_measures:
        table = given.table
        if not table.schema.get("positives", pl.String()).is_integer():
            return None, bias
        counts = table.filter(pl.col("positives") > 0).group_by(given.keys)
        positives = counts.agg(pl.col("positives").first())["positives"]
        total, keys = float(positives.sum()), len(positives)
    else:
        scored = scored_by_key(given.cases, given.keys, units=True)
        bias = bias_on_folds(scored, challenger, measure())
        if next(iter(scored.values())).clusters is not None:
            return _mean_influences(scored, challenger, lead, measure(), level), bias
        weights = [
            (np.ones(fold.truth.size) if fold.weights is None else fold.weights)[fold.truth]
            for fold in scored.values()
        ]  # fmt: skip
        total, keys = equal_units(np.concatenate(weights)), len(scored)
    if ratio is None or not total:
        return None, bias
    # All cases that a fold does not test are trained on; folds that share nothing add up.
    count = total / 2 if ratio == 0 else total / keys * (1 + 1 / ratio)
    return Positives.of(np.zeros(0), count, count, lead), bias


def _mean_influences(
    scored: dict[tuple[Any, ...], ScoredCases],
    challenger: object,
    lead: float,
    measure: Measure,
    level: float,
) -> Positives:
    """The mean influence of each positive case or cluster over the folds that test it."""
    numbers = [fold.clusters[fold.truth] for fold in scored.values() if fold.clusters is not None]
    units = 1 + max(int(number.max(initial=0)) for number in numbers)
    sums, weights = np.zeros(units), np.zeros(units)
    for (model, *_), fold, unit in zip(scored, scored.values(), numbers, strict=True):
        influence = influence_of_cases(fold.scores[0], fold.truth, [measure], fold.weights)
        weight = np.ones(len(unit)) if fold.weights is None else fold.weights[fold.truth]
        values = influence.estimates[0] + influence.positives[0]
        sums += (1 if model == challenger else -1) * np.bincount(unit, weight * values, units)
        weights += np.bincount(unit, weight, units) / 2
    sums, weights = sums[weights > 0], weights[weights > 0]
    influences = (sums - weights * (sums.sum() / weights.sum())) / weights.sum()
    return Positives.of(influences, len(influences), equal_positives(weights, level), lead)


def _cases_needed(
    limits: Limits, margin: float, moved: UnitInfluences | None, *, higher: bool
) -> str:
    """How many cases would decide what limits leave open; `moved` counts those of one test set."""

    def is_decided(copies: float) -> bool:
        return decide(*limits(copies), margin, higher=higher) != "undecided"

    least = least_factor(is_decided, MAX_CASES, PRECISION)
    if_as_now = "if the models differed as much on them."
    if least is None:
        return f"Even {MAX_CASES:,} times as many cases would not decide it, {if_as_now}"
    needed = f"{rounded_up(10 * least) / 10:g} times as many cases"
    if moved is not None:
        positives, negatives = (f"{rounded_up(least * count):,}" for count in moved.counts)
        units = "" if moved.unit == CASES else f" {moved.unit} with"
        needed = f"{positives}{units} positives and {negatives}{units} negatives"
    return f"About {needed} would decide it, {if_as_now}"
