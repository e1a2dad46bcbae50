"""Measures of predictions for a choice, and the covariance of their means."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from polaroc.choice.certainty import Certainty, of_cases
from polaroc.comparison.checks import keys_of, refuse_empty
from polaroc.comparison.layout import ratio_of
from polaroc.comparison.paired_cases import check_has_models, common_cases
from polaroc.errors import Hint, InvalidArgument
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import label, mean_name, select_measures
from polaroc.predictions.cases import check_columns, keyed
from polaroc.predictions.wide import MODEL, score_columns, with_row_cases
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import prior_grid
from polaroc.typing import IntoExpr, Label, Nulls, Prior, Score

GRID = 25
WEIGHTED = Certainty(
    None, "Nothing says how sure this is: that of one test set is not known for weighted cases."
)


class Measured(NamedTuple):
    """The measures of predictions, the columns of models and folds, and what else is known."""

    measures: pl.DataFrame
    between: str
    blocks: list[str]
    certainty: Certainty | None  # None where it follows from the measures
    test_train_ratio: float | None
    left_out: str | None = None  # what is to be said of cases that not all models scored


def measured(
    table: pl.DataFrame,
    by: Sequence[str] | None,
    measure: str,
    over: tuple[float, float] | Belief | None,
    *,
    truth: IntoExpr,
    score: Score,
    case: str | None,
    weight: IntoExpr | None,
    positive: Label | Sequence[Label] | None,
    nulls: Nulls,
    score_prior: Prior = "observed",
) -> Measured:
    """The measures of predictions, on folds or on one test set."""
    if over is None:
        raise InvalidArgument(
            "predictions are given without a range of priors.",
            hint=Hint(
                "give {over}, a belief, or one prior twice.",
                command_line="give {over}, or one prior twice.",
                over=(0.05, 0.20),
            ),
        )
    refuse_empty(table)
    if case is not None:
        check_columns(table.lazy(), [case])
    wide = bool(score_columns(score))
    taken = [name for name in (truth, *_scores(score), weight, case) if isinstance(name, str)]
    between, *blocks = keys_of(table, _with_model(by) if wide else by, taken, on_cases=True)
    check_has_models(table.columns, between, score)
    if all(name in table.columns for name in blocks) and table.select(blocks).n_unique() < 2:
        blocks = []
    keys = blocks if wide else [between, *blocks]
    once = not blocks and weight is None
    left_out = None
    if wide and case is None and once:
        numbered, case = with_row_cases(table)
        table = numbered.lazy().collect()
    if once and nulls == "drop":
        table, left_out = common_cases(table, truth=truth, score=score, between=between, case=case)
        # Of what is left nothing is missing where cases can be told apart.
        nulls = "raise" if wide or case is not None else nulls
    measures = evaluate(
        keyed(
            table, by=keys, truth=truth, score=score, weight=weight, positive=positive,
            nulls=nulls, score_prior=score_prior,
        ),
        intervals="wald" if once else None, **options_of(over, measure),
    )  # fmt: skip
    ratio = certainty = None
    if blocks and case is not None:
        ratio = ratio_of(table, keys, case)
    if weight is not None and not blocks:
        certainty = WEIGHTED
    if case is not None and once and nulls == "raise":
        certainty = paired(table, over, between, case, truth, score, positive, measure, score_prior)
    return Measured(measures, between, blocks, certainty, ratio, left_out)


def paired(
    predictions: pl.DataFrame,
    over: tuple[float, float] | Belief,
    between: str,
    case: str,
    truth: IntoExpr,
    score: Score,
    positive: Label | Sequence[Label] | None,
    measure: str = "auprec",
    score_prior: Prior = "observed",
) -> Certainty:
    """What the cases of one test set say of a measure over a range of priors, or at one."""
    at, mean = one_prior(over), mean_name(measure)
    if at is not None:
        chosen = select_measures(measure, [at], None, "exact", score_prior=score_prior)
    elif mean is not None:
        chosen = select_measures(mean, "observed", over, "exact", score_prior=score_prior)
    else:
        return Certainty(
            None,
            f"Nothing says how sure this is: of the {label(measure)} averaged over priors it is "
            "known at a single prior, or from several folds.",
        )
    (selected,) = chosen.measures
    if not (selected.gradient_terms or selected.case_loss):
        return Certainty(
            None,
            f"Nothing says how sure this is: the cases of one test set do not tell by how much the "
            f"{label(measure)} varies, several folds do.",
        )
    return of_cases(
        predictions, selected, between, case, truth=truth, score=score, positive=positive
    )


def options_of(
    over: tuple[float, float] | Belief, measure: str = "auprec", grid: Sequence[float] | None = None
) -> dict[str, Any]:
    """The arguments of `evaluate` that give what a choice needs."""
    at = one_prior(over)
    if at is not None:
        return {"priors": [at], "measures": sorted({measure, "auc"})}
    mean = mean_name(measure)
    measures = ["auc", measure, *([] if mean is None else [mean])]
    if isinstance(over, Belief):
        return {"over": over, "priors": over.priors, "measures": measures}
    priors = prior_grid(*over, GRID)["prior"].to_list() if grid is None else list(grid)
    return {"over": over, "priors": priors, "measures": [*measures, "sens"]}


def one_prior(over: object) -> float | None:
    """The prior of a range of one point."""
    return over[0] if isinstance(over, tuple) and over[0] == over[1] else None


def _scores(score: Score) -> list[object]:
    return [*score_columns(score).values()] or [score]


def _with_model(by: Sequence[str] | None) -> list[str] | None:
    return by if by is None else [MODEL, *(name for name in by if name != MODEL)]
