"""How often the model that `choose` picks is the best, beside the probability that it gives.

The true means of k models are drawn around a common one, so that the standard deviation of their
pairwise differences is so many standard errors of a difference (the spread); at 0 all are equal.
Then data are drawn:

known error
    Models of one error, which is known and is not shared: the posterior by integration, so that
    thousands of replicates take seconds.
60 + 240 cases, 30 + 170 cases
    Scores of one test set, normal in either class, of which the models share half the variance; of
    every second model positives are spread twice as widely. The measure is the AUC.
one test set, one far behind; 10 folds, one far behind
    200 + 800 cases of models of one shape, or folds as below; one more model is ten standard errors
    of a difference below the others.
10 folds, 20 hold-outs
    A number per fold and model, normal. Folds share training cases: their errors are as
    correlated as Nadeau and Bengio's correction takes them to be (a stable learner).
100 folds, unstable
    Ten 10-folds whose errors are so correlated that the standard error is 1.4 times what the
    correction says: where that test errs in 0.16 in place of 0.05 of samples, as was
    measured for a nearest neighbour.
expected cost
    Models with thresholds that were set on 100 + 400 other cases, chosen by expected cost: a miss
    costs five false alarms, and 12.5 % are positive.
"""

from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm, rankdata

import polaroc.models.posterior as module
from polaroc.inference.evidence import FITTED, Evidence, UnitInfluences, evidence_from_folds
from polaroc.models.by_cost import of_costs
from polaroc.models.posterior import at_least_own, half_moved, posterior
from simulations.design import Design
from simulations.rates import judged

MODELS = (2, 3, 8)
SPREADS = (0.0, 0.3, 1.0, 2.0, 4.0)
DRAWS = 1_000
# Of the integration: spreads, and points of a normal error.
KNOWN_NODES, HERMITE = 48, 24
CASES, SHARED, AUC = (200, 800), 0.5, 0.80


class Cases(NamedTuple):
    """One test set; by how many standard errors the last model is behind the others."""

    behind: float = 0.0
    sizes: tuple[int, int] = CASES
    spread: float = 1.0  # of the positives of every second model


class KnownError(NamedTuple):
    """Errors of standard deviation 1."""

    behind: float = 0.0


class Folds(NamedTuple):
    """Folds whose errors are correlated: how many, test over training cases, true over said SE."""

    folds: int
    ratio: float
    factor: float = 1.0
    behind: float = 0.0


class CostCases(NamedTuple):
    """Positives and negatives that thresholds are judged on, and the AUC of the models."""

    positives: int
    negatives: int
    auc: float


PRIOR, COST_FN, TUNING = 0.125, 5.0, (100, 400)
FAR = 10
SHAPES: dict[str, Cases | Folds | KnownError | CostCases] = {
    "one test set, one far behind": Cases(FAR),
    "60 + 240 cases": Cases(sizes=(60, 240), spread=2.0),
    "30 + 170 cases": Cases(sizes=(30, 170), spread=2.0),
    "known error": KnownError(),
    "10 folds": Folds(10, 1 / 9),
    "10 folds, one far behind": Folds(10, 1 / 9, behind=FAR),
    "20 hold-outs": Folds(20, 1 / 4),
    "100 folds, unstable": Folds(100, 1 / 9, 1.4),
    "expected cost, 20 positives": CostCases(20, 80, 0.9),
    "expected cost, few errors": CostCases(100, 400, 0.97),
}


class Answer(NamedTuple):
    """What was said of the picked model, and what is true of it."""

    probability: float
    right: bool
    bias: float  # of its mean
    kept: float  # of its corrected mean
    covered: bool
    loss: float
    lost: float
    losers: float = np.nan  # mean squared error of the corrected means of the others
    losers_measured: float = np.nan


def answers(design: str, models: int, spread: float, replicates: int, seed: int = 0) -> np.ndarray:
    """The answers in so many replicates, one row each."""
    rng = np.random.default_rng((seed, models, int(10 * spread)))
    shape, rows = SHAPES[design], []
    if isinstance(shape, CostCases):
        return answers_by_cost(rng, shape, models, spread, replicates)
    if isinstance(shape, KnownError):
        return by_integration(rng, models, spread, replicates)
    error = standard_error(design)
    for replicate in range(replicates):
        deviations = rng.normal(size=models) * spread * error / 2**0.5
        deviations[-1] -= shape.behind * error
        if isinstance(shape, Cases):
            true = np.clip(AUC + deviations, 0.51, 0.999)
            means, covariance, freedom = of_cases(rng, true, shape)
            evidence = replace(known(means, covariance), degrees_of_freedom=freedom)
        else:
            true = deviations
            values = of_folds(rng, true, shape)
            evidence, means = evidence_from_folds(values, shape.ratio), values.mean(axis=0)
        said = posterior(evidence, draws=DRAWS, seed=replicate)
        if said is None:
            continue
        said = at_least_own(said, evidence, 0.95)
        # Of equal models each is the best as often.
        best = int(true.argmax()) if spread else int(rng.integers(models))
        rows.append(answer(said, means, true, best))
    return np.array(rows, float)


def by_integration(
    rng: np.random.Generator, models: int, spread: float, replicates: int
) -> np.ndarray:
    """The answers on models of one known error."""
    true = spread * rng.normal(size=(replicates, models))
    means = true + rng.normal(size=true.shape)
    said, one = integrated(means), means.argmax(axis=1)
    rows = np.arange(replicates)
    best = true.argmax(axis=1) if spread else rng.integers(models, size=replicates)
    others = np.arange(models) != one[:, None]

    def error(of: np.ndarray) -> np.ndarray:
        return ((of - true) ** 2 * others).sum(axis=1) / (models - 1)

    found = Answer(
        said.probability, best == one, (means - true)[rows, one],
        (said.expected - true)[rows, one], np.full(replicates, np.nan), said.loss,
        true.max(axis=1) - true[rows, one],
        error(np.array([half_moved(*own) for own in zip(said.expected, means, strict=True)])),
        error(means),
    )  # fmt: skip
    return np.stack(np.broadcast_arrays(*found), axis=1).astype(float)


class Integrated(NamedTuple):
    """Of each replicate the corrected means, and what is said of the model with the highest."""

    expected: np.ndarray
    probability: np.ndarray
    loss: np.ndarray


def integrated(means: np.ndarray) -> Integrated:
    """The posterior of means whose errors have the standard deviation 1."""
    models, center = means.shape[1], means.mean(axis=1, keepdims=True)
    around = means - center
    apart = (around**2).sum(axis=1, keepdims=True)
    spreads = np.geomspace(*module.SPREADS, KNOWN_NODES)

    def weights(of: module.Spread) -> np.ndarray:
        prior = -of.freedom * (np.log(spreads) + of.scale**2 / (2 * spreads**2))
        prior[0] = -np.inf
        prior += np.log(1 - of.equal) - np.logaddexp.reduce(prior)
        prior[0] = np.log(of.equal)
        total = 1 + spreads**2
        logs = prior - (models - 1) / 2 * np.log(total) - apart / (2 * total)
        own = np.exp(logs - logs.max(axis=1, keepdims=True))
        return own / own.sum(axis=1, keepdims=True)

    kept, of_best = spreads**2 / (1 + spreads**2), weights(module.OF_BEST)
    expected = center + (weights(module.OF_EXPECTED) @ kept)[:, None] * around
    points, share = np.polynomial.hermite_e.hermegauss(HERMITE)
    share = share / share.sum()
    first = np.take_along_axis(around, means.argmax(axis=1)[:, None], axis=1)
    probability, loss = of_best[:, 0] / models, np.zeros(len(means))
    differ = of_best[:, 1:] / of_best[:, 1:].sum(axis=1, keepdims=True)
    for place, one in enumerate(kept[1:]):
        at, sd = one * around, one**0.5
        ahead = at[:, :, None] - at[:, None, :]
        below = ndtr(ahead[..., None] / sd + points)
        below[:, np.arange(models), np.arange(models)] = 1
        is_best = below.prod(axis=2)
        largest = ((at[:, :, None] + sd * points) * is_best @ share).sum(axis=1)
        chance = np.take_along_axis(is_best @ share, means.argmax(axis=1)[:, None], axis=1)[:, 0]
        probability += of_best[:, place + 1] * chance
        loss += differ[:, place] * (largest - one * first[:, 0])
    return Integrated(expected, probability, loss)


def known(means: np.ndarray, covariance: np.ndarray) -> Evidence:
    """Evidence on models of one test set."""
    return Evidence(range(len(means)), means[None], covariance[None], np.inf, FITTED)


def answer(said: module.Posterior, means: np.ndarray, true: np.ndarray, best: int) -> Answer:
    """What was said of the model with the highest mean, beside what is true."""
    one = means.argmax()
    others = np.arange(len(means)) != one
    return Answer(
        said.probability_best[one],
        best == one,
        means[one] - true[one],
        said.expected[one] - true[one],
        said.lower[one] <= true[one] <= said.upper[one],
        said.expected_loss[one],
        true.max() - true[one],
        ((half_moved(said.expected, means) - true)[others] ** 2).mean(),
        ((means - true)[others] ** 2).mean(),
    )


def answers_by_cost(
    rng: np.random.Generator, shape: CostCases, models: int, spread: float, replicates: int
) -> np.ndarray:
    """The same of models that are chosen with their thresholds, by expected cost."""
    shift = norm.ppf(shape.auc) * 2**0.5
    step = spread * shift_error(shape) / 2**0.5
    rows, counts, of_first, losers = [], [], [], []
    for replicate in range(replicates):
        shifts = shift + step * rng.normal(size=models)
        thresholds = cheapest(*scores_of(rng, shifts, *TUNING))
        truth, scores = scores_of(rng, shifts, shape.positives, shape.negatives)
        true = cost(norm.cdf(thresholds - shifts), norm.sf(thresholds))
        wrong = (scores >= thresholds) != truth[:, None]
        rates = wrong[truth].mean(axis=0), wrong[~truth].mean(axis=0)
        means = cost(*rates)
        covariance = (PRIOR * COST_FN) ** 2 * np.cov(wrong[truth].T) / shape.positives
        covariance += (1 - PRIOR) ** 2 * np.cov(wrong[~truth].T) / shape.negatives
        said = posterior(known(means, covariance), higher=False, draws=DRAWS, seed=replicate)
        if said is None:
            continue
        one = means.argmin()
        of_first.append([values[one] for values in said])
        counts.append([wrong[truth][:, one].sum(), wrong[~truth][:, one].sum()])
        rows.append([means[one], true[one], true.argmin() == one, true.min()])
        others = np.arange(models) != one
        half = half_moved(said.expected, means, higher=False)
        losers.append([((own - true)[others] ** 2).mean() for own in (half, means)])
    missed, alarms = np.array(counts, float).T
    means, true, right, least = np.array(rows, float).T
    sizes = shape.positives, shape.negatives
    called = np.stack([shape.positives - missed, alarms]).astype(int)
    limits = judged(called, sizes, PRIOR, COST_FN)
    exact = (limits[name].to_numpy() for name in ("cost_lower", "cost_upper"))
    said = of_costs(type(said)(*np.array(of_first).T), means, *exact)
    covered = (said.lower <= true) & (true <= said.upper)
    lost = true - least
    # Less is better: the bias is how much too low a cost is.
    return np.column_stack(
        [said.probability_best, right, true - means, true - said.expected, covered,
         said.expected_loss, lost, *np.transpose(losers)]
    )  # fmt: skip


def cost(missed: np.ndarray, alarms: np.ndarray) -> np.ndarray:
    """The expected cost per case."""
    return PRIOR * COST_FN * missed + (1 - PRIOR) * alarms


def cheapest(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The threshold of least cost of each model, the highest where several are."""
    order = np.argsort(-scores, axis=0)
    positive = truth[order]
    costs = cost(1 - np.cumsum(positive, axis=0) / truth.sum(),
                 np.cumsum(~positive, axis=0) / (~truth).sum())  # fmt: skip
    best = costs.argmin(axis=0)
    models = np.arange(scores.shape[1])
    at = scores[order[best, models], models]
    return np.where(costs[best, models] < PRIOR * COST_FN, at, np.inf)


def shift_error(shape: CostCases) -> float:
    """The standard error of a difference of two costs, as one of how far classes are apart."""
    rng, shift = np.random.default_rng(0), norm.ppf(shape.auc) * 2**0.5
    # Where the likelihood ratio is that of the costs.
    at = shift / 2 + np.log((1 - PRIOR) / (PRIOR * COST_FN)) / shift
    truth, scores = scores_of(rng, np.full(2, shift), 40_000, 160_000)
    wrong = (scores >= at) != truth[:, None]
    apart = np.subtract(*wrong.T.astype(float))
    variance = (PRIOR * COST_FN) ** 2 * apart[truth].var() / shape.positives
    variance += (1 - PRIOR) ** 2 * apart[~truth].var() / shape.negatives
    return float(variance**0.5 / (PRIOR * COST_FN * norm.pdf(at - shift)))


def scores_of(
    rng: np.random.Generator, shifts: np.ndarray, positives: int, negatives: int
) -> tuple[np.ndarray, np.ndarray]:
    """Classes and scores of cases, of which models share half the variance."""
    truth = np.arange(positives + negatives) < positives
    own = rng.normal(size=(len(truth), len(shifts)))
    scores = SHARED**0.5 * rng.normal(size=(len(truth), 1)) + (1 - SHARED) ** 0.5 * own
    return truth, scores + truth[:, None] * shifts


def of_folds(rng: np.random.Generator, true: np.ndarray, shape: Folds) -> np.ndarray:
    """Folds × models: what a fold shares among models, what a model shares among folds, noise."""
    own = rng.normal(size=(shape.folds, len(true)))
    # The mean of J values of variance 1 has the variance 1/J + r, at a factor of 1.
    shared = shape.factor**2 * (1 / shape.folds + shape.ratio) - 1 / shape.folds
    among_folds = rng.normal(size=len(true)) * shared**0.5
    return true + own + among_folds + rng.normal(size=(shape.folds, 1))


def standard_error(design: str) -> float:
    """The true standard error of a difference of two equal models."""
    shape = SHAPES[design]
    if isinstance(shape, Folds):
        return shape.factor * (2 * (1 / shape.folds + shape.ratio)) ** 0.5
    rng = np.random.default_rng(0)
    found = [of_cases(rng, np.full(2, AUC), shape)[1] for _ in range(50)]
    return float(np.mean([c[0, 0] + c[1, 1] - 2 * c[0, 1] for c in found])) ** 0.5


def of_cases(
    rng: np.random.Generator, true: np.ndarray, shape: Cases
) -> tuple[np.ndarray, np.ndarray, float]:
    """The AUCs of models on the same cases, and their covariance as DeLong has it.

    With the degrees of freedom that `choose` takes of areas under precision-recall curves.
    """
    positives, negatives = shape.sizes
    spreads = np.where(np.arange(len(true)) % 2, shape.spread, 1.0)
    _, scores = scores_of(rng, np.zeros(len(true)), positives, negatives)
    scores[:positives] = spreads * scores[:positives] + norm.ppf(true) * np.hypot(1, spreads)
    ranks = rankdata(scores, axis=0)
    above = (ranks[:positives] - rankdata(scores[:positives], axis=0)) / negatives
    below = (ranks[positives:] - rankdata(scores[positives:], axis=0)) / positives
    covariance = np.cov(above.T) / positives + np.cov(below.T) / negatives
    parts = tuple((own - own.mean(axis=0)).T[None] / len(own) for own in (above, below))
    moved = UnitInfluences(parts, (1.0, 1.0), shape.sizes)
    pairs = zip(*np.triu_indices(len(true), 1), strict=True)
    freedom = min(
        moved.degrees_of_freedom(moved.difference(first, second)) for first, second in pairs
    )
    return above.mean(axis=0), covariance, freedom


def of_design(
    replicates: int, seed: int, design: str, models: int, spread: float
) -> dict[str, float | None]:
    """What was said and is true, on average; the bias that is kept where models are equal."""
    found = answers(design, models, spread, replicates, seed)
    mean = found.mean(axis=0)
    return {
        "samples": replicates, "said": mean[0], "right": mean[1] if spread else 1 / models,
        "said loss": mean[5] / max(mean[6], 1e-12) if spread else None,
        "error of the others": float((mean[7] / mean[8]) ** 0.5),
        "holds": mean[4], "bias kept": None if spread else mean[3] / mean[2],
        "its error": None if spread else float(found[:, 3].std() / len(found) ** 0.5 / mean[2]),
    }  # fmt: skip


def cells(designs: tuple[str, ...], models: tuple[int, ...], spreads: tuple[float, ...]) -> list:
    """Of each design each number of models with each spread."""
    return [{"design": design, "models": count, "spread": spread}
            for design, count, spread in product(designs, models, spreads)]  # fmt: skip


FEW = ("60 + 240 cases", "30 + 170 cases")
FOLDED = ("10 folds", "20 hold-outs")
BEHIND = ("one test set, one far behind", "10 folds, one far behind")
COSTLY = ("expected cost, 20 positives", "expected cost, few errors")
DESIGNS = {
    "known": Design(cells(("known error",), MODELS, SPREADS), of_design, 3000),
    "cases": Design(cells(FEW, MODELS, SPREADS), of_design, 1000, 3),
    "folds": Design(cells(FOLDED, MODELS, SPREADS), of_design, 500, 3),
    "unstable": Design(cells(("100 folds, unstable",), (2, 3), (1.0, 2.0)), of_design, 250, 3),
    "far": Design(cells(BEHIND, (3, 4), (0.3, 1.0, 2.0)), of_design, 500, 3),
    "costs": Design(cells(COSTLY, MODELS, SPREADS), of_design, 500, 3),
}
