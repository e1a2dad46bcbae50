import json
import sys
from io import StringIO

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rich.console import Console
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app
from polaroc.experiments import accsens, holdouts

IONOSPHERE = pr.datasets.ionosphere()


def polaroc(*arguments: object):
    return CliRunner().invoke(app, ["experiment", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_experiment_writes_its_predictions_and_prints_their_measures(folder):
    result = polaroc("ionosphere", "--holdouts", 2)
    assert result.exit_code == 0, result.output
    written = pl.read_parquet(folder / "ionosphere_predictions.parquet")
    kept = pr.datasets.ionosphere_predictions().filter(pl.col("fold") <= 2)
    # The first hold-outs of a longer run, but for the last digits of the scores.
    assert_frame_equal(written.drop("score"), kept.drop("score"))
    measures = written.pipe(
        pr.evaluate, truth="truth", score="score", by=["model", "fold"], over=(0.1, 0.9)
    )
    for measure in ("auc", "iauprec", "accsens"):
        part = measures.filter(measure=measure, model="fisherm qdc")["estimate"]
        assert f"{part.mean():.3f} ({part.std():.3f})" in result.output
    assert f"Test cases per training case: {71 / 280:.4g}." in result.output


@pytest.mark.slow
def test_satellite_is_measured_over_the_priors_of_its_source(folder):
    result = polaroc("satellite", "--holdouts", 1, "--out", "s.parquet")
    assert result.exit_code == 0, result.output
    kept = pr.datasets.satellite_predictions().filter(fold=1, model="C")
    iauprec = kept.pipe(
        pr.evaluate, truth="truth", score="score", over=(0.05, 0.2), measures="iauprec"
    )
    assert f"{iauprec['estimate'].item():.3f}" in result.output
    assert "Test cases per training case: 0.25." in result.output


def test_measures_for_another_program(folder):
    result = polaroc("ionosphere", "--holdouts", 1, "--json")
    assert result.exit_code == 0, result.output
    told = pl.DataFrame(json.loads(result.stdout), infer_schema_length=None)
    written = pl.read_parquet(folder / "ionosphere_predictions.parquet")
    measures = written.pipe(
        pr.evaluate, truth="truth", score="score", by=["model", "fold"],
        priors=[0.5, 0.1, 0.01], over=(0.1, 0.9),
    )  # fmt: skip
    assert told["estimate"].to_list() == pytest.approx(measures["estimate"].to_list())
    assert "Test cases per training case" in result.stderr


@pytest.mark.slow
def test_a_file_of_ones_own(folder):
    IONOSPHERE.write_csv("data.csv")
    result = polaroc("data.csv", "--truth", "class", "--positive", "bad", "--holdouts", 2)
    assert result.exit_code == 0, result.output
    expected = holdouts(
        IONOSPHERE, accsens.models("phoneme"), positive="bad", n=2, seed=accsens.SEED
    )
    assert_frame_equal(pl.read_parquet("data_predictions.parquet"), expected)


def test_the_phoneme_data_are_known_by_what_they_hold(folder, monkeypatch):
    # As many rows as the real data would take minutes.
    monkeypatch.setattr("polaroc.datasets.elena.NASAL", 60)
    monkeypatch.setattr("polaroc.datasets.elena.ORAL", 30)
    rows = [f"{i / 90} {i % 7} {i % 5} 1 0 {int(i % 3 == 0)}" for i in range(90)]
    (folder / "phoneme.dat").write_text("\n".join(rows))
    result = polaroc("phoneme.dat", "--holdouts", 1)
    assert result.exit_code == 0, result.output
    assert pl.read_parquet("phoneme_predictions.parquet")["truth"].sum() == 12 * 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mars"], "neither satellite, sonar, ionosphere nor"),
        (["data.csv"], "name the column of its labels with --truth"),
        (["data.csv", "--truth", "nope"], "no column 'nope'"),
        (["data.csv", "--truth", "class"], "--positive LABEL"),
        (["none.csv", "--truth", "class"], "no file matches"),
        (["holes.csv", "--truth", "class", "--positive", "bad"], "nulls in 'x1'"),
        (["sonar", "--out", "data.csv"], "is there already"),
        (["sonar", "--holdouts", "0"], "holdouts"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(folder, arguments, said):
    IONOSPHERE.write_csv("data.csv")
    holed = pl.when(pl.int_range(pl.len()) > 3).then("x1").alias("x1")
    IONOSPHERE.with_columns(holed).write_csv("holes.csv")
    result = polaroc(*arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output
    assert {file.name for file in folder.iterdir()} == {"data.csv", "holes.csv"}


def test_an_experiment_that_fails_leaves_nothing(folder, monkeypatch):
    def fail(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn.svm.SVC.fit", fail)
    assert polaroc("sonar", "--holdouts", 1).exit_code == 130
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_terminal_shows_how_far_it_is(folder, monkeypatch):
    screen = StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(sys.modules["polaroc.cli.experiment"], "stderr_console", lambda: console)
    assert polaroc("sonar", "--holdouts", 2).exit_code == 0
    assert "hold-out 2: " in screen.getvalue()
    assert "/8" in screen.getvalue()
