"""Counts in bins of the score: what can be added over days and shared instead of rows."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import pairwise
from math import isfinite
from struct import pack
from typing import Any, TypeAlias, Unpack

import polars as pl

from polaroc.base.checks import check_whole, is_number, shortened
from polaroc.base.columns import CURVE, RENAME, check_keys, collect_like, takes_table, within
from polaroc.base.joins import attach, join_on
from polaroc.base.private_columns import COUNT, PLACE, ROW_ERROR, ROWS, TRUTH, WEIGHT
from polaroc.base.tables import as_polars
from polaroc.curves.curve import in_order
from polaroc.curves.segments import rate
from polaroc.errors import Hint, InvalidArgument, InvalidTable, quoted
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, first_keys, read
from polaroc.predictions.takes_cases import frame_of_cases, takes_cases
from polaroc.typing import Frame, Table

Bins: TypeAlias = int | Iterable[float] | pl.DataFrame
EDGE, EDGES = "edge", "edges"
BIN_COLUMNS = ("threshold", "pos", "neg", EDGES)
COUNTS = ("pos", "neg")
MAX_BINS = 100_000
OF_ONE_SET = (
    "bin all tables with the same edges: fix them once with bin_edges(...), share the file."
)


@takes_cases(
    ["truth", "score", "positive", "nulls", "count", "weight"],
    no_bearing=["model", "fold", "by", *BESIDE],
)
def bin_edges(cases: Cases[Any], *, bins: int = 1000, **columns: Unpack[Columns]) -> pl.DataFrame:
    """Edges of bins that follow the quantiles of a reference, to be fixed once and shared.

    Positives and negatives weigh equally: no bin has more than about 2/`bins` of either class
    of the reference, unless scores are tied. The bounds of an AUC are as far apart as the
    chance that a positive and a negative share a bin, so on such data about 1/`bins` or less.

    Parameters
    ----------
    cases
        The reference: predictions that are like those to be binned, one row per case. All
        rows are taken together, of whatever model or fold.
    **columns
    bins
        Number of bins, at least 2; fewer where scores are tied.

    Returns
    -------
    polars.DataFrame
        One column, `edge` Float64, rising: a table to store, as Parquet, CSV or JSON, and to
        give to `binned` as `bins`. A case lies in the bin of the last edge that is not above
        its score; scores below the first edge have a bin of their own, and the last bin has
        no end. A lazy frame is collected.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve`; without positives or without negatives that have a finite score.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [0, 0, 0, 0, 1, 1], "p": [0.1, 0.2, 0.3, 0.4, 0.3, 0.8]})
    >>> pr.bin_edges(table, truth="truth", score="p", bins=4)["edge"].to_list()
    [0.3, 0.8]
    """
    check_whole("bins", bins, 2, MAX_BINS)
    predictions = read(cases, audited=True)
    rows = predictions.valid_rows
    if not predictions.weighted:
        rows = rows.with_columns(pl.lit(1.0).alias(WEIGHT))
    own = pl.col(WEIGHT) / pl.col(WEIGHT).sum().over(TRUTH)
    scores = rows.filter(pl.col(SCORE).is_finite()).with_columns(own.alias(WEIGHT)).collect()
    by_class = scores.filter(pl.col(WEIGHT) > 0).group_by(TRUTH).len()
    if by_class.height < 2:
        kinds = by_class[TRUTH].to_list()
        raise InvalidArgument(
            f"the reference has {'positives' if True in kinds else 'negatives'} only."
            if kinds
            else "the reference has no rows with a finite score.",
            hint="take a reference with both classes; its bins serve tables without one, too.",
        )
    at_or_below = scores.group_by(SCORE).agg(pl.col(WEIGHT).sum()).sort(SCORE)
    share = at_or_below[WEIGHT].cum_sum() / at_or_below[WEIGHT].sum()
    # An edge begins the first score with which a further 1/bins of the cases is exceeded.
    sought = pl.Series([i / bins + 1e-12 for i in range(1, bins)])
    places = share.search_sorted(sought, side="left")
    # The bin below the first edge is not to be empty, unless all scores are tied.
    last = len(share) - 1
    inner = places.filter(places.is_between(1, last)).unique().to_list()
    edges = at_or_below[SCORE].gather(inner or [min(1, last)])
    return pl.DataFrame({EDGE: edges.sort() + 0.0})


@frame_of_cases(COUNTED_BY, no_bearing=BESIDE)
def binned(cases: Cases[Any], *, bins: Bins, **columns: Unpack[Columns]) -> pl.LazyFrame:
    """Positives and negatives per bin of the score: a small table that can be added and shared.

    It takes one pass over the rows and no sort. Tables of the same edges are added with
    `merge_bins`; `bounds` gives their measures, and `curve_from_bins` their curve.

    Parameters
    ----------
    **columns
    bins
        The edges of the bins: the result of `bin_edges`, a list of rising scores, or a number,
        for so many equal bins from 0 to 1. A case lies in the bin of the last edge that is
        not above its score; scores below the first edge have a bin of their own, and the last
        bin has no end. With a number the last edge is 1.

    Returns
    -------
    Frame of the kind given
        One row per key and bin that has cases, sorted by key and best bin first: the keys;
        `threshold` Float64, the edge at which the bin begins, −∞ for scores below the first;
        `pos`, `neg`, its positives and negatives (Int64, Float64 if weighted); `edges`
        String, a fingerprint of all edges. A row with a null `threshold` stands for rows that
        cannot be ranked: its counts are null, or zero where they were dropped.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.7, 0.6, 0.1]})
    >>> counts = pr.binned(table, truth="truth", score="p", bins=[0.5, 0.8])
    >>> counts.drop("edges").rows()
    [(0.8, 1, 0), (0.5, 1, 1), (-inf, 0, 1)]
    """
    edges = resolve_edges(bins)
    predictions = read(cases)
    refuse_edges(predictions.keys)
    return _binned(predictions, edges)


def _binned(predictions: Predictions, edges: Sequence[float]) -> pl.LazyFrame:
    valid, truth = pl.col(ROW_ERROR).is_null(), pl.col(TRUTH)
    place = pl.lit(pl.Series(edges)).search_sorted(pl.col(SCORE), side="right")
    if predictions.possible_errors:
        place = pl.when(valid).then(place)
        truth = truth & valid
    # Sums of Booleans have 32 bits.
    one = pl.col(WEIGHT) if predictions.weighted else pl.lit(1, pl.Int64)
    counts = {"pos": (truth * one).sum(), "neg": ((~pl.col(TRUTH) & valid) * one).sum()}
    if predictions.fatal:
        fatal = pl.col(ROW_ERROR).is_in(predictions.fatal).any()
        counts = {name: pl.when(~fatal).then(count) for name, count in counts.items()}
    starts = pl.lit(pl.Series([float("-inf"), *edges], dtype=pl.Float64))
    keys = predictions.keys
    return _sorted(
        predictions.rows.with_columns(place.alias(PLACE))
        .group_by(*keys, PLACE)
        .agg(**counts)
        .select(
            *keys,
            starts.gather(pl.col(PLACE)).alias("threshold"),
            *COUNTS,
            pl.lit(fingerprint(edges)).alias(EDGES),
        ),
        keys,
    )


def merge_bins(*tables: Table) -> Any:
    """The sum of tables of counts that have the same edges.

    Columns beside those of `binned` are keys, and counts of different keys stay apart: to pool
    over a key, such as the day or the hospital, drop its column first.

    Parameters
    ----------
    *tables
        Results of `binned`, or several of them put under one another with ``pl.concat``.

    Returns
    -------
    polars.DataFrame, or polars.LazyFrame where one is given
        The columns of `binned`, each key and bin once. In a lazy plan, which cannot raise, the
        counts of a key with different edges are null.

    Raises
    ------
    InvalidTable
        For tables whose edges, or columns, differ.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> monday = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.7, 0.6, 0.1]})
    >>> tuesday = pl.DataFrame({"truth": [1, 0], "p": [0.8, 0.2]})
    >>> days = [pr.binned(day, truth="truth", score="p", bins=2) for day in (monday, tuesday)]
    >>> pr.merge_bins(*days).drop("edges").rows()
    [(0.5, 3, 1), (0.0, 0, 2)]
    """
    if not tables or isinstance(tables[0], list | tuple):
        raise InvalidTable(
            "got no table of counts." if not tables else "got a list of tables.",
            hint="give them one by one: merge_bins(*tables).",
        )
    frames = [as_polars(table) for table in tables]
    keys = bin_keys(frames[0].lazy())
    for frame in frames[1:]:
        others = bin_keys(frame.lazy())
        if set(others) != set(keys):
            raise InvalidTable(
                f"one table has the keys {quoted(keys) or 'none'}, another "
                f"{quoted(others) or 'none'}.",
                hint="drop, or add, the columns that only some of them have.",
            )
    columns = [*keys, *BIN_COLUMNS]
    try:
        rows = pl.concat([frame.lazy().select(columns) for frame in frames], how="vertical_relaxed")
        rows.collect_schema()
    except pl.exceptions.PolarsError as error:
        raise InvalidTable(
            f"columns have different types: {error}",
            hint="cast the keys to the same types first.",
        ) from error
    if any(isinstance(frame, pl.LazyFrame) for frame in frames):
        return _merged(rows, keys)
    return _merged(_checked(rows.collect(), keys).lazy(), keys).collect()


@takes_table
def curve_from_bins(frame: Frame) -> Frame:
    """The ROC curve of counts in bins, for the functions that take a curve.

    Its points are points of the curve of the scores themselves: at an edge, the rates of the
    threshold are exact. Between them the curve takes the cases of a bin for one tie.

    Parameters
    ----------
    frame
        The result of `binned` or `merge_bins`; several put under one another are added.

    Returns
    -------
    Frame of the kind given
        The columns of `curve`. `threshold` is −∞ for the scores below the first edge.

    Raises
    ------
    InvalidTable
        As `merge_bins` does.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.7, 0.6, 0.1]})
    >>> counts = pr.binned(table, truth="truth", score="p", bins=2)
    >>> pr.curve_from_bins(counts).select("threshold", "tpr", "fpr").rows()
    [(None, 0.0, 0.0), (0.5, 1.0, 0.5), (0.0, 1.0, 1.0)]
    """
    keys: list[str] = bin_keys(frame.lazy())
    rows = _merged(merge_bins(frame).lazy(), keys)
    # Totals are the last of the sums, so that sums of weights end exactly at them.
    running = {name: within(pl.col(count).cum_sum(), keys) for name, count in _CUMULATIVE.items()}
    cells = rows.with_columns(**running)
    unranked = pl.any_horizontal(pl.col(*COUNTS).is_null().any())
    totals = _per_key(
        cells,
        keys,
        positives=pl.when(~unranked).then(pl.col("tp").max()),
        negatives=pl.when(~unranked).then(pl.col("fp").max()),
    )
    kind = {name: rows.collect_schema()[name] for name in COUNTS}
    zero = {
        name: pl.lit(0, kind[_CUMULATIVE.get(name, name)]) for name in ("pos", "neg", *_CUMULATIVE)
    }
    anchors = totals.with_columns(pl.lit(None, pl.Float64).alias("threshold"), **zero)
    ranked = cells.filter(pl.col("threshold").is_not_null()).drop(EDGES)
    cells = attach(ranked, totals, keys).filter(pl.col("positives").is_not_null())
    columns = [*keys, *CURVE[:7]]
    both = pl.concat([anchors.select(columns), cells.select(columns)])
    rates = rate("tp", "positives").alias("tpr"), rate("fp", "negatives").alias("fpr")
    return collect_like(frame, in_order(both.with_columns(*rates), keys))


_CUMULATIVE = {"tp": "pos", "fp": "neg"}


def resolve_edges(bins: object) -> list[float]:
    """The edges of bins; a number means equal bins from 0 to 1."""
    if isinstance(bins, int) and not isinstance(bins, bool):
        check_whole("bins", bins, 1, MAX_BINS)
        return [i / bins for i in range(bins + 1)]
    listed = list(_listed(bins))
    numbers = listed and all(is_number(edge) and isfinite(edge) for edge in listed)
    if not numbers or any(low >= high for low, high in pairwise(listed)):
        raise InvalidArgument(
            f"bins is {shortened(bins)}, allowed are a number of bins up to {MAX_BINS:,}, rising "
            "edges, and the result of bin_edges(...).",
            hint="for example bins=1000 for scores from 0 to 1, or bins=[-2.0, 0.0, 2.0].",
        )
    # Without the sign of zero, which fingerprints would tell apart.
    return [float(edge) + 0.0 for edge in listed]


def _listed(bins: object) -> Iterable[Any]:
    if isinstance(bins, pl.LazyFrame):
        bins = bins.collect()
    if isinstance(bins, pl.DataFrame):
        return bins[EDGE] if EDGE in bins.columns else []
    return bins if isinstance(bins, Iterable) and not isinstance(bins, str) else []


def fingerprint(edges: Sequence[float]) -> str:
    """A short text that is different for different edges."""
    return sha256(pack(f"<{len(edges)}d", *edges)).hexdigest()[:16]


def bin_keys(frame: pl.LazyFrame) -> list[str]:
    """The keys of a table of counts; any other table is refused."""
    schema = frame.collect_schema()
    missing = [name for name in BIN_COLUMNS if name not in schema]
    wrong = [
        name for name in BIN_COLUMNS[:3] if name not in missing and not schema[name].is_numeric()
    ]
    if missing or wrong:
        raise InvalidTable(
            f"the table has no column {quoted(missing)}: it has {quoted(schema.names())}."
            if missing
            else f"{quoted(wrong)} are no numbers.",
            hint="pass the result of binned(...).",
        )
    keys = [name for name in schema.names() if name not in BIN_COLUMNS]
    check_keys(keys)
    return keys


def refuse_edges(keys: Sequence[str]) -> None:
    """Raise for a key whose column a table of counts has itself."""
    if EDGES in keys:
        raise InvalidArgument(
            f"by has {EDGES!r}, which is a column of the table of counts.",
            hint=RENAME,
        )


def _checked(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows; raise for negative counts, and for a key with different edges."""
    if rows.select(pl.any_horizontal((pl.col(*COUNTS) < 0).any())).item():
        raise InvalidTable("there are counts below 0.", hint="pass the result of binned(...).")
    by_key = _per_key(rows.lazy(), keys, **{COUNT: pl.col(EDGES).n_unique()}).collect()
    differ = by_key.filter(pl.col(COUNT) > 1)
    if differ.height:
        first = differ.drop(COUNT).head(1)
        of_key = join_on(rows, first, keys, "semi") if keys else rows
        edges = of_key[EDGES].unique().sort().to_list()
        raise InvalidTable(
            f"the counts are of bins with different edges, {quoted(edges)}"
            f"{first_keys(differ, keys)}.",
            hint=Hint(OF_ONE_SET),
        )
    return rows


def _merged(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Each key and bin once; counts are null where one of them is, or where edges differ."""
    schema = rows.collect_schema()
    counts = {
        name: pl.col(name).cast(pl.Float64 if schema[name].is_float() else pl.Int64)
        for name in COUNTS
    }
    one_set = within(pl.col(EDGES).n_unique(), keys) == 1
    merged = (
        rows.with_columns(**counts)
        .group_by(*keys, "threshold", EDGES)
        .agg(pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()) for name in COUNTS)
        .with_columns(pl.when(one_set).then(name).alias(name) for name in COUNTS)
        .select(*keys, pl.col("threshold").cast(pl.Float64), *COUNTS, EDGES)
    )
    return _sorted(merged, keys)


def _sorted(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    by_key = [False] * len(keys)
    return rows.sort(*keys, "threshold", descending=[*by_key, True], nulls_last=True)


def _per_key(rows: pl.LazyFrame, keys: Sequence[str], **columns: pl.Expr) -> pl.LazyFrame:
    # Without keys there is a group even where there are no rows.
    by_key = rows.group_by(keys).agg(pl.len().alias(ROWS), **columns)
    return by_key.filter(pl.col(ROWS) > 0).drop(ROWS)
