"""How many cases does a study need for a confidence interval of the AUC of a given width?

``python queries/how_many_cases.py [FILE]``: FILE is a Parquet file with `truth` and `score` of a
pilot; by default that of model A on a Satellite hold-out. A tenth of the cases will be positive.
"""

import sys

import polars as pl

import polaroc as pr

file = sys.argv[1:]
first = pr.datasets.satellite_predictions().filter(model="A", fold=1).select("truth", "score")
pilot = pl.read_parquet(file[0]) if file else first
rows = []
for positives in (25, 50, 100, 200):
    studies = pr.simulate(pilot, positives=positives, negatives=9 * positives, tables=100)
    aucs = pr.evaluate(studies, by="table", measure="auc", intervals=True)
    # Four of five studies have an interval of at most this width.
    width = (aucs["upper"] - aucs["lower"]).quantile(0.8)
    rows.append({"cases": 10 * positives, "positives": positives, "width": width})
answer = pl.DataFrame(rows)
print(answer)
