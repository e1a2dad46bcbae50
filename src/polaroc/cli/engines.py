"""Tables in a database, a warehouse or a cluster, as what a command reads."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.curves.curve import curve, in_order
from polaroc.errors import InvalidArgument, InvalidPredictions, PolarocError, quoted
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, DEFAULT_PRIORS
from polaroc.predictions.cases import Cases, check_folds
from polaroc.predictions.row_checks import check_labels
from polaroc.typing import IbisTable, Prior
from polaroc.warehouse.connections import collected, table_at, tables_at, without_password
from polaroc.warehouse.evaluation import MAX_CELLS as MAX_ROWS
from polaroc.warehouse.predictions import described


@dataclass(frozen=True)
class TableSource:
    """A table of an engine; what is asked of it is computed there as far as it can be."""

    table: IbisTable

    def schema(self) -> pl.Schema:
        """Columns and their types."""
        schema: pl.Schema = self.table.schema().to_polars()
        return schema

    def written(self, names: Sequence[str]) -> pl.LazyFrame:
        """All rows, fetched."""
        return self._fetched(self.table)

    def described(self, roles: Mapping[str, Any]) -> Cases[Any]:
        """The table with the roles of its columns, its labels checked."""
        cases = described(self.table, roles)
        if cases.positive is not None:
            name = str(cases.truth)
            labels = self._fetched(self.table.select(name).distinct()).collect()[name]
            check_labels(labels.drop_nulls(), name, cases.positive)
        return cases

    def in_memory(self, cases: Cases[Any]) -> Cases[pl.DataFrame]:
        """The cases on this machine, with the columns in use."""
        with _engine_errors():
            own = replace(cases, table=cases.table.limit(MAX_ROWS + 1)).collect()
        _refuse_many(own.table)
        return own

    def measures(self, cases: Cases[Any], **options: Any) -> pl.DataFrame:
        """The measures of the cases, made there."""
        with _engine_errors():
            measures = collected(evaluate(cases, **options))
        check_folds(cases, measures)
        return _ordered(measures, options.get("priors", DEFAULT_PRIORS))

    def curves(self, cases: Cases[Any]) -> pl.DataFrame:
        """The curve of each key, made there."""
        with _engine_errors():
            query = curve(cases)
        keys = list(query.columns[: query.columns.index("threshold")])
        return in_order(self._fetched(query), keys).collect()

    def check_unchanged(self) -> None:
        """Each query sees one state of the table."""

    def _fetched(self, table: IbisTable) -> pl.LazyFrame:
        with _engine_errors():
            rows = collected(table.limit(MAX_ROWS + 1))
        _refuse_many(rows)
        return rows.lazy()


def _refuse_many(rows: pl.DataFrame) -> None:
    if rows.height > MAX_ROWS:
        raise InvalidArgument(
            f"there are more than {MAX_ROWS:,} rows, which are needed on this machine here.",
            hint="make a view of some of them; or let `polaroc evaluate --out` measure them "
            "there, and give its folder.",
        )


@contextmanager
def table_of(address: str, name: str | None) -> Iterator[TableSource]:
    """A table of the engine at an address, as long as the block lasts."""
    if name is None:
        tables = tables_at(address)
        raise InvalidArgument(
            f"{without_password(address)} has tables, and none is named.",
            hint=f"name it with --table; there are {quoted(tables)}."
            if tables
            else "name it with --table.",
        )
    with table_at(address, name) as table:
        yield TableSource(table)


@contextmanager
def _engine_errors() -> Iterator[None]:
    """Errors of an engine as errors of the predictions."""
    try:
        yield
    except PolarocError:
        raise
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidPredictions(
            f"the engine refused the query: {first}.",
            hint="check the types of the columns and the rights on the table.",
        ) from None


def _ordered(measures: pl.DataFrame, priors: Sequence[Prior]) -> pl.DataFrame:
    """Rows by key, in the order of the measures and of the priors asked for."""
    keys = measures.columns[: measures.columns.index("measure")]
    place = {prior: i for i, prior in enumerate(priors)}
    own = place.get("observed", len(place))
    known = [prior for prior in place if prior != "observed"]
    numbers = [place[prior] for prior in known]
    measure = pl.col("measure").replace_strict(list(CATALOG), range(len(CATALOG)))
    at = pl.col("prior").replace_strict(known, numbers, default=own, return_dtype=pl.Int64)
    return measures.sort(*keys, measure, at, nulls_last=True, maintain_order=True)
