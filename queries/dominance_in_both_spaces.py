"""D&G Theorem 3.2: a curve dominates in ROC space if and only if it does in PR space.

``python queries/dominance_in_both_spaces.py [FILE]``, where FILE is a Parquet file with the columns
of `polaroc.datasets.satellite_predictions`, its default.
"""

import sys

import polars as pl

import polaroc as pr

PRIORS = [0.5, 0.1, 0.01]
ROUNDING = 1e-12


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    curves = predictions.pipe(pr.curve, truth="truth", score="score")
    in_roc = curves.pipe(pr.dominance).drop("crossings")
    pair = ["fold", "model_a", "model_b"]
    return (
        in_roc.join(in_pr(curves), on=pair)
        .with_columns((pl.col("relation") == pl.col("relation_in_pr")).alias("agree"))
        .sort(*pair, "prior")
    )


def in_pr(curves: pl.LazyFrame) -> pl.LazyFrame:
    """The relation of each pair by precision at both ends of the step to each positive."""
    ends = at_ends(curves.pipe(pr.surface, PRIORS))
    at = ["fold", "prior", "k", "end"]
    lead = pl.col("precision") - pl.col("precision_b")
    above, below = (lead > ROUNDING).any(), (lead < -ROUNDING).any()
    relation = (
        pl.when(above & below)
        .then(pl.lit("crosses"))
        .when(above)
        .then(pl.lit("dominates"))
        .when(below)
        .then(pl.lit("dominated"))
        .otherwise(pl.lit("equal"))
    )
    return (
        ends.rename({"model": "model_a"})
        .join(ends.rename({"model": "model_b", "precision": "precision_b"}), on=at)
        .filter(pl.col("model_a") < pl.col("model_b"))
        .group_by("fold", "model_a", "model_b", "prior")
        .agg(relation.alias("relation_in_pr"))
    )


def at_ends(surface: pl.LazyFrame) -> pl.LazyFrame:
    """Precision where the step from k − 1 to k positives starts and where it ends."""
    pos, neg, skew = pl.col("pos"), pl.col("neg"), pl.col("skew")
    positives, negatives = pl.col("positives"), pl.col("negatives")
    before = pl.col("tp") - pos
    called = pl.col("k") - 1 + pl.col("end")
    t = called / positives
    f = (pl.col("fp") - neg + (called - before) * neg / pos) / negatives
    # At recall 0 precision is its limit along the step.
    limit = pr.rates.precision(pos / positives, neg / negatives, skew)
    at_origin = (called == 0) & (f == 0)
    precision = pl.when(at_origin).then(limit).otherwise(pr.rates.precision(t, f, skew))
    return (
        surface.filter(pos > 0)
        .with_columns(pl.int_ranges(before + 1, pl.col("tp") + 1).alias("k"))
        .explode("k")
        .join(pl.LazyFrame({"end": [0, 1]}), how="cross")
        .select("model", "fold", "prior", "k", "end", precision.alias("precision"))
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = (
        pl.scan_parquet(arguments[0]) if arguments else pr.datasets.satellite_predictions().lazy()
    )
    print(query(table).collect())
