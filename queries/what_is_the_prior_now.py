"""What is the share of positives on each day in use, where cases have scores but no labels?

The days before the tenth have labels: they are the reference. Scores need not be probabilities.

``python queries/what_is_the_prior_now.py [FILE]``: FILE is a Parquet file with `day`, `truth` and
`score`; by default thirty simulated days, on which the share rises from 10 to 40 %.
"""

import sys

import polars as pl
from papers.synthetic import drifting_predictions

import polaroc as pr

file = sys.argv[1:]
predictions = pl.read_parquet(file[0]) if file else drifting_predictions()
labelled = pl.col("day") < 10
reference = predictions.filter(labelled).drop("day")
deployed = pr.cases(predictions.filter(~labelled).drop("truth"), score="score", by="day")
answer = pr.estimate_prior(reference, deployed)
print(answer.select("day", "prior", "lower", "upper", "shift_p", "note"))
