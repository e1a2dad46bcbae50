"""How often promises are broken of a model that was picked, and at a prior that was estimated.

``python tests/benchmarks/promised_choices.py [models] [estimated] [--runs N] [--seed S] [--write]``

A precision of .5 is promised at 95 %, of normal scores, and of scores on the edge, which are a hair
short of it at every threshold, so that any promise is broken. Standard errors are
√(share (1 − share) / samples). ``--write`` puts the tables into docs/concepts/promises.md.

models
    Thresholds of several models, whose scores share a part of their variance, are promised on 50
    positives and 450 negatives, a tuning half, at a prior of 10 %; a model is picked by the recall
    that the tuning half says it has at its promised threshold, by the expected cost at this
    threshold on a test half of as many cases (a missed positive costs five false alarms), or by its
    area there. How often the promise of the model that was picked is broken, where each model has
    the whole error rate of .05, and where they share it; and the true recall, 0 without a promise.
estimated
    The prior in use is estimated from unlabelled scores, with the tuning cases as the reference,
    and the promise is one over the 95 % interval. How often the interval holds the prior; how often
    the promise is broken *at the prior in use*, whether the interval holds it or not; the true
    recall, and that of a promise at the prior itself. The lower end, where precision is lowest, is
    rounded to 2 % of itself, so that samples share the boundaries that are simulated. Of normal
    scores, whose estimates take long, there are a fifth as many samples.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm, rankdata

from polaroc.base.statistics import normal
from polaroc.deployment.estimators import adjusted_count, em_prior
from polaroc.priors.in_use import within_unit
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.promises import Sample, promised

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "support")]
from clusters import as_page_table, write_table  # noqa: E402
from simulations import labelled, unlabelled  # noqa: E402

PAGE = HERE.parents[1] / "docs" / "concepts" / "promises.md"
LIMIT, PRIOR, DELTA, COST_FN = 0.5, 0.1, 0.05, 5.0
POSITIVES, NEGATIVES = 50, 450
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


def share(values: object, runs: int) -> str:
    """A share with its standard error."""
    mean = float(np.mean(values))
    return f"{mean:.3f} ({(mean * (1 - mean) / runs) ** 0.5:.3f})"


def cases(
    rng: np.random.Generator, scores: Scores, models: int, shared: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the positives and of the negatives of one half, a column per model."""
    halves = []
    for count, positive in ((POSITIVES, True), (NEGATIVES, False)):
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


def models(runs: int, seed: int) -> Iterator[dict[str, object]]:
    """Broken promises of the model that is picked, by how it is."""
    kinds = product((Scores(None), Scores(0.9)), (2, 3, 8), (0.0, 0.5))
    for place, (scores, count, shared) in enumerate(kinds):
        rng = np.random.default_rng((seed, place))
        broken, recall = of_picked(rng, scores, count, shared, runs)
        row = {"scores": scores.words, "models": count, "variance shared": shared}
        for j, whose in enumerate(("each .05", "shared")):
            row |= {
                f"{whose}: by {way}": share(broken[:, j, k], runs) for k, way in enumerate(WAYS)
            }
        yield row | {
            "recall, each .05": f"{recall[:, 0].mean():.3f}",
            "recall, shared": f"{recall[:, 1].mean():.3f}",
        }


class AtEstimate(NamedTuple):
    """Of each sample, whether there was an interval, it held, the promise broke; recalls."""

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
    """Promises over the interval of the prior, by "em" of normal scores, else by "confusion"."""
    (pos, neg), scores, z = sizes, Scores(auc, prior), normal(1 - DELTA)
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
        reference = labelled(np.concatenate(drawn[:2]), np.repeat([1, 0], [pos, neg]))
        estimator = adjusted_count if scores.shift is None else em_prior
        estimate = estimator(reference, unlabelled(np.concatenate(drawn[2:])), z)
        at = [best_promised(*drawn[:2], (prior, prior), DELTA)[0], np.nan]
        if estimate.lower is not None and estimate.upper is not None:
            found.given[i], found.held[i] = 1, estimate.lower <= prior <= estimate.upper
            at[1] = best_promised(*drawn[:2], worst(estimate.lower), DELTA)[0]
        if scores.shift is not None:
            at = [(logit(one) - own) / scores.shift + scores.shift / 2 for one in at]
        found.known[i], found.recall[i] = np.nan_to_num([scores.rates(one)[0] for one in at])
        found.broken[i] = scores.is_broken(at[1])
    return found


def estimated(samples: int, seed: int) -> Iterator[dict[str, object]]:
    """Broken promises over the interval of an estimated prior."""
    kinds = product((None, 0.9), ((50, 450), (200, 1_800)), (500, 5_000), (0.05, 0.2))
    for place, (auc, (pos, neg), deployed, prior) in enumerate(kinds):
        rng, runs = np.random.default_rng((seed, place)), samples if auc is None else samples // 5
        found = of_estimate(rng, auc, (pos, neg), deployed, prior, runs)
        yield {
            "scores": Scores(auc).words, "tuning cases": f"{pos} + {neg:,}",
            "scores in use": f"{deployed:,}", "prior": prior, "samples": f"{runs:,}",
            "interval holds": share(found.held[found.given > 0], int(found.given.sum())),
            "broken": share(found.broken, runs), "recall": f"{found.recall.mean():.3f}",
            "recall at the known prior": f"{found.known.mean():.3f}",
        }  # fmt: skip


def worst(lower: float) -> tuple[float, float]:
    """The end of an interval at which a precision is lowest, to 2 % of itself."""
    end = STEP * np.round(np.log(within_unit(lower, 1.0)[0]) / STEP)
    return float(np.exp(end)), float(np.exp(end))


PARTS = {"models": models, "estimated": estimated}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"to {PAGE.name}, between its marks")
    arguments = parser.parse_args()
    for part in arguments.parts or PARTS:
        table = as_page_table([*PARTS[part](arguments.runs, arguments.seed)])
        print(
            f"{part}, {arguments.runs:,} samples a row, seed {arguments.seed}\n{table}", flush=True
        )
        if arguments.write:
            write_table(f"promises: {part}", table, PAGE)


if __name__ == "__main__":
    main()
