"""The yardstick walk: ROC AUC 0.68 and PR AUC 0.619, and what other conventions give.

``python queries/twenty_scores.py [FILE]``, where FILE is a Parquet file with `truth` and `score`;
by default the twenty scored cases of the walk.
"""

import sys

import polars as pl

import polaroc as pr

# Interpolation, and precision at recall 0.
CONVENTIONS = {
    "linear, first segment left out (the walk)": ("linear", "drop"),
    "linear": ("linear", "limit"),
    "average precision": ("step", "limit"),
    "exact": ("exact", "limit"),
    "achievable": ("hull", "limit"),
}


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    curves = predictions.pipe(pr.curve, truth="truth", score="score")
    areas = {"ROC": curves.pipe(pr.auc)} | {
        name: curves.pipe(pr.auprec, "observed", interpolation=interpolation, start=start)
        for name, (interpolation, start) in CONVENTIONS.items()
    }
    return pl.concat(
        area.select("measure", pl.lit(name).alias("convention"), "estimate")
        for name, area in areas.items()
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = pl.scan_parquet(arguments[0]) if arguments else pr.datasets.twenty_scores().lazy()
    with pl.Config(fmt_str_lengths=50):
        print(query(table).collect())
