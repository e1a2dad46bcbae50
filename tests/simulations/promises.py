"""How often a promised threshold breaks its promise, and what recall the promise costs.

tables
    Tuning tables with nine negatives per positive of curves whose true rates have a closed form:
    normal scores, continuous and in five levels, and ten times as many tables of the least
    favourable curve of the constraints, just short of keeping them. The rule "max_recall" chooses
    among the thresholds that are promised at 95 %. Broken promises of the chosen threshold and of
    any promised one, in the worst of eight curves; the mean recall of an oracle that knows the
    curve, of the promised threshold (0 where there is none), and of the one that just keeps the
    constraints on the table, and how often that one breaks them.
clusters
    Rows of a patient share a part of the variance of their scores. How often a promised recall of
    0.8 is not kept; how often a precision is promised of a curve that is a hair short of it
    everywhere; and the recall of a promised precision of normal scores (AUC 0.94). With patients
    as `cluster` and with rows taken as independent.
models
    Thresholds of several models, whose scores share a part of their variance, are promised at a
    precision of 0.5 on 50 + 450 cases; a model is picked by the recall on these of its promised
    threshold, or by its expected cost or its area on as many other cases. How often the promise of
    the model that was picked is broken, where each has the whole error rate and where they share
    it.
estimated
    The prior in use is estimated from unlabelled scores, with the tuning cases as the reference,
    and the promise is one over its 95 % interval: how often it is broken *at the prior in use*.
    The lower end of the interval is rounded to 2 % of itself, so that samples share the boundaries
    that are simulated. "On the edge" every threshold is a hair short of the promise.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit, logit
from scipy.stats import norm, rankdata

import polaroc as pr
from polaroc.monitoring import mixture
from polaroc.priors.in_use import within_unit
from polaroc.thresholds.promises import Sample, promised
from polaroc.thresholds.rules import Constraints
from simulations.design import Design

POSITIVES, PER_POSITIVE, AUCS, DELTA = (20, 100, 500), 9, (0.8, 0.9, 0.97, 0.995), 0.05
EDGE_TIMES = 10
CUTS = (-0.5, 0.5, 1.5, 2.5)
LIMITS = {
    "precision ≥ 0.5": {"precision": 0.5}, "recall ≥ 0.8": {"recall": 0.8},
    "precision ≥ 0.5, recall ≥ 0.5": {"precision": 0.5, "recall": 0.5},
    "precision ≥ 0.3, recall ≥ 0.3, at most 0.25 called":
        {"precision": 0.3, "recall": 0.3, "posfrac": 0.25},
}  # fmt: skip
ENDS = {"10 %": (0.1, 0.1), "5 to 20 %": (0.05, 0.2)}
FINE = np.linspace(-6, 9, 4001)
HALF_SHARED = 0.5


class Normal:
    """Normal scores, negatives around 0; in levels where cuts are given."""

    def __init__(self, auc, cuts=None):
        self.shift, self.cuts = 2**0.5 * norm.ppf(auc), cuts

    def draw(self, rng, n, positive):
        score = rng.normal(self.shift * positive, 1, n)
        return score if self.cuts is None else np.digitize(score, self.cuts).astype(float)

    def rates(self, threshold):
        at = threshold
        if self.cuts is not None:
            edges = np.array([-np.inf, *self.cuts, np.inf])
            at = edges[np.clip(np.ceil(threshold), 0, len(edges) - 1).astype(int)]
        return norm.sf(at - self.shift), norm.sf(at)

    def possible(self):
        return FINE if self.cuts is None else np.arange(len(self.cuts) + 1.0)


class Edge:
    """The curve t = g(f) less a hair: every threshold breaks the constraints."""

    def __init__(self, constraints):
        f = np.linspace(0, 1, 20_001)
        planes = [
            plane for name in constraints.limits for plane in constraints.half_planes(name, 9.0)
        ]
        least = np.max([-(b * f + c) / a for a, b, c in planes], axis=0).clip(0, 1)
        least[-1] = 1
        self.f, self.t = f, least * (1 - 1e-6)

    def draw(self, rng, n, positive):
        u = rng.random(n)
        return -(np.interp(u, self.t, self.f) if positive else u)

    def rates(self, threshold):
        f = np.clip(-threshold, 0, 1)
        return np.interp(f, self.f, self.t), f

    def possible(self):
        return np.array([])


def kept(constraints, t, f):
    return np.all(np.broadcast_arrays(*constraints.kept(t, f, 9.0)), axis=0) & (t > 0)


def table(rng, curve, positives, negatives):
    """Thresholds of a tuning table, best first, and the cases called positive at each."""
    scores = [curve.draw(rng, n, y) for n, y in ((positives, True), (negatives, False))]
    thresholds = np.unique(np.concatenate(scores))[::-1]
    called = [np.searchsorted(np.sort(-own), -thresholds, side="right") for own in scores]
    return thresholds, Sample(*called, positives, negatives)


def run(
    rng: np.random.Generator,
    curve: "Normal | Edge",
    constraints: Constraints,
    positives: int,
    tunings: int,
) -> list[float]:
    """Recall of the oracle; means of the others."""
    negatives = PER_POSITIVE * positives
    broken, any_broken, recall, plug_broken, plug_recall = (np.zeros(tunings) for _ in range(5))
    for i in range(tunings):
        thresholds, sample = table(rng, curve, positives, negatives)
        t, f = curve.rates(thresholds)
        sound = kept(constraints, t, f)
        at = np.flatnonzero(promised(sample, constraints, 9.0, DELTA) & (sample.tp > 0))
        if at.size:
            broken[i], recall[i] = not sound[at[-1]], t[at[-1]]
            any_broken[i] = not sound[at].all()
        naive = np.flatnonzero(kept(constraints, sample.tp / positives, sample.fp / negatives))
        if naive.size:
            plug_broken[i], plug_recall[i] = not sound[naive[-1]], t[naive[-1]]
    t, f = curve.rates(curve.possible())
    within = kept(constraints, t, f)
    oracle = t[within].max() if within.any() else 0.0
    means = [x.mean() for x in (broken, any_broken, recall, plug_recall, plug_broken)]
    return [oracle, *means]


def of_tables(
    replicates: int, seed: int, constraints: str, prior: str, positives: int
) -> dict[str, float | None]:
    """Broken promises in the worst of eight curves, and on the edge; mean recalls."""
    cell = {"constraints": constraints, "prior": prior, "positives": positives}
    rng = np.random.default_rng([seed, TABLES.index(cell)])
    asked = Constraints(LIMITS[constraints], ENDS[prior])
    curves = [Normal(auc, cuts) for auc in AUCS for cuts in (None, CUTS)]
    found = np.array([run(rng, curve, asked, positives, replicates) for curve in curves])
    on_edge = None
    # A share of cases called falls as thresholds rise: no curve is the edge of it.
    if "called" not in constraints:
        on_edge = run(rng, Edge(asked), asked, positives, EDGE_TIMES * replicates)[2]
    worst, mean = found[:, 1:3].max(axis=0), found.mean(axis=0)
    return {
        "chosen breaks": worst[0], "any breaks": worst[1], "any on the edge": on_edge,
        "recall: oracle": mean[0], "promised": mean[3], "just kept": mean[4],
        "just kept breaks": mean[5],
    }  # fmt: skip


LEAD = 2.2


def rows_of_patients(
    rng: np.random.Generator,
    samples: int,
    positive: int,
    negative: int,
    uneven: bool,
    shared: float,
    *,
    edge: bool,
) -> pl.DataFrame:
    """Rows of `samples` tables, of patients of one class each or of both."""
    count = positive + negative
    sizes = rng.integers(1, 42, (samples, count)) if uneven else np.full((samples, count), 10)
    patient = np.repeat(np.arange(samples * count), sizes.ravel())
    own = patient % count
    truth = own < positive if negative else rng.random(patient.size) < 0.2
    of_patient = rng.normal(size=samples * count)[patient]
    noise = shared**0.5 * of_patient + (1 - shared) ** 0.5 * rng.normal(size=patient.size)
    score = noise + LEAD * truth
    if edge:
        # At the prior 0.2, precision is a hair below one half where recall is four times the rate
        # of false alarms.
        rate = norm.sf(noise)
        score = -np.where(truth, rate / 4 * (1 + 1e-6), rate)
    return pl.DataFrame(
        {"sample": patient // count, "patient": patient, "truth": truth, "score": score}
    )


def of_clusters(
    replicates: int, seed: int, patients: str, rows: str, shared: float
) -> list[dict[str, object]]:
    """Broken promises and recall, with clusters and with rows taken as independent."""
    positive, _, negative = patients.removesuffix(" of both classes").partition(" + ")
    kind = int(positive), int(negative or 0), rows != "10", shared
    cell = {"patients": patients, "rows": rows, "shared": shared}
    rng = np.random.default_rng([seed, CLUSTERED.index(cell)])
    few = max(replicates // 10, 1)
    precision = {"constraints": {"precision": 0.5}, "priors": 0.2}
    asked = {"recall": ({"rule": "recall", "target": 0.8}, replicates)}
    if shared == HALF_SHARED:
        # Each table takes a while, since its effective numbers are its own.
        asked |= {"edge": (precision, few), "normal": (precision, few)}
    tables = {
        name: rows_of_patients(rng, count, *kind, edge=name == "edge")
        for name, (_, count) in asked.items()
    }
    found = []
    for way, roles in (("clusters", {"cluster": "patient"}), ("independent", {})):
        own = {
            name: pr.operating_points(
                tables[name], **rule, truth="truth", score="score", by="sample", **roles,
                confidence=1 - DELTA,
            )["threshold"].to_numpy().astype(float)
            for name, (rule, _) in asked.items()
        }  # fmt: skip
        row: dict[str, object] = {
            "rows as": way, "recall broken": float(np.mean(own["recall"] > LEAD - norm.ppf(0.8)))
        }  # fmt: skip
        at = own.get("normal", np.array([np.nan]))
        edge = own.get("edge")
        row |= {
            "precision on the edge broken": None if edge is None else np.mean(~np.isnan(edge)),
            "recall left": None if edge is None else np.nan_to_num(norm.sf(at - LEAD)).mean(),
            "no promise": None if edge is None else np.isnan(at).mean(),
        }
        found.append(row)
    return found


LIMIT, PRIOR, COST_FN = 0.5, 0.1, 5.0
TUNED = (50, 450)
# Short of what is asked by so much of itself; steps of the logarithms of ends of intervals.
HAIR, STEP = 1e-6, 0.02


class Scores:
    """Scores of either class: normal with an AUC, or on the edge of a precision at a prior."""

    def __init__(self, auc: float | None, prior: float = PRIOR) -> None:
        self.slope = (1 - prior) / prior * LIMIT / (1 - LIMIT)
        self.shift = None if auc is None else 2**0.5 * norm.ppf(auc)
        self.words = "on the edge" if auc is None else f"normal, AUC {auc:g}"

    def of(self, noise: np.ndarray, *, positive: bool) -> np.ndarray:
        """The scores of cases whose noise is normal."""
        if self.shift is not None:
            return noise + self.shift * positive
        # Recall is the slope times the rate of false alarms, less a hair.
        return -norm.sf(noise) / (self.slope * (1 - HAIR) if positive else 1)

    def rates(self, threshold: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """The true rates at thresholds."""
        if self.shift is not None:
            return norm.sf(threshold - self.shift), norm.sf(threshold)
        f = np.clip(-np.asarray(threshold), 0, 1)
        return np.minimum(self.slope * (1 - HAIR) * f, 1), f

    def is_broken(self, threshold: float) -> bool:
        """Whether the precision at a threshold is too low; not where nothing is promised."""
        if np.isnan(threshold):
            return False
        if self.shift is None:
            return True
        t, f = self.rates(threshold)
        return bool(t < self.slope * f)


def best_promised(
    positive: np.ndarray, negative: np.ndarray, ends: tuple[float, float], delta: float
) -> tuple[float, float]:
    """The lowest threshold that is promised, with its recall on the table; NaN and 0 without."""
    thresholds = np.sort(np.concatenate([positive, negative]))[::-1]
    called = [
        np.searchsorted(np.sort(-own), -thresholds, side="right") for own in (positive, negative)
    ]
    sample = Sample(*called, len(positive), len(negative))
    at = np.flatnonzero(promised(sample, Constraints({"precision": LIMIT}, ends), 9.0, delta))
    at = at[called[0][at] > 0]
    return (thresholds[at[-1]], called[0][at[-1]] / len(positive)) if at.size else (np.nan, 0.0)


def cases(
    rng: np.random.Generator, scores: Scores, models: int, shared: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the positives and of the negatives of one half, a column per model."""
    halves = []
    for count, positive in zip(TUNED, (True, False), strict=True):
        own, common = rng.normal(size=(count, models)), rng.normal(size=(count, 1))
        noise = shared**0.5 * common + (1 - shared) ** 0.5 * own
        halves.append(scores.of(noise, positive=positive))
    return halves[0], halves[1]


def picked(
    positive: np.ndarray, negative: np.ndarray, at: np.ndarray, said: np.ndarray
) -> list[int]:
    """The models picked by recall where tuned, by cost and by area on a test half."""
    has_none = np.isnan(at)
    t, f = (positive >= at).mean(axis=0), (negative >= at).mean(axis=0)
    cost = np.where(has_none, np.inf, PRIOR * COST_FN * (1 - t) + (1 - PRIOR) * f)
    ranks = rankdata(np.concatenate([positive, negative]), axis=0)[: len(positive)]
    return [int(said.argmax()), int(cost.argmin()), int(ranks.sum(axis=0).argmax())]


WAYS = ("recall", "cost", "area")


def of_picked(
    rng: np.random.Generator, scores: Scores, count: int, shared: float, runs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Whether promises are broken, each model with its own error and shared, by `WAYS`; recalls."""
    broken, recall = np.zeros((runs, 2, len(WAYS))), np.zeros((runs, 2))
    for i in range(runs):
        tuning, test = cases(rng, scores, count, shared), cases(rng, scores, count, shared)
        for j, delta in enumerate((DELTA, DELTA / count)):
            found = [
                best_promised(p, n, (PRIOR, PRIOR), delta)
                for p, n in zip(tuning[0].T, tuning[1].T, strict=True)
            ]
            at, said = np.array(found).T
            chosen = picked(*test, at, said)
            broken[i, j] = [scores.is_broken(at[one]) for one in chosen]
            recall[i, j] = np.nan_to_num(scores.rates(at[chosen[1]])[0])
    return broken, recall


def of_models(
    replicates: int, seed: int, scores: str, models: int, shared: float
) -> list[dict[str, object]]:
    """Broken promises of the model that is picked, by how it is."""
    cell = {"scores": scores, "models": models, "shared": shared}
    rng = np.random.default_rng((seed, PICKED.index(cell)))
    broken, recall = of_picked(rng, SCORES[scores], models, shared, replicates)
    return [
        {"error rate": whose}
        | {f"broken by {way}": broken[:, j, k].mean() for k, way in enumerate(WAYS)}
        | {"recall": recall[:, j].mean()}
        for j, whose in enumerate(("each 0.05", "shared"))
    ]


class AtEstimate(NamedTuple):
    """For each sample whether there was an interval, it held, the promise broke; recalls."""

    given: np.ndarray
    held: np.ndarray
    broken: np.ndarray
    recall: np.ndarray
    known: np.ndarray  # of a promise at the prior itself


def of_estimate(
    rng: np.random.Generator,
    auc: float | None,
    sizes: tuple[int, int],
    deployed: int,
    prior: float,
    runs: int,
) -> AtEstimate:
    """Promises over the interval of the prior."""
    (pos, neg), scores = sizes, Scores(auc, prior)
    # Scores of which the mean is the share of the tuning cases.
    own = logit(pos / (pos + neg))
    found = AtEstimate(*np.zeros((5, runs)))
    for i in range(runs):
        count = rng.binomial(deployed, prior)
        drawn = [
            scores.of(rng.normal(size=n), positive=y)
            for n, y in ((pos, True), (neg, False), (count, True), (deployed - count, False))
        ]
        if scores.shift is not None:
            drawn = [expit(scores.shift * (x - scores.shift / 2) + own) for x in drawn]
        reference = mixture.Reference(*map(mixture.Sample, drawn[:2]))
        estimate = reference.fit(mixture.Sample(np.concatenate(drawn[2:])), 1 - DELTA)
        at = [best_promised(*drawn[:2], (prior, prior), DELTA)[0], np.nan]
        if (estimate.lower, estimate.upper) != (0, 1):
            found.given[i], found.held[i] = 1, estimate.lower <= prior <= estimate.upper
            at[1] = best_promised(*drawn[:2], worst(estimate.lower), DELTA)[0]
        if scores.shift is not None:
            at = [(logit(one) - own) / scores.shift + scores.shift / 2 for one in at]
        found.known[i], found.recall[i] = np.nan_to_num([scores.rates(one)[0] for one in at])
        found.broken[i] = scores.is_broken(at[1])
    return found


def of_estimated(
    replicates: int, seed: int, scores: str, cases: str, in_use: int, prior: float
) -> dict[str, object]:
    """Broken promises over the interval of an estimated prior."""
    cell = {"scores": scores, "cases": cases, "in_use": in_use, "prior": prior}
    rng, on_edge = np.random.default_rng((seed, ESTIMATED.index(cell))), scores == EDGE
    # The estimates of normal scores take long.
    count = replicates if on_edge else max(replicates // 5, 1)
    positives, negatives = (int(one.replace(",", "")) for one in cases.split(" + "))
    sizes = positives, negatives
    found = of_estimate(rng, None if on_edge else 0.9, sizes, in_use, prior, count)
    return {
        "samples": count, "interval holds": found.held[found.given > 0].mean(),
        "broken": found.broken.mean(), "recall": found.recall.mean(),
        "recall at the known prior": found.known.mean(),
    }  # fmt: skip


def worst(lower: float) -> tuple[float, float]:
    """The end of an interval at which a precision is lowest, to 2 % of itself."""
    end = STEP * np.round(np.log(within_unit(lower, 1.0)[0]) / STEP)
    return float(np.exp(end)), float(np.exp(end))


EDGE, NORMAL = "on the edge", "normal, AUC 0.9"
SCORES = {EDGE: Scores(None), NORMAL: Scores(0.9)}
TABLES = [
    {"constraints": limits, "prior": prior, "positives": positives}
    for limits, prior, positives in product(LIMITS, ENDS, POSITIVES)
]
CLUSTERED = [
    {"patients": patients, "rows": rows, "shared": shared}
    for patients, rows, shared in product(
        ("20 + 80", "10 + 30", "40 of both classes", "50 + 200"), ("10", "1 to 41"),
        (0.0, 0.2, 0.5, 0.9),
    )
]  # fmt: skip
PICKED = [
    {"scores": scores, "models": count, "shared": shared}
    for scores, count, shared in product(SCORES, (2, 3, 8), (0.0, 0.5))
]
ESTIMATED = [
    {"scores": scores, "cases": cases, "in_use": in_use, "prior": prior}
    for scores, cases, in_use, prior in product(
        SCORES, ("50 + 450", "200 + 1,800"), (500, 5_000), (0.05, 0.2)
    )
]
DESIGNS = {
    "tables": Design(TABLES, of_tables, 2000, 1),
    "clusters": Design(CLUSTERED, of_clusters, 2000, 1),
    "models": Design(PICKED, of_models, 1000, 1),
    "estimated": Design(ESTIMATED, of_estimated, 1000, 1),
}
