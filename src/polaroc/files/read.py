"""Read prediction files of any format as one lazy frame."""

import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from polaroc.base.text import MISSING_WORDS
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted
from polaroc.files.write import keep_input

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet",
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv",
    ".arrow": "ipc", ".ipc": "ipc", ".feather": "ipc",
    ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "json",
}  # fmt: skip
# Formats of files that a folder may hold besides its table, such as charts and notes.
NOT_IN_FOLDERS = {".json", ".txt"}
COMPRESSED = {".gz", ".zst", ".zlib"}
SEPARATORS = {"csv": ",", "tsv": "\t"}
ALLOWED = "allowed are Parquet, CSV, TSV, IPC/Arrow, NDJSON and JSON"
ONLY_UTF_8 = "Of text only UTF-8 is read: convert it: iconv -f ENCODING -t UTF-8 FILE > NEW."
# Canonical whole numbers: "007" is a text key, different from "7".
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
# The table that a results folder holds in two formats.
MEASURES = "measures"


def scan(paths: Sequence[str], words: Sequence[str] = (), decimal: str = ".") -> pl.LazyFrame:
    """One lazy frame over files, glob patterns and folders.

    Folders named key=value in a path become columns that the files lack, whole numbers as Int64,
    others as String. Columns of CSV and TSV have a type that fits all values; those of `words`
    stay as they are written unless all are plain whole numbers: 1.1 and 1.10, or 7 and 007, are
    two keys. Columns of several files are joined by name. Of a results folder, the Parquet file
    is read.

    Examples
    --------
    >>> scan(["nowhere/*.parquet"])
    Traceback (most recent call last):
    polaroc.errors.InvalidArgument: no file matches 'nowhere/*.parquet'.
    Hint: check the path; quote a pattern so that the shell leaves it alone; for several ...
    """
    parts, files = list[pl.LazyFrame](), _find_files(paths)
    for file in files:
        rows = _scan_file(file, words, decimal)
        pairs = [part.split("=", 1) for part in file.parent.parts if "=" in part[1:]]
        keys = {unquote(key): _hive_value(unquote(value)) for key, value in pairs}
        names = rows.collect_schema()
        rows = rows.with_columns(**{key: keys[key] for key in keys if key not in names})
        parts.append(rows)
        if differ := {*parts[0].collect_schema()} ^ {*rows.collect_schema()}:
            raise InvalidArgument(
                f"of {str(file)!r} and {str(files[0])!r} only one has {quoted(sorted(differ))}.",
                hint="give files of one table, whose columns have the same names.",
            )
    rows = pl.concat(parts, how="diagonal_relaxed")
    empty = [name for name, kind in rows.collect_schema().items() if kind == pl.Null]
    return rows.cast(dict.fromkeys(empty, pl.String))


def _hive_value(value: str) -> pl.Expr:
    """A value in the name of a folder, as Hive writes it."""
    if value == "__HIVE_DEFAULT_PARTITION__":
        return pl.lit(None)
    return pl.lit(int(value), pl.Int64) if re.fullmatch(WHOLE, value) else pl.lit(value)


def _find_files(paths: Sequence[str]) -> list[Path]:
    """The files behind paths, each once; none of them is replaced by an output."""
    by_path: dict[Path, Path] = {}
    for path in paths:
        matches = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        if not matches:
            raise InvalidArgument(
                f"no file matches {path!r}.",
                hint="check the path; quote a pattern so that the shell leaves it alone; for "
                "several columns repeat the option, --score A --score B.",
            )
        for match in map(Path, matches):
            for file in _in_folder(match) if match.is_dir() else [match]:
                if not file.is_file():
                    raise InvalidArgument(
                        f"{str(file)!r} is a pipe or a device, allowed are files.",
                        hint="name it without a pattern, or copy it to a file.",
                    )
                # Polars takes no names in other encodings.
                str(file).encode()
                keep_input(file)
                by_path.setdefault(file.resolve(), file)
    return [*by_path.values()]


def _in_folder(folder: Path) -> list[Path]:
    """The files of a folder and those below it, without hidden ones."""
    results = folder / f"{MEASURES}.parquet"
    if results.is_file():
        return [results]
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if _suffix(file) in FORMATS.keys() - NOT_IN_FOLDERS and not file.is_dir()
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    ]  # fmt: skip
    formats = sorted({FORMATS[_suffix(file)] for file in files})
    if len(formats) != 1:
        raise InvalidArgument(
            f"the folder {str(folder)!r} mixes files of {', '.join(formats)}, which may hold the "
            "same rows twice." if formats
            else f"the folder {str(folder)!r} holds no file that can be read; {ALLOWED}.",
            hint="name the files to read, for example with a pattern.",
        )  # fmt: skip
    return files


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() not in COMPRESSED]
    return suffixes[-1] if suffixes else ""


def _scan_file(file: Path, words: Sequence[str], decimal: str) -> pl.LazyFrame:
    kind = FORMATS.get(_suffix(file))
    if kind is None:
        raise InvalidArgument(
            f"the format of {str(file)!r} cannot be told from its name; {ALLOWED}.",
            hint="rename the file, or convert it to Parquet; polaroc.warehouse, in Python, reads "
            "tables of a database.",
        )
    try:
        match kind:
            case "parquet":
                rows = pl.scan_parquet(file, glob=False, hive_partitioning=False)
            case "ipc":
                rows = pl.scan_ipc(file, glob=False, hive_partitioning=False)
            case "ndjson":
                # Unlike the other readers, it reads each name as a glob pattern.
                rows = pl.scan_ndjson(glob.escape(str(file)), infer_schema_length=None)
            case "json":
                rows = pl.read_json(file, infer_schema_length=None).lazy()
            case _:
                return _scan_text(file, words, SEPARATORS[kind], decimal)
        rows.collect_schema()
    except pl.exceptions.NoDataError:
        raise InvalidArgument(f"{str(file)!r} is empty.", hint="leave it out.") from None
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0][:200]
        raise InvalidPredictions(
            f"{str(file)!r} cannot be read as {kind}: {reason}.",
            hint="a row has more fields than the header: put text that has the separator in "
            "quotes; decimal commas need ';' between the fields, and --decimal ,."
            if "more fields" in reason
            else f"is it damaged, or named after another format? {ONLY_UTF_8}",
        ) from None
    return rows


def _scan_text(file: Path, words: Sequence[str], separator: str, decimal: str) -> pl.LazyFrame:
    """A CSV or TSV file, whose columns have a type that fits all of their values."""
    rows = pl.scan_csv(file, glob=False, separator=separator, infer_schema=False)
    names = [*rows.collect_schema()]
    if len(names) == 1:
        # A table of predictions has several columns: the mark between them is another one.
        other = max(",;\t|", key=names[0].count)
        if other in names[0] and other != separator:
            return _scan_text(file, words, other, decimal)
    if separator == decimal:
        raise InvalidArgument(
            f"a comma is the decimal mark, and the separator of {str(file)!r} too.",
            hint="separate the fields by ';' or tabs.",
        )
    # Polars renames the second of two equal names.
    repeated = [name for name in names if name and f"{name}_duplicated_0" in names]
    if repeated:
        raise InvalidArgument(
            f"{str(file)!r} has more than one column {quoted(repeated)}.",
            hint="rename or remove the others.",
        )
    patterns = _patterns(decimal)
    whole: dict[type[pl.DataType], str] = {pl.Int64: WHOLE}
    fits = {name: whole if name in words else patterns for name in names}
    # The first rows rule out most types. Of all rows all columns are read: only then does Polars
    # refuse a row with more fields than the header, whose values would be shifted.
    for part in (rows.head(1_000), rows):
        tests = [
            pl.col(name).str.contains(pattern).all().alias(f"{kind} {name}")
            for name, kinds in fits.items() for kind, pattern in kinds.items()
        ]  # fmt: skip
        nulls = pl.struct(pl.all().null_count()).alias("nulls")
        tested = part.select(nulls, *tests).collect(engine="streaming")
        fits = {
            name: {kind: kinds[kind] for kind in kinds if tested[f"{kind} {name}"][0]}
            for name, kinds in fits.items()
        }
    types = {name: next(iter(kinds)) for name, kinds in fits.items() if kinds}
    return rows.with_columns(**{name: _value(name, types[name], decimal) for name in types})


def _patterns(decimal: str) -> dict[type[pl.DataType], str]:
    """The types of columns of text files, and what their values look like if not missing."""
    mark = re.escape(decimal)
    patterns = {
        pl.Null: "", pl.Int64: r"[+-]?[0-9]{1,18}",
        pl.Float64: rf"[+-]?(([0-9]+{mark}?[0-9]*|{mark}[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?)",
        pl.Boolean: "true|false",
    }  # fmt: skip
    missing = "|".join(map(re.escape, MISSING_WORDS))
    return {kind: rf"(?i)^\s*({like}|{missing})\s*$" for kind, like in patterns.items()}


def _value(name: str, kind: type[pl.DataType], decimal: str) -> pl.Expr:
    """The values of a text column as a type."""
    text = pl.col(name).str.strip_chars()
    if kind == pl.Null:
        return pl.lit(None)
    if kind == pl.Boolean:
        word = text.str.to_lowercase()
        return pl.when(word.is_in(["true", "false"])).then(word == "true")
    number = text.str.replace(decimal, ".", literal=True).cast(kind, strict=False)
    return number if kind == pl.Int64 else number.fill_nan(None)


@contextmanager
def unchanged(paths: Sequence[str]) -> Iterator[None]:
    """Raise if a file is written to, replaced or removed while the block reads it."""

    def state(file: Path) -> tuple[int, ...] | None:
        status = file.stat() if file.exists() else None
        return status and (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    before = {file: state(file) for file in _find_files(paths)}
    try:
        yield
    finally:
        # Raised also after another error, which the change of the file may have caused.
        changed = [file for file in before if state(file) != before[file]]
        if changed:
            raise InvalidPredictions(
                f"{str(changed[0])!r} changed while it was read: its rows may be of two tables.",
                hint="run it again when the file is complete.",
            )
