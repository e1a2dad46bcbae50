"""ROC, precision-recall and explorer charts follow their curves."""

import json

import numpy as np
import polars as pl
import pytest
from drawing import curves, distance_to_line, drawn, precision, predictions, records, svg

import polaroc as pr

# Half a pixel of the width and height of a panel.
TOLERANCE = 0.5 / 400
MOST_POINTS = 2_500


def few(hits: int, misses: int, seed: int = 0) -> pl.DataFrame:
    """A curve of long segments, some of them level or upright."""
    rng = np.random.default_rng(seed)
    truth = [1] * hits + [0] * misses
    score = rng.integers(0, 6, hits + misses) + np.array(truth) * rng.integers(0, 3)
    return pr.curve(pl.DataFrame({"truth": truth, "score": score}), truth="truth", score="score")


CURVES = {
    "ties": lambda: curves(predictions(2_000, decimals=1), model=None),
    "steps": lambda: curves(predictions(2_000), model=None),
    "many": lambda: curves(predictions(100_000), model=None),
    "best first": lambda: few(4, 100_000),
    "nearly perfect": lambda: pr.curve(
        pl.DataFrame(
            {"truth": [1, 0, 1, 0], "score": [2, 2, 1, 0], "weight": [1e-7, 1e-7, 1.0, 1.0]}
        ),
        truth="truth", score="score", weight="weight",
    ),
    "long segments": lambda: few(9, 30),
}  # fmt: skip
slow = [pytest.param(name, marks=pytest.mark.slow) for name in ("many", "best first")]
BY_NAME = pytest.mark.parametrize(
    "name", ["ties", "steps", "nearly perfect", "long segments", *slow]
)


def along(curve: pl.DataFrame, per_segment: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Points on the segments between those of the curve, where both rates are straight."""
    f, t = curve["fpr"].to_numpy(), curve["tpr"].to_numpy()
    segments = np.arange(curve.height - 1)
    if segments.size > 200:
        others = np.random.default_rng(1).choice(segments, 100, replace=False)
        segments = np.sort(np.concatenate([segments[:100], others]))
    share = np.linspace(0, 1, per_segment)[1:, None]
    f, t = (
        (axis[segments] + share * (axis[segments + 1] - axis[segments])).ravel() for axis in (f, t)
    )
    return f, t


@BY_NAME
def test_roc_lines_are_near_the_curve(name):
    curve = CURVES[name]()
    (record,) = records(pr.charts.roc(curve))
    assert distance_to_line(np.column_stack(along(curve)), drawn(record)).max() <= TOLERANCE
    assert len(record["x"]) <= MOST_POINTS


@pytest.mark.parametrize("prior", [0.5, 0.01])
@BY_NAME
def test_precision_recall_lines_are_near_the_curve(name, prior):
    curve = CURVES[name]()
    (record,) = records(pr.charts.pr(curve.pipe(pr.surface, prior)))
    f, t = along(curve)
    f, t = f[t + f > 0], t[t + f > 0]
    exact = np.column_stack([t, precision(t, f, prior)])
    assert distance_to_line(exact, drawn(record)).max() <= TOLERANCE
    assert len(record["x"]) <= MOST_POINTS


@pytest.mark.parametrize("prior", [0.001, 0.37])
@BY_NAME
def test_lines_of_the_explorer_are_near_the_curve_at_every_prior(name, prior):
    curve = CURVES[name]()
    (record,) = pr.charts.explorer(curve, over=(0.001, 0.999)).to_dict()["data"]["values"]
    f, t = np.array(record["fpr"]), np.array(record["tpr"])
    shown = precision(t, f, prior)
    of_f, of_t = along(curve)
    of_roc = np.column_stack([of_f, of_t])
    of_f, of_t = of_f[of_t + of_f > 0], of_t[of_t + of_f > 0]
    exact = np.column_stack([of_t, precision(of_t, of_f, prior)])
    assert distance_to_line(exact, np.column_stack([t, shown])).max() <= TOLERANCE
    assert distance_to_line(of_roc, np.column_stack([f, t])).max() <= TOLERANCE
    assert len(record["tpr"]) <= MOST_POINTS


@pytest.mark.slow
def test_of_many_curves_no_point_is_far_from_its_line_and_altair_takes_all():
    curve = curves(predictions(60_000, keys=60))
    found = records(pr.charts.roc(curve))
    assert 60 <= len(found) < 5_000
    for record, one in zip(found, curve.partition_by("model", maintain_order=True), strict=True):
        points = one.select("fpr", "tpr").to_numpy()
        assert distance_to_line(points, drawn(record)).max() <= 2 * TOLERANCE


def test_row_order_does_not_matter():
    curve = curves(predictions(2_000, keys=3))
    shuffled = curve.sample(fraction=1, shuffle=True, seed=1)
    assert records(pr.charts.roc(curve)) == records(pr.charts.roc(shuffled))


def panels(chart) -> dict[str, dict]:
    """The panels of a chart by their titles."""
    return {panel["title"]["text"]: panel for panel in chart.to_dict()["concat"]}


def test_panels_are_the_priors():
    surface = curves(predictions(500)).pipe(pr.surface, [0.01, 0.5, 0.1])
    found = panels(pr.charts.pr(surface))
    assert [*found] == ["50 % positives", "10 % positives", "1 % positives"]
    levels = [panel["layer"][0]["data"]["values"] for panel in found.values()]
    assert levels == [[{"y": prior}] for prior in (0.5, 0.1, 0.01)]
    own = curves(predictions(900, keys=9)).pipe(pr.surface, ["observed", 0.1])
    found = panels(pr.charts.pr(own))
    assert {name: len(records(panel)) for name, panel in found.items()} == {
        "share as observed": 9, "10 % positives": 9,
    }  # fmt: skip


def test_further_rates_of_a_surface_are_no_keys():
    curve = curves(predictions(500))
    plain = records(pr.charts.pr(curve.pipe(pr.surface, 0.1)))
    own = {"precision": pr.rates.precision, "f2": pr.rates.lift}
    for more in (["precision", "accuracy"], own):
        assert records(pr.charts.pr(curve.pipe(pr.surface, 0.1, rates=more))) == plain


@pytest.mark.parametrize("truth", [[1, 1], [0, 0]])
def test_a_curve_of_one_class_has_no_line_and_does_not_count(truth):
    table = pl.DataFrame({"truth": truth, "score": [0.1, 0.2]})
    curve = pr.curve(table, truth="truth", score="score")
    assert records(pr.charts.roc(curve)) == []
    assert records(pr.charts.pr(curve.pipe(pr.surface, 0.1))) == []
    assert pr.charts.explorer(curve).to_dict()["data"]["values"] == []
    # 300 curves are drawn at most.
    both = pl.DataFrame({"truth": [1, 0] * 300, "model": np.repeat(np.arange(300), 2)})
    lacking = pl.DataFrame({"truth": truth, "model": [-1, -1]})
    every = pl.concat([both, lacking]).with_columns(score=pl.int_range(pl.len()) * 1.0)
    assert len(records(pr.charts.roc(curves(every)))) == 300


@pytest.mark.parametrize("key", ["step", "panel", "x", "auc"])
def test_keys_of_any_name_are_drawn(key):
    plain = curves(predictions(300, keys=2))
    curve = plain.rename({"model": key})
    assert records(pr.charts.roc(curve)) == records(pr.charts.roc(plain))
    surface = curve.pipe(pr.surface, 0.1)
    assert records(pr.charts.pr(surface)) == records(pr.charts.pr(plain.pipe(pr.surface, 0.1)))
    assert len(records(pr.charts.auprec_by_prior(curve.pipe(pr.auprec, [0.5, 0.1])))) == 2


def test_long_names_are_not_cut():
    names = [f"a rather long name of a model, number {i}" for i in range(5)]
    table = predictions(300, keys=5)
    table = table.with_columns(pl.col("model").replace_strict(dict(enumerate(names))))
    picture = svg(pr.charts.explorer(curves(table)))
    assert all(f">{name}</text>" in picture for name in names)


# Bands, hulls and achievable curves.


def folded() -> pl.DataFrame:
    table = predictions(600, keys=3, decimals=1).with_columns(fold=pl.int_range(pl.len()) % 4)
    return curves(table, fold="fold")


def test_bands_of_roc_are_those_of_the_table():
    for options in ({}, {"spread": "t", "test_train_ratio": 0.25}):
        means = pr.mean_curve(folded(), **options)
        for table in (means, means.lazy()):
            found = records(pr.charts.roc(table))
            parts = means.partition_by("model", maintain_order=True)
            columns = {"x": "fpr", "y": "tpr", "lower": "lower", "upper": "upper"}
            for record, mine in zip(found, parts, strict=True):
                for name, column in columns.items():
                    np.testing.assert_allclose(record[name], mine[column], atol=5.1e-6)


def test_bands_of_precision_recall_are_those_of_the_table():
    means = folded().pipe(pr.surface, [0.5, 0.1]).pipe(pr.mean_curve)
    found = panels(pr.charts.pr(means))
    assert [*found] == ["50 % positives", "10 % positives"]
    for panel, prior in zip(found.values(), (0.5, 0.1), strict=True):
        parts = means.filter(prior=prior).partition_by("model", maintain_order=True)
        for record, mine in zip(records(panel), parts, strict=True):
            for name, column in (("x", "tpr"), ("y", "precision"), ("upper", "upper")):
                np.testing.assert_allclose(record[name], mine[column], atol=5.1e-6)


def test_single_curves_have_no_band():
    assert "NaN" not in svg(pr.charts.roc(pr.mean_curve(folded().filter(fold=0))))


def test_hulls_and_achievable_curves_are_drawn_over_their_curves():
    curve = curves(predictions(400, keys=2, decimals=1))
    hull = pr.hull(curve)
    found = records(pr.charts.roc(curve, hull=hull))
    assert len(found) == 4
    parts = hull.partition_by("model", maintain_order=True)
    for record, mine in zip(found[2:], parts, strict=True):
        points = mine.select("fpr", "tpr").to_numpy()
        assert distance_to_line(points, drawn(record)).max() <= TOLERANCE
    best = pr.achievable(curve, [0.5, 0.1])
    chart = pr.charts.pr(curve.pipe(pr.surface, [0.5, 0.1, 0.01]), achievable=best)
    for prior, panel in zip((0.5, 0.1, 0.01), panels(chart).values(), strict=True):
        overlays = [record for record in records(panel) if "skew" in record]
        assert [record["line"] for record in overlays] == ["0", "1"][: 2 * (prior > 0.01)]
        for record in overlays:
            mine = best.filter(prior=prior, model=int(record["series"]))
            points = mine.select("tpr", "precision").to_numpy()
            assert distance_to_line(points, drawn(record)).max() <= TOLERANCE


# What a pointer is told.


@pytest.mark.parametrize("priors", [None, [0.1, 0.5]])
def test_what_is_told_are_rows_of_the_curve_along_all_of_the_line(priors):
    curve = curves(predictions(3_000, keys=2, decimals=5))
    chart = pr.charts.roc(curve) if priors is None else pr.charts.pr(curve.pipe(pr.surface, priors))
    found = records(chart, ("threshold",))
    keys = [(record["line"], record.get("prior")) for record in found]
    assert sorted(keys) == [(model, prior) for model in "01" for prior in priors or [None]]
    for record in found:
        rows = curve.filter(model=int(record["line"])).to_dicts()[1:]
        given = {f"{row['threshold']:.6g}": row for row in rows}
        names = ["fpr", "tpr", *(["precision"] if record.get("prior") else [])]
        told = pl.DataFrame({name: record[name] for name in ("threshold", *names)})
        rows = pl.DataFrame([given[f"{at:.6g}"] for at in told["threshold"]])
        if record.get("prior"):
            exact = precision(rows["tpr"], rows["fpr"], record["prior"])
            rows = rows.with_columns(precision=exact)
        else:
            # A curve from corner to corner is at most 2 long, with about 120 points to look up.
            steps = np.hypot(told["fpr"].diff().drop_nulls(), told["tpr"].diff().drop_nulls())
            assert steps.max() <= 0.05
        for name in names:
            assert told[name].to_list() == pytest.approx(rows[name].to_list(), rel=1e-4)


def test_many_curves_are_told_of_in_little_space():
    found = records(pr.charts.roc(curves(predictions(6_000, keys=60))), ("threshold",))
    assert len(found) == 60
    assert all(any(record["threshold"]) for record in found)
    assert len(json.dumps(found)) <= 75_000


def test_panels_of_many_curves_stay_small():
    surface = pr.surface(curves(predictions(120_000, keys=60)), [0.5, 0.1])
    chart = pr.charts.pr(surface)
    assert len(json.dumps(chart.to_dict(validate=False))) <= 1_000_000
    for prior, panel in zip((0.5, 0.1), panels(chart).values(), strict=True):
        line = next(one for one in records(panel) if one["line"] == "7")
        points = surface.filter(model=7, prior=prior).select("tpr", "precision").drop_nans()
        # Half a pixel of a panel that is one of several.
        assert distance_to_line(points.to_numpy(), drawn(line)).max() <= 0.5 / 260


@pytest.mark.parametrize("name", ["steps", "ties", "long segments"])
def test_thresholds_of_the_explorer_are_those_of_the_curve_or_none(name):
    curve = CURVES[name]()
    (record,) = pr.charts.explorer(curve).to_dict()["data"]["values"]
    given = {row["threshold"]: (row["fpr"], row["tpr"]) for row in curve.to_dicts()}
    told = np.array(
        [
            (fpr, tpr)
            for threshold, fpr, tpr in zip(
                record["threshold"], record["fpr"], record["tpr"], strict=True
            )
            if threshold is not None and (fpr, tpr) == pytest.approx(given[threshold], rel=1e-4)
        ]
    )
    assert len(told) == sum(threshold is not None for threshold in record["threshold"])
    # There is a point to look up wherever the curve has one.
    rows = curve.drop_nulls("threshold").select("fpr", "tpr").to_numpy()
    apart = np.abs(rows[:, None, :] - told[None, :, :]).max(axis=2).min(axis=1)
    assert apart.max() <= 1 / 50


def test_infinite_scores_are_told():
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [np.inf, 1.0, 0.0, -np.inf]})
    curve = curves(table, model=None)
    (record,) = records(pr.charts.roc(curve), ("threshold",))
    assert record["threshold"] == ["∞", 1.0, 0.0, "−∞"]
    (record,) = pr.charts.explorer(curve).to_dict()["data"]["values"]
    assert (record["threshold"][1], record["threshold"][-1]) == ("∞", "−∞")
