"""Tests of whether models differ, over folds that share training cases or on one test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isinf
from typing import Any, Unpack, get_args

import numpy as np
import polars as pl

from polaroc.base.checks import check_text
from polaroc.base.columns import refuse_clash
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.evaluation.evaluate import evaluate
from polaroc.inference.adjusted import Adjusted, by_holm
from polaroc.inference.evidence import Contrasts, Evidence, all_pairs, evidence_from_folds
from polaroc.measures.catalog import CATALOG, higher_is_better
from polaroc.models import caveats, omnibus
from polaroc.models.compared import Compared, compared, compared_cases, single_prior
from polaroc.models.design import FoldValues, Plan, Target, balanced, check_folds
from polaroc.models.fitted import Fitted, fitted, too_few_cases
from polaroc.models.letters import LETTERS, letter_frame
from polaroc.models.measure_rows import (
    Rows,
    below_chance,
    distinct,
    of_one_range,
    refuse_places,
    rows_of,
)
from polaroc.models.result import Comparison, pair_frame
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Array, Prior, Table


def compare(
    table: Table | Cases[Any],
    measure: str = "iauprec",
    *,
    priors: Prior | Sequence[Prior] | None = None,
    over: tuple[float, float] | Belief | None = None,
    target: Target | None = None,
    level: float = 0.95,
    score_prior: Prior = "observed",
    test_train_ratio: float | None = None,
    **columns: Unpack[Columns],
) -> Comparison:
    """Test whether models differ on one measure, and which: over common folds or on common cases.

    Parameters
    ----------
    table
        Predictions of two or more models, one row per model and case: any table that `cases` takes,
        or its result. On folds every model scores the cases of each fold; on one test set it scores
        all cases. Or tidy measures with one estimate per `model` and `fold`, as `evaluate` returns
        them; they take no column keywords. A lazy frame is collected.
    measure
        The measure compared, such as "iauprec", "auprec", "auc", "accsens".
    priors
        The one prior at which the measure is taken, in (0, 1), or ``"observed"``: each key's own,
        the default for predictions. Measures have to be at one prior only, or `priors` names it.
    over
        The range (lo, hi) of priors, or the belief, that `measure` needs; of measures in a table,
        those over this range.
    target
        The population that the answer is about. ``"algorithm"``: models trained again on other
        samples of this size. ``"trained"``: these fitted models, on other cases. By default
        "trained" for predictions on one test set, else "algorithm".
    level
        Confidence of the intervals, in (0, 1). Two models differ if their adjusted p-value is below
        1 − `level`; only then does their adjusted interval leave out 0.
    score_prior
        The prior at which scores are right as probabilities: a prior in (0, 1), or ``"observed"``,
        each key's own.
    test_train_ratio
        Test over training cases of a fold: 0.25 for 80/20 hold-outs, 1/(k−1) for k folds, 0 where
        folds share no cases (each its own dataset). It is needed for "algorithm", unless it
        follows from the table. For measures it does if they were taken ``by="repeat"`` and each
        repeat tests every case once. For predictions it follows from `case`, if a fold is trained
        on all cases that it does not test; a column "case" that is not given as `case` is used
        only if several folds test the same cases.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Comparison
        Its frames `omnibus`, `pairs` and `letters` (Piepho 2004), its `warnings`, and a
        `summary()` to print.

    Raises
    ------
    InvalidArgument, InvalidTable
        For arguments outside what is allowed; fewer than two models or folds, or
        for "trained" more than one fold;
        cells that are missing (with their list), null (with their notes) or
        repeated with other numbers.
    NotSupported
        For `by`.

    Notes
    -----
    With I models, J folds and r = `test_train_ratio`: "algorithm" is
    F/(1 + J·r), F that of a two-way layout, with I−1 and (I−1)(J−1) degrees of
    freedom, and for pairs d̄/√(s²(1/J + r)) with J−1 (Nadeau and Bengio 2003);
    "trained" is the test of DeLong, DeLong and Clarke-Pearson (1988) for the AUC, and for other
    measures the same with their influence (there `sd` is the standard error, and
    the omnibus p-value is the least adjusted one of the pairs). A zero difference has p = 1.

    The variance of the Brier score and the log loss, of which few cases may be most, has one case
    of each class more for each model, too, of the largest influence seen; limits are Student's with
    (Σd²)²/Σd⁴ − 1 degrees of freedom, d by how much each case moves the difference (``just
    calibration differences``).

    Folds that are copies of others, such as those of a repeat with the same seed, are used once,
    and `warnings` says so: predictions with the same cases and scores; measures with the same
    estimates of all models, in folds of 20 cases of each class or more.

    On one test set with `cluster` the influences of the cases of a class are summed within each
    cluster before they are squared (Obuchowski 1997), and Student's t has one degree of freedom
    less than there are clusters with cases of the rarer class. Clusters of one case each, and
    weights that are equal within each class, change nothing. Over folds the evidence is
    that of the folds; `warnings` names a cluster of which a fold tests some cases and has trained
    on others.

    The limits `lower` and `upper` are those of a pair by itself; on one test set DeLong's.
    Adjusted intervals are as wide as the adjusted p-value says. Holm's method multiplies the
    p-value of a pair by a factor c between 1 and the number of pairs; its interval is the usual one
    with confidence 1 − (1 − `level`)/c. So each holds on its own with at least `level`, and where
    no two models differ all hold at once with it; where models differ, Holm's method does not
    promise that.

    Examples
    --------
    >>> import polaroc as pr
    >>> measures = pr.datasets.satellite_predictions().pipe(
    ...     pr.evaluate, truth="truth", score="score", over=(0.05, 0.20)
    ... )
    >>> comparison = pr.compare(measures, test_train_ratio=0.25)
    >>> comparison.letters.select("model", "letters").rows()
    [('A', 'a'), ('C', 'a'), ('B', 'a')]
    >>> comparison.omnibus["p_value"].round(3).to_list()
    [0.054]
    """
    check_text("measure", measure, "auprec")
    cases = compared_cases(table, columns, score_prior, test_train_ratio)
    given = compared(cases)
    prior = single_prior(priors)
    refuse_places(measure, over, prior if given.on_cases else None)
    target = _target(given, target)
    if given.on_cases:
        plan = Plan(target, None, level)
        at: Prior = "observed" if prior is None else prior
        at_prior = f" at prior {at}" if measure in CATALOG and CATALOG[measure].at_priors else ""
        models = fitted(given.cases, measure, at, over)
        result = of_fitted(models, plan, f"{measure}{at_prior}")
        return replace(result, warnings=(*given.left_out, *result.warnings))
    ratio = given.test_train_ratio
    # Replaced below where the ratio follows from the folds.
    plan = Plan(target, 0.0 if ratio is None else ratio, level)
    if given.are_measures:
        measures, _ = of_one_range(given.table, measure, over)
    else:
        at = "observed" if prior is None else prior
        measures = evaluate(
            given.cases, over=over, priors=at, measure=sorted({measure, "auc"}),
            score_prior=given.cases.score_prior,
        )  # fmt: skip
    rows = rows_of(measures, measure)
    rows.check_prior(prior)
    values = balanced(rows, [prior], given.model, given.folds)
    if ratio is None:
        plan = replace(plan, test_train_ratio=values.test_train_ratio)
    check_folds(values)
    evidence = evidence_from_folds(values.at_first, plan.test_train_ratio, values.models)
    label = _label(measure, rows, prior)
    result = of_table(values, evidence, label, plan, higher=higher_is_better(measure))
    doubts = below_chance(measures, measure)
    return replace(result, warnings=(*given.left_out, *doubts, *result.warnings))


def _target(given: Compared, target: Target | None) -> Target:
    """The target as given, or by default; raise if the table does not allow it."""
    if target is None:
        return "trained" if given.on_cases else "algorithm"
    check_choice("target", target, get_args(Target))
    if target == "trained" and given.are_measures:
        raise InvalidArgument(
            "target is 'trained', which compares predictions, and the table holds measures.",
            hint="give predictions, or take target='algorithm'.",
        )
    if target == "trained" and given.folds:
        raise InvalidArgument(
            "target is 'trained', which compares models fitted once, and there are several folds, "
            f"{quoted(given.folds)}.",
            hint="keep one of them, or say fold=None where the column only divides one test set; "
            "for models fitted anew for each take target='algorithm'.",
        )
    if target != "trained" and given.on_cases:
        raise InvalidArgument(
            f"each model was measured once, on one test set, and target {target!r} compares models "
            "over several folds.",
            hint="these fitted models are compared case by case with target='trained'; where there "
            "are folds, name their column, fold='fold'.",
        )
    return target


def _label(measure: str, rows: Rows, prior: Prior | None) -> str:
    """The measure and where it is taken, in words."""
    if not rows.has_prior:
        return measure
    priors = distinct(rows.frame["prior"])
    if prior == OBSERVED or (prior is None and len(priors) > 1):
        return f"{measure} at each fold's own prior"
    return f"{measure} at prior {prior or priors[0]:g}"


def of_table(
    table: FoldValues,
    evidence: Evidence,
    label: str,
    plan: Plan,
    *,
    higher: bool = True,
) -> Comparison:
    """The comparison of models over folds."""
    values, pairs = table.at_first, all_pairs(evidence)
    of_all = omnibus.f_test("Nadeau-Bengio corrected F", evidence)
    adjusted = by_holm(pairs, plan.level)
    warnings = (*table.warnings, *caveats.of_table(table, pairs, plan, evidence))
    spread = values.std(axis=0, ddof=1)
    return _result(
        plan, of_all, pairs, adjusted, table.models, values.mean(axis=0), spread, higher=higher,
        warnings=warnings, measure=label, fold=tuple(table.folds.columns), size=len(values),
    )  # fmt: skip


def of_fitted(models: Fitted, plan: Plan, label: str) -> Comparison:
    """The comparison of fitted models, paired by case."""
    cases, evidence = models.cases, models.evidence
    pairs = all_pairs(evidence)
    if np.isnan(pairs.std_error).any() or pairs.constant.any():
        raise too_few_cases()
    # Models differ if a pair does, adjusted for the number of pairs.
    adjusted = by_holm(pairs, plan.level)
    test = "largest |z|, Holm" if isinf(evidence.degrees_of_freedom) else "largest |t|, Holm"
    name, errors = models.name, np.sqrt(evidence.covariance[0].diagonal())
    return _result(
        plan, omnibus.of_pairs(test, pairs, adjusted), pairs, adjusted, models.models,
        evidence.estimates[0], errors, higher=higher_is_better(name), measure=label,
        warnings=(*caveats.of_fitted(evidence, name, cases.scored.class_counts[0]), *models.doubts),
        fold=(), case=cases.case, size=cases.scored.size,
    )  # fmt: skip


def _result(
    plan: Plan,
    of_all: omnibus.Outcome,
    pairs: Contrasts,
    adjusted: Adjusted,
    models: pl.Series,
    means: Array,
    spread: Array,
    *,
    higher: bool,
    **fields: Any,
) -> Comparison:
    """The tests as tables, with the other `fields` of a comparison."""
    refuse_clash([models.name], LETTERS)
    apart = pairs.significant_pairs(adjusted.p_value, plan.level)
    return Comparison(
        pl.DataFrame([of_all], schema=omnibus.OMNIBUS, orient="row"),
        pair_frame(pairs, adjusted, models, plan.level),
        letter_frame(models, means, spread, apart, descending=higher),
        model=models.name, plan=plan, higher_is_better=higher, **fields,
    )  # fmt: skip
