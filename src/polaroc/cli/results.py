"""Results of all commands: printed, as JSON, and written to files."""

import json
import sys
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import typer

from polaroc.base.columns import TEXTUAL
from polaroc.base.text import number
from polaroc.base.text_tables import FoldedTable, Result
from polaroc.base.text_tables import table as text_table
from polaroc.cli.screen import print_notes, show, with_options, write_nowhere
from polaroc.errors import InvalidArgument
from polaroc.files.read import COMPRESSED, FORMATS, SEPARATORS
from polaroc.files.write import atomic_file, atomic_folder, check_new, check_replaceable

# Beginnings of cells that spreadsheets read as formulas, except plain numbers.
FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[+-]?\d+(\.\d+)?$"
# Suffixes that no folder is likely to have.
OTHER_KINDS = {".xlsx", ".xls", ".json", ".txt", ".html", ".pdf", ".png", ".svg", *COMPRESSED}


@dataclass(frozen=True, repr=False)
class Rows(Result):
    """The table of a function that returns one, with what the screen shows of it."""

    name: str
    rows: pl.DataFrame
    parts: list[Any]
    warnings: tuple[str, ...] = ()
    answer: str = ""

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The table."""
        return {self.name: self.rows}

    @property
    def shown(self) -> list[Any]:
        """The part of the table that the screen shows, and the notes."""
        return [*self.parts, *self.warnings]


def deliver(
    result: Any,
    as_json: bool = False,
    written_to: Path | None = None,
    code: int = 0,
    text: str | None = None,
) -> None:
    """Print a result, or a text in its place, and end with an exit code, even if nobody reads it.

    As JSON a table is a list of rows, and its notes go to the standard error. Other results are an
    object with the answer, the tables and the warnings.
    """
    try:
        if text is not None:
            typer.echo(text, nl=False)
        elif not as_json:
            show(result.shown, written_to)
        elif isinstance(result, Rows):
            typer.echo(json.dumps(json_rows(result.rows), ensure_ascii=False))
            print_notes(result.warnings)
        else:
            facts = {name: getattr(result, name) for name in result.facts}
            tables = {name: json_rows(table) for name, table in result.tables.items()}
            document = {
                "answer": with_options(result.answer), **facts, **tables,
                "warnings": [with_options(warning) for warning in result.warnings],
            }  # fmt: skip
            typer.echo(json.dumps(document, ensure_ascii=False, default=str))
    except BrokenPipeError:
        write_nowhere(sys.stdout)
    if code:
        raise typer.Exit(code)


def json_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows with values that JSON has.

    NaN, inf and -inf are written as these words, so that null is a missing value; bytes as text,
    or as hexadecimal if they are not text.

    Examples
    --------
    >>> json_rows(pl.DataFrame({"k": [float("inf"), None], "b": [b"A", None]}))
    [{'k': 'inf', 'b': 'A'}, {'k': None, 'b': None}]
    """
    texts = []
    for column in table.select(cs.binary()):
        try:
            texts.append(column.cast(pl.String))
        except pl.exceptions.PolarsError:
            texts.append(column.bin.encode("hex"))
    rows: list[dict[str, Any]] = json.loads(table.with_columns(texts).write_json())
    for column in table.select(cs.float()):
        for place in column.is_finite().not_().arg_true():
            rows[place][column.name] = {inf: "inf", -inf: "-inf"}.get(column[place], "NaN")
    return rows


def rows_table(title: str, rows: pl.DataFrame, keys: int) -> FoldedTable:
    """A table for the screen, numbers after the first `keys` columns rounded."""
    cells = [
        [number(value) if isinstance(value, float) and place >= keys else value
         for place, value in enumerate(row)]
        for row in rows.iter_rows()
    ]  # fmt: skip
    return text_table(title, rows.columns, cells, keys)


@dataclass(frozen=True)
class Output:
    """A folder for the tables of a result, or a file for the first if the name ends as a table's.

    What is not polaroc's is replaced with `force` only.
    """

    path: Path
    force: bool

    @classmethod
    def checked(cls, path: Path | None, force: bool, one_table: bool = True) -> "Output | None":
        """The output under a name, refused before anything is computed; None without a name."""
        if path is None:
            return None
        output, suffix = cls(path, force), path.suffix.lower()
        if not path.is_dir() and (suffix in OTHER_KINDS or (output.is_table and not one_table)):
            tables = ", or a table that ends in .parquet, .csv, .tsv, .ipc or .ndjson"
            raise InvalidArgument(
                f"--out is {str(path)!r}, and no such file is written.",
                hint=f"name a folder{tables if one_table else ', without such a suffix'}.",
            )
        (check_new if output.is_table else check_replaceable)(path, force)
        return output

    @property
    def is_table(self) -> bool:
        """Whether the name ends as that of a table, and is not that of a folder."""
        kinds = FORMATS.keys() - OTHER_KINDS
        return self.path.suffix.lower() in kinds and not self.path.is_dir()

    def write(self, result: Any, **pages: str) -> None:
        """Write the tables, in a folder each as Parquet and CSV, with the summary and pages."""
        if self.is_table:
            with atomic_file(self.path, self.force) as file:
                write_table(next(iter(result.tables.values())), file)
            return
        with atomic_folder(self.path, self.force) as folder:
            for name, table in result.tables.items():
                write_table(table, folder / f"{name}.parquet")
                write_table(table, folder / f"{name}.csv")
            if result.answer:
                pages["summary.txt"] = result.summary() + "\n"
            for name, text in pages.items():
                (folder / name).write_text(text, encoding="utf-8")


def write_table(table: pl.DataFrame, file: Path) -> None:
    """Write a table in the format of its name; a spreadsheet runs no formula of a CSV."""
    match FORMATS[file.suffix.lower()]:
        case "parquet":
            table.write_parquet(file)
        case "ipc":
            table.write_ipc(file)
        case "ndjson":
            table.write_ndjson(file)
        case text_format:
            texts = [name for name, kind in table.schema.items() if kind in TEXTUAL]
            names = pl.DataFrame({"name": table.columns}).select(_harmless(pl.col("name")))
            table = table.with_columns(_harmless(pl.col(texts)))
            table.columns = names["name"].to_list()
            table.write_csv(file, separator=SEPARATORS[text_format])


def _harmless(text: pl.Expr) -> pl.Expr:
    """Texts, with an apostrophe before those that a spreadsheet would compute."""
    text = text.cast(pl.String)
    is_harmless = ~text.str.contains(FORMULA) | text.str.contains(NUMBER)
    return pl.when(is_harmless).then(text).otherwise(pl.lit("'") + text)
