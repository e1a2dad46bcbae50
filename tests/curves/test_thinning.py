import numpy as np
import polars as pl
import pytest
from drawing import distance_to_line

import polaroc as pr
from polaroc.curves.thinning import CELLS, CELLS_OF_MANY, visible
from polaroc.evaluation.pipeline import run
from polaroc.evaluation.request import Request

NAMES = {"truth": "truth", "score": "score"}
KEYS = ["model", "fold"]
COUNTS = ["tp", "fp", "positives", "negatives"]


def table(rows: int, keys: int, decimals: int, positives: float, spread: float = 1) -> pl.DataFrame:
    rng = np.random.default_rng(rows + keys + decimals)
    truth = rng.random(rows) < positives
    score = (spread * (rng.normal(size=rows) + truth)).round(decimals)
    key = rng.integers(0, keys, rows)
    named = pl.format("model {}", pl.col("key") % 3).alias("model")
    columns = {"key": key, "fold": key // 3, "truth": truth, "score": score}
    return pl.DataFrame(columns).select(named, "fold", "truth", "score")


def thinned(frame: pl.DataFrame) -> pl.DataFrame:
    request = Request(priors=0.1, curve_priors=[0.1], memory="auto")
    return run(pr.cases(frame.lazy(), **NAMES), request).curves.collect()


@pytest.mark.parametrize(
    ("rows", "keys", "decimals", "positives"),
    [(60, 12, 1, 0.2), (3_000, 6, 1, 0.5), (30_000, 3, 9, 0.1), (30_000, 50, 9, 0.02)],
)
def test_points_are_rows_of_the_curve(rows, keys, decimals, positives):
    frame = table(rows, keys, decimals, positives)
    # A key of negatives alone, and one of positives alone.
    alone = frame.head(6).with_columns(
        model=pl.lit("none"), fold=pl.lit(0, pl.Int64), truth=pl.lit(False)
    )
    frame = pl.concat([frame, alone, alone.with_columns(model=pl.lit("some"), truth=pl.lit(True))])
    exact, points = pr.curve(frame, **NAMES), thinned(frame)
    assert points.columns == exact.columns
    assert points.schema == exact.schema
    steps = pl.col("tp", "fp").diff().over(KEYS).fill_null(0)
    assert points.select("pos", "neg").equals(
        points.select(steps).rename({"tp": "pos", "fp": "neg"})
    )
    both = points.join(exact, on=[*KEYS, *COUNTS], how="left", nulls_equal=True)
    for name in ("tpr", "fpr"):
        assert both[name].equals(both[f"{name}_right"])
    # Of scores from below to above zero codes may lack the last bits.
    nearly = (both["threshold"] - both["threshold_right"]).abs() < 1e-7
    assert both["threshold"].is_null().equals(both["tp"] + both["fp"] == 0)
    assert nearly.all()
    ends = pl.col(*COUNTS)
    for end in (ends.first(), ends.last()):
        of_exact, of_points = (
            curve.group_by(KEYS, maintain_order=True).agg(end) for curve in (exact, points)
        )
        assert of_points.equals(of_exact)


def test_thresholds_that_lack_bits_are_as_charts_show_them():
    rng = np.random.default_rng(0)
    frame = table(20_000, 60, 12, 0.1).with_columns(
        score=pl.col("score").exp() ** pl.Series(rng.choice([1, 90], 20_000))
    )
    both = thinned(frame).join(pr.curve(frame, **NAMES), on=[*KEYS, "tp", "fp"], how="left")
    relative = both["threshold"] / both["threshold_right"] - 1
    assert relative.abs().max() < 1e-7


@pytest.mark.alike(3)
@pytest.mark.parametrize("cells", [CELLS, CELLS_OF_MANY, 50])
@pytest.mark.parametrize(
    ("positives", "negatives"), [(20, 20_000), (300, 3_000), (9_000, 1_000), (20_000, 20_000)]
)
def test_lines_through_visible_points_are_near_all_others(positives, negatives, cells):
    rng = np.random.default_rng(positives)
    is_positive = np.zeros(positives + negatives, bool)
    score = rng.normal(size=len(is_positive))
    is_positive[:positives] = True
    score[:positives] += 1
    ranked = is_positive[np.argsort(-score)]
    t, f = (np.append(0, np.cumsum(which)) / which.sum() for which in (ranked, ~ranked))
    kept = visible(t, f, np.array([0, len(t)]), cells)
    shown = rng.choice(len(t), 800)
    shown = np.concatenate([shown, np.arange(100)])
    line = np.column_stack([f, t])[kept]
    assert distance_to_line(np.column_stack([f, t])[shown], line).max() <= 1.25 / cells
    points = np.column_stack([t, f])[shown[(t + f)[shown] > 0]]
    for skew in (1, 99):
        assert all(is_near(point, line, skew, 1.5 / cells) for point in points)


def is_near(point: np.ndarray, line: np.ndarray, skew: float, most: float) -> bool:
    """Whether a point (t, f) is at most so far from a line in precision-recall space."""
    (f0, t0), (f1, t1) = line[:-1].T, line[1:].T
    lo, hi = np.maximum(t0, point[0] - most), np.minimum(t1, point[0] + most)
    rise = np.where(t1 > t0, t1 - t0, 1)
    # Along a straight segment precision rises or falls.
    ends = []
    for at, whole in ((lo, f0), (hi, f1)):
        fall = np.where(t1 > t0, f0 + (at - t0) / rise * (f1 - f0), whole)
        # At the origin it has its limit along the first segment.
        at, fall = (np.where(at + fall > 0, now, end) for now, end in ((at, t1), (fall, f1)))
        ends.append(at / (at + skew * fall))
    precision = point[0] / (point[0] + skew * point[1])
    within = (np.minimum(*ends) - most <= precision) & (precision <= np.maximum(*ends) + most)
    return bool((within & (lo <= hi)).any())
