import errno
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import tables

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, OutputRefused
from polaroc.evaluation import reader, request, sums
from polaroc.evaluation.partitions import NumberedRows, RangeFiles, ScoreRanges, partitions
from polaroc.files import memory
from polaroc.files.scratch import PREFIX, scratch_folder

NAMES = {"truth": "truth", "score": "score"}
ROWS = 3000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Count memory from nothing on and read few rows at once: small tables can be too large."""
    monkeypatch.setattr(memory, "LEAST", 0)
    monkeypatch.setattr(sums, "BASE", 0)
    monkeypatch.setattr(reader, "LEAST_BATCH", 300)


def room(rows: int, weight: str | None = None) -> int:
    """Memory for at most so many rows, none of which are positive."""
    weights = 0 if weight is None else request.WEIGHT + 2 * request.WEIGHT_ON_DISK
    return 2 * rows * (request.ROW + 2 * request.ON_DISK + weights)


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-13)


def predictions(scores: np.ndarray, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "model": rng.choice(["a", "b", "c", "only negatives"], ROWS, p=[0.5, 0.3, 0.15, 0.05]),
            "fold": rng.integers(0, 2, ROWS),
            "truth": rng.random(ROWS) < 0.2,
            "score": scores,
            "weight": rng.random(ROWS) * (rng.random(ROWS) < 0.9),
        }
    ).with_columns(truth=pl.col("truth") & (pl.col("model") != "only negatives"))


RNG = np.random.default_rng(5)
WIDE = RNG.normal(size=ROWS) * 10.0 ** RNG.integers(-300, 300, ROWS)
TABLES = {
    "continuous": RNG.random(ROWS),
    "in few values": RNG.integers(0, 5, ROWS) / 5,
    "constant": np.full(ROWS, 0.3),
    "half of them tied": np.where(RNG.random(ROWS) < 0.5, 0.7, RNG.random(ROWS)),
    "of all magnitudes": WIDE,
    "nearly equal": 1 + RNG.integers(0, 500, ROWS) * 2.0**-52,
    "with infinities": np.where(RNG.random(ROWS) < 0.3, np.inf, -WIDE),
}


@pytest.mark.alike(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("interpolation", "weight", "rows"), [("exact", None, 300), ("hull", "weight", 900)]
)
@pytest.mark.parametrize("scores", TABLES.values(), ids=TABLES)
def test_parts_add_up_to_the_whole(scores, rows, weight, interpolation):
    table = predictions(scores)
    asked = {**NAMES, "weight": weight, "interpolation": interpolation}
    whole = pr.evaluate(table, over=(0.05, 0.2), **asked)
    same(pr.evaluate(table, over=(0.05, 0.2), memory=room(rows, weight), **asked), whole)


WORDS = pl.Series(RNG.choice(["a", "b", "c", None], ROWS).tolist(), dtype=pl.String)
INTEGERS = pl.Series(RNG.integers(-3, 3, ROWS))
KEYS = {
    "words": WORDS,
    "categories": WORDS.cast(pl.Categorical),
    "dates": INTEGERS.cast(pl.Date),
    "integers": INTEGERS.cast(pl.Int8),
    "integers far apart": pl.Series(RNG.choice([-(2**62), 0, 2**62, None], ROWS).tolist()),
    "floats": pl.Series(RNG.choice([0.0, -0.0, np.nan, 1.5, None], ROWS).tolist()),
    "only NaN": pl.Series([np.nan] * ROWS),
    "at first only NaN": pl.Series([np.nan] * (ROWS // 2) + [1.5] * (ROWS - ROWS // 2)),
    "one after another": pl.Series(np.arange(ROWS) // 100),
    "words one after another": pl.Series([f"fold {i // 100}" for i in range(ROWS)]),
    "nulls at the end": pl.Series([None if i > ROWS - 50 else 1 for i in range(ROWS)]),
}


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_keys_of_any_type(key):
    table = predictions(RNG.random(ROWS)).with_columns(key.alias("key")).lazy()
    asked = {**NAMES, "by": ["key", "fold"], "over": (0.05, 0.2)}
    whole = pr.evaluate(table, **asked).collect()
    for rows in (900, 10 * ROWS):
        same(pr.evaluate(table, memory=room(rows), **asked).collect(), whole)


def test_several_keys_may_be_floats():
    table = predictions(RNG.random(ROWS)).with_columns(
        KEYS["floats"].alias("literal"), (KEYS["floats"].shuffle(1) * -1).alias("other")
    )
    asked = {**NAMES, "by": ["literal", "fold", "other"]}
    whole = pr.evaluate(table.lazy(), **asked).collect()
    same(pr.evaluate(table.lazy(), memory=room(10 * ROWS), **asked).collect(), whole)


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("measures", [None, ["brier", "log_loss", "auc"]])
def test_rows_sorted_by_score(descending, measures):
    table = predictions(RNG.normal(size=ROWS)).sort("score", descending=descending).lazy()
    score = (pl.col("score") / 10).clip(-0.5, 0.5) + 0.5
    asked = {**NAMES, "measures": measures} | {"score": score}
    whole = pr.evaluate(table, **asked).collect()
    same(pr.evaluate(table, memory=room(600), **asked).collect(), whole)


# The share λ/N of its note is 3.75 but for the last bit.
HALFWAY = pl.DataFrame(
    {
        "truth": [True, False, False, False, False],
        "score": [-np.inf, -np.inf, -np.inf, -np.inf, -1.0],
        "weight": [0.1, 0.3, 0.1, 1.0, 1.0],
    }
)


@pytest.mark.slow
@given(tables(max_rows=30), st.integers(1, 31))
@example(HALFWAY, 1)
def test_small_tables_add_up_however_they_are_cut(table, rows):
    weight = "weight" if "weight" in table.columns else None
    whole = pr.evaluate(table, **NAMES, weight=weight, over=(0.1, 0.5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "LEAST", 0)
        patch.setattr(sums, "BASE", 0)
        cut = pr.evaluate(table, **NAMES, weight=weight, over=(0.1, 0.5), memory=room(rows, weight))
    same(cut, whole)


@pytest.mark.slow
def test_invalid_rows_have_the_same_notes():
    table = predictions(RNG.random(ROWS)).with_columns(
        score=pl.when(pl.int_range(pl.len()) % 100 == 0).then(None).otherwise("score")
    )
    asked = {**NAMES}
    whole = pr.evaluate(table, nulls="drop", **asked)
    assert whole["note"].str.starts_with("dropped ").fill_null(False).any()
    same(pr.evaluate(table.lazy(), nulls="drop", memory=room(400), **asked).collect(), whole)
    for frame, most in ((table, None), (table, room(400)), (table.lazy(), room(400))):
        with pytest.raises(InvalidPredictions, match=r"30 null scores in 7 key\(s\): model='a'"):
            pr.evaluate(frame, memory=most, **asked).lazy().collect()


@pytest.mark.parametrize("kept", [0, 20])
def test_invalid_rows_need_no_space(kept):
    score = pl.when(pl.int_range(pl.len()) < kept).then("score")
    table = predictions(RNG.random(ROWS)).with_columns(score.alias("score"))
    asked = {**NAMES, "nulls": "drop"}
    whole = pr.evaluate(table, **asked)
    same(pr.evaluate(table.lazy(), memory=room(50), **asked).collect(), whole)


@pytest.mark.parametrize("most", [400, 4 * ROWS, None])
def test_the_work_is_done_when_the_plan_is_collected(most):
    table, readings = predictions(RNG.random(ROWS)), []
    source = table.lazy().map_batches(lambda rows: readings.append(1) or rows, schema=table.schema)
    plan = pr.evaluate(source, **NAMES, memory=None if most is None else room(most))
    assert plan.collect_schema().names()[:2] == ["model", "fold"]
    assert readings == []
    same(plan.collect(), pr.evaluate(table, **NAMES))
    assert readings == [1]


@pytest.mark.parametrize("most", [400, 4 * ROWS, None])
def test_a_file_that_was_cut_short_gives_no_numbers(tmp_path, most):
    table = predictions(RNG.random(ROWS))
    table.write_parquet(tmp_path / "rows.parquet")
    scanned = pl.scan_parquet(tmp_path / "rows.parquet")
    plan = pr.evaluate(scanned, **NAMES, memory=None if most is None else room(most))
    table.filter(truth=True).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(pl.exceptions.PanicException):
        plan.collect()


@pytest.mark.parametrize("rows", [0, 1])
def test_nothing_and_next_to_nothing(rows):
    table = predictions(RNG.random(ROWS)).head(rows)
    same(pr.evaluate(table, **NAMES, memory=room(1)), pr.evaluate(table, **NAMES))


@pytest.mark.alike(8)
@pytest.mark.slow
@pytest.mark.parametrize("known", [1, 50, 500])
@pytest.mark.parametrize("most", [1, 7, 100, ROWS])
@pytest.mark.parametrize("scores", TABLES.values(), ids=TABLES)
def test_parts_go_down_and_fit_or_are_tied(scores, most, known, tmp_path):
    scores = scores[:500]
    label = np.arange(500, dtype=np.uint16)
    files = RangeFiles(tmp_path, ScoreRanges.of(lambda: [scores[:known]]), weighted=False)
    for start in range(0, 500, 125):
        some = slice(start, start + 125)
        files.write(files.split(NumberedRows(scores[some], label[some])))
    seen, rows = [], []
    for part in partitions(files, lambda size, positives: size + positives <= most, most, 100):
        held = list(part.parts())
        score = np.concatenate([one.score for one in held])
        rows += np.concatenate([one.label for one in held]).tolist()
        assert len(score) == part.size
        if part.tied is None:
            assert sum(1 + one % 2 for one in rows[-part.size :]) <= most
        else:
            assert set(score) == {part.tied}
        assert not seen or score.max() < min(seen)
        seen += score.tolist()
    assert sorted(rows) == label.tolist()
    assert seen == scores[rows].tolist()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_progress_is_told_and_scratch_removed(temporary_files):
    told = []
    table = predictions(RNG.random(ROWS))
    pr.evaluate(
        table,
        **NAMES,
        memory=room(500),
        progress=lambda *done: told.append((*done, len(list(temporary_files.iterdir())))),
    )
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][:2] == (ROWS, ROWS)
    assert all(folders == 1 for _, _, folders in told)
    assert list(temporary_files.iterdir()) == []


def test_progress_is_drawn_on_one_line(capsys):
    table = predictions(RNG.random(ROWS))
    pr.evaluate(table, **NAMES, memory=room(500), progress=True)
    shown = capsys.readouterr()
    *_, last = lines = shown.err.removesuffix("\n").split("\r")[1:]
    assert shown.out == ""
    assert len(lines) > 1
    assert last == f"{'█' * 40} 100% of {ROWS:,} rows"
    assert {len(line) for line in lines} == {len(last)}


@pytest.mark.parametrize("progress", [False, None])
def test_progress_is_silent_unless_asked_for(progress, capsys):
    pr.evaluate(predictions(RNG.random(ROWS)), **NAMES, memory=room(500), progress=progress)
    assert capsys.readouterr().err == ""


def test_progress_that_tells_nobody_is_refused():
    with pytest.raises(InvalidArgument, match="progress is 'bar', allowed"):
        pr.evaluate(predictions(RNG.random(ROWS)), **NAMES, memory=room(500), progress="bar")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_scratch_is_removed_after_an_error(error, temporary_files):
    def stop(done: int, rows: int) -> None:
        raise error

    table = predictions(RNG.random(ROWS))
    with pytest.raises(error):
        pr.evaluate(table, **NAMES, memory=room(500), progress=stop)
    assert list(temporary_files.iterdir()) == []


RUN = """
    import time
    import polars as pl
    import polaroc as pr
    from polaroc.files import memory
    from polaroc.evaluation import reader, sums
    memory.LEAST = sums.BASE = 0
    reader.LEAST_BATCH = 50
    table = pl.DataFrame({"truth": [True, False] * 50, "score": [i / 100 for i in range(100)]})
    def wait(done, rows):
        print("halfway", flush=True)
        time.sleep(60)
    pr.evaluate(table, truth="truth", score="score", memory=20 * 64, progress=wait)
"""


@pytest.mark.long
def test_what_a_killed_run_left_goes_and_what_a_running_one_holds_stays(temporary_files):
    table = predictions(RNG.random(ROWS))
    run = [sys.executable, "-c", textwrap.dedent(RUN)]
    place = {**os.environ, "TMPDIR": str(temporary_files)}
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True, env=place) as other:
        try:
            assert other.stdout.readline() == "halfway\n"
            (held,) = temporary_files.iterdir()
            pr.evaluate(table, **NAMES, memory=room(500))
            assert list(temporary_files.iterdir()) == [held]
            os.kill(other.pid, signal.SIGKILL)
            other.wait()
            assert list(temporary_files.iterdir()) == [held]
            pr.evaluate(table, **NAMES, memory=room(500))
            assert list(temporary_files.iterdir()) == []
        finally:
            other.kill()


def test_others_folders_are_left_alone(temporary_files):
    (temporary_files / f"{PREFIX}somebody").mkdir()
    (temporary_files / "mine").write_text("1")
    table = predictions(RNG.random(ROWS))
    pr.evaluate(table, **NAMES, memory=room(500))
    assert sorted(path.name for path in temporary_files.iterdir()) == ["mine", f"{PREFIX}somebody"]


def test_too_small_a_disk_is_said_before_the_work_starts(temporary_files, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Full)
    table = predictions(RNG.random(ROWS))
    with pytest.raises(OutputRefused, match=r"(?s)0\.0 GB of scratch space.*Hint: .*larger disk"):
        pr.evaluate(table, **NAMES, memory=room(500))
    assert list(temporary_files.iterdir()) == []


class Full:
    free = 1000


@pytest.mark.parametrize("column", ["score", "label", "weight"])
def test_rows_that_are_lost_are_not_made_up(tmp_path, column):
    rows = NumberedRows(RNG.random(100), np.zeros(100, np.uint16), RNG.random(100))
    files = RangeFiles(tmp_path, ScoreRanges.of(lambda: [rows.score]), weighted=True)
    files.write(files.split(rows))
    (i, *_) = np.flatnonzero(files.sizes).tolist()
    kept = {"score": 0, "label": 8, "weight": 10}[column] * files.sizes[i]
    os.truncate(tmp_path / str(i), kept + 1)
    with pytest.raises(OutputRefused, match=r"was shortened(.|\n)*Hint: .*TMPDIR"):
        list(files.parts(i))


FULL_DISKS = {
    "full": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "full in other words": OSError(errno.ENOSPC, "kein Platz"),
    "quota": OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
    "of Polars": pl.exceptions.ComputeError(f"{os.strerror(errno.EDQUOT)} (os error 122)"),
}


@pytest.mark.parametrize("error", FULL_DISKS.values(), ids=FULL_DISKS)
def test_a_disk_that_fills_up_is_said(temporary_files, error):
    with pytest.raises(OutputRefused, match="is full"), scratch_folder():
        raise error
    with pytest.raises(PermissionError), scratch_folder():
        raise PermissionError(errno.EACCES, "denied")


def test_too_small_a_disk_is_said_once_rows_are_too_many(temporary_files, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Full)
    table = predictions(RNG.random(ROWS)).lazy()
    with pytest.raises(OutputRefused, match=r"0\.0 GB of scratch space"):
        pr.evaluate(table, **NAMES, memory=room(500)).collect()
    assert list(temporary_files.iterdir()) == []


def test_the_kind_of_frame_is_kept():
    table = predictions(RNG.random(ROWS))
    lazy = pr.evaluate(table.lazy(), **NAMES, memory=room(500))
    assert isinstance(lazy, pl.LazyFrame)
    same(lazy.collect(), pr.evaluate(table, **NAMES))
    assert lazy.collect_schema() == pr.evaluate(table.lazy(), **NAMES).collect_schema()


@pytest.mark.long
@pytest.mark.slow
def test_thousands_of_files_and_few_rows_each(tmp_path):
    table = predictions(RNG.random(ROWS))
    for i, part in enumerate(table.iter_slices(3)):
        part.write_parquet(tmp_path / f"{i}.parquet")
    frame = pl.scan_parquet(tmp_path / "*.parquet")
    asked = {**NAMES}
    whole = pr.evaluate(table, **asked)
    same(pr.evaluate(frame, **asked).collect(), whole)
    same(pr.evaluate(frame, memory=room(500), **asked).collect(), whole)
