"""Curves of tie-collapsed cells, computed by the engine, and what a join on them gives."""

from __future__ import annotations

from sys import float_info
from typing import Unpack

import polars as pl

from polaroc.base.checks import check_bool
from polaroc.base.columns import (
    CURVE,
    EFFECTIVE,
    HAS_BOTH,
    IS_SAME,
    NEG_SQUARES,
    PLACE,
    ROW_ERROR,
    ROWS,
    check_shared_keys,
    curve_keys,
    join_by_key,
    private,
    refuse_clash,
    within,
)
from polaroc.curves.curve import whole_curves
from polaroc.curves.hull import hull as hull_locally
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.grids import is_among, some_priors
from polaroc.priors.grids import prior as prior_at
from polaroc.probability.probabilities import (
    ADDED,
    GIVEN,
    LEAST,
    NO_CURVE,
    OF_ROW,
    RATIO,
    ROW_NOTE,
    hull_blocks,
    refuse_tuning_table,
)
from polaroc.typing import IbisTable, Priors, Table
from polaroc.warehouse.cells import cells
from polaroc.warehouse.tables import (
    check_table,
    collected,
    declared,
    fetched,
    ibis,
    keys_of,
    literal,
    read,
    sent_along,
)

CELL_COUNTS = ("pos", "neg", "tp", "fp")
# The score above a block, and the prior of its key.
MOST, OBSERVED_PRIOR = private("most"), private("observed_prior")
# Not all engines take infinite numbers in a join: scores and blocks are between these.
FINITE = float_info.max


def curve(table: IbisTable, **columns: Unpack[Columns]) -> IbisTable:
    """ROC curves, one per key, with ties collapsed, as `polaroc.curve`.

    Parameters
    ----------
    table
        Predictions, one row per case: an ibis table. A query cannot raise: a key with null or NaN
        rows has null totals and rates.
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

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> from polaroc import warehouse
    >>> cases = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.8, 0.1]})
    >>> table = ibis.memtable(cases)
    >>> points = warehouse.curve(table, truth="truth", score="p").order_by("fp", "tp")
    >>> points.select("threshold", "tp", "fp", "tpr").to_polars().rows()
    [(None, 0, 0, 0.0), (0.9, 1, 0, 0.5), (0.8, 2, 1, 1.0), (0.1, 2, 2, 1.0)]
    """
    _ = ibis._
    predictions = read(table, columns)
    cases, kind = predictions.cases, "float64" if predictions.cases.weight else "int64"
    unranked = _[ROW_ERROR].isin(cases.fatal).ifelse(_[ROWS], 0).sum()
    is_ranked = unranked.over(ibis.window(group_by=cases.keys)) == 0
    counted = cells(predictions).mutate(
        **{
            name: is_ranked.ifelse(_[name], literal(None)).cast(kind)
            for name in ("positives", "negatives")
        },
        **{name: _[name].cast(kind) for name in CELL_COUNTS},
    )
    anchors = counted.filter(_[PLACE] == 0).mutate(
        **{SCORE: literal(None)}, **{name: literal(0).cast(kind) for name in CELL_COUNTS}
    )
    computed = {
        "tpr": _.tp.cast("float64") / _.positives.nullif(0),
        "fpr": _.fp.cast("float64") / _.negatives.nullif(0),
        EFFECTIVE: _.negatives * (_.negatives / _[NEG_SQUARES].nullif(0)),
    }
    names = [*cases.keys, *CURVE, *([EFFECTIVE] if cases.weight else [])]
    return anchors.union(counted.filter((_.pos > 0) | (_.neg > 0))).select(
        **{name: computed.get(name, _[name]) for name in names}
    )


def hull(curve: IbisTable) -> pl.DataFrame:
    """The upper convex hull of each ROC curve, as `polaroc.hull`; this call fetches the curves.

    Parameters
    ----------
    curve
        The result of `warehouse.curve`.

    Returns
    -------
    DataFrame
        The result of `polaroc.hull`.

    Raises
    ------
    InvalidTable, InvalidArgument
        As `polaroc.hull` does; for more points than can be fetched.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> import polaroc as pr
    >>> cases = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> points = pr.warehouse.curve(ibis.memtable(cases), truth="truth", score="p")
    >>> pr.warehouse.hull(points).select("tp", "fp").rows()
    [(0, 0), (1, 0), (2, 1), (2, 2)]
    """
    check_table(curve)
    return hull_locally(fetched(curve))


def probabilities(
    table: IbisTable,
    curve: IbisTable | Table,
    *,
    priors: Priors,
    same_table: bool = False,
    **columns: Unpack[Columns],
) -> IbisTable:
    """The probability of each case at each prior, as `polaroc.probabilities`.

    This call fetches the curve, and of the cases only how many there are of each key and the sum of
    their scores.

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
        Whether the very table that the curve was made of is meant.
    **columns
        What the columns mean, as in `polaroc.cases`.

    Returns
    -------
    Table
        The columns of the function of the same name in `polaroc`, its rows in no order; `note` says
        where a score is missing. Nothing is computed until the table is executed.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As the function of the same name in `polaroc` does for a lazy frame; where each key has as
        many cases as its curve, with the same mean score.

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
    cases = declared(table, {**columns, "truth": None, "positive": None}, ["score"])
    refuse_clash(table.columns, ADDED)
    of_rows = keys_of(table, cases)
    is_there = isinstance(curve, ibis.expr.types.Table)
    tuned = whole_curves(fetched(curve) if is_there else curve)
    keys = curve_keys(tuned)
    check_shared_keys(keys, [*of_rows], "the curve")
    resolved = some_priors(priors)
    grid = sent_along(pl.DataFrame({GIVEN: resolved}, schema={GIVEN: pl.Float64}), table)

    number = table[cases.names["score"][0]].cast("float64")
    missing = ibis.cases((number.isnan(), "NaN score"), (number.isnull(), "null score"))
    limited = missing.isnull().ifelse(number.clip(literal(-FINITE), literal(FINITE)), None)
    private_keys = {key: private(f"key_{i}") for i, key in enumerate(keys)}
    rows = table.mutate(
        **{OF_ROW: limited, ROW_NOTE: missing},
        **{name: of_rows[key] for key, name in private_keys.items()},
    )
    if not same_table:
        _refuse_same(rows, private_keys, tuned)

    observed = pl.when(HAS_BOTH).then(prior_at(pl.col("negatives") / pl.col("positives")))
    blocks = (
        hull_blocks(tuned, keys)
        .with_columns(
            pl.col(LEAST).clip(-FINITE, FINITE),
            # The best block has no upper end.
            within(pl.col(LEAST).shift(1), keys).alias(MOST),
            observed.alias(OBSERVED_PRIOR),
            is_among(observed, resolved).alias(IS_SAME),
        )
        .select(LEAST, MOST, RATIO, OBSERVED_PRIOR, IS_SAME, pl.col("note").cast(pl.String),
                **{name: pl.col(key) for key, name in private_keys.items()})
        .collect()
    )  # fmt: skip
    block = sent_along(blocks, table)
    joined = rows.left_join(
        block,
        [
            *(rows[name].identical_to(block[name]) for name in private_keys.values()),
            rows[OF_ROW] >= block[LEAST],
            (rows[OF_ROW] < block[MOST]) | block[MOST].isnull(),
        ],
    ).cross_join(grid)
    if None in resolved and len(resolved) > 1:
        # The prior of a key that is also given counts once.
        joined = joined.filter(joined[GIVEN].notnull() | ~joined[IS_SAME].coalesce(False))
    _ = ibis._
    prior = _[GIVEN].coalesce(_[OBSERVED_PRIOR])
    return joined.select(
        *table.columns,
        prior=prior,
        probability=_[RATIO] / (_[RATIO] + (1 - prior) / prior),
        note=_[ROW_NOTE].coalesce(_.note, _[LEAST].isnull().ifelse(NO_CURVE, None)),
    )


def _refuse_same(rows: IbisTable, private_keys: dict[str, str], tuned: pl.LazyFrame) -> None:
    """Raise where each key of the cases has the number and sum of the scores of its curve."""
    _ = ibis._
    squeezed, score = _[OF_ROW] / (1 + _[OF_ROW].abs()), pl.col(SCORE).clip(-FINITE, FINITE)
    scored = rows.filter(_[OF_ROW].notnull())
    of_rows = collected(
        scored.aggregate(by=[*private_keys.values()], count=_.count(), sum=squeezed.sum())
    ).filter(pl.col("count") > 0)
    count = pl.col("pos") + pl.col("neg")
    of_curves = (
        tuned.drop_nulls(SCORE)
        .group_by(pl.col(key).alias(name) for key, name in private_keys.items())
        .agg(of_curve=count.sum(), sum_of_curve=(count * (score / (1 + score.abs()))).sum())
        .collect()
    )
    both = join_by_key(of_rows, of_curves, private_keys.values())
    # Share by which sums of the same scores in another order may differ.
    close = (pl.col("sum") - pl.col("sum_of_curve")).abs() <= 1e-9 * pl.col("sum").abs()
    same = close & (pl.col("count") == pl.col("of_curve"))
    if both.height and both.select(same.fill_null(False).all()).item():
        refuse_tuning_table()
