"""What is the share of positives on each day in use, where cases have scores but no labels?

The days before the tenth have labels: they are the reference. Scores need not be probabilities.

``python queries/share_of_positives_by_day.py [FILE]``, where FILE is a Parquet file with `day`,
`truth` and `score`; by default thirty simulated days, on which the share goes from 10 to 40 %.
"""

import sys

import polars as pl
from papers.synthetic import drifting_predictions

import polaroc as pr

FIRST = 10


def query(stream: pl.LazyFrame) -> pl.LazyFrame:
    return (
        stream.filter(pl.col("day") < FIRST)
        .select("truth", "score")
        .pipe(
            pr.estimate_prior,
            pr.cases(stream.filter(pl.col("day") >= FIRST), score="score", by="day"),
            truth="truth",
            score="score",
        )
        .select("day", "prior", "lower", "upper", "shift_p", "note")
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    stream = pl.scan_parquet(asked[0]) if asked else drifting_predictions().lazy()
    print(query(stream).collect())
