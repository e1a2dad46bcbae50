"""P-ROC Table 1: given AUC and AUPREC at prior 0.5, how large can AUPREC be at smaller priors?

For test sets of as many positives and negatives as the predictions have, and the published means.
Models whose AUPREC at prior 0.5 is already impossible are left out (see `areas_within_bounds`).

``python queries/areas_that_exclude_each_other.py [FILE]``, where FILE is a Parquet file with the
columns of `polaroc.datasets.satellite_predictions`, its default.
"""

import sys

import polars as pl
from papers.bounds import auprec_bounds
from papers.greatest import greatest_auprec
from papers.published import proc_table_1

import polaroc as pr

PRIORS = [0.1, 0.01]
# Half a unit of the last printed digit.
PRINTED = 0.0005
COLUMNS = {
    "model": pl.String, "prior": pl.Float64, "published": pl.Float64, "greatest": pl.Float64,
    "possible": pl.Boolean,
}  # fmt: skip


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    one_test_set = predictions.filter(
        pl.col("model") == pl.col("model").first(), pl.col("fold") == pl.col("fold").first()
    )
    positive = pl.col("truth").cast(pl.Int64)
    counts = one_test_set.select(
        positive.sum().alias("positives"), (1 - positive).sum().alias("negatives")
    )
    return counts.map_batches(bounds, schema=COLUMNS)


def bounds(counts: pl.DataFrame) -> pl.DataFrame:
    """The bound for every model of the table, which has a possible AUPREC at prior 0.5."""
    (size,) = counts.rows(named=True)
    printed = {
        (model, measure, prior): mean
        for model, measure, prior, mean, _ in proc_table_1().iter_rows()
    }
    rows = []
    for model in "ABC":
        auc, auprec = printed[model, "auc", None], printed[model, "auprec", 0.5]
        least, greatest = auprec_bounds(auc, 0.5)
        for prior in PRIORS if least <= auprec <= greatest else []:
            # The smaller the AUC and the greater AUPREC(0.5), the greater the bound.
            known = {"auc": auc - PRINTED, "auprec": {0.5: auprec + PRINTED}}
            bound = greatest_auprec(prior, **known, **size)
            there = printed[model, "auprec", prior]
            rows.append((model, prior, there, bound, there <= bound + PRINTED))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = (
        pl.scan_parquet(arguments[0]) if arguments else pr.datasets.satellite_predictions().lazy()
    )
    print(query(table).collect())
