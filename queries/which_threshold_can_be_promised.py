"""Which threshold keeps half of its alarms right in truth, with 95 % confidence?

Thresholds are set on the cases with even numbers, and judged on the others. A model without such a
threshold has null.

``python queries/which_threshold_can_be_promised.py [FILE]``: FILE is a Parquet file with `model`,
`case`, `truth` and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

file = sys.argv[1:]
first = pr.datasets.satellite_predictions().filter(fold=1)
predictions = (pl.read_parquet(file[0]) if file else first).drop("fold", strict=False)
over = (0.1, 0.3)
even = pl.col("case") % 2 == 0
points = pr.operating_points(
    predictions.filter(even),
    "max_recall",
    over=over,
    constraints={"precision": 0.5},
    confidence=0.95,
)
judged = pr.apply_thresholds(predictions.filter(~even), points, priors=list(over))
answer = judged.select("model", "prior", "threshold", "tpr", "fpr", "precision", "note")
print(answer.sort("model", "prior"))
