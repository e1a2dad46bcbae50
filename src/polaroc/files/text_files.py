"""Checks of files that would be misread: format, encoding, separator, line ends, columns."""

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from polaroc.base.text import is_missing_text
from polaroc.errors import InvalidArgument, InvalidPredictions, check_choice, quoted

SEPARATORS = {"csv": ",", "tsv": "\t"}
OTHER_SEPARATORS = ";\t|"
NO_SEPARATORS = '"\n\r'
# First bytes of binary formats and the suffix of their files; a kind that has another name.
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
KINDS = {"arrow": "ipc"}
# Byte order marks of UTF-16, and the replacement of undecodable bytes.
UTF_16, UNKNOWN_LETTER, ZERO = (b"\xff\xfe", b"\xfe\xff"), "\ufffd", "\0"
# Suffix that Polars gives a repeated column name.
REPEATED = re.compile(r"(.*)_duplicated_\d+", re.DOTALL)
FIRST_LINE, FIRST_ROWS = 1_000_000, 100
ONE_A_LINE = "write a row a line, as NDJSON: jq -c '.[]' FILE > NEW.ndjson."
# A first line by which a spreadsheet is told the separator.
FOR_SPREADSHEETS = re.compile(r"sep=(.?)", re.IGNORECASE)
ONLY_UTF_8 = (
    "only UTF-8 is read: save the file as UTF-8, or convert it: "
    "iconv -f ENCODING -t UTF-8 FILE > NEW."
)


@dataclass(frozen=True)
class TextFormat:
    """How fields and decimals are written in CSV and TSV; None: commas, and tabs in TSV.

    Examples
    --------
    >>> TextFormat("tab").separator_of("csv"), TextFormat().separator_of("csv")
    ('\\t', ',')
    """

    separator: str | None = None
    decimal: Literal[".", ","] = "."

    def __post_init__(self) -> None:
        check_choice("decimal", self.decimal, (".", ","))
        if self.separator in ("tab", "\\t"):
            object.__setattr__(self, "separator", "\t")
        mark = self.separator
        if mark is not None and (len(mark.encode()) != 1 or mark in NO_SEPARATORS):
            raise InvalidArgument(
                f"the separator is {mark!r}, allowed is one ASCII character.",
                hint=separator_hint(";"),
            )

    def separator_of(self, kind: str) -> str:
        """The separator of a format; raise where it would also be the decimal mark."""
        if self.separator is None and SEPARATORS[kind] == self.decimal:
            raise InvalidArgument(
                f"a comma is the decimal mark, and by default the separator of {kind.upper()} too.",
                hint="add --sep ';', or --sep , where numbers are in quotes.",
            )
        return self.separator or SEPARATORS[kind]


def refuse_other_format(file: Path, kind: str) -> None:
    """Raise if a file begins as one of another format, or as text in UTF-16."""
    with file.open("rb") as opened:
        begun = opened.read(max(map(len, MAGIC)))
    for magic, suffix in MAGIC.items():
        if begun.startswith(magic) and kind != KINDS.get(suffix, suffix):
            raise InvalidArgument(
                f"{str(file)!r} is {suffix.capitalize()}, and its name says {kind.upper()}.",
                hint=f"rename it to {file.with_suffix('.' + suffix).name!r}.",
            )
    if kind in (*SEPARATORS, "ndjson") and begun.startswith(UTF_16):
        raise InvalidArgument(f"{str(file)!r} is UTF-16 text.", hint=ONLY_UTF_8)


def refuse_other_columns(orders: Mapping[tuple[str, ...], Sequence[Path]]) -> None:
    """Raise if files, by their columns in order, do not have the same columns in any order."""
    (first, alike), *others = orders.items()
    for names, files in others:
        differ = sorted(set(names) ^ set(first))
        if differ:
            raise InvalidArgument(
                f"of {str(files[0])!r} and {str(alike[0])!r} only one has {quoted(differ)}.",
                hint="give files of one table, whose columns have the same names.",
            )


def check_header(file: Path, kind: str, names: Sequence[str], text: TextFormat) -> None:
    """Raise if the header of a text file was misread as `names`."""
    if kind == "ndjson":
        _refuse_repeated(file, _first_keys(file))
    if kind not in SEPARATORS:
        return
    if any(ZERO in name or UNKNOWN_LETTER in name for name in names):
        encoding = "UTF-16" if any(ZERO in name for name in names) else "not UTF-8"
        raise InvalidArgument(f"{str(file)!r} is {encoding} text.", hint=ONLY_UTF_8)
    if any(re.search("\r(?!\n)", name) for name in names):
        raise InvalidArgument(
            f"{str(file)!r} has lines that end in a carriage return (CR) alone.",
            hint="end them in a line feed: tr '\\r' '\\n' < FILE > NEW.",
        )
    separator = text.separator_of(kind)
    if names and FOR_SPREADSHEETS.fullmatch(names[0]):
        raise InvalidArgument(
            f"{str(file)!r} begins with a line for spreadsheets, {names[0]!r}.",
            hint="leave it out: tail -n +2 FILE > NEW.",
        )
    others = {*OTHER_SEPARATORS, *SEPARATORS.values()} - {separator}
    mark = next((mark for mark in sorted(others) if len(names) == 1 and mark in names[0]), None)
    if mark is not None:
        raise InvalidArgument(
            f"{str(file)!r} has one column, {quoted(names)}.", hint=separator_hint(mark)
        )
    repeated = (REPEATED.fullmatch(name) for name in names)
    if any(match is not None and match[1] in names for match in repeated):
        header = pl.scan_csv(
            file, glob=False, separator=separator, has_header=False, n_rows=1, infer_schema=False,
        )  # fmt: skip
        _refuse_repeated(file, header.collect().row(0))


def numbers_in_text(rows: pl.LazyFrame, names: Sequence[str], decimal: str) -> pl.LazyFrame:
    """Text columns that hold nothing but numbers as numbers, where Polars takes them for text.

    It does so beside Inf, nan, +3, NA and spaces.

    Examples
    --------
    >>> rows = pl.LazyFrame({"score": ["+3", "-Inf", "nan", "NA"], "model": ["A", "B", "NA", "3"]})
    >>> numbers_in_text(rows, ["score", "model"], ".").collect()["score"].to_list()
    [3.0, -inf, None, None]
    """
    numbers, only_numbers = {}, {}
    for name in names:
        number = number_in_text(pl.col(name), decimal)
        missing = pl.col(name).is_null() | is_missing_text(pl.col(name))
        numbers[name] = number.alias(name)
        only_numbers[name] = (number.is_not_null() | missing).all() & number.count().gt(0)
    # The first rows tell most text.
    for part in (rows.head(FIRST_ROWS), rows):
        checks = [only_numbers[name].alias(name) for name in names]
        found = part.select(checks).collect(engine="streaming").row(0) if names else ()
        names = [name for name, is_number in zip(names, found, strict=True) if is_number]
    return rows.with_columns(numbers[name] for name in names)


def number_in_text(text: pl.Expr, decimal: str = ".") -> pl.Expr:
    """The number that a text is, null if it is none or overflows.

    Examples
    --------
    >>> words = pl.Series("p", ["1e3", " .5", "-Inf", "nan", "1e999", "0,5"]).to_frame()
    >>> words.select(number_in_text(pl.col("p"))).to_series().to_list()
    [1000.0, 0.5, -inf, None, None, None]
    """
    word = text.str.strip_chars()
    number = word.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)
    other_mark = word.str.contains("." if decimal == "," else ",", literal=True)
    overflows = number.is_infinite() & ~word.str.contains("(?i)inf")
    return pl.when(~(other_mark | overflows)).then(number).fill_nan(None)


def refuse_misread(files: Sequence[Path], names: Sequence[str], separator: str) -> None:
    """Raise if a row has more fields than the header, whose columns are `names`, or is not UTF-8.

    Polars checks the fields only where all columns are read: else such a row is shifted in silence.
    """

    def read(sources: Sequence[Path]) -> None:
        rows = pl.scan_csv(
            [*sources], glob=False, separator=separator, schema=dict.fromkeys(names, pl.String)
        )
        rows.select(pl.all().null_count()).collect(engine="streaming")

    try:
        read(files)
    except pl.exceptions.ComputeError:
        for file in files:
            try:
                read([file])
            except pl.exceptions.ComputeError as error:
                raise _misread(file, names, separator, str(error)) from None


def _misread(file: Path, names: Sequence[str], separator: str, error: str) -> InvalidPredictions:
    """The fault of a text file that an error of Polars tells."""
    if "utf-8" in error:
        return InvalidPredictions(f"{str(file)!r} is not UTF-8 text.", hint=ONLY_UTF_8)
    if "more fields" not in error:
        return InvalidPredictions(
            f"{str(file)!r} cannot be read: {error.splitlines()[0]}.", hint="is it damaged?"
        )
    found = "a row has more fields"
    # Of a compressed file, or one with very long fields, only Polars sees the rows.
    with suppress(UnicodeDecodeError, csv.Error), file.open(encoding="utf-8", newline="") as opened:
        for row, fields in enumerate(csv.reader(opened, delimiter=separator)):
            if len(fields) > len(names):
                found = f"row {row:,} has {len(fields):,} fields"
                break
    return InvalidPredictions(
        f"{str(file)!r}, {found}, the header has {len(names):,}.",
        hint=f"put text that has the separator {separator!r} in quotes, or name another one with "
        "--sep, and a decimal comma with --decimal ,.",
    )


def separator_hint(mark: str) -> str:
    """Hint on files with another separator."""
    word = "tab" if mark == "\t" else f"'{mark}'"
    return (
        f"is its separator {mark!r}? Then give --sep {word}; the default is a comma, in .tsv a tab."
    )


def _first_keys(file: Path) -> list[str]:
    """Keys of the first line of NDJSON, with repetitions."""
    names: list[str] = []

    def keep(pairs: list[tuple[str, object]]) -> None:
        # The hook is called for inner objects first.
        names[:] = [key for key, _ in pairs]

    with file.open("rb") as opened:
        line = opened.readline(FIRST_LINE)
    try:
        json.loads(line, object_pairs_hook=keep)
    except ValueError:
        # Compressed or damaged; Polars reports which.
        return []
    return names


def _refuse_repeated(file: Path, names: Sequence[str | None]) -> None:
    repeated = [name for name, count in Counter(names).items() if name and count > 1]
    if repeated:
        raise InvalidArgument(
            f"{str(file)!r} has more than one column {quoted(repeated)}.",
            hint="rename or remove the others: which was meant cannot be told.",
        )
