"""On which days should a deployed threshold, or the model, be changed?

The days before the tenth have labels: those with even numbers set the threshold, and the others
are the reference. From then on there are scores alone.

``python queries/does_the_threshold_still_hold.py [FILE]``: FILE is a Parquet file with `day`,
`truth` and `score`; by default thirty simulated days, on which the share of positives rises from
10 to 40 %.
"""

import sys

import polars as pl
from papers.synthetic import drifting_predictions

import polaroc as pr

file = sys.argv[1:]
predictions = pl.read_parquet(file[0]) if file else drifting_predictions()
day = pl.col("day")
tuning, reference = (predictions.filter(day < 10, day % 2 == rest).drop("day") for rest in (0, 1))
answer = pr.monitor(
    reference,
    predictions.filter(day >= 10).drop("truth"),
    points=pr.operating_points(tuning, "cost", priors=0.1, cost_fn=3),
    time="day",
    over=(0.05, 0.20),
    cost_fn=3,
)
print(answer)
