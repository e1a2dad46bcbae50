"""P-ROC Table 1: can a complete ROC curve of that AUC have that AUPREC?

For the published means and for ours: the least and the greatest AUPREC that curves of this mean AUC
can have on average.

``python queries/areas_within_bounds.py [FILE]``, where FILE is a Parquet file with the columns of
`polaroc.datasets.satellite_predictions`, its default.
"""

import sys

import polars as pl
from papers.bounds import auprec_bounds
from papers.published import proc_table_1

import polaroc as pr

PRIORS = [0.5, 0.1, 0.01]
COLUMNS = {
    "source": pl.String, "model": pl.String, "prior": pl.Float64, "auc": pl.Float64,
    "auprec": pl.Float64, "least": pl.Float64, "greatest": pl.Float64, "possible": pl.Boolean,
}  # fmt: skip
# Half a unit of the last printed digit.
PRINTED = 0.0005


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    ours = (
        predictions.pipe(pr.evaluate, truth="truth", score="score", priors=PRIORS)
        .group_by("model", "measure", "prior")
        .agg(pl.col("estimate").mean().alias("mean"))
    )
    theirs = proc_table_1().lazy().rename({"published": "mean"}).drop("published_sd")
    parts = []
    for source, means in (("published", theirs), ("ours", ours)):
        auc = means.filter(measure="auc").select("model", pl.col("mean").alias("auc"))
        auprec = means.filter(measure="auprec").rename({"mean": "auprec"})
        parts.append(auprec.join(auc, on="model").with_columns(pl.lit(source).alias("source")))
    columns = ["source", "model", "prior", "auc", "auprec"]
    return (
        pl.concat([part.select(columns) for part in parts])
        .map_batches(bounded, schema=COLUMNS)
        .sort("source", "model", "prior", descending=[True, False, True])
    )


def bounded(areas: pl.DataFrame) -> pl.DataFrame:
    """Bounds widened by what rounding of the printed AUC can hide."""
    bounds = [
        (
            auprec_bounds(auc - PRINTED, prior)[0],
            auprec_bounds(min(auc + PRINTED, 1), prior)[1],
        )
        for auc, prior in areas.select("auc", "prior").iter_rows()
    ]
    with_bounds = areas.hstack(pl.DataFrame(bounds, schema=["least", "greatest"], orient="row"))
    inside = pl.col("auprec").is_between(pl.col("least") - PRINTED, pl.col("greatest") + PRINTED)
    return with_bounds.with_columns(inside.alias("possible"))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = (
        pl.scan_parquet(arguments[0]) if arguments else pr.datasets.satellite_predictions().lazy()
    )
    with pl.Config(tbl_rows=-1):
        print(query(table).collect())
