"""AccSens Table 2: error over the range of priors, and how far the operating point drifts.

``python queries/sensitivity_table.py [FILE DATASET]``, where FILE is a Parquet file that
`just papers` wrote and DATASET is sonar, ionosphere or phoneme; by default the embedded
scores for Sonar and Ionosphere.
"""

import sys

import polars as pl
from papers.published import accsens_table_2

import polaroc as pr

OVER = (0.1, 0.9)


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    keys = ["dataset", "model"]
    estimate = pl.col("estimate")
    ours = (
        predictions.pipe(
            pr.evaluate,
            truth="truth",
            score="score",
            by="dataset",
            over=OVER,
            measure=["auc_range", "sens", "accsens", "equal_error"],
        )
        .group_by(*keys, "measure")
        .agg(estimate.mean().alias("mean"), estimate.std().alias("sd"))
    )
    off = (pl.col("mean") - pl.col("published")) / pl.col("published_sd")
    return (
        ours.join(accsens_table_2().lazy(), on=[*keys, "measure"], how="left")
        .with_columns(off.alias("published_sds_off"))
        .sort(*keys, "measure")
    )


def embedded() -> pl.DataFrame:
    """The scores for Sonar and Ionosphere as one table."""
    tables = {
        "sonar": pr.datasets.sonar_predictions(),
        "ionosphere": pr.datasets.ionosphere_predictions(),
    }
    return pl.concat(
        table.select(pl.lit(name).alias("dataset"), "*") for name, table in tables.items()
    )


if __name__ == "__main__":
    table = embedded().lazy()
    if arguments := sys.argv[1:]:
        file, dataset = arguments
        table = pl.scan_parquet(file).with_columns(pl.lit(dataset).alias("dataset"))
    with pl.Config(tbl_rows=-1):
        print(query(table).collect())
