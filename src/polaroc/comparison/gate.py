"""Champion against challenger: non-inferiority by a margin, on folds or on one test set."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.checks import pair_of
from polaroc.base.columns import as_lazy, column_names
from polaroc.base.names import key_text
from polaroc.base.private_columns import VALUE
from polaroc.comparison.case_limits import (
    LARGEST_RATES,
    PairedDifference,
    difference_limits,
    why_no_promise,
)
from polaroc.comparison.checks import (
    at_prior,
    check_design,
    check_estimates,
    check_measures,
    check_numbers,
    check_scores,
    keys_of,
    needs_range,
    of_one_range,
    refuse_folds,
    refuse_prediction_options,
    two_models,
)
from polaroc.comparison.compare import compare
from polaroc.comparison.delong import single_measure
from polaroc.comparison.design import Incomplete
from polaroc.comparison.half_splits import KEYS as HALF_KEYS
from polaroc.comparison.layout import REPEAT
from polaroc.comparison.measure_rows import below_chance
from polaroc.comparison.missed_positives import rate_of_passes, too_few_to_pass
from polaroc.comparison.paired_cases import (
    NO_DIFFERENCE,
    NO_VARIANCE,
    PairedCases,
    blocks_of,
    read_paired,
)
from polaroc.comparison.result import Comparison
from polaroc.comparison.verdict import GateResult, at_in_words, decide
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, higher_is_better, label
from polaroc.measures.spec import Measure
from polaroc.measures.table import humanize_note
from polaroc.predictions.cases import Cases, keyed
from polaroc.predictions.row_checks import SCORE, check_nulls
from polaroc.predictions.table import check_ordered
from polaroc.predictions.wide import CASE, MODEL, models_as_rows, score_columns, with_cases
from polaroc.priors.beliefs import Belief
from polaroc.typing import Intervals, IntoExpr, Label, Nulls, Prior, Score, Table

ON_CASES = (
    "It is about these fitted models on other cases like these, which must be independent; of "
    "models trained anew it says nothing."
)
ONE_TEST_SET = Hint(
    "for models fitted anew in each fold take {test_train_ratio} in place of {case}; for one test "
    "set keep one of the values, or drop the column.", test_train_ratio=0.25, case=None,
)  # fmt: skip
# Below, the limits are clearly wider than those of many cases.
FEW_CASES = 200
WIDENED = (
    "With {} cases of a class the interval is widened, so that where scores are normal a pass is "
    "about as rare as promised if the challenger is worse by exactly the margin: in simulation"
)
MEASURED = " at α = 0.05, where 0.025 is aimed at, in at most {} of samples."
NOT_MEASURED = " that was tried for AUC, AUPREC and IAUPREC alone."
NO_PROMISE = (
    "There are too few cases to promise anything, so there is neither an interval nor a pass or a "
    "fail: {}."
)
RANK_ALIKE = "The two models rank all cases alike."
SAME_DIFFERENCE = (
    "The models differ by the same amount whatever cases are drawn of these, as where they "
    "separate the classes perfectly: nothing says how much others would change it."
)


def gate(
    predictions_or_measures: Table,
    *,
    champion: object,
    challenger: object,
    truth: IntoExpr | None = None,
    score: Score | None = None,
    by: str | Sequence[str] | None = None,
    case: str | None = None,
    measure: str = "iauprec",
    over: tuple[float, float] | Belief | None = None,
    prior: Prior | None = None,
    test_train_ratio: float | None = None,
    margin: float = 0.0,
    alpha: float = 0.05,
    incomplete: Incomplete = "raise",
    weight: IntoExpr | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
    halves: Table | None = None,
    guarded: bool = False,
    score_prior: Prior = "observed",
) -> GateResult:
    """Whether a challenger is worse than the champion by more than a margin.

    Parameters
    ----------
    predictions_or_measures
        Predictions, with `truth` and `score`: of two or more fitted models on one test
        set, with `case`, or of models fitted anew for each fold, with
        `test_train_ratio`. Without `truth` and `score` the tidy measures of such
        folds, as `evaluate` gives them. A lazy frame is collected.
    champion, challenger
        The two models, by their values in the first column of `by`; other models are
        left aside.
    truth, score, weight, positive, nulls
        As in `evaluate`, `score` also one column per model; `weight` and `nulls` for
        folds only.
    by
        Key columns: first the one that tells the models apart, then those of the
        folds. By default the columns with usual names of models and folds, as in
        `report`; of measures all keys. With one score column per model only those of
        the folds.
    case
        The column that tells the cases of one test set apart: both models are
        compared case by case. With one score column per model it is not needed, since
        each row is a case.
    measure
        The measure compared. At a single `prior`, "iauprec" is "auprec" there.
    over
        The range (lo, hi) of priors, or a belief about the prior, that the measure
        needs; of measures in a table, those over this range.
    prior
        The one prior in (0, 1), or ``"observed"``, instead of `over`.
    test_train_ratio
        Test over training cases of a fold, as in `compare`: 0.25 for 80/20 hold-outs,
        1/(k−1) for k folds.
    margin
        By how much the challenger may be worse, ≥ 0, in units of the measure.
    alpha
        One minus the confidence of the two-sided interval, in (0, 1). Where the
        challenger is worse by exactly `margin`, a pass has the probability `alpha`/2.
    incomplete
        As in `compare`.
    halves
        For folds, in place of `test_train_ratio`: measures in disjoint halves of the
        same cases, as in `compare`, or predictions, with `truth` and `score`, as
        `sklearn.half_split_predictions` gives them.
    guarded
        As in `compare`.
    score_prior
        Of predictions, for measures of probabilities such as "brier": the prior at which
        scores are right, as in `evaluate`.

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
        neither or both of `case` and `test_train_ratio` or `halves`; too few folds, or too few
        cases of a class; as in `compare`.

    See Also
    --------
    compare : Whether models differ on a measure.
    choose : Which model to take over uncertain priors.

    Notes
    -----
    "pass" where `lower` ≥ −`margin`, "fail" where `upper` < −`margin`, else
    "undecided". Of a measure where less is better, such as "sens", "pass" where
    `upper` ≤ `margin` and "fail" where `lower` > `margin`.

    On folds the interval is that of the corrected t-test (Nadeau and Bengio 2003) with
    J−1 degrees of freedom: it is about models trained anew on other samples of this
    size. With `halves` it has the variance and the degrees of freedom that these give, as in
    `compare`. On one test set it is about these fitted models on other cases like these. It is
    Student's, with one degree of freedom less than there are cases of the rarer class and the
    variance of the difference over the cases (for the AUC that of DeLong, DeLong and
    Clarke-Pearson 1988) and a few more of each class, which have the largest influence seen: one
    for the AUC, two for other measures. Of AUC, AUPREC and IAUPREC it reaches as far as Student's
    interval of the log-odds does. So of normal scores a pass is about as rare as promised with few
    cases too; a challenger that misses some positives wholly may pass more often, as few cases may
    not show it (``just gate-missed``): `warnings` quotes how often, and of the AUC the verdict is
    "undecided" where the interval allows a pass, but there are fewer than 50 positives and
    `margin` is below 1 − (`alpha`/2)^(1/positives), the share of misses of which they show none
    with a chance of `alpha`/2.

    There is no interval, and the verdict is "undecided", with fewer than 20 cases of a class, and
    for AUPREC and IAUPREC where negatives are too few for the priors beside the positives;
    `warnings` says how many are needed.

    Models that rank all cases alike differ by 0, and pass. Where two models that do not
    rank alike show no variation (both perfect, or a difference that is the same in
    every fold), there is no interval, and the verdict is "undecided".

    References
    ----------
    Nadeau, Bengio, "Inference for the generalization error", 2003.

    DeLong, DeLong, Clarke-Pearson, "Comparing the areas under two or more correlated
    receiver operating characteristic curves: a nonparametric approach", 1988.

    Examples
    --------
    >>> import polaroc as pr
    >>> result = pr.gate(
    ...     pr.datasets.satellite_predictions().filter(fold=1), champion="C", challenger="A",
    ...     truth="truth", score="score", case="case", over=(0.05, 0.20), margin=0.01,
    ... )
    >>> result.verdict
    'pass'
    >>> print(result.answer)
    Pass: A is not worse than C by more than 0.01 in IAUPREC over 5 to 20 % positives.
    """
    check_nulls(nulls)
    over = over if over is None or isinstance(over, Belief) else pair_of(over) or over
    models = score_columns(score)
    if models and case is None and test_train_ratio is None and halves is None:
        # Each row is a case.
        case = CASE
    on_cases = check_design(case, test_train_ratio, has_halves=halves is not None)
    has_scores = check_scores(truth, score, on_cases=on_cases)
    if not has_scores:
        refuse_prediction_options(weight, positive, nulls, score_prior)
    if on_cases and (weight is not None or nulls != "raise"):
        raise InvalidArgument(
            "weight or nulls is given with case, which pairs whole cases.",
            hint="leave it out; drop such cases of both models before.",
        )
    measure = at_prior(measure, over, prior, has_scores=has_scores)
    check_numbers(measure, margin, alpha)
    table = as_lazy(predictions_or_measures).collect()
    if not has_scores:
        check_measures(table)
    if models:
        table, score = models_as_rows(with_cases(table, score, case), models)
        by = by if by is None else [MODEL, *column_names(by, "by")]
    named = [name for name in (truth, score, weight, case) if isinstance(name, str)]
    between, *folds = keys_of(table, by, named if has_scores else None, on_cases=on_cases)
    if halves is not None and has_scores and REPEAT in table.columns and REPEAT not in folds:
        # It tells which folds test every case once.
        folds.append(REPEAT)
    check_ordered({name: table.schema[name] for name in (between, *folds) if name in table.columns})
    table = two_models(table, between, champion, challenger)
    columns: dict[str, Any] = {"truth": truth, "score": score, "positive": positive}
    at: Prior = "observed" if prior is None else prior

    def measured(
        table: pl.DataFrame, by: Sequence[str], intervals: Intervals | None = None
    ) -> pl.DataFrame:
        own: Cases[pl.DataFrame] = keyed(
            table, by=by, weight=weight, nulls=nulls, score_prior=score_prior, **columns
        )
        return evaluate(
            own, measures=sorted({measure, "auc"}), over=over, priors=at, intervals=intervals,
        )  # fmt: skip

    taken_over: tuple[float, float] | Belief | str | None = over
    if on_cases:
        refuse_folds(table, folds, "case is given, which is for one test set", ONE_TEST_SET)
        taken = single_measure(measure, at, over, "exact", score_prior)
        cases = read_paired(table, between=between, case=case, **columns)
        estimates = measured(table, [between], "wald")
        lead = _on_cases(cases, taken, estimates, measure, (challenger, champion), alpha)
    else:
        if has_scores:
            table = measured(table, [between, *folds])
        else:
            table, taken_over = of_one_range(table, measure, over)
        if halves is not None:
            halves = as_lazy(halves).collect()
            if has_scores and "estimate" not in halves.columns:
                halves = _measured_halves(halves, models, between, measured)
            else:
                halves, _ = of_one_range(halves, measure, over)
        compared = compare(
            table, measure, between, folds, prior=prior, test_train_ratio=test_train_ratio,
            alpha=alpha, incomplete=incomplete, halves=halves, guarded=guarded,
        )  # fmt: skip
        lead = _on_folds(compared, champion)
    higher = higher_is_better(measure)
    verdict = decide(lead.lower, lead.upper, margin, higher=higher)
    doubts = []
    if lead.positives is not None:
        few = too_few_to_pass(lead.positives, margin, alpha) if measure == "auc" else None
        if verdict == "pass" and few is not None:
            verdict, doubts = "undecided", [few]
        rate = rate_of_passes(measure, lead.positives, margin, alpha)
        doubts += [] if rate is None else [rate]
    # A table that has the measure at one prior only tells which.
    shown = at if has_scores and measure in CATALOG and CATALOG[measure].at_priors else prior
    place = at_in_words(taken_over if needs_range(measure) else None, shown)
    return GateResult(
        verdict, lead.difference, lead.lower, lead.upper, champion, challenger,
        lead.estimates[champion], lead.estimates[challenger],
        measure=f"{label(measure)}{place}", higher_is_better=higher, margin=margin, alpha=alpha,
        cases=lead.cases, warnings=(*doubts, *lead.warnings),
    )  # fmt: skip


class Lead(NamedTuple):
    """The challenger minus the champion: estimate, limits and notes."""

    difference: float
    lower: float | None
    upper: float | None
    estimates: dict[Any, float]
    cases: str
    warnings: tuple[str, ...]
    positives: int | None = None  # where the interval is that of cases


def _on_cases(
    cases: PairedCases,
    taken: Measure,
    estimates: pl.DataFrame,
    measure: str,
    models: tuple[object, object],
    alpha: float,
) -> Lead:
    """The lead of one fitted model over another, challenger and champion, paired by case."""
    own = estimates.filter(measure=measure)
    check_estimates(own, cases.between, measure)
    (block,) = blocks_of(cases, taken)
    places = [block.models.index(model) for model in models]
    variance = block.variance(*places)
    if variance != variance:
        raise InvalidPredictions(
            "there are too few cases of a class to compare the models by.",
            hint="every class needs two cases or more.",
        )
    paired = PairedDifference.of_block(block, *places)
    difference = paired.estimate - paired.other
    lower: float | None
    upper: float | None
    if variance >= NO_VARIANCE:
        lower, upper, note = _limits_of_cases(paired, measure, alpha, why_no_promise(own, taken))
    elif abs(difference) < NO_DIFFERENCE and _rank_alike(cases):
        difference = lower = upper = 0.0
        note = RANK_ALIKE
    else:
        lower, upper, note = None, None, SAME_DIFFERENCE
    noted = (
        own.drop_nulls("note")
        .group_by(humanize_note(pl.col("note")), maintain_order=True)
        .agg(key_text(cases.between))
    )
    warnings = (
        ON_CASES,
        *([] if note is None else [note]),
        *(f"{' and '.join(named)}: {note}." for note, named in noted.rows()),
        *below_chance(estimates, measure),
    )
    return Lead(
        difference, lower, upper, dict(own.select(cases.between, "estimate").iter_rows()),
        f"{cases.rows.height // len(block.models):,} cases", warnings,
        paired.positives if lower is not None and note != RANK_ALIKE else None,
    )  # fmt: skip


def _limits_of_cases(
    paired: PairedDifference, measure: str, alpha: float, why_none: str | None
) -> tuple[float | None, float | None, str | None]:
    """The limits of the difference, and what few cases do to them."""
    if why_none is not None:
        return None, None, NO_PROMISE.format(why_none)
    lower, upper = difference_limits(paired, 1 - alpha, measure)
    if paired.fewest >= FEW_CASES:
        return lower, upper, None
    rate = LARGEST_RATES.get(measure)
    checked = NOT_MEASURED if rate is None else MEASURED.format(rate)
    return lower, upper, WIDENED.format(f"{paired.fewest:,}") + checked


def _measured_halves(
    halves: pl.DataFrame,
    models: Mapping[str, IntoExpr],
    between: str,
    measured: Callable[..., pl.DataFrame],
) -> pl.DataFrame:
    """The measures of predictions in halves."""
    if models:
        halves, _ = models_as_rows(halves, models)
    return measured(halves, by=[between, *(key for key in HALF_KEYS if key in halves.columns)])


def _on_folds(compared: Comparison, champion: object) -> Lead:
    """The lead where both models are fitted anew for each fold."""
    difference, lower, upper = _limits(compared.pairs, champion)
    notes = []
    if compared.pairs["std_error"].item() == 0:
        if difference == 0:
            notes.append("The two models have the same measure in every fold.")
        else:
            lower = upper = None
    return Lead(
        difference, lower, upper,
        dict(compared.letters.select(compared.between, "mean").iter_rows()),
        f"{compared.blocks} folds", (*notes, *compared.warnings),
    )  # fmt: skip


def _limits(pairs: pl.DataFrame, champion: object) -> tuple[float, float | None, float | None]:
    """The difference, challenger minus champion, and its limits, from the one row of pairs."""
    difference, lower, upper = pairs.select("difference", "lower", "upper").row(0)
    if pairs.item(0, 1) == champion:
        return difference, lower, upper
    # From zero, so that no difference is -0.0.
    turned = [None if end is None else 0 - end for end in (upper, lower)]
    return 0 - difference, turned[0], turned[1]


def _rank_alike(cases: PairedCases) -> bool:
    """Whether the models put the cases in the same order, with the same ties."""
    rank = pl.col(SCORE).rank("dense").over(cases.between).alias(VALUE)
    ranks = cases.rows.select(cases.case, rank).group_by(cases.case).agg(pl.col(VALUE).n_unique())
    return ranks[VALUE].max() == 1
