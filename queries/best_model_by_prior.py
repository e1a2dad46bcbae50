"""Which model to take at each prior, how far it is ahead, and in how many hold-outs.

``python queries/best_model_by_prior.py [FILE]``, where FILE is a Parquet file with the columns of
`polaroc.datasets.satellite_predictions`. This is the question the sources leave open.
"""

import sys

import polars as pl

import polaroc as pr

PRIORS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    measures = predictions.pipe(
        pr.evaluate,
        truth="truth",
        score="score",
        priors=PRIORS,
        measure="auprec",
    )
    mean = pl.col("mean").sort(descending=True)
    return (
        pr.choose(measures)
        .priors.lazy()
        .group_by("prior")
        .agg(
            pl.col("model").sort_by("mean", descending=True).first().alias("best"),
            mean.first().alias("mean"),
            (mean.first() - mean.get(1)).alias("ahead"),
            pl.col("share").sort_by("mean", descending=True).first().alias("share"),
        )
        .sort("prior")
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    table = pl.scan_parquet(asked[0]) if asked else pr.datasets.satellite_predictions().lazy()
    print(query(table).collect())
