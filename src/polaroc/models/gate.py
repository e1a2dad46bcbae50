"""Non-inferiority of a challenger to a champion by a margin, over folds or on one test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import check_share, check_text, is_number, pair_of, shortened
from polaroc.base.rounding import rounded_up
from polaroc.base.statistics import equal_units
from polaroc.errors import InvalidArgument, example
from polaroc.evaluation.evaluate import evaluate
from polaroc.inference.evidence import contrasts
from polaroc.measures.catalog import CATALOG, at_one_prior, higher_is_better, label, value_range
from polaroc.models.answer import describe_priors
from polaroc.models.compare import compare, without_variation
from polaroc.models.gate_limits import (
    cases_needed,
    difference_limits,
    unit_influences,
    unseen_share,
    why_too_few,
    with_unseen,
)
from polaroc.models.gate_result import GateResult, decide
from polaroc.models.inputs import Inputs, compared_cases, read_inputs, single_prior, two_models
from polaroc.models.measure_rows import needs_range, of_one_range, refuse_places
from polaroc.models.paired_cases import fitted, single_measure, too_few_cases
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief, Over
from polaroc.priors.grids import OBSERVED, check_prior
from polaroc.typing import Prior, Table

# Measures that are means over the positives, of which a model may miss some.
AREAS = ("auc", "auprec", "iauprec")
# The largest multiple of the cases that is named.
MAX_CASES = 1024
AS_NOW = ", if the models differed as much on them."
UNKNOWN_POSITIVES = (
    "Nothing tells how many positives there are, of which a model may miss some that few would not "
    "show. So there is no interval, pass or fail: give predictions with case='id'; or of measures "
    "without weights test_train_ratio=0.25, 1/(k-1) for k folds."
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
        champion) with `lower` and `upper`, `answer` in one sentence, `tables`, `warnings`, and a
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
    `margin`.

    On folds the interval is that of the corrected t-test (Nadeau and Bengio 2003), with J−1
    degrees of freedom. It is about models trained again on other samples of this size.

    On one test set it is about these fitted models on other cases like these. It is Student's,
    with one degree of freedom less than there are cases of the rarer class. The variance is that
    of the influences of the cases (for the AUC that of DeLong, DeLong and Clarke-Pearson 1988), to
    which one and a half cases with the largest influence are added per class; where influences are
    skewed, a limit moves outwards (Johnson 1978). With `cluster` influences are summed within each
    cluster (Obuchowski 1997).

    For AUC, AUPREC and IAUPREC the interval leaves room for positives of a kind that was not seen
    and that one of the models misses: of n positives none is of a kind that is the share
    1 − 0.025^(1/n) with a chance of 0.025. For the AUC the same holds of negatives. So wrong passes
    stay rare with few cases (``just simulate gates_cases``). On folds the interval is as wide, too,
    as that of the cases, each of which counts once, by its mean over the folds.

    There is no interval, and the verdict is "undecided": if nothing shows how much the difference
    varies, such as that of two models that rank all cases alike; with fewer than 20 cases of a
    class; for AUPREC and IAUPREC with far too few negatives for the priors; for measures of
    weighted cases, or of folds whose `test_train_ratio` is not known, which do not tell how many
    positives there are.

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
    over = over if needs_range(measure) else None

    inputs = read_inputs(two_models(cases, champion, challenger))
    shown_over: Over | str | None = over
    if inputs.are_measures:
        _, shown_over = of_one_range(inputs.table, measure, over)
    of_inputs = _on_cases if inputs.on_cases else _on_folds
    found = of_inputs(inputs, measure, prior, over, champion, challenger, level)
    if prior == OBSERVED:
        place = "at the observed prior"
    else:
        place = describe_priors(shown_over, [] if prior is None else [prior])
    higher, warnings = higher_is_better(measure), found.warnings
    verdict = decide(found.lower, found.upper, margin, higher=higher)
    if verdict == "undecided" and found.lower is not None:
        warnings = [_more_cases(found, margin, higher=higher), *warnings]
    return GateResult(
        verdict, found.difference, found.lower, found.upper, champion, challenger,
        f"{label(measure)} {place}".rstrip(), higher, margin, level, found.cases,
        found.models, tuple(dict.fromkeys(warnings)),
    )  # fmt: skip


@dataclass
class Difference:
    """The challenger minus the champion with its interval, if there is one."""

    difference: float
    lower: float | None
    upper: float | None
    models: pl.DataFrame
    cases: str
    warnings: list[str]
    counts: tuple[int, ...] = ()  # of one test set, the units with positives and with negatives
    unit: str = "cases"


def _on_cases(
    inputs: Inputs, measure: str, prior: Prior | None, over: Over | None, champion: object,
    challenger: object, level: float,
) -> Difference:  # fmt: skip
    """The difference of two fitted models, paired by case."""
    at = OBSERVED if prior is None else prior
    measured = evaluate(
        inputs.cases, measure=sorted({measure, "auc"}), priors=at, over=over, intervals=True,
        level=level, score_prior=inputs.cases.score_prior,
    )  # fmt: skip
    both = fitted(inputs.cases, measure, at, over, measured)
    names = list(both.cases.models)
    pair = contrasts(
        both.evidence, np.array([names.index(challenger)]), np.array([names.index(champion)])
    )
    if np.isnan(pair.std_error).any():
        raise too_few_cases()
    models = both.estimates.select("model", "estimate", "lower", "upper")
    found = Difference(
        pair.difference.item(), None, None, models, f"{both.cases.truth.size:,} cases",
        [*inputs.warnings, *both.doubts],
    )  # fmt: skip
    units = unit_influences(inputs.cases, inputs.keys, challenger, both.measure)
    unit = "clusters" if both.cases.share_clusters else "cases"
    if not units.vary:
        found.warnings += without_variation(replace(pair, std_error=np.zeros(1)), names)
    elif why := why_too_few(both.measure, *both.cases.class_counts, min(units.counts), unit):
        found.warnings.append(f"There are too few cases for an interval, a pass or a fail: {why}.")
    else:
        limits = difference_limits(found.difference, units, level)
        if measure in AREAS:
            # Only the AUC is a mean over the negatives, too.
            classes = units.shares if measure == "auc" else units.shares[:1]
            missed = max(unseen_share(own, level) for own in classes)
            limits = with_unseen(limits, found.difference, missed)
        found.lower, found.upper = limits
        found.counts, found.unit = units.counts, unit
    found.warnings.append(
        f"This is about {both.evidence.about}. It says nothing about models that are trained again."
    )
    return found


def _on_folds(
    inputs: Inputs, measure: str, prior: Prior | None, over: Over | None, champion: object,
    challenger: object, level: float,
) -> Difference:  # fmt: skip
    """The difference where models are fitted anew for each fold."""
    cases = inputs.cases
    compared = compare(
        cases, measure, priors=prior, over=over, level=level, score_prior=cases.score_prior,
        test_train_ratio=cases.test_train_ratio,
    )  # fmt: skip
    difference, lower, upper = compared.pairs.select("difference", "lower", "upper").row(0)
    if compared.pairs.item(0, 0) != challenger:
        # From zero, so that no difference is -0.0.
        difference = 0 - difference
        lower, upper = (None if end is None else 0 - end for end in (upper, lower))
    models = compared.models.select("model", "estimate", "lower", "upper")
    size = f"{compared.size} folds"
    found = Difference(
        difference, lower, upper, models, size, [*inputs.warnings, *compared.warnings]
    )
    if lower is None or measure not in AREAS:
        return found
    if cases.case is not None and not inputs.are_measures:
        one = single_measure(measure, prior or OBSERVED, over, cases.score_prior)
        units = unit_influences(cases, inputs.keys, challenger, one)
        of_units = difference_limits(difference, units, level)
        limits = min(lower, of_units[0]), max(upper, of_units[1])
        missed = unseen_share(units.shares[0], level)
    else:
        positives = _positives_of_folds(inputs, compared.test_train_ratio)
        if positives is None:
            found.lower = found.upper = None
            found.warnings.append(UNKNOWN_POSITIVES)
            return found
        # As many equal ones, which may be no whole number.
        limits, missed = (lower, upper), 1 - ((1 - level) / 2) ** (1 / positives)
    found.lower, found.upper = with_unseen(limits, difference, missed)
    return found


def _positives_of_folds(inputs: Inputs, ratio: float | None) -> float | None:
    """The number of positives of all folds, None where the table does not tell it.

    All cases that a fold does not test are trained on; folds that share nothing add up.
    """
    table, cases = inputs.table, inputs.cases
    if inputs.are_measures:
        if not table.schema.get("positives", pl.String()).is_integer():
            return None
        by_key = table.group_by(inputs.keys).agg(pl.col("positives").max())
        total, keys = by_key["positives"].sum(), by_key.height
    else:
        rows = table.filter("truth")
        total, keys = rows.height, table.select(inputs.keys).n_unique()
        if cases.count is not None:
            total = int(rows["count"].sum())
        if cases.weight is not None:
            total = equal_units(rows["weight"].to_numpy())
    if ratio == 0:
        return total / 2
    return total / keys * (1 + 1 / ratio) if ratio and total else None


def _more_cases(found: Difference, margin: float, *, higher: bool) -> str:
    """The number of cases that would decide what is open."""
    ends = found.lower, found.difference, found.upper
    times = cases_needed(*(ends if higher else [-end for end in reversed(ends)]), margin)
    if times > MAX_CASES:
        return f"Even {MAX_CASES:,} times as many cases would not decide it{AS_NOW}"
    needed = f"{rounded_up(10 * times) / 10:g} times as many cases"
    if found.counts:
        of = "" if found.unit == "cases" else f" {found.unit} with"
        positives, negatives = (f"{rounded_up(times * count):,}" for count in found.counts)
        needed = f"{positives}{of} positives and {negatives}{of} negatives"
    return f"About {needed} would decide it{AS_NOW}"
