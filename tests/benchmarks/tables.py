"""Tables of predictions for the benchmarks, from a seed."""

from pathlib import Path

import numpy as np
import polars as pl

MODELS, FOLDS = 3, 20
CHUNK = 5_000_000


def predictions(
    rows: int,
    *,
    decimals: int | None = None,
    positives: float = 0.1,
    keys: str = "integer",
    seed: int = 0,
) -> pl.DataFrame:
    """Binormal scores (AUC 0.856) squeezed into (0, 1).

    Keys at random: 3 models × 20 folds ("integer", "string", "categorical"), none
    at all ("none"), or one for every hundred rows ("many").
    """
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < positives
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) + 1.5 * truth)))
    columns = {"truth": truth, "score": score if decimals is None else score.round(decimals)}
    if keys == "none":
        return pl.DataFrame(columns)
    if keys == "many":
        return pl.DataFrame({"model": rng.integers(0, max(rows // 100, 1), rows), **columns})
    key = rng.integers(0, MODELS * FOLDS, rows)
    table = pl.DataFrame({"model": key % MODELS, "fold": key // MODELS, **columns})
    if keys == "integer":
        return table
    named = pl.format("model number {}", "model").alias("model")
    kind = pl.Categorical if keys == "categorical" else pl.String
    return table.with_columns(named.cast(kind))


def one_test_set(rows: int, models: int = 4, seed: int = 0) -> pl.DataFrame:
    """The same cases scored by several models, whose scores are related, with their `id`."""
    rng = np.random.default_rng(seed)
    cases = rows // models
    truth, common = rng.random(cases) < 0.1, rng.normal(size=cases)
    parts = []
    for model in range(models):
        own = 0.8 * common + 0.6 * rng.normal(size=cases) + (1.5 + 0.05 * model) * truth
        columns = {"truth": truth, "score": 1 / (1 + np.exp(-own))}
        named = pl.lit(f"model number {model}").alias("model")
        parts.append(pl.DataFrame(columns).with_row_index("id").select(named, pl.all()))
    return pl.concat(parts)


def write(file: Path, rows: int, keys: str = "integer") -> None:
    """The same as a Parquet file, made in chunks so that any number of rows will do."""
    parts = file.parent / f"{file.stem}-parts"
    parts.mkdir()
    for i, start in enumerate(range(0, rows, CHUNK)):
        part = predictions(min(CHUNK, rows - start), keys=keys, seed=i)
        part.write_parquet(parts / f"{i:05}.parquet", row_group_size=1_000_000)
    pl.scan_parquet(parts / "*.parquet").sink_parquet(file, row_group_size=1_000_000)
    for part in parts.iterdir():
        part.unlink()
    parts.rmdir()
