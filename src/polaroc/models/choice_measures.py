"""The measures of predictions that a choice needs, and the evidence of one test set."""

from typing import Any

import numpy as np
import polars as pl

from polaroc.errors import InvalidArgument
from polaroc.evaluation.evaluate import evaluate
from polaroc.inference.evidence import Evidence, no_evidence
from polaroc.inference.influence import gradient_terms
from polaroc.inference.scored_cases import read_cases
from polaroc.inference.test_sets import evidence_from_cases
from polaroc.measures.catalog import label, mean_name, select_measures
from polaroc.measures.scoring import case_loss
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Belief, Over
from polaroc.priors.grids import prior_grid
from polaroc.typing import Array, Prior

GRID = 25
NEEDS_RANGE = "give over=(0.05, 0.20), a belief, or one prior twice."


def measures_of(cases: Cases[pl.DataFrame], over: Over | None, measure: str) -> pl.DataFrame:
    """The measures of predictions that a choice needs."""
    if over is None:
        raise InvalidArgument("predictions are given without a range of priors.", hint=NEEDS_RANGE)
    mean = mean_name(measure)
    measures = ["auc", measure, *([] if mean is None else [mean])]
    if (at := one_prior(over)) is not None:
        measures = sorted({measure, "auc"})
        return evaluate(cases, priors=[at], measure=measures, score_prior=cases.score_prior)
    if isinstance(over, Belief):
        return evaluate(
            cases, over=over, priors=over.priors, measure=measures, score_prior=cases.score_prior
        )
    priors = prior_grid(*over, GRID)["prior"].to_list()
    return evaluate(
        cases, over=over, priors=priors, measure=[*measures, "sens"], score_prior=cases.score_prior
    )


def ends_by_model(own: pl.DataFrame | None, models: pl.Series) -> "tuple[Array, Array] | None":
    """The lower and the upper limits of these models, NaN where there are none."""
    if own is None:
        return None
    found = models.to_frame().join(
        own, on=[models.name], how="left", nulls_equal=True, maintain_order="left"
    )
    lower, upper = (found[name].fill_null(np.nan).to_numpy() for name in ("lower", "upper"))
    return lower, upper


def needs_predictions() -> InvalidArgument:
    """The error of measures where the prior is an estimate."""
    return InvalidArgument(
        "over is an estimated prior, and there are no predictions: measures at one prior do not "
        "say what they are at others.",
        hint="give predictions, with truth and score, or a range of priors.",
    )


def one_prior(over: object) -> float | None:
    """The prior of a range of one point."""
    return over[0] if isinstance(over, tuple) and over[0] == over[1] else None


def of_one_test_set(
    cases: Cases[pl.DataFrame], measure: str, over: Over | None, level: float
) -> tuple[Evidence, pl.DataFrame | None]:
    """Evidence on fitted models on one test set: a measure over a range, or at one prior.

    Paired by case; where no column tells the cases apart, as if every model had a test set of its
    own. Where cases share clusters or differ in weight, also the limits of each model by itself,
    which hold with few clusters.
    """
    at, mean = one_prior(over), mean_name(measure)
    if at is None and mean is None:
        return no_evidence(
            f"for the {label(measure)} averaged over priors this is known at a single prior, or "
            "from several folds",
        ), None
    one = measure_over(measure, over, cases.score_prior)
    if not (gradient_terms(one) or case_loss(one)):
        return no_evidence(
            "the cases of one test set do not tell by how much the "
            f"{label(measure)} varies, several folds do",
        ), None
    scored = read_cases(cases, unpaired=cases.case is None).scored
    evidence = evidence_from_cases(scored, [one])
    if not scored.share_clusters and scored.unequal_weights is None:
        return evidence, None
    wanted: dict[str, Any] = {"measure": mean, "over": over}
    if at is not None:
        wanted = {"measure": measure, "priors": [at]}
    wanted["score_prior"] = cases.score_prior
    return evidence, evaluate(cases, **wanted, intervals=True, level=level)


def measure_over(measure: str, over: Over | None, score_prior: Prior) -> Measure:
    """The mean of a measure over a range or belief, or the measure at one prior."""
    at, mean = one_prior(over), mean_name(measure)
    name, place = (mean, over) if at is None else (measure, None)
    (one,) = select_measures(name, at or "observed", place, "exact", score_prior=score_prior)
    return one


def measured_once(measures: pl.DataFrame) -> Evidence:
    """The evidence of measures of one test set, of which nothing is known; refuse their errors."""
    needed = "predictions with case='id', the cases of the test set, or measures of several folds"
    if "std_error" in measures.columns and measures["std_error"].is_not_null().any():
        raise InvalidArgument(
            "each model was measured once, with a standard error, which does not tell how "
            "correlated the errors of models on one test set are.",
            hint=f"give {needed}; or drop the limits, for a choice that says nothing of how sure "
            "it is.",
        )
    return no_evidence(f"each model was measured once; give {needed}")
