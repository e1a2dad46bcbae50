"""How often scores are right, with bands for how far calibrated scores would be off."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from polaroc.base.columns import curve_keys, with_level
from polaroc.curves.curve import in_order
from polaroc.curves.hull import hull_vertices
from polaroc.measures.scoring import NOT_PROBABILITIES
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.grids import OBSERVED, SAME, reweighted, skew
from polaroc.typing import Array, Prior

# Cells that are drawn from, and points between the ends of blocks that are shown.
MAX_CELLS, POINTS = 2000, 40
MIN_DRAWS = 100
NUMBERS = ("prior", "score", "probability", "lower", "upper")


def calibration_curve(
    curve: pl.DataFrame,
    priors: Sequence[float | None],
    *,
    score_prior: Prior,
    level: float,
    draws: int = 200,
    seed: int = 0,
) -> pl.LazyFrame:
    """The share of positives at each score, at each prior, by isotonic regression.

    The result is the `curve` of `polaroc.calibration`; None is each key's own prior.
    """
    keys = curve_keys(curve.lazy())
    kinds = curve.schema
    schema = {key: kinds[key] for key in keys} | dict.fromkeys(NUMBERS, pl.Float64())
    schema |= {"cases": kinds["pos"], "note": pl.String()}

    def of_curves(table: pl.DataFrame) -> pl.DataFrame:
        parts = [
            _of_curve(part, keys, priors, score_prior, (level, draws, seed))
            for part in _parts(table)
        ]
        empty = pl.DataFrame(schema=schema)
        return pl.concat(
            [empty, *(part.select(list(schema)) for part in parts)], how="vertical_relaxed"
        )

    found = in_order(curve.lazy(), keys).map_batches(of_curves, schema=schema)
    return with_level(found, level)


def _parts(curves: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Each curve of a sorted table, with its anchor."""
    starts = curves.with_row_index("at").filter(pl.col(SCORE).is_null())["at"].to_list()
    for start, end in pairwise([*starts, curves.height]):
        yield curves[start:end]


def _unusable(curve: pl.DataFrame) -> str | None:
    """Why the scores of a curve cannot be taken as probabilities, None where they can."""
    positives, negatives = curve["positives"][0], curve["negatives"][0]
    if not positives or not negatives:
        absent = [name for name in ("positives", "negatives") if not curve[name][0]]
        return " and ".join(f"no {name}" for name in absent)
    inside: bool = curve[1:].select(pl.col(SCORE).is_between(0, 1).all()).item()
    return None if inside else NOT_PROBABILITIES


def _of_curve(
    curve: pl.DataFrame,
    keys: Sequence[str],
    priors: Sequence[float | None],
    score_prior: Prior,
    band: tuple[float, int, int],
) -> pl.DataFrame:
    """The rows of one curve."""
    key, missing = curve[:1].select(keys), _unusable(curve)
    if missing is not None:
        blank = {name: pl.lit(None, pl.Float64) for name in NUMBERS}
        count = pl.lit(None, curve.schema["pos"]).alias("cases")
        return curve[:1].select(*keys, count, **blank, note=pl.lit(missing))
    # From the worst score to the best.
    cells = curve[1:].reverse()
    score, pos, size = (cells[name].to_numpy() for name in (SCORE, "pos", "neg"))
    size = pos + size
    own = float(curve["negatives"][0] / curve["positives"][0])
    if score_prior != OBSERVED:
        score = reweighted(score, skew(float(score_prior)), own)
    fitted, shown = isotonic(pos, size), _shown(pos, size)
    note, lower, upper = None, np.full(len(shown), np.nan), np.full(len(shown), np.nan)
    if not np.issubdtype(size.dtype, np.integer):
        note = "weights are not counts of cases: no band"
    else:
        lower, upper = _band(score, size, shown, *band)
    counts = np.diff(np.concatenate(([0], size.cumsum()[shown])))
    tables = []
    is_given = any(one is not None and abs(one - 1 / (1 + own)) <= SAME for one in priors)
    for prior in priors:
        if prior is None and is_given:
            continue
        to = own if prior is None else skew(prior)
        numbers = {
            "score": score[shown], "probability": fitted[shown], "lower": lower, "upper": upper,
        }  # fmt: skip
        moved = {name: reweighted(values, own, to) for name, values in numbers.items()}
        rows = pl.DataFrame(moved).with_columns(
            pl.lit(1 / (1 + to)).alias("prior"), pl.lit(note, pl.String).alias("note"),
            pl.Series("cases", counts, dtype=curve.schema["pos"]),
            pl.col("lower", "upper").fill_nan(None),
        )  # fmt: skip
        tables.append(rows)
    rows = pl.concat(tables)
    return rows.with_columns(key[[0] * rows.height]) if keys else rows


def isotonic(pos: "Array", size: "Array") -> "Array":
    """The share of positives at each score, from the worst to the best, made monotone."""
    from scipy.optimize import isotonic_regression

    fitted: Array = isotonic_regression(pos / size, weights=size).x
    return fitted


def _shown(pos: "Array", size: "Array") -> "Array":
    """The ends of blocks, and cells that are evenly spread over the cases."""
    above = np.concatenate(([0], (size - pos)[::-1].cumsum()))
    ends = hull_vertices(above, np.concatenate(([0], pos[::-1].cumsum())))
    # A vertex is after the last cell of its block, counted from the best.
    firsts = len(pos) - ends[1:]
    lasts = len(pos) - 1 - ends[:-1]
    spread = np.searchsorted(size.cumsum(), np.linspace(0, size.sum(), POINTS, endpoint=False))
    inside: Array = np.unique(np.concatenate((firsts, lasts, spread)))
    return inside[(inside >= 0) & (inside < len(pos))]


def _band(
    score: "Array", size: "Array", shown: "Array", level: float, draws: int, seed: int
) -> tuple["Array", "Array"]:
    """Quantiles, at the shown cells, of isotonic regressions of draws of calibrated cases."""
    place = np.arange(len(score))
    if len(score) > MAX_CELLS:
        # The middle of each cell decides on its bin.
        middle = (size.cumsum() - size / 2) / size.sum()
        place = np.unique((middle * MAX_CELLS).astype(int), return_inverse=True)[1]
    counts = np.bincount(place, weights=size)
    mean = np.bincount(place, weights=size * score) / counts
    rng = np.random.default_rng(seed)
    drawn = rng.binomial(counts.astype(np.int64), np.clip(mean, 0, 1), size=(draws, len(counts)))
    known = np.array([isotonic(of_draw, counts)[place[shown]] for of_draw in drawn])
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return lower, upper
