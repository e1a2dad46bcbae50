"""What would it save to know the prior in use, where a miss costs ten times a false alarm?

The least expected cost over a range of priors of one threshold set once, of one that follows the
prior, and the difference: what estimating the prior is worth at most.

``python queries/worth_of_knowing_the_prior.py [FILE]``, where FILE is a Parquet file with `model`,
`truth` and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

OVER = (0.02, 0.30)
# A miss costs c and a false alarm 1 - c.
COST = 10 / 11


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    return (
        predictions.pipe(pr.curve, truth="truth", score="score", fold=None)
        .pipe(pr.expected_cost, over=OVER, cost=COST)
        .select("model", "threshold", "cost_fixed", "cost_following", "worth_of_prior")
        .sort("cost_fixed", "model")
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    first = pr.datasets.satellite_predictions().filter(fold=1)
    print(query(pl.scan_parquet(asked[0]) if asked else first.lazy()).collect())
