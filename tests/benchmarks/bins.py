"""Counts in bins: how far apart their bounds are by number and kind of bins, and their time.

`just bins` prints the widths, `just bins --time` the times.
"""

import argparse
from time import perf_counter

import numpy as np
import polars as pl

import polaroc as pr

COLUMNS = {"truth": "truth", "score": "score"}
SEEDS = (1, 2, 3)
REFERENCE, CASES, SHARE, SHIFT = 200_000, 1_000_000, 0.02, 2.0
NUMBERS = (10, 100, 1_000, 10_000)
PRIORS = (0.5, 0.1, 0.01)


def cases(seed: int, rows: int, share: float = SHARE) -> pl.DataFrame:
    """Calibrated probabilities of two normal classes two standard deviations apart."""
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < share
    normal = rng.normal(size=rows) + SHIFT * truth
    log_odds = SHIFT * normal - SHIFT**2 / 2 + np.log(share / (1 - share))
    return pl.DataFrame({"truth": truth, "score": 1 / (1 + np.exp(-log_odds))})


def widths() -> pl.DataFrame:
    """The mean width of the bounds over the seeds, and its greatest standard error."""
    rows = []
    for seed in SEEDS:
        reference, table = cases(seed + 100, REFERENCE), cases(seed, CASES)
        ranked = reference["score"].sort()
        for number in NUMBERS:
            places = [REFERENCE * i // number for i in range(1, number)]
            kinds = {
                "equal": number,
                "quantiles of all": ranked.gather(places).unique().sort(),
                "bin_edges": pr.bin_edges(reference, **COLUMNS, bins=number),
            }
            for kind, bins in kinds.items():
                counts = pr.binned(table, **COLUMNS, bins=bins)
                found = pr.bounds(counts, priors=PRIORS, over=(0.01, 0.1))
                width = found.select("measure", "prior", width=pl.col("upper") - pl.col("lower"))
                rows.append(width.with_columns(bins=number, kind=pl.lit(kind)))
    by = ["bins", "kind", "measure", "prior"]
    mean, error = pl.col("width").mean(), pl.col("width").std() / len(SEEDS) ** 0.5
    return pl.concat(rows).group_by(by, maintain_order=True).agg(mean, error.alias("error"))


def timed(work: object) -> float:
    """The least of three times, in seconds."""
    times = []
    for _ in range(3):
        start = perf_counter()
        work()  # type: ignore[operator]
        times.append(perf_counter() - start)
    return min(times)


def times(rows: int) -> None:
    """Binning beside one scan, and a day merged into all counts so far."""
    edges = pr.bin_edges(cases(0, REFERENCE), **COLUMNS, bins=10_000)
    table = cases(1, rows)
    scan = timed(lambda: table.lazy().select(pl.all().sum()).collect())
    sort = timed(lambda: table["score"].sort())
    bins = timed(lambda: pr.binned(table, **COLUMNS, bins=edges))
    equal = timed(lambda: pr.binned(table, **COLUMNS, bins=10_000))
    exact = timed(lambda: pr.evaluate(table, **COLUMNS, measures="auc"))
    so_far, day = pr.binned(table, **COLUMNS, bins=edges), table[:1_000_000]
    grid = list(np.linspace(0.01, 0.5, 16))

    def new_bounds() -> None:
        today = pr.binned(day, **COLUMNS, bins=edges)
        pr.bounds(pr.merge_bins(so_far, today), priors=grid, over=(0.01, 0.1))

    def merged() -> None:
        pr.bounds(pr.merge_bins(so_far, so_far), priors=grid, over=(0.01, 0.1))

    print(f"{rows:,} rows, {edges.height + 1:,} bins, s")
    for name, time in (
        ("sum of the columns", scan), ("sort of the scores", sort),
        ("binned, quantile edges", bins), ("binned, equal bins", equal),
        ("evaluate, AUC alone", exact),
        ("a day of 1,000,000 rows: binned, merged, bounds at 16 priors", timed(new_bounds)),
        ("two tables of counts merged, bounds at 16 priors", timed(merged)),
    ):  # fmt: skip
        print(f"  {name:62} {time:.3f}")


def main() -> None:
    """Print the widths, or the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--rows", type=int, default=10_000_000)
    given = parser.parse_args()
    if given.time:
        times(given.rows)
        return
    table = widths()
    print("greatest standard error", table.select((pl.col("error") / pl.col("width")).max()).item())
    table = table.with_columns(
        measure=pl.concat_str(
            "measure", pl.col("prior").cast(str), separator=" ", ignore_nulls=True
        )
    )
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, fmt_float="full", float_precision=5):
        print(table.pivot("measure", index=["bins", "kind"], values="width"))


if __name__ == "__main__":
    main()
