import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr


def table(seed: int = 0, folds: int = 5, decimals: int = 1, rows: int = 40) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(2 * folds * rows) < 0.3
    return pl.DataFrame(
        {
            "model": np.repeat(["A", "B"], folds * rows),
            "fold": np.tile(np.arange(folds), 2 * rows),
            "truth": truth,
            "score": (rng.normal(size=truth.size) + truth).round(decimals),
            "weight": rng.integers(1, 4, truth.size) / 4,
        }
    )


def curves(frame: pl.DataFrame, weight: str | None = None) -> pl.DataFrame:
    return pr.curve(frame, truth="truth", score="score", weight=weight)


def height(curve: pl.DataFrame, fpr: float) -> float:
    """The upper end of a curve at a rate, from its corners."""
    f, t = curve["fpr"].to_numpy(), curve["tpr"].to_numpy()
    met = np.isclose(f, fpr, rtol=0, atol=1e-12)
    return t[met].max() if met.any() else float(np.interp(fpr, f, t))


def precision(curve: pl.DataFrame, recall: float, prior: float) -> float:
    """Precision where a recall is first reached, from the corners of the ROC."""
    f, t = curve["fpr"].to_numpy(), curve["tpr"].to_numpy()
    met = np.isclose(t, recall, rtol=0, atol=1e-12)
    if recall == 0:
        return prior * t[1] / (prior * t[1] + (1 - prior) * f[1])
    fpr = f[met].min() if met.any() else float(np.interp(recall, t, f))
    return prior * recall / (prior * recall + (1 - prior) * fpr)


def of_model(curve: pl.DataFrame, model: str) -> list[pl.DataFrame]:
    return curve.filter(model=model).partition_by("fold", maintain_order=True)


# Numbers of points, weights and decimals of the scores, of which few make ties.
CASES = pytest.mark.parametrize(
    ("n", "weight", "decimals"), [(2, None, 1), (3, "weight", 0), (11, "weight", 6), (101, None, 1)]
)


@CASES
def test_mean_and_deviation_of_the_heights(n, weight, decimals):
    curve = curves(table(decimals=decimals), weight)
    found = pr.mean_curve(curve, n=n)
    for model in ("A", "B"):
        mine = found.filter(model=model)
        heights = [[height(part, i / (n - 1)) for i in range(n)] for part in of_model(curve, model)]
        assert mine["fpr"].to_list() == pytest.approx([i / (n - 1) for i in range(n)], abs=1e-15)
        np.testing.assert_allclose(mine["tpr"], np.mean(heights, axis=0), atol=1e-12)
        np.testing.assert_allclose(mine["sd"], np.std(heights, axis=0, ddof=1), atol=1e-12)
        assert mine["curves"].to_list() == [5] * n


@CASES
def test_mean_and_deviation_of_the_precisions(n, weight, decimals):
    curve = curves(table(decimals=decimals), weight)
    found = curve.pipe(pr.surface, [0.5, 0.02]).pipe(pr.mean_curve, n=n)
    recalls = [i / (n - 1) for i in range(n)]
    for (model, prior), mine in found.group_by("model", "prior", maintain_order=True):
        values = [[precision(part, at, prior) for at in recalls] for part in of_model(curve, model)]
        assert mine["tpr"].to_list() == pytest.approx(recalls, abs=1e-15)
        np.testing.assert_allclose(mine["precision"], np.mean(values, axis=0), atol=1e-12)
        np.testing.assert_allclose(mine["sd"], np.std(values, axis=0, ddof=1), atol=1e-12)


@pytest.mark.parametrize("ratio", [None, 0.25])
def test_t_interval(ratio):
    curve = curves(table())
    found = pr.mean_curve(curve, n=11, spread="t", level=0.9, test_train_ratio=ratio)
    heights = np.array([[height(p, i / 10) for i in range(11)] for p in of_model(curve, "A")])
    scale = heights.std(axis=0, ddof=1) * np.sqrt(1 / 5 + (ratio or 0))
    half = stats.t.ppf(0.95, 4) * scale
    mine = found.filter(model="A")
    np.testing.assert_allclose(mine["lower"], np.clip(heights.mean(axis=0) - half, 0, 1), atol=1e-9)
    np.testing.assert_allclose(mine["upper"], np.clip(heights.mean(axis=0) + half, 0, 1), atol=1e-9)


def test_curves_of_one_class_are_left_out_and_single_curves_have_no_spread():
    frame = table(folds=2).filter((pl.col("fold") == 0) | pl.col("truth"))
    found = pr.mean_curve(curves(frame), n=3)
    assert found["curves"].to_list() == [1] * 6
    assert found.select("sd", "lower", "upper").null_count().row(0) == (6, 6, 6)


@pytest.mark.parametrize("fold", ["fold", ["fold"], ["model", "fold"]])
def test_frames_and_order(fold):
    curve = curves(table())
    for step in (
        lambda frame: pr.mean_curve(frame, fold, n=7),
        lambda frame: pr.surface(frame, [0.5, 0.1]).pipe(pr.mean_curve, fold, n=7),
    ):
        eager, lazy = step(curve), step(curve.lazy())
        assert lazy.collect_schema() == eager.schema
        assert_frame_equal(lazy.collect(), eager)
        assert_frame_equal(lazy.collect(engine="in-memory"), eager)
        assert_frame_equal(step(curve.sample(fraction=1, shuffle=True, seed=3)), eager)
    assert eager.height == (14 if fold == ["model", "fold"] else 28)


@pytest.mark.parametrize("seed", range(20))
def test_with_weights_each_curve_counts_at_each_rate(seed):
    # Sums of such weights are rounded: no rate of the grid falls between two segments, or on both.
    weights = np.random.default_rng(seed).random(400)
    curve = curves(table(seed).with_columns(weight=pl.Series(weights)), "weight")
    assert set(pr.mean_curve(curve, n=37)["curves"]) == {5}
    found = curve.pipe(pr.surface, 0.1).pipe(pr.mean_curve, n=37)
    assert set(found["curves"]) == {5}
    assert found.filter(tpr=1)["precision"].is_between(0.1, 1).all()
