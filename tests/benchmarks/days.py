"""How often `monitor`, and the trend of `periods`, see in time what is not there, or what is.

``python tests/benchmarks/days.py [PART] [--runs N] [--seed S]``, where PART is one of PARTS. A
share has the standard error √(share (1 − share) / runs).
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from budgets import as_page_table
from clusters import write_table
from in_use import REFERENCES, first, shown, year_of_days

import polaroc as pr
from polaroc.base.arrays import ARRAYS
from polaroc.deployment.period_rates import PERIOD_RATES
from polaroc.measures.areas import auc_measure
from polaroc.thresholds.named_rates import rate_at
from polaroc.uncertainty.influence import CaseInfluence, of_calls, of_cases
from polaroc.uncertainty.trends import of_periods, trend

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "promise.md"
JITTERS, DAYS = (0.0, 0.05, 0.15), (10, 30, 100)
CHANGED, YEAR, SEED = 100, 365, 42
MOVES = 0.1 + 0.04 * np.sin(np.arange(YEAR) / 30)
GROWN = np.where(np.arange(YEAR) < CHANGED, 0.1, 0.4)
# Months, cases a month, the share of positives, and how many patients they have, 0 for none.
TABLES = (
    (4, 400, 0.2, 0), (12, 100, 0.2, 0), (12, 400, 0.05, 0), (12, 400, 0.2, 40), (12, 400, 0.2, 25),
    (24, 400, 0.1, 0), (24, 200, 0.2, 60),
)  # fmt: skip
# The standard deviation of what all positives of a month score more.
MONTHS = (0.0, 0.2)
WITHIN, DISTANCE = 0.5, 1.5
AUC = auc_measure(backend=ARRAYS)


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


@dataclass(frozen=True)
class Months:
    """Cases of some months, a list of each, and which patient each is of, if any."""

    scores: Sequence[np.ndarray]
    truths: Sequence[np.ndarray]
    patients: Sequence[np.ndarray] | None

    def p_value(self, influence: Callable[..., CaseInfluence], *, named: bool = True) -> float:
        """That of no trend of what has these influences."""
        own = [influence(*one) for one in zip(self.scores, self.truths, strict=True)]
        periods = of_periods(own, self.truths, self.patients if named else None)
        return trend(periods, np.arange(float(len(own))), 0.95).p_value


def months(
    rng: np.random.Generator, number: int, size: int, prior: float, patients: int, sd: float,
    decay: float = 0.0,
) -> Months:  # fmt: skip
    """Cases of some months; `decay` is what positives score less at the end than at the start.

    Patients differ by themselves, and each is there for two thirds of the months at most.
    """
    truths = [rng.random(size) < prior for _ in range(number)]
    shifts = rng.normal(scale=sd, size=number) - decay * np.arange(number) / (number - 1)
    scores = [rng.normal(size=size) for _ in range(number)]
    who = None
    if patients:
        begins = np.arange(patients) * number // patients
        near = np.abs(begins[:, None] - np.arange(number)) < max(number // 3, 2)
        who = [rng.choice(np.flatnonzero(near[:, month]), size) for month in range(number)]
        of_patient = rng.normal(size=patients)
        scores = [
            np.sqrt(WITHIN) * of_patient[own] + np.sqrt(1 - WITHIN) * score
            for own, score in zip(who, scores, strict=True)
        ]
    moved = zip(scores, truths, shifts, strict=True)
    return Months([s + truth * (DISTANCE + shift) for s, truth, shift in moved], truths, who)


def auc(score: np.ndarray, truth: np.ndarray) -> CaseInfluence:
    return of_cases(score, truth, [AUC])


def of_rate(name: str) -> Callable[..., CaseInfluence]:
    """The influences on a rate of calls from 1.0 on, at 10 % positives."""

    def influence(score: np.ndarray, truth: np.ndarray) -> CaseInfluence:
        return of_calls((score >= 1.0).astype(float), truth, rate_at(name, 9)).influence

    return influence


MEASURED = {"auc": auc, **{name: of_rate(name) for name in PERIOD_RATES}}


def trends(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """How often a trend of the AUC, of precision at a threshold, is said at 0.05.

    "Any" is how often one is said of the AUC, or of the five rates at the threshold, by Holm's rule
    for six trends. Where patients are many rows, "alone" is how often it is where they are not
    named. "Power" is of positives that score half a standard deviation less at the end than at the
    start.
    """
    for shape, sd in product(TABLES, MONTHS):
        rng, names = np.random.default_rng(seed), ("auc", "precision", "any", "alone")
        said, power = dict.fromkeys(names, 0), 0
        for _ in range(runs):
            none = months(rng, *shape, sd)
            p_values = {name: none.p_value(own) for name, own in MEASURED.items()}
            said["auc"] += p_values["auc"] < 0.05
            said["precision"] += p_values["precision"] < 0.05
            said["any"] += len(p_values) * min(p_values.values()) < 0.05
            said["alone"] += none.p_value(auc, named=False) < 0.05
            power += months(rng, *shape, sd, 0.5).p_value(auc) < 0.05
        yield {
            **dict(zip(("months", "cases", "prior", "patients"), shape, strict=True)), "SD": sd,
            "runs": runs, **{name: count / runs for name, count in said.items()},
            "SE": np.sqrt(said["auc"] / runs * (1 - said["auc"] / runs) / runs),
            "power": power / runs,
        }  # fmt: skip


def steps(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """How often the next month's recall, and its precision, lie within their limits.

    Thresholds promise a precision of 0.5 at 20 % on the months before, without confidence.
    """
    asked = {"truth": "y", "score": "p", "time": "month", "constraints": {"precision": 0.5}}
    for number, sd in product((5, 9, 13), MONTHS):
        rng, held = np.random.default_rng(seed), {"tpr": 0, "precision": 0}
        for _ in range(runs):
            one = months(rng, number, 400, 0.2, 0, sd)
            table = pl.concat(
                pl.DataFrame({"month": month, "y": truth, "p": score})
                for month, (truth, score) in enumerate(zip(one.truths, one.scores, strict=True))
            )
            past = table.filter(pl.col("month") < number - 1)
            expected = pr.walk_forward(past, **asked, prior=0.2).expected
            last = table.filter(month=number - 1)
            found = pr.apply_thresholds(
                last, expected["threshold"][0], truth="y", score="p", priors=0.2
            )
            for name in held:
                (limits,) = expected.filter(measure=name).select("lower", "upper").rows()
                held[name] += limits[0] <= found[name].item() <= limits[1]
        yield {
            "steps": number - 2, "SD": sd, "runs": runs,
            **{name: count / runs for name, count in held.items()},
            "SE": np.sqrt(held["tpr"] / runs * (1 - held["tpr"] / runs) / runs),
        }  # fmt: skip


def of_days(
    rng: np.random.Generator, number: int, size: int, prior: float, sds: tuple[float, float]
) -> pl.DataFrame:
    """Cases of days.

    Of `sds` the first is that of what all scores of a day are higher by, and of what its positives
    are higher by than on others; the second that of the logarithm of its share of positives.
    """
    sd, sd_of_prior = sds
    day = np.repeat(np.arange(number), rng.poisson(size, number))
    own = prior * np.exp(rng.normal(-(sd_of_prior**2) / 2, sd_of_prior, number))
    truth = rng.random(day.size) < own[day]
    shift, lead = rng.normal(scale=sd, size=(2, number))
    score = rng.normal(size=day.size) + shift[day] + truth * (DISTANCE + lead[day])
    return pl.DataFrame({"day": day, "y": truth, "p": score})


# Cases a day, the share of positives, and how many are looked at each day.
LOOKED_AT = ((200, 0.05, 8), (500, 0.01, 10))
# How much days differ.
DIFFER = ((0.0, 0.0), (0.3, 0.5))


def highest(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """How often 0.95 limits of `highest_each_day` hold what comes of 8,000 days, in per cent.

    At the share of positives of the days, and after a semicolon at four times as much.
    """
    asked = {"truth": "y", "score": "p", "time": "day"}
    for number, (size, prior, alerts), sds in product((5, *DAYS[1:]), LOOKED_AT, DIFFER):
        rng, priors = np.random.default_rng(seed), ["observed", 4 * prior]

        def table(days: int) -> pl.DataFrame:
            many = of_days(rng, days, size, prior, sds)  # noqa: B023
            return pl.DataFrame(pr.highest_each_day(many, alerts, **asked, priors=priors))  # noqa: B023

        true, held, known = table(8_000)["estimate"], np.zeros(8), np.zeros(8)
        for _ in range(runs):
            found = table(number)
            within = (found["lower"] <= true) & (true <= found["upper"])
            known += found["lower"].is_not_null().to_numpy()
            held += within.fill_null(False).to_numpy()
        shares = [
            f"{100 * own:.0f}; {100 * other:.0f}" for own, other in (held / known).reshape(4, 2)
        ]
        yield {
            "days": number, "cases a day": size, "positives": f"{100 * prior:g} %",
            "looked at": alerts, "days differ": "yes" if any(sds) else "no",
            **dict(zip(("recall", "precision", "cost"), shares[:3], strict=True)),
            "without limits": int(runs - known.min()),
        }  # fmt: skip


PARTS: dict[str, tuple[Callable[[int, int], Iterator[dict[str, object]]], int]] = {
    "alarms": (alarms, 40), "trends": (trends, 400), "steps": (steps, 100),
    "highest": (highest, 300),
}  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true", help="of highest alone")
    asked = parser.parse_args()
    for name in asked.parts or PARTS:
        part, runs = PARTS[name]
        rows = [*part(asked.runs or runs, asked.seed)]
        shown(f"{name}: {part.__doc__}", rows)
        if asked.write and name == "highest":
            write_table(name, as_page_table(rows), PAGE)
