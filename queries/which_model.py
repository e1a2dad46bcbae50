"""Which model is best if 5 to 20 % of cases are positive, and how likely is it the best?

``python queries/which_model.py [FILE]``: FILE is a Parquet file with `model`, `fold`, `case`,
`truth` and `score`; by default 20 Satellite hold-outs, each with a fifth of the cases.
"""

import sys

import polars as pl

import polaroc as pr

file = sys.argv[1:]
predictions = pl.read_parquet(file[0]) if file else pr.datasets.satellite_predictions()
answer = pr.choose(predictions, over=(0.05, 0.20), test_train_ratio=0.25)
print(answer)
