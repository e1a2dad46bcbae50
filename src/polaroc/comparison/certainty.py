"""How far the models' means may be off: their covariance, over folds or of one test set."""

from math import inf

import polars as pl

from polaroc.base.lazy import np
from polaroc.comparison.choice_measures import one_prior
from polaroc.comparison.paired_cases import NO_VARIANCE, Block, PairedCases, blocks_of, read_cases
from polaroc.measures.catalog import label, mean_name, select_measures
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.beliefs import Belief
from polaroc.uncertainty.evidence import FITTED, Evidence

# Test sets as large as training sets: the most that is usual.
MAX_RATIO = 1.0


def unknown(why: str) -> Evidence:
    nan = np.full((1, 1), np.nan)
    return Evidence([], nan, nan[None], inf, FITTED, (why,))


WEIGHTED = unknown(
    "Nothing says how sure this is: that of one test set is not known for weighted cases."
)


def of_test_set(
    cases: Cases[pl.DataFrame], measure: str, over: tuple[float, float] | Belief | None
) -> Evidence | None:
    """Of fitted models on one test set, paired by case: a measure over a range, or at one prior.

    None where no column tells the cases apart.
    """
    if cases.weight is not None:
        return WEIGHTED
    if cases.case is None:
        return None
    at, mean = one_prior(over), mean_name(measure)
    if at is None and mean is None:
        return unknown(
            f"Nothing says how sure this is: of the {label(measure)} averaged over priors it is "
            "known at a single prior, or from several folds.",
        )
    chosen = (
        select_measures(mean, "observed", over, "exact", score_prior=cases.score_prior)
        if at is None
        else select_measures(measure, [at], None, "exact", score_prior=cases.score_prior)
    )
    (one,) = chosen.measures
    if not (one.gradient_terms or one.case_loss):
        return unknown(
            f"Nothing says how sure this is: the cases of one test set do not tell by how much the "
            f"{label(measure)} varies, several folds do.",
        )
    paired = read_cases(cases)
    return of_block(paired, next(blocks_of(paired, one)))


def of_block(cases: PairedCases, block: Block) -> Evidence:
    """Of fitted models on one test set, from the influence of its cases."""
    covariance = block.covariance()
    if np.isnan(covariance).any():
        return unknown("Nothing says how sure this is: a class has fewer than two cases.")
    if covariance.diagonal().max() < NO_VARIANCE:
        scores = cases.rows.group_by(cases.model).agg(pl.col(SCORE).n_unique())[SCORE]
        if scores.max() == 1:
            return unknown(
                "Nothing says how sure this is: each model gives all cases the same score, which "
                "does not tell the classes apart.",
            )
        return unknown(
            "Nothing says how sure this is: the models separate the classes perfectly, so that "
            "these cases do not tell how much others would change that.",
        )
    number = cases.rows.height // len(block.models)
    return Evidence(
        block.models,
        block.estimates[None],
        covariance[None],
        inf,
        f"{FITTED}, which must be independent",
    )
