"""Standard input, standard output and JSON."""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf, isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import polars as pl
import typer

from polaroc.errors import InvalidArgument
from polaroc.files.text_files import MAGIC

PIPE = "-"
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, full numbers and nothing else.")
]


@contextmanager
def without_stdin(files: list[str]) -> Iterator[list[str]]:
    """The files; in place of `-` or a pipe a file of its content, as long as the block lasts."""
    pipes = [file for file in files if file == PIPE or _is_pipe(file)]
    if not pipes:
        yield files
        return
    if len(set(pipes)) < len(pipes):
        twice = next(file for file in pipes if pipes.count(file) > 1)
        raise InvalidArgument(f"{twice} is given twice.", hint="a pipe can be read once.")
    with TemporaryDirectory(prefix="polaroc-") as folder:
        copies = {pipe: _copied(pipe, Path(folder) / f"pipe-{i}") for i, pipe in enumerate(pipes)}
        yield [copies.get(file, file) for file in files]


def _is_pipe(file: str) -> bool:
    """Whether a file is a named pipe, or one that a shell made of `<(command)`."""
    try:
        return Path(file).is_fifo() or file.startswith(("/dev/stdin", "/dev/fd/"))
    except ValueError:
        return False


def _copied(pipe: str, file: Path) -> str:
    """A file with what comes out of a pipe, named after its format."""
    with file.open("wb") as copy:
        if pipe == PIPE:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        else:
            with Path(pipe).open("rb") as opened:
                shutil.copyfileobj(opened, copy)
    return str(file.rename(file.with_suffix(f".{kind(file, pipe)}")))


@contextmanager
def or_stdout(file: Path, name: str) -> Iterator[Path]:
    """The file to write, where `-` was given one whose content is printed once it is whole."""
    if str(file) != PIPE:
        yield file
        return
    with TemporaryDirectory(prefix="polaroc-") as folder:
        kept = Path(folder) / name
        yield kept
        with kept.open("rb") as opened:
            shutil.copyfileobj(opened, sys.stdout.buffer)


def kind(file: Path, pipe: str = PIPE) -> str:
    """The suffix of a file that came out of a pipe, by how it begins.

    Text formats are recognised by their first line.
    """
    with file.open("rb") as opened:
        line = opened.readline(1_000_000)
    for magic, suffix in MAGIC.items():
        if line.startswith(magic):
            return suffix
    if not line:
        raise InvalidArgument(
            f"nothing came in on {'the standard input' if pipe == PIPE else repr(pipe)}.",
            hint="for example: cat predictions.csv | polaroc evaluate - ...",
        )
    if line.lstrip().startswith(b"{"):
        return "ndjson"
    return "tsv" if line.count(b"\t") > line.count(b",") else "csv"


def json_text(result: pl.DataFrame | Mapping[str, Any]) -> str:
    """A table as a list of rows, or several results under their names."""
    return json.dumps(_plain(result), ensure_ascii=False)


def plain_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON has them, in words what it has no form for.

    NaN, inf and -inf are these words, so that null is what is missing; bytes are their text.

    Examples
    --------
    >>> plain_rows(pl.DataFrame({"k": [float("inf"), None], "b": [b"A", None]}))
    [{'k': 'inf', 'b': 'A'}, {'k': None, 'b': None}]
    """
    return [_plain(row) for row in table.iter_rows(named=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, pl.DataFrame):
        return plain_rows(value)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return {inf: "inf", -inf: "-inf"}.get(value, "NaN")
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value if isinstance(value, str | int | float | None) else str(value)
