"""P-ROC Fig. 2: one ROC curve, and the precision-recall curve it gives at each of three priors.

``python queries/curves_at_three_priors.py [FILE]``, where FILE is a Parquet file with `model`,
`fold`, `truth` and `score`; by default model A on the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

PRIORS = [0.5, 0.1, 0.01]


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    return (
        predictions.pipe(pr.curve, truth="truth", score="score")
        .pipe(pr.surface, PRIORS)
        .select("model", "fold", "prior", "threshold", "fpr", "tpr", "precision")
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    one = pr.datasets.satellite_predictions().filter(model="A", fold=1)
    print(query(pl.scan_parquet(arguments[0]) if arguments else one.lazy()).collect())
