"""Tables in a database, a warehouse or a cluster, as what a command reads."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc import warehouse
from polaroc.base.private_columns import ROW_ERROR
from polaroc.cli.options import Columns, negatives
from polaroc.curves.curve import in_order
from polaroc.errors import InvalidArgument, InvalidPredictions, PolarocError, quoted
from polaroc.measures.catalog import CATALOG, DEFAULT_PRIORS
from polaroc.predictions.cases import Cases, check_columns
from polaroc.predictions.row_checks import DROP_ROWS
from polaroc.predictions.table import first_keys
from polaroc.predictions.usual_keys import PEEKED_ROWS, UsualKeys, keys_by_type, usual_keys
from polaroc.typing import Prior
from polaroc.warehouse.connections import collected, table_at, tables_at, without_password
from polaroc.warehouse.evaluation import MAX_CELLS as MAX_ROWS
from polaroc.warehouse.predictions import described, read

if TYPE_CHECKING:
    from ibis.expr.types import Table

MAX_NOTES = 3


@dataclass(frozen=True)
class TableSource:
    """A table of an engine; what is asked of it is computed there as far as it can be."""

    table: "Table"

    def schema(self) -> pl.Schema:
        """Columns and their types."""
        schema: pl.Schema = self.table.schema().to_polars()
        return schema

    def rows(self, words: Sequence[str] = ()) -> pl.LazyFrame:
        """All rows, fetched."""
        return self._fetched(self.table)

    def usual_keys(self, taken: Sequence[str]) -> UsualKeys:
        """Key columns by names and types, less those that are `taken`."""
        usual = keys_by_type(self.schema(), taken)
        names = list(usual.unused)
        if not names:
            return usual
        with _engine_errors():
            sample = collected(self.table.select(names).limit(PEEKED_ROWS)).lazy()
        # Their numbers of values are those of a sample.
        return replace(usual, unused=dict.fromkeys(usual_keys(sample, ()).unused))

    def pooled_folds(self, keys: Sequence[str], taken: Sequence[str]) -> list[str]:
        """Columns of folds that are no keys, and of which a key has several values."""
        named = keys_by_type(self.schema(), [*taken, *keys]).blocks
        if not named:
            return []
        own = [key for key in keys if key in self.table.columns]
        grouped = self.table.group_by(own) if own else self.table
        counts = {name: self.table[name].nunique() for name in named}
        several = {
            name: (count > 1) & (count < self.table.count()) for name, count in counts.items()
        }
        with _engine_errors():
            found = collected(grouped.aggregate(**several))
        return [name for name in named if found[name].any()]

    def check_unchanged(self) -> None:
        """Each query sees one state of the table."""

    def measures(
        self,
        columns: Columns,
        keys: Sequence[str],
        score_prior: Prior = "observed",
        **options: Any,
    ) -> tuple[pl.LazyFrame, list[str]]:
        """The measures of predictions, and notes on labels that count as negative."""
        with _engine_errors():
            query = warehouse.evaluate(self._cases(columns, keys, score_prior), **options)
            measures = collected(query)
        _refuse_unranked(measures, keys)
        ordered = _ordered(measures, keys, options.get("priors", DEFAULT_PRIORS))
        return ordered.lazy(), self.notes(columns)

    def curves(self, columns: Columns, keys: Sequence[str]) -> tuple[pl.LazyFrame, list[str]]:
        """The curve of each key, made there, and notes on labels."""
        with _engine_errors():
            query = warehouse.curve(self._cases(columns, keys))
        points = in_order(self._fetched(query), keys).collect()
        if points.is_empty() or points["positives"].null_count():
            # They say which rows cannot be ranked.
            self.measures(columns, keys, measures="auc")
        return points.lazy(), self.notes(columns)

    def notes(self, columns: Columns) -> list[str]:
        """Notes on labels that count as negative."""
        if columns.positive is None:
            return []
        labels = self._fetched(self.table.select(columns.truth).distinct())
        return negatives(labels, columns.truth, columns.positive)

    def predictions(self, columns: Columns, keys: Sequence[str]) -> pl.LazyFrame:
        """The rows of predictions, of which only the named columns are fetched."""
        check_columns(pl.LazyFrame(schema=self.schema()), columns.names)
        named = [name for name in self.table.columns if name in (*columns.names, *keys)]
        return self._fetched(self.table.select(named))

    def count_invalid(self, columns: Columns, keys: Sequence[str]) -> int:
        """Number of rows that cannot be ranked."""
        with _engine_errors():
            rows = read(self._cases(columns, keys)).rows
            invalid = rows.filter(rows[ROW_ERROR].notnull())
            count: int = collected(invalid.aggregate(rows=invalid.count())).item()
            return count

    def _cases(
        self, columns: Columns, keys: Sequence[str], score_prior: Prior = "observed"
    ) -> Cases[Any]:
        roles = columns.arguments(keys) | {"score_prior": score_prior}
        return described(self.table, roles, find=())

    def _fetched(self, table: "Table") -> pl.LazyFrame:
        with _engine_errors():
            rows = collected(table.limit(MAX_ROWS + 1))
        if rows.height > MAX_ROWS:
            raise InvalidArgument(
                f"there are more than {MAX_ROWS:,} rows, which are needed on this machine here.",
                hint="make a view of some of them; or let `polaroc evaluate --out` measure them "
                "there, and give its folder.",
            )
        return rows.lazy()


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


def _ordered(measures: pl.DataFrame, keys: Sequence[str], priors: Sequence[Prior]) -> pl.DataFrame:
    """Rows by key, in the order of the measures and of the priors asked for."""
    place = {prior: i for i, prior in enumerate(priors)}
    own = place.get("observed", len(place))
    known = [prior for prior in place if prior != "observed"]
    numbers = [place[prior] for prior in known]
    measure = pl.col("measure").replace_strict(list(CATALOG), range(len(CATALOG)))
    at = pl.col("prior").replace_strict(known, numbers, default=own, return_dtype=pl.Int64)
    return measures.sort(*keys, measure, at, nulls_last=True, maintain_order=True)


def _refuse_unranked(measures: pl.DataFrame, keys: Sequence[str]) -> None:
    """Refuse tables without rows, and with rows that cannot be ranked."""
    if measures.is_empty():
        raise InvalidPredictions("the table holds no rows.", hint="check the table.")
    unranked = measures.filter(pl.col("positives").is_null()).select(*keys, "note").unique()
    if unranked.is_empty():
        return
    by_note = unranked.sort(*keys, "note").partition_by("note", maintain_order=True)
    problems = [f"{rows['note'][0]}{first_keys(rows, keys)}" for rows in by_note]
    raise InvalidPredictions(
        f"{'; '.join(problems[:MAX_NOTES])}.",
        hint=DROP_ROWS,
    )
