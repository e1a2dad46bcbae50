"""May any other model replace the last by name, if it may be worse by 0.01 at most?

``python queries/challengers_at_the_gate.py [FILE]``, where FILE is a Parquet file with `model`,
`case`, `truth` and `score` of one test set; by default the first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

OVER = (0.05, 0.20)
MARGIN = 0.01


def query(predictions: pl.LazyFrame) -> pl.LazyFrame:
    *challengers, champion = predictions.select(pl.col("model").unique().sort()).collect()["model"]
    gates = {
        challenger: pr.gate(
            predictions,
            champion=champion,
            challenger=challenger,
            truth="truth",
            score="score",
            case="case",
            over=OVER,
            margin=MARGIN,
        )
        for challenger in challengers
    }
    return pl.LazyFrame(
        [
            (champion, name, gate.verdict, gate.difference, gate.lower, gate.upper)
            for name, gate in gates.items()
        ],
        schema=["champion", "challenger", "verdict", "difference", "lower", "upper"],
        orient="row",
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    first = pr.datasets.satellite_predictions().filter(fold=1)
    print(query(pl.scan_parquet(asked[0]) if asked else first.lazy()).collect())
