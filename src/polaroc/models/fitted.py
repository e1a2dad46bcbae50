"""Fitted models on one test set: the evidence on a measure."""

from dataclasses import dataclass

import polars as pl

from polaroc.base.text import noted_by_kind
from polaroc.errors import InvalidArgument, InvalidPredictions, check_choice, quoted
from polaroc.evaluation.evaluate import evaluate
from polaroc.inference.evidence import FEWEST_CLUSTERS, Evidence
from polaroc.inference.scored_cases import (
    ComparedCases,
    read_cases,
)
from polaroc.inference.test_sets import evidence_from_cases
from polaroc.measures.catalog import CATALOG, default_measures, label, select_measures
from polaroc.measures.scoring import CASE_LOSSES, case_loss
from polaroc.measures.spec import Measure
from polaroc.measures.table import humanize_note
from polaroc.models.measure_rows import below_chance
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Over
from polaroc.typing import Prior, Priors


@dataclass(frozen=True, eq=False)
class Fitted:
    """A measure of models on the cases of one test set."""

    cases: ComparedCases
    name: str
    evidence: Evidence
    doubts: tuple[str, ...]  # rows that are alike, notes on the models, AUCs below chance
    measure: Measure

    @property
    def models(self) -> pl.Series:
        """The models, in the order of the evidence."""
        name = self.cases.model
        return pl.Series(name, self.evidence.models, self.cases.kind)


def fitted(
    cases: Cases[pl.DataFrame],
    name: str,
    prior: Prior,
    over: Over | None,
    measured: pl.DataFrame | None = None,
) -> Fitted:
    """The evidence of cases on one measure; `measured` where it and the AUC are known."""
    measure = single_measure(name, prior, over, cases.score_prior)
    read = read_cases(cases)
    if measured is None:
        measured = evaluate(
            cases, measure=sorted({name, "auc"}), priors=prior, over=over,
            score_prior=cases.score_prior,
        )  # fmt: skip
    estimates = measured.filter(measure=name)
    lacking = estimates.filter(
        pl.col("estimate").is_null(), pl.col("positives") > 0, pl.col("negatives") > 0
    )
    if lacking.height:
        first, note = lacking.select(read.model, "note").row(0)
        raise InvalidPredictions(
            f"the {label(name)} of {first!r} is null: {note}.",
            hint="leave the model out, or take another measure.",
        )
    noted = estimates.drop_nulls("note").select(read.model, humanize_note(pl.col("note")))
    doubts = (*noted_by_kind(noted.rows()), *below_chance(measured, name))
    evidence = evidence_from_cases(read.scored, [measure], unseen=case_loss(measure) is not None)
    return Fitted(read, name, evidence, doubts, measure)


def single_measure(
    name: str, prior: Prior, over: Over | None, score_prior: Prior = "observed"
) -> Measure:
    """The one measure that is compared; raise where there is none or more."""
    allowed = (*default_measures(), *CASE_LOSSES)
    if isinstance(name, str) and name in CATALOG and name not in allowed:
        raise InvalidArgument(
            f"measure is {name!r}, which has no standard error on one test set.",
            hint=("compare it over several folds, with test_train_ratio=0.25, or take one of "
                      f"{quoted(allowed)}."),
        )  # fmt: skip
    check_choice("measure", name, allowed)
    priors: Priors = [prior] if isinstance(prior, str | float | int) else prior
    selected = select_measures(name, priors, over, "exact", score_prior=score_prior)
    if len(selected) != 1:
        raise InvalidArgument(
            f"prior is {prior!r}, allowed is one prior.", hint="test one prior at a time."
        )
    return selected[0]


def too_few_cases() -> InvalidPredictions:
    """The error of fitted models whose difference has no variance."""
    return InvalidPredictions(
        "there are too few cases or clusters of a class to compare the models by.",
        hint=f"every class needs two cases or more, or {FEWEST_CLUSTERS} clusters; of weighted "
        "ones their effective number counts, which is small where few have most of the weight.",
    )
