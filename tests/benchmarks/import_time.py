"""Time of `import polaroc` over that of `import polars`, each in processes of their own.

``python tests/benchmarks/import_time.py`` (`just import-time`) takes all in turn, so that
what else the machine does falls on all. Names of polaroc are imported when they are first used:
what one of them takes then, and all of them, stands below.
"""

import argparse
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory

ONCE = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
BARE, OURS = "import polars", "import polaroc"
IMPORTS = [BARE, OURS, "from polaroc import evaluate", "from polaroc import *"]
MAX_RATIO = 1.25


def seconds(statement: str, compiled: str) -> float:
    """How long one import takes in a new process, with bytecode in that folder."""
    run = [sys.executable, "-X", f"pycache_prefix={compiled}", "-c", ONCE.format(statement)]
    # As installed: compiled once, and read from then on.
    writing = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=writing)
    return float(done.stdout)


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--runs", type=int, default=21)
    runs = reader.parse_args().runs
    with TemporaryDirectory() as compiled:
        for one in IMPORTS:
            seconds(one, compiled)
        times = [{one: seconds(one, compiled) for one in IMPORTS} for _ in range(runs)]
    ratios = {one: median(run[one] / run[BARE] for run in times) for one in IMPORTS}
    for one, ratio in ratios.items():
        print(f"{one}: {median(run[one] for run in times):.3f} s, ratio {ratio:.2f}")
    if ratios[OURS] > MAX_RATIO:
        sys.exit(f"{OURS} takes more than {MAX_RATIO} times as long as {BARE}")


if __name__ == "__main__":
    main()
