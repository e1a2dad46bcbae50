"""How often `monitor` raises a false alarm where days differ, and how soon a true one.

``python tests/benchmarks/days.py [--runs N] [--seed S]``. A share has the standard error
√(share (1 − share) / runs).
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from in_use import REFERENCES, first, shown, year_of_days

JITTERS, DAYS = (0.0, 0.05, 0.15), (10, 30, 100)
CHANGED, YEAR, SEED = 100, 365, 42
MOVES = 0.1 + 0.04 * np.sin(np.arange(YEAR) / 30)
GROWN = np.where(np.arange(YEAR) < CHANGED, 0.1, 0.4)


def false_alarms(
    runs: int, seed: int, sizes: tuple[int, int], jitter: float, days: int, told: bool
) -> float:
    """The share of years with an alarm, of a prior that stays in its range."""
    rng, count = np.random.default_rng(seed), 0
    for _ in range(runs):
        year = year_of_days(rng, sizes, MOVES, jitter, told, number=days)
        count += any(first(a) for a in (year.prior_alarms(), year.threshold_alarms()))
    return count / runs


def until_found(
    runs: int, seed: int, sizes: tuple[int, int], jitter: float, days: int
) -> Sequence[float]:
    """The days until an alarm after the prior has left its range; infinite without one."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(runs):
        alarms = year_of_days(rng, sizes, GROWN, jitter, True, number=days).prior_alarms()
        day = first(alarms[CHANGED:])
        found.append(np.inf if day is None else day)
    return found


def alarms(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """Years of 2,000 cases a day, watched from a reference that names its days, or does not.

    Each day of use, and of the reference, has a normal number of its own by which all its scores
    are higher. In the first year of a pair the prior moves between 6 and 14 %, in a range of 5 to
    20 %, and every alarm is false. In the second it is 10 %, and 40 % from day 101 on: the days
    until an alarm are counted, of 265.
    """
    for sizes, jitter, days in product(REFERENCES, JITTERS, DAYS):
        alarm, untold = (
            false_alarms(runs, seed, sizes, jitter, days, told) for told in (True, False)
        )
        found = until_found(runs, seed, sizes, jitter, days)
        yield {
            "reference": sizes, "jitter": jitter, "days": days, "runs": runs,
            "not named": untold, "named": alarm, "SE": np.sqrt(alarm * (1 - alarm) / runs),
            "found": np.isfinite(found).mean(), "median days": np.median(found),
            "90 % within": np.quantile(found, 0.9, method="higher"),
        }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    shown(f"alarms: {alarms.__doc__}", [*alarms(asked.runs, asked.seed)])
