"""Dates of text files are dates in every command that has a time."""

import polars as pl
import pytest
from typer.testing import CliRunner

from polaroc.cli.application import app

NAMES = ["--truth", "truth", "--score", "score", "--time", "day"]
OPTIONS = {
    "monitor": ["--threshold", "1", "--over", "0.05", "0.2"],
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dates")
    place = pl.int_range(pl.len())
    table = pl.DataFrame({"truth": [1, 0, 0, 0] * 300}).with_columns(
        score=place * 7919 % 1_000 / 1_000 + 0.6 * pl.col("truth"),
        day=pl.date(2026, 1, 1) + pl.duration(days=place // 20),
    )
    table.write_parquet(folder / "dates.parquet")
    table.write_csv(folder / "dates.csv")
    moments = pl.col("day").cast(pl.Datetime) + pl.duration(minutes=place % 1_000)
    table.with_columns(moments).write_csv(
        folder / "moments.csv", datetime_format="%Y-%m-%dT%H:%M:%S"
    )
    return folder


def shown(folder, command, file, more=()):
    path = str(folder / file)
    first = [path, path, "--labelled", path] if command == "monitor" else [path]
    result = CliRunner().invoke(app, [command, *first, *NAMES, *OPTIONS[command], *more])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("command", OPTIONS)
def test_dates_of_a_text_file_are_dates(files, command):
    expected = shown(files, command, "dates.parquet")
    assert shown(files, command, "dates.csv") == expected


@pytest.mark.parametrize("command", ["monitor"])
def test_moments_of_a_text_file_are_cut_into_days(files, command):
    of_days = ["--every", "1d"] if command == "monitor" else []
    expected = shown(files, command, "dates.parquet")
    assert shown(files, command, "moments.csv", of_days) == expected
