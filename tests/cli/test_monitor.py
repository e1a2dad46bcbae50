import json

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


def test_exit_codes_and_tables_are_those_of_python(files):
    assert [polaroc(files, day).exit_code for day in (1, 2, 3)] == [0, 0, 1]
    whole = polaroc(files, 1, 2, 3, more=[*SET, "--json"])
    assert whole.exit_code == 1
    found = json.loads(whole.stdout)
    expected = pr.monitor(
        pl.read_parquet(files / "reference.parquet"),
        pl.concat(pl.read_parquet(files / f"day{day}.parquet") for day in (1, 2, 3)),
        truth="truth", score="score", time="day", points=1.8, over=(0.05, 0.2),
    )  # fmt: skip
    assert found["answer"] == expected.answer
    for name, table in expected.tables.items():
        assert_frame_equal(pl.DataFrame(found[name], schema=table.schema), table)
    # A day alone has the same numbers.
    alone = json.loads(polaroc(files, 3, more=[*SET, "--json"]).stdout)
    assert alone["prior"] == found["prior"][2:]


def test_results_go_to_a_table_and_a_page(files):
    out, page = files / "results.csv", files / "page.html"
    more = [*SET, "--labelled", str(files / "labels1.parquet"), "--looks", "30"]
    result = polaroc(files, 1, 2, 3, more=[*more, "--out", str(out), "--report", str(page)])
    assert result.exit_code == 1, result.output
    printed = "".join(result.output.split())
    assert f"Writtento{out}." in printed
    assert f"Writtento{page}." in printed
    # The note on days that differ names the option.
    assert "--batchday" in printed
    table = pl.read_csv(out)
    assert table.filter(day=2)["quantity"].to_list() == [
        "prior", "posfrac", "tpr", "fpr", "precision", "cost"
    ]  # fmt: skip
    assert "precision_labelled" in table.filter(day=1)["quantity"]
    assert "One alarm at day 3" in Page(page).text()


def test_whole_numbers_are_not_cut_into_periods(files):
    result = polaroc(files, 1, more=[*SET, "--every", "1w"])
    assert result.exit_code == 2
    assert "every is '1w' and 'day' is" in result.stderr
    assert "damaged" not in result.stderr
    few = polaroc(files, 1, 2, more=[*SET, "--looks", 1])
    assert "or longer ones: --every 1w" in few.stderr


def test_points_from_a_file(files):
    points = files / "points.csv"
    points.write_text("threshold\n1.8\n")
    more = [*NAMES, "--threshold", str(points), "--over", "0.05", "0.2", "--json"]
    assert_same_document(printed(files, more), printed(files, [*SET, "--json"]))
