"""Small tables to draw charts of models from, and how to read the charts back."""

import numpy as np
import polars as pl
import pytest

MODELS = ["A", "B", "C"]


def predictions(models=MODELS, folds: int = 4, rows: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    size = len(models) * folds * rows
    truth = np.tile(np.arange(rows) % 3 == 0, len(models) * folds)
    shift = np.repeat(np.linspace(1.6, 0.8, len(models)), folds * rows)
    return pl.DataFrame(
        {
            "model": np.repeat(models, folds * rows),
            "fold": np.tile(np.repeat(np.arange(folds), rows), len(models)),
            "truth": truth,
            "score": (rng.normal(size=size) + shift * truth).round(2),
        }
    )


def values(part) -> list[list[dict]]:
    """The data of each layer of a chart, in order."""
    if isinstance(part, dict):
        found = part["data"]["values"] if "values" in part.get("data", {}) else None
        return ([found] if found is not None else []) + [
            one for key, inner in part.items() if key != "data" for one in values(inner)
        ]
    return [one for inner in part for one in values(inner)] if isinstance(part, list) else []


def near(expected):
    """As charts are rounded, to five digits."""
    return pytest.approx(np.array(expected).tolist(), rel=5.1e-5)


def grid(table: pl.DataFrame, measure: str = "auprec") -> np.ndarray:
    """Folds × models × priors."""
    ordered = table.filter(measure=measure).sort("fold", "model", "prior")["estimate"].to_numpy()
    return ordered.reshape(4, 3, -1)
