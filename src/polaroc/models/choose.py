"""Choice of a model where the prior is uncertain, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import (
    check_factors,
    check_share,
    check_text,
    pair_of,
    refuse_unused,
    unless,
)
from polaroc.base.columns import as_lazy, refuse_clash
from polaroc.errors import InvalidArgument
from polaroc.inference.evidence import Evidence, evidence_from_folds
from polaroc.measures.catalog import (
    CATALOG,
    at_one_prior,
    higher_is_better,
    in_words,
    is_area,
    mean_name,
    value_range,
)
from polaroc.measures.scoring import check_score_prior
from polaroc.models.answer import describe_priors, full_answer
from polaroc.models.by_cost import choose_with_tuning
from polaroc.models.choice import Choice, choice_among
from polaroc.models.choice_measures import (
    ends_by_model,
    measured_once,
    measures_of,
    needs_predictions,
    of_one_test_set,
    one_prior,
)
from polaroc.models.compare import of_values
from polaroc.models.cost_of_folds import choose_by_cost_of_folds
from polaroc.models.inputs import Inputs, compared_cases, ranked_rows, read_inputs
from polaroc.models.measure_rows import (
    doubts,
    over_labels,
    range_rows,
    refuse_one_class,
    rows_of,
)
from polaroc.models.posterior import EXPECTED_LIMITS, at_least_own, posterior
from polaroc.models.regret import under_belief
from polaroc.models.stakes import Stakes, stakes_of
from polaroc.predictions.cases import Cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief, Over, belief_of_estimate, resolve_belief
from polaroc.priors.grids import OBSERVED, SAME, check_prior, check_range
from polaroc.priors.in_use import check_level, widest
from polaroc.thresholds.named_rates import EXPECTED_COST
from polaroc.typing import Prior, Table

COLUMNS = (
    "mean", "expected", "expected_lower", "expected_upper", "probability_best", "expected_loss",
    "regret", "best", "mean_regret", "worst_regret", "share", "sens",
)  # fmt: skip


def choose(
    table: Table | Cases[Any],
    measure: str | None = None,
    *,
    over: tuple[float, float] | Belief | pl.DataFrame | pl.LazyFrame | None = None,
    level: float = 0.95,
    tuning: Table | Cases[Any] | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
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
        Predictions, one row per model and case: any table that `cases` takes, or its result. Models
        of one test set are compared case by case. With ``nulls="drop"`` they are compared on the
        cases that all of them scored; a warning says which were left out. Or tidy measures of every
        `model` and `fold`, as `evaluate` returns them with ``over=(0.05, 0.20),
        priors=prior_grid(0.05, 0.20, 16)``; they take no column keywords. A lazy frame is
        collected.
    measure
        A measure taken at priors, such as "auprec", or "brier" and "log_loss", of which
        less is better, for scores that are probabilities; or ``"expected_cost"``, to
        choose each model's threshold on `tuning`, or on the other folds, and take the model that
        costs least. By default "auprec", or "expected_cost" where a cost or `tuning` is given.
    over
        The range (lo, hi) of priors, one prior twice, or a belief about the prior; of
        predictions also one row of `estimate_prior`, whose uncertainty is then in
        `expected_lower` and `expected_upper`; of measures by default the range of the table's
        IAUPREC, or of the mean of another measure, else the priors of the table, equally likely.
    level
        Probability that the true measure of a model is between `expected_lower` and
        `expected_upper`, in (0, 1); the tests of the `comparison` are made at 1 − `level`.
    tuning
        For "expected_cost": predictions of the same models on other cases, on which the
        thresholds are chosen, with the same columns or as the result of `cases`. The same cases,
        or some of them, are refused; `warnings` says how many cases, or values of `cluster`, are
        in both tables. Models fitted anew for each fold
        have none, such as those of `cross_val_predict`: each fold is judged at a threshold that
        costs least on other folds, and a warning says what that means for the final model.
    cost_fn, cost_fp
        For "expected_cost": costs > 0 of a missed positive and of a false alarm.
    constraints, confidence
        With `tuning`: what thresholds have to keep, as in `operating_points`. The
        promises of all models hold at once with the probability `confidence`, so that
        that of the model that is picked does, too.
    score_prior
        The prior at which scores are right as probabilities: a prior in (0, 1), or ``"observed"``,
        each key's own.
    test_train_ratio
        Test over training cases of a fold: 0.25 for 80/20 hold-outs, 1/(k−1) for k folds.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Choice
        The models `bayes` (best mean), `minimax` (least worst regret) and `steadiest`
        (least Sens), an `answer` in one sentence, the frames `models` and `priors`,
        `warnings`, the `comparison`, and a `summary()` to print. The columns `probability_best`
        and `expected_loss` of `models` say how sure the choice is.

    Raises
    ------
    InvalidArgument, InvalidTable, InvalidPredictions
        As in `compare` and `evaluate`; where measures have neither IAUPREC over the very
        range or belief, nor the measure at eight priors within the range or at all nodes
        of the belief.
    NotSupported
        For `by`.

    Notes
    -----
    The expected AUPREC over a range is IAUPREC (P-ROC Eq. 5): that of the table,
    where its column `over` names this range, so that it is the number that `compare`
    tests; otherwise it is computed from the priors of the table, between which the
    measure is interpolated in ln λ. So it is with "brier" and "brier_range", and with
    other losses. Regret and the best model at a prior are those of means over the folds:
    at the table's priors within a range and at its ends; at the nodes of a belief,
    without 0.5 % at either end. Priors that are each key's own
    ("observed") and differ between keys are not used.

    For losses scores are taken as right at `score_prior`, by default the share of positives
    of each key.

    The expected cost of fixed thresholds is linear in the prior, and so that at the mean
    prior π of the belief: cost_fn·π(1−t) + cost_fp·(1−π)f. The probabilities of
    the choice refer to these thresholds on other cases.

    How sure the choice is comes from the covariance of the models' means: over folds it
    is corrected for shared training cases (Nadeau and Bengio 2003), on one test set it
    is that of the influence of its cases, which the models share, summed by `cluster` (Obuchowski
    1997). Limits then reach as far as those of
    `evaluate` for the same model. True means are assumed to be normal around a common level.
    Their spread is estimated, with a prior, which shrinks the lead of the best model to what is
    not chance. Folds that are copies of others are used once, as in `compare`.
    In simulation, where the true differences have the size of their error or more,
    answers of a given probability were right about as often as that (see the page "How
    sure" in the documentation, which also says where they were not).

    Examples
    --------
    >>> import polaroc as pr
    >>> choice = pr.choose(
    ...     pr.datasets.satellite_predictions(), truth="truth", score="score",
    ...     over=(0.05, 0.20), test_train_ratio=0.25,
    ... )
    >>> print(choice.answer)
    Take A: the area (AUPREC) over 5 to 20 % positives is 0.779, 0.043 more than that of C. A is the
    best of the three with a probability of 85 %; if it is not, the loss is about 0.018 of area,
    where 1 is perfect.
    >>> choice.models["model"].to_list()
    ['A', 'C', 'B']
    """
    cases = compared_cases(table, columns, score_prior, test_train_ratio)
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    check_score_prior(score_prior)
    over, estimate = _checked_priors(over)
    of_costs = {
        "tuning": tuning, "constraints": constraints, "confidence": confidence,
        "cost_fn": unless(1, cost_fn), "cost_fp": unless(1, cost_fp),
    }  # fmt: skip
    if measure is None:
        by_cost = any(value is not None for value in of_costs.values())
        measure = EXPECTED_COST if by_cost else "auprec"
    _check_options(measure, of_costs, unless(OBSERVED, score_prior))
    check_share("level", level)
    if estimate is not None:
        check_level(estimate, level)
    if measure == EXPECTED_COST:
        stakes = stakes_of(cost_fn, cost_fp, over, constraints, confidence, estimate)
        return _choose_by_cost(cases, tuning, stakes, level)
    measure, given = at_one_prior(measure), read_inputs(cases)
    if given.are_measures and estimate is not None:
        raise needs_predictions()

    def choice_over(over: Over | None) -> Choice:
        frame = given.table if given.are_measures else measures_of(given.cases, over, measure)
        evidence, intervals = None, None
        if given.on_cases:
            evidence, intervals = of_one_test_set(given.cases, measure, over, level)
        choice = choose_measured(
            given, frame, measure, over=over, test_train_ratio=given.test_train_ratio,
            level=level, evidence=evidence, intervals=intervals,
        )  # fmt: skip
        return replace(choice, warnings=(*given.warnings, *choice.warnings))

    choice = choice_over(over)
    if estimate is not None:
        choice = _at_estimate(choice_over, choice, belief_of_estimate(estimate))
    return choice


def _checked_priors(
    over: Over | pl.DataFrame | pl.LazyFrame | None,
) -> tuple[Over | None, pl.DataFrame | None]:
    """The range or belief as given, or that of an estimate, which is the second."""
    estimate = None
    if isinstance(over, pl.DataFrame | pl.LazyFrame):
        # Estimated with one model, the prior in use holds for all.
        estimate = as_lazy(over).collect()
        over = belief_of_estimate(estimate)
    elif not (over is None or isinstance(over, Belief)):
        over = pair_of(over) or resolve_belief(over)
    if (prior := one_prior(over)) is not None:
        check_prior(prior)
    elif isinstance(over, tuple):
        check_range(*over)
    return over, estimate


def _at_estimate(choice_over: Callable[[Over], Choice], choice: Choice, belief: Belief) -> Choice:
    """The choice at an estimated prior, with the widest limits of those over its interval."""
    models = choice.models
    tables = [models, *(choice_over((end, end)).models for end in belief.inner_ends)]
    named: dict[str, str] = dict(zip(EXPECTED_LIMITS, ("lower", "upper"), strict=True))
    assert belief.ends is not None
    by_end = [table.select(models.columns[0], *named).rename(named) for table in tables]
    limits = widest(by_end, models.columns[:1], belief.ends)
    limits = limits.rename({new: old for old, new in named.items()})
    # Other measures than AUPREC have no limits at 0 and 1.
    is_known = pl.lit(choice.measure == "auprec" or len(belief.inner_ends) == len(belief.ends))
    return replace(
        choice,
        models=models.drop(named)
        .join(limits, on=models.columns[:1], nulls_equal=True, maintain_order="left")
        .with_columns(pl.when(is_known).then(pl.col(*named)))
        .select(models.columns),
        warnings=(*choice.warnings, belief.interval_note),
    )


def _choose_by_cost(
    cases: Cases[Any],
    tuning: Table | Cases[Any] | None,
    stakes: Stakes,
    level: float,
) -> Choice:
    """The choice by expected cost, of fitted models or of those of folds."""
    given = None if cases.truth is None or tuning is not None else read_inputs(cases)
    if given is None or not given.folds:
        on_one = f"measure is {EXPECTED_COST!r}: it judges fitted models on one test set"
        refuse_unused("for folds", on_one, test_train_ratio=cases.test_train_ratio)
        return choose_with_tuning(cases, tuning, stakes, level=level)
    refuse_unused(
        "for thresholds from cases of their own", "there are folds",
        constraints=stakes.constraints, confidence=stakes.confidence,
    )  # fmt: skip
    rows, remarks = ranked_rows(given)
    choice = choose_by_cost_of_folds(
        rows, stakes, test_train_ratio=given.test_train_ratio, level=level
    )
    return replace(choice, warnings=(*choice.warnings, *remarks))


def _check_options(measure: str, of_costs: dict[str, object], score_prior: object) -> None:
    """Refuse arguments that are for another measure."""
    check_text("measure", measure, "auprec")
    if measure in CATALOG and not CATALOG[measure].at_priors and CATALOG[measure].over is None:
        raise InvalidArgument(
            f"measure is {measure!r}, which does not depend on the share of positives, and a "
            "choice is one over shares of positives.",
            hint=f"compare and gate take measure={measure!r}; for a choice take measure='auprec'.",
        )
    if measure == EXPECTED_COST:
        refuse_unused("for measures of probabilities", f"measure is {EXPECTED_COST!r}",
                score_prior=score_prior)  # fmt: skip
        return
    refuse_unused(
        f"for measure={EXPECTED_COST!r}",
        f"measure is {measure!r}",
        **of_costs,
        hint=f"give measure={EXPECTED_COST!r} with tuning= to choose a threshold, too, or leave "
        "them out.",
    )


def choose_measured(
    given: Inputs,
    frame: pl.DataFrame,
    measure: str = "auprec",
    *,
    over: Over | None,
    test_train_ratio: float | None,
    level: float = 0.95,
    evidence: Evidence | None = None,
    intervals: pl.DataFrame | None = None,
) -> Choice:
    """The choice from tidy measures, with the `evidence` of one test set.

    `intervals` are limits of each model alone, which hold with few clusters.
    """
    model = given.model
    refuse_clash([model], COLUMNS)
    refuse_one_class(frame)
    if (prior := one_prior(over)) is not None:
        frame, over = _at_prior(frame, measure, prior), None
    measured, table, over, warnings = under_belief(frame, measure, over, model, given.folds)
    if len(table.values) > 1:
        evidence = evidence_from_folds(table.at_first, test_train_ratio, table.models)
    elif evidence is None:
        evidence = measured_once(frame)
    higher, limits = higher_is_better(measure), value_range(measure)
    known = posterior(evidence, higher=higher, level=level, limits=limits)
    known = at_least_own(known, evidence, level, ends_by_model(intervals, table.models))
    comparison = None
    if len(table.values) > 1 and test_train_ratio is not None:
        comparison = of_values(
            replace(table, warnings=()), evidence, level, test_train_ratio, measure=measure,
            label=f"expected {measure}",
        )  # fmt: skip
    name, is_bound, doubted = in_words(measure), evidence.is_bound, doubts(frame, measure)
    judged_by = f"{name} {describe_priors(over, measured.grid)}"

    def answer(models: pl.DataFrame, _: str | None) -> str:
        area = is_area(measure)
        full = full_answer(models, judged_by, is_bound=is_bound, higher=higher, is_area=area)
        return " ".join([*doubted, full])

    return choice_among(
        table.models, measured, evidence, known, _sens(frame, model, over), answer,
        name=name, limits=limits, level=level,
        # A summary shows three warnings: defects of the data come before assumptions of tests.
        first=(
            *warnings, *table.warnings, *doubted,
            *([] if measured.overall is not None else _other_range(frame, measure, over)),
        ),
        last=() if comparison is None else comparison.warnings,
        comparison=comparison, measure=measure, folds=given.folds, fold_count=len(table.values),
    )  # fmt: skip


def _at_prior(frame: pl.DataFrame, measure: str, prior: float) -> pl.DataFrame:
    """The table at one prior, without measures over a range."""
    rows_of(frame, measure).check_prior(prior)
    here = pl.col("prior").is_null() | ((pl.col("prior") - prior).abs() <= SAME)
    over_range = [name for name in (mean_name(measure), "sens") if name is not None]
    return frame.filter(here, ~pl.col("measure").cast(pl.String).is_in(over_range))


def _sens(frame: pl.DataFrame, model: str, over: Over | None) -> pl.DataFrame:
    """The mean Sens per model over the range, null unless the table has it for all."""
    labels = over_labels(frame, "sens")
    if labels and over is not None:
        rows = range_rows(frame, "sens", over)
    else:
        rows = rows_of(frame, "sens") if "sens" in frame["measure"] and len(labels) < 2 else None
    estimates = frame.clear() if rows is None else rows.frame
    sens = estimates.group_by(model).agg(pl.col("estimate").cast(pl.Float64).mean().alias("sens"))
    return sens.with_columns(pl.when(~pl.col("sens").is_null().any()).then("sens").alias("sens"))


def _other_range(frame: pl.DataFrame, measure: str, over: Over | None) -> list[str]:
    """Warning where the IAUPREC of the table is not the expected AUPREC."""
    if over is None or measure != "auprec" or not (labels := over_labels(frame, "iauprec")):
        return []
    return [
        f"The table's IAUPREC is over {', '.join(labels)}, not over the range asked for: the "
        "expected AUPREC is worked out from the priors of the table."
    ]
