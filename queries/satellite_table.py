"""P-ROC Table 1: mean and SD of each measure over the hold-outs, per model.

``python queries/satellite_table.py [FILE]``, where FILE is a Parquet file with the columns of
`polaroc.datasets.satellite_predictions`.
"""

import sys

import polars as pl

import polaroc as pr


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    estimate = pl.col("estimate")
    return (
        predictions.pipe(
            pr.evaluate,
            truth="truth",
            score="score",
            priors=[0.5, 0.1, 0.01],
            over=(0.05, 0.20),
        )
        .group_by("model", "measure", "prior")
        .agg(estimate.mean().alias("mean"), estimate.std().alias("sd"))
        .sort("model", "measure", "prior", descending=[False, False, True], nulls_last=True)
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = (
        pl.scan_parquet(arguments[0]) if arguments else pr.datasets.satellite_predictions().lazy()
    )
    with pl.Config(tbl_rows=-1):
        print(query(table).collect())
