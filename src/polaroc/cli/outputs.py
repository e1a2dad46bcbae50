"""Where commands write: folders and files, and whether they may replace others."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from polaroc.base.text import escape_spreadsheet
from polaroc.errors import InvalidArgument
from polaroc.files.atomic import atomic_file, atomic_folder, check_new, check_replaceable
from polaroc.files.read import COMPRESSED, FORMATS, MEASURES

# Suffixes that no folder is likely to have.
OTHER_KINDS = {".xlsx", ".xls", ".json", ".txt", ".html", ".pdf", ".png", ".svg"}


def out_option(text: str) -> Any:
    """The option --out of a command."""
    return typer.Option("--out", "-o", help=text, metavar="PATH")


Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace what is there; in a folder with other files, those of the same names.",
    ),
]


@dataclass(frozen=True)
class Output:
    """A folder of results, or one file of them where the name ends as a table's."""

    path: Path
    force: bool
    one_table: bool = True  # whether the results may be one table

    @classmethod
    def checked(cls, path: Path | None, force: bool, one_table: bool = True) -> "Output | None":
        """The output of a name under which something may be written; None without one."""
        if path is None:
            return None
        output = cls(path, force, one_table)
        output.check()
        return output

    @property
    def is_table(self) -> bool:
        """Whether the name ends as that of a table, and is not that of a folder."""
        return self.path.suffix.lower() in FORMATS and not self.path.is_dir()

    def check(self) -> None:
        """Refuse a name under which nothing may be written."""
        if self.path.suffix.lower() in COMPRESSED:
            raise InvalidArgument(
                f"--out is {str(self.path)!r}, and nothing is written compressed.",
                hint="end it in .parquet, or name a folder.",
            )
        if self.path.suffix.lower() in OTHER_KINDS and not self.path.is_dir():
            raise InvalidArgument(
                f"--out is {str(self.path)!r}, and no such file is written.",
                hint="name a folder, or a table that ends in .parquet, .csv, .tsv, .ipc or .ndjson."
                if self.one_table
                else "name a folder, without such a suffix.",
            )
        if self.is_table and not self.one_table:
            raise InvalidArgument(
                f"--out is {str(self.path)!r}, and several files are written.",
                hint="name a folder, without such a suffix.",
            )
        if self.is_table:
            check_new(self.path, self.force)
        else:
            check_replaceable(self.path, self.force)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A temporary folder, or file, that becomes the output."""
        self.check()
        if self.is_table:
            with atomic_file(self.path, self.force) as file:
                yield file
        else:
            with atomic_folder(self.path, self.force) as folder:
                yield folder


def write_measures(measures: pl.DataFrame, where: Path) -> None:
    """Write measures to one table, or into a folder as Parquet and as CSV.

    A spreadsheet runs no formula of the CSV.
    """
    if where.is_dir():
        write_measures(measures, where / f"{MEASURES}.parquet")
        write_measures(measures, where / f"{MEASURES}.csv")
        return
    match FORMATS[where.suffix.lower()]:
        case "parquet":
            measures.write_parquet(where)
        case "ipc":
            measures.write_ipc(where)
        case "ndjson":
            measures.write_ndjson(where)
        case kind:
            separator = "\t" if kind == "tsv" else ","
            escape_spreadsheet(measures).write_csv(where, separator=separator)


def write_result(result: pl.DataFrame, output: Output | None) -> None:
    """Write the table of a result, where an output is asked for."""
    if output is not None:
        with output.staging() as where:
            write_measures(result, where)


def write_tables(result: Any, names: Sequence[str], folder: Path) -> None:
    """Write what a result has under these names into a folder as CSV."""
    for name in names:
        write_measures(getattr(result, name), folder / f"{name}.csv")


@contextmanager
def replaced(file: Path, force: bool) -> Iterator[Path]:
    """The file, or with `force` a temporary one that replaces it."""
    with atomic_file(file, True) if force else nullcontext(file) as where:
        yield where
