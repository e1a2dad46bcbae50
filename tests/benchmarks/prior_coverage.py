"""How often the intervals of `estimate_prior` hold the prior, on simulated deployments.

``python tests/benchmarks/prior_coverage.py [--runs N]``: scores of negatives are
normal, those of positives are `distance` standard deviations higher. For "em"
they are posteriors at the reference prior, for "confusion" raw. Each figure is
over as many simulated pairs of a reference and a deployment as there are runs.
"""

import argparse
from itertools import product

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import polaroc as pr

SIZES = ((200, 500), (1_000, 2_000), (5_000, 10_000))
PRIORS = (0.01, 0.05, 0.1, 0.3, 0.5, 0.9)
DISTANCES = (1, 2, 3)
REFERENCE_PRIORS = (0.5, 0.3, 0.05)


def cases(
    rng: np.random.Generator, runs: int, rows: int, prior: float, distance: float, posterior: float
) -> pl.DataFrame:
    """Truth, raw score and the posterior at a prior, for as many runs as asked."""
    truth = rng.random(runs * rows) < prior
    raw = rng.normal(size=truth.size) + distance * truth
    odds = posterior / (1 - posterior) * np.exp(distance * raw - distance**2 / 2)
    run = np.repeat(np.arange(runs), rows)
    return pl.DataFrame({"run": run, "truth": truth, "raw": raw, "score": odds / (1 + odds)})


def measured(
    rng: np.random.Generator,
    runs: int,
    sizes: tuple[int, int],
    prior: float,
    distance: float,
    reference_prior: float,
    method: str,
) -> dict[str, float]:
    """Coverage, error and doubts of one method in one situation."""
    reference = cases(rng, runs, sizes[0], reference_prior, distance, reference_prior)
    deployed = cases(rng, runs, sizes[1], prior, distance, reference_prior)
    score = "score" if method == "em" else "raw"
    found = pr.estimate_prior(
        reference, deployed, truth="truth", score=score, by="run", method=method
    )
    told = found.drop_nulls("prior")
    held = told.select(pl.lit(prior).is_between("lower", "upper").mean()).item()
    wrong = (told["prior"] - prior).to_numpy()
    return {
        "coverage": held,
        "bias": float(wrong.mean()),
        "root mean square error": float(np.sqrt((wrong**2).mean())),
        "mean width": (told["upper"] - told["lower"]).mean(),
        "no estimate": 1 - told.height / runs,
        "doubted": found["note"].str.contains("posteriors").fill_null(False).mean(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    situations = ["method", "distance", "reference prior", "sizes", "prior"]
    drawn, all_rows = None, []
    for method, distance, reference_prior, sizes, prior in product(
        ("em", "confusion"), DISTANCES, REFERENCE_PRIORS, SIZES, PRIORS
    ):
        row = measured(rng, asked.runs, sizes, prior, distance, reference_prior, method)
        if drawn is None:
            drawn = Table(*situations, *row, title=f"{asked.runs} runs each, nominal 0.95")
        shown = [f"{value:.3f}" for value in row.values()]
        drawn.add_row(method, str(distance), str(reference_prior), str(sizes), str(prior), *shown)
        all_rows.append({"method": method, "reference": sizes[0]} | row)
    console = Console(width=160)
    console.print(drawn)
    figures = pl.DataFrame(all_rows)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160):
        console.print(
            figures.group_by("method", "reference")
            .agg(
                pl.col("coverage").min().alias("least coverage"),
                pl.col("coverage").mean().alias("mean coverage"),
                pl.col("doubted").mean().alias("mean doubted"),
                pl.col("doubted").max().alias("most doubted"),
                pl.col("no estimate").max().alias("most without estimate"),
            )
            .sort("method", "reference")
        )


if __name__ == "__main__":
    main()
