"""P-ROC §6: the F of its analysis of IAUPREC, from the means and SDs of Table 1 alone.

The paper gives 21.04 for models and hold-outs together. Means and SDs give the F for models alone:
20 times the variance of the means over the mean of the variances.

``python queries/f_from_means_and_sds.py [FILE]``, where FILE is a Parquet file with the columns of
`polaroc.datasets.satellite_predictions`, its default.
"""

import sys

import polars as pl
from papers.published import proc_table_1

import polaroc as pr

HOLDOUTS = 20
OVER = (0.05, 0.20)


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    estimate = pl.col("estimate")
    ours = (
        predictions.pipe(pr.curve, truth="truth", score="score")
        .pipe(pr.iauprec, over=OVER)
        .group_by("model")
        .agg(
            estimate.mean().alias("mean"),
            estimate.std().alias("sd"),
            pl.len().cast(pl.Int64).alias("folds"),
        )
    )
    theirs = (
        proc_table_1()
        .lazy()
        .filter(measure="iauprec")
        .select(
            "model",
            pl.col("published").alias("mean"),
            pl.col("published_sd").alias("sd"),
            pl.lit(HOLDOUTS, pl.Int64).alias("folds"),
        )
    )
    both = pl.concat(
        part.select(pl.lit(source).alias("source"), "model", "mean", "sd", "folds")
        for source, part in (("ours", ours), ("published", theirs))
    )
    f = pl.col("folds").first() * pl.col("mean").var() / (pl.col("sd") ** 2).mean()
    return (
        both.group_by("source")
        .agg(
            f.alias("F"),
            (pl.len().cast(pl.Int64) - 1).alias("df1"),
            (pl.len().cast(pl.Int64) * (pl.col("folds").first() - 1)).alias("df2"),
        )
        .sort("source")
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = (
        pl.scan_parquet(arguments[0]) if arguments else pr.datasets.satellite_predictions().lazy()
    )
    print(query(table).collect())
