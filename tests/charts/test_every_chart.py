"""Properties of every chart, on tables of every kind."""

import json

import altair as alt
import numpy as np
import polars as pl
import pytest
from chart_cases import CASES, curves, measures
from command_line import polaroc
from drawing import HOSTILE, svg
from jsonschema import Draft7Validator
from PIL import Image

import polaroc as pr

VALIDATOR = Draft7Validator(alt.load_schema())
WIDEST = 800


def table(names, rows: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    size = rows * len(names)
    truth = np.tile(np.arange(rows) % 10 < 4, len(names))
    return pl.DataFrame(
        {
            "model": np.repeat(names, rows),
            "fold": np.tile(np.arange(rows) % 3 + 1, len(names)),
            "truth": truth,
            "score": (rng.normal(size=size) + truth).round(1),
        }
    )


ONE = table(["A"])
KINDS = {
    "models": lambda: table(["A", "B", "C"]),
    "one model": lambda: ONE,
    "models named by numbers": lambda: table([2, 10, 1]),
    "harmful names": lambda: table(HOSTILE),
    "few cases": lambda: table(["A", "B"], rows=12),
    "one model perfect": lambda: pl.concat(
        [ONE, ONE.with_columns(model=pl.lit("B"), score=pl.col("truth") * 1.0)]
    ),
}


# One model has no pairs.
SWEEP = [(name, kind) for name in CASES for kind in KINDS if (name, kind) != ("pairs", "one model")]


@pytest.mark.parametrize(("name", "kind"), SWEEP)
def test_a_chart_is_valid_json_that_says_what_it_is(name, kind):
    spec = CASES[name](KINDS[kind]()).to_dict(validate=False)
    spec = json.loads(json.dumps(spec, allow_nan=False))
    assert spec["description"].startswith(spec["title"]["text"])
    # The schema is slow, and the kinds of a chart differ in their data.
    if kind == "models":
        assert list(VALIDATOR.iter_errors(spec)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_chart_is_drawn_without_a_warning(name, tmp_path, capfd):
    file = tmp_path / "chart.png"
    CASES[name](KINDS["models"]()).save(file)
    assert capfd.readouterr() == ("", "")
    with Image.open(file) as picture:
        shades = picture.convert("RGB").getcolors(maxcolors=2**24)
        assert picture.width <= 2 * WIDEST
    # More than paper, axes and text: something has a colour.
    assert sum(count for count, shade in shades if max(shade) - min(shade) > 60) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_names_are_text_in_a_picture(name):
    picture = svg(CASES[name](KINDS["harmful names"]()))
    assert "<script>" not in picture
    for shown in ("&lt;script&gt;alert(1)", "a.b[0]", "datum.x"):
        assert shown in picture


@pytest.mark.parametrize("name", ["roc", "explorer", "auprec_by_prior"])
def test_names_are_text_in_a_page_that_the_command_writes(name, tmp_path):
    KINDS["harmful names"]().write_parquet(tmp_path / "table.parquet")
    roles = ["--truth", "truth", "--score", "score", "--fold", ""]
    out = ["--out", str(tmp_path / "chart.html")]
    result = polaroc("chart", name, tmp_path / "table.parquet", *roles, *out)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "chart.html").read_text()
    assert "a.b[0]" in page
    assert "<script>alert(1)" not in page


@pytest.mark.parametrize("kind", ["json", "html", "svg", "png", "pdf"])
def test_a_chart_saves_itself(kind, tmp_path):
    chart, file = CASES["roc"](KINDS["models"]()), tmp_path / f"roc.{kind}"
    chart.save(file, **({"inline": True} if kind == "html" else {}))
    written = file.read_bytes()
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!DOCTYPE"}
    assert written.startswith(starts.get(kind, b"{"))
    if kind == "json":
        assert json.loads(written) == chart.to_dict()
    if kind == "html":
        assert b"https://cdn" not in written


def nothing() -> pl.DataFrame:
    return curves(table(["A"]).clear())


EMPTY = {
    "roc": nothing,
    "pr": lambda: nothing().pipe(pr.surface, 0.1),
    "explorer": nothing,
    "operating_drift": lambda: pr.operating_points(nothing(), priors=0.5),
    "cost_curves": lambda: pr.cost_curve(nothing()),
    "decision_curves": lambda: pr.decision_curve(nothing()),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_table_is_an_empty_chart(name):
    assert getattr(pr.charts, name)(EMPTY[name]()).to_dict()["title"]


def colours_of(part) -> set[tuple]:
    """Each model's colour wherever a chart says it."""
    if isinstance(part, list):
        return {pair for inner in part for pair in colours_of(inner)}
    if not isinstance(part, dict):
        return set()
    found = {pair for inner in part.values() for pair in colours_of(inner)}
    scale = part.get("scale") if isinstance(part.get("scale"), dict) else {}
    if {"domain", "range"} <= scale.keys() and str(scale["range"][0]).startswith("#"):
        pairs = zip(scale["domain"], scale["range"], strict=True)
        found |= {(model, colour) for model, colour in pairs if isinstance(model, str)}
    return found


DRAWN = {
    "roc": curves,
    "pr": lambda rows: curves(rows).pipe(pr.surface, 0.1),
    "explorer": curves,
    "auprec_by_prior": measures,
    "accsens_plane": measures,
    "pairs": lambda rows: pr.compare(measures(rows), test_train_ratio=0.5),
}


@pytest.mark.parametrize("name", DRAWN)
def test_titles_and_colours_are_those_given_and_a_model_keeps_its_own(name):
    rows, draw = KINDS["models"](), getattr(pr.charts, name)
    plain = colours_of(draw(DRAWN[name](rows)).to_dict())
    assert {model for model, _ in plain} == {"A", "B", "C"}
    assert len(plain) == 3
    given = {"A": "#111111", "B": "#222222", "C": "#333333", "other": "#444444"}
    some = DRAWN[name](rows.filter(pl.col("model") != "B"))
    spec = draw(some, colours=given, title="what I say").to_dict()
    assert colours_of(spec) == {("A", "#111111"), ("C", "#333333")}
    assert spec["title"]["text"] == "what I say"


@pytest.mark.parametrize("name", ["roc", "accsens_plane"])
def test_many_models_are_told_apart(name):
    rows = table([f"model {i:02}" for i in range(20)], rows=30)
    spec = getattr(pr.charts, name)(DRAWN[name](rows)).to_dict()
    channels = {}
    for layer in spec["layer"]:
        for channel in ("color", "strokeDash", "shape"):
            scale = layer["encoding"].get(channel, {}).get("scale", {})
            if "domain" in scale and len(scale["domain"]) == 20:
                looks = zip(scale["domain"], map(str, scale["range"]), strict=True)
                channels[channel] = dict(looks)
    assert len(channels) >= 2
    models = next(iter(channels.values()))
    assert len({tuple(look[model] for look in channels.values()) for model in models}) == 20


def test_every_chart_has_a_case():
    assert {name.split(" ")[0].strip(",") for name in CASES} == set(pr.charts.__all__)
