"""Probabilities at any prior where the cases are, by a join on the thresholds of a hull."""

from __future__ import annotations

from collections.abc import Sequence
from sys import float_info
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_bool
from polaroc.base.columns import check_shared_keys, refuse_clash, within
from polaroc.base.columns import curve_keys as local_curve_keys
from polaroc.base.private_columns import PLACE, SAME, private
from polaroc.curves.whole import whole_curves
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.grids import some_priors
from polaroc.probability.probabilities import (
    ADDED,
    LEAST,
    NO_CURVE,
    OF_ROW,
    OWN_SKEW,
    RATIO,
    SAME_SCORES,
    hull_blocks,
)
from polaroc.typing import IbisTable, Priors, Table
from polaroc.warehouse.columns import deferred, ibis_library, is_among, literal
from polaroc.warehouse.connections import check_connected, collected, sent_along
from polaroc.warehouse.curves import curve_keys, fetch_hull_candidates
from polaroc.warehouse.predictions import names_and_keys
from polaroc.warehouse.whole import check_whole

# The score above a block, within the floats that are finite, as is that of a row.
MOST = private("most")
FINITE = float_info.max
# The number of cases of a key, and the sums of their squeezed scores and of the squares of these.
MOMENTS = tuple(private(f"moment_{power}") for power in range(3))
# Share by which sums of the same scores in another order may differ.
TOLERANCE = 1e-9


def probabilities(
    table: IbisTable,
    curve: IbisTable | Table,
    *,
    priors: Priors,
    same_table: bool = False,
    **columns: Unpack[Columns],
) -> IbisTable:
    """The probability of each case at each prior, as `polaroc.probabilities`.

    This call fetches the points of the curve that may be vertices of its hull, and sums of
    its scores per key, and no rows of the cases.

    Parameters
    ----------
    table
        Cases that the curve was not made of: an ibis table.
    curve
        The result of `warehouse.curve`, or of `polaroc.curve`, on a tuning table.
    priors
        Priors in (0, 1), or ``"observed"`` for that of the tuning table; one, several,
        or a prior grid.
    same_table
        Whether the very table that the curve was made of is meant. If not, `note` says
        where a key has as many cases as its curve, with the same mean and spread.
    **columns
        What the columns mean, as in `polaroc.cases`.

    Returns
    -------
    Table
        The columns of the function of the same name in `polaroc`, its rows in no order.
        Nothing is computed until the table is executed.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As the function of the same name in `polaroc` does for a lazy frame.

    Notes
    -----
    The thresholds go along with the query; Spark holds them as temporary views until its session
    ends.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> import polaroc as pr
    >>> tuning = ibis.memtable(pr.datasets.twenty_scores())
    >>> points = pr.warehouse.curve(tuning, truth="truth", score="score")
    >>> use = ibis.memtable(pl.DataFrame({"case": [1, 2], "score": [0.7, 0.3]}))
    >>> found = pr.warehouse.probabilities(use, points, score="score", priors=0.05)
    >>> found.order_by("case").probability.to_polars().round(3).to_list()
    [0.136, 0.026]
    """
    check_bool("same_table", same_table)
    names = table.columns
    refuse_clash(names, ADDED)
    given, own = names_and_keys(table, {**columns, "truth": None}, ["score"])
    points, moments = _tuned(curve)
    keys = local_curve_keys(points.lazy())
    check_shared_keys(keys, [*own], "the curve")
    blocks, grid = _probabilities_of_blocks(points, keys, priors)
    number = table[given["score"][0]].cast("float64")
    is_number = number.notnull() & ~number.isnan()
    limited = number.clip(literal(-FINITE), literal(FINITE))
    scored = {OF_ROW: is_number.ifelse(limited, literal(None))}
    rows = table.mutate(**scored, **{private(f"own_{key}"): own[key] for key in keys})
    crossed = rows.cross_join(sent_along(grid.rename({"prior": private("given")}), table))
    of_blocks = {key: private(f"key_{i}") for i, key in enumerate(keys)}
    block = sent_along(blocks.rename(of_blocks), table)
    joined = crossed.left_join(
        block,
        [
            *(
                crossed[private(f"own_{key}")].identical_to(block[name])
                for key, name in of_blocks.items()
            ),
            crossed[PLACE] == block[private("block_place")],
            crossed[OF_ROW] >= block[LEAST],
            (crossed[OF_ROW] < block[MOST]) | block[MOST].isnull(),
        ],
    )
    null = number.isnull().ifelse("null score", "NaN score")
    note: Any = ibis_library().coalesce(
        deferred(OF_ROW).isnull().ifelse(null, ibis_library().null("string")),
        deferred("note"),
        deferred(LEAST).isnull().ifelse(NO_CURVE, ibis_library().null("string")),
    )
    given = deferred(private("given"))
    shown = joined.mutate(prior=ibis_library().coalesce(given, deferred("prior")), note=note)
    if grid["prior"].has_nulls() and grid.height > 1:
        shown = shown.filter(
            given.notnull() | ~is_among(deferred("prior"), grid["prior"].to_list())
        )
    if same_table:
        return shown.select(*names, *ADDED)
    return _with_note_on_same(shown, rows, moments, keys).select(*names, *ADDED)


def _squeezed(score: Any) -> Any:
    """A score between −1 and 1, whose square does not overflow."""
    return score / (1 + score.abs())


def _tuned(curve: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The points of a curve that its hull needs, and the `MOMENTS` of the scores of each key."""
    if not isinstance(curve, ibis_library().expr.types.Table):
        points = whole_curves(curve).collect()
        keys = local_curve_keys(points.lazy())
        count, score = pl.col("pos") + pl.col("neg"), _squeezed(pl.col(SCORE).clip(-FINITE, FINITE))
        sums = {name: (count * score**power).sum() for power, name in enumerate(MOMENTS)}
        return points, points.drop_nulls(SCORE).group_by(keys).agg(**sums)
    check_connected(curve)
    check_whole(curve, curve_keys(curve))
    points = fetch_hull_candidates(curve)
    keys = local_curve_keys(points.lazy())
    count = (deferred("pos") + deferred("neg")).cast("float64")
    score = _squeezed(deferred(SCORE).clip(literal(-FINITE), literal(FINITE)))
    powers = (count, count * score, count * score * score)
    there = {name: value.sum() for name, value in zip(MOMENTS, powers, strict=True)}
    return points, collected(curve.filter(curve[SCORE].notnull()).aggregate(by=keys, **there))


def _probabilities_of_blocks(
    points: pl.DataFrame, keys: Sequence[str], priors: Priors
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The blocks of each key times the priors, with their probability; and the priors."""
    resolved = pl.Series("prior", some_priors(priors), pl.Float64)
    grid = resolved.to_frame().with_row_index(PLACE).cast({PLACE: pl.Int64})
    own, prior = 1 / (1 + pl.col(OWN_SKEW)), pl.col("prior")
    above = within(pl.col(LEAST).shift(1), keys)
    blocks = (
        hull_blocks(points.lazy(), keys)
        .with_columns(above.fill_null(float("inf")).alias(MOST))
        .join(grid.lazy(), how="cross")
        .with_columns(pl.coalesce(prior, pl.when(own.is_finite()).then(own)).alias("prior"))
        .with_columns((pl.col(RATIO) / (pl.col(RATIO) + (1 - prior) / prior)).alias("probability"))
        # The least score of the lowest block is −∞, which not all engines take.
        .with_columns(
            pl.col(LEAST).clip(-FINITE, FINITE),
            # Above every score, since they are limited.
            pl.when(pl.col(MOST).is_finite()).then(MOST).alias(MOST),
            pl.col(PLACE).alias(private("block_place")),
        )
        .select(*keys, LEAST, MOST, private("block_place"), "prior", "probability", "note")
        .collect()
    )
    return blocks, grid


def _with_note_on_same(
    shown: IbisTable,
    rows: IbisTable,
    moments: pl.DataFrame,
    keys: Sequence[str],
) -> IbisTable:
    """The note that a key has the scores of its curve, in place of others."""
    score = _squeezed(deferred(OF_ROW))
    powers = (score.notnull().ifelse(literal(1), literal(0)), score, score * score)
    own = {f"own_{i}": value.sum() for i, value in enumerate(powers)}
    own_keys = [private(f"own_{key}") for key in keys]
    per_key = rows.filter(deferred(OF_ROW).notnull()).aggregate(by=own_keys, **own)
    names = {key: private(f"tuned_{i}") for i, key in enumerate(keys)}
    sums = moments.rename(names).with_columns(pl.col(MOMENTS).cast(pl.Float64))
    tuned = sent_along(sums, rows)
    matches = [
        per_key[own_key].identical_to(tuned[name])
        for own_key, name in zip(own_keys, names.values(), strict=True)
    ]
    both = per_key.inner_join(tuned, matches or [ibis_library().literal(True)])
    close = [
        (deferred(f"own_{i}") - deferred(name)).abs() <= TOLERANCE * deferred(name).abs()
        for i, name in enumerate(MOMENTS)
    ]
    same = both.filter(close).select(
        **{private(f"same_{i}"): deferred(key) for i, key in enumerate(own_keys)},
        **{SAME: ibis_library().literal(True)},
    )
    matches = [
        shown[key].identical_to(same[private(f"same_{i}")]) for i, key in enumerate(own_keys)
    ]
    flagged = shown.left_join(same, matches or [ibis_library().literal(True)])
    return flagged.mutate(
        note=deferred(SAME).fill_null(False).ifelse(SAME_SCORES, deferred("note"))
    )
