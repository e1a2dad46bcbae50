"""Pipes: what comes in on the standard input, goes out on the standard output, and JSON."""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import polars as pl
import typer

from polaroc.errors import InvalidArgument

PIPE = "-"
# How files of each kind begin; text is told apart by its first line.
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, full numbers and nothing else.")
]


@contextmanager
def without_stdin(files: list[str]) -> Iterator[list[str]]:
    """The files, where `-` was given the standard input in a file that lasts as long as needed.

    Parameters
    ----------
    files
        What was given on the command line.
    """
    if PIPE not in files:
        yield files
        return
    if files.count(PIPE) > 1:
        raise InvalidArgument("- is given twice.", hint="the standard input can be read once.")
    with TemporaryDirectory(prefix="polaroc-") as folder:
        kept = Path(folder) / "stdin"
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        named = kept.rename(kept.with_suffix(f".{kind(kept)}"))
        yield [str(named) if file == PIPE else file for file in files]


@contextmanager
def or_stdout(file: Path, name: str) -> Iterator[Path]:
    """The file to write, where `-` was given one whose content is printed once it is whole.

    Parameters
    ----------
    file
        What was given as `--out`.
    name
        What the file that stands in is called; its suffix is the format.
    """
    if str(file) != PIPE:
        yield file
        return
    with TemporaryDirectory(prefix="polaroc-") as folder:
        kept = Path(folder) / name
        yield kept
        with kept.open("rb") as opened:
            shutil.copyfileobj(opened, sys.stdout.buffer)


def kind(file: Path) -> str:
    """The suffix of a file, by how it begins."""
    with file.open("rb") as opened:
        line = opened.readline(1_000_000)
    for magic, suffix in MAGIC.items():
        if line.startswith(magic):
            return suffix
    if not line:
        raise InvalidArgument(
            "nothing came in on the standard input.",
            hint="for example: cat predictions.csv | polaroc evaluate - ...",
        )
    if line.lstrip().startswith(b"{"):
        return "ndjson"
    return "tsv" if line.count(b"\t") > line.count(b",") else "csv"


def print_json(result: pl.DataFrame | Mapping[str, Any]) -> None:
    """Print a table as a list of rows, or several results under their names.

    Parameters
    ----------
    result
        A table, or names with tables, words, numbers or lists of them.
    """
    if isinstance(result, pl.DataFrame):
        typer.echo(result.write_json())
        return
    told = {name: _plain(value) for name, value in result.items()}
    typer.echo(json.dumps(told, ensure_ascii=False, default=str))


def _plain(value: Any) -> Any:
    return json.loads(value.write_json()) if isinstance(value, pl.DataFrame) else value
