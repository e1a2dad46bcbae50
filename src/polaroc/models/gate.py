"""Non-inferiority of a challenger to a champion by a margin, over folds or on one test set."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_text, is_number, shortened
from polaroc.base.rounding import rounded_up
from polaroc.base.statistics import equal_units
from polaroc.errors import InvalidArgument, example
from polaroc.measures.catalog import CATALOG, at_one_prior, higher_is_better, label
from polaroc.models.compare import WIDER_IN_GATE, compare
from polaroc.models.gate_limits import (
    AREAS,
    difference_limits,
    unit_influences,
    why_too_few,
    with_unseen,
)
from polaroc.models.gate_result import GateResult, decide
from polaroc.models.inputs import Inputs, compared_cases, read_inputs, single_prior, two_models
from polaroc.models.measure_rows import needs_range, of_one_range
from polaroc.models.paired_cases import single_measure
from polaroc.models.sentences import describe_priors
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Prior, Table

# The largest multiple of the cases that is named.
MAX_CASES = 1024
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
    if isinstance(margin, bool) or not is_number(margin) or not margin >= 0:
        raise InvalidArgument(
            f"margin is {shortened(margin)}, allowed is margin ≥ 0: by how much the challenger may "
            "be worse.",
            hint=example("margin", 0.01),
        )
    check_text("measure", measure, "iauprec")
    cases = compared_cases(table, columns, score_prior, test_train_ratio)
    prior = single_prior(priors)
    if prior is not None:
        measure = at_one_prior(measure)
    elif measure in CATALOG and not needs_range(measure):
        # A range is allowed for measures that need none, so that all can have the same settings.
        over = None
    inputs = read_inputs(two_models(cases, champion, challenger))
    compared = compare(
        inputs.cases, measure, priors=prior, over=over, level=level, score_prior=score_prior,
        test_train_ratio=test_train_ratio,
    )  # fmt: skip
    difference, lower, upper = compared.pairs.select("difference", "lower", "upper").row(0)
    if compared.pairs.item(0, 0) != challenger:
        # From zero, so that no difference is -0.0.
        difference, lower, upper = (end and 0 - end for end in (difference, upper, lower))
    warnings = [*inputs.warnings, *(one for one in compared.warnings if WIDER_IN_GATE not in one)]

    if lower is not None and not inputs.are_measures and inputs.cases.case is not None:
        one = single_measure(measure, prior or OBSERVED, over, score_prior)
        units = unit_influences(inputs, challenger, one)
        if inputs.on_cases and (why := why_too_few(one, units)):
            warnings.append(why)
            lower = upper = None
        elif inputs.on_cases:
            lower, upper = difference_limits(measure, difference, units, level)
        elif measure in AREAS:
            limits = difference_limits(measure, difference, units, level)
            lower, upper = min(lower, limits[0]), max(upper, limits[1])
    elif lower is not None and measure in AREAS:
        positives = _positives_of_folds(inputs, compared.test_train_ratio)
        if positives is None:
            warnings.append(UNKNOWN_POSITIVES)
            lower = upper = None
        else:
            # As of so many equal cases, which may be no whole number.
            unseen = 1 - ((1 - level) / 2) ** (1 / positives)
            lower, upper = with_unseen((lower, upper), difference, unseen)

    higher = higher_is_better(measure)
    verdict = decide(lower, upper, margin, higher=higher)
    if verdict == "undecided" and lower is not None:
        gap = difference + margin if higher else margin - difference
        # The limit that is beyond the margin comes closer with the root of the number of cases.
        half = difference - lower if (gap >= 0) == higher else upper - difference
        times = (half / gap) ** 2 if gap else inf
        warnings.insert(0, _more_cases(times, compared.size if inputs.on_cases else None))
    if inputs.are_measures:
        _, over = of_one_range(inputs.table, measure, over)
    if prior == OBSERVED or (
        prior is None and CATALOG[measure].at_priors and not inputs.are_measures
    ):
        place = "at the observed prior"
    else:
        place = describe_priors(over, [] if prior is None else [prior])
    return GateResult(
        verdict, difference, lower, upper, champion, challenger,
        f"{label(measure)} {place}".rstrip(), higher, margin, level,
        f"{compared.size:,} {'cases' if inputs.on_cases else 'folds'}",
        compared.models.select("model", "estimate", "lower", "upper"),
        tuple(dict.fromkeys(warnings)),
    )  # fmt: skip


def _positives_of_folds(inputs: Inputs, ratio: float | None) -> float | None:
    """The number of positives of all folds, None where the table does not tell it."""
    table, cases = inputs.table, inputs.cases
    if not inputs.are_measures:
        rows = table.filter("truth")
        total, keys = rows.height, table.select(inputs.keys).n_unique()
        if cases.count is not None:
            total = int(rows["count"].sum())
        if cases.weight is not None:
            total = equal_units(rows["weight"].to_numpy())
    elif table.schema.get("positives", pl.String()).is_integer():
        by_key = table.group_by(inputs.keys).agg(pl.col("positives").max())
        total, keys = int(by_key["positives"].sum()), by_key.height
    else:
        return None
    # All cases that a fold does not test are trained on; folds that share nothing add up.
    if ratio == 0:
        return total / 2
    return total / keys * (1 + 1 / ratio) if ratio and total else None


def _more_cases(times: float, cases: int | None) -> str:
    """How many cases would decide what is open, of one test set their number."""
    as_now = "would {}decide it, if the models differed as much on them."
    if times > MAX_CASES:
        return f"Even {MAX_CASES:,} times as many cases {as_now.format('not ')}"
    number = "" if cases is None else f", {rounded_up(times * cases):,},"
    return f"About {rounded_up(10 * times) / 10:g} times as many cases{number} {as_now.format('')}"
