import json

import polars as pl
import pytest
from agreement import assert_same_document
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app
from polaroc.cli.drawings import DRAWINGS

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 3)
PROBABLE = TABLE.with_columns(score=1 / (1 + (-pl.col("score")).exp()))
PREDICTIONS = ["--truth", "truth", "--score", "score", "--model", "model", "--fold", "fold"]
OVER = ["--over", 0.05, 0.2]
# What each chart cannot do without.
NEEDS = {
    "accsens_plane": OVER,
    "pairs": [*OVER, "--test-train-ratio", 0.25],
}  # fmt: skip


def chart(*arguments: object):
    return CliRunner().invoke(app, ["chart", *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    TABLE.write_parquet(folder / "predictions.parquet")
    PROBABLE.write_parquet(folder / "probable.parquet")
    asked = {"truth": "truth", "score": "score", "by": ["model", "fold"]}
    grid = pr.prior_grid(0.05, 0.2, 25)
    measures = pr.evaluate(TABLE, **asked, priors=grid, over=(0.05, 0.2))
    measures.write_parquet(folder / "measures.parquet")
    return folder


@pytest.fixture
def measures(folder):
    return pl.read_parquet(folder / "measures.parquet")


def spec(folder, tmp_path, name, *options):
    result = chart(name, folder, *options, "--out", tmp_path / "chart.json")
    assert result.exit_code == 0, result.output
    return json.loads((tmp_path / "chart.json").read_text())


@pytest.mark.alike(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_chart_is_drawn_from_predictions(folder, tmp_path, name):
    file = folder / ("probable.parquet" if name == "reliability" else "predictions.parquet")
    said = spec(file, tmp_path, name, *PREDICTIONS, *NEEDS.get(name, []), "--title", "as I say")
    title = said["title"]
    assert (title if isinstance(title, str) else title["text"]) == "as I say"


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("roc", pr.charts.roc),
        ("explorer", pr.charts.explorer),
        ("cost_curves", lambda curves: pr.charts.cost_curves(pr.cost_curve(curves))),
        ("decision_curves", lambda curves: pr.charts.decision_curves(pr.decision_curve(curves))),
        (
            "operating_drift",
            lambda curves: pr.charts.operating_drift(
                pr.operating_points(curves, priors=[0.01, 0.5]), curves
            ),
        ),
    ],
)
def test_charts_are_those_of_the_functions(folder, tmp_path, name, draw):
    curves = pr.curve(TABLE, truth="truth", score="score", by=["model", "fold"])
    file = folder / "predictions.parquet"
    assert_same_document(spec(file, tmp_path, name, *PREDICTIONS), draw(curves).to_dict())


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "draw"),
    [
        (
            "decision_curves",
            ["--prior", 0.1],
            lambda curves: pr.charts.decision_curves(pr.decision_curve(curves, priors=[0.1])),
        ),
        (
            "pr",
            ["--prior", 0.1],
            lambda curves: pr.charts.pr(pr.surface(curves, [0.1])),
        ),
        (
            "reliability",
            ["--prior", 0.1],
            lambda _: pr.charts.reliability(
                pr.calibration(
                    PROBABLE.filter(fold=1), 0.1, truth="truth", score="score", fold=None
                ).curve
            ),
        ),
    ],
)
def test_charts_at_the_prior_that_is_asked_for(folder, tmp_path, name, options, draw):
    one = pl.col("fold") == 1
    PROBABLE.filter(one).write_parquet(tmp_path / "one.parquet")
    asked = [*PREDICTIONS[:4], "--no-fold"]
    curves = pr.curve(PROBABLE.filter(one), truth="truth", score="score", fold=None)
    found = spec(tmp_path / "one.parquet", tmp_path, name, *asked, *options)
    assert_same_document(found, draw(curves).to_dict())


def test_priors_are_those_given(folder, tmp_path):
    file = folder / "predictions.parquet"
    priors = ["--prior", 0.3, "--prior", 0.02]
    assert spec(file, tmp_path, "pr", *PREDICTIONS, *priors)["facet"]["sort"] == [
        "30 % positives", "2 % positives",
    ]  # fmt: skip


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("auprec_by_prior", pr.charts.auprec_by_prior),
        ("accsens_plane", pr.charts.accsens_plane),
        ("pairs", lambda table: pr.charts.pairs(pr.compare(table, test_train_ratio=0.25))),
    ],
)
def test_charts_of_measures_need_no_predictions(folder, tmp_path, measures, name, draw):
    ratio = ["--test-train-ratio", 0.25] if name == "pairs" else []
    found = spec(folder / "measures.parquet", tmp_path, name, *ratio)
    assert_same_document(found, draw(measures).to_dict())


def test_pairs_compare_what_is_asked(folder, tmp_path, measures):
    options = ["--measure", "auprec", "--prior", 0.05, "--test-train-ratio", 0, "--level", 0.9]
    found = spec(folder / "measures.parquet", tmp_path, "pairs", *options)
    asked = pr.compare(measures, "auprec", prior=0.05, test_train_ratio=0, level=0.9)
    assert_same_document(found, pr.charts.pairs(asked).to_dict())


def test_models_have_the_colours(folder, tmp_path):
    roles = ["--model", "fold", "--fold", "model"]
    options = [*PREDICTIONS[:4], *roles]
    found = spec(folder / "predictions.parquet", tmp_path, "auprec_by_prior", *options)
    assert found["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["1", "2", "3"]


@pytest.mark.alike(2)
@pytest.mark.parametrize("suffix", ["html", "svg", "png", "pdf"])
def test_the_suffix_is_the_format(folder, tmp_path, suffix):
    out = tmp_path / "new" / f"chart.{suffix}"
    result = chart("accsens_plane", folder / "measures.parquet", "--out", out)
    assert result.exit_code == 0, result.output
    starts = {"html": b"<!DOCTYPE", "svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert out.read_bytes().startswith(starts[suffix])
    assert f"Written to {out}" in result.output


@pytest.mark.slow
def test_by_default_the_file_is_named_after_the_chart(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert chart("auprec_by_prior", folder / "measures.parquet").exit_code == 0
    assert [file.name for file in tmp_path.iterdir()] == ["auprec_by_prior.html"]


@pytest.mark.alike(7)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope", "P"], "allowed are 'roc', 'pr'"),
        (["roc", "P", *PREDICTIONS, *OVER], "--over does not change the chart 'roc'"),
        (
            ["roc", "P", *PREDICTIONS, "--cluster", "model"],
            "--cluster does not change the chart 'roc'",
        ),
        (["roc", "P", *PREDICTIONS[:2]], "score is not given"),
        (["roc", "M"], "curves are drawn from predictions"),
        (["pr", "P", *PREDICTIONS, "--prior", "2"], "prior is 2.0"),
        (["auprec_by_prior", "P", *PREDICTIONS, "--over", 0.3, 0.2], "lo < hi"),
        (
            ["pairs", "P", *PREDICTIONS[:4], "--no-model", "--no-fold", *OVER],
            "nothing tells the models apart",
        ),
        (["accsens_plane", "P", *PREDICTIONS], "over is None"),
        (["accsens_plane", "M", *OVER], "--over is for predictions"),
        (["pairs", "M"], "test_train_ratio"),
        (["pairs", "M", "--case", "case"], "'case' is for predictions"),
        (["pairs", "M", "--prior", 0.1, "--prior", 0.2], "--prior is given 2 times"),
        (["pairs", "P"], "the table holds no measures"),
        (["accsens_plane", "M", "--out", "chart.gif"], "no format 'gif'"),
        (["accsens_plane", "M", "--out", "there.svg"], "is there already"),
        (["accsens_plane", "none.parquet"], "no file matches"),
    ],
)
def test_bad_input_is_one_message_and_leaves_nothing(
    folder, tmp_path, monkeypatch, arguments, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.svg").write_text("mine")
    files = {"P": folder / "predictions.parquet", "M": folder / "measures.parquet"}
    result = chart(*(files.get(str(argument), argument) for argument in arguments))
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert "Hint:" in result.output
    assert [file.name for file in tmp_path.iterdir()] == ["there.svg"]
    assert (tmp_path / "there.svg").read_text() == "mine"
