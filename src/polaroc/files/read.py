"""Read prediction files of any format as one lazy frame."""

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

import polars as pl

from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.files.atomic import is_utf8, keep_input
from polaroc.files.text_files import (
    ONE_A_LINE,
    SEPARATORS,
    TextFormat,
    check_header,
    numbers_in_text,
    refuse_misread,
    refuse_other_columns,
    refuse_other_format,
)

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet",
    ".csv": "csv", ".tsv": "tsv",
    ".arrow": "ipc", ".ipc": "ipc", ".feather": "ipc",
    ".ndjson": "ndjson", ".jsonl": "ndjson",
}  # fmt: skip
DATABASES = {".duckdb", ".ddb"}
COMPRESSED = {".gz", ".zst", ".zlib"}
ALLOWED = "allowed are Parquet, CSV, TSV, IPC/Arrow and NDJSON"
CHECK = "check the path; quote a pattern so that the shell leaves it alone."
ELSEWHERE = "copy the file to this machine."
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
# Total size up to which types of text columns are inferred from all rows.
INFERRED_WHOLE = 100_000_000
INFERRED_ROWS = 100_000
# Number of files that are opened one by one, so that errors name the damaged one.
NAMED = 1_000
PEEKED_ROWS = 100
# More than the empty lines at the end of a file.
FEW_BYTES = 1_000
# Canonical whole numbers: "007" is a text key, different from "7".
WHOLE = r"^(0|-?[1-9]\d{0,17})$"
AS_WRITTEN = TextFormat()
# Columns by folders named key=value, and their values.
Partitions: TypeAlias = tuple[tuple[str, str], ...]
# The table that a results folder holds in two formats.
MEASURES = "measures"


@dataclass(frozen=True)
class Source:
    """A file, and the partition columns of its folders.

    `above` are columns of folders above the path that the file was found by: they separate it
    from those of other paths.
    """

    file: Path
    partitions: Partitions = ()
    above: Partitions = ()

    @property
    def keys(self) -> dict[str, str]:
        """All partition columns."""
        return dict(self.above) | dict(self.partitions)

    @property
    def format(self) -> str:
        """The format by the suffix; raise where there is none."""
        kind = FORMATS.get(_suffix(self.file))
        if kind is None and _suffix(self.file) in DATABASES:
            raise InvalidArgument(
                f"{str(self.file)!r} is a database, and files are read as tables.",
                hint=f"give its address and a table: duckdb://{self.file} --table NAME.",
            )
        if kind is None:
            raise InvalidArgument(
                f"the format of {str(self.file)!r} cannot be told from its name; {ALLOWED}.",
                hint=ONE_A_LINE
                if _suffix(self.file) == ".json"
                else "rename the file, or convert it to Parquet.",
            )
        return kind


def scan(
    paths: Sequence[str], words: Sequence[str] = (), text: TextFormat = AS_WRITTEN
) -> pl.LazyFrame:
    """One lazy frame over files, glob patterns and hive-partitioned folders.

    Folders named key=value below a folder or a pattern become columns, whole numbers as
    Int64, all others as String; of several paths, those below the folder that all share. A
    file named twice is read once. Columns of `words` stay as
    they are written in CSV and TSV, so that 1.1 and 1.10 or 7 and 007 are two; they are
    Int64 where all of them are plain whole numbers. Of a results folder the Parquet file is
    read, not its copy in CSV. `text` is for CSV and TSV only.

    Examples
    --------
    >>> scan(["nowhere/*.parquet"])
    Traceback (most recent call last):
    polaroc.errors.InvalidArgument: no file matches 'nowhere/*.parquet'.
    Hint: check the path; quote a pattern so that the shell leaves it alone.
    """
    parts = _parts(paths, words, text)
    return parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal_relaxed")


class Stamps:
    """The state of the files behind some paths."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.stamps = {source.file: _stamp(source.file) for source in _sources(paths)}

    def check(self) -> None:
        """Raise if a file was written to, replaced or removed since."""
        changed = [str(file) for file, stamp in self.stamps.items() if _stamp(file) != stamp]
        if changed:
            raise InvalidPredictions(
                f"{changed[0]!r} changed while it was read: its rows may be of two tables.",
                hint="run it again when the file is complete.",
            )


def _stamp(file: Path) -> tuple[int, ...] | None:
    """Facts that change if a file is replaced or written to."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _parts(paths: Sequence[str], words: Sequence[str], text: TextFormat) -> list[pl.LazyFrame]:
    """The rows of the files of one format in one folder of each column."""
    by_path = {source.file.resolve(): source for source in _sources(paths)}
    sources = sorted(by_path.values(), key=_place)
    # A header alone says nothing of the types of its columns.
    sources = [source for source in sources if _has_rows(source)] or sources
    whole = {
        key
        for key in {key for source in sources for key in source.keys}
        if all(_is_whole(source.keys.get(key)) for source in sources)
    }
    parts = []
    for (kind, above, below), group in groupby(sources, key=_place):
        files = [source.file for source in group]
        rows = _scan(kind, files, words, text)
        partitions = _partitions_beside(rows, above, below)
        parts.append(_with_partitions(rows, partitions, whole))
    return parts


def _place(source: Source) -> tuple[str, Partitions, Partitions]:
    return source.format, source.above, source.partitions


def _sources(paths: Sequence[str]) -> Iterator[Source]:
    found = [(_root(path), _files(path)) for path in paths]
    levels = zip(*(root.parts for root, _ in found), strict=False)
    shared = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))
    for root, files in found:
        depth = len(root.parts)
        for file in files:
            keep_input(file)
            folders = _absolute(file).parent.parts
            yield Source(file, _partitions(folders[depth:]), _partitions(folders[shared:depth]))


def _root(path: str) -> Path:
    """The folder of a path below which the names of folders are columns."""
    there = Path(path)
    if os.path.isdir(path):
        return _absolute(there)
    if os.path.exists(path):
        return _absolute(there.parent)
    fixed = takewhile(lambda part: not glob.has_magic(part), there.parts)
    return _absolute(Path(*fixed))


def _absolute(path: Path) -> Path:
    """The path from the root, with the names of links as they are given."""
    return Path(os.path.abspath(path))


def _files(path: str) -> list[Path]:
    # Of a name that is too long Path.exists raises.
    found = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    matches = [*map(Path, found)]
    if not matches:
        raise InvalidArgument(
            f"no file matches {path!r}.", hint=ELSEWHERE if "://" in path else CHECK
        )
    files = []
    for match in matches:
        if match.is_dir():
            files += _in_folder(match)
        else:
            _refuse_no_file(match)
            files.append(match)
    return files


def _refuse_no_file(file: Path) -> None:
    if not is_utf8(str(file)):
        raise InvalidArgument(
            f"the name {str(file)!r} is not UTF-8.", hint="rename the file or its folder."
        )
    if not file.is_file():
        raise InvalidArgument(
            f"{str(file)!r} is a pipe or a device, allowed are files.",
            hint="name it without a pattern, give - for the standard input, or copy it to a file.",
        )


def _in_folder(folder: Path) -> list[Path]:
    depth = len(folder.parts)
    found = [
        file
        for file in sorted(folder.rglob("*"))
        if _suffix(file) in FORMATS
        and file.is_file()
        and not any(part.startswith((".", "_")) for part in file.parts[depth:])
    ]
    for file in found:
        _refuse_no_file(file)
    files = [file for file in found if not _is_copy(file)]
    formats = sorted({Source(file).format for file in files})
    if not files:
        raise InvalidArgument(
            f"the folder {str(folder)!r} holds no file that can be read; {ALLOWED}.",
            hint="name the files by their format, for example part-0.parquet.",
        )
    if len(formats) > 1:
        raise InvalidArgument(
            f"the folder {str(folder)!r} mixes files of {', '.join(formats)}, which may hold the "
            "same rows twice.",
            hint="name the files to read, for example with a pattern.",
        )
    return files


def _is_copy(file: Path) -> bool:
    """Whether a file is the copy in CSV of the measures beside it."""
    return file.name == f"{MEASURES}.csv" and file.with_suffix(".parquet").is_file()


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in COMPRESSED:
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


def _partitions(folders: Sequence[str]) -> Partitions:
    pairs = (folder.partition("=") for folder in folders)
    return tuple((unquote(key), unquote(value)) for key, equals, value in pairs if equals and key)


def _is_whole(value: str | None) -> bool:
    return value in (None, NULL_PARTITION) or bool(re.fullmatch(WHOLE, value or ""))


def _partitions_beside(rows: pl.LazyFrame, above: Partitions, below: Partitions) -> dict[str, str]:
    """Partitions that are no columns of the files; those `below` have the same values there."""
    schema = rows.collect_schema()
    both = {key: value for key, value in below if key in schema}
    if both:
        differs = [_differs(key, schema[key], value).any() for key, value in both.items()]
        found = rows.select(differs).collect(engine="streaming").row(0)
        for differs_here, (key, value) in zip(found, both.items(), strict=True):
            if differs_here:
                raise InvalidArgument(
                    f"both a folder and the files below it have the column {key!r}, and not all "
                    f"of these have {value!r} there.",
                    hint="name the files themselves, or drop the column from them.",
                )
    return {key: value for key, value in (*above, *below) if key not in schema}


def _differs(key: str, dtype: pl.DataType, value: str) -> pl.Expr:
    """Whether a column has other values than its folder; moments are written in many ways."""
    if dtype.is_numeric():
        return pl.col(key).ne_missing(_cell(value).cast(dtype, strict=False))
    if dtype.is_temporal() and dtype != pl.Date:
        return pl.lit(value=False)
    return pl.col(key).cast(pl.String).ne_missing(_cell(value))


def _cell(value: str) -> pl.Expr:
    """The value of a folder."""
    return pl.lit(None if value == NULL_PARTITION else value, pl.String)


def _with_partitions(
    rows: pl.LazyFrame, partitions: dict[str, str], whole: set[str]
) -> pl.LazyFrame:
    columns = []
    for key, value in partitions.items():
        columns.append(_cell(value).cast(pl.Int64 if key in whole else pl.String).alias(key))
    return rows.with_columns(columns)


def _scan(kind: str, files: list[Path], words: Sequence[str], text: TextFormat) -> pl.LazyFrame:
    # Files whose columns have another order or, where they are known, other types are read apart.
    alike: dict[tuple[tuple[str, pl.DataType | None], ...], list[Path]] = {}
    for file in files[:NAMED]:
        refuse_other_format(file, kind)
        try:
            schema = _scan_as(kind, [file], PEEKED_ROWS, text).collect_schema()
        except pl.exceptions.NoDataError:
            raise InvalidArgument(f"{str(file)!r} is empty.", hint="leave it out.") from None
        except pl.exceptions.PolarsError as error:
            reason = str(error).splitlines()[0][:200]
            raise InvalidArgument(
                f"{str(file)!r} cannot be read as {kind}: {reason}.",
                hint="the file may be damaged, or be named after another format.",
            ) from None
        check_header(file, kind, schema.names(), text)
        if kind in SEPARATORS:
            alike.setdefault(tuple((name, None) for name in schema), []).append(file)
        elif kind != "ndjson":
            alike.setdefault(tuple(schema.items()), []).append(file)
    if len(alike) > 1:
        refuse_other_columns({tuple(dict(key)): group for key, group in alike.items()})
        groups = list(alike.values())
        groups[0] += files[NAMED:]
        parts = [_scan(kind, group, words, text) for group in groups]
        return pl.concat(parts, how="diagonal_relaxed")
    is_small = _size(files) <= INFERRED_WHOLE
    rows = None if is_small else INFERRED_ROWS
    if kind not in SEPARATORS:
        return _scan_as(kind, files, rows, text)
    # Polars maps a file into memory to infer types: the process would die if it is truncated then.
    sources: list[Path] | list[bytes] = files
    if is_small:
        sources = [file.read_bytes() for file in files]
    inferred = _scan_as(kind, sources, rows, text).collect_schema()
    refuse_misread(files, inferred.names(), text.separator_of(kind))
    types = pl.Schema({**inferred, **_as_written(inferred, kind, files, words, text)})
    # NA may stand beyond the rows that types were inferred from.
    missing = [] if is_small else [name for name, dtype in types.items() if dtype.is_numeric()]
    texts = [name for name, dtype in inferred.items() if dtype == pl.String and name not in words]
    return numbers_in_text(_scan_csv(kind, files, text, types, missing), texts, text.decimal)


def _as_written(
    inferred: pl.Schema, kind: str, files: list[Path], words: Sequence[str], text: TextFormat
) -> dict[str, pl.DataType]:
    """Columns of `words` that would not survive a conversion to numbers and back."""
    kept: dict[str, pl.DataType] = {
        name: pl.String() for name in words if inferred.get(name, pl.String) != pl.String
    }
    numbers = [name for name in kept if inferred[name].is_integer()]
    if not numbers:
        return kept
    texts = _scan_csv(kind, files, text, pl.Schema({**inferred, **kept})).select(numbers)
    is_whole = texts.select(pl.all().str.contains(WHOLE).all()).collect(engine="streaming")
    plain = is_whole.row(0, named=True)
    return {name: string for name, string in kept.items() if not plain.get(name)}


def _has_rows(source: Source) -> bool:
    """Whether a text file has more than a header; others are taken to have rows."""
    if source.format not in SEPARATORS or source.file.suffix.lower() in COMPRESSED:
        return True
    with source.file.open("rb") as opened:
        header = opened.readline()
        # Of lines that end in CR alone the first holds all rows: they are refused later.
        if not header or b"\r" in header.rstrip(b"\r\n"):
            return True
        return bool(opened.read(FEW_BYTES).strip())


def _size(files: Sequence[Path]) -> int:
    return sum(file.stat().st_size for file in files)


def _scan_as(
    kind: str, files: list[Path] | list[bytes], rows: int | None, text: TextFormat
) -> pl.LazyFrame:
    """Files of one format, the types of text columns inferred from some rows, None for all."""
    if kind == "parquet":
        return pl.scan_parquet(files, glob=False, hive_partitioning=False)
    if kind == "ipc":
        return pl.scan_ipc(files, glob=False, hive_partitioning=False)
    if kind == "ndjson":
        # Unlike the others, it takes each name for a pattern.
        names = [glob.escape(str(file)) for file in files]
        return pl.scan_ndjson(names, infer_schema_length=rows)
    return pl.scan_csv(
        files, glob=False, separator=text.separator_of(kind), infer_schema_length=rows,
        infer_schema_files=len(files) if rows is None else 10, decimal_comma=text.decimal == ",",
    )  # fmt: skip


def _scan_csv(
    kind: str, files: list[Path], text: TextFormat, types: pl.Schema, missing: Sequence[str] = ()
) -> pl.LazyFrame:
    """Text files with columns of these types; NA in the columns `missing` is null."""
    return pl.scan_csv(
        files, glob=False, separator=text.separator_of(kind), schema=types,
        decimal_comma=text.decimal == ",", null_values=dict.fromkeys(missing, "NA") or None,
    )  # fmt: skip
