"""The measures of a prediction table from sums that its engine computes; areas as SQL text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import one_or_several
from polaroc.base.columns import (
    COUNT,
    EFFECTIVE,
    NEG_SQUARES,
    OVER,
    PLACE,
    ROW_ERROR,
    join_by_key,
    private,
)
from polaroc.base.text import joined_notes
from polaroc.curves.totals import effective_number
from polaroc.errors import InvalidArgument, NotSupported, check_choice
from polaroc.evaluation.evaluate import at_estimates, check_intervals, estimates_in
from polaroc.evaluation.evaluate import evaluate as evaluate_locally
from polaroc.evaluation.sums import sums_of_rows
from polaroc.measures.catalog import DEFAULT_PRIORS, select_measures
from polaroc.measures.spec import Measure
from polaroc.measures.table import tidy
from polaroc.predictions.cases import Cases, check_labels_of, refuse_errors, warn_of_parts
from polaroc.predictions.columns import NEEDED, ROLES, Columns
from polaroc.predictions.row_checks import (
    SCORE,
    UNRANKED,
    error_count_column,
    errors_in_words,
    label_note,
)
from polaroc.predictions.table import read as read_locally
from polaroc.priors.beliefs import Over
from polaroc.priors.grids import OBSERVED
from polaroc.typing import IbisTable, Interpolation, Prior, Priors
from polaroc.warehouse.cells import SUMMED, count_cells, per_key, safe_name
from polaroc.warehouse.tables import Predictions, collected, fetched, ibis, literal, read

# The note on dropped rows of a key.
DROPPED = private("dropped")
# The measures that are one sum over a curve, and no function of several.
AREAS = ("auc", "auprec", "iauprec")
DIALECTS = ("spark", "duckdb", "postgres", "bigquery", "snowflake", "trino", "clickhouse")


def evaluate(
    table: IbisTable,
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: Over | None = None,
    interpolation: Interpolation = "exact",
    intervals: bool = False,
    level: float = 0.95,
    measure: str | Sequence[str] | None = None,
    score_prior: Prior = "observed",
    **columns: Unpack[Columns],
) -> pl.DataFrame:
    """Every measure of every key, from sums that the engine computes, as `polaroc.evaluate`.

    Parameters
    ----------
    table
        Predictions, one row per case: an ibis table.
    priors, over, interpolation, intervals, level, measure, score_prior
        As in `polaroc.evaluate`. Areas, "sens", "auc_range", "accsens" and "equal_error" are sums
        over curves, of which one query returns a row per key. For the interpolation ``"hull"``, for
        scores as probabilities ("brier" and the like) and for `intervals`, a second query returns
        the counts of each key and distinct score, at most 20 million of them. As these have no
        `case`, there is no note on rows of a key that share one.
    **columns
        What the columns mean, as in `polaroc.cases`.

    Returns
    -------
    DataFrame
        The result of `polaroc.evaluate`.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As `polaroc.evaluate` does for a frame; for more distinct scores than can be fetched.
    NotSupported
        For `intervals` with a `cluster` or a `weight`.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> measures = pr.warehouse.evaluate(table, truth="truth", score="score", priors=0.1)
    >>> [(name, round(value, 3)) for name, value in measures.select("measure", "estimate").rows()]
    [('auc', 0.68), ('auprec', 0.35)]
    """
    for role in ("cluster", "weight"):
        if intervals and columns.get(role) is not None:
            raise NotSupported(
                f"warehouse.evaluate(intervals=True) does not support {role}.",
                hint="fetch the rows, and give them to polaroc.evaluate.",
            )
    check_intervals(intervals, level, interpolation)
    needed, estimates = estimates_in(priors)
    measures = select_measures(measure, needed, over, interpolation, score_prior=score_prior)
    predictions = read(table, columns)
    if columns.get("positive") is not None:
        check_labels_of(predictions.cases, _labels(table, predictions).to_series())
    summed, others = (
        [one for one in measures if (one.is_area and one.name in SUMMED) == is_so]
        for is_so in (True, False)
    )
    wide = _totals(table, predictions, [] if intervals else summed)
    warn_of_parts(predictions.cases, wide)
    keys = predictions.cases.keys
    if intervals:
        measured = evaluate_locally(
            _fetched(predictions), priors=priors, over=over, interpolation=interpolation,
            intervals=True, level=level, measure=measure, score_prior=score_prior,
        )  # fmt: skip
        noted = join_by_key(measured, wide.select(*keys, DROPPED), keys)
        return noted.with_columns(joined_notes(DROPPED, "note")).select(measured.columns)
    if others:
        sums = sums_of_rows(read_locally(_fetched(predictions)), others)
        known = ("positives", "negatives", "note", EFFECTIVE)
        wide = join_by_key(wide, sums.drop(known, strict=False), keys)
    sums_of_keys = wide.lazy().with_columns(joined_notes(DROPPED, label_note()))
    return at_estimates(tidy(sums_of_keys, keys, measures), estimates).collect()


def sql(
    table: IbisTable | str,
    dialect: str,
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: Over | None = None,
    interpolation: Interpolation = "exact",
    measure: str | Sequence[str] | None = None,
    **columns: Unpack[Columns],
) -> str:
    """The query of areas under curves, for a warehouse console or a dbt model.

    Parameters
    ----------
    table
        Predictions: an ibis table; or the name of a table (``schema.name``,
        ``catalog.schema.name``), of which only the columns that are named are known. As their types
        are not, labels are then compared as text, and scores cast to 64-bit floats, whether or not
        all their digits fit.
    dialect
        ``"spark"``, ``"duckdb"``, ``"postgres"``, ``"bigquery"``,
        ``"snowflake"``, ``"trino"`` or ``"clickhouse"``.
    priors, over, interpolation, measure
        As in `polaroc.evaluate`; any of the measures "auc", "auprec" and "iauprec", by default all
        of them, and the interpolations ``"exact"``, ``"linear"`` and ``"step"``.
    **columns
        What the columns mean, as in `polaroc.cases`.

    Returns
    -------
    str
        One SELECT statement, of the rows and columns of `polaroc.evaluate` in no order; the prior
        ``"observed"`` has a row of its own even where it equals another one. Counts are floats, and
        the only `note` is on keys whose rows cannot all be ranked, which have no estimates. All
        names are quoted, so they must be written as the warehouse stores them.

    Raises
    ------
    InvalidArgument, InvalidTable
        For another dialect, measure or interpolation; as `evaluate` does.

    Examples
    --------
    >>> from polaroc import warehouse
    >>> query = warehouse.sql("predictions", "postgres", truth="label", score="p", priors=0.1)
    >>> 'FROM "predictions"' in query
    True
    """
    check_choice("dialect", dialect, DIALECTS)
    check_choice("interpolation", interpolation, ("exact", "linear", "step"))
    if measure is None:
        measure = AREAS if over is not None else AREAS[:2]
    measures = select_measures(measure, priors, over, interpolation)
    for one in measures:
        check_choice("measure", one.name, AREAS)
    _ = ibis._
    predictions = read(_unseen(table, columns) if isinstance(table, str) else table, columns)
    # As a column, since without codes it is a literal, which ibis cannot combine with columns.
    is_unranked = ibis.or_(*(_[error_count_column(code)] > 0 for code in predictions.cases.fatal))
    summed = per_key(predictions, measures).mutate(**{ROW_ERROR: is_unranked})
    unranked = _[ROW_ERROR]
    has_both = (_.positives > 0) & (_.negatives > 0)
    observed = has_both.ifelse(_.positives / (_.positives + _.negatives).nullif(0), literal(None))
    numbers = ibis.union(*(ibis.literal(i).name(PLACE).as_table() for i in range(len(measures))))

    def each(values: Iterable[Any]) -> Any:
        """The value of the measure of a row."""
        return _[PLACE].cases(*enumerate(values))

    areas = (name for one in measures for name in one.sums)
    priors_of: Any = (one.prior for one in measures)
    shown = {
        "measure": each(one.name for one in measures),
        "prior": each(observed if prior == OBSERVED else literal(prior) for prior in priors_of),
        "estimate": each(unranked.ifelse(literal(None), _[safe_name(name)]) for name in areas),
        "positives": _.positives,
        "negatives": _.negatives,
        "note": unranked.ifelse(UNRANKED, ibis.null("string")),
    }
    if over is not None:
        shown[OVER] = each(ibis.literal(one.over, type="string") for one in measures)
    query = summed.cross_join(numbers).select(*predictions.cases.keys, **shown)
    if dialect != "spark":
        return str(ibis.to_sql(query, dialect=dialect))

    class Options(ibis.config.Config):  # type: ignore[misc]
        """Options of the compiler, which are there only where PySpark is loaded."""

        treat_nan_as_null: bool = False

    known = ibis.options.pyspark
    try:
        ibis.options.pyspark = known or Options()
        return str(ibis.to_sql(query, dialect="pyspark"))
    finally:
        ibis.options.pyspark = known


def _labels(table: IbisTable, predictions: Predictions) -> pl.DataFrame:
    """The distinct labels of the truth."""
    (truth,) = predictions.cases.names["truth"]
    return collected(table.select(truth).distinct())


def _totals(
    table: IbisTable, predictions: Predictions, measures: Sequence[Measure]
) -> pl.DataFrame:
    """Per key its totals, a note on rows that were `DROPPED`, and the sums of measures.

    Raise for rows that cannot be ranked.
    """
    names = {safe_name(name): name for one in measures for name in (*one.sums, *one.least)}
    cases, codes = predictions.cases, predictions.cases.errors
    counts = [error_count_column(code) for code in codes]
    # Without keys an engine returns a row of nulls even for an empty table.
    wide = collected(per_key(predictions, measures)).rename(names).drop_nulls("positives")
    refused = (
        wide.select(*cases.keys, *counts)
        .unpivot(counts, index=cases.keys, variable_name="error", value_name=COUNT)
        .filter(pl.col(COUNT) > 0)
        .with_columns(pl.col("error").replace_strict(counts, codes, return_dtype=pl.UInt8))
    )
    if refused.height:
        refuse_errors(replace(cases, source=_labels(table, predictions)), refused)
    if cases.weight:
        wide = wide.with_columns(effective_number(pl.col("negatives"), pl.col(NEG_SQUARES)))
    return wide.with_columns(
        pl.col("positives", "negatives").cast(pl.Float64 if cases.weight else pl.Int64),
        pl.format("dropped {}", errors_in_words(codes)).alias(DROPPED),
    )


def _fetched(predictions: Predictions) -> Cases[pl.DataFrame]:
    """The counts of all scores as cases with a count, or a weight."""
    keys, count = predictions.cases.keys, predictions.cases.counted_by or "count"
    cells = fetched(count_cells(predictions).select(*keys, SCORE, "pos", "neg"))
    rows = pl.concat(
        cells.select(*keys, pl.lit(is_positive).alias("truth"), pl.col(SCORE).alias("score"),
                     pl.col(name).alias(count))
        for name, is_positive in (("pos", True), ("neg", False))
    )  # fmt: skip
    return replace(
        predictions.cases, rows=rows, source=rows, columns={}, case=None, errors=(), is_valid=True,
        count=None if predictions.cases.weight else count,
    )  # fmt: skip


def _unseen(name: str, columns: Columns) -> IbisTable:
    """A table of which only its name is known, with the columns that are named."""
    *places, last = name.split(".")
    # The query quotes the names, so that quotation marks and calls would be part of them.
    if len(places) > 2 or not all((*places, last)) or {*name} & {*"()'\"`"}:
        raise InvalidArgument(
            f"the table is {name!r}, allowed are name, schema.name and catalog.schema.name.",
            hint="make a view of a file, of a query, or of a table with a dot in its name: CREATE "
            "VIEW predictions AS SELECT ...",
        )
    place = dict(zip(("database", "catalog"), reversed(places), strict=False))
    roles: Any = {**dict(zip(NEEDED, NEEDED, strict=True)), **columns}
    named = [roles[role] for role in (*ROLES, "by") if roles.get(role) is not None]
    kinds = {column: ibis.expr.datatypes.unknown for one in named for column in one_or_several(one)}
    return ibis.table(kinds, name=last, **place)
