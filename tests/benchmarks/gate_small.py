"""The interval of `gate` on few cases, beside others that were tried.

``python tests/benchmarks/gate_small.py [--replicates N] [--seed S] [--alpha A] [--sizes 20+80 …]``:
per sizes and measure the largest rates of passes and of fails, of which each may be α/2, where the
challenger is worse by exactly the margin: over champions with AUC 0.8, 0.9, 0.95 and 0.97,
challengers that are equal to it or worse by 0.03 AUC, and scores that correlate by 0.5 and 0.9. In
brackets the mean share of passes where the models are equal and the margin is three standard
deviations. Measures are the AUC, IAUPREC over 5 to 20 % positives, and (``--measures auprec``)
AUPREC at 1 %.

gate
    The interval of `gate`, here in NumPy, also where `gate` refuses; ``(refused)`` says so. Where
    negatives are few it is wider by what halves of them change; ``(widened)`` says so.
without
    The same without the positive that is not seen, for the AUC.
normal
    The influence of each case, and normal.
student
    The same with Student's t, on one degree less than the cases of the rarer class.
three pseudo-cases
    Student's, with three more cases of each class that have the largest influence seen.
log-odds
    Student's, for the log-odds of the challenger against those that the margin leaves it.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import logit
from scipy.stats import norm, t

from polaroc.uncertainty.small_samples import (
    AREAS,
    DIVISIONS,
    MAX_BIAS,
    MAX_ENRICHED,
    MAX_PSEUDO,
    MAX_WIDENED,
    MIN_CASES,
    MIN_INFLUENCE,
    PSEUDO,
    TIMES_CHANGE,
)
from polaroc.uncertainty.unseen_positive import bar_of

sys.path.append(str(Path(__file__).parents[1] / "support"))
import binormal

OVER, ALPHA, WORSE = (0.05, 0.20), 0.05, 0.03
SIZES = (
    "20+20", "80+20", "20+80", "20+500", "50+50", "50+200", "50+2000", "200+200", "100+400",
    "200+800", "500+1000",
)  # fmt: skip
AUCS, CORRELATIONS = (0.8, 0.9, 0.95, 0.97), (0.5, 0.9)
PRIOR = 0.01
NEWTON, HALVINGS = 12, 18
PLACES, WEIGHTS = np.polynomial.legendre.leggauss(4)
# The skews that a measure is a weighted mean over.
NODES = {
    "auc": [],
    "auprec": [(1 / PRIOR - 1, 1.0)],
    "iauprec": [
        (1 / prior - 1, weight)
        for prior, weight in zip(
            np.mean(OVER) + np.ptp(OVER) / 2 * PLACES, WEIGHTS / 2, strict=True
        )
    ],
}


class Measured(NamedTuple):
    """A measure of one model in each replicate, with what each case does to it."""

    estimate: np.ndarray
    influence: tuple[np.ndarray, np.ndarray]  # centred, of positives and negatives


def measured(scores: np.ndarray, positives: int, measure: str) -> Measured:
    """Of replicates × cases, positives first; the infinitesimal jackknife, without ties."""
    negatives = scores.shape[1] - positives
    order = np.argsort(-scores, axis=1)
    is_positive = order < positives
    tp = is_positive.cumsum(axis=1)
    rows = len(scores)
    pos_at, neg_at = (order[own].reshape(rows, -1) for own in (is_positive, ~is_positive))
    fp = (~is_positive).cumsum(axis=1)[is_positive].reshape(rows, -1)
    above = tp[~is_positive].reshape(rows, -1)

    def by_case(of_positives: np.ndarray, by_rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        own, other = np.empty(fp.shape), np.empty(above.shape)
        np.put_along_axis(own, pos_at, of_positives, axis=1)
        np.put_along_axis(
            other, neg_at - positives, np.take_along_axis(by_rank, above, axis=1), axis=1
        )
        return own, other

    if measure == "auc":
        ranks = np.broadcast_to(np.arange(positives + 1) / positives, (rows, positives + 1))
        placed = by_case(1 - fp / negatives, ranks)
        return Measured(placed[0].mean(axis=1), centred(placed))
    end = np.arange(1, positives + 1) / positives
    start = end - 1 / positives
    of_positives, by_rank = np.zeros(fp.shape), np.zeros((rows, positives + 1))
    for skew, weight in NODES[measure]:
        x = skew * fp / negatives
        x = np.where(x > 0, x, 1e-300)
        slope = -skew * (np.log((end + x) / (start + x)) + x / (end + x) - x / (start + x))
        slope = np.where(fp > 0, slope, 0)
        rise = end / (end + x) - np.where(fp > 0, start / (start + x), 1)
        of_positives += weight * (end / (end + x) + from_end(rise) - rise)
        by_rank[:, :-1] += weight * from_end(slope)
    influence = centred(by_case(of_positives, by_rank))
    return Measured(precision_area(fp, negatives, measure), influence)


def precision_area(fp: np.ndarray, negatives: int, measure: str) -> np.ndarray:
    """From the number of negatives above each positive."""
    positives = fp.shape[1]
    end = np.arange(1, positives + 1) / positives
    total = np.zeros(len(fp))
    for skew, weight in NODES[measure]:
        x = skew * fp / negatives
        gained = np.log1p((1 / positives) / np.where(x > 0, end - 1 / positives + x, 1))
        total += weight * (1 - (x * gained).sum(axis=1))
    return total


def from_end(values: np.ndarray) -> np.ndarray:
    """The sums from each place to the last."""
    return values[:, ::-1].cumsum(axis=1)[:, ::-1]


def centred(classes: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Less the mean of each class."""
    own, other = (values - values.mean(axis=1, keepdims=True) for values in classes)
    return own, other


def variance(
    classes: tuple[np.ndarray, np.ndarray], pseudo: float = 0, least: float = 0
) -> np.ndarray:
    """Of a sum of means of two classes, with pseudo-cases of the largest influence."""
    return sum(
        own.var(axis=1, ddof=1) / own.shape[1]
        + pseudo * (np.abs(own).max(axis=1).clip(least) / own.shape[1]) ** 2
        for own in classes
    )


def log_odds(area: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds of an area, below 1/2 their tangent there, and the slope."""
    within = area.clip(0.5, 1 - 1e-9)
    return np.where(area < 0.5, 4 * (area - 0.5), logit(within)), 1 / (within * (1 - within))


def beyond(reached: Measured, other: Measured, more: float, quantile: float) -> np.ndarray:
    """How far a model is above another one's estimate plus `more`, on the scale of `log_odds`."""
    at, slope = log_odds(reached.estimate)
    left, other_slope = log_odds(other.estimate + more)
    moved = tuple(
        slope[:, None] * own - other_slope[:, None] * one
        for own, one in zip(reached.influence, other.influence, strict=True)
    )
    return at - left - quantile * variance(moved) ** 0.5


def log_likelihood(
    apart: np.ndarray, mean: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of means of rows that may have one more value of −1: its ratio, slope and multiplier."""
    above = apart - mean[:, None]
    # A multiplier between 0 and that of the support, by Newton's method or halving.
    most = (1 - 1e-9) / np.maximum(1 + mean, -above.min(axis=1))
    least, greatest, tilt = np.zeros(len(most)), most.copy(), np.clip(start, 1e-9, most)
    for _ in range(NEWTON):
        share = above / (1 + tilt[:, None] * above)
        slope = share.sum(axis=1)
        least, greatest = np.where(slope > 0, tilt, least), np.where(slope > 0, greatest, tilt)
        moved = tilt + slope / (share**2).sum(axis=1).clip(1e-300)
        is_within = (moved > least) & (moved < greatest)
        tilt = np.where(is_within, moved, (least + greatest) / 2)
    raised = (1 + tilt[:, None] * above).clip(1e-300)
    return np.log(raised).sum(axis=1), tilt * (1 / raised).sum(axis=1), tilt


def unseen(apart: np.ndarray, variance: np.ndarray, margin: float) -> np.ndarray:
    """The likelihood ratio of a lead of −margin, where a positive was not seen.

    ``apart`` are replicates × positives, ``variance`` is what the negatives add.
    """
    ahead = apart.mean(axis=1) + margin
    least, most, tilt = np.zeros(len(apart)), ahead.clip(0), np.full(len(apart), 0.1)
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        _, slope, tilt = log_likelihood(apart, middle - margin, tilt)
        is_less = middle < variance * slope
        least, most = np.where(is_less, middle, least), np.where(is_less, most, middle)
    middle = (least + most) / 2
    ratio = log_likelihood(apart, middle - margin, tilt)[0]
    return np.where(ahead > 0, ratio + middle**2 / (2 * variance.clip(1e-12)), 0.0)


def verdicts(
    champion: Measured,
    challenger: Measured,
    margin: float,
    measure: str,
    alpha: float = ALPHA,
    wider: float | np.ndarray = 0.0,
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Per interval which replicates pass and fail."""
    lead = challenger.estimate - champion.estimate
    pairs = list(zip(challenger.influence, champion.influence, strict=True))
    moved = tuple(own - other for own, other in pairs)
    quantile = float(t.ppf(1 - alpha / 2, min(own.shape[1] for own in moved) - 1))
    # Where nothing varies there is no interval.
    varies = variance(moved) > 1e-26
    errors = {
        "gate": quantile * variance(moved, PSEUDO.get(measure, MAX_PSEUDO), MIN_INFLUENCE) ** 0.5,
        "normal": norm.ppf(1 - alpha / 2) * variance(moved) ** 0.5,
        "student": quantile * variance(moved) ** 0.5,
        "three pseudo-cases": quantile * variance(moved, 3) ** 0.5,
    }
    for name, reach in errors.items():
        bound = wider if name == "gate" else 0.0
        passed, failed = lead - reach - bound >= -margin, lead + reach + bound < -margin
        if name == "gate":
            passed = passed & (beyond(challenger, champion, bound - margin, quantile) >= 0)
            failed = failed & (beyond(champion, challenger, margin + bound, quantile) > 0)
            without = passed, failed
            if measure in AREAS:
                apart, noise = lead[:, None] + moved[0], variance(moved[1:])
                bar = bar_of((moved[0] ** 2).sum(axis=1), 1 - alpha)
                passed = passed & (unseen(apart, noise, margin - bound) >= bar)
                failed = failed & (unseen(-apart, noise, -margin - bound) > bar)
        yield name, passed & varies, failed & varies
        if name == "gate":
            yield "without", *(own & varies for own in without)
    reached, left = (
        np.clip(value, 1e-9, 1 - 1e-9)
        for value in (challenger.estimate, champion.estimate - margin)
    )
    own_slope, other_slope = (1 / (value * (1 - value))[:, None] for value in (reached, left))
    moved = tuple(own_slope * own - other_slope * other for own, other in pairs)
    reach, apart = quantile * variance(moved) ** 0.5, logit(reached) - logit(left)
    yield "log-odds", (apart >= reach) & varies, (apart < -reach) & varies


def true_area(measure: str, auc: float) -> float:
    """The measure of the population."""
    return binormal.auprec(PRIOR, auc) if measure == "auprec" else binormal.iauprec(OVER, auc)


def refused(positives: int, negatives: int, measure: str, most: float = MAX_WIDENED) -> bool:
    """Whether `gate` takes these cases for too few, or with `MAX_BIAS` widens the interval."""
    skew = sum(skew * weight for skew, weight in NODES[measure])
    needed = skew * min(positives / MAX_ENRICHED, positives**0.5 / most)
    return min(positives, negatives) < MIN_CASES or needed > negatives


def change(
    scores: tuple[np.ndarray, np.ndarray], positives: int, measure: str, rng: np.random.Generator
) -> np.ndarray:
    """How far the difference of two models may be off for want of negatives."""
    return TIMES_CHANGE * np.abs(by_halves(scores, positives, measure, rng))


def by_halves(
    scores: tuple[np.ndarray, np.ndarray], positives: int, measure: str, rng: np.random.Generator,
    divisions: int = DIVISIONS,
) -> np.ndarray:  # fmt: skip
    """By how much half of the negatives changes the difference of two models."""
    negatives = scores[0].shape[1] - positives

    def lead(kept: np.ndarray) -> np.ndarray:
        cases = np.append(np.arange(positives), positives + kept)
        return np.subtract(*(area(one[:, cases], positives, measure) for one in scores))

    halves = [half for _ in range(divisions)
              for half in np.array_split(rng.permutation(negatives), 2)]  # fmt: skip
    changed = np.mean([lead(half) for half in halves], axis=0)
    return changed - lead(np.arange(negatives))


def area(scores: np.ndarray, positives: int, measure: str) -> np.ndarray:
    """The area of each replicate alone."""
    is_positive = np.argsort(-scores, axis=1) < positives
    fp = (~is_positive).cumsum(axis=1)[is_positive].reshape(len(scores), -1)
    return precision_area(fp, scores.shape[1] - positives, measure)


def largest_rates(
    sizes: tuple[int, int], measure: str, replicates: int, seed: int, alpha: float = ALPHA
) -> str:
    """One line per interval: the largest rate of passes and of fails, and the power."""
    truth = np.arange(sum(sizes)) < sizes[0]
    rates: dict[str, list[tuple[float, float]]] = {}
    power: dict[str, list[float]] = {}
    for auc, worse, correlation in product(AUCS, (WORSE, 0), CORRELATIONS):
        rng = np.random.default_rng(
            [seed, *sizes, int(1000 * auc), worse > 0, int(correlation * 10)]
        )
        shared = rng.normal(size=(replicates, sum(sizes)))
        scores = tuple(
            binormal.shift(own) * truth
            + correlation**0.5 * shared
            + (1 - correlation) ** 0.5 * rng.normal(size=shared.shape)
            for own in (auc, auc - worse)
        )
        champion, challenger = (measured(one, sizes[0], measure) for one in scores)
        is_wider = refused(*sizes, measure, MAX_BIAS)
        wider = change(scores, sizes[0], measure, rng) if is_wider else 0.0
        margin: float = worse
        if worse and measure != "auc":
            margin = true_area(measure, auc) - true_area(measure, auc - worse)
        for name, passed, failed in verdicts(champion, challenger, margin, measure, alpha, wider):
            rates.setdefault(name, []).append((passed.mean(), failed.mean()))
        if not worse:
            wide = 3 * float((challenger.estimate - champion.estimate).std())
            for name, passed, _ in verdicts(champion, challenger, wide, measure, alpha, wider):
                power.setdefault(name, []).append(passed.mean())
    found = [
        f"{name} {' / '.join(f'{largest:.3f}' for largest in np.max(own, axis=0))} "
        f"[{np.mean(power[name]):.2f}]"
        for name, own in rates.items()
    ]
    return " | ".join(found)


def main() -> None:
    """Print the largest rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alpha", type=float, default=ALPHA)
    parser.add_argument("--measures", nargs="+", default=("auc", "iauprec"), choices=NODES)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    options = parser.parse_args()
    for given in options.sizes:
        positives, negatives = map(int, given.split("+"))
        for measure in options.measures:
            sizes = positives, negatives
            line = largest_rates(sizes, measure, options.replicates, options.seed, options.alpha)
            is_widened = refused(positives, negatives, measure, MAX_BIAS)
            note = " (widened)" if is_widened else ""
            note = " (refused)" if refused(positives, negatives, measure) else note
            print(f"{given} {measure}{note}: {line}", flush=True)


if __name__ == "__main__":
    main()
