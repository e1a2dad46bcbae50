"""Time of `import polaroc` over that of `import polars`, each in processes of their own.

``python tests/benchmarks/import_time.py`` (`just import-time`) takes both in turn, so that
what else the machine does falls on both.
"""

import argparse
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory

ONCE = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
MOST = 1.3


def seconds(module: str, compiled: str) -> float:
    """How long one import takes in a new process, with bytecode in that folder."""
    run = [sys.executable, "-X", f"pycache_prefix={compiled}", "-c", ONCE.format(module)]
    # As installed: compiled once, and read from then on.
    writing = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=writing)
    return float(done.stdout)


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--runs", type=int, default=21)
    runs = reader.parse_args().runs
    with TemporaryDirectory() as compiled:
        seconds("polaroc", compiled)
        pairs = [(seconds("polars", compiled), seconds("polaroc", compiled)) for _ in range(runs)]
    bare, ours = (median(times) for times in zip(*pairs, strict=True))
    ratio = median(our / alone for alone, our in pairs)
    print(f"import polars: {bare:.3f} s, import polaroc: {ours:.3f} s, ratio {ratio:.2f}")
    if ratio > MOST:
        sys.exit(f"more than {MOST} times")


if __name__ == "__main__":
    main()
