"""The valid predictions of what is compared, in columns of our own names."""

from dataclasses import replace
from typing import Any

import polars as pl

from polaroc.base.columns import collect_like, column_name
from polaroc.base.joins import join_on
from polaroc.base.private_columns import TRUTH, WEIGHT
from polaroc.comparison.compared import Compared, doubted
from polaroc.predictions.cases import Cases, with_clusters
from polaroc.predictions.resolved import keyed
from polaroc.predictions.row_checks import SCORE, left_out
from polaroc.predictions.table import read
from polaroc.typing import Frame


def ranked_rows(given: Compared) -> tuple[Compared, tuple[str, ...]]:
    """The valid predictions, a row per case and model, and remarks on the rows."""
    rows, invalid = valid_rows(given.cases, given)
    # Folds share cases by design.
    doubts = [] if given.folds else doubted(given.cases)
    invalid_rows = [left_out(invalid)] if invalid else []
    return replace(given, cases=rows), (*given.left_out, *doubts, *invalid_rows)


def valid_rows(cases: Cases[Any], like: Compared) -> tuple[Cases[pl.DataFrame], int]:
    """The valid rows in private columns, named as in `like`, and how many others there are."""
    case = None if cases.case is None else column_name(cases.case, "case")
    cases, clusters = with_clusters(cases)
    subgroups = [*cases.table.lazy().select(*cases.subgroup).collect_schema()]
    also = [*([] if case is None else [case]), *clusters, *cases.subgroup]
    predictions = read(cases, also=also, collected=True)
    names = {predictions.keys[0]: like.model}
    if case is not None and like.cases.case is not None:
        names[case] = case = column_name(like.cases.case, "case")
    rows = keyed(
        predictions.valid_rows.collect().rename(names),
        truth=TRUTH, score=SCORE, model=like.model, fold=like.folds, case=case,
        cluster=cases.cluster, subgroup=subgroups,
        count=None if cases.count is None else WEIGHT,
        weight=None if cases.weight is None else WEIGHT, score_prior=cases.score_prior,
        test_train_ratio=cases.test_train_ratio,
    )  # fmt: skip
    return rows, predictions.count_invalid()


def pooled(cases: Cases[pl.DataFrame]) -> Cases[pl.DataFrame]:
    """The cases, with the rows of all folds of a model together."""
    return replace(cases, fold=())


def of_keys(cases: Cases[pl.DataFrame], keys: pl.DataFrame) -> Cases[pl.DataFrame]:
    """The cases of some models or folds."""
    return replace(cases, table=within(cases.table, keys))


def within(rows: Frame, keys: pl.DataFrame) -> Frame:
    """The rows whose keys are among `keys`."""
    kept = join_on(rows.lazy(), keys.lazy(), keys.columns, "semi", order="left")
    return collect_like(rows, kept)
