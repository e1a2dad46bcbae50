"""The input of commands: files, the standard input and pipes."""

import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
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
from polaroc.files.atomic import keep_input
from polaroc.files.read import scan, unchanged
from polaroc.predictions.canonical import IDENTIFYING, named_columns
from polaroc.predictions.cases import MEASURED, Cases
from polaroc.predictions.columns import BY_DEFAULT

STDIN = "-"
# First bytes of binary formats, and the suffix of their files.
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
# Unused columns that are named in a note.
MAX_UNUSED = 8


@dataclass(frozen=True)
class FileTable:
    """The rows of files."""

    paths: list[str]
    sep: str | None
    decimal: str

    @cached_property
    def table(self) -> pl.LazyFrame:
        """All rows, the types of text columns inferred from all of them."""
        return scan(self.paths, (), self.sep, self.decimal)

    def as_written(self, keys: Sequence[str]) -> pl.LazyFrame:
        """All rows; text files may not read the keys as numbers: 1.1 and 1.10 are two folds."""
        return scan(self.paths, keys, self.sep, self.decimal) if keys else self.table

    def cases(self, **words: Any) -> Cases[pl.LazyFrame]:
        """The rows as predictions, with the roles that are given on the command line."""
        schema = self.table.collect_schema()
        given = roles(schema, **words)
        names = named_columns(given, schema)
        print_notes(column_notes(names, words.keys() - given.keys(), schema.names()))
        return pr.cases(self.as_written(_keys(names)), **given)

    def rows(self, **words: Any) -> Cases[pl.DataFrame] | pl.DataFrame:
        """Predictions in memory; or measures, whose columns have no roles."""
        names = self.table.collect_schema().names()
        given = roles({}, **words)
        if given.get("nulls") == "raise":
            del given["nulls"]
        if "truth" in given or "score" in given or not {*MEASURED} <= {*names}:
            return self.cases(**words).collect()
        if given:
            options = ", ".join(f"--{role}" for role in given)
            raise InvalidArgument(
                f"the files hold measures, and for predictions alone is {options}.",
                hint="leave it out: measures have the columns 'model' and 'fold'.",
            )
        return self.as_written(names[: names.index("measure")]).collect()


def _keys(names: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns whose values tell rows apart."""
    return [name for role in IDENTIFYING for name in names.get(role, ())]


def column_notes(
    columns: Mapping[str, Sequence[str]], by_name: Collection[str], names: Sequence[str]
) -> list[str]:
    """A note on columns that have a role because of their names, and on those that have none."""
    found = [role for role in BY_DEFAULT if role in by_name and role in columns]
    used = [f"{role} {quoted(columns[role])}" for role in found]
    unused = [name for name in names if all(name not in own for own in columns.values())]
    notes = [f"Used by name: {', '.join(used)}."] if used else []
    notes += [f"Not used: {quoted(unused, MAX_UNUSED)}."] if unused else []
    return [f"Note: {' '.join(notes)}"] if notes else []


@contextmanager
def opened(files: Sequence[str], sep: str | None, decimal: Any) -> Iterator[FileTable]:
    """The table of the files; raise if one of them is written to while the block reads it."""
    with _pipes_as_files(files) as paths, unchanged(paths):
        yield FileTable(paths, sep, decimal)


@contextmanager
def further_table(
    files: Sequence[str] | None, cases: Any, sep: str | None, decimal: Any
) -> Iterator[pl.DataFrame | None]:
    """Another table of the same columns, if files are given; its keys are read as in the cases."""
    if not files:
        yield None
        return
    with opened(files, sep, decimal) as source:
        keys = _keys(cases.names) if isinstance(cases, Cases) else []
        yield source.as_written(keys).collect()


@contextmanager
def _pipes_as_files(files: Sequence[str]) -> Iterator[list[str]]:
    """The files; in place of `-` and named pipes, files with their content."""
    pipes = [file for file in files if file == STDIN or _is_pipe(file)]
    if len(set(pipes)) < len(pipes):
        twice = next(file for file in pipes if pipes.count(file) > 1)
        raise InvalidArgument(f"{twice} is given twice.", hint="a pipe can be read once.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="polaroc-"))) if pipes else None
        copies = {
            pipe: _copied(pipe, folder / f"pipe-{i}") for i, pipe in enumerate(pipes) if folder
        }
        try:
            yield [copies.get(file, file) for file in files]
        except PolarocError as error:
            problem = error.problem
            for pipe, copy in copies.items():
                problem = problem.replace(copy, pipe)
            raise type(error)(problem, hint=error.hint) from None


def _is_pipe(file: str) -> bool:
    """Whether a file is a named pipe, or one that a shell made of `<(command)`."""
    try:
        return Path(file).is_fifo() or file.startswith(("/dev/stdin", "/dev/fd/"))
    except ValueError:
        return False


def _copied(pipe: str, file: Path) -> str:
    """A file with the content of a pipe, named after its format."""
    with file.open("wb") as copy:
        if pipe == STDIN:
            if sys.stdin is None:
                raise InvalidArgument(
                    "- reads the standard input, which is closed.",
                    hint="name files, or put them in: cat FILE | polaroc evaluate - ...",
                )
            with suppress(OSError, ValueError):
                # The standard input may be a file: polaroc evaluate - < FILE.
                keep_input(sys.stdin.fileno())
            shutil.copyfileobj(sys.stdin.buffer, copy)
        else:
            with Path(pipe).open("rb") as opened_pipe:
                shutil.copyfileobj(opened_pipe, copy)
    return str(file.rename(file.with_suffix(f".{_format(file, pipe)}")))


def _format(file: Path, pipe: str) -> str:
    """The suffix of a file by its first bytes, or of text by its first line."""
    with file.open("rb") as opened_file:
        line = opened_file.readline(1_000_000)
    for magic, suffix in MAGIC.items():
        if line.startswith(magic):
            return suffix
    if not line:
        raise InvalidArgument(
            f"nothing came in on {'the standard input' if pipe == STDIN else repr(pipe)}.",
            hint="for example: cat predictions.csv | polaroc evaluate - ...",
        )
    if line.lstrip().startswith(b"["):
        return "json"
    if line.lstrip().startswith(b"{"):
        return "ndjson"
    return "tsv" if line.count(b"\t") > line.count(b",") else "csv"
