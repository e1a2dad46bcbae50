"""How often the model that `choose` picks is the best, beside the probability that it gives.

The true means of k models are drawn around a common one, so that the standard deviation of their
pairwise differences is so many standard errors of a difference (the spread); at 0 all are equal.
Then data are drawn:

known error
    Models of one error, which is known and is not shared.
60 + 240 cases, 30 + 170 cases
    Scores of one test set, normal in either class, of which the models share half the variance; of
    every second model positives are spread twice as widely. The measure is the AUC.
one test set, one far behind; 10 folds, one far behind
    200 + 800 cases of models of one shape, or folds as below; one more model is ten standard errors
    of a difference below the others.
one imprecise
    Models of known error, of which the last has an error five times as large.
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

from itertools import product
from math import inf
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit, logit, stdtrit
from scipy.stats import norm, rankdata

from polaroc.inference.evidence import FITTED, Evidence, UnitInfluences, evidence_from_folds
from polaroc.models.ranking import Candidates, ranked_models
from simulations.design import Design
from simulations.rates import judged as limits_of

MODELS = (2, 3, 8)
SPREADS = (0.0, 0.3, 1.0, 2.0, 4.0)
LEVEL = 0.95
CASES, SHARED, AUC = (200, 800), 0.5, 0.80


class Known(NamedTuple):
    """Errors of standard deviation 1, but for the last model."""

    last: float = 1.0
    behind: float = 0.0


class Cases(NamedTuple):
    """One test set; by how many standard errors the last model is behind the others."""

    behind: float = 0.0
    sizes: tuple[int, int] = CASES
    spread: float = 1.0  # of the positives of every second model


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
SHAPES: dict[str, Known | Cases | Folds | CostCases] = {
    "known error": Known(),
    "one imprecise": Known(last=5.0),
    "60 + 240 cases": Cases(sizes=(60, 240), spread=2.0),
    "30 + 170 cases": Cases(sizes=(30, 170), spread=2.0),
    "one test set, one far behind": Cases(FAR),
    "10 folds": Folds(10, 1 / 9),
    "10 folds, one far behind": Folds(10, 1 / 9, behind=FAR),
    "20 hold-outs": Folds(20, 1 / 4),
    "100 folds, unstable": Folds(100, 1 / 9, 1.4),
    "expected cost, 20 positives": CostCases(20, 80, 0.9),
    "expected cost, few errors": CostCases(100, 400, 0.97),
}


class Answer(NamedTuple):
    """Statements about the picked model, and their true values."""

    probability: float
    right: bool
    bias: float  # of its mean
    kept: float  # of its corrected mean
    covered: bool
    loss: float
    lost: float
    losers: float  # mean squared error of the corrected means of the others
    losers_measured: float


def answers(design: str, models: int, spread: float, replicates: int, seed: int = 0) -> np.ndarray:
    """The answers in so many replicates, one row each."""
    rng = np.random.default_rng((seed, models, int(10 * spread)))
    shape, rows = SHAPES[design], []
    error = standard_error(design)
    for _ in range(replicates):
        deviations = rng.normal(size=models) * spread * error / 2**0.5
        if isinstance(shape, CostCases):
            true, candidates = of_costs(rng, deviations, shape)
        elif isinstance(shape, Known):
            true, candidates = deviations, of_known(rng, deviations, shape)
        else:
            deviations[-1] -= shape.behind * error
            if isinstance(shape, Cases):
                true = np.clip(AUC + deviations, 0.51, 0.999)
                candidates = of_cases(rng, true, shape)
            else:
                true, candidates = deviations, of_folds(rng, deviations, shape)
        # Of equal models each is the best as often.
        sign = 1 if candidates.higher else -1
        best = int((sign * true).argmax()) if spread else int(rng.integers(models))
        row = answer(candidates, true, best)
        rows += [] if row is None else [row]
    return np.array(rows, float)


def answer(candidates: Candidates, true: np.ndarray, best: int) -> Answer | None:
    """Statements about the model with the best mean, and their true values; None without any."""
    ranked, _ = ranked_models(candidates, LEVEL)
    first, sign = ranked.row(0, named=True), 1 if candidates.higher else -1
    if first["probability_best"] is None:
        return None
    one, found = first["model"], ranked.sort("model")
    others = np.arange(len(true)) != one
    off = [(found[name].to_numpy() - true)[others] for name in ("expected", "mean")]
    lower, upper = first["expected_lower"], first["expected_upper"]
    return Answer(
        first["probability_best"], best == one, sign * (first["mean"] - true[one]),
        sign * (first["expected"] - true[one]),
        lower is not None and lower <= true[one] <= upper, first["expected_loss"],
        sign * ((sign * true).max() * sign - true[one]), *((own**2).mean() for own in off),
    )  # fmt: skip


def judged_by(
    evidence: Evidence, ends: tuple[np.ndarray, np.ndarray] | None = None, *, higher: bool = True,
    bounds: tuple[float, float] = (-inf, inf),
) -> Candidates:  # fmt: skip
    """Candidates to choose from, with the limits of each by itself."""
    means = evidence.estimates
    if ends is None:
        ends = tuple(end[0] for end in evidence.limits(LEVEL))
    models = pl.Series("model", range(means.shape[1]))
    no_priors = means[..., None][..., :0], ()
    return Candidates(models, evidence, means, ends, *no_priors, higher, bounds, False)


def of_known(rng: np.random.Generator, true: np.ndarray, shape: Known) -> Candidates:
    """Means with known errors that are not shared."""
    errors = np.ones(len(true))
    errors[-1] = shape.last
    return judged_by(known(true + errors * rng.normal(size=len(true)), np.diag(errors**2)))


def known(means: np.ndarray, covariance: np.ndarray) -> Evidence:
    """Evidence on models of one test set, by units whose influences have this covariance."""
    units = UnitInfluences((np.linalg.cholesky(covariance)[None],), (1.0,), (len(means),))
    return Evidence(range(len(means)), means[None], covariance[None], inf, FITTED, influences=units)


def of_costs(
    rng: np.random.Generator, deviations: np.ndarray, shape: CostCases
) -> tuple[np.ndarray, Candidates]:
    """The true costs of models with thresholds from other cases, and what is measured of them."""
    shifts = norm.ppf(shape.auc) * 2**0.5 + deviations
    thresholds = cheapest(*scores_of(rng, shifts, *TUNING))
    truth, scores = scores_of(rng, shifts, shape.positives, shape.negatives)
    wrong = (scores >= thresholds) != truth[:, None]
    rates = wrong[truth].mean(axis=0), wrong[~truth].mean(axis=0)
    covariance = (PRIOR * COST_FN) ** 2 * np.cov(wrong[truth].T) / shape.positives
    covariance += (1 - PRIOR) ** 2 * np.cov(wrong[~truth].T) / shape.negatives
    called = np.stack([(~wrong[truth]).sum(axis=0), wrong[~truth].sum(axis=0)])
    exact = limits_of(called, (shape.positives, shape.negatives), PRIOR, COST_FN)
    ends = tuple(exact[name].to_numpy() for name in ("cost_lower", "cost_upper"))
    true = cost(norm.cdf(thresholds - shifts), norm.sf(thresholds))
    return true, judged_by(known(cost(*rates), covariance), ends, higher=False, bounds=(0.0, inf))


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


def of_folds(rng: np.random.Generator, true: np.ndarray, shape: Folds) -> Candidates:
    """An effect of each fold, an effect of each model, and noise."""
    own = rng.normal(size=(shape.folds, len(true)))
    # The mean of J values of variance 1 has the variance 1/J + r, at a factor of 1.
    shared = shape.factor**2 * (1 / shape.folds + shape.ratio) - 1 / shape.folds
    among_folds = rng.normal(size=len(true)) * shared**0.5
    values = true + own + among_folds + rng.normal(size=(shape.folds, 1))
    return judged_by(evidence_from_folds(values, shape.ratio))


def standard_error(design: str) -> float:
    """The true standard error of a difference of two equal models, of costs as one of shifts."""
    shape = SHAPES[design]
    if isinstance(shape, CostCases):
        return shift_error(shape)
    if isinstance(shape, Known):
        return 2**0.5
    if isinstance(shape, Folds):
        return shape.factor * (2 * (1 / shape.folds + shape.ratio)) ** 0.5
    rng = np.random.default_rng(0)
    found = [of_cases(rng, np.full(2, AUC), shape).evidence.covariance[0] for _ in range(50)]
    return float(np.mean([c[0, 0] + c[1, 1] - 2 * c[0, 1] for c in found])) ** 0.5


def of_cases(rng: np.random.Generator, true: np.ndarray, shape: Cases) -> Candidates:
    """The AUCs of models on the same cases, and their covariance as DeLong has it.

    Limits are on the scale of log-odds, or from the number of cases where a model is perfect; those
    of `evaluate`, which `choose` takes, are the same or wider.
    """
    positives, negatives = shape.sizes
    spreads = np.where(np.arange(len(true)) % 2, shape.spread, 1.0)
    _, scores = scores_of(rng, np.zeros(len(true)), positives, negatives)
    scores[:positives] = spreads * scores[:positives] + norm.ppf(true) * np.hypot(1, spreads)
    ranks = rankdata(scores, axis=0)
    above = (ranks[:positives] - rankdata(scores[:positives], axis=0)) / negatives
    below = (ranks[positives:] - rankdata(scores[positives:], axis=0)) / positives
    covariance = np.cov(above.T) / positives + np.cov(below.T) / negatives
    means, few = above.mean(axis=0), min(shape.sizes)
    inner = np.clip(means, 1e-9, 1 - 1e-9)
    reach = stdtrit(few - 1, (1 + LEVEL) / 2) * np.sqrt(covariance.diagonal())
    reach /= inner * (1 - inner)
    perfect = means == 1
    lower = np.where(perfect, ((1 - LEVEL) / 2) ** (1 / few), expit(logit(inner) - reach))
    upper = np.where(perfect, 1.0, expit(logit(inner) + reach))
    return judged_by(known(means, covariance), (lower, upper), bounds=(0.0, 1.0))


def of_design(
    replicates: int, seed: int, design: str, models: int, spread: float
) -> dict[str, float | None]:
    """Means of statements and true values; the bias that is kept where models are equal."""
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
    """Each number of models with each spread, for each design."""
    return [{"design": design, "models": count, "spread": spread}
            for design, count, spread in product(designs, models, spreads)]  # fmt: skip


FEW = ("60 + 240 cases", "30 + 170 cases")
FOLDED = ("10 folds", "20 hold-outs")
BEHIND = ("one test set, one far behind", "10 folds, one far behind")
COSTLY = ("expected cost, 20 positives", "expected cost, few errors")
DESIGNS = {
    "known": Design(cells(("known error",), MODELS, SPREADS), of_design, 600, 3),
    "imprecise": Design(cells(("one imprecise",), (3,), (0.3, 1.0, 2.0)), of_design, 600, 3),
    "cases": Design(cells(FEW, MODELS, SPREADS), of_design, 250, 3),
    "folds": Design(cells(FOLDED, MODELS, SPREADS), of_design, 400, 3),
    "unstable": Design(cells(("100 folds, unstable",), (2, 3), (1.0, 2.0)), of_design, 250, 3),
    "far": Design(cells(BEHIND, (3, 4), (0.3, 1.0, 2.0)), of_design, 400, 3),
    "costs": Design(cells(COSTLY, MODELS, SPREADS), of_design, 200, 3),
}
