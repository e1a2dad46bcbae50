"""AccSens Table 2: error over the range of priors, and how far the operating point drifts.

``python queries/sensitivity_table.py [FILE]``, where FILE is a Parquet file that
`polaroc experiment` wrote (of Phoneme, say); by default the embedded scores for Sonar and
Ionosphere.
"""

import sys

import polars as pl

import polaroc as pr
from polaroc.experiments.published import accsens_table_2

OVER = (0.1, 0.9)


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    named = "dataset" in predictions.collect_schema()
    keys = ["dataset", "model"] if named else ["model"]
    estimate = pl.col("estimate")
    measures = predictions.pipe(
        pr.evaluate,
        truth="truth",
        score="score",
        by=[*keys, "fold"],
        over=OVER,
        measures=["auc_range", "sens", "accsens", "equal_error"],
    )
    ours = measures.group_by(*keys, "measure").agg(
        estimate.mean().alias("mean"), estimate.std().alias("sd")
    )
    if not named:
        return ours.sort("model", "measure")
    printed = accsens_table_2().lazy()
    return ours.join(printed, on=[*keys, "measure"], how="left").sort(*keys, "measure")


if __name__ == "__main__":
    asked = sys.argv[1:]
    embedded = {
        "sonar": pr.datasets.sonar_predictions(),
        "ionosphere": pr.datasets.ionosphere_predictions(),
    }
    both = pl.concat(
        table.select(pl.lit(name).alias("dataset"), "*") for name, table in embedded.items()
    )
    with pl.Config(tbl_rows=-1):
        print(query(pl.scan_parquet(asked[0]) if asked else both.lazy()).collect())
