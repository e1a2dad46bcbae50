"""What a command reads: files, or a table of an engine, with the columns that it names."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import polars as pl
import typer

from polaroc.cli.engines import TableSource, table_of
from polaroc.cli.options import Columns, labels, negatives, score_columns
from polaroc.curves.curve import curve
from polaroc.curves.keys import totals
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.evaluation.pipeline import run_all
from polaroc.evaluation.request import Request
from polaroc.files.read import Stamps, batches, scan
from polaroc.files.text_files import TextFormat
from polaroc.predictions.audit import label_notes
from polaroc.predictions.cases import keyed
from polaroc.predictions.dependence import dependence
from polaroc.predictions.table import read
from polaroc.predictions.usual_keys import (
    UsualKeys,
    pooled_folds,
    usual_keys,
    usual_names,
    usual_units,
)
from polaroc.typing import Nulls
from polaroc.warehouse.connections import is_address

TableName = Annotated[
    str | None,
    typer.Option(
        "--table",
        help="Table, schema.table or catalog.schema.table, where the rows are not in files but at "
        "an address: duckdb://FILE, postgres://USER:PASSWORD@HOST:PORT/DATABASE, sc://HOST:PORT "
        "for Spark Connect (there also a path of Parquet, with a / in it).",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--sep",
        help="Separator of CSV and TSV files, such as ';' or tab. [default: a comma, in .tsv a "
        "tab]",
    ),
]
Decimal = Annotated[
    str, typer.Option("--decimal", help="Decimal mark of CSV and TSV files: a point or a comma.")
]


@dataclass(frozen=True)
class FileSource:
    """Files of predictions or of measures."""

    paths: list[str]
    text: TextFormat
    stamps: Stamps

    def schema(self) -> pl.Schema:
        """Columns and their types."""
        return self._rows.collect_schema()

    @cached_property
    def _rows(self) -> pl.LazyFrame:
        # The types of text columns are inferred from all rows.
        return scan(self.paths, text=self.text)

    def rows(self, words: Sequence[str] = ()) -> pl.LazyFrame:
        """All rows, the columns of `words` as they are written."""
        return scan(self.paths, words, self.text) if words else self._rows

    def batches(self, keys: Sequence[str], most: int) -> list[pl.LazyFrame]:
        """The rows in frames that share no key."""
        return batches(self.paths, keys, most, self.text)

    def usual_keys(self, taken: Sequence[str]) -> UsualKeys:
        """Key columns by usual names, less those that are `taken`."""
        return usual_keys(self.rows(), taken)

    def pooled_folds(self, keys: Sequence[str], taken: Sequence[str]) -> list[str]:
        """Columns of folds that are no keys, and of which a key has several values."""
        return pooled_folds(self.rows(), keys, taken)

    def dependence(self, columns: Columns, keys: Sequence[str]) -> str | None:
        """Note on rows that are not independent, as a column shows."""
        names = list(self.schema())
        units = usual_units(name for name in names if name not in columns.names)
        if not units:
            return None
        wanted = {*units, *keys, *usual_names(names).keys}
        rows = self.rows().select(name for name in names if name in wanted).collect()
        # Neither truth nor score is needed for it.
        by = [key for key in keys if key in names]
        own = keyed(rows, truth=pl.lit(True), score=pl.lit(0.0), by=by)
        return dependence(own, of_measures=False)

    def check_numbers(self, names: Sequence[str]) -> None:
        """Refuse numbers that became text for another decimal mark."""
        schema, mark = self.schema(), "." if self.text.decimal == "," else ","
        hint = "give --decimal ,." if mark == "," else "leave --decimal out."
        for name in [name for name in names if schema.get(name) == pl.String]:
            is_number = pl.col(name).str.contains(rf"^\s*-?\d*[{mark}]\d+(e-?\d+)?\s*$")
            words = self.rows().select(pl.col(name).filter(is_number)).head(1).collect()
            if words.height:
                raise InvalidPredictions(
                    f"{name!r} is text, such as {words.item()!r}, needed are numbers.",
                    hint=f"is that a decimal {'comma' if mark == ',' else 'point'}? Then {hint}",
                )

    def check_unchanged(self) -> None:
        """Raise if a file was written to since it was opened."""
        self.stamps.check()

    def measures(
        self, columns: Columns, keys: Sequence[str], **options: Any
    ) -> tuple[pl.LazyFrame, list[str]]:
        """The measures of predictions, and notes on labels that count as negative."""
        frame = self.rows(keys)
        result = run_all([columns.cases(frame, keys)], Request(**options))
        return result.measures, self.notes(columns)

    def curves(self, columns: Columns, keys: Sequence[str]) -> tuple[pl.LazyFrame, list[str]]:
        """The curve of each key, and notes on labels."""
        cases = columns.cases(self.rows(keys), keys)
        predictions = read(cases, audited=True)
        notes = label_notes(totals(predictions), predictions.keys)
        return curve(cases), [*notes, *self.notes(columns)]

    def notes(self, columns: Columns) -> list[str]:
        """Notes on labels that count as negative."""
        return negatives(self.rows(), columns.truth, columns.positive)

    def predictions(self, columns: Columns, keys: Sequence[str]) -> pl.LazyFrame:
        """The rows of predictions."""
        return self.rows(keys)

    def count_invalid(self, columns: Columns, keys: Sequence[str]) -> int:
        """Number of rows that cannot be ranked."""
        return read(columns.cases(self.rows(keys), keys)).count_invalid()


Source: TypeAlias = FileSource | TableSource


def text_format(separator: str | None, decimal: str) -> TextFormat:
    """How text files are written, as the command line says it."""
    return TextFormat(separator, decimal)  # type: ignore[arg-type]


@contextmanager
def opened(
    files: Sequence[str],
    table: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
) -> Iterator[Source]:
    """The files, or the table at an address, given on the command line; open within the block."""
    text = text_format(separator, decimal)
    addresses = [word for word in files if is_address(word)]
    if addresses and len(files) > 1:
        raise InvalidArgument(
            f"{len(files)} sources are given, allowed are files or one address.",
            hint="name one table at a time.",
        )
    if addresses:
        if text != TextFormat():
            raise InvalidArgument(
                "--sep or --decimal is given, which are for text files.", hint="leave them out."
            )
        with table_of(addresses[0], table) as source:
            yield source
        return
    if table is not None:
        raise InvalidArgument(
            f"--table is {table!r}, which is for an address, and files are given.",
            hint="for example duckdb://scores.duckdb --table predictions.",
        )
    yield FileSource(list(files), text, Stamps(files))


def columns_of(
    source: Source,
    truth: str,
    score: Sequence[str],
    weight: str | None = None,
    positive: list[str] | None = None,
    nulls: Nulls = "raise",
) -> Columns:
    """The columns of predictions that the command line names."""
    schema = source.schema()
    meant = labels(pl.LazyFrame(schema=schema), truth, positive)
    columns = Columns(truth, score_columns(score, schema), weight, meant, nulls)
    if isinstance(source, FileSource):
        source.check_numbers([*columns.scores, *([weight] if weight else [])])
    return columns
