"""Choice of a model where the prior is uncertain, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_factors, check_share, check_text, refuse_unused
from polaroc.base.columns import join_by_key, with_level
from polaroc.errors import InvalidArgument
from polaroc.evaluation.evaluate import evaluate
from polaroc.inference.evidence import NO_CASE, Evidence, evidence_from_folds, no_evidence
from polaroc.inference.influence import gradient_terms
from polaroc.inference.test_sets import evidence_from_cases
from polaroc.measures.catalog import (
    CATALOG,
    at_one_prior,
    higher_is_better,
    in_words,
    label,
    mean_name,
    select_measures,
    value_range,
)
from polaroc.measures.scoring import case_loss
from polaroc.models.by_cost import EXPECTED_COST, Costs, choose_by_cost_of_folds, choose_with_tuning
from polaroc.models.choice import Choice, caveats, first_words, how_sure, lead_in_words
from polaroc.models.compare import comparison_of_fitted, comparison_over_folds
from polaroc.models.comparison import Comparison
from polaroc.models.inputs import Inputs, compared_cases, read_inputs
from polaroc.models.measure_rows import (
    below_chance,
    describe_priors,
    range_rows,
    score_warnings,
    under_belief,
)
from polaroc.models.paired_cases import limits_by_model, read_cases
from polaroc.models.ranking import Candidates, ranked_models
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief, Over, checked_over, resolve_belief
from polaroc.priors.grids import OBSERVED, prior_grid
from polaroc.priors.in_use import check_level
from polaroc.thresholds.rules import checked_limits, rule_of
from polaroc.typing import Array, PolarsFrame, Prior, Table

# Priors at which models of predictions are compared within a range.
GRID_SIZE = 9


def choose(
    table: Table | Cases[Any],
    measure: str | None = None,
    *,
    over: Over | PolarsFrame | None = None,
    level: float = 0.95,
    tuning: Table | Cases[Any] | None = None,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    constraints: Mapping[str, float] | None = None,
    confidence: float | None = None,
    score_prior: Prior = "observed",
    test_train_ratio: float | None = None,
    **columns: Unpack[Columns],
) -> Choice:
    """Choose a model over a range of priors, and say how sure the choice is.

    Parameters
    ----------
    table
        Predictions, one row per model and case, as for `cases`, or its result; models of one test
        set are compared case by case. Or tidy measures of every `model` and `fold`, as `evaluate`
        returns them with ``over=(0.05, 0.20), priors=prior_grid(0.05, 0.20, 16)``; they take no
        column keywords. A lazy frame is collected.
    measure
        A measure taken at priors, such as "auprec", or "brier" and "log_loss", of which less is
        better, for scores that are probabilities; or ``"expected_cost"``: the model that costs
        least at its own threshold, set on `tuning` or on the other folds. By default "auprec", or
        "expected_cost" where a cost or `tuning` is given.
    over
        The range (lo, hi) of priors, such as (0.1, 0.1) for one prior; a belief about the prior; or
        one row of `estimate_prior`, which is one. Of measures by default the range of the table's
        IAUPREC, or of the mean of another measure, else the priors of the table, equally likely.
    level
        Probability that the true measure of a model is between `expected_lower` and
        `expected_upper`, in (0, 1); tests are made at 1 − `level`.
    tuning
        For "expected_cost": predictions of the same models on other cases, on which the thresholds
        are chosen, with the same columns or as the result of `cases`. Models fitted anew for each
        fold have none: each fold is judged at a threshold that costs least on other folds.
    cost_fn, cost_fp
        For "expected_cost": costs > 0 of a missed positive and of a false alarm, 1 for one that is
        not given.
    constraints, confidence
        With `tuning`: what thresholds have to keep, as in `operating_points`. Of those that do the
        one that costs least is taken. Without costs and `measure` it is the one that finds the most
        positives, or, if only missed positives are limited (recall, fnr), the one with the fewest
        alarms, and models are ranked by these errors. The promises of all models hold at once with
        the probability `confidence`.
    score_prior, test_train_ratio
        As in `compare`.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Choice
        An `answer` in words, the frames `models` and `priors`, the models `bayes` (best mean) and
        `minimax` (least worst regret), `warnings`, the `comparison`, and a `summary()` to print.

    Raises
    ------
    InvalidArgument, InvalidTable, InvalidPredictions
        For arguments outside what is allowed, fewer than two models, cells that are missing, tuning
        cases among the others, and measures that the table lacks over the range (its mean, or the
        measure at all priors that stand for the range).
    NotSupported
        For `by`; with `confidence`, for a `weight`.

    Notes
    -----
    The expected AUPREC over a range is IAUPREC (P-ROC Eq. 5), and so with other measures that have
    a mean over priors; else it is the weighted sum at the nodes of the belief. Regrets are those of
    means over the folds, at the priors of the table within the range, if they reach from end to
    end. Priors that are each key's own ("observed") and differ between keys are not used. The
    expected cost of fixed thresholds is linear in the prior, and so that at the mean prior π:
    cost_fn·π(1−t) + cost_fp·(1−π)f.

    How sure the choice is comes from the covariance of the models' means: over folds corrected for
    shared training cases (Nadeau and Bengio 2003), on one test set that of the influence of its
    cases, summed by `cluster` (Obuchowski 1997). True means are assumed to be normal around a
    common level; their spread is estimated, which shrinks the lead of the best model to what is not
    chance. Where the true differences have the size of their error or more, answers of a given
    probability were right about as often as that in simulation (the page "How certain" says where
    they were not). Folds that are copies of others are used once.

    Examples
    --------
    >>> import polaroc as pr
    >>> choice = pr.choose(
    ...     pr.datasets.satellite_predictions(), truth="truth", score="score",
    ...     over=(0.05, 0.20), test_train_ratio=0.25,
    ... )
    >>> print(choice.answer)
    Take A: the area (AUPREC) over 5 to 20 % positives is 0.779, 0.043 more than that of C. A is the
    best of the three with a probability of 75 %; the test does not confirm it (p = 0.17). If
    another model is in truth better, then by about 0.017 in AUPREC.
    >>> choice.models["model"].to_list()
    ['A', 'C', 'B']
    """
    cases = compared_cases(table, columns, score_prior, test_train_ratio)
    missed, alarm = check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    check_share("level", level)
    if isinstance(over, PolarsFrame):
        check_level(over, level)
    belief = checked_over(over)
    for_costs = {
        "tuning": tuning, "constraints": constraints, "confidence": confidence,
        "cost_fn": cost_fn, "cost_fp": cost_fp,
    }  # fmt: skip
    if measure is None:
        by_cost = any(value is not None for value in for_costs.values())
        measure = EXPECTED_COST if by_cost else "auprec"
        if constraints and not (cost_fn or cost_fp):
            # The errors that the rule for the constraints makes fewest of.
            finds_most = rule_of(checked_limits(constraints)) == "max_recall"
            missed, alarm = (1, 0) if finds_most else (0, 1)
    _check_measure(measure, cases, belief)
    if measure != EXPECTED_COST:
        refuse_unused(
            f"for measure={EXPECTED_COST!r}", f"measure is {measure!r}", **for_costs,
            hint=f"give measure={EXPECTED_COST!r} with tuning= to choose a threshold, too, or "
            "leave them out.",
        )  # fmt: skip
    inputs = read_inputs(cases)
    if inputs.cases.rows["model"].n_unique() < 2:
        raise InvalidArgument(
            f"'model' has one value, {inputs.cases.rows['model'][0]!r}, needed are two or more.",
            hint="operating_points(...) chooses the threshold of one model.",
        )
    if measure != EXPECTED_COST:
        return _choose_by_measure(inputs, at_one_prior(measure), belief, level)
    assert belief is not None
    costs = Costs(missed, alarm, belief, constraints, confidence)
    if tuning is not None:
        return choose_with_tuning(inputs, tuning, costs, as_read=cases, level=level)
    return choose_by_cost_of_folds(inputs, costs, level=level)


def _check_measure(measure: str, cases: Cases[Any], belief: Over | None) -> None:
    """Raise for a measure that does not depend on priors, or that lacks them or predictions."""
    check_text("measure", measure, "auprec")
    if measure in CATALOG and not CATALOG[measure].at_priors and CATALOG[measure].over is None:
        raise InvalidArgument(
            f"measure is {measure!r}, which does not depend on the share of positives, and a "
            "choice is one over shares of positives.",
            hint=f"compare and gate take measure={measure!r}; for a choice take measure='auprec'.",
        )
    if measure == EXPECTED_COST and cases.truth is None:
        raise InvalidArgument(
            f"measure is {EXPECTED_COST!r}, which is taken of predictions, and truth and score are "
            "not given.",
            hint="give truth='truth' and score='score'.",
        )
    if belief is None and cases.truth is not None:
        raise InvalidArgument(
            "predictions are given without a range of priors.",
            hint="give over=(0.05, 0.20), for one prior over=(0.1, 0.1), or a belief.",
        )


def _choose_by_measure(inputs: Inputs, measure: str, over: Over | None, level: float) -> Choice:
    """The choice by a measure over a range or belief, from predictions or measures."""
    cases, measures = inputs.cases, inputs.cases.rows
    if not inputs.are_measures:
        assert over is not None
        measures = _measures(cases, over, measure)
    judged = under_belief(measures, measure, over)
    table, ratio, folds = judged.means, cases.test_train_ratio, len(judged.means.values)
    comparison = limits = None
    is_tested = folds > 1 and ratio is not None
    if folds > 1:
        evidence = evidence_from_folds(table.at_first, ratio, table.models)
        if is_tested:
            comparison = comparison_over_folds(
                replace(table, warnings=()), evidence, level, ratio, measure=measure,
                label=f"expected {measure}",
            )  # fmt: skip
    elif inputs.on_cases:
        evidence, limits, comparison = _on_one_test_set(cases, measures, measure, over, level)
    else:
        evidence = no_evidence(
            "each model was measured once; give predictions with case='id', the cases of the test "
            "set, or measures of several folds"
        )
    low, high = value_range(measure)
    candidates = Candidates(
        table.models, evidence, table.at_first, limits, judged.at_priors, judged.priors,
        higher_is_better(measure), (-inf if low is None else low, inf if high is None else high),
        judged.regrets_known,
    )  # fmt: skip
    ranked, priors = ranked_models(candidates, level)
    ranked = join_by_key(ranked, _prior_sensitivity(measures, judged.over), ["model"])
    name, defects, words = in_words(measure), score_warnings(measures, measure), first_words(ranked)
    place = describe_priors(judged.over, judged.belief.priors)
    lead = lead_in_words(ranked, f"{name} {place}", higher=candidates.higher)
    sure = how_sure(candidates, ranked, level, name, f" in {label(measure)}")
    warnings = [
        *inputs.warnings, *judged.warnings, *table.warnings, *defects,
        *caveats(candidates, ranked, priors, name, is_tested=is_tested),
        *(comparison.warnings if comparison and is_tested else ()),
    ]  # fmt: skip
    return Choice(
        " ".join([*defects, f"{words}: {lead} {sure}".rstrip()]), with_level(ranked, level), priors,
        tuple(warnings), comparison, judged.belief, measure, cases.fold, folds, level, words, sure,
    )  # fmt: skip


def _measures(cases: Cases[pl.DataFrame], over: Over, measure: str) -> pl.DataFrame:
    """The measures of predictions that a choice needs."""
    mean, names = mean_name(measure), {"auc", measure}
    # A measure that has no mean over a range is averaged over the nodes of the range.
    nodes = () if mean is not None and isinstance(over, tuple) else resolve_belief(over).priors
    priors: list[Prior] = [*nodes]
    if isinstance(over, tuple):
        priors = sorted({*prior_grid(*over, GRID_SIZE)["prior"], *nodes})
        names.add("sens")
    if mean is not None:
        names.add(mean)
    return evaluate(
        cases, over=over, priors=priors, measure=sorted(names), score_prior=cases.score_prior
    )


def _on_one_test_set(
    cases: Cases[pl.DataFrame], measures: pl.DataFrame, measure: str, over: Over | None,
    level: float,
) -> tuple[Evidence, tuple[Array, Array] | None, Comparison | None]:  # fmt: skip
    """Evidence on fitted models, limits of each that allow for few cases, and their tests."""
    name = mean_name(measure)
    at: dict[str, Any] = {"priors": OBSERVED, "over": over}
    if isinstance(over, Belief) and len(over.priors) == 1:
        name, at = measure, {"priors": over.priors[0], "over": None}
    if cases.case is None:
        return no_evidence(NO_CASE), None, None
    if name is None:
        why = (
            f"for the {label(measure)} averaged over priors this is known at a single prior, or "
            "from several folds"
        )
        return no_evidence(why), None, None
    (one,) = select_measures(
        name, [at["priors"]], at["over"], "exact", score_prior=cases.score_prior
    )
    if not (gradient_terms(one) or case_loss(one)):
        why = (
            "the cases of one test set do not tell by how much the "
            f"{label(measure)} varies, several folds do"
        )
        return no_evidence(why), None, None
    scored = read_cases(cases)
    evidence, limits = evidence_from_cases(scored, [one]), None
    # Rows from which on limits do not need the cases that were not seen.
    if evidence.is_known and (cases.in_clusters or cases.rows.height < 100_000):
        # Limits of `evaluate` allow for few cases; with many they make no difference.
        estimates = evaluate(
            cases, measure=name, **at, score_prior=cases.score_prior, intervals=True, level=level
        )
        limits = limits_by_model(estimates, scored)
    if case_loss(one) or not evidence.is_known:
        # The test of a scoring rule needs evidence with unseen cases, which this has not.
        return evidence, limits, None
    comparison = comparison_of_fitted(
        scored, evidence, limits, name, level, at=at["priors"] if name == measure else None,
        score_warnings=below_chance(measures, measure),
    )  # fmt: skip
    return evidence, limits, comparison


def _prior_sensitivity(measures: pl.DataFrame, over: Over | None) -> pl.DataFrame:
    """The mean Sens of each model over the range; no rows unless the table has it of all."""
    rows = range_rows(measures, "sens", over) if isinstance(over, tuple) else None
    estimates = measures.clear() if rows is None else rows.frame
    mean = estimates.group_by("model").agg(prior_sensitivity=pl.col("estimate").cast(float).mean())
    return mean.clear() if mean["prior_sensitivity"].null_count() else mean
