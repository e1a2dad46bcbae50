"""How often promised reviews are more than promised, and what is acted on is less often right.

``python tests/benchmarks/reviews.py [--tunings N] [--write]``: tuning tables with nine negatives to
each positive, of normal scores, continuous and in five levels, among them scores of no use (AUC
0.5), and of the curve that is a hair short of the precision everywhere. Both thresholds are chosen
with a confidence of 95 %, as `three_ways` does: those that find most, and those that cost least.

In the worst of the normal curves, with its standard error: the share of tables in which the pair
that is chosen breaks a promise, and in which any pair that may be chosen does; the same on the
edge. As means over the useful curves of continuous scores: the share of the reviews that may be
done which the promise leaves, chosen so as to find most; positives found or reviewed by one who
knows the curve, with the promise and without it; and how often a choice without a promise breaks
what is asked. ``--write`` fills in the table of docs/concepts/promises.md.

``--clusters``: rows of a patient share a part of the variance of their scores. How often the pair
that finds most, with at most 5 % false alarms, breaks a promise, with patients as `cluster` and
with rows taken as independent.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np
from clusters import write_table
from promises import (
    CUTS,
    DELTA,
    FINE,
    LEAD,
    PER_POSITIVE,
    Edge,
    Normal,
    kept,
    rows_of_patients,
    table,
)
from scipy.stats import norm

import polaroc as pr
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.promises import Sample
from polaroc.thresholds.review_bands import (
    Rates,
    ReviewCosts,
    best_band,
    last_reviewed,
    may_act_from,
)

PAGE = Path(__file__).parents[2] / "docs/concepts/promises.md"
POSITIVES, REVIEWED = (20, 100, 500), (0.02, 0.1)
LIMITS = ({"precision": 0.5}, {})
ENDS = {"at 10 %": (0.1, 0.1), "5 to 20 %": (0.05, 0.2)}
COSTS = ReviewCosts(20.0, 5.0, 1.0)
HEADS = (
    "acted on", "reviewed, at most", "positives", "most found: breaks", "least cost: breaks",
    "any breaks", "any, on the edge", "reviews done", "found: oracle", "promised",
    "just kept on the table", "and breaks",
)  # fmt: skip
# Cases of either class that are as good as the true curve.
MANY = 10_000_000


def with_origin(thresholds, sample, rates):
    """What is called at no threshold, and at each."""
    tp, fp = (np.concatenate([[0], one]) for one in (sample.tp, sample.fp))
    t, f = (np.concatenate([[0.0], one]) for one in rates)
    return Sample(tp, fp, sample.positives, sample.negatives), Rates(t, f)


def reviewed(rates, act, last, constraints):
    """The greatest true share between thresholds, at any prior."""
    shares = [
        ((rates.t[last] - rates.t[act]) + skew * (rates.f[last] - rates.f[act])) / (1 + skew)
        for skew in constraints.skews(9.0)
    ]
    return np.max(shares, axis=0)


def broken(rates, act, last, constraints, share):
    """Whether pairs of thresholds do what is not allowed."""
    may = kept(constraints, rates.t[act], rates.f[act]) | (act == 0)
    return ~may | (reviewed(rates, act, last, constraints) > share * (1 + 1e-9))


def chosen(sample, constraints, share, delta, costs):
    """The pair of thresholds that is chosen, and all that may be."""
    both = bool(constraints.limits) and delta is not None
    error = delta / 2 if both else delta
    may = may_act_from(sample, constraints, 9.0, error)
    last = last_reviewed(sample, constraints, 9.0, share, error)
    rates = Rates(sample.tp / sample.positives, sample.fp / sample.negatives)
    if costs is None and not constraints.limits:
        # Nothing says what to act on.
        may &= (sample.tp == 0) & (sample.fp == 0)
    band = best_band(rates, may, last, costs, 9.0)
    return (band.act, band.review), (np.flatnonzero(may), last[may])


def run(rng, curve, constraints, share, positives, tunings):
    """Of each table: broken by the pair that finds most, that costs least, by any; and more."""
    rows = []
    for _ in range(tunings):
        thresholds, drawn = table(rng, curve, positives, PER_POSITIVE * positives)
        sample, rates = with_origin(thresholds, drawn, curve.rates(thresholds))
        most, _ = chosen(sample, constraints, share, DELTA, None)
        cheap, (act, last) = chosen(sample, constraints, share, DELTA, COSTS)
        plain, _ = chosen(sample, constraints, share, None, None)
        at = [np.array([one]) for one in most]
        rows.append(
            [
                *(
                    broken(rates, *map(np.array, pair), constraints, share).item()
                    for pair in (most, cheap)
                ),
                broken(rates, act, last, constraints, share).any(),
                reviewed(rates, *at, constraints).item() / share,
                rates.t[most[1]],
                rates.t[plain[1]],
                broken(rates, *map(np.array, plain), constraints, share).item(),
            ]
        )
    return np.array(rows, dtype=float)


def oracle(curve, constraints, share):
    """The positives found by one who knows the curve."""
    t, f = (np.concatenate([[0.0], one]) for one in curve.rates(FINE[::-1]))
    sample = Sample(t * MANY, f * MANY, MANY, MANY)
    (_, last), _ = chosen(sample, constraints, share, None, None)
    return t[last]


def cell(rng, limits, ends, share, positives, tunings):
    constraints = Constraints(limits, ends)
    aucs = (0.5, 0.8, 0.9, 0.97)
    curves = {(auc, cuts): Normal(auc, cuts) for auc in aucs for cuts in (None, CUTS)}
    found = {
        at: run(rng, curve, constraints, share, positives, tunings) for at, curve in curves.items()
    }
    worst = np.max([one[:, :3].mean(axis=0) for one in found.values()], axis=0)
    edge = None
    if limits:
        edge = run(rng, Edge(constraints), constraints, share, positives, 4 * tunings)[:, 2].mean()
    useful = [at for at in curves if at[0] > aucs[0] and at[1] is None]
    means = np.mean([found[at][:, 3:].mean(axis=0) for at in useful], axis=0)
    knows = np.mean([oracle(curves[at], constraints, share) for at in useful])
    return worst, edge, means, knows


def of_patients(rng, tunings):
    """Broken promises where rows of patients are alike."""
    kinds = ((20, 80), (10, 30), (40, 0))
    for (positive, negative), alike in itertools.product(kinds, (0.0, 0.5, 0.9)):
        rows = rows_of_patients(
            rng, tunings, positive=positive, negative=negative, uneven=False, alike=alike,
            edge=False,
        )  # fmt: skip
        said = []
        for cluster in ("patient", None):
            ways = pr.three_ways(
                rows, truth="truth", score="score", by="sample", cluster=cluster, priors=0.2,
                constraints={"fpr": 0.05}, reviews=10, volume=100, confidence=1 - DELTA,
            )  # fmt: skip
            at = [ways[one].fill_null(np.inf).to_numpy() for one in ("act_from", "review_from")]
            (t, f), (both_t, both_f) = ((norm.sf(one - LEAD), norm.sf(one)) for one in at)
            too_many = 0.2 * (both_t - t) + 0.8 * (both_f - f) > 0.1
            rates = np.mean(f > 0.05), np.mean(too_many), np.mean((f > 0.05) | too_many)
            said.append(" ".join(f"{rate:.3f}" for rate in rates))
        patients = f"{positive} + {negative}" if negative else f"{positive} of both classes"
        print(f"{patients}, {alike} shared: false alarms, reviews, either: {said[0]} (rows "
              f"{said[1]})", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunings", type=int, default=400)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--clusters", action="store_true")
    arguments = parser.parse_args()
    if arguments.clusters:
        of_patients(np.random.default_rng(5), arguments.tunings)
        return
    rng, lines = np.random.default_rng(3), [f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    for limits, (label, ends), share in itertools.product(LIMITS, ENDS.items(), REVIEWED):
        for positives in POSITIVES:
            worst, edge, means, knows = cell(rng, limits, ends, share, positives, arguments.tunings)
            said = [f"{rate:.3f} ({error(rate, arguments.tunings):.3f})" for rate in worst]
            shown = "–" if edge is None else f"{edge:.3f}"
            asked = f"precision ≥ {limits['precision']}" if limits else "no limit"
            done, promised, plain, breaks = means
            lines.append(
                f"| {asked} | {share} {label} | {positives} | {' | '.join(said)} | {shown} | "
                f"{done:.2f} | {knows:.2f} | {promised:.2f} | {plain:.2f} | {breaks:.2f} |"
            )
            print(lines[-1], flush=True)
    if arguments.write:
        write_table("reviews", "\n".join(lines) + "\n", PAGE)


def error(rate, tunings):
    return (rate * (1 - rate) / tunings) ** 0.5


if __name__ == "__main__":
    main()
