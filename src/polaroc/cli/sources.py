"""The input of commands: files, the standard input and pipes."""

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

import polaroc as pr
from polaroc.cli.options import roles
from polaroc.cli.screen import print_notes
from polaroc.errors import InvalidArgument, PolarocError, quoted
from polaroc.files.read import scan, unchanged
from polaroc.files.write import keep_input
from polaroc.predictions.cases import MEASURED, Cases
from polaroc.predictions.columns import BY_DEFAULT, IDENTIFYING, named_columns

STDIN = "-"


@dataclass(frozen=True)
class FileTable:
    """The rows of files."""

    paths: list[str]
    decimal: str

    @cached_property
    def table(self) -> pl.LazyFrame:
        """All rows, the types of text columns inferred from all of them."""
        return scan(self.paths, (), self.decimal)

    def as_written(self, keys: Sequence[str]) -> pl.LazyFrame:
        """All rows; text files may not read the keys as numbers: 1.1 and 1.10 are two folds."""
        return scan(self.paths, keys, self.decimal) if keys else self.table

    def cases(self, options: Mapping[str, Any]) -> Cases[pl.LazyFrame]:
        """The rows as predictions; a note names the columns found by their names, and the rest."""
        schema = self.table.collect_schema()
        given = roles(schema, options)
        names = named_columns(given, schema)
        by_default = [role for role in BY_DEFAULT if role in options and role not in given]
        used = [f"{role} {quoted(names[role])}" for role in by_default if role in names]
        unused = [name for name in schema if all(name not in of_role for of_role in names.values())]
        notes = [f"Used by name: {', '.join(used)}."] if used else []
        notes += [f"Not used: {quoted(unused, 8)}."] if unused else []
        print_notes([f"Note: {' '.join(notes)}"] if notes else [])
        return pr.cases(self.as_written(_keys(names)), **given)

    def rows(self, options: Mapping[str, Any]) -> Cases[pl.DataFrame] | pl.DataFrame:
        """Predictions in memory; or measures, whose columns have no roles."""
        names = self.table.collect_schema().names()
        given = roles({}, options)
        if given.get("nulls") == "raise":
            del given["nulls"]
        if "truth" in given or "score" in given or not {*MEASURED} <= {*names}:
            return self.cases(options).collect()
        if given:
            named = ", ".join(f"--{role}" for role in given)
            raise InvalidArgument(
                f"the files hold measures, and for predictions alone is {named}.",
                hint="leave it out: measures have the columns 'model' and 'fold'.",
            )
        return self.as_written(names[: names.index("measure")]).collect()


def _keys(names: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns whose values tell rows apart."""
    return [name for role in IDENTIFYING for name in names.get(role, ())]


@contextmanager
def opened(files: Sequence[str], decimal: str) -> Iterator[FileTable]:
    """The table of the files; raise if one of them is written to while the block reads it."""
    with _pipes_as_files(files) as paths, unchanged(paths):
        yield FileTable(paths, decimal)


@contextmanager
def further_table(
    files: Sequence[str] | None, cases: Any, decimal: str
) -> Iterator[pl.DataFrame | None]:
    """Another table of the same columns, if files are given; its keys are read as in the cases."""
    if not files:
        yield None
        return
    with opened(files, decimal) as source:
        keys = _keys(cases.names) if isinstance(cases, Cases) else []
        yield source.as_written(keys).collect()


@contextmanager
def _pipes_as_files(files: Sequence[str]) -> Iterator[list[str]]:
    """The files; in place of `-` and named pipes, files with their content."""
    pipes = [file for file in files if file == STDIN or _is_pipe(file)]
    twice = next((pipe for pipe in pipes if pipes.count(pipe) > 1), None)
    if twice is not None:
        raise InvalidArgument(f"{twice} is given twice.", hint="a pipe can be read once.")
    with TemporaryDirectory(prefix="polaroc-") as folder:
        copies = {pipe: _copied(pipe, Path(folder, f"pipe-{i}")) for i, pipe in enumerate(pipes)}
        try:
            yield [copies.get(file, file) for file in files]
        except PolarocError as error:
            problem = error.problem
            for pipe, copy in copies.items():
                problem = problem.replace(copy, pipe)
            raise type(error)(problem, hint=error.hint) from None


def _is_pipe(file: str) -> bool:
    """Whether a file is a named pipe, or one that a shell made of `<(command)`."""
    return Path(file).is_fifo() or file.startswith(("/dev/stdin", "/dev/fd/"))


def _copied(pipe: str, file: Path) -> str:
    """A file with the content of a pipe, named after the format of its first line."""
    if pipe == STDIN and sys.stdin is None:
        raise InvalidArgument(
            "- reads the standard input, which is closed.",
            hint="name files, or put them in: cat FILE | polaroc evaluate - ...",
        )
    with nullcontext(sys.stdin.buffer) if pipe == STDIN else open(pipe, "rb") as content:
        with suppress(OSError, ValueError):
            # The standard input may be a file: polaroc evaluate - < FILE.
            keep_input(content.fileno())
        with file.open("wb") as copy:
            shutil.copyfileobj(content, copy)
    with file.open("rb") as copy:
        line = copy.readline(1_000_000)
    if not line:
        raise InvalidArgument(
            f"nothing came in on {'the standard input' if pipe == STDIN else repr(pipe)}.",
            hint="for example: cat predictions.csv | polaroc evaluate - ...",
        )
    begins = {b"PAR1": "parquet", b"ARROW1": "arrow", b"[": "json", b"{": "ndjson"}
    text = "tsv" if line.count(b"\t") > line.count(b",") else "csv"
    kinds = (kind for start, kind in begins.items() if line.lstrip().startswith(start))
    return str(file.rename(file.with_suffix(f".{next(kinds, text)}")))
