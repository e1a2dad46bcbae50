import json

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

NAMES = ["--truth", "truth", "--score", "score", "--time", "day"]
SET = [*NAMES, "--threshold", "1.8", "--over", "0.05", "0.2"]


def cases(seed, size, prior, **columns):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < prior
    frame = pl.DataFrame({"truth": truth, "score": rng.normal(size=size) + 2 * truth})
    return frame.with_columns(pl.lit(value).alias(name) for name, value in columns.items())


def test_a_threshold_that_was_promised_is_watched(files):
    saved = files / "threshold.json"
    chosen = CliRunner().invoke(app, [
        "threshold", str(files / "reference.parquet"), *NAMES[:4], "--rule", "max_recall",
        "--constraint", "precision=0.5", "--confidence", "0.95", "--over", "0.05", "0.2",
        "-o", str(saved),
    ])  # fmt: skip
    assert chosen.exit_code == 0, chosen.output
    (point,) = json.loads(saved.read_text())["points"]
    watched = polaroc(files, 1, more=[*NAMES, "--points", str(saved), "--json"])
    assert watched.exit_code == 0, watched.output
    by_number = polaroc(files, 1, more=[*NAMES, "--threshold", point["threshold"], "--json"])
    assert json.loads(watched.stdout) == json.loads(by_number.stdout)


@pytest.fixture
def files(tmp_path):
    cases(0, 5_000, 0.1).write_parquet(tmp_path / "reference.parquet")
    for day, prior in enumerate([0.1, 0.12, 0.6], 1):
        used = cases(day, 1_000, prior, day=day)
        used.drop("truth").write_parquet(tmp_path / f"day{day}.parquet")
        used.head(200).write_parquet(tmp_path / f"labels{day}.parquet")
    return tmp_path


def polaroc(files, *days, more=SET):
    used = [files / f"day{day}.parquet" for day in days]
    words = ["monitor", files / "reference.parquet", *used, *more]
    return CliRunner().invoke(app, list(map(str, words)))


def test_exit_codes_and_state_of_days_given_one_by_one(files):
    state = files / "state.parquet"
    more = [*SET, "--state", str(state), "--json"]
    codes, tables = [], []
    for day in (1, 2, 3):
        result = polaroc(files, day, more=more)
        codes.append(result.exit_code)
        tables += json.loads(result.stdout)["table"]
    assert codes == [0, 0, 1]
    whole = polaroc(files, 1, 2, 3, more=[*SET, "--json"])
    assert whole.exit_code == 1
    assert json.loads(whole.stdout)["table"] == tables
    expected = pr.monitor(
        pl.read_parquet(files / "reference.parquet"),
        pl.concat(pl.read_parquet(files / f"day{day}.parquet") for day in (1, 2, 3)),
        truth="truth", score="score", time="day", points=1.8, over=(0.05, 0.2),
    )  # fmt: skip
    assert_frame_equal(pl.read_parquet(state), expected.state)
    assert json.loads(whole.stdout)["alarms"][0]["alarm"].startswith("the prior left the range")
    # Given again, a day changes nothing.
    assert polaroc(files, 3, more=more).exit_code == 1
    assert_frame_equal(pl.read_parquet(state), expected.state)


def test_results_go_to_a_table_and_labels_come_later(files):
    state, out = files / "state.parquet", files / "results.csv"
    assert polaroc(files, 1, 2, more=[*SET, "--state", str(state)]).exit_code == 0
    more = [*SET, "--state", str(state), "--labelled", str(files / "labels1.parquet")]
    result = polaroc(files, 2, more=[*more, "--out", str(out)])
    assert result.exit_code == 0, result.output
    table = pl.read_csv(out)
    assert table.filter(day=1)["quantity"].to_list() == [
        "prior_labelled", "precision_labelled", "cost_labelled",
    ]  # fmt: skip
    assert "Written to" in result.output


def test_points_from_a_file(files):
    points = files / "points.csv"
    points.write_text("threshold\n1.8\n")
    more = [*NAMES, "--points", str(points), "--over", "0.05", "0.2", "--json"]
    assert polaroc(files, 1, more=more).stdout == polaroc(files, 1, more=[*SET, "--json"]).stdout


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (NAMES, "needed is one of --threshold and --points."),
        ([*SET, "--points", "points.csv"], "needed is one of --threshold and --points."),
        ([*SET, "--state", "state.csv"], "needed is a Parquet file."),
        ([*SET, "--state", "{}/day1.parquet"], "is no state of a monitor."),
        ([*SET, "--level", "2"], "level is 2.0, allowed is 0 < level < 1."),
        ([*SET, "--over", "0.1", "0.2"], "--over is given 2 times"),
    ],
)
def test_wrong_options_end_with_a_hint(files, more, found):
    result = polaroc(files, 1, more=[word.format(files) for word in more])
    assert result.exit_code == 2
    assert found in result.output
    assert "Hint: " in result.output


def test_a_state_of_another_model_is_refused_and_kept(files):
    state = files / "state.parquet"
    polaroc(files, 1, more=[*SET, "--state", str(state)])
    before = state.read_bytes()
    cases(9, 5_000, 0.1).write_parquet(files / "reference.parquet")
    result = polaroc(files, 2, more=[*SET, "--state", str(state)])
    assert result.exit_code == 2
    assert "the state is of another reference" in result.output
    assert state.read_bytes() == before


def test_an_output_that_cannot_be_written_leaves_the_state_as_it_was(files):
    state, out = files / "state.parquet", files / "results.csv"
    polaroc(files, 1, more=[*SET, "--state", str(state)])
    before = state.read_bytes()
    out.write_text("mine")
    assert polaroc(files, 2, more=[*SET, "--state", str(state), "--out", str(out)]).exit_code == 2
    assert (state.read_bytes(), out.read_text()) == (before, "mine")
