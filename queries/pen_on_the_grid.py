"""The grid walk: the judge's pen on a grid of a × b squares, and precision read at 45°.

The pen starts in the top left corner. It moves right by the positives and down by the negatives of
each score, from the best one on: a tie is a diagonal. The line at 45° through the pen meets the
left edge and the top edge, both prolonged; precision is the part of it below the pen.

``python queries/pen_on_the_grid.py [FILE]``, where FILE is a Parquet file with `truth` and `score`;
by default twenty scored cases.
"""

import sys

import polars as pl

import polaroc as pr


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    x, y, top = pl.col("x"), pl.col("y"), pl.col("negatives")
    # Up and to the right from the left edge at (0, y − x) to the top at (x + top − y, top).
    from_left = (x**2 + (y - (y - x)) ** 2).sqrt()
    whole = ((x + top - y) ** 2 + (top - (y - x)) ** 2).sqrt()
    trapezoid = (pl.col("neg") * (pl.col("tp") - pl.col("pos") + x) / 2).cum_sum()
    return (
        predictions.pipe(pr.curve, truth="truth", score="score")
        .with_columns(pl.col("tp").alias("x"), (pl.col("negatives") - pl.col("fp")).alias("y"))
        .select(
            "threshold",
            "x",
            "y",
            (x / pl.col("positives")).alias("recall"),
            (from_left / whole).fill_nan(None).alias("precision_at_45_degrees"),
            (trapezoid / (pl.col("positives") * top)).alias("share_below_so_far"),
        )
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = pl.scan_parquet(arguments[0]) if arguments else pr.datasets.twenty_scores().lazy()
    with pl.Config(tbl_rows=-1):
        print(query(table).collect())
