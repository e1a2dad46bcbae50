"""D&G Fig. 5: the ROC hull and the achievable precision-recall curve, beside the raw curves.

``python queries/hull_and_achievable_curve.py [FILE]``, where FILE is a Parquet file with `model`,
`fold`, `truth` and `score`; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

PRIOR = 0.1
RECALLS = [i / 20 for i in range(1, 21)]


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    curves = predictions.pipe(pr.curve, truth="truth", score="score")
    recall, positives, negatives = pl.col("recall"), pl.col("positives"), pl.col("negatives")
    t0, f0 = (pl.col("tp") - pl.col("pos")) / positives, (pl.col("fp") - pl.col("neg")) / negatives
    rise = (pl.col("neg") / negatives) / (pl.col("pos") / positives)
    raw = (
        curves.filter(pl.col("pos") > 0)
        .join(pl.LazyFrame({"recall": RECALLS}), how="cross")
        .filter((t0 < recall) & (recall <= pl.col("tpr")))
        .select("model", "fold", "recall", (f0 + (recall - t0) * rise).alias("fpr"))
        .with_columns(pr.pr_from_roc(recall, pl.col("fpr"), PRIOR)[1].alias("precision"))
    )
    best = curves.pipe(pr.achievable, PRIOR, recall=RECALLS).select(
        "model",
        "fold",
        pl.col("tpr").alias("recall"),
        pl.col("fpr").alias("hull_fpr"),
        pl.col("precision").alias("achievable_precision"),
    )
    return raw.join(best, on=["model", "fold", "recall"]).sort("model", "fold", "recall")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    first = pr.datasets.satellite_predictions().filter(fold=1)
    print(query(pl.scan_parquet(arguments[0]) if arguments else first.lazy()).collect())
