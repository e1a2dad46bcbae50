"""Standard input, standard output and JSON."""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf, isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import polars as pl
import typer

from polaroc.errors import InvalidArgument, PolarocError
from polaroc.files.atomic import keep_input
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
        try:
            yield [copies.get(file, file) for file in files]
        except PolarocError as error:
            found = error.found
            for pipe, copy in copies.items():
                found = found.replace(copy, pipe)
            raise type(error)(found, hint=error.hint) from None


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
            if sys.stdin is None:
                raise InvalidArgument(
                    "- reads the standard input, which is closed.",
                    hint="name files, or put them in: cat FILE | polaroc evaluate - ...",
                )
            with suppress(OSError, ValueError):
                # It may be a file: polaroc evaluate - < FILE.
                keep_input(sys.stdin.fileno())
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
    if line.lstrip().startswith(b"["):
        raise InvalidArgument(
            "what came in is a JSON array, allowed are Parquet, CSV, TSV, IPC/Arrow and NDJSON.",
            hint="put a row on a line in between: | jq -c '.[]' |",
        )
    if line.lstrip().startswith(b"{"):
        return "ndjson"
    return "tsv" if line.count(b"\t") > line.count(b",") else "csv"


def json_text(result: pl.DataFrame | Mapping[str, Any]) -> str:
    """A table as a list of rows, or several results under their names."""
    if isinstance(result, pl.DataFrame) and not _has_unwritten(result):
        return result.write_json()
    document = (
        plain_rows(result)
        if isinstance(result, pl.DataFrame)
        else {name: _plain(value) for name, value in result.items()}
    )
    return json.dumps(document, ensure_ascii=False, default=str)


def plain_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON has them, in words what it has no form for.

    NaN, inf and -inf are these words, so that null is what is missing; bytes are
    their text, or hexadecimal where they are none.

    Examples
    --------
    >>> plain_rows(pl.DataFrame({"k": [float("inf"), None], "b": [b"A", None]}))
    [{'k': 'inf', 'b': 'A'}, {'k': None, 'b': None}]
    """
    binary = [name for name, kind in table.schema.items() if kind == pl.Binary]
    written: list[dict[str, Any]] = json.loads(
        table.with_columns(_text(table, binary)).write_json()
    )
    if not _has_unwritten(table):
        return written
    return [
        {name: _in_words(value, row[name]) for name, value in plain.items()}
        for plain, row in zip(written, table.iter_rows(named=True), strict=True)
    ]


def _text(table: pl.DataFrame, columns: Sequence[str]) -> list[pl.Series]:
    """Columns of bytes as text."""
    texts = []
    for name in columns:
        try:
            texts.append(table[name].cast(pl.String))
        except pl.exceptions.PolarsError:
            texts.append(table[name].bin.encode("hex"))
    return texts


def _has_unwritten(table: pl.DataFrame) -> bool:
    """Whether the table may hold values that JSON lacks."""
    kinds = table.schema.items()
    floats = [name for name, kind in kinds if kind.is_float()]
    return any(kind.is_nested() or kind == pl.Binary for _, kind in kinds) or any(
        not table[name].drop_nulls().is_finite().all() for name in floats
    )


def _in_words(written: Any, value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return {inf: "inf", -inf: "-inf"}.get(value, "NaN")
    if isinstance(value, dict) and isinstance(written, dict):
        return {name: _in_words(written[name], value[name]) for name in written}
    if isinstance(value, list) and isinstance(written, list):
        return [_in_words(*pair) for pair in zip(written, value, strict=True)]
    return written


def _plain(value: Any) -> Any:
    if isinstance(value, pl.DataFrame):
        return plain_rows(value)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return _in_words(value, value)
