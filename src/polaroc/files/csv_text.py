"""Tables for CSV files: text in the place of what CSV has no form for, and no formulas."""

import polars as pl

# Beginnings of cells that spreadsheets read as formulas, except plain numbers.
FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[+-]?\d+(\.\d+)?$"


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
