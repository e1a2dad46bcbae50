"""Non-inferiority of a challenger to a champion by a margin, over folds or on one test set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple, Unpack

import numpy as np

from polaroc.base.checks import (
    check_share,
    check_text,
    is_number,
    pair_of,
    shortened,
)
from polaroc.base.rounding import number
from polaroc.errors import InvalidArgument, example
from polaroc.measures.catalog import CATALOG, at_one_prior, higher_is_better, label, value_range
from polaroc.measures.spec import Measure
from polaroc.models.answer import describe_priors
from polaroc.models.compare import compare
from polaroc.models.compared import (
    Compared,
    compared,
    compared_cases,
    single_prior,
    two_models,
)
from polaroc.models.fitted import Fitted, fitted, single_measure, too_few_cases
from polaroc.models.measure_rows import needs_range, of_one_range, refuse_places
from polaroc.models.missed_positives import positives_and_bias
from polaroc.models.result import Comparison
from polaroc.models.verdict import GateResult, Limits, decide, more_cases
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief, Over
from polaroc.priors.grids import OBSERVED, check_prior
from polaroc.typing import Prior, Table
from polaroc.uncertainty.evidence import CASES, Moved, contrasts
from polaroc.uncertainty.small_samples import (
    AREAS,
    LARGEST_RATES,
    bias_of_few_negatives,
    difference_limits,
    why_no_promise,
)
from polaroc.uncertainty.unseen_positive import Positives

# Warnings, and sentences of warnings.
ON_CASES = "This is about {}. It says nothing about models that are trained again."
# With fewer cases of a class the limits are clearly wider than with many.
FEW_CASES = 200
WIDENED = "With {} cases of a class the interval is wider than with many. In simulation"
MEASURED = (
    " with normal scores, a challenger that is worse by exactly the margin passed in at most {} of "
    "samples, where 0.025 is the aim (95 % confidence)."
)
NOT_MEASURED = " it was tried for AUC, AUPREC and IAUPREC only."
OF_CLUSTERS = (
    "With {} clusters of a class the interval is wider than with many. How often a pass is wrong "
    "was measured for independent cases only."
)
NO_PROMISE = "There are too few cases for an interval, a pass or a fail: {}."
UNKNOWN_POSITIVES = (
    "Nothing tells how many positives there are, of which a model may miss some that few would not "
    "show. So there is no interval, pass or fail: give predictions with case='id'; or of measures "
    "without weights test_train_ratio=0.25, 1/(k-1) for k folds."
)
FEW_NEGATIVES = (
    "With few negatives areas are biased, by an unknown amount. So the interval is {} wider on "
    "both sides, three times the change with half of the negatives."
)
RANK_ALIKE = "The two models rank all cases alike."
SAME_DIFFERENCE = (
    "The models differ by the same amount on any of these cases, for example because they separate "
    "the classes perfectly. So these cases do not tell how much the difference varies."
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
    "pass" where `lower` ≥ −`margin`, "fail" where `upper` < −`margin`, else
    "undecided". For a measure where less is better, such as "sens", "pass" where
    `upper` ≤ `margin` and "fail" where `lower` > `margin`.

    On folds the interval is that of the corrected t-test (Nadeau and Bengio 2003), with J−1
    degrees of freedom. It is about models trained again on other samples of this size.

    On one test set it is about these fitted models on other cases like these. It is Student's,
    with one degree of freedom less than there are cases of the rarer class. The variance is that
    over the cases (for the AUC that of DeLong, DeLong and Clarke-Pearson 1988), with a few cases of
    the largest influence seen added to each class: one for the AUC, two for other measures.

    For AUC, AUPREC and IAUPREC two other intervals may widen it: Student's interval of the
    log-odds, and an empirical likelihood that allows for one more positive, which the worse model
    misses completely. So a wrong pass is about as rare as promised with few cases, too, and where a
    challenger misses some positives that few cases may not show (``just simulate gates_cases``).
    On folds this likelihood widens the interval, too. Each positive then counts once, by its mean
    over the folds. Measures of weighted cases, or of folds whose `test_train_ratio` is not known,
    do not tell how many positives there are: the verdict is then "undecided".

    With `cluster`, clusters take the place of cases: the influences of the cases of a class are
    summed within each (Obuchowski 1997).

    There is no interval, and the verdict is "undecided", with fewer than 20 cases of a class, and
    for AUPREC and IAUPREC where there are far too few negatives for the priors.
    Where they are somewhat too few, or folds have few, the interval is wider by three times what
    half of them change, and `warnings` says so. It also says how many cases would decide what is
    undecided.

    Models that rank all cases alike differ by 0, and pass. Where two models that do not
    rank alike show no variation (both perfect, or a difference that is the same in
    every fold), there is no interval, and the verdict is "undecided".

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
    has_scores = cases.truth is not None
    prior = single_prior(priors)
    measure = _measure_asked(measure, over, prior, has_scores=has_scores)
    _check_margin(measure, margin)
    check_share("level", level)
    two = two_models(cases, champion, challenger)
    given = compared(two)
    # By default predictions are taken at the observed prior, and measures at the one they have.
    by_default = prior is None and has_scores and measure in CATALOG and CATALOG[measure].at_priors
    at: Prior | None = "observed" if by_default else prior
    shown_over: Over | str | None = over
    # A range is allowed for measures that need none, so that all can have the same settings.
    needed_over = over if needs_range(measure) or measure not in CATALOG else None
    if given.on_cases:
        refuse_places(measure, needed_over, prior)
        models = fitted(given.cases, measure, at or "observed", needed_over)
        lead = _on_cases(given, models, (challenger, champion), level)
    else:
        if given.are_measures:
            _, shown_over = of_one_range(given.table, measure, over)
        result = compare(
            two, measure, priors=at, over=over if needs_range(measure) else None, level=level,
            score_prior=score_prior, test_train_ratio=test_train_ratio,
        )  # fmt: skip
        area = None
        if measure in AREAS:
            area = partial(
                single_measure, measure, at or "observed", needed_over, cases.score_prior
            )
        lead = _on_folds(result, given, champion, challenger, area)
    higher = higher_is_better(measure)
    verdict = decide(lead.lower, lead.upper, margin, higher=higher)
    doubts = []
    if verdict == "undecided" and lead.limits is not None:
        doubts.append(more_cases(lead.limits, margin, lead.moved, higher=higher))
    return GateResult(
        verdict, lead.difference, lead.lower, lead.upper, champion, challenger,
        lead.estimates[champion], lead.estimates[challenger],
        measure=_in_words(measure, at, shown_over), higher_is_better=higher,
        margin=margin, level=level, cases=lead.cases, warnings=(*doubts, *lead.warnings),
        positives=lead.of_class[0], negatives=lead.of_class[1],
    )  # fmt: skip


def _measure_asked(measure: str, over: object, prior: Prior | None, *, has_scores: bool) -> str:
    """The measure that is compared: at one prior, "iauprec" is "auprec" there."""
    check_text("measure", measure, "iauprec")
    if over is not None and prior is not None:
        raise InvalidArgument(
            "both over and priors are given.",
            hint="leave one of them out: over=(0.05, 0.20) is a range, priors=0.1 a single prior.",
        )  # fmt: skip
    if prior is not None:
        measure = at_one_prior(measure)
        refuse_places(measure, None, prior)
        if not isinstance(prior, str) or prior != OBSERVED:
            check_prior(prior)
    if over is None and prior is None and has_scores and needs_range(measure):
        raise InvalidArgument(
            f"{measure!r} is over a range of priors, and neither over nor priors is given.",
            hint="give over=(0.05, 0.20), or priors=0.1 where it is known.",
        )
    return measure


def _check_margin(measure: str, margin: object) -> None:
    """Refuse a margin outside what is allowed."""
    lowest, highest = value_range(measure)
    most = inf if lowest is None or highest is None else highest - lowest
    if isinstance(margin, bool) or not is_number(margin) or not 0 <= margin < most:
        allowed = f"0 ≤ margin < {most:g}" if most < inf else "margin ≥ 0"
        raise InvalidArgument(
            f"margin is {shortened(margin)}, allowed is {allowed}: by how much the challenger may "
            "be worse.",
            hint=example("margin", 0.01),
        )


def _in_words(measure: str, prior: Prior | None, over: Over | str | None) -> str:
    """The measure and its prior or range of priors, in words."""
    if isinstance(prior, str):
        place = f"at the {prior} prior"
    else:
        over = over if needs_range(measure) else None
        place = describe_priors(over, [] if prior is None else [prior])
    return f"{label(measure)} {place}".rstrip()


class Lead(NamedTuple):
    """The challenger minus the champion: estimate, limits and warnings."""

    difference: float
    lower: float | None
    upper: float | None
    estimates: dict[Any, float]
    cases: str
    warnings: tuple[str, ...]
    limits: Limits | None = None  # as a function of how many times the cases there are
    moved: Moved | None = None  # by each case, on one test set
    of_class: tuple[int | None, int | None] = (None, None)


def _on_cases(
    given: Compared,
    models: Fitted,
    pair: tuple[object, object],
    level: float,
) -> Lead:
    """The lead of the first of two fitted models over the second, paired by case."""
    scored, evidence = models.cases.scored, models.evidence
    first, second = (scored.models.index(model) for model in pair)
    lead = contrasts(evidence, np.array([first]), np.array([second]))
    difference, error = lead.difference.item(), lead.std_error.item()
    if error != error or (moved := evidence.moved) is None:
        raise too_few_cases()
    lower: float | None = None
    upper: float | None = None
    limits: Limits | None = None
    note: str | None = None
    if error > 0:
        few = min(moved.counts)
        why_none = why_no_promise(models.measure, *scored.of_class, few, moved.units)
        if why_none is None:
            bias = bias_of_few_negatives(scored, models.measure, (first, second))
            limits = partial(
                difference_limits, evidence, (first, second), level, models.name, bias=bias
            )
            lower, upper = limits(1.0)
            note = FEW_NEGATIVES.format(number(bias)) if bias else None
            note = note or _of_few_cases(few, moved.units, models.name)
        else:
            note = NO_PROMISE.format(why_none)
    elif difference == 0 and scored.rank_alike():
        lower = upper = 0.0
        note = RANK_ALIKE
    else:
        note = SAME_DIFFERENCE
    warnings = (
        *given.left_out, *models.doubts, *([] if note is None else [note]),
        ON_CASES.format(evidence.about),
    )  # fmt: skip
    estimates = dict(zip(scored.models, evidence.estimates[0].tolist(), strict=True))
    return Lead(
        difference, lower, upper, estimates, f"{scored.size:,} cases", warnings, limits, moved,
        scored.of_class,
    )  # fmt: skip


def _of_few_cases(few: int, units: str, measure: str) -> str | None:
    """A warning about limits that rest on few cases or clusters of a class."""
    if few >= FEW_CASES:
        return None
    if units != CASES:
        return OF_CLUSTERS.format(f"{few:,}")
    rate = LARGEST_RATES.get(measure)
    return WIDENED.format(f"{few:,}") + (NOT_MEASURED if rate is None else MEASURED.format(rate))


def _on_folds(
    result: Comparison,
    given: Compared,
    champion: object,
    challenger: object,
    area: Callable[[], Measure] | None,
) -> Lead:
    """The lead where models are fitted anew for each fold; `area`, if any, makes the measure."""
    difference, lower, upper = result.pairs.select("difference", "lower", "upper").row(0)
    if result.pairs.item(0, 1) != champion:
        # From zero, so that no difference is -0.0.
        difference, lower, upper = 0 - difference, 0 - upper, 0 - lower
    notes, limits = list[str](), None
    if result.pairs["std_error"].item() > 0:
        ratio = result.plan.test_train_ratio
        unknown = ratio == 0 and given.test_train_ratio is None
        positives, bias = (None, 0.0) if area is None else positives_and_bias(
            given, challenger, difference, None if unknown else ratio, area, result.plan.level
        )  # fmt: skip
        if area is not None and positives is None:
            notes.append(UNKNOWN_POSITIVES)
            lower = upper = None
        else:
            limits = partial(
                _limits_on_folds, (lower, difference, upper), positives, bias, result.plan.level
            )
            lower, upper = limits(1.0)
            notes += [FEW_NEGATIVES.format(number(bias))] if bias else []
    elif difference == 0:
        notes.append("The two models have the same measure in every fold.")
    else:
        lower = upper = None
    return Lead(
        difference, lower, upper,
        dict(result.letters.select(result.model, "mean").iter_rows()),
        f"{result.size} folds", (*notes, *result.warnings), limits,
    )  # fmt: skip


def _limits_on_folds(
    of_folds: tuple[float, float, float],
    positives: Positives | None,
    bias: float,
    level: float,
    copies: float,
) -> tuple[float, float]:
    """Limits if there were `copies` times the cases: the wider of those of folds and of positives.

    They are `bias` wider on both sides.
    """
    lower, difference, upper = of_folds
    root = copies**0.5
    lower = difference - (difference - lower) / root
    upper = difference + (upper - difference) / root
    if positives is not None:
        lower = min(lower, positives.least(level, copies=copies))
        upper = max(upper, -positives.turned.least(level, copies=copies))
    return min(lower, difference) - bias / root, max(upper, difference) + bias / root
