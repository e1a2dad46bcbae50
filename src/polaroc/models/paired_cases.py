"""Cases that all models scored, and measures of fitted models on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from polaroc.base.columns import HAVE, SIZE, join_by_key
from polaroc.base.text import MAX_NAMED, listed_rows
from polaroc.errors import InvalidArgument, InvalidPredictions, check_choice, quoted
from polaroc.inference.test_sets import ScoredCases
from polaroc.inference.variances import cluster_numbers
from polaroc.measures.catalog import CATALOG, select_measures
from polaroc.measures.scoring import CASE_LOSSES
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Over
from polaroc.typing import Array, Prior

# What all models have in common of a case.
COMMON_COLUMNS = ("truth", "cluster", "weight", "count")
MODELS = pl.col("model").n_unique()


def single_measure(
    name: str, prior: Prior, over: Over | None, score_prior: Prior = "observed"
) -> Measure:
    """The one measure that is compared; raise where there is none or more."""
    allowed = (*(name for name, one in CATALOG.items() if one.by_default), *CASE_LOSSES)
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


def limits_by_model(measures: pl.DataFrame, cases: ScoredCases) -> tuple[Array, Array]:
    """The lower and the upper limits of a measure of the models of cases, NaN without."""
    limits = join_by_key(
        pl.DataFrame({"model": cases.models}),
        measures.select("model", pl.col("lower", "upper").fill_null(np.nan)), ["model"],
    )  # fmt: skip
    return limits["lower"].to_numpy(), limits["upper"].to_numpy()


def common_cases(cases: Cases[pl.DataFrame]) -> tuple[Cases[pl.DataFrame], list[str]]:
    """The cases that all models of a test set scored, and a warning about the others.

    Each fold is a test set. Without a `case` all rows that can be ranked are kept.
    """
    rows, ids = cases.rows, [*cases.fold, "case"]
    is_scored = pl.col("error").is_null() if "error" in rows.columns else pl.lit(True)
    kept = rows.filter(is_scored).drop("error", strict=False)
    usable = replace(cases, rows=kept, nulls="raise", errors=())
    if cases.case is None:
        dropped = rows.height - kept.height
        left_out = (
            f"{dropped:,} rows were left out: their score, truth, count or weight is null or NaN."
        )
        return usable, [left_out] if dropped else []
    models, number = rows["model"].n_unique(), rows.select(ids).n_unique()
    whole = kept.group_by(ids).agg(MODELS).filter(model=models)
    left = number - whole.height
    if not left:
        return usable, []
    scored = pl.struct(ids).filter(is_scored).n_unique().cast(pl.Int64)
    lacking = rows.group_by("model").agg(missing=number - scored).filter(pl.col("missing") > 0)
    listed = listed_rows(lacking.sort("model"), MAX_NAMED)
    if whole.is_empty():
        raise InvalidPredictions(
            f"no case is left that all models scored ({listed}).",
            hint="leave out a model without scores; if 'case' numbers rows, say case=None.",
        )
    return replace(usable, rows=join_by_key(kept, whole, ids, "semi")), [
        f"{left:,} of {number:,} cases {'was' if left == 1 else 'were'} left out of all "
        f"models, which are compared on the same {number - left:,} ({listed})."
    ]


def aligned_rows(cases: Cases[pl.DataFrame]) -> list[pl.DataFrame]:
    """The rows of each model, in one order of cases; raise where models did not score the same."""
    ids = [*cases.fold, "case"]
    shared = [*ids, *(name for name in COMMON_COLUMNS if name in cases.rows.columns)]
    models = cases.rows["model"].unique().sort(nulls_last=True)
    # Ten times as fast as a partition of the rows.
    by_model = [cases.rows.filter(pl.col("model").eq_missing(pl.lit(model))) for model in models]

    def are_aligned() -> bool:
        first, *others = (rows.select(shared) for rows in by_model)
        is_known = not first["case"].null_count() and first.select(ids).n_unique() == first.height
        return is_known and all(map(first.equals, others))

    if not are_aligned():
        by_model = [rows.sort(ids) for rows in by_model]
        if not are_aligned():
            _refuse_unpaired(cases)
    return by_model


def _refuse_unpaired(cases: Cases[pl.DataFrame]) -> None:
    """Raise for cases that not every model of their test set scored once, with the first of them.

    On folds no models need to have cases in common: then `case` may number rows.
    """
    rows, ids = cases.rows, [*cases.fold, "case"]
    shared = [name for name in COMMON_COLUMNS if name in rows.columns]
    by_case = rows.group_by(ids).agg(
        pl.len().alias(SIZE),
        MODELS.alias(HAVE),
        *((pl.col(name).min() != pl.col(name).max()).alias(name) for name in shared),
    )
    are_shared = bool((by_case[HAVE] > 1).any())
    models = rows.group_by(cases.fold).agg(MODELS) if cases.fold else rows.select(MODELS)
    by_case = join_by_key(by_case, models, cases.fold, "inner")
    lacks_one = (pl.col(HAVE) < pl.col("model")) & (are_shared or not cases.fold)
    checks: list[tuple[pl.Expr, str, str]] = [
        (pl.col("case").is_null(), "are null", "fill in their column."),
        (
            pl.col(SIZE) > pl.col(HAVE), "are there twice for a model",
            "where folds were made several times, name both columns: fold=['repeat', 'fold']; else "
            "keep one row per case and model, and number the cases of all folds throughout; rows "
            "of one patient or the like are cluster=, not case=.",
        ),
        (
            lacks_one, "lack a score by some model",
            "nulls='drop' compares the models on the cases that all of them scored." if are_shared
            else "no case is scored by two models: name the column that tells which rows are the "
            "same case, case='id'.",
        ),
        *(
            (pl.col(name), f"have a {name} that differs by model", "are tables joined wrongly?")
            for name in shared
        ),
    ]  # fmt: skip
    for condition, problem, hint in checks:
        wrong = by_case.filter(condition).select(ids).sort(ids)
        if wrong.height:
            first = listed_rows(wrong, 3)
            raise InvalidPredictions(f"{wrong.height} cases {problem}: {first}.", hint=hint)
