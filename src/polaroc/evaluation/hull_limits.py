"""Limits of what is left of the Brier score once scores are calibrated by the hull."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from polaroc.base.columns import INTERVAL
from polaroc.base.joins import as_key
from polaroc.evaluation.request import Request
from polaroc.measures.scoring import ON_THE_HULL, REFINEMENT_LOSS, REFINEMENT_LOSS_RANGE
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import resolve_belief
from polaroc.priors.grids import skew
from polaroc.typing import Array
from polaroc.uncertainty.least_costs import CostLimits, limits_of_least_cost
from polaroc.uncertainty.scored_cases import ScoredCases, scored_by_key

REFINED = (REFINEMENT_LOSS.name, REFINEMENT_LOSS_RANGE.name)


def with_hull_limits(
    measured: pl.LazyFrame, cases: Cases[pl.DataFrame], keys: Sequence[str], request: Request
) -> pl.LazyFrame:
    """Tidy measures of cases, of which those on the hull get limits where these are known."""
    asked = {measure.name for measure in request.selected.measures}
    if asked.isdisjoint(REFINED):
        return measured
    table, scored = measured.collect(), scored_by_key(cases, [*keys])
    found: list[tuple[float | str | None, ...]] = []
    for *key, measure, prior, note in table.select(*keys, "measure", "prior", "note").iter_rows():
        own = scored.get(as_key(key))
        if measure not in REFINED or own is None or ON_THE_HULL not in (note or ""):
            found.append((None, None, None, note))
            continue
        limits = _limits(own, prior if measure == REFINED[0] else None, request)
        others = [one for one in note.split("; ") if one != ON_THE_HULL]
        words = "; ".join([*others, *([] if limits.why is None else [limits.why])])
        found.append((*limits[:3], words or None))
    columns = [*INTERVAL, "note"]
    kinds = {name: pl.String if name == "note" else pl.Float64 for name in columns}
    limits_of_rows = pl.DataFrame(found, schema=kinds, orient="row")
    known = [limits_of_rows[name].fill_nan(None) for name in INTERVAL]
    return table.with_columns(
        limits_of_rows["note"],
        *(pl.coalesce(pl.Series(own), own.name).alias(own.name) for own in known),
    ).lazy()


def _limits(cases: ScoredCases, prior: float | None, request: Request) -> CostLimits:
    """Limits at a prior, or over the range or belief."""
    nodes = [(skew(prior), 1.0)] if prior is not None else _nodes(request)

    def losses(slopes: Array) -> tuple[Array, Array]:
        """The squared errors of calibrated probabilities in blocks of the hull."""
        of_pos, of_neg = np.zeros((2, len(slopes)))
        for skewed, weight in nodes:
            probability, own = 1 / (1 + skewed * slopes), 1 / (1 + skewed)
            of_pos += weight * own * (1 - probability) ** 2
            of_neg += weight * (1 - own) * probability**2
        return of_pos, of_neg

    return limits_of_least_cost(cases, losses, [skewed for skewed, _ in nodes], request.level)


def _nodes(request: Request) -> list[tuple[float, float]]:
    """The skews of the belief, and their weights."""
    belief = resolve_belief(request.over)
    return [*zip(belief.skews, belief.weights, strict=True)]
