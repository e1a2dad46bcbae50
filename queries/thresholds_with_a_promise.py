"""Which threshold of each model keeps half of its alarms right in truth, and what does it find?

Set on the cases with even numbers, and judged on the others. A model without such a threshold has
null. Each model keeps its own promise with 95 % confidence.

``python queries/thresholds_with_a_promise.py [FILE]``, where FILE is a Parquet file with `model`,
`case`, `truth` and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

OVER = (0.1, 0.3)


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    columns = {"truth": "truth", "score": "score"}
    even = pl.col("case") % 2 == 0
    points = (
        predictions.filter(even)
        .pipe(pr.curve, **columns)
        .pipe(
            pr.operating_points,
            "max_recall",
            over=OVER,
            constraints={"precision": 0.5},
            confidence=0.95,
        )
    )
    return (
        predictions.filter(~even)
        .pipe(pr.apply_thresholds, points, **columns, priors=list(OVER))
        .select("model", "prior", "threshold", "tpr", "fpr", "precision", "note")
        .sort("model", "prior")
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    first = pr.datasets.satellite_predictions().filter(fold=1)
    print(query(pl.scan_parquet(asked[0]) if asked else first.lazy()).collect())
