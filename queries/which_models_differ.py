"""P-ROC §6: do the models differ? The paper's 2-way and 3-way F, and the corrected one.

``python queries/which_models_differ.py [FILE]``, where FILE is a Parquet file with the columns of
`polaroc.datasets.satellite_predictions`, of hold-outs with a fifth of the cases.
"""

import sys

import polars as pl

import polaroc as pr

OVER = (0.05, 0.20)
HOLD_OUTS = 0.25


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    few, many = (_measures(predictions, count) for count in (3, 16))
    corrected = pr.compare(few, "iauprec", test_train_ratio=HOLD_OUTS).omnibus
    return pl.concat(
        [
            _classical("2-way, IAUPREC", few, "iauprec", ["model", "fold"]),
            _classical("3-way, 3 priors", few, "auprec", ["model", "fold", "prior"]),
            _classical("3-way, 16 priors", many, "auprec", ["model", "fold", "prior"]),
            corrected.select(
                pl.lit("2-way, corrected for shared training cases").alias("analysis"),
                pl.col("statistic").alias("F"),
                pl.col("df1", "df2").cast(pl.Int64),
                "p_value",
            ),
        ]
    ).lazy()


def _measures(predictions: pl.LazyFrame, count: int) -> pl.DataFrame:
    return predictions.pipe(
        pr.evaluate,
        truth="truth",
        score="score",
        priors=pr.prior_grid(*OVER, count),
        over=OVER,
        measure=["auprec", "iauprec"],
    ).collect()


def _classical(
    name: str, measures: pl.DataFrame, response: str, factors: list[str]
) -> pl.DataFrame:
    """The F of the models in one of the paper's analyses."""
    terms = pr.anova(measures, response, factors).table
    residual = terms.filter(term="residual")["df"].item()
    return terms.filter(term="model").select(
        pl.lit(name).alias("analysis"),
        "F",
        pl.col("df").alias("df1"),
        pl.lit(residual, pl.Int64).alias("df2"),
        "p_value",
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    table = (
        pl.scan_parquet(arguments[0]) if arguments else pr.datasets.satellite_predictions().lazy()
    )
    with pl.Config(fmt_str_lengths=60):
        print(query(table).collect())
