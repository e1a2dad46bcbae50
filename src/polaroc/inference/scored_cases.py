"""The cases of one test set with the scores of models, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import PLACE, parts_by_key
from polaroc.base.statistics import equal_units
from polaroc.inference.variances import cluster_numbers
from polaroc.predictions.cases import Cases
from polaroc.predictions.table import each_counted
from polaroc.typing import Array


@dataclass(frozen=True, eq=False)
class ScoredCases:
    """The cases of one test set, which all models scored."""

    models: Sequence[object] | pl.Series  # sorted
    scores: list[Array]  # of each model
    truth: Array
    clusters: Array | None = None  # numbers from 0 on
    weights: Array | None = None  # sampling weights

    @property
    def class_counts(self) -> tuple[int, int]:
        """The numbers of positives and negatives, of weighted ones their effective numbers."""
        if self.weights is None:
            positives = int(np.count_nonzero(self.truth))
            return positives, self.truth.size - positives
        return equal_units(self.weights[self.truth]), equal_units(self.weights[~self.truth])

    @property
    def share_clusters(self) -> bool:
        """Whether two cases are in one cluster: clusters of one case each are cases."""
        return self.clusters is not None and np.bincount(self.clusters).max(initial=0) > 1

    @property
    def unequal_weights(self) -> Array | None:
        """The weights, None where those of a class are equal, and so do not change variances."""
        if self.weights is None:
            return None
        by_class = (self.weights[self.truth], self.weights[~self.truth])
        are_equal = all(own.size == 0 or own.min() == own.max() for own in by_class)
        return None if are_equal else self.weights

    def of(self, places: Sequence[int]) -> ScoredCases:
        """The same cases with the scores of some of the models."""
        return replace(
            self,
            models=[self.models[place] for place in places],
            scores=[self.scores[place] for place in places],
        )


def scored_by_key(cases: Cases[Any], keys: Sequence[str]) -> dict[tuple[Any, ...], ScoredCases]:
    """The cases of each key, as those of one model.

    A cluster has one number in all keys; where none is named, each case is one.
    """
    rows = each_counted(cases.collect()).rows
    if "error" in rows.columns:
        rows = rows.filter(pl.col("error").is_null())
    if cases.weight is not None:
        rows = rows.filter(pl.col("weight") > 0)
    if cases.cluster is None and cases.case is not None:
        unit: pl.Expr = pl.col("case")
        if cases.count is not None:
            # A row that counts several stands for as many cases.
            unit = pl.struct("case", pl.int_range(pl.len()).over(*keys, "case").alias(PLACE))
        rows = rows.with_columns(cluster=unit)
    if "cluster" in rows.columns:
        rows = rows.with_columns(cluster=pl.Series(cluster_numbers(rows["cluster"])))
    return {
        key: ScoredCases(
            [None],
            [own["score"].to_numpy()],
            own["truth"].to_numpy(),
            own["cluster"].to_numpy() if "cluster" in own.columns else None,
            own["weight"].to_numpy() if "weight" in own.columns else None,
        )
        for key, own in parts_by_key(rows, keys).items()
    }
