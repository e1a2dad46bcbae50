"""The query of areas as SQL text, without a connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack, cast

from polaroc.base.checks import one_or_several
from polaroc.base.columns import OVER, PLACE, ROW_ERROR
from polaroc.errors import check_choice
from polaroc.measures.catalog import DEFAULT_PRIORS, select_measures
from polaroc.predictions.columns import NEEDED, ROLES, Columns
from polaroc.predictions.row_checks import UNRANKED, WRONG, error_count_column
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import OBSERVED
from polaroc.typing import IbisTable, Interpolation, Priors
from polaroc.warehouse.cells import per_key
from polaroc.warehouse.connections import ibis_library, split_table_name
from polaroc.warehouse.predictions import literal, read
from polaroc.warehouse.segments import safe_name

# The measures that are one sum over a curve, and no function of several.
AREAS = ("auc", "auprec", "iauprec")
DIALECTS = ("spark", "duckdb", "postgres", "bigquery", "snowflake", "trino", "clickhouse")


def sql(
    table: IbisTable | str,
    dialect: str,
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
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
    ibis, _ = ibis_library(), ibis_library()._
    predictions = read(_unseen(table, columns) if isinstance(table, str) else table, columns)
    keys, nulls = predictions.cases.keys, predictions.cases.nulls
    fatal = [code for code in predictions.errors if nulls == "raise" or code in WRONG]
    # As a column, since without codes it is a literal, which ibis cannot combine with columns.
    is_unranked = ibis.or_(*(_[error_count_column(code)] > 0 for code in fatal))
    summed = per_key(predictions, measures).mutate(**{ROW_ERROR: is_unranked})
    unranked = _[ROW_ERROR]
    has_both = (_.positives > 0) & (_.negatives > 0)
    own = has_both.ifelse(_.positives / (_.positives + _.negatives).nullif(0), literal(None))
    numbers = ibis.union(*(ibis.literal(i).name(PLACE).as_table() for i in range(len(measures))))

    def each(values: Iterable[Any]) -> Any:
        """The value of the measure of a row."""
        return _[PLACE].cases(*enumerate(values))

    areas = (name for one in measures for name in one.sums)
    shown = {
        "measure": each(one.name for one in measures),
        "prior": each(
            own if one.prior is OBSERVED else literal(cast(float | None, one.prior))
            for one in measures
        ),
        "estimate": each(unranked.ifelse(literal(None), _[safe_name(name)]) for name in areas),
        "positives": _.positives,
        "negatives": _.negatives,
        "note": unranked.ifelse(UNRANKED, ibis.null("string")),
    }
    if over is not None:
        shown[OVER] = each(ibis.literal(one.over, type="string") for one in measures)
    query = summed.cross_join(numbers).select(*keys, **shown)
    if dialect != "spark":
        return str(ibis.to_sql(query, dialect=dialect))

    class Options(ibis.config.Config):  # type: ignore[misc, name-defined]
        """Options of the compiler, which are there only where PySpark is loaded."""

        treat_nan_as_null: bool = False

    known = ibis.options.pyspark
    try:
        ibis.options.pyspark = known or Options()
        return str(ibis.to_sql(query, dialect="pyspark"))
    finally:
        ibis.options.pyspark = known


def _unseen(name: str, columns: Columns) -> IbisTable:
    """A table of which only its name is known, with the columns that are named."""
    ibis: Any = ibis_library()
    *places, last = split_table_name(name)
    place = dict(zip(("database", "catalog"), reversed(places), strict=False))
    asked = {**dict(zip(NEEDED, NEEDED, strict=True)), **columns}
    named = [
        one
        for role in (*ROLES, "by")
        if asked.get(role) is not None
        for one in one_or_several(asked[role])
    ]
    kinds = dict.fromkeys(named, ibis.expr.datatypes.unknown)
    table: IbisTable = ibis.table(kinds, name=last, **place)
    return table
