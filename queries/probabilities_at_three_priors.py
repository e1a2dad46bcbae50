"""How likely is each case to be positive, if half, a tenth or a hundredth of the cases were?

Scores of any kind become probabilities through the hull of a tuning curve: that of the cases with
even numbers, asked for the others.

``python queries/probabilities_at_three_priors.py [FILE]``, where FILE is a Parquet file with
`model`, `case`, `truth` and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

PRIORS = [0.5, 0.1, 0.01]


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    even = pl.col("case") % 2 == 0
    tuning = predictions.filter(even).pipe(pr.curve, truth="truth", score="score", fold=None)
    return (
        predictions.filter(~even)
        .pipe(pr.probabilities, tuning, score="score", fold=None, priors=PRIORS)
        .select("model", "case", "score", "prior", "probability")
        .sort("model", "case", "prior")
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    first = pr.datasets.satellite_predictions().filter(fold=1)
    print(query(pl.scan_parquet(asked[0]) if asked else first.lazy()).collect())
