"""Text that is shown, and that no terminal, spreadsheet or reader of UTF-8 takes for more."""

import polars as pl

from polaroc.errors import quoted

# Beginnings of cells that spreadsheets read as formulas, except plain numbers.
FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[+-]?\d+(\.\d+)?$"
# Texts that stand for a missing value, in small letters, and one that does so as Python writes it:
# "none" is a label, as of how severe a disease is.
MISSING_WORDS, MISSING_TEXT = ("", "na", "n/a", "#n/a", "<na>", "nan", "null"), "None"
# How text is made of values that have no text of their own.
AS_TEXT = (
    'make text of it first: pl.col(...).list.join(","), .struct.json_encode(), '
    '.bin.encode("hex") or .dt.to_string("iso").'
)


def escape_control(text: str) -> str:
    """Text with control characters spelled out, which a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def capitalised(words: str) -> str:
    """Words with a capital letter at their beginning, the rest as it is.

    Examples
    --------
    >>> capitalised("the AUC of A")
    'The AUC of A'
    """
    return words[:1].upper() + words[1:]


def joined_notes(*notes: str | pl.Expr, separator: str = "; ") -> pl.Expr:
    """Notes of a row as one `note`, null where there is none.

    Examples
    --------
    >>> rows = pl.DataFrame({"note": ["no positives", None], "why": ["too few", None]})
    >>> rows.select(joined_notes("note", "why")).to_series().to_list()
    ['no positives; too few', None]
    """
    joined = pl.concat_str(notes, separator=separator, ignore_nulls=True)
    return joined.replace("", None).alias("note")


def listed_rows(rows: pl.DataFrame, highest: int = 10) -> str:
    """The first rows of a table as text.

    Examples
    --------
    >>> listed_rows(pl.DataFrame({"model": ["A", "B"], "fold": [1, 2]}))
    "model='A', fold=1; model='B', fold=2"
    """
    first = "; ".join(
        ", ".join(f"{name}={quoted([value])}" for name, value in row.items())
        for row in rows.head(highest).iter_rows(named=True)
    )
    return first + (f" and {rows.height - highest} more" if rows.height > highest else "")


def is_missing_text(text: pl.Expr) -> pl.Expr:
    """Whether a text stands for a missing value, such as "NA" or "".

    Examples
    --------
    >>> labels = pl.Series("y", ["yes", "none", "None", " ", "NaN", "n/a"])
    >>> labels.to_frame().filter(is_missing_text(pl.col("y")))["y"].to_list()
    ['None', ' ', 'NaN', 'n/a']
    """
    word = text.str.strip_chars()
    return word.str.to_lowercase().is_in(MISSING_WORDS) | (word == MISSING_TEXT)


def is_utf8(text: str) -> bool:
    """Whether text has no byte of another encoding, as names of files and arguments may.

    Examples
    --------
    >>> is_utf8("scores"), is_utf8(b"sc\\xf6res".decode(errors="surrogateescape"))
    (True, False)
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def escape_spreadsheet(table: pl.DataFrame) -> pl.DataFrame:
    """A table for CSV files, with an apostrophe before what a spreadsheet would compute.

    Examples
    --------
    >>> escape_spreadsheet(pl.DataFrame({"model": ["=1+1", "-1", "A"]}))["model"].to_list()
    ["'=1+1", '-1', 'A']
    """

    def spelled(text: pl.Expr) -> pl.Expr:
        risky = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
        return pl.when(risky).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)

    table = in_csv(table)
    kinds = (pl.String, pl.Categorical, pl.Enum)
    texts = [name for name, kind in table.schema.items() if kind in kinds]
    safe = table.with_columns(spelled(pl.col(name).cast(pl.String)).alias(name) for name in texts)
    names = pl.Series("name", table.columns, dtype=pl.String)
    headings = names.to_frame().select(spelled(pl.col("name"))).to_series()
    return safe.rename(dict(zip(names, headings, strict=True)))


def in_csv(table: pl.DataFrame) -> pl.DataFrame:
    """A table with text in the place of what CSV has no form for.

    Examples
    --------
    >>> in_csv(pl.DataFrame({"k": [[1, 2]], "x": [0.5]})).rows()
    [('[1, 2]', 0.5)]
    """
    return table.with_columns(_as_text(one) for one in table if not has_csv_form(one.dtype))


def has_csv_form(kind: pl.DataType) -> bool:
    """Whether CSV, and JSON in a way that can be read back, has a form for a type."""
    return not (kind.is_nested() or kind in (pl.Binary, pl.Duration))


def _as_text(column: pl.Series) -> pl.Series:
    """Lists, structs, bytes and lengths of time as text."""
    if column.dtype == pl.Duration:
        return column.dt.to_string("iso")

    def word(value: object) -> str:
        return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)

    words = [None if value is None else word(value) for value in column.to_list()]
    return pl.Series(column.name, words, pl.String)
