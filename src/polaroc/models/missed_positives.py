"""The uncertainty that positives add to a difference of areas over folds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.statistics import equal_units
from polaroc.measures.spec import Measure
from polaroc.models.compared import Compared
from polaroc.uncertainty.influence import of_cases
from polaroc.uncertainty.scored_cases import ScoredCases, scored_by_key
from polaroc.uncertainty.small_samples import bias_on_folds
from polaroc.uncertainty.unseen_positive import Positives, equal_positives


def positives_and_bias(
    given: Compared,
    challenger: object,
    lead: float,
    ratio: float | None,
    measure: Callable[[], Measure],
    level: float,
) -> tuple[Positives | None, float]:
    """The positives of all folds for an area of challenger minus champion, and its bias.

    Each is taken once, by its mean over the folds that test it. Where nothing tells which rows are
    the same case, only the number of positives says something, as if none of them moved the
    difference; where nothing tells that either, as sums of weights do not, there is None. `lead` is
    the difference of their mean areas, `ratio` that of test to training cases. Measures do not tell
    the bias of few negatives: it is 0.
    """
    bias = 0.0
    if given.are_measures:
        table = given.table
        if not table.schema.get("positives", pl.String()).is_integer():
            return None, bias
        own = table.filter(pl.col("positives") > 0).group_by(given.keys)
        counts = own.agg(pl.col("positives").first())["positives"]
        total, keys = float(counts.sum()), len(counts)
    else:
        scored = scored_by_key(given.cases, given.keys, units=True)
        bias = bias_on_folds(scored, challenger, measure())
        if next(iter(scored.values())).clusters is not None:
            return _of_units(scored, challenger, lead, measure(), level), bias
        weights = [
            (np.ones(truth.size) if weight is None else weight)[truth]
            for one in scored.values() for _, truth, weight in one.by_model
        ]  # fmt: skip
        total, keys = equal_units(np.concatenate(weights)), len(scored)
    if ratio is None or not total:
        return None, bias
    # All cases that a fold does not test are trained on; folds that share nothing add up.
    found = total / 2 if ratio == 0 else total / keys * (1 + 1 / ratio)
    return Positives.of(np.zeros(0), found, found, lead), bias


def _of_units(
    scored: dict[tuple[Any, ...], ScoredCases],
    challenger: object,
    lead: float,
    measure: Measure,
    level: float,
) -> Positives:
    """From the scores of each model and fold, whose clusters have one number in all."""
    numbers = [own.clusters[0][own.truths[0]] for own in scored.values() if own.clusters]
    units = 1 + max(int(own.max(initial=0)) for own in numbers)
    apart, weights = np.zeros(units), np.zeros(units)
    for (model, *_), own, number in zip(scored, scored.values(), numbers, strict=True):
        score, truth, weight = next(own.by_model)
        influence = of_cases(score, truth, [measure], weight)
        weight = np.ones(len(number)) if weight is None else weight[truth]
        placed = influence.estimates[0] + influence.positives[0]
        sign = 1 if model == challenger else -1
        apart += sign * np.bincount(number, weight * placed, units)
        weights += np.bincount(number, weight, units) / 2
    apart, weights = apart[weights > 0], weights[weights > 0]
    part = (apart - weights * (apart.sum() / weights.sum())) / weights.sum()
    return Positives.of(part, len(part), equal_positives(weights, level), lead)
