"""Which model, at which threshold, costs least, if a miss costs ten times a false alarm?

Thresholds are set on the cases with even numbers, and their costs are measured on the others.

``python queries/which_model_costs_least.py [FILE]``: FILE is a Parquet file with `model`, `case`,
`truth` and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

file = sys.argv[1:]
first = pr.datasets.satellite_predictions().filter(fold=1)
predictions = (pl.read_parquet(file[0]) if file else first).drop("fold", strict=False)
even = pl.col("case") % 2 == 0
answer = pr.choose(
    predictions.filter(~even), tuning=predictions.filter(even), over=(0.02, 0.30), cost_fn=10
)
print(answer)
