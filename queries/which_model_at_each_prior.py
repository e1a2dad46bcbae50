"""Which model is best at each prior, how far is it ahead, and in how many folds?

``python queries/which_model_at_each_prior.py [FILE]``: FILE is a Parquet file with `model`,
`fold`, `case`, `truth` and `score`; by default 20 Satellite hold-outs.
"""

import sys

import polars as pl

import polaroc as pr

file = sys.argv[1:]
predictions = pl.read_parquet(file[0]) if file else pr.datasets.satellite_predictions()
measures = pr.evaluate(predictions, measure="auprec", priors=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
ranked = pr.choose(measures).priors.sort("prior", "mean", descending=[False, True])
answer = ranked.group_by("prior", maintain_order=True).agg(
    pl.col("model", "mean").first(),
    ahead=pl.col("mean").first() - pl.col("mean").get(1),
    share=pl.col("share").first(),
)
print(answer)
