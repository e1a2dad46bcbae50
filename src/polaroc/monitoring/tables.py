"""Tables by key, and shares as text in columns."""

import polars as pl


def joined(rows: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """The rows with the columns of a table that has one row per key, in their order."""
    keys = [key for key in table.columns if key in rows.columns]
    if not keys:
        return rows.join(table, how="cross", maintain_order="left")
    return rows.join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")


def percents(column: str) -> pl.Expr:
    """A share in per cent, as text of three digits."""
    text = (100 * pl.col(column)).round_sig_figs(3).cast(pl.String)
    return text.str.strip_suffix(".0")
