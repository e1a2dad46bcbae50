"""How long `monitor` takes to see that something changed, by what changed and by how much.

``python tests/benchmarks/detection.py [--runs N] [--seed S] [--write]``

Days of 2,000 cases, 10 % positive; negatives score normally, positives two standard deviations
higher. Something changes on day 31, and 90 days are waited. References have thirty days, which
differ as those in use do: all scores of a day are higher by a normal number with the standard
deviation "jitter", and the reference names its days or not. Alarms before the change are counted as
early; a share has the standard error √(share (1 − share) / runs). `--write` puts the table into
docs/concepts/monitoring.md.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from clusters import as_page_table, write_table
from in_use import REFERENCES, above_of_days, assessed, reference_of_days, shown

from polaroc.deployment.alarms import BETTER_THRESHOLD, LEFT_RANGE, OTHER_SHIFT

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "monitoring.md"
PRIOR, CHANGED, WAITED, SEED = 0.1, 30, 90, 31
# The standard deviation between days, and whether those of the reference are named.
JITTERS = ((0.0, False), (0.0, True), (0.15, True))
DAYS = np.arange(CHANGED + WAITED)
KINDS = {
    LEFT_RANGE[:20]: "the prior", OTHER_SHIFT[:20]: "more than the prior",
    BETTER_THRESHOLD[:20]: "another threshold",
}  # fmt: skip
NARROW, WIDE = (0.08, 0.125), (0.02, 0.5)


@dataclass(frozen=True)
class Change:
    """What changes: the prior by a factor, scores of positives and negatives, and their width."""

    words: str
    over: tuple[float, float] = NARROW
    prior: float = 1.0
    positives: float = 0.0
    negatives: float = 0.0
    wide: float = 1.0


CHANGES = (
    *(Change(f"prior × {by:g}, leaves the range", NARROW, by) for by in (1.5, 2, 4, 0.5)),
    *(Change(f"prior × {by:g}, within the range", WIDE, by) for by in (1.5, 4)),
    *(Change(f"all scores {by:g} higher", WIDE, 1, by, by) for by in (0.25, 0.5)),
    *(Change(f"negatives {by:g} higher", WIDE, 1, 0, by) for by in (0.2, 0.4)),
    Change("positives 1 lower", WIDE, 1, -1),
    Change("scores 1.3 times as wide", WIDE, 1, 0, 0, 1.3),
)


def first_alarm(
    rng: np.random.Generator, change: Change, sizes: tuple[int, int], jitter: float, named: bool
) -> tuple[float, str]:
    """The days from the change until an alarm, infinite without one, and how that begins."""
    known = reference_of_days(rng, sizes, jitter, named, "all scores shift", CHANGED)
    after = DAYS >= CHANGED
    priors = np.where(after, PRIOR * change.prior, PRIOR)
    drift = change.positives * after, change.negatives * after, np.where(after, change.wide, 1.0)
    called = above_of_days(rng, known, priors, jitter, "all scores shift", drift)
    found = assessed(known, called, change.over)
    alarms = [
        (day - CHANGED, alarm)
        for own in (found.prior_alarms(), [one and one[1] for one in found.threshold_alarms()])
        for day, alarm in enumerate(own, 1)
        if alarm is not None
    ]
    return min(alarms, default=(np.inf, ""))


def in_words(days: Sequence[float]) -> str:
    """The share of runs with an alarm, the median of the days until it, and their 90 %."""
    share = np.isfinite(days).mean()
    ends = [f"{end:.0f}" if np.isfinite(end) else "–"
            for end in np.quantile(days, [0.5, 0.9], method="higher")]  # fmt: skip
    return f"{share:.2f}: {ends[0]} ({ends[1]})" if share else "0"


def detection(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """Share of runs with an alarm, median of the days until it and, in brackets, their 90 %."""
    for change, sizes in product(CHANGES, REFERENCES):
        row: dict[str, object] = {
            "what changes": change.words, "reference": "{:,} + {:,}".format(*sizes),
        }  # fmt: skip
        early, kinds = 0, Counter()
        for jitter, named in JITTERS:
            rng = np.random.default_rng(seed)
            found = [first_alarm(rng, change, sizes, jitter, named) for _ in range(runs)]
            row[f"jitter {jitter:g}{'' if named else ', not named'}"] = in_words(
                [days for days, _ in found]
            )
            early += sum(days < 1 for days, _ in found)
            kinds.update(KINDS[alarm[:20]] for _, alarm in found if alarm)
        said = ", ".join(kind for kind, _ in kinds.most_common())
        yield row | {"alarm": said or "–", "early": early}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows = [*detection(given.runs, given.seed)]
    shown(f"detection: {detection.__doc__}", rows)
    if given.write:
        write_table("detection", as_page_table(rows), PAGE)
