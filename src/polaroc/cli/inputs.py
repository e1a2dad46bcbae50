"""What a command reads: files, or a table at an address, and what their columns mean."""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import polars as pl
import typer

from polaroc.base.text import is_missing_text
from polaroc.cli.engines import TableSource, table_of
from polaroc.cli.parameters import kind_of, option_name
from polaroc.cli.pipes import without_stdin
from polaroc.errors import InvalidArgument, InvalidPredictions, PolarocError, quoted
from polaroc.files.read import Stamps, scan
from polaroc.files.text_files import TextFormat, number_in_text
from polaroc.predictions.cases import Cases, found_in_words
from polaroc.predictions.resolved import resolved, words_of
from polaroc.predictions.roles import ANNOTATIONS, COLUMN_ROLES, FOUND
from polaroc.predictions.table import WRITE_NUMBERS
from polaroc.predictions.usual_keys import column_names_of
from polaroc.typing import Label
from polaroc.warehouse.connections import is_address

AS_WRITTEN = TextFormat()
FilesWords = Annotated[
    list[str],
    typer.Argument(
        help="Parquet, CSV, TSV, IPC/Arrow or NDJSON files, glob patterns, hive folders; - reads "
        "one of them from the standard input; or an address, with --table.",
    ),
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table",
        help="Table, schema.table or catalog.schema.table, where the rows are not in files but at "
        "an address: duckdb://FILE, postgres://USER:PASSWORD@HOST:PORT/DATABASE, sc://HOST:PORT "
        "for Spark Connect (there also a path of Parquet, with a / in it).",
        metavar="TABLE",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--sep",
        help="Separator of CSV and TSV files, such as ';' or tab. [default: a comma, in .tsv a "
        "tab]",
        metavar="MARK",
    ),
]
Decimal = Annotated[
    str,
    typer.Option(
        "--decimal", help="Decimal mark of CSV and TSV files: a point or a comma.", metavar="MARK"
    ),
]
# Roles whose words are what they mean, once the types of columns are known.
ROLES_OF_WORDS = {*COLUMN_ROLES, "positive"}
# Columns without a role that are named.
MAX_UNUSED = 8
# By the mark that numbers have and the format has not.
DECIMAL_HINTS = {
    ",": "is that a decimal comma? Then give --decimal ,.",
    ".": "is that a decimal point? Then leave --decimal out.",
}
TEXT_FILES = {".csv", ".tsv"}


@dataclass(frozen=True)
class FileSource:
    """Files of predictions, or of another table."""

    paths: list[str]
    text: TextFormat
    stamps: Stamps

    @cached_property
    def table(self) -> pl.LazyFrame:
        """All rows; the types of text columns are inferred from all of them."""
        return scan(self.paths, text=self.text)

    def schema(self) -> pl.Schema:
        """Columns and their types."""
        return self.table.collect_schema()

    def written(self, names: Sequence[str]) -> pl.LazyFrame:
        """All rows, the columns named as they are written."""
        return scan(self.paths, names, self.text) if names else self.table

    def described(self, roles: Mapping[str, Any]) -> Cases[pl.LazyFrame]:
        """The rows with the roles of their columns, keys as they are written."""
        cases = resolved(self.table, roles)
        self._check_numbers(cases)
        return replace(cases, table=self.written(words_of(cases)))

    def _check_numbers(self, cases: Cases[Any]) -> None:
        """Refuse text among numbers, which makes text of the column, and name its file and row."""
        schema, decimal = self.schema(), self.text.decimal
        mark = "." if decimal == "," else ","
        roles = ("score", "weight", "count")
        named = column_names_of(one for role in roles for one in cases.columns.get(role, ()))
        for name in [name for name in named if schema.get(name) == pl.String]:
            word = pl.col(name)
            missing = word.is_null() | is_missing_text(word)
            no_number = number_in_text(word, decimal).is_null() & ~missing
            for file in self.stamps.stamps:
                if TEXT_FILES.isdisjoint(map(str.lower, file.suffixes)):
                    continue
                # As written: numbers alone are read as such, and have a point.
                rows = scan([str(file)], [name], self.text).select(word.cast(pl.String))
                found = rows.with_row_index(offset=1).filter(no_number).head(1).collect().rows()
                for row, text in found:
                    is_decimal = re.search(rf"^\s*-?\d*[{mark}]\d+(e-?\d+)?\s*$", text)
                    raise InvalidPredictions(
                        f"{str(file)!r}: {name!r} has the text {quoted([text])} in row {row:,}, "
                        "needed are numbers.",
                        hint=DECIMAL_HINTS[mark] if is_decimal else WRITE_NUMBERS,
                    )

    def in_memory(self, cases: Cases[Any]) -> Cases[pl.DataFrame]:
        """The cases with the columns in use read."""
        return cases.collect()

    def check_unchanged(self) -> None:
        """Raise if a file was written to since it was opened."""
        self.stamps.check()


Source: TypeAlias = FileSource | TableSource


@contextmanager
def opened(
    files: Sequence[str], table: str | None = None, text: TextFormat = AS_WRITTEN
) -> Iterator[Source]:
    """The files, or the table at an address, given on the command line; open within the block."""
    addresses = [word for word in files if is_address(word)]
    if addresses and len(files) > 1:
        raise InvalidArgument(
            f"{len(files)} sources are given, allowed are files or one address.",
            hint="name one table at a time.",
        )
    if addresses:
        if text != AS_WRITTEN:
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
    with without_stdin(list(files)) as paths:
        yield FileSource(paths, text, _stamped(paths, text))


def _stamped(files: Sequence[str], text: TextFormat) -> Stamps:
    """The state of files, refused where one is not there, which may be meant as a column."""
    try:
        return Stamps(files)
    except InvalidArgument as error:
        there = [word for word in files if os.path.exists(word)]
        columns: Collection[str] = ()
        # What is wrong in the others is said once all are there.
        with suppress(PolarocError, pl.exceptions.PolarsError, OSError):
            columns = scan(there, text=text).collect_schema() if there else ()
        lost = next((word for word in files if word in columns and word not in there), None)
        hint = f"is it a further column? An option is repeated: --score ... --score {lost}."
        raise InvalidArgument(error.found, hint=hint if lost else error.hint) from None


def roles_of(words: Mapping[str, Any], schema: Mapping[str, pl.DataType]) -> dict[str, Any]:
    """The roles that were given in words, for a table with these columns."""
    roles = {name: value for name, value in words.items() if value is not None}
    for name in FOUND:
        if roles.pop(f"no_{name}", False):
            if name in roles:
                raise InvalidArgument(
                    f"both --{name} and --no-{name} are given.", hint="leave one of them out."
                )
            roles[name] = None
    for name in roles.keys() - ROLES_OF_WORDS:
        if roles[name] is not None:
            roles[name] = kind_of(name, ANNOTATIONS[name]).parse(option_name(name), roles[name])
    if roles.get("score"):
        roles["score"] = score_columns(roles["score"], schema)
    if roles.get("positive"):
        truth = str(roles.get("truth"))
        roles["positive"] = labels(roles["positive"], schema.get(truth), repr(truth), "--positive")
    return roles


def score_columns(words: Sequence[str], present: Mapping[str, Any]) -> str | dict[str, str]:
    """The column of the scores, or of several or named ones that of each model.

    Examples
    --------
    >>> score_columns(["p"], {}), score_columns(["p_tree", "forest=p_forest"], {})
    ('p', {'p_tree': 'p_tree', 'forest': 'p_forest'})
    """
    columns: dict[str, str] = {}
    for word in words:
        # A name of a column may have the mark, too.
        model, mark, column = (word, "", "") if word in present else word.partition("=")
        if not mark:
            column = word
        elif not (model and column):
            raise InvalidArgument(
                f"--score is {word!r}, allowed are COLUMN and MODEL=COLUMN.",
                hint="for example --score forest=p_forest.",
            )
        if model in columns:
            raise InvalidArgument(
                f"--score gives the model {model!r} twice, needed is one column per model.",
                hint="give it once; --score forest=p_forest names the model.",
            )
        columns[model] = column
    return words[0] if columns == {words[0]: words[0]} else columns


def labels(
    words: Sequence[str], dtype: pl.DataType | None, column: str, option: str
) -> list[Label]:
    """Values of a column in words, in its type."""
    if dtype is None or not (dtype.is_numeric() or dtype == pl.Boolean):
        return list(words)
    if dtype == pl.Boolean:
        known = {"true": True, "1": True, "false": False, "0": False}
        if all(word.lower() in known for word in words):
            return [known[word.lower()] for word in words]
    else:
        number = int if dtype.is_integer() else float
        with suppress(ValueError):
            return [number(word) for word in words]
    raise InvalidArgument(
        f"{option} is {', '.join(words)}, but {column} is {dtype}.",
        hint="give the label as it stands in the column.",
    )


def models_named(options: dict[str, Any], cases: Cases[Any]) -> None:
    """Put the champion and the challenger, where they are named, in the type of their column."""
    if isinstance(cases.model, str):
        kind = cases.table.schema[cases.model]
        for name in {"champion", "challenger"} & options.keys():
            (options[name],) = labels([options[name]], kind, repr(cases.model), f"--{name}")


def notes_of(source: Source, cases: Cases[Any], used: Collection[str]) -> list[str]:
    """What was found by the names of columns, and which of them have no role."""
    sentences = []
    if told := found_in_words(cases, used):
        flags = [f"--no-{role}" for role in FOUND if role in cases.found and role in used]
        aside = "leaves it aside" if len(flags) == 1 else "leave them aside"
        sentences.append(f"{told[:-1]} ({', '.join(flags)} {aside}).")
    # All columns of measures have a meaning.
    names = [] if cases.truth is None else source.schema()
    unused = [name for name in names if name not in cases.used]
    if unused:
        sentences.append(f"Without a role: {quoted(unused, MAX_UNUSED)}.")
    notes = [" ".join(sentences)] if sentences else []
    return [f"Note: {note}" for note in notes]
