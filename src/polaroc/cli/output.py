"""Where commands write: folders and files, and whether they may replace others."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from polaroc.charts.saving import CHART_FORMATS, chart_bytes
from polaroc.errors import InvalidArgument
from polaroc.files.atomic import atomic_file, atomic_folder, check_new, check_replaceable
from polaroc.files.read import COMPRESSED, FORMATS, MEASURES, SEPARATORS

STDOUT = "-"
# Beginnings of cells that spreadsheets read as formulas, except plain numbers.
FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[+-]?\d+(\.\d+)?$"
# Suffixes that no folder is likely to have.
OTHER_KINDS = {".xlsx", ".xls", ".json", ".txt", ".html", ".pdf", ".png", ".svg"}


@dataclass(frozen=True)
class Output:
    """A folder of results, or one table if the name ends as a table's."""

    path: Path
    force: bool

    @classmethod
    def checked(cls, path: Path | None, force: bool, one_table: bool = True) -> "Output | None":
        """The output under a name, refused before anything is computed; None without a name."""
        if path is None:
            return None
        output = cls(path, force)
        suffix = path.suffix.lower()
        if suffix in COMPRESSED:
            raise InvalidArgument(
                f"--out is {str(path)!r}, and nothing is written compressed.",
                hint="end it in .parquet, or name a folder.",
            )
        if not path.is_dir() and (suffix in OTHER_KINDS or (suffix in FORMATS and not one_table)):
            raise InvalidArgument(
                f"--out is {str(path)!r}, and no such file is written.",
                hint="name a folder, or a table that ends in .parquet, .csv, .tsv, .ipc or .ndjson."
                if one_table
                else "name a folder, without such a suffix.",
            )
        output.check()
        return output

    @property
    def is_table(self) -> bool:
        """Whether the name ends as that of a table, and is not that of a folder."""
        kinds = FORMATS.keys() - OTHER_KINDS
        return self.path.suffix.lower() in kinds and not self.path.is_dir()

    def check(self) -> None:
        """Refuse to replace what polaroc did not write, or reads."""
        if self.is_table:
            check_new(self.path, self.force)
        else:
            check_replaceable(self.path, self.force)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A temporary folder, or file, that becomes the output when the block ends."""
        write = atomic_file if self.is_table else atomic_folder
        with write(self.path, self.force) as where:
            yield where


def write_table(table: pl.DataFrame, where: Path) -> None:
    """Write a table in the format of its name; into a folder as Parquet and as CSV.

    A spreadsheet runs no formula of the CSV.
    """
    if where.is_dir():
        write_table(table, where / f"{MEASURES}.parquet")
        write_table(table, where / f"{MEASURES}.csv")
        return
    match FORMATS[where.suffix.lower()]:
        case "parquet":
            table.write_parquet(where)
        case "ipc":
            table.write_ipc(where)
        case "ndjson":
            table.write_ndjson(where)
        case kind:
            _without_formulas(table).write_csv(where, separator=SEPARATORS[kind])


def _without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """A table with an apostrophe before names and texts that a spreadsheet would compute."""

    def escaped(text: pl.Expr) -> pl.Expr:
        risky = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
        return pl.when(risky).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)

    kinds = (pl.String, pl.Categorical, pl.Enum)
    texts = [name for name, kind in table.schema.items() if kind in kinds]
    names = pl.DataFrame({"name": table.columns}).select(escaped(pl.col("name"))).to_series()
    safe = table.with_columns(escaped(pl.col(name).cast(pl.String)).alias(name) for name in texts)
    return safe.rename(dict(zip(table.columns, names, strict=True)))


def check_chart_format(file: Path) -> None:
    """Refuse a name that does not end as that of a chart."""
    if file.suffix[1:].lower() not in CHART_FORMATS:
        raise InvalidArgument(
            f"--out is {str(file)!r}, allowed are names that end in "
            f"{', '.join(f'.{kind}' for kind in CHART_FORMATS)}.",
            hint="for example --out roc.html.",
        )


def save_chart(chart: Any, file: Path) -> None:
    """Write an Altair chart in the format of its name."""
    file.write_bytes(chart_bytes(chart, file.suffix[1:].lower()))
