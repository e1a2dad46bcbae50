"""How likely is each case to be positive, if half, a tenth or a hundredth of the cases were?

The cases with even numbers say what a score means, and the others get their probabilities.

``python queries/how_likely_is_each_case.py [FILE]``: FILE is a Parquet file with `model`, `case`,
`truth` and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

file = sys.argv[1:]
first = pr.datasets.satellite_predictions().filter(fold=1)
predictions = (pl.read_parquet(file[0]) if file else first).drop("fold", strict=False)
even = pl.col("case") % 2 == 0
tuning = pr.curve(predictions.filter(even))
answer = pr.probabilities(predictions.filter(~even), tuning, priors=[0.5, 0.1, 0.01])
print(answer.sort("model", "case", "prior"))
