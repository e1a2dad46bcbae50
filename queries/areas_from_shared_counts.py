"""Between which bounds are the areas over all places, if each gives only counts in bins?

Each place counts its positives and negatives in the same bins; the tables are added, and no row
leaves its place.

``python queries/areas_from_shared_counts.py [FILE]``, where FILE is a Parquet file with `model`,
`fold`, `truth` and `score`; by default Satellite, of which the folds stand for the places. The
edges of the bins follow the scores of the first.
"""

import sys

import polars as pl

import polaroc as pr

BINS = 200
OVER = (0.05, 0.20)


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    # The counts of a place are those of all its rows.
    columns = {"truth": "truth", "score": "score", "fold": None}
    places = predictions.select("fold").unique().sort("fold").collect()["fold"].to_list()
    first = predictions.filter(pl.col("fold") == places[0])
    edges = pr.bin_edges(first, **columns, bins=BINS)
    shared = [
        pr.binned(predictions.filter(pl.col("fold") == place), **columns, bins=edges).collect()
        for place in places
    ]
    return (
        pr.merge_bins(*shared)
        .lazy()
        .pipe(pr.bounds, over=OVER, measures=["auc", "iauprec"])
        .select("model", "measure", "lower", "upper")
        .sort("measure", "model")
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    table = pl.scan_parquet(asked[0]) if asked else pr.datasets.satellite_predictions().lazy()
    print(query(table).collect())
