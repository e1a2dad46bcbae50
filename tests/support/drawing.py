"""Small tables to draw, and how to read a chart back."""

from typing import Any

import altair as alt
import numpy as np
import polars as pl
import vl_convert

import polaroc as pr

HOSTILE = ["</script><script>alert(1)</script>", "a.b[0]", "datum.x", '"+alert(1)+"']


def predictions(rows: int, keys: int = 1, decimals: int = 6, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.2
    score = (rng.normal(size=rows) + truth).round(decimals)
    return pl.DataFrame({"model": rng.integers(0, keys, rows), "truth": truth, "score": score})


def curves(
    table: pl.DataFrame, model: str | None = "model", fold: str | None = None
) -> pl.DataFrame:
    return pr.curve(table, truth="truth", score="score", model=model, fold=fold)


def records(chart, arrays: tuple[str, ...] = ("x", "y")) -> list[dict]:
    """Every line in a chart, or its specification, wherever it keeps the data."""

    def lines(part):
        if isinstance(part, dict):
            if all(isinstance(part.get(name), list) for name in arrays):
                yield part
            for value in part.values():
                yield from lines(value)
        elif isinstance(part, list):
            for inner in part:
                yield from lines(inner)

    return list(lines(chart if isinstance(chart, dict) else chart.to_dict(validate=False)))


def distance_to_line(points: np.ndarray, line: np.ndarray) -> np.ndarray:
    start, step = line[:-1], np.diff(line, axis=0)
    length = np.maximum((step**2).sum(axis=1), 1e-300)
    nearest = np.full(len(points), np.inf)
    for a, d, n in zip(start, step, length, strict=True):
        share = np.clip((points - a) @ d / n, 0, 1)
        nearest = np.minimum(nearest, np.hypot(*(points - a - share[:, None] * d).T))
    return nearest


def drawn(record: dict) -> np.ndarray:
    return np.column_stack([record["x"], record["y"]])


def precision(recall, alarms, prior: float):
    """The share of alarms that are right, by its definition."""
    return prior * recall / (prior * recall + (1 - prior) * alarms)


def svg(chart: Any) -> str:
    """The chart as drawn."""
    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    spec = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    return vl_convert.vegalite_to_svg(spec, vl_version=version)
