"""How many cases in use must be labelled, and which, to know their share of positives to ± 3 %?

With scores from the top down: how many cases have such a score and how many of them to label;
`at_random` is how many labels of cases drawn at random would do instead.

``python queries/labels_to_ask_for.py [FILE]``, where FILE is a Parquet file with `day`, `truth` and
`score`; by default thirty simulated days. The days before the tenth have labels, those from the
twentieth on are asked about.
"""

import sys

import polars as pl
from papers.synthetic import drifting_predictions

import polaroc as pr

REFERENCE_UNTIL, USE_FROM = 10, 20
WIDTH = 0.03


def query(stream: pl.LazyFrame) -> pl.LazyFrame:
    labelled = stream.filter(pl.col("day") < REFERENCE_UNTIL)
    in_use = stream.filter(pl.col("day") >= USE_FROM)
    budget = pr.label_budget(
        labelled.select("truth", "score"),
        in_use.select("score"),
        truth="truth",
        score="score",
        points=1.0,
        quantity="prior",
        width=WIDTH,
    )
    return budget.lazy().select(
        "from_score", "to_score", "cases", "labels", "expected", "at_random"
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    stream = pl.scan_parquet(asked[0]) if asked else drifting_predictions().lazy()
    print(query(stream).collect())
