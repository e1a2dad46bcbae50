"""Which model, at which threshold, costs least, where a miss costs ten times a false alarm?

Thresholds are set on the cases with even numbers, and what they cost is taken from the others.

``python queries/model_and_threshold_by_cost.py [FILE]``, where FILE is a Parquet file with `model`,
`case`, `truth` and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

OVER = (0.02, 0.30)
COST_FN, COST_FP = 10, 1


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    rows = predictions.select("model", "case", "truth", "score")
    even = pl.col("case") % 2 == 0
    choice = pr.choose(
        rows.filter(~even),
        tuning=rows.filter(even),
        measure="expected_cost",
        truth="truth",
        score="score",
        over=OVER,
        cost_fn=COST_FN,
        cost_fp=COST_FP,
    )
    return choice.models.lazy().select(
        "model",
        "threshold",
        "mean",
        "cost_lower",
        "cost_upper",
        "probability_best",
        "expected_loss",
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    first = pr.datasets.satellite_predictions().filter(fold=1)
    print(query(pl.scan_parquet(asked[0]) if asked else first.lazy()).collect())
