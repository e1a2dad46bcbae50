"""How many figures of AccSens Table 2 are off by more than one published SD, seed by seed.

``python tests/benchmarks/table_2_seeds.py [HOLDOUTS [SEEDS]]``: 30 hold-outs and seeds 0 to 19 by
default, and the seed of the embedded scores. The last Ionosphere row, which is not reproduced, is
left out: 28 figures remain.
"""

import runpy
import sys
from pathlib import Path

import polars as pl
from papers import accsens

QUERY = Path(__file__).parents[2] / "queries" / "sensitivity_table.py"


def off(holdouts: int, seed: int) -> pl.DataFrame:
    """The figures that are off."""
    scores = pl.concat(
        accsens.predictions(dataset, folds=holdouts, seed=seed).select(
            pl.lit(dataset).alias("dataset"), "*"
        )
        for dataset in ("sonar", "ionosphere")
    )
    found = runpy.run_path(str(QUERY))["query"](scores.lazy()).collect()
    far = pl.col("published_sds_off").abs() > 1
    return found.filter(far, pl.col("model") != "sc svc r 1.0")


def main() -> None:
    asked = [int(word) for word in sys.argv[1:]]
    holdouts, seeds = asked + [30, 20][len(asked) :]
    for seed in (accsens.SEED, *range(seeds)):
        found = off(holdouts, seed)
        listed = ", ".join(
            f"{model} {measure} {sds:+.2f}"
            for model, measure, sds in found.select(
                "model", "measure", "published_sds_off"
            ).iter_rows()
        )
        print(f"{holdouts} hold-outs, seed {seed}: {found.height} of 28 off  {listed}", flush=True)


if __name__ == "__main__":
    main()
