"""Estimates and variances of measures for each key, as they are and with pseudo-cases."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.private_columns import KEY_INDEX, private
from polaroc.inference.cells import Cells, groups, segments_of
from polaroc.inference.influence import influence_on_segments
from polaroc.inference.pseudo_cases import NONE, PLACES, PSEUDO, with_pseudo_cases
from polaroc.inference.terms import values
from polaroc.inference.units import Units
from polaroc.measures.scoring import CaseLoss, case_loss
from polaroc.measures.spec import Measure
from polaroc.measures.table import merged
from polaroc.typing import Array

CLASSES = ("positives", "negatives")
# Variances below this share of the mean loss of a case are rounding.
NO_LOSS_VARIANCE = 1e-13
# At each place one more case of a class: positives, negatives, and whether it has the greatest
# loss there is, else none.
ONE_MORE = ((0, 0, False), (1, 0, True), (1, 0, False), (0, 1, True), (0, 1, False))
# What it exceeds the greatest observed loss by, where losses have no bound: a factor e² of p. With
# e the log loss of scores that are too extreme was above the limits in 6 % of sets of 20 positives.
BEYOND = 2.0


class Spread(NamedTuple):
    """Estimates and variances by place of pseudo-cases, measure and key; NaN where there are none.

    Variances are null with fewer than two units of a class, and zero where all have the same
    influence.
    """

    estimates: "Array"
    variances: "Array"


def spread_of_areas(
    cells: Cells,
    measures: Sequence[Measure],
    units: Units,
    sums: "Mapping[str, Array] | None" = None,
) -> Spread:
    """The spread of areas and points of curves, from cells with positives.

    `sums` are the columns by key that estimates are written with, where they are known.
    """
    size = len(cells.starts) - 1
    shape = len(PLACES), len(measures), size
    estimates, of_pos, of_neg = (np.full(shape, np.nan) for _ in range(3))
    moments = np.full((3, *shape[1:]), np.nan)

    def job(task: "tuple[int, tuple[int, Array]]") -> None:
        place, (number, keys) = task
        own = keys[cells.starts[keys] < cells.starts[keys + 1]]
        if not own.size:
            return
        segments = segments_of(cells, own, (units.positives, units.negatives))
        placed = None
        if units.blocks and place == NONE:
            placed = units.blocks[number].on_segments(segments, own)
        with np.errstate(all="ignore"):
            more = (
                PSEUDO * segments.positives / units.positives[own],
                PSEUDO * segments.negatives / units.negatives[own],
            )
            segments = with_pseudo_cases(segments, place, *more)
        known = None
        if sums is not None and place == NONE:
            known = {name: values[own] for name, values in sums.items()}
        for i, (estimate, moved) in enumerate(influence_on_segments(segments, measures, known)):
            estimates[place, i, own] = estimate
            of_pos[place, i, own], of_neg[place, i, own] = moved.mean_squares(segments)
            if placed is not None:
                with np.errstate(all="ignore"):
                    found = placed.moments(placed.block.of_segments(moved, own))
                moments[:, i, own] = found[:, own - keys[0]]

    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        tasks = product(PLACES, enumerate(groups(cells.starts, np.arange(size))))
        list(pool.map(job, tasks))
    return Spread(estimates, units.variances(of_pos, of_neg, moments))


def spread_of_losses(
    scores: pl.DataFrame,
    measures: Sequence[Measure],
    totals: "Mapping[str, Array]",
    units: Units,
) -> Spread:
    """The spread of means of losses, as they are and with one more case at each place.

    Few cases tell little of losses that are rare. `scores` are those of curves, or of cases, in
    the columns that losses are written with; `totals` are `positives` and `negatives`.
    """
    shape = len(ONE_MORE), len(measures), len(totals["positives"])
    of_all, of_pos, of_neg, of_prior = (np.zeros(shape) for _ in range(4))
    losses = [(i, loss) for i, one in enumerate(measures) if (loss := case_loss(one)) is not None]
    if not losses:
        return Spread(of_all, of_pos)
    sums = merged(measures[i].score_sums for i, _ in losses)
    moments = merged(_moments(loss, i) for i, loss in losses)
    by_key = (
        scores.lazy()
        .group_by(KEY_INDEX)
        .agg(*(one.sum().alias(name) for name, one in sums.items()), **moments)
    )
    keys = pl.LazyFrame({KEY_INDEX: np.arange(shape[2])})
    known = keys.join(by_key, on=KEY_INDEX, how="left", maintain_order="left").collect()
    found = dict(totals) | {
        name: known[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in known.columns if name != KEY_INDEX
    }  # fmt: skip
    with np.errstate(all="ignore"):
        for i, loss in losses:
            estimate = of_all[0, i] = values(measures[i].estimate, found)
            scale = values(loss.scale, found)
            slope = found.get(_name(i, "slope"), 0.0)
            of_prior[:, i] = (scale * slope) ** 2 * units.of_prior
            falls = measures[i].bounds[0] is None
            for place, (*more, worst) in enumerate(ONE_MORE):
                means, squares = zip(
                    *(
                        _with_more(
                            loss, _name(i, name), found, totals[name],
                            added * totals[name] / getattr(units, name),
                            values(weight, found) * worst, worst=worst,
                        )
                        for name, weight, added in zip(CLASSES, loss.weights, more, strict=True)
                    ),
                    strict=True,
                )  # fmt: skip
                if place:
                    other = scale * sum(means) + falls
                    of_all[place, i] = np.where(np.isnan(estimate), np.nan, other)
                of_pos[place, i], of_neg[place, i] = (scale**2 * square for square in squares)
    moments_of_clusters = units.moments_of_losses(scores, measures)
    variances = units.variances(of_pos, of_neg, moments_of_clusters, [one[:2] for one in ONE_MORE])
    return Spread(of_all, variances + of_prior)


def _name(number: int, what: str) -> str:
    return private(f"loss_{number}_{what}")


def _moments(loss: CaseLoss, number: int) -> dict[str, pl.Expr]:
    """The sums of the losses of each class and of their squares, and the greatest."""
    found: dict[str, pl.Expr] = {}
    for name, count, of_case in zip(
        CLASSES, ("pos", "neg"), (loss.positive, loss.negative), strict=True
    ):
        # A score of 0 or 1 may be infinitely wrong for cases that are not there.
        own = pl.when(pl.col(count) > 0).then(of_case).otherwise(0.0)
        found |= {
            _name(number, name): (pl.col(count) * own).sum(),
            _name(number, name) + "_squared": (pl.col(count) * own**2).sum(),
            _name(number, name) + "_greatest": own.max(),
        }
    if loss.by_score_prior is not None:
        found[_name(number, "slope")] = loss.by_score_prior.fill_nan(0.0).sum()
    return found


def _with_more(
    loss: CaseLoss,
    name: str,
    found: "Mapping[str, Array]",
    count: "Array",
    more: "Array",
    bound: "Array | float",
    *,
    worst: bool,
) -> "tuple[Array, Array]":
    """The mean loss of a class with `more` cases, and the mean square about it."""
    greatest = bound
    if worst and not loss.bounded:
        greatest = BEYOND * bound + found[f"{name}_greatest"]
    size = count + more
    mean = (found[name] + more * greatest) / size
    square = (found[f"{name}_squared"] + more * greatest**2) / size
    spread = square - mean**2
    # What is lost in the difference of two moments is no variance.
    return mean, np.where(spread > NO_LOSS_VARIANCE * mean**2, spread, 0.0)
