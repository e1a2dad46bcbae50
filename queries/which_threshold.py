"""Which threshold costs least at each prior, if a miss costs ten times a false alarm?

Thresholds are set on the cases with even numbers, and judged on the others.

``python queries/which_threshold.py [FILE]``: FILE is a Parquet file with `model`, `case`, `truth`
and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

file = sys.argv[1:]
first = pr.datasets.satellite_predictions().filter(fold=1)
predictions = (pl.read_parquet(file[0]) if file else first).drop("fold", strict=False)
even = pl.col("case") % 2 == 0
points = pr.operating_points(predictions.filter(even), "cost", priors=[0.02, 0.1, 0.3], cost_fn=10)
judged = pr.apply_thresholds(predictions.filter(~even), points, cost_fn=10, intervals=True)
answer = judged.select("model", "prior", "threshold", "cost", "cost_lower", "cost_upper")
print(answer)
