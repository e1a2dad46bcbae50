"""Which model to take where the prior is uncertain, and how sure that is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from polaroc.base.checks import check_factor, check_share, check_text, pair_of
from polaroc.base.columns import RESERVED, as_lazy, column_name, column_names, require
from polaroc.base.joins import join_on
from polaroc.base.statistics import ROUNDING
from polaroc.choice.answer import changes, corrected, describe_belief, full_answer
from polaroc.choice.by_cost import EXPECTED_COST, choose_by_cost, costs_of
from polaroc.choice.certainty import Certainty, name_case, of_errors, of_folds, of_halves
from polaroc.choice.posterior import Posterior, at_least_own, posterior
from polaroc.choice.predictions import measured, one_prior
from polaroc.choice.regret import (
    ExpectedMeasures,
    best_shares,
    measure_under_belief,
    table_of_priors,
)
from polaroc.choice.result import Choice
from polaroc.comparison.checks import (
    check_scores,
    refuse_one_class,
    refuse_prediction_options,
)
from polaroc.comparison.compare import of_design
from polaroc.comparison.design import Design, Incomplete, Plan, balanced, check_blocks
from polaroc.comparison.half_splits import ModelMeans, half_split_means, read_halves
from polaroc.comparison.layout import Layout, layout_of
from polaroc.comparison.letters import check_result_name
from polaroc.comparison.measure_rows import SAME, doubts, over_labels, range_rows, rows_of
from polaroc.errors import Hint, InvalidArgument, check_choice, nearest
from polaroc.measures.catalog import (
    CATALOG,
    at_one_prior,
    bounds,
    higher_is_better,
    in_words,
    is_area,
    mean_name,
)
from polaroc.measures.scoring import check_score_prior
from polaroc.predictions.row_checks import check_nulls
from polaroc.predictions.usual_keys import column_names_of, usual_keys, usual_names
from polaroc.predictions.wide import score_columns
from polaroc.priors.beliefs import Belief, belief_of_estimate, resolve_belief
from polaroc.priors.grids import OBSERVED, check_prior, check_range
from polaroc.priors.in_use import widest
from polaroc.typing import IntoExpr, Label, Nulls, Prior, Score, Table

COLUMNS = (
    "mean", "expected", "lower", "upper", "probability_best", "expected_loss", "regret", "best",
    "mean_regret", "worst_regret", "share", "sens",
)  # fmt: skip
# Difference of an IAUPREC from the expectation above which there is a warning.
OFF = 0.002


def choose(
    measures: Table,
    between: str = "model",
    block: str | Sequence[str] | None = "fold",
    measure: str = "auprec",
    *,
    over: tuple[float, float] | Belief | pl.DataFrame | pl.LazyFrame | None = None,
    test_train_ratio: float | None = None,
    alpha: float = 0.005,
    incomplete: Incomplete = "raise",
    level: float = 0.95,
    truth: IntoExpr | None = None,
    score: Score | None = None,
    by: str | Sequence[str] | None = None,
    case: str | None = None,
    weight: IntoExpr | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
    halves: Table | None = None,
    tuning: Table | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    constraints: Mapping[str, float] | None = None,
    confidence: float | None = None,
    score_prior: Prior = "observed",
) -> Choice:
    """Which model to take over a range of priors, and how sure that is.

    Parameters
    ----------
    measures
        Predictions, with `truth`, `score` and `over`: one row per model and case, or per
        case with one column of scores per model. Or tidy measures of every model and
        fold, as `evaluate` gives them with
        ``over=(0.05, 0.20), priors=prior_grid(0.05, 0.20, 16)``. A lazy frame is
        collected.
    between
        The key column that tells the models apart.
    block
        The key column, or columns, of the folds; None where each model was measured
        once. Where there is no "fold", and `by` is not given, columns with usual names of
        folds are found, if any; of predictions also those of models, without `between`.
    measure
        A measure taken at priors, such as "auprec", or "brier" and "log_loss", of which
        less is better, for scores that are probabilities; or ``"expected_cost"``, to
        choose each model's threshold on `tuning` and take the model that costs least.
    over
        The range (lo, hi) of priors, one prior twice, or a belief about the prior; of
        predictions also one row of `estimate_prior`, whose uncertainty is then in
        `lower` and `upper`; of measures by default the range of the table's IAUPREC, or of
        the mean of another measure, else the priors of the table, equally likely.
    test_train_ratio
        Test over training cases of a fold, as in `compare`: 0.25 for 80/20 hold-outs,
        1/(k−1) for k folds. Of predictions with `case` it is worked out. Without it
        probabilities are understated, and no test is made.
    alpha
        As in `compare`.
    incomplete
        As in `compare`.
    level
        Probability that `lower` and `upper` of a model hold its true measure, in (0, 1).
    truth, score, weight, positive, nulls
        Of predictions, as in `evaluate`. With ``nulls="drop"`` fitted models that can be
        paired are compared on the cases that all of them scored; a warning says which were
        left out.
    by
        The columns of the models and of the folds in one: in place of `between` and
        `block`. With one score column per model only those of the folds.
    case
        The column that tells cases apart: the models of one test set are compared case
        by case. With one score column per model it is not needed, since each row is a
        case.
    halves
        Of folds: the tidy measures of the same models in disjoint halves of the same
        cases, as in `compare`, at the same priors and over the same range. They say how
        sure the choice is, for unstable learners too; `test_train_ratio` is then not
        needed.
    tuning
        For "expected_cost": predictions of the same models on other cases, on which the
        thresholds are chosen. Models fitted anew for each fold have none. The same cases,
        or some of them, are refused where that can be seen.
    cost_fn, cost_fp
        For "expected_cost": costs > 0 of a missed positive and of a false alarm.
    constraints, confidence
        For "expected_cost": what thresholds have to keep, as in `operating_points`. The
        promises of all models hold at once with the probability `confidence`, so that
        that of the model that is picked does, too.
    score_prior
        Of predictions, for measures of probabilities such as "brier": the prior at which
        scores are right, as in `evaluate`.

    Returns
    -------
    Choice
        The models `bayes` (best mean), `minimax` (least worst regret) and `steadiest`
        (least Sens), an `answer` in one sentence, the frames `models` and `priors`,
        `warnings`, the `comparison`, and a `summary()` to print. How sure the choice is,
        the columns `probability_best` and `expected_loss` of `models` say.

    Raises
    ------
    InvalidArgument, InvalidTable, InvalidPredictions
        As in `compare` and `evaluate`; where measures have neither IAUPREC over the very
        range or belief, nor the measure at eight priors within the range or at all nodes
        of the belief.

    See Also
    --------
    compare : Whether models differ on a measure.
    operating_points : The thresholds of models on their own.
    gate : Whether a challenger may replace the champion.
    report : All of it as one HTML page.
    uniform : All priors of a range, equally likely.

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
    prior π of the belief: cost_fn·π(1−t) + cost_fp·(1−π)f. How sure a choice by
    it is, is said of these thresholds, on other cases.

    How sure the choice is comes from the covariance of the models' means: over folds it
    is corrected for shared training cases (Nadeau and Bengio 2003), on one test set it
    is that of the influence of its cases, which the models share. True means are taken
    for normal around a common level with a spread that is estimated, with a prior; so
    neither the lead of the best model nor its probability is what chance made of them.
    In simulation, where the true differences have the size of their error or more,
    answers of a given probability were right about as often as that (see the page "How
    sure" in the documentation, which also says where they were not).

    References
    ----------
    Landgrebe, Paclík, Duin, Bradley, "Precision-recall operating characteristic (P-ROC)
    curves in imprecise environments", 2006.

    Nadeau, Bengio, "Inference for the generalization error", 2003.

    Examples
    --------
    >>> import polaroc as pr
    >>> choice = pr.choose(
    ...     pr.datasets.satellite_predictions(), truth="truth", score="score",
    ...     by=["model", "fold"], over=(0.05, 0.20), test_train_ratio=0.25,
    ... )
    >>> print(choice.answer)
    Take A: the area (AUPREC) over 5 to 20 % positives is 0.779, 0.043 more than that of C. A is the
    best of the three with a probability of 88 %; if it is not, the loss is about 0.023 of area,
    where 1 is perfect.
    >>> choice.models["model"].to_list()
    ['A', 'C', 'B']
    """
    check_nulls(nulls)
    check_score_prior(score_prior)
    if case is not None:
        column_name(case, "case")
    for name, cost in (("cost_fn", cost_fn), ("cost_fp", cost_fp)):
        check_factor(name, cost)
    over, estimate = _checked_priors(over)
    keys = [] if by is None else column_names(by, "by")
    if by is not None:
        between, block = (keys[0], keys[1:]) if keys else (between, ())
    elif isinstance(block, str) and block == "fold":
        measures = as_lazy(measures)
        block = _folds(measures, column_name(between, "between"), [truth, score, weight, case])
    check_options(
        measure, test_train_ratio=test_train_ratio, halves=halves, tuning=tuning, cost_fn=cost_fn,
        cost_fp=cost_fp, constraints=constraints, confidence=confidence,
        score_prior=None if score_prior == OBSERVED else score_prior,
    )  # fmt: skip
    check_share("level", level)
    given = [column_name(between, "between"), *column_names(block, "block")]
    usual = by is None and isinstance(block, str) and given == ["model", "fold"]
    named = None if usual else given
    if measure == EXPECTED_COST:
        costs = costs_of(cost_fn, cost_fp, over, constraints, confidence, estimate)
        return choose_by_cost(
            measures, tuning, named, costs, truth=truth, score=score, case=case, weight=weight,
            positive=positive, nulls=nulls, level=level,
        )  # fmt: skip
    measure = at_one_prior(measure)
    check_scores(truth, score, on_cases=case is not None)
    choose_of = partial(
        choose_measured, measure=measure, alpha=alpha, incomplete=incomplete, level=level,
        halves=None if halves is None else _read_measures(halves),
    )  # fmt: skip
    if truth is None or score is None:
        if estimate is not None:
            raise InvalidArgument(
                "over is an estimated prior, and there are no predictions: measures at one prior "
                "do not say what they are at others.",
                hint="give predictions, with truth and score, or a range of priors.",
            )
        refuse_prediction_options(weight, positive, nulls, score_prior)
        return choose_of(
            _read_measures(measures), between, block, over=over, test_train_ratio=test_train_ratio
        )
    table = as_lazy(measures).collect()

    def of_predictions(over: tuple[float, float] | Belief | None) -> Choice:
        known = measured(
            table, named if by is None else keys, measure, over, truth=truth, score=score,
            case=case, weight=weight, positive=positive, nulls=nulls, score_prior=score_prior,
        )  # fmt: skip
        ratio = known.test_train_ratio if test_train_ratio is None else test_train_ratio
        choice = choose_of(
            known.measures, known.between, known.blocks, over=over, test_train_ratio=ratio,
            certainty=known.certainty,
        )  # fmt: skip
        left_out = [] if known.left_out is None else [known.left_out]
        return replace(choice, warnings=(*left_out, *name_case(choice.warnings, table.columns)))

    if estimate is None:
        return of_predictions(over)
    _refuse("for ranges and beliefs", "over is an estimate", halves=halves)
    return _at_estimate(of_predictions, belief_of_estimate(estimate))


def _checked_priors(
    over: tuple[float, float] | Belief | pl.DataFrame | pl.LazyFrame | None,
) -> tuple[tuple[float, float] | Belief | None, pl.DataFrame | None]:
    """The range or belief that was given, and the estimate where it is the belief of one."""
    estimate = None
    if isinstance(over, pl.DataFrame | pl.LazyFrame):
        # The prior in use, estimated with one model, is that of all.
        estimate = as_lazy(over).collect()
        over = belief_of_estimate(estimate)
    elif not (over is None or isinstance(over, Belief)):
        over = pair_of(over) or resolve_belief(over)
    if (prior := one_prior(over)) is not None:
        check_prior(prior)
    elif isinstance(over, tuple):
        check_range(*over)
    return over, estimate


def _folds(table: pl.LazyFrame, between: str, taken: Sequence[object]) -> str | list[str] | None:
    """The columns of folds where none is named: "fold", others with usual names, or none."""
    names = table.collect_schema().names()
    truth, score, *_ = taken
    if "fold" in names or (truth is not None and between == "model"):
        return "fold"
    if truth is None:
        keys = [name for name in names if name != between and name not in RESERVED]
        return usual_names(keys).blocks or None
    columns: list[object] = [*score_columns(score).values()] or [score]  # type: ignore[arg-type]
    used = column_names_of([*taken, *columns])
    return usual_keys(table, [*used, between]).blocks or None


def _at_estimate(
    choice_over: Callable[[tuple[float, float] | Belief], Choice], belief: Belief
) -> Choice:
    """The choice at an estimated prior, with the widest limits of those over its interval."""
    choice = choice_over(belief)
    models = choice.models
    tables = [models, *(choice_over((end, end)).models for end in belief.inner_ends)]
    columns = [models.columns[0], "lower", "upper"]
    assert belief.ends is not None
    limits = widest([table.select(columns) for table in tables], columns[:1], belief.ends)
    # Other measures than AUPREC have no limits at 0 and 1.
    is_known = pl.lit(choice.measure == "auprec" or len(belief.inner_ends) == len(belief.ends))
    return replace(
        choice,
        models=join_on(models.drop("lower", "upper"), limits, models.columns[:1], order="left")
        .with_columns(pl.when(is_known).then(pl.col("lower", "upper")))
        .select(models.columns),
        warnings=(*choice.warnings, belief.interval_note),
    )


def check_options(
    measure: str, *, test_train_ratio: object, halves: object, cost_fn: object, cost_fp: object,
    score_prior: object = None, **of_costs: object,
) -> None:  # fmt: skip
    """Refuse arguments that are for another measure."""
    check_text("measure", measure, "auprec")
    if measure != EXPECTED_COST and nearest(measure, [EXPECTED_COST]):
        check_choice("measure", measure, (EXPECTED_COST,))
    if measure in CATALOG and not CATALOG[measure].at_priors and CATALOG[measure].over is None:
        raise InvalidArgument(
            f"measure is {measure!r}, which does not depend on the share of positives, and a "
            "choice is one over shares of positives.",
            hint=Hint(
                "compare(...) and gate({measure}) take it; for a choice take measure='auprec'.",
                command_line="`polaroc compare` and `polaroc gate` take {measure}.",
                measure=measure,
            ),
        )
    if measure == EXPECTED_COST:
        _refuse("for folds", f"measure is {EXPECTED_COST!r}: it judges fitted models on one test "
                "set", test_train_ratio=test_train_ratio, halves=halves)  # fmt: skip
        _refuse("for measures of probabilities", f"measure is {EXPECTED_COST!r}",
                score_prior=score_prior)  # fmt: skip
        return
    _refuse(
        f"for measure={EXPECTED_COST!r}", f"measure is {measure!r}", **of_costs,
        cost_fn=None if cost_fn == 1 else cost_fn, cost_fp=None if cost_fp == 1 else cost_fp,
        hint=Hint("give {measure} with {tuning} to choose a threshold, too, or leave them out.",
                  measure=EXPECTED_COST, tuning=None),
    )  # fmt: skip


def _refuse(purpose: str, why: str, *, hint: Hint | None = None, **arguments: object) -> None:
    """Refuse arguments that are for something else."""
    given = [name for name, value in arguments.items() if value is not None]
    if given:
        raise InvalidArgument(
            f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'} {purpose}, and {why}.",
            hint=hint or ("leave it out." if len(given) == 1 else "leave them out."),
        )


def choose_measured(
    frame: pl.DataFrame,
    between: str,
    block: str | Sequence[str] | None,
    measure: str = "auprec",
    *,
    over: tuple[float, float] | Belief | None,
    test_train_ratio: float | None,
    alpha: float,
    incomplete: Incomplete,
    level: float = 0.95,
    certainty: Certainty | None = None,
    halves: pl.DataFrame | None = None,
) -> Choice:
    """The choice from tidy measures; `certainty` where it does not follow from these."""
    check_result_name(between, COLUMNS)
    refuse_one_class(frame)
    if (prior := one_prior(over)) is not None:
        frame, over = _at_prior(frame, measure, prior), None
        halves = None if halves is None else _at_prior(halves, measure, prior)
    under_belief = measure_under_belief(frame, measure, over)
    blocks = column_names(block, "block")
    design = balanced(
        under_belief.rows, under_belief.columns, between, blocks, incomplete,
        noted=under_belief.noted,
    )  # fmt: skip
    measured = under_belief.expected_measures(design.values)
    over, ends, belief = under_belief.over, under_belief.ends, under_belief.belief
    sens = _sens(frame, between, over)
    named = design.models.alias(between)
    means = layout = None
    if halves is not None:
        check_blocks(design)
        layout = layout_of(under_belief.rows, design, between)
        means = _half_split_means(halves, measure, over, between, design, layout, measured)
        certainty = of_halves(means)
    if certainty is None:
        certainty = (
            of_folds(measured.expected, test_train_ratio)
            if len(design.values) > 1
            else of_errors(frame, named, measure, over, under_belief.grid)
        )
    models = _models(measured, named, sens, certainty, level, bounds(measure))
    priors = _priors(measured, named)
    comparison = None
    if len(design.values) > 1 and (test_train_ratio is not None or means is not None):
        comparison = of_design(
            Design(design.models, design.blocks, measured.expected[:, :, None]),
            f"expected {measure}", between, blocks,
            Plan(test_train_ratio=test_train_ratio, level=1 - alpha, halves=means is not None),
            means=means, layout=layout, descending=higher_is_better(measure),
        )  # fmt: skip
    name = in_words(measure)
    doubted = doubts(frame, measure)
    answer = full_answer(
        models,
        f"{name} {describe_belief(ends, over, under_belief.grid)}",
        is_bound=certainty.is_bound,
        higher=higher_is_better(measure),
        is_area=is_area(measure),
    )
    return Choice(
        bayes=models[between][0],
        minimax=_least(models, between, "worst_regret"),
        steadiest=_least(models, between, "sens"),
        answer="".join(f"{warning} " for warning in doubted) + answer,
        models=models,
        priors=priors,
        warnings=(
            *under_belief.warnings,
            certainty.basis,
            corrected(models, name, higher=higher_is_better(measure)),
            *changes(priors),
            *([] if under_belief.is_exact else _other_range(frame, models, between, measure, over)),
            *([] if comparison is None else comparison.warnings),
            *design.warnings,
            *doubted,
        ),
        comparison=comparison,
        over=belief,
        measure=measure,
        block=tuple(blocks),
        blocks=len(design.values),
        level=level,
        is_bound=certainty.is_bound,
    )


def _read_measures(measures: Table) -> pl.DataFrame:
    lazy = as_lazy(measures)
    require(lazy, ("measure", "estimate"), source="evaluate(...)")
    return lazy.collect()


def _half_split_means(
    halves: pl.DataFrame,
    measure: str,
    over: tuple[float, float] | Belief | None,
    between: str,
    design: Design,
    layout: Layout,
    measured: ExpectedMeasures,
) -> ModelMeans:
    """The models' expected measures with the covariance that the halves give them."""
    own = measure_under_belief(halves, measure, over)
    read = read_halves(own.rows, own.columns, between, design.models, own.noted)
    in_halves = own.expected_measures(read.design.values).expected
    return half_split_means(design, layout, read, measured.expected, in_halves)


def _at_prior(frame: pl.DataFrame, measure: str, prior: float) -> pl.DataFrame:
    """The table at one prior, without measures over a range."""
    rows_of(frame, measure).check_prior(prior)
    here = pl.col("prior").is_null() | ((pl.col("prior") - prior).abs() <= SAME)
    over_range = [name for name in (mean_name(measure), "sens") if name is not None]
    return frame.filter(here, ~pl.col("measure").cast(pl.String).is_in(over_range))


def _models(
    measured: ExpectedMeasures,
    models: pl.Series,
    sens: pl.DataFrame | None,
    certainty: Certainty,
    level: float,
    limits: tuple[float | None, float | None],
) -> pl.DataFrame:
    blocks = len(measured.values)
    shares = best_shares(measured.gain).mean(axis=0)
    unknown: Any = [None] * len(models)
    mean = worst = unknown
    if measured.covers:
        mean, worst = measured.mean_regret, measured.regret.max(axis=1)
    means = measured.expected.mean(axis=0)
    known = None
    if certainty.covariance is not None:
        gains = measured.gain.mean(axis=0)
        least, most = limits
        ends = limits if measured.higher else (_negative(most), _negative(least))
        known = posterior(gains, certainty.covariance, certainty.freedom, level=level, limits=ends)
    if known is not None and not measured.higher:
        known = known.negated()
    if known is not None and certainty.covariance is not None:
        known = at_least_own(known, means, certainty.covariance, certainty.freedom, level)
    table = pl.DataFrame(
        [
            models,
            pl.Series("mean", means),
            *(
                pl.Series(name, unknown if known is None else getattr(known, name), pl.Float64)
                for name in Posterior._fields
            ),
            pl.Series("mean_regret", mean, pl.Float64),
            pl.Series("worst_regret", worst, pl.Float64),
            pl.Series("share", shares if blocks > 1 else unknown, pl.Float64),
        ]
    ).with_columns(pl.col("lower", "upper").clip(*limits))
    if sens is None:
        table = table.with_columns(pl.lit(None, pl.Float64).alias("sens"))
    else:
        table = join_on(table, sens, [models.name], "left")
    return table.sort("mean", descending=measured.higher, maintain_order=True)


def _negative(limit: float | None) -> float | None:
    return None if limit is None else -limit


def _priors(measured: ExpectedMeasures, models: pl.Series) -> pl.DataFrame:
    if not measured.evaluated_priors:
        return table_of_priors((), models, (), ())
    shares = measured.shares.T.ravel() if len(measured.values) > 1 else None
    means, regrets = measured.means.T.ravel(), measured.regret.T.ravel()
    return table_of_priors(measured.evaluated_priors, models, means, regrets, shares)


def _sens(
    frame: pl.DataFrame, between: str, over: tuple[float, float] | Belief | None
) -> pl.DataFrame | None:
    """The mean Sens per model over the range, where the table has it for all."""
    labels = over_labels(frame, "sens")
    if labels and over is not None:
        rows = range_rows(frame, "sens", over)
    else:
        rows = rows_of(frame, "sens") if "sens" in frame["measure"] and len(labels) < 2 else None
    if rows is None:
        return None
    sens = rows.frame.group_by(between).agg(pl.col("estimate").mean().alias("sens"))
    return None if sens["sens"].null_count() else sens


def _least(models: pl.DataFrame, between: str, column: str) -> Any:
    """The model with the least value, the better one where two tie."""
    if models[column].null_count():
        return None
    close = pl.col(column) <= pl.col(column).min() + ROUNDING
    return models.filter(close)[between][0]


def _other_range(
    frame: pl.DataFrame,
    models: pl.DataFrame,
    between: str,
    measure: str,
    over: tuple[float, float] | Belief | None,
) -> list[str]:
    """Warning where the IAUPREC of the table is not the expected AUPREC."""
    if over is None or measure != "auprec" or "iauprec" not in frame["measure"]:
        return []
    labels = over_labels(frame, "iauprec")
    if labels:
        return [
            f"The table's IAUPREC is over {', '.join(labels)}, not over the range asked for: the "
            "expected AUPREC is worked out from the priors of the table."
        ]
    rows = rows_of(frame, "iauprec").frame
    means = rows.group_by(between).agg(pl.col("estimate").mean())
    both = join_on(models, means, [between])
    difference = max((both["mean"] - both["estimate"]).abs().drop_nulls().to_list(), default=0.0)
    if difference <= OFF:
        return []
    return [
        f"The table's IAUPREC differs from the expected AUPREC by up to {difference:.2g}: it was "
        "taken over another range, or the priors of the table are too far apart."
    ]
