import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import tables

import polaroc as pr
from polaroc.errors import InvalidArgument, OutputRefused
from polaroc.evaluation import sums
from polaroc.evaluation.partitions import count_by_rank, partitions
from polaroc.files import memory
from polaroc.files.scratch import PREFIX

NAMES = {"truth": "truth", "score": "score"}
ROWS = 3000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Count memory from nothing on, so that small tables can be too large."""
    monkeypatch.setattr(memory, "LEAST", 0)
    monkeypatch.setattr(sums, "BASE", 0)


def room(rows: int, weight: str | None = None) -> int:
    """Memory for at most so many rows."""
    weights = 0 if weight is None else sums.WEIGHT_IN_MEMORY
    return rows * (sums.IN_MEMORY - sums.SAVED_WITH_64_BITS + weights)


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    # A number in a note that lies between two roundings may come as either.
    notes = pl.col("note").str.replace_all(r"\d+\.\d+", "…")
    found, expected = found.with_columns(notes), expected.with_columns(notes)
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


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize(
    ("interpolation", "weight", "rows"), [("exact", None, 100), ("hull", "weight", 700)]
)
@pytest.mark.parametrize("scores", TABLES.values(), ids=TABLES)
def test_parts_add_up_to_the_whole(scores, rows, weight, interpolation):
    table = predictions(scores)
    asked = {**NAMES, "by": ["model", "fold"], "weight": weight, "interpolation": interpolation}
    whole = pr.evaluate(table, over=(0.05, 0.2), **asked)
    same(pr.evaluate(table, over=(0.05, 0.2), memory=room(rows, weight), **asked), whole)


@pytest.mark.slow
@given(tables(max_rows=30), st.integers(1, 31))
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
    asked = {**NAMES, "by": "model"}
    for nulls in ("raise", "drop"):
        whole = pr.evaluate(table.lazy(), nulls=nulls, **asked).collect()
        same(pr.evaluate(table.lazy(), nulls=nulls, memory=room(50), **asked).collect(), whole)
    with pytest.raises(pr.errors.InvalidPredictions, match="30 null scores"):
        pr.evaluate(table, memory=room(50), **asked)


@pytest.mark.parametrize("kept", [0, 20])
@pytest.mark.parametrize("nulls", ["raise", "drop"])
def test_invalid_rows_need_no_space(kept, nulls):
    score = pl.when(pl.int_range(pl.len()) < kept).then("score")
    table = predictions(RNG.random(ROWS)).with_columns(score.alias("score")).lazy()
    asked = {**NAMES, "by": "model", "nulls": nulls}
    whole = pr.evaluate(table, **asked).collect()
    same(pr.evaluate(table, memory=room(50), **asked).collect(), whole)


@pytest.mark.slow
def test_the_work_is_done_at_once(tmp_path):
    table = predictions(RNG.random(ROWS))
    table.write_parquet(tmp_path / "rows.parquet")
    for most in (50, 2 * ROWS):
        scanned = pl.scan_parquet(tmp_path / "rows.parquet")
        found = pr.evaluate(scanned, **NAMES, memory=room(most))
        (tmp_path / "rows.parquet").rename(tmp_path / "moved")
        same(found.collect(), pr.evaluate(table, **NAMES))
        (tmp_path / "moved").rename(tmp_path / "rows.parquet")


@pytest.mark.parametrize("rows", [0, 1])
def test_nothing_and_next_to_nothing(rows):
    table = predictions(RNG.random(ROWS)).head(rows)
    same(pr.evaluate(table, **NAMES, memory=room(1)), pr.evaluate(table, **NAMES))


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 7, 100, ROWS])
@pytest.mark.parametrize("scores", TABLES.values(), ids=TABLES)
def test_parts_go_down_and_fit_or_are_tied(scores, most, tmp_path):
    rows = pl.LazyFrame({"threshold": scores[:500]})
    seen = []
    for part in partitions(rows, count_by_rank(rows).collect(), most, tmp_path):
        held = part.rows.collect()["threshold"]
        assert held.len() == part.size
        assert held.n_unique() == 1 if part.tied else part.size <= most
        assert not seen or held.max() < min(seen)
        seen += held.to_list()
    assert sorted(seen) == sorted(scores[:500].tolist())


def test_progress_is_told_and_scratch_removed(tmp_path):
    told = []
    table = predictions(RNG.random(ROWS))
    pr.evaluate(
        table,
        **NAMES,
        memory=room(500),
        scratch=tmp_path,
        progress=lambda *done: told.append((*done, len(list(tmp_path.iterdir())))),
    )
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][:2] == (ROWS, ROWS)
    assert all(folders == 1 for _, _, folders in told)
    assert list(tmp_path.iterdir()) == []


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
def test_scratch_is_removed_after_an_error(error, tmp_path):
    def stop(done: int, rows: int) -> None:
        raise error

    table = predictions(RNG.random(ROWS))
    with pytest.raises(error):
        pr.evaluate(table, **NAMES, memory=room(500), scratch=tmp_path, progress=stop)
    assert list(tmp_path.iterdir()) == []


RUN = """
    import sys, time
    import polars as pl
    import polaroc as pr
    from polaroc.files import memory
    from polaroc.evaluation import sums
    memory.LEAST = sums.BASE = 0
    table = pl.DataFrame({"truth": [True, False] * 50, "score": [i / 100 for i in range(100)]})
    def wait(done, rows):
        print("halfway", flush=True)
        time.sleep(60)
    pr.evaluate(table, truth="truth", score="score", memory=20 * 24, scratch=sys.argv[1],
                progress=wait)
"""


def test_what_a_killed_run_left_goes_and_what_a_running_one_holds_stays(tmp_path):
    table = predictions(RNG.random(ROWS))
    run = [sys.executable, "-c", textwrap.dedent(RUN), str(tmp_path)]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "halfway\n"
            (held,) = tmp_path.iterdir()
            pr.evaluate(table, **NAMES, memory=room(500), scratch=tmp_path)
            assert list(tmp_path.iterdir()) == [held]
            os.kill(other.pid, signal.SIGKILL)
            other.wait()
            assert list(tmp_path.iterdir()) == [held]
            pr.evaluate(table, **NAMES, memory=room(500), scratch=tmp_path)
            assert list(tmp_path.iterdir()) == []
        finally:
            other.kill()


def test_others_folders_are_left_alone(tmp_path):
    (tmp_path / f"{PREFIX}of-somebody").mkdir()
    (tmp_path / "mine").write_text("1")
    table = predictions(RNG.random(ROWS))
    pr.evaluate(table, **NAMES, memory=room(500), scratch=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", f"{PREFIX}of-somebody"]


def test_too_small_a_disk_is_said_before_the_work_starts(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Full)
    table = predictions(RNG.random(ROWS))
    with pytest.raises(OutputRefused, match=r"(?s)0\.0 GB of scratch space.*Hint: .*larger disk"):
        pr.evaluate(table, **NAMES, memory=room(500), scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []


class Full:
    free = 1000


def test_scratch_must_be_there(tmp_path):
    table = predictions(RNG.random(ROWS))
    with pytest.raises(InvalidArgument, match=r"(?s)not a folder.*Hint: "):
        pr.evaluate(table, **NAMES, memory=room(500), scratch=tmp_path / "nowhere")


def test_the_kind_of_frame_is_kept():
    table = predictions(RNG.random(ROWS))
    lazy = pr.evaluate(table.lazy(), **NAMES, memory=room(500))
    assert isinstance(lazy, pl.LazyFrame)
    same(lazy.collect(), pr.evaluate(table, **NAMES))
    assert lazy.collect_schema() == pr.evaluate(table.lazy(), **NAMES).collect_schema()


@pytest.mark.slow
def test_thousands_of_files_and_few_rows_each(tmp_path):
    table = predictions(RNG.random(ROWS))
    for i, part in enumerate(table.iter_slices(3)):
        part.write_parquet(tmp_path / f"{i}.parquet")
    frame = pl.scan_parquet(tmp_path / "*.parquet")
    asked = {**NAMES, "by": ["model", "fold"]}
    whole = pr.evaluate(table, **asked)
    same(pr.evaluate(frame, **asked).collect(), whole)
    same(pr.evaluate(frame, memory=room(500), **asked).collect(), whole)
