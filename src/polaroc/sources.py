"""Files of predictions as one lazy frame, whatever their format."""

import glob
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from polaroc.errors import InvalidArgument

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet",
    ".csv": "csv", ".tsv": "tsv",
    ".arrow": "ipc", ".ipc": "ipc", ".feather": "ipc",
    ".ndjson": "ndjson", ".jsonl": "ndjson",
}  # fmt: skip
COMPRESSED = {".gz", ".zst", ".zlib"}
ALLOWED = "allowed are Parquet, CSV, TSV, IPC/Arrow and NDJSON"


def scan(paths: Sequence[str]) -> pl.LazyFrame:
    """One lazy frame over files, globs and hive-partitioned folders.

    Parameters
    ----------
    paths
        File names, glob patterns or folders; formats are told by the suffix
        (.parquet .pq .csv .tsv .arrow .ipc .feather .ndjson .jsonl; text may be
        compressed as .gz, .zst). Folders named key=value become columns.

    Returns
    -------
    LazyFrame
        The rows of all files.

    Raises
    ------
    InvalidArgument
        Where nothing is found, or a suffix is unknown.

    Examples
    --------
    >>> scan(["nowhere/*.parquet"])
    Traceback (most recent call last):
    polaroc.errors.InvalidArgument: no file matches 'nowhere/*.parquet'.
    Hint: check the path; quote a pattern so that the shell leaves it alone.
    """
    files = [file for path in paths for file in _files(path)]
    parts = [
        _scan(kind, list(group)) for kind, group in groupby(sorted(files, key=_format), key=_format)
    ]
    return parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal_relaxed")


def _files(path: str) -> list[Path]:
    there = Path(path)
    if there.is_dir():
        found = sorted(
            file
            for file in there.rglob("*")
            if file.is_file() and not file.name.startswith((".", "_")) and _known(file)
        )
        if not found:
            raise InvalidArgument(
                f"the folder {path!r} holds no file that can be read; {ALLOWED}.",
                hint="name the files by their format, for example part-0.parquet.",
            )
        return found
    found = [there] if there.exists() else sorted(map(Path, glob.glob(path, recursive=True)))
    if not found:
        raise InvalidArgument(
            f"no file matches {path!r}.",
            hint="check the path; quote a pattern so that the shell leaves it alone.",
        )
    return [inner for file in found for inner in (_files(str(file)) if file.is_dir() else [file])]


def _known(file: Path) -> bool:
    return _suffix(file) in FORMATS


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in COMPRESSED:
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


def _format(file: Path) -> str:
    if not _known(file):
        raise InvalidArgument(
            f"the format of {str(file)!r} cannot be told from its name; {ALLOWED}.",
            hint="rename the file, or convert it to Parquet.",
        )
    return FORMATS[_suffix(file)]


def _scan(kind: str, files: list[Path]) -> pl.LazyFrame:
    hive = any(_partitions(file) for file in files)
    if kind == "parquet":
        return pl.scan_parquet(files, glob=False, hive_partitioning=hive)
    if kind == "ipc":
        return pl.scan_ipc(files, glob=False, hive_partitioning=hive)
    parts = []
    for partitions, group in groupby(sorted(files, key=_partitions), key=_partitions):
        columns = [pl.lit(value).alias(key) for key, value in partitions]
        parts.append(_scan_text(kind, list(group)).with_columns(columns))
    return pl.concat(parts, how="vertical_relaxed")


def _scan_text(kind: str, files: list[Path]) -> pl.LazyFrame:
    if kind == "ndjson":
        return pl.scan_ndjson(files)
    separator = "\t" if kind == "tsv" else ","
    return pl.scan_csv(files, glob=False, separator=separator)


def _partitions(file: Path) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in file.parts[:-1])
    return tuple((unquote(key), unquote(value)) for key, equals, value in pairs if equals and key)
