import json
import random
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_document
from command_line import polaroc as run
from pages import Page
from polars.testing import assert_frame_equal

import polaroc as pr

NAMES = ["--truth", "truth", "--score", "score", "--time", "day"]
SET = [*NAMES, "--threshold", "1.8", "--over", "0.05", "0.2"]


def cases(seed, size, prior, **columns):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < prior
    frame = pl.DataFrame({"truth": truth, "score": rng.normal(size=size) + 2 * truth})
    return frame.with_columns(pl.lit(value).alias(name) for name, value in columns.items())


def test_a_threshold_that_was_promised_is_watched(files):
    saved = files / "threshold.json"
    cases(7, 5_000, 0.1).write_parquet(files / "tuning.parquet")
    chosen = run(
        "threshold", str(files / "tuning.parquet"), *NAMES[:4], "--min-precision", "0.5",
        "--confidence", "0.95", "--over", "0.05", "0.2", "-o", saved,
    )  # fmt: skip
    assert chosen.exit_code == 0, chosen.output
    (point,) = json.loads(saved.read_text())["points"]
    watched = printed(files, [*NAMES, "--threshold", str(saved), "--json"])
    # The range that the threshold is for is in the file.
    asked = [*NAMES, "--threshold", point["threshold"], "--over", "0.05", "0.2", "--json"]
    assert_same_document(watched, printed(files, asked))
    told = polaroc(files, 1, more=[*NAMES, "--threshold", str(saved)])
    assert "No range of priors" not in " ".join(told.output.split())
    told = polaroc(files, 1, more=[*NAMES, "--threshold", str(saved), "--over", "0.1", "0.2"])
    said = "The thresholds were chosen for 5 % to 20 % positives; alarms are for 10 % to 20 %."
    assert said in " ".join(told.output.split())
    more = [*NAMES, "--threshold", str(saved)]
    cases(0, 5_000, 0.1).rename({"score": "other"}).write_parquet(files / "other.parquet")
    words = ["monitor", files / "other.parquet", files / "day1.parquet", *more]
    words[words.index("score")] = "other"
    result = run(*words)
    assert result.exit_code == 2
    assert "the threshold is of the score 'score'" in result.output
    cases(7, 5_000, 0.1).write_parquet(files / "reference.parquet")
    result = polaroc(files, 1, more=more)
    assert result.exit_code == 2
    assert "these are the very cases that the thresholds were chosen on" in result.output
    saved.write_text(saved.read_text()[:200])
    result = polaroc(files, 1, more=more)
    assert result.exit_code == 2
    assert "has no digest" in result.output


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
    return run(*words)


def printed(files, more):
    result = polaroc(files, 1, more=more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def assert_same_state(state, expected):
    # Sums over other numbers of days may differ in the last digit.
    assert_frame_equal(state.drop("results"), expected.drop("results"))


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
    assert_same_state(pl.read_parquet(state), expected.state)
    assert json.loads(whole.stdout)["alarms"][0]["alarm"].startswith("the prior left the range")
    # Given again, a day changes nothing.
    assert polaroc(files, 3, more=more).exit_code == 1
    assert_same_state(pl.read_parquet(state), expected.state)


def test_a_day_that_comes_late_does_not_hide_an_alarm_that_holds(files):
    more = [*SET, "--state", str(files / "state.parquet")]
    assert [polaroc(files, day, more=more).exit_code for day in (2, 3, 1)] == [0, 1, 1]


def days_of(state):
    return pl.read_parquet(state)["day"].to_list()


def test_monitors_at_once_lose_no_day(files):
    state = files / "state.parquet"
    polaroc(files, 1, more=[*SET, "--state", str(state)])
    words = [[sys.executable, "-m", "polaroc", "monitor", files / "reference.parquet",
              files / f"day{day}.parquet", *SET, "--state", state] for day in (2, 3)]  # fmt: skip
    at_once = [subprocess.Popen(list(map(str, one)), stdout=subprocess.DEVNULL) for one in words]
    assert {process.wait(60) for process in at_once} <= {0, 1}
    assert days_of(state) == [1, 2, 3]
    assert not [file.name for file in files.iterdir() if "lock" in file.name]


def test_a_link_to_a_state_is_followed(files):
    state, link = files / "state.parquet", files / "link.parquet"
    polaroc(files, 1, more=[*SET, "--state", str(state)])
    link.symlink_to(state)
    for day, path in ((2, link), (3, state)):
        assert polaroc(files, day, more=[*SET, "--state", str(path)]).exit_code in (0, 1)
    assert days_of(state) == days_of(link) == [1, 2, 3]
    assert link.is_symlink()


def test_a_flipped_bit_of_a_state_is_refused(files):
    state = files / "state.parquet"
    polaroc(files, 1, 2, more=[*SET, "--state", str(state)])
    whole, draw = state.read_bytes(), random.Random(5)
    for place in [*draw.sample(range(len(whole)), 20), 0, len(whole) - 1]:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << draw.randrange(8)
        state.write_bytes(flipped)
        result = polaroc(files, 3, more=[*SET, "--state", str(state)])
        assert (result.exit_code, state.read_bytes()) == (2, bytes(flipped)), place
        assert "Hint: give the file as `polaroc monitor --state` wrote it" in result.output
    state.write_bytes(whole)
    assert polaroc(files, 3, more=[*SET, "--state", str(state)]).exit_code == 1


def test_page_and_table_have_all_times_of_the_state(files):
    state, one, whole = (files / f"{name}.parquet" for name in ("state", "one", "whole"))
    pages = [files / "one.html", files / "whole.html"]
    cases(4, 1_000, 0.6, day=4).drop("truth").write_parquet(files / "day4.parquet")
    kept = ["--state", str(state), "-o", str(one), "--force"]
    for day in (1, 2, 3):
        polaroc(files, day, more=[*SET, *kept])
    polaroc(files, 4, more=[*SET, *kept, "--report", str(pages[0])])
    polaroc(files, 1, 2, 3, 4, more=[*SET, "--report", str(pages[1]), "-o", str(whole)])
    assert_frame_equal(pl.read_parquet(one), pl.read_parquet(whole))
    texts = [Page(page).text() for page in pages]
    assert texts[0] == texts[1]
    assert "(2 times since 3)" in texts[0]


def test_results_go_to_a_table_and_labels_come_later(files):
    state, out = files / "state.parquet", files / "results.csv"
    assert polaroc(files, 1, 2, more=[*SET, "--state", str(state)]).exit_code == 0
    more = [*SET, "--state", str(state), "--labelled", str(files / "labels1.parquet")]
    result = polaroc(files, 2, more=[*more, "--out", str(out)])
    assert result.exit_code == 0, result.output
    table = pl.read_csv(out)
    assert not table.filter(day=1)["lower"].null_count()
    assert table.filter(day=1)["quantity"].to_list() == [
        "prior", "precision", "posfrac", "cost",
        "prior_labelled", "precision_labelled", "recall_labelled", "cost_labelled",
    ]  # fmt: skip
    assert "Written to" in result.output


def test_points_from_a_file(files):
    points = files / "points.csv"
    points.write_text("threshold\n1.8\n")
    more = [*NAMES, "--threshold", str(points), "--over", "0.05", "0.2", "--json"]
    assert_same_document(printed(files, more), printed(files, [*SET, "--json"]))


def test_an_output_that_cannot_be_written_leaves_the_state_as_it_was(files):
    state, out = files / "state.parquet", files / "results.csv"
    polaroc(files, 1, more=[*SET, "--state", str(state)])
    before = state.read_bytes()
    out.write_text("mine")
    assert polaroc(files, 2, more=[*SET, "--state", str(state), "--out", str(out)]).exit_code == 2
    assert (state.read_bytes(), out.read_text()) == (before, "mine")
