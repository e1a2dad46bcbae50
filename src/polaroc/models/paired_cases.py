"""Fitted models on the cases of one test set: the evidence on a measure, paired by case."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polaroc.base.text import noted_by_kind
from polaroc.errors import InvalidArgument, InvalidPredictions, check_choice, quoted
from polaroc.inference.evidence import Evidence
from polaroc.inference.scored_cases import ScoredCases
from polaroc.inference.test_sets import evidence_from_cases
from polaroc.inference.variances import cluster_numbers
from polaroc.measures.catalog import CATALOG, default_measures, label, select_measures
from polaroc.measures.scoring import CASE_LOSSES, case_loss
from polaroc.measures.spec import Measure
from polaroc.measures.table import humanize_note
from polaroc.models.common_cases import aligned_rows
from polaroc.models.measure_rows import below_chance
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Over
from polaroc.typing import Array, Prior


@dataclass(frozen=True, eq=False)
class Fitted:
    """A measure of models on the cases of one test set."""

    cases: ScoredCases
    name: str
    evidence: Evidence
    doubts: tuple[str, ...]  # notes on the models, AUCs below chance
    estimates: pl.DataFrame  # the tidy measure of each model

    @property
    def limits(self) -> tuple[Array, Array]:
        """The limits of each model by itself, NaN where there are none."""
        return limits_of(self.estimates, pl.Series("model", self.cases.models))


def limits_of(measures: pl.DataFrame, models: pl.Series) -> tuple[Array, Array]:
    """The lower and the upper limits of a measure of these models, NaN where there are none."""
    if "lower" not in measures.columns:
        return np.full(len(models), np.nan), np.full(len(models), np.nan)
    found = models.to_frame().join(
        measures, on=["model"], how="left", nulls_equal=True, maintain_order="left"
    )
    lower, upper = (found[name].fill_null(np.nan).to_numpy() for name in ("lower", "upper"))
    return lower, upper


def fitted(
    cases: Cases[pl.DataFrame],
    name: str,
    prior: Prior,
    over: Over | None,
    measured: pl.DataFrame,
) -> Fitted:
    """The evidence of cases on one measure, of which they are `measured`, and on the AUC."""
    measure = single_measure(name, prior, over, cases.score_prior)
    scored = read_cases(cases)
    estimates = measured.filter(measure=name)
    lacking = estimates.filter(
        pl.col("estimate").is_null(), pl.col("positives") > 0, pl.col("negatives") > 0
    )
    if lacking.height:
        first, note = lacking.select("model", "note").row(0)
        raise InvalidPredictions(
            f"the {label(name)} of {first!r} is null: {note}.",
            hint="leave the model out, or take another measure.",
        )
    noted = estimates.drop_nulls("note").select("model", humanize_note(pl.col("note")))
    doubts = (*noted_by_kind(noted.rows()), *below_chance(measured, name))
    evidence = evidence_from_cases(scored, [measure], unseen=case_loss(measure) is not None)
    return Fitted(scored, name, evidence, doubts, estimates)


def single_measure(
    name: str, prior: Prior, over: Over | None, score_prior: Prior = "observed"
) -> Measure:
    """The one measure that is compared; raise where there is none or more."""
    allowed = (*default_measures(), *CASE_LOSSES)
    if name in CATALOG and name not in allowed:
        raise InvalidArgument(
            f"measure is {name!r}, which has no standard error on one test set.",
            hint="compare it over several folds, with test_train_ratio=0.25, or take one of "
            f"{quoted(allowed)}.",
        )
    check_choice("measure", name, allowed)
    (measure,) = select_measures(name, [prior], over, "exact", score_prior=score_prior)
    return measure


def read_cases(cases: Cases[pl.DataFrame]) -> ScoredCases:
    """The valid cases of one test set as arrays; raise where models did not score the same ones."""
    if cases.case is None:
        raise InvalidArgument(
            "nothing tells which rows are the same case, by which models are compared.",
            hint="name its column, case='id'.",
        )
    rows = cases.rows
    if cases.weight is not None:
        rows = rows.filter(pl.col("weight") > 0)
    models = rows["model"].unique().sort(nulls_last=True)
    if len(models) < 2:
        raise InvalidArgument(
            f"'model' has {len(models)} value(s), a comparison needs two.",
            hint="is this the column that tells the models apart?",
        )
    by_model = aligned_rows(replace(cases, rows=rows))
    first = by_model[0]
    # A row that counts several stands for as many cases.
    copies = 1 if cases.count is None else first["count"].cast(pl.Int64).to_numpy()
    return ScoredCases(
        models,
        [part["score"].to_numpy().repeat(copies) for part in by_model],
        first["truth"].to_numpy().repeat(copies),
        None if cases.cluster is None else cluster_numbers(first["cluster"]).repeat(copies),
        None if cases.weight is None else first["weight"].to_numpy(),
    )
