"""AccSens Fig. 3: where the operating points of two models drift to as the prior changes.

``python queries/operating_points_by_prior.py [FILE]``, where FILE is a Parquet file with `model`,
`truth` and `score`; by default the case study as `papers.synthetic` states it (the
source does not describe its distribution fully).
"""

import sys

import polars as pl
from papers.synthetic import case_study_predictions

import polaroc as pr

PRIORS = [0.05, 0.5, 0.9]


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    t, f, skew = pl.col("tpr"), pl.col("fpr"), pr.skew(pl.col("prior"))
    return (
        predictions.pipe(pr.curve, truth="truth", score="score")
        .pipe(pr.operating_points, "balanced", priors=PRIORS)
        .select(
            "model",
            "prior",
            "threshold",
            "fpr",
            pr.rates.fnr(t, f, skew).alias("fnr"),
            pr.rates.error(t, f, skew).alias("error"),
        )
        .sort("model", "prior")
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = pl.scan_parquet(arguments[0]) if arguments else case_study_predictions().lazy()
    print(query(table).collect())
