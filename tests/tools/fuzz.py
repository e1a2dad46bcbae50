"""Broken files against the command line: no traceback, no hang, no partial output.

``python tests/tools/fuzz.py SECONDS`` mutates whole files at random, in a process of its own
each few inputs, so that one that kills it is found and kept. What fails is written to build/fuzz.
"""

import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

HERE = Path(__file__).resolve()
CORPUS = HERE.parents[1] / "corpus"
FOUND = HERE.parents[2] / "build" / "fuzz"
SUFFIXES = (".parquet", ".csv", ".tsv", ".ndjson", ".arrow", ".csv.gz", ".ndjson.zst")
BATCH, HANGS = 60, 20
MEMORY = 6 * 2**30
BASE = ["--truth", "truth", "--score", "score", "--fold", ""]
RANGE = ["--over", "0.1", "0.5"]
# FILE is what is broken; WHOLE and USE are tables beside it, OUT or MEASURES is the result.
COMMANDS = (
    ["evaluate", "FILE", *BASE, "--out", "MEASURES"],
    ["check", "FILE", *BASE],
    ["evaluate", "FILE", *BASE[:4], "--weight", "w", "--nulls", "drop", "--positive", "1"],
    ["compare", "FILE", "--measure", "auc", "--test-train-ratio", "0.25"],
    ["choose", "FILE", "--fold", ""],
    ["gate", "FILE", "--champion", "a", "--challenger", "b", *BASE[:4], *RANGE],
    ["threshold", "FILE", *BASE, *RANGE, "--min-recall", "0.5", "--out", "OUT"],
    ["threshold", "WHOLE", *BASE, "--apply", "FILE"],
    ["monitor", "WHOLE", "FILE", *BASE, "--time", "w", "--threshold", "0.5", *RANGE],
    ["monitor", "WHOLE", "USE", *BASE, "--time", "w", "--threshold", "0.5", "--state", "FILE"],
)
# Of these commands the file is neither predictions nor measures.
APPLIED, STATE = 7, 9
# What a command leaves in its folder when it has done its work.
WRITTEN = {
    "evaluate": ["out.csv"],
    "threshold": ["out"],
}
# A verdict is no failure: worse, undecided, an alarm, nothing that can be promised.
VERDICTS = {"gate": {0, 1, 3}, "threshold": {0, 3}, "monitor": {0, 1}}


def examine(data: bytes, folder: Path) -> str | None:
    """What is wrong with how a file is taken, if anything; its first byte says which way."""
    from typer.testing import CliRunner

    from polaroc.cli.app import app

    if not data:
        return None
    suffix = SUFFIXES[data[0] % len(SUFFIXES)]
    way = data[0] // len(SUFFIXES) % len(COMMANDS)
    suffix = {APPLIED: ".json", STATE: ".parquet"}.get(way, suffix)
    place = folder / "place"
    place.mkdir(exist_ok=True)
    names = {
        "FILE": place / f"p{suffix}", "OUT": place / "out",
        "MEASURES": place / "out.csv",
        "WHOLE": folder / "whole.parquet", "USE": folder / "use.parquet",
    }  # fmt: skip
    if not names["WHOLE"].exists():
        TABLE.write_parquet(names["WHOLE"])
        TABLE.drop("truth").write_parquet(names["USE"])
    names["FILE"].write_bytes(data[1:])
    command = [str(names.get(word, word)) for word in COMMANDS[way]]
    result = CliRunner().invoke(app, command)
    names["FILE"].unlink(missing_ok=True)
    left = sorted(entry.name for entry in place.rglob("*"))
    shutil.rmtree(place)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"{type(result.exception).__name__}: {result.exception}"
    if result.exit_code == 2 and "Hint: " not in result.output:
        return f"no hint: {result.output[:300]}"
    if result.exit_code not in VERDICTS.get(command[0], {0}) | {2}:
        return f"exit code {result.exit_code}"
    if not all(letter.isprintable() or letter == "\n" for letter in result.output):
        return f"not printable: {result.output[:300]!r}"
    is_written = {"OUT", "MEASURES"} & set(COMMANDS[way]) and result.exit_code == 0
    whole = WRITTEN[command[0]] if is_written else []
    if left != whole:
        return f"left behind: {left}"
    return None


TABLE = pl.DataFrame(
    {
        "truth": [1, 0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.2, 0.5, 0.5],
        "model": list("aaabbb"), "w": [1.0, 2, 1, 2, 1, 0.5],
    }
)  # fmt: skip
MEASURES = pl.DataFrame(
    {
        "model": list("aabb"), "fold": [1, 2, 1, 2], "measure": "auc",
        "prior": pl.Series([None] * 4, dtype=pl.Float64), "estimate": [0.5, 0.6, 0.7, 0.8],
        "positives": 5, "negatives": 7, "note": pl.Series([None] * 4, dtype=pl.String),
    }
)  # fmt: skip


def seeds() -> list[bytes]:
    """Whole files of every format, and the kept ones."""
    found = [file.read_bytes() for file in sorted(CORPUS.glob("*"))]
    for way, command in enumerate(COMMANDS):
        if way in (APPLIED, STATE):
            found.append(bytes([way * len(SUFFIXES)]) + kept(way))
            continue
        rows = MEASURES if command[0] in ("compare", "choose") else TABLE
        for i, suffix in enumerate(SUFFIXES):
            found.append(bytes([way * len(SUFFIXES) + i]) + written(rows, suffix))
    return found


def kept(way: int) -> bytes:
    """What a command wrote that a later one reads: thresholds, or the state of a monitor."""
    from typer.testing import CliRunner

    from polaroc.cli.app import app

    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "p.parquet", Path(folder) / "kept.parquet"
        TABLE.write_parquet(table)
        if way == APPLIED:
            words = ["threshold", table, *BASE, *RANGE, "--rule", "cost", "--out", out]
        else:
            words = ["monitor", table, table, *COMMANDS[STATE][3:-1], out]
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code in VERDICTS[str(words[0])], result.output
        return out.read_bytes()


def written(table: pl.DataFrame, suffix: str) -> bytes:
    file = io.BytesIO()
    if suffix == ".parquet":
        table.write_parquet(file)
    elif suffix == ".arrow":
        table.write_ipc(file)
    elif ".ndjson" in suffix:
        table.write_ndjson(file)
    else:
        table.write_csv(file, separator="\t" if suffix == ".tsv" else ",")
    plain = file.getvalue()
    if suffix.endswith(".gz"):
        import gzip

        return gzip.compress(plain, mtime=0)
    if suffix.endswith(".zst"):
        squeezed = io.BytesIO()
        table.write_ndjson(squeezed, compression="zstd")
        return squeezed.getvalue()
    return plain


PIECES = (
    b"", b"\x00", b"\xff" * 8, b"\xff\xff\xff\x7f", b"PAR1", b"ARROW1", b'"', b"\n", b"\r\n", b",",
    b"nan", b"inf", b"-0", b"1e999", b"null", b"{", b"}", b"[", b"\xef\xbb\xbf", b"\x1b[31m",
    b"9" * 40, b"__polaroc_index", b"threshold", b"prior", b"truth", b"score", b"model", b"=cmd()",
)  # fmt: skip


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    body = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(1, len(body)) if len(body) > 1 else len(body)
        end = min(len(body), at + rng.choice((1, 1, 2, 8, 64, 4096)))
        kind = rng.randrange(6)
        if kind == 0 and at < len(body):
            body[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            body[at:at] = rng.choice(PIECES)
        elif kind == 2:
            del body[at:end]
        elif kind == 3:
            body[at:end] = rng.choice(PIECES)
        elif kind == 4:
            body[at:at] = body[at:end] * rng.choice((1, 2, 50))
        else:
            other = rng.choice(others)
            body[at:] = other[rng.randrange(len(other)) :]
    return bytes(body[: 2**20])


def batch(seed: int, current: Path, fixed: list[Path]) -> None:
    """Examine some inputs; the one at work is always in `current`."""
    os.environ["RUST_BACKTRACE"] = "0"
    # Not so little that threads cannot start, and no more than one file may take.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    rng, whole = random.Random(seed), seeds()
    inputs = [file.read_bytes() for file in fixed] or (
        mutated(rng.choice(whole), whole, rng) for _ in range(BATCH)
    )
    with tempfile.TemporaryDirectory() as folder:
        for data in inputs:
            current.write_bytes(data)
            signal.alarm(HANGS)
            wrong = examine(data, Path(folder))
            signal.alarm(0)
            if wrong is not None:
                keep(data, wrong)
            print("done", flush=True)


def keep(data: bytes, wrong: str) -> None:
    FOUND.mkdir(parents=True, exist_ok=True)
    name = f"{abs(hash(wrong[:60])) % 10**8:08d}"
    (FOUND / name).write_bytes(data)
    (FOUND / f"{name}.txt").write_text(wrong)


def fuzz(seconds: float) -> int:
    """How many inputs of how many failed."""
    until, seed, examined, failed = time.monotonic() + seconds, 0, 0, 0
    before = len(list(FOUND.glob("*.txt")))
    with tempfile.TemporaryDirectory() as folder:
        current = Path(folder) / "input"
        while time.monotonic() < until:
            seed += 1
            run = subprocess.run(
                [sys.executable, HERE, "--batch", str(seed + int(time.time())), current],
                capture_output=True, text=True,
            )  # fmt: skip
            examined += run.stdout.count("done")
            if run.returncode:
                failed += 1
                keep(current.read_bytes(), f"ended by {run.returncode}: {run.stderr[-1500:]}")
    failed += len(list(FOUND.glob("*.txt"))) - before
    print(f"{examined} inputs examined, {failed} failed; those are in {FOUND}.")
    return failed


if __name__ == "__main__":
    first, *rest = sys.argv[1:] or ["60"]
    if first == "--batch":
        batch(int(rest[0]), Path(rest[1]), [Path(name) for name in rest[2:]])
    else:
        sys.exit(1 if fuzz(float(first)) else 0)
