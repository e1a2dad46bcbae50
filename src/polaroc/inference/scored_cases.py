"""Cases of one test set that models scored: read, checked and put side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import parts_by_key
from polaroc.base.private_columns import CLUSTER, PLACE, SIZE, TRUTH, WEIGHT
from polaroc.base.statistics import equal_units
from polaroc.base.text import MAX_NAMED, listed_rows
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted
from polaroc.inference.variances import cluster_numbers
from polaroc.predictions.cases import Cases
from polaroc.predictions.row_checks import (
    NAN_SCORE,
    NULL_SCORE,
    SCORE,
    check_clusters,
)
from polaroc.predictions.table import each_case, read
from polaroc.typing import Array

FEW = 3
# Cases of a model up to which counts are written out as rows.
MAX_CASES = 100_000_000
TWO_SCORES = ["p_logreg", "p_forest"]


@dataclass(frozen=True, eq=False)
class ScoredCases:
    """The cases of one test set, scored by several models; one array per model in each list."""

    models: list[object]  # sorted
    scores: list["Array"]
    truths: list["Array"]
    clusters: list["Array"] | None  # numbers from 0 on, where there are any
    paired: bool  # whether all models have the same cases in the same order
    weights: list["Array"] | None = None  # sampling weights, where there are any

    @property
    def size(self) -> int:
        """How many cases there are."""
        sizes = [score.size for score in self.scores]
        return sizes[0] if self.paired else sum(sizes)

    @property
    def by_model(self) -> "Iterator[tuple[Array, Array, Array | None]]":
        """The scores, labels and weights of each model."""
        weights: Sequence[Array | None] = self.weights or [None] * len(self.scores)
        return zip(self.scores, self.truths, weights, strict=True)

    @property
    def class_counts(self) -> tuple[int, int]:
        """How many positives and negatives a model has, of weighted ones as many equal ones.

        Of models with test sets of their own the fewest.
        """
        counts = []
        for _, truth, weight in self.by_model:
            positives = int(np.count_nonzero(truth))
            counts.append((positives, truth.size - positives))
            if weight is not None:
                counts[-1] = (equal_units(weight[truth]), equal_units(weight[~truth]))
            if self.paired:
                break
        positives, negatives = (min(own) for own in zip(*counts, strict=True))
        return positives, negatives

    @property
    def share_clusters(self) -> bool:
        """Whether two cases of a model are in one cluster: clusters of one case each are cases."""
        return any(np.bincount(own).max(initial=0) > 1 for own in self.clusters or [])

    @property
    def unequal_weights(self) -> "list[Array] | None":
        """The weights, None where those of a class are equal, and so do not change variances."""
        of_classes = (
            weight[own]
            for _, truth, weight in self.by_model
            for own in (truth, ~truth)
            if weight is not None
        )
        equal = all(own.size == 0 or own.min() == own.max() for own in of_classes)
        return None if equal else self.weights

    def of(self, places: Sequence[int]) -> "ScoredCases":
        """The same of some of the models."""
        names = ("models", "scores", "truths", "clusters", "weights")
        lists: dict[str, Any] = {name: getattr(self, name) for name in names}
        kept: dict[str, Any] = {
            name: own and [own[place] for place in places] for name, own in lists.items()
        }
        return replace(self, **kept)

    def same_ranking(self) -> bool:
        """Whether the models put the same cases in the same order, with the same ties."""
        if not self.paired:
            return False
        first, *others = (np.unique(score, return_inverse=True)[1] for score in self.scores)
        return all((first == other).all() for other in others)


@dataclass(frozen=True, eq=False)
class ComparedCases:
    """The test set on which models are compared, and the names of the columns."""

    scored: ScoredCases
    kind: pl.DataType  # of the column of the models
    model: str
    case: str | None


def read_cases(cases: Cases[Any], *, unpaired: bool = False) -> ComparedCases:
    """Cases of one test set, read once; raise where models did not score the same ones.

    In a wide table each row is a case where no column tells them apart. Models that are `unpaired`
    are read as if each had a test set of its own.
    """
    model, case = model_column(cases), cases.case
    if case is None and not unpaired:
        raise InvalidArgument(
            "nothing tells which rows are the same case, by which models are compared.",
            hint="name its column, case='id'.",
        )
    also = [] if case is None else [case]
    # A fold has one value here.
    cases = replace(cases, fold=())
    predictions = read(cases, also=also, collected=True, clustered=cases.cluster is not None)
    rows = predictions.valid_rows.collect()
    if predictions.weighted:
        rows = rows.filter(pl.col(WEIGHT) > 0)
    if rows[model].n_unique() < 2:
        raise InvalidArgument(
            f"{model!r} has {rows[model].n_unique()} value(s), a comparison needs two.",
            hint="is this the column that tells the models apart?",
        )
    if cases.cluster is not None:
        check_clusters(rows[CLUSTER].null_count())
    scored = _scored(rows, model, case, sampled=predictions.sampled)
    return ComparedCases(scored, rows.schema[model], model, case)


def scored_by_key(
    cases: Cases[Any], keys: Sequence[str], *, units: bool = False
) -> dict[tuple[Any, ...], ScoredCases]:
    """The cases of each key, as those of one model.

    A cluster has one number in all keys. With `units` each case
    is a cluster where none is named.
    """
    own, alone = cases, False
    if units and cases.cluster is None and cases.case is not None:
        rows = cases.rows.with_columns(cluster=pl.col("case"))
        own, alone = replace(cases, rows=rows, cluster="cluster"), True
    predictions = read(own, clustered=own.cluster is not None)
    rows = predictions.cases.collect()
    if own.cluster is not None:
        if alone and predictions.weighted and not predictions.sampled:
            # A row that counts several stands for as many cases.
            copy = pl.int_range(pl.len()).over(*keys, CLUSTER)
            rows = rows.with_columns(pl.struct(CLUSTER, copy.alias(PLACE)).alias(CLUSTER))
        rows = rows.with_columns(pl.Series(CLUSTER, cluster_numbers(rows[CLUSTER])))
    return {
        key: ScoredCases(
            [None], [one[SCORE].cast(pl.Float64).to_numpy()], [one[TRUTH].to_numpy()],
            [one[CLUSTER].to_numpy()] if CLUSTER in one.columns else None, True,
            [one[WEIGHT].to_numpy()] if WEIGHT in one.columns else None,
        )
        for key, one in parts_by_key(rows, keys).items()
    }  # fmt: skip


def _scored(rows: pl.DataFrame, model: str, case: str | None, *, sampled: bool) -> ScoredCases:
    """The cases of a test set; raise where models did not score the same ones."""
    parts = rows.partition_by(model, maintain_order=True)
    models = pl.concat([part.select(model).head(1) for part in parts])
    order = models.with_row_index(PLACE).sort(model, nulls_last=True)
    parts = [parts[place] for place in order[PLACE]]
    if case is not None:
        aligned = _aligned(parts, case)
        if aligned is None:
            _refuse_unpaired(rows, model, case)
        parts = aligned or parts
    if WEIGHT in rows.columns and not sampled:
        parts = [_written_out(part) for part in parts]
    clusters = None
    if CLUSTER in rows.columns:
        # Models that have the same cases have the same clusters.
        own = [cluster_numbers(part[CLUSTER]) for part in (parts if case is None else parts[:1])]
        clusters = own if case is None else own * len(parts)
    return ScoredCases(
        [part[model][0] for part in parts],
        [part[SCORE].to_numpy() for part in parts],
        [part[TRUTH].to_numpy() for part in parts],
        clusters,
        case is not None,
        [part[WEIGHT].to_numpy() for part in parts] if sampled else None,
    )


def _written_out(counted: pl.DataFrame) -> pl.DataFrame:
    """A row for each case, of rows that count several."""
    total = int(counted[WEIGHT].sum())
    if total > MAX_CASES:
        raise InvalidPredictions(
            f"the counts of a model sum to {total:,} cases, and models are compared "
            f"case by case, of at most {MAX_CASES:,}.",
            hint="evaluate(intervals=True) takes any counts; or compare a sample of the cases.",
        )
    return each_case(counted.lazy()).collect()


def _aligned(parts: list[pl.DataFrame], case: str) -> list[pl.DataFrame] | None:
    """The rows of all models in one order of cases; None where they differ in more than that."""
    shared = [name for name in (case, TRUTH, CLUSTER, WEIGHT) if name in parts[0].columns]

    def are_alike(parts: list[pl.DataFrame]) -> bool:
        first, *others = (part.select(shared) for part in parts)
        return all(map(first.equals, others))

    if parts[0][case].null_count() or parts[0][case].n_unique() < parts[0].height:
        return None
    if are_alike(parts):
        return parts
    parts = [part.sort(case) for part in parts]
    return parts if are_alike(parts) else None


def model_column(cases: Cases[Any]) -> str:
    """The name of the column that tells the models apart; raise where there is none."""
    if cases.model is not None:
        return cases.model
    names = cases.source.lazy().collect_schema().names()
    if cases.truth is None:
        raise InvalidArgument(
            f"nothing tells the models apart; the table has {quoted(names)}.",
            hint="rename the column that does to 'model'.",
        )
    raise InvalidArgument(
        "nothing tells the models apart, and there is one column of scores: a comparison "
        f"needs two models or more; the table has {quoted(names)}.",
        hint=f"give one column of scores per model, score={TWO_SCORES}, or with a row per model "
        "and case the column that tells the models apart, model='model'.",
    )


def common_cases_of(
    cases: Cases[pl.DataFrame], model: str
) -> tuple[Cases[pl.DataFrame], str | None]:
    """The cases that all models of a test set scored, and a sentence on the others.

    Each fold is a test set. A score is missing if it is null or NaN, or if a model has no row of
    the case. Without `case` rows of one column of scores cannot be paired, and all are kept.
    """
    table, case = cases.rows, cases.case
    if case is None:
        return cases, None
    if "error" not in table:
        table = table.with_columns(error=pl.lit(None, pl.UInt8))
    unscored = table["error"].is_in([NULL_SCORE, NAN_SCORE]).fill_null(False)
    unlabelled = table["error"].is_not_null() & ~unscored
    ids = [*cases.fold, case]
    lacking = _lacking(table, unscored, model, ids)
    by_model = [*lacking.group_by(model).agg(pl.len()).sort(model).iter_rows()]
    out = pl.concat([lacking.select(ids), table.filter(unlabelled).select(ids)]).unique()
    kept = table.join(out, on=ids, how="anti", nulls_equal=True, maintain_order="left").drop(
        "error"
    )
    number, left = table.select(ids).n_unique(), out.height
    if not left:
        return replace(cases, rows=kept, nulls="raise", errors=()), None
    by_model = [(name, count) for name, count in by_model if count]
    names = ", ".join(f"{count:,} of {quoted([name])}" for name, count in by_model[:MAX_NAMED])
    if len(by_model) > MAX_NAMED:
        names += f" and some of {len(by_model) - MAX_NAMED} more"
    why = f"scores are missing: {names}" if by_model else "their truth, count or weight is missing"
    if kept.is_empty():
        raise InvalidPredictions(
            f"no case is left that all models scored: {why}.",
            hint="leave out a model without scores, or fill them in.",
        )
    said = (
        f"{left:,} of {number:,} cases {'was' if left == 1 else 'were'} left out of all models, "
        f"which are compared on the same {number - left:,}: {why}."
    )
    return replace(cases, rows=kept, nulls="raise", errors=()), said


def _lacking(
    table: pl.DataFrame, unscored: pl.Series, model: str, ids: Sequence[str]
) -> pl.DataFrame:
    """The model and the `ids` of each score that is missing."""
    key = [model, *ids]
    known = table.drop_nulls("case")
    if not share_cases(known, ids, model):
        return table.filter(unscored).select(key)
    cells = known.select(ids).unique().join(known.select(model).unique(), how="cross")
    return cells.select(key).join(
        table.filter(~unscored).select(key), on=key, how="anti", nulls_equal=True
    )


def share_cases(rows: pl.DataFrame, ids: Sequence[str], model: str) -> bool:
    """Whether any two models have a case in common; if not, `ids` may be numbers of rows."""
    return rows.select(*ids, model).unique().height > rows.select(ids).unique().height


def _refuse_unpaired(rows: pl.DataFrame, model: str, case: str) -> None:
    """Raise on cases that models do not have in common, with the first of them."""
    if rows[case].null_count():
        raise InvalidPredictions(
            f"{rows[case].null_count()} rows have no case.", hint=f"fill in the column {case!r}."
        )
    refuse_twice(rows.select(case, model), [case, model])
    refuse_lacking(rows, [], model, case)
    roles = {TRUTH: "truth", CLUSTER: "cluster", WEIGHT: "count or weight"}
    kinds = {name: pl.col(name).n_unique() for name in roles if name in rows.columns}
    counts = rows.group_by(case).agg(**kinds)
    for name in kinds:
        _refuse(counts.filter(pl.col(name) > 1), [case],
                f"cases have a {roles[name]} that differs by model",
                f"one case has one {roles[name]}: check how the tables were joined.")  # fmt: skip


def refuse_lacking(rows: pl.DataFrame, blocks: Sequence[str], model: str, case: str) -> None:
    """Refuse cases that some models of their test set did not score."""
    key, models = [*blocks, case], pl.col(model).n_unique().alias("models")
    counts = rows.group_by(key).agg(models.alias("found"))
    wanted = rows.group_by(blocks).agg(models) if blocks else rows.select(models)
    counts = (
        counts.join(wanted, on=blocks, nulls_equal=True)
        if blocks
        else counts.join(wanted, how="cross")
    )
    hint = "compare the models on the cases that all of them scored, nulls='drop'."
    if not share_cases(rows, key, model):
        hint = (
            "no case is scored by two models: name the column that tells which rows are the same "
            "case, case='id'."
        )
    few = counts.filter(pl.col("found") < pl.col("models"))
    _refuse(few, key, "cases lack a score by some model", hint)


def refuse_twice(rows: pl.DataFrame, key: Sequence[str]) -> None:
    """Refuse cases that a model has twice on one test set; the key tells rows apart."""
    case = key[-2] if len(key) > 1 else key[0]
    twice = rows.group_by(key).agg(pl.len().alias(SIZE)).filter(pl.col(SIZE) > 1)
    _refuse(twice, key, "cases are there twice for a model",
            "keep one row per case and model, or say that no column tells cases apart, case=None. "
            "Number the cases of several folds throughout. Where several rows belong to one "
            f"patient, customer or the like, name these as cluster={case!r}, and what tells the "
            "rows apart as case='row'.",
            )  # fmt: skip


def _refuse(cases: pl.DataFrame, key: Sequence[str], what: str, hint: str) -> None:
    if cases.is_empty():
        return
    named = listed_rows(cases.select(key).sort(key), FEW)
    raise InvalidPredictions(f"{cases.height} {what}: {named}.", hint=hint)
