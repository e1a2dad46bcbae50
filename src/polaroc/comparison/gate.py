"""Champion against challenger: non-inferiority by a margin, on folds or on one test set."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.checks import check_ratio, check_share, check_text, is_number, pair_of
from polaroc.base.columns import OVER, RESERVED, as_lazy, column_name, column_names, single_column
from polaroc.base.private_columns import VALUE
from polaroc.comparison.compare import compare
from polaroc.comparison.delong import paired_test
from polaroc.comparison.design import Incomplete
from polaroc.comparison.measure_rows import below_chance, over_labels
from polaroc.comparison.result import Comparison
from polaroc.comparison.verdict import GateResult, at_in_words, decide
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, InvalidTable, quoted, spelling
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, higher_is_better, label
from polaroc.measures.table import humanize_note
from polaroc.predictions.usual_keys import usual_keys, usual_names
from polaroc.priors.beliefs import Belief, labelled_range, same_over
from polaroc.priors.grids import OBSERVED, check_prior
from polaroc.typing import IntoExpr, Label, Nulls, Prior

# What a measure over a range of priors is at a single prior.
AT_ONE_PRIOR = {"iauprec": "auprec", "iauprec_corrected": "auprec_corrected"}
ON_CASES = (
    "It is about these fitted models on other cases like these, which must be independent; of "
    "models trained anew it says nothing."
)
# Rates of passes at the margin, by `just gate`.
ENOUGH_CASES = 200
FEW_CASES = (
    "With {} cases of a class a challenger that is worse by exactly the margin passes somewhat too "
    "often: in simulation at α = 0.05 in 0.04 to 0.06 of samples with 20 + 80 cases, in 0.03 to "
    "0.05 with 50 + 450, where 0.025 is aimed at."
)


def gate(
    predictions_or_measures: pl.LazyFrame | pl.DataFrame,
    *,
    champion: object,
    challenger: object,
    truth: IntoExpr | None = None,
    score: IntoExpr | None = None,
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
        As in `evaluate`; `weight` and `nulls` for folds only.
    by
        Key columns: first the one that tells the models apart, then those of the
        folds. By default the columns with usual names of models and folds, as in
        `report`; of measures all keys.
    case
        The column that tells the cases of one test set apart: both models are
        compared case by case.
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
        neither or both of `case` and `test_train_ratio`; too few folds, or too few
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
    size. On one test set it is normal, with the variance of the difference over the
    cases (for the AUC that of DeLong, DeLong and Clarke-Pearson 1988): it is about
    these fitted models on other cases like these.

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
    over = over if over is None or isinstance(over, Belief) else pair_of(over) or over
    on_cases = _is_on_cases(case, test_train_ratio)
    has_scores = _has_scores(truth, score, on_cases)
    if not has_scores and (weight is not None or positive is not None or nulls != "raise"):
        raise InvalidArgument(
            "weight, positive or nulls is given without truth and score: they are for predictions.",
            hint="leave it out, or name the columns of predictions.",
        )
    check_text("measure", measure, "iauprec")
    measure = _at(measure, over, prior, has_scores)
    _check_numbers(measure, margin, alpha)
    table = as_lazy(predictions_or_measures).collect()
    if not has_scores and not {"measure", "estimate"} <= set(table.columns):
        raise InvalidTable(
            f"the table holds no measures; it has {quoted(table.columns)}.",
            hint=Hint(
                "pass the result of evaluate(...), or name the columns of predictions with "
                "{truth} and {score}.",
                truth=None,
                score=None,
            ),
        )
    if by is None:
        named = [name for name in (truth, score, weight, case) if isinstance(name, str)]
        between, *folds = _usual_keys(table, named if has_scores else None)
    else:
        between, *folds = column_names(by, "by") or [""]
    if not between or not (folds or on_cases):
        needed = "the column of the models" if on_cases else "columns of the models and the folds"
        raise InvalidArgument(
            f"keys are {quoted([between, *folds]) if between else 'none'}, needed are {needed}.",
            hint=Hint(
                "for example {by}.",
                command_line="name the columns of the folds with {block}.",
                by="model" if on_cases else ["model", "fold"],
                block="fold",
            ),
        )
    pair = Pair(between, champion, challenger)
    table = pair.rows(table)
    columns: dict[str, Any] = {"truth": truth, "score": score, "positive": positive}
    at: Prior = "observed" if prior is None else prior
    taken_over: tuple[float, float] | Belief | str | None = over
    if on_cases:
        _refuse_folds(table, folds)
        if weight is not None or nulls != "raise":
            raise InvalidArgument(
                "weight or nulls is given with case, which pairs whole cases.",
                hint="leave it out; drop such cases of both models before.",
            )
        lead = _on_cases(
            table, pair, str(case), {"measure": measure, "prior": at, "over": over}, alpha, columns
        )
    else:
        if has_scores:
            table = evaluate(
                table, by=[between, *folds], measures=sorted({measure, "auc"}), over=over,
                priors=at, weight=weight, nulls=nulls, **columns,
            )  # fmt: skip
        table, taken_over = _of_one_range(table, measure, over)
        compared = compare(
            table, measure, between, folds, prior=prior, test_train_ratio=test_train_ratio,
            alpha=alpha, incomplete=incomplete,
        )  # fmt: skip
        lead = _on_folds(compared, pair)
    higher = higher_is_better(measure)
    place = at_in_words(taken_over if _needs_range(measure) else None, prior)
    return GateResult(
        decide(lead.lower, lead.upper, margin, higher=higher), lead.difference, lead.lower,
        lead.upper, champion, challenger, lead.estimates[champion], lead.estimates[challenger],
        measure=f"{label(measure)}{place}", higher_is_better=higher, margin=margin, alpha=alpha,
        cases=lead.cases, warnings=lead.warnings,
    )  # fmt: skip


class Lead(NamedTuple):
    """What is known of the challenger minus the champion."""

    difference: float
    lower: float | None
    upper: float | None
    estimates: dict[Any, float]
    cases: str
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """The two models, and the column that tells them apart."""

    between: str
    champion: Any
    challenger: Any

    def rows(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows of the two models; raise where either has none."""
        if self.between not in table.columns:
            raise InvalidArgument(
                f"the table has no column {self.between!r}; it has {quoted(table.columns)}.",
                hint=spelling(
                    [self.between],
                    table.columns,
                    Hint(
                        "name the column that tells the models apart first in {by}.",
                        command_line="name the column that tells the models apart with {between}.",
                        by=None,
                        between=None,
                    ),
                ),
            )
        models = table[self.between].unique().sort()
        present = models.to_list()
        unknown = [model for model in (self.champion, self.challenger) if model not in present]
        if unknown:
            raise InvalidArgument(
                f"{self.between!r} has no {quoted(unknown)}; it has {quoted(present)}.",
                hint=spelling(
                    [str(model) for model in unknown],
                    [str(model) for model in present],
                    Hint("name two of these as {champion} and {challenger}.", champion=None,
                         challenger=None),
                ),
            )  # fmt: skip
        if self.champion == self.challenger:
            raise InvalidArgument(
                f"champion and challenger are both {quoted([self.champion])}.",
                hint="name two models.",
            )
        kept = models.gather([present.index(self.champion), present.index(self.challenger)])
        return table.filter(pl.col(self.between).is_in(kept.implode()))

    def limits(self, pairs: pl.DataFrame) -> tuple[float, float | None, float | None]:
        """The difference, challenger minus champion, and its limits, from a row of pairs."""
        first, difference, lower, upper = pairs.select(
            f"{self.between}_a", "difference", "lower", "upper"
        ).row(0)
        if first == self.challenger:
            return difference, lower, upper
        # From zero, so that no difference is -0.0.
        turned = [None if end is None else 0 - end for end in (upper, lower)]
        return 0 - difference, turned[0], turned[1]


def _on_cases(
    table: pl.DataFrame,
    pair: Pair,
    case: str,
    measured: dict[str, Any],
    alpha: float,
    columns: dict[str, Any],
) -> Lead:
    """Of two fitted models, paired by case."""
    between, measure = pair.between, measured["measure"]
    pairs = paired_test(table, between=between, case=case, level=1 - alpha, **measured, **columns)
    error = pairs["std_error"].item()
    if error is None:
        raise InvalidPredictions(
            "there are too few cases of a class to compare the models by.",
            hint="every class needs two cases or more.",
        )
    difference, lower, upper = pair.limits(pairs)
    notes = [ON_CASES]
    if error == 0:
        if difference == 0 and _rank_alike(table, between, case, columns["score"]):
            notes.append("The two models rank all cases alike.")
        else:
            lower = upper = None
            notes.append(
                "The models differ by the same amount whatever cases are drawn of these, as "
                "where they separate the classes perfectly: nothing says how much others would "
                "change it."
            )
    estimates = evaluate(
        table, by=between, measures=sorted({measure, "auc"}), priors=measured["prior"],
        over=measured["over"], intervals="wald", **columns,
    )  # fmt: skip
    own = estimates.filter(measure=measure)
    fewest = min(own.select("positives", "negatives").row(0))
    if fewest < ENOUGH_CASES:
        notes.append(FEW_CASES.format(f"{fewest:,}"))
    noted = (
        own.drop_nulls("note")
        .group_by(humanize_note(pl.col("note")), maintain_order=True)
        .agg(pl.col(between).cast(pl.String))
    )
    notes += [f"{' and '.join(models)}: {note}." for note, models in noted.rows()]
    return Lead(
        difference, lower, upper, dict(own.select(between, "estimate").iter_rows()),
        f"{table[case].n_unique():,} cases", (*notes, *below_chance(estimates, measure)),
    )  # fmt: skip


def _on_folds(compared: Comparison, pair: Pair) -> Lead:
    """Of two models that are fitted anew for each fold."""
    difference, lower, upper = pair.limits(compared.pairs)
    notes = []
    if compared.pairs["std_error"].item() == 0:
        if difference == 0:
            notes.append("The two models have the same measure in every fold.")
        else:
            lower = upper = None
    return Lead(
        difference, lower, upper,
        dict(compared.letters.select(pair.between, "mean").iter_rows()),
        f"{compared.blocks} folds", (*notes, *compared.warnings),
    )  # fmt: skip


def _is_on_cases(case: str | None, test_train_ratio: float | None) -> bool:
    """Whether one test set is compared, by cases; else folds are."""
    if (case is None) == (test_train_ratio is None):
        found = (
            "neither case nor test_train_ratio is"
            if case is None
            else "case and test_train_ratio are both"
        )
        raise InvalidArgument(
            f"{found} given, needed is one of them.",
            hint=Hint(
                "{case} for fitted models on one test set; {test_train_ratio} for folds of "
                "80/20 hold-outs, 1/(k-1) for k folds.",
                case="id",
                test_train_ratio=0.25,
            ),
        )
    if case is None:
        check_ratio(test_train_ratio)
    else:
        column_name(case, "case")
    return case is not None


def _has_scores(truth: object, score: object, on_cases: bool) -> bool:
    if (truth is None) != (score is None):
        raise InvalidArgument(
            "only one of truth and score is given, needed are both or none.",
            hint="give both for predictions, none for measures.",
        )
    if truth is None and on_cases:
        raise InvalidArgument(
            "case is given without truth and score: one test set is compared by its predictions.",
            hint=Hint(
                "name their columns; for measures of folds take {test_train_ratio}.",
                test_train_ratio=0.25,
            ),
        )
    return truth is not None


def _at(measure: str, over: object, prior: Prior | None, has_scores: bool) -> str:
    """The measure itself, or what it is at the one prior."""
    if prior is not None:
        if over is not None:
            raise InvalidArgument(
                "both over and prior are given.",
                hint=Hint("leave one of them out: {over} is a range, {prior} a single prior.",
                          over=(0.05, 0.20), prior=0.1),
            )  # fmt: skip
        measure = AT_ONE_PRIOR.get(measure, measure)
        if measure in CATALOG and not CATALOG[measure].at_priors:
            raise InvalidArgument(
                f"prior is {prior!r}, but {measure!r} has no prior.", hint="leave it out."
            )
        if prior != OBSERVED:
            check_prior(prior)
    elif over is None and has_scores and _needs_range(measure):
        raise InvalidArgument(
            f"{measure!r} is over a range of priors, and neither over nor prior is given.",
            hint=Hint("give {over}, or {prior} where it is known.", over=(0.05, 0.20), prior=0.1),
        )
    return measure


def _needs_range(measure: str) -> bool:
    return measure in CATALOG and CATALOG[measure].over is not None


def _check_numbers(measure: str, margin: object, alpha: object) -> None:
    check_share("alpha", alpha)
    # No measure of the catalogue differs by more than 1.
    most = 1 if measure in CATALOG else inf
    if isinstance(margin, bool) or not is_number(margin) or not 0 <= margin < most:
        allowed = f"0 ≤ margin < {most}" if most == 1 else "margin ≥ 0"
        raise InvalidArgument(
            f"margin is {margin!r}, allowed is {allowed}: by how much the challenger may be worse.",
            hint=Hint.example("margin", 0.01),
        )


def _usual_keys(table: pl.DataFrame, taken: Sequence[str] | None) -> list[str]:
    """The column of the models, then those of the folds; of measures, where none are taken, all."""
    if taken is None:
        keys = [name for name in table.columns if name not in RESERVED]
        between = next(iter(usual_names(keys).models), "model")
        return [between, *(key for key in keys if key != between)]
    usual = usual_keys(table.lazy(), taken)
    return [next(iter(usual.models), "model"), *usual.blocks]


def _refuse_folds(table: pl.DataFrame, folds: Sequence[str]) -> None:
    """Refuse scores of models that were fitted anew for each fold."""
    several = [name for name in folds if name in table.columns and table[name].n_unique() > 1]
    if several:
        raise InvalidArgument(
            f"case is given, which is for one test set, and {quoted(several)} has "
            f"{table.select(several).n_unique()} values.",
            hint=Hint(
                "for models fitted anew in each fold take {test_train_ratio} in place of {case}; "
                "for one test set keep one of the values, or drop the column.",
                test_train_ratio=0.25,
                case=None,
            ),
        )


def _of_one_range(
    measures: pl.DataFrame, measure: str, over: tuple[float, float] | Belief | None
) -> tuple[pl.DataFrame, tuple[float, float] | Belief | str | None]:
    """The rows of one measure and of the AUC, and the range or belief they are over."""
    if not _needs_range(measure):
        return measures, None
    labels = over_labels(measures, measure)
    same = labels if over is None else [one for one in labels if same_over(one, over)]
    if labels and len(same) == 1:
        kept = (pl.col("measure") != measure) | (pl.col(OVER) == same[0])
        return measures.filter(kept), labelled_range(same[0]) or same[0]
    if labels or over is not None:
        wanted = "" if over is None else f", not over {over!r}"
        raise InvalidArgument(
            f"the table has {measure!r} over {quoted(labels) or 'a range that it does not tell'}"
            f"{wanted}.",
            hint=Hint("evaluate again with the range, or name one of these as {over}.", over=None),
        )
    return measures, None


def _rank_alike(table: pl.DataFrame, between: str, case: str, score: IntoExpr) -> bool:
    """Whether the models put the cases in the same order, with the same ties."""
    rank = single_column(score, "score").rank("dense").over(between).alias(VALUE)
    ranks = table.select(case, rank).group_by(case).agg(pl.col(VALUE).n_unique())
    return ranks[VALUE].max() == 1
