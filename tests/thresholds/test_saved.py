import json
import random

import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app
from polaroc.cli.pipes import plain_rows
from polaroc.errors import InvalidTable
from polaroc.files.sealed import blank_seal
from polaroc.thresholds.saved import KIND, SavedThresholds


def test_thresholds_without_bound_are_those_that_were_saved(tmp_path):
    # A score may be infinite: for what is certain, or what nothing is known of.
    table = pl.DataFrame(
        {
            "model": ["A"] * 4 + ["B"] * 4,
            "truth": [1, 0, 1, 0] * 2,
            "score": [float("inf"), -float("inf"), 0.5, 0.4, 0.9, 0.1, 0.5, 0.4],
        }
    )
    curves = pr.curve(table, truth="truth", score="score")
    points = pr.operating_points(curves, "fpr", target=0.0, priors=0.3)
    strict = points.with_columns(
        pl.when(model="A").then(float("inf")).otherwise("threshold").alias("threshold")
    )
    for rows in (points, strict):
        saved = SavedThresholds(["model"], "score", None, None, {}, "", plain_rows(rows))
        saved.write(tmp_path / "thresholds.json", force=True)
        read = SavedThresholds.read(tmp_path / "thresholds.json").table(rows.schema)
        assert read.equals(rows.select(read.columns))
        assert set(read.columns) == set(rows.columns)


def curves_of(models):
    rows = [(model, truth, score) for model in models for truth, score in ((1, 0.9), (0, 0.1))]
    schema = {"model": pl.String, "truth": pl.Int64, "score": pl.Float64}
    return pr.curve(pl.DataFrame(rows, schema=schema, orient="row"), truth="truth", score="score")


def saved_of(models):
    points = pr.operating_points(curves_of(models), "fpr", target=0.0, priors=0.3)
    return SavedThresholds(["model"], "score", None, None, {}, "", plain_rows(points))


@pytest.mark.parametrize(("count", "listed"), [(3, "model B; model C; model D;"), (4, "D; …;")])
def test_models_without_a_threshold_are_named(count, listed):
    others = curves_of("ABCDEF"[: count + 1])
    with pytest.raises(InvalidTable) as error:
        saved_of("A").check(others, ["model"], "score")
    assert f"{listed} there is one for model A." in str(error.value)


def test_a_model_without_a_name_has_its_threshold():
    saved_of(["A", None]).check(curves_of(["A", None]), ["model"], "score")
    with pytest.raises(InvalidTable, match="no threshold for model None"):
        saved_of(["A"]).check(curves_of(["A", None]), ["model"], "score")


def test_every_flipped_bit_is_refused(tmp_path):
    file, draw = tmp_path / "thresholds.json", random.Random(3)
    saved_of("A").write(file)
    whole = file.read_bytes()
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << draw.randrange(8)
        file.write_bytes(flipped)
        with pytest.raises(InvalidTable, match="digest"):
            SavedThresholds.read(file)
    file.write_bytes(whole)
    assert SavedThresholds.read(file).points == saved_of("A").points


def test_a_key_that_looks_like_a_digest_is_a_key(tmp_path):
    key = f"{blank_seal(KIND)} {blank_seal(KIND)[:-1]}a"
    saved_of([key]).write(tmp_path / "thresholds.json")
    (point,) = SavedThresholds.read(tmp_path / "thresholds.json").points
    assert point["model"] == key


def chosen(kind, tmp_path):
    """Thresholds of two keys of a type, chosen on the command line, and other cases."""
    key = pl.col("k").cast(pl.Int64)
    keys = {"Time": (key * 1_500_000_000).cast(pl.Time), "Duration": pl.duration(hours="k"),
            "Binary": pl.format("{}", "k").cast(pl.Binary), "List": pl.concat_list("k", "k"),
            "Struct": pl.struct("k")}  # fmt: skip
    table = pl.DataFrame(
        {"y": [1, 0] * 40, "s": [i / 80 for i in range(80)], "k": [0, 0, 1, 1] * 20}
    ).with_columns(key=keys[kind])
    table.write_parquet(tmp_path / "p.parquet")
    table[:50].write_parquet(tmp_path / "other.parquet")
    names = ["--truth", "y", "--score", "s", "--by", "key"]
    saved = polaroc("threshold", tmp_path / "p.parquet", *names, "--out", tmp_path / "t.json")
    return names, saved


def polaroc(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_times_of_day_are_keys_of_saved_thresholds(tmp_path):
    names, saved = chosen("Time", tmp_path)
    assert saved.exit_code == 0, saved.output
    applied = polaroc(
        "threshold", tmp_path / "other.parquet", *names, "--apply", tmp_path / "t.json", "--json"
    )
    assert applied.exit_code == 0, applied.output
    assert {row["key"] for row in json.loads(applied.stdout)} == {"00:00:00", "00:00:01.500"}


@pytest.mark.parametrize("kind", ["Duration", "Binary", "List", "Struct"])
def test_keys_that_a_file_cannot_hold_are_refused(kind, tmp_path):
    _, saved = chosen(kind, tmp_path)
    assert saved.exit_code == 2
    assert "of which no file of thresholds is written" in " ".join(saved.output.split())
    assert not (tmp_path / "t.json").exists()
