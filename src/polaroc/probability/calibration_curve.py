"""Calibration curves by isotonic regression, with bands for calibrated scores."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from polaroc.base.columns import curve_keys, parts_by_key, with_level
from polaroc.curves.curve import in_order
from polaroc.measures.scoring import NOT_PROBABILITIES
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import one_class_note
from polaroc.priors.grids import OBSERVED, SAME, reweighted, skew
from polaroc.typing import Array, Prior

# Cells that are drawn from, and points between the ends of blocks that are shown.
MAX_CELLS, POINTS = 2000, 40
SHARES = ("score", "probability", "lower", "upper")


def calibration_curve(
    curve: pl.DataFrame,
    priors: Sequence[float | None],
    *,
    score_prior: Prior,
    level: float,
    draws: int = 200,
    seed: int = 0,
) -> pl.DataFrame:
    """The share of positives at each score, at each prior, by isotonic regression.

    The result is the `curve` of `polaroc.calibration`; None is each key's own prior.
    """
    keys = curve_keys(curve.lazy())
    schema = {key: curve.schema[key] for key in keys} | dict.fromkeys(
        ("prior", *SHARES), pl.Float64()
    )
    schema |= {"cases": curve.schema["pos"], "note": pl.String()}
    tables = [pl.DataFrame(schema=schema)]
    for cells in parts_by_key(in_order(curve.lazy(), keys).collect(), keys).values():
        note = cells.select(one_class_note(pl.col("positives"), pl.col("negatives")))[0, 0]
        if note is None and not cells[SCORE].drop_nulls().is_between(0, 1).all():
            note = NOT_PROBABILITIES
        if note is None:
            points = _points(cells, priors, score_prior, level, draws, seed)
        else:
            points = pl.DataFrame({"note": [note]})
        key = cells.select(keys).head(1)
        with_key = key.join(points, how="cross") if keys else points
        tables.append(with_key.cast({name: schema[name] for name in with_key.columns}))
    return with_level(pl.concat(tables, how="diagonal"), level)


def _points(
    cells: pl.DataFrame,
    priors: Sequence[float | None],
    score_prior: Prior,
    level: float,
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """The points of one curve that has both classes, at each prior."""
    from scipy.optimize import isotonic_regression

    own = float(cells["negatives"][0] / cells["positives"][0])
    # From the worst score to the best, without the anchor.
    cells = cells.drop_nulls(SCORE).reverse()
    score, pos, neg = (cells[name].to_numpy() for name in (SCORE, "pos", "neg"))
    size = pos + neg
    if score_prior != OBSERVED:
        score = reweighted(score, skew(float(score_prior)), own)
    fitted = isotonic_regression(pos / size, weights=size)
    # The ends of blocks of equal shares, and cells that are evenly spread over the cases.
    evenly = np.linspace(0, size.sum(), POINTS, endpoint=False)
    shown = np.unique(
        [*fitted.blocks[:-1], *fitted.blocks[1:] - 1, *np.searchsorted(size.cumsum(), evenly)]
    )
    points = pl.DataFrame({
        "score": score[shown], "probability": fitted.x[shown],
        "cases": np.diff(size.cumsum()[shown], prepend=0),
    })  # fmt: skip
    if cells.schema["pos"].is_integer():
        lower, upper = _band(score, size, shown, level, draws, seed)
        points = points.with_columns(lower=lower, upper=upper, note=None)
    else:
        note = pl.lit("weights are not counts of cases: no band")
        points = points.with_columns(lower=None, upper=None, note=note)
    observed = 1 / (1 + own)
    is_given = any(one is not None and abs(one - observed) <= SAME for one in priors)
    at = [observed if one is None else one for one in priors if one is not None or not is_given]
    return (
        pl.DataFrame({"prior": at})
        .join(points, how="cross", maintain_order="left_right")
        .with_columns(reweighted(pl.col(SHARES).cast(pl.Float64), own, skew(pl.col("prior"))))
    )


def _band(
    score: Array, size: Array, shown: Array, level: float, draws: int, seed: int
) -> tuple[Array, Array]:
    """Quantiles, at the shown cells, of isotonic regressions of draws of calibrated cases."""
    from scipy.optimize import isotonic_regression

    place = np.arange(len(score))
    if len(score) > MAX_CELLS:
        # The middle of each cell decides on its bin.
        middle = (size.cumsum() - size / 2) / size.sum()
        place = np.unique((middle * MAX_CELLS).astype(int), return_inverse=True)[1]
    counts = np.bincount(place, weights=size)
    mean = np.bincount(place, weights=size * score) / counts
    rng = np.random.default_rng(seed)
    drawn = rng.binomial(counts.astype(np.int64), np.clip(mean, 0, 1), size=(draws, len(counts)))
    known = np.array(
        [isotonic_regression(of_draw / counts, weights=counts).x[place[shown]] for of_draw in drawn]
    )
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return lower, upper
