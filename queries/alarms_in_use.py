"""On which days should a deployed threshold, or the model, be changed?

The days before the tenth have labels: the threshold is set on those with even numbers, and its
rates are taken from the others. From then on scores alone are looked at.

``python queries/alarms_in_use.py [FILE]``, where FILE is a Parquet file with `day`, `truth` and
`score`; by default thirty simulated days, on which the share of positives goes from 10 to 40 %.
"""

import sys

import polars as pl
from papers.synthetic import drifting_predictions

import polaroc as pr

OVER = (0.05, 0.20)
FIRST = 10


def query(stream: pl.LazyFrame) -> pl.LazyFrame:
    columns = {"truth": "truth", "score": "score"}
    before = stream.filter(pl.col("day") < FIRST)
    points = (
        before.filter(pl.col("day") % 2 == 0)
        .pipe(pr.curve, **columns)
        .pipe(pr.operating_points, "cost", priors=0.1, cost_fn=3)
    )
    watched = pr.monitor(
        before.filter(pl.col("day") % 2 == 1).drop("day"),
        stream.filter(pl.col("day") >= FIRST).drop("truth"),
        **columns,
        time="day",
        points=points,
        over=OVER,
        cost_fn=3,
    )
    alarms = watched.table.lazy().filter(pl.col("alarm").is_not_null())
    return alarms.select("day", "quantity", "estimate", "alarm").sort("day", "quantity")


if __name__ == "__main__":
    asked = sys.argv[1:]
    with pl.Config(fmt_str_lengths=100):
        print(
            query(pl.scan_parquet(asked[0]) if asked else drifting_predictions().lazy()).collect()
        )
