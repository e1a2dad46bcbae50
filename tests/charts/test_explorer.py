import json
from functools import cache

import numpy as np
import polars as pl
import pytest
from drawing import HALF_A_PIXEL, curves, distance_to_line, predictions, svg, vega

import polaroc as pr
from polaroc import rates

OVER = (0.001, 0.999)


def points(chart) -> list[dict]:
    return chart.to_dict()["data"]["values"]


def few(hits: int, misses: int, seed: int = 0) -> pl.DataFrame:
    """A curve of long segments, some of them level or upright."""
    rng = np.random.default_rng(seed)
    truth = [1] * hits + [0] * misses
    score = rng.integers(0, 6, hits + misses) + np.array(truth) * rng.integers(0, 3)
    return pr.curve(pl.DataFrame({"truth": truth, "score": score}), truth="truth", score="score")


def along(curve: pl.DataFrame, per_segment: int, segments: np.ndarray) -> tuple:
    """Points between those of the curve, where both rates are straight."""
    f, t = curve["fpr"].to_numpy(), curve["tpr"].to_numpy()
    share = np.linspace(0, 1, per_segment)[1:, None]
    return tuple(
        (axis[segments] + share * (axis[segments + 1] - axis[segments])).ravel() for axis in (f, t)
    )


def drawn_precision(record: dict, skew: float) -> np.ndarray:
    f, t = np.array(record["fpr"]), np.array(record["tpr"])
    limit = rates.precision(record["first_tpr"], record["first_fpr"], skew)
    return np.where(t + f > 0, t / np.maximum(t + skew * f, 1e-300), limit)


CURVES = {
    "ties": lambda: curves(predictions(2_000, decimals=1), model=None),
    "steps": lambda: curves(predictions(2_000), model=None),
    "many": lambda: curves(predictions(100_000), model=None),
    "rare": lambda: curves(predictions(3_000).filter(pl.int_range(pl.len()) % 40 == 0), model=None),
    "best first": lambda: few(4, 100_000),
    "nearly perfect": lambda: pr.curve(
        pl.DataFrame(
            {"truth": [1, 0, 1, 0], "score": [2, 2, 1, 0], "weight": [1e-7, 1e-7, 1.0, 1.0]}
        ),
        truth="truth", score="score", weight="weight",
    ),
    **{f"long {seed}": lambda seed=seed: few(9, 30, seed) for seed in range(6)},
}  # fmt: skip


@cache
def drawn_curve(name):
    curve = CURVES[name]()
    (record,) = points(pr.charts.explorer(curve, over=OVER))
    return curve, record


@pytest.mark.alike(3)
@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.001, 0.37])
@pytest.mark.parametrize("name", sorted(CURVES))
def test_lines_are_within_half_a_pixel_of_the_curve_at_every_prior(name, prior):
    (curve, record), skew = drawn_curve(name), (1 - prior) / prior
    assert len(record["at"]) <= 2_500
    rng = np.random.default_rng(1)
    segments = np.arange(curve.height - 1)
    if segments.size > 200:
        segments = np.concatenate([segments[:100], rng.choice(segments, 100, replace=False)])
    f, t = along(curve, 40, np.sort(segments))
    line = np.column_stack([record["tpr"], drawn_precision(record, skew)])
    exact = np.column_stack([t, rates.precision(t, f, skew)])[t + f > 0]
    assert distance_to_line(exact, line).max() <= HALF_A_PIXEL
    roc = np.column_stack([record["fpr"], record["tpr"]])
    assert distance_to_line(np.column_stack([f, t]), roc).max() <= HALF_A_PIXEL


@pytest.mark.parametrize("name", ["steps", "ties", "long 0"])
def test_thresholds_are_those_of_the_curve_or_none(name):
    curve = CURVES[name]()
    (record,) = points(pr.charts.explorer(curve))
    given = {row["threshold"]: (row["fpr"], row["tpr"]) for row in curve.iter_rows(named=True)}
    told = list(zip(record["threshold"], record["fpr"], record["tpr"], strict=True))
    for threshold, fpr, tpr in told:
        if threshold is not None:
            assert (fpr, tpr) == pytest.approx(given[threshold], rel=1e-4)
    # There is a point to look up wherever the curve has one.
    told = np.array([[f, t] for threshold, f, t in told if threshold is not None])
    rows = curve.drop_nulls("threshold").select("fpr", "tpr").to_numpy()
    apart = np.abs(rows[:, None, :] - told[None, :, :]).max(axis=2).min(axis=1)
    assert apart.max() <= 1 / 50


def test_infinite_scores_are_told():
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [np.inf, 1.0, 0.0, -np.inf]})
    (record,) = points(pr.charts.explorer(curves(table, model=None)))
    assert record["threshold"][1] == "∞"
    assert record["threshold"][-1] == "−∞"


def path_of(picture: str, colour: str) -> list[np.ndarray]:
    """The lines of a colour, in shares of the panel."""
    size = 260
    lines = []
    for part in picture.split("<path")[1:]:
        mark = part.split("/>")[0]
        if f'stroke="{colour}"' in mark and 'd="M' in mark and "A" not in mark.split('d="')[1]:
            steps = mark.split('d="M')[1].split('"')[0].replace("L", " ").split()
            at = np.array([[float(value) for value in step.split(",")] for step in steps])
            lines.append(np.column_stack([at[:, 0] / size, 1 - at[:, 1] / size]))
    return [line for line in lines if len(line) > 9]


@pytest.mark.long
@pytest.mark.parametrize("prior", [0.5, 0.02])
def test_precision_is_worked_out_where_it_is_drawn(prior):
    curve = curves(predictions(500), model=None)
    chart = pr.charts.explorer(curve, prior=0.1)
    spec = chart.to_dict()
    (slider,) = [param for param in spec["params"] if param["name"] == "log_odds"]
    slider["value"] = float(np.log10(prior / (1 - prior)))
    (_, shown) = path_of(svg(spec), "#0072B2")
    (record,) = points(chart)
    expected = drawn_precision(record, (1 - prior) / prior)
    assert np.abs(shown[:, 0] - record["tpr"]).max() <= 1e-5
    assert np.abs(shown[:, 1] - expected).max() <= 1e-5


def test_data_can_be_read_back_by_name():
    made = vega(pr.charts.explorer(curves(predictions(100, keys=2))))
    assert {"log_odds", "prior", "skew", "point"} <= {signal["name"] for signal in made["signals"]}
    (held,) = [data for data in made["data"] if data["name"] == "data_0"]
    assert [step["type"] for step in held["transform"]] == ["flatten", *["formula"] * 3]


def test_small_enough_for_a_page():
    table = pr.datasets.satellite_predictions()
    chart = pr.charts.explorer(pr.curve(table, truth="truth", score="score", fold=None))
    assert len(json.dumps(chart.to_dict())) <= 250_000


def test_too_many_curves_are_refused():
    with pytest.raises(pr.errors.InvalidArgument, match=r"40 curves(?s:.*)Hint:"):
        pr.charts.explorer(curves(predictions(2_000, keys=40)))


@pytest.mark.parametrize("options", [{"prior": 0.5, "over": (0.1, 0.2)}, {"over": (0.2, 0.1)}])
def test_priors_beyond_the_slider_are_refused(options):
    with pytest.raises(pr.errors.InvalidArgument, match="Hint:"):
        pr.charts.explorer(curves(predictions(50)), **options)


def test_a_curve_of_one_class_has_no_line():
    table = pl.DataFrame({"truth": [1, 1], "score": [0.1, 0.2]})
    assert points(pr.charts.explorer(pr.curve(table, truth="truth", score="score"))) == []


def test_long_names_are_not_cut():
    names = [f"a rather long name of a model, number {i}" for i in range(5)]
    table = predictions(300, keys=5)
    table = table.with_columns(pl.col("model").replace_strict(dict(enumerate(names))))
    picture = svg(pr.charts.explorer(curves(table)))
    assert all(f">{name}</text>" in picture for name in names)
