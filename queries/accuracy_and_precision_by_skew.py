"""P-ROC Fig. 1: accuracy tends to the rate of the larger class, precision sees the skew.

``python queries/accuracy_and_precision_by_skew.py [FILE]``, where FILE is a Parquet file with
`model`, `truth` and a `score` that calls a case positive at 0 or more; by default a linear
discriminant on Highleyman's classes.
"""

import sys

import polars as pl
from papers.synthetic import highleyman_predictions

import polaroc as pr

SKEWS = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    t, f, skew = pl.col("tpr"), pl.col("fpr"), pl.col("skew")
    return (
        predictions.pipe(pr.curve, truth="truth", score="score")
        .pipe(pr.operating_points, "threshold", target=0, priors=[pr.prior(s) for s in SKEWS])
        .with_columns(pr.skew(pl.col("prior")).alias("skew"))
        .select(
            "model",
            "skew",
            pr.rates.accuracy(t, f, skew).alias("accuracy"),
            "precision",
            "tpr",
            pr.rates.tnr(t, f, skew).alias("tnr"),
        )
        .sort("model", "skew")
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = pl.scan_parquet(arguments[0]) if arguments else highleyman_predictions().lazy()
    print(query(table).collect())
