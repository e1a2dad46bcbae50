"""Files of thresholds, which the command `threshold` writes and applies."""

import json
import random

import polars as pl
import pytest
from command_line import polaroc as run

INF = float("inf")


def polaroc(*arguments):
    return run("threshold", *arguments)


def saved(tmp_path, table, *options):
    """The file of the thresholds of a table, and how other cases are judged by it."""
    table.write_parquet(tmp_path / "tuning.parquet")
    names = ["--truth", "y", "--score", "s", *options]
    file = tmp_path / "t.json"
    chosen = polaroc(tmp_path / "tuning.parquet", *names, "--rule", "youden", "--out", file)

    def judged(test):
        test.write_parquet(tmp_path / "test.parquet")
        return polaroc(tmp_path / "test.parquet", *names, "--apply", file, "--json")

    return chosen, file, judged


def cases(**columns):
    """Two scores above all negatives for each value of a column."""
    rows = pl.DataFrame({"y": [1, 1, 0, 0] * 20, "s": [i % 4 / 4 + i / 400 for i in range(80)]})
    return rows.with_columns((1 - pl.col("s")).alias("s"), **columns)


def test_thresholds_without_bound_are_those_that_were_saved(tmp_path):
    # A score may be infinite: for what is certain, or what nothing is known of.
    score = {"A": [INF, -INF, 0.5, 0.4], "B": [0.9, 0.1, 0.5, 0.4], None: [0.3, 0.2, 0.3, 0.2]}
    table = pl.concat(
        pl.DataFrame({"m": pl.Series([key] * 4, dtype=pl.String), "y": [1, 0, 0, 0], "s": own})
        for key, own in score.items()
    )
    chosen, _, judged = saved(tmp_path, table, "--model", "m")
    assert chosen.exit_code == 0, chosen.output
    test = table.with_columns(pl.Series("y", [1, 1, 0, 0] * 3))
    result = judged(test)
    assert result.exit_code == 0, result.output
    rows = {row["model"]: row for row in json.loads(result.stdout)}
    assert rows.keys() == score.keys()
    called = {key: [s >= max(own) for s in own] for key, own in score.items() if key is not None}
    for key, calls in called.items():
        assert rows[key]["tpr"] == sum(calls[:2]) / 2
        assert rows[key]["fpr"] == sum(calls[2:]) / 2
    # A model without a name has its place, too, and one without a threshold is named.
    other = judged(test.with_columns(m=pl.col("m").replace("B", "C")))
    notes = {row["model"]: row["note"] for row in json.loads(other.stdout)}
    assert notes == {"A": None, None: None, "C": "there is no point for this key"}


def test_every_flipped_bit_is_refused(tmp_path):
    chosen, file, judged = saved(tmp_path, cases())
    assert chosen.exit_code == 0, chosen.output
    test, draw, whole = cases().head(50), random.Random(3), file.read_bytes()
    for place in draw.sample(range(len(whole)), 40):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << draw.randrange(8)
        file.write_bytes(flipped)
        result = judged(test)
        assert result.exit_code == 2
        assert "digest" in result.output
    file.write_bytes(whole)
    assert judged(test).exit_code == 0


@pytest.mark.parametrize("at", [slice(None), slice(None, -1)])
def test_a_key_that_looks_like_a_digest_is_a_key(tmp_path, at):
    chosen, file, _ = saved(tmp_path, cases())
    seal = json.loads(file.read_text())["seal"]
    blank = seal[:-64] + "0" * 64
    file.unlink()
    chosen, file, judged = saved(tmp_path, cases(k=pl.lit(f"{blank} {seal[at]}")), "--model", "k")
    assert chosen.exit_code == 0, chosen.output
    result = judged(cases(k=pl.lit(f"{blank} {seal[at]}")).head(50))
    assert [row["model"] for row in json.loads(result.stdout)] == [f"{blank} {seal[at]}"]


KEYS = {
    "Time": (pl.col("n") * 1_500_000_000).cast(pl.Time), "Duration": pl.duration(hours="n"),
    "Binary": pl.format("{}", "n").cast(pl.Binary), "List": pl.concat_list("n", "n"),
    "Struct": pl.struct("n"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEYS)
def test_keys_are_kept_or_refused(kind, tmp_path):
    table = cases(n=pl.int_range(pl.len()) // 40).with_columns(key=KEYS[kind])
    chosen, file, judged = saved(tmp_path, table, "--model", "key")
    if kind == "Time":
        assert chosen.exit_code == 0, chosen.output
        rows = json.loads(judged(table.head(60)).stdout)
        assert {row["model"] for row in rows} == {"00:00:00", "00:00:01.500"}
        return
    assert chosen.exit_code == 2
    assert "of which no file of thresholds is written" in " ".join(chosen.output.split())
    assert not file.exists()
