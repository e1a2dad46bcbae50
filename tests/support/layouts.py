"""Measure tables made by hand, for the tests of comparisons."""

import numpy as np
import polars as pl


def tidy(values, models=None, folds=None, measure="iauprec", prior=None) -> pl.DataFrame:
    """The measure table of a folds × models array."""
    blocks, count = np.shape(values)
    models = list("ABCDEFGHIJ"[:count]) if models is None else models
    folds = list(range(1, blocks + 1)) if folds is None else folds
    rows = [
        {"model": model, "fold": fold, "estimate": float(values[j][i])}
        for i, model in enumerate(models)
        for j, fold in enumerate(folds)
    ]
    return pl.DataFrame(rows).select(
        "model",
        "fold",
        pl.lit(measure).alias("measure"),
        pl.lit(prior, pl.Float64).alias("prior"),
        "estimate",
        pl.lit(10, pl.Int64).alias("positives"),
        pl.lit(40, pl.Int64).alias("negatives"),
        pl.lit(None, pl.String).alias("note"),
    )


def draw(blocks: int, models: int, seed: int = 0, spread=None) -> np.ndarray:
    """Normal values with effects of folds and of models, each model with its own spread."""
    rng = np.random.default_rng(seed)
    spread = np.ones(models) if spread is None else np.asarray(spread)
    noise = rng.normal(size=(blocks, models)) * 0.05 * spread
    return 0.7 + noise + rng.normal(size=(blocks, 1)) * 0.05 + np.linspace(0, 0.04, models)
