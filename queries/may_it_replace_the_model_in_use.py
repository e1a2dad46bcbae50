"""May another model replace the one in use, if it may be worse by at most 0.01?

``python queries/may_it_replace_the_model_in_use.py [FILE]``: FILE is a Parquet file with `model`,
`case`, `truth` and `score` of one test set, where the last model by name is in use; by default the
first Satellite hold-out.
"""

import sys

import polars as pl

import polaroc as pr

file = sys.argv[1:]
first = pr.datasets.satellite_predictions().filter(fold=1)
predictions = pl.read_parquet(file[0]) if file else first
*challengers, champion = predictions["model"].unique().sort()
gates = [
    pr.gate(predictions, champion=champion, challenger=challenger, over=(0.05, 0.20), margin=0.01)
    for challenger in challengers
]
answer = pl.DataFrame(
    {
        "challenger": challengers,
        "verdict": [gate.verdict for gate in gates],
        "difference": [gate.difference for gate in gates],
        "lower": [gate.lower for gate in gates],
        "upper": [gate.upper for gate in gates],
    }
)
print(answer)
