"""Tests of whether any of several models differ, on one number per fold and model."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from math import factorial, inf, isinf, prod
from typing import Any

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING
from polaroc.comparison.design import Plan
from polaroc.typing import Array
from polaroc.uncertainty.adjusted import Adjusted
from polaroc.uncertainty.evidence import Contrasts, Evidence, common_variance, of_folds

# Number of arrangements up to which the permutation test is exact.
MAX_EXACT = 100_000
CHUNK = 20_000
OMNIBUS = {
    "test": pl.String, "statistic": pl.Float64, "df1": pl.Float64, "df2": pl.Float64,
    "p_value": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test of all models at once."""

    test: str
    statistic: float
    df1: float | None
    df2: float | None
    p_value: float


def frame(tests: list[Outcome]) -> pl.DataFrame:
    """The tests as the table `omnibus`."""
    return pl.DataFrame([vars(test) for test in tests], schema=OMNIBUS, orient="row")


def outcomes(values: "Array", plan: Plan, evidence: Evidence) -> list[Outcome]:
    """The outcomes of the tests for a target, the primary one first."""
    if plan.target == "algorithm":
        return [f_test("Nadeau-Bengio corrected F", evidence)]
    two_way = f_test("repeated-measures F", evidence)
    return [
        f_test("Greenhouse-Geisser F", evidence, sphericity(values)),
        two_way,
        replace(two_way, **permutation(values, plan.permutations, plan.seed)),
        *friedman(values),
    ]


def of_pairs(test: str, pairs: Contrasts, adjusted: Adjusted) -> Outcome:
    """The test by the largest |t| of all pairs, with the least adjusted p-value."""
    largest, freedom = float(np.abs(pairs.statistic).max()), pairs.freedom
    least = float(adjusted.p_value.min())
    return Outcome(test, largest, None, None if isinf(freedom) else freedom, least)


def rounded(values: "Array") -> "Array":
    """Round off the digits in which equal sums of floats may differ."""
    largest = np.abs(values).max(initial=0.0)
    if largest == 0:
        return values
    # Scaling by a power of two is exact.
    scale = 2.0 ** np.ceil(np.log2(largest))
    digits: Array = np.round(values / scale, 12) * scale
    return digits


def rounding_floor(values: "Array") -> float:
    """Largest sum of squares due to rounding alone."""
    largest = float(np.abs(values).max(initial=0.0))
    return values.size * (ROUNDING * largest) ** 2


def f_ratio(between: float, residual: float) -> float:
    """F; 0 where the models do not differ at all."""
    if between == 0:
        return 0.0
    return between / residual if residual > 0 else inf


def f_test(test: str, evidence: Evidence, sphericity: float = 1.0) -> Outcome:
    """F of the models in a two-way layout with folds, by one variance for all of them.

    Of evidence whose folds share nothing it is that of repeated measures; with the variance of
    Nadeau and Bengio it is that over 1 + J·r, of J folds. The degrees of freedom are multiplied
    by Greenhouse and Geisser's ε.
    """
    from scipy.special import fdtrc

    means = evidence.estimates[0]
    between = float(((means - means.mean()) ** 2).sum())
    least = rounding_floor(means)
    models = len(means) - 1
    f = f_ratio((between if between > least else 0.0) / models, common_variance(evidence))
    df1, df2 = sphericity * models, sphericity * models * evidence.freedom
    return Outcome(test, f, df1, df2, float(fdtrc(df1, df2, f)))


def sphericity(values: "Array") -> float:
    """Greenhouse and Geisser's ε of folds × models, from 1/(I−1) to 1."""
    centred = values - values.mean(axis=1, keepdims=True)
    centred = centred - centred.mean(axis=0)
    covariance = centred.T @ centred
    if np.trace(covariance) <= rounding_floor(values):
        return 1.0
    models, size = values.shape[1], float((covariance**2).sum())
    epsilon: float = np.trace(covariance) ** 2 / ((models - 1) * size)
    return min(1.0, epsilon)


def friedman(values: "Array") -> tuple[Outcome, Outcome]:
    """Friedman's χ² of the ranks within folds, and the F of Iman and Davenport."""
    from scipy.stats import chi2, rankdata

    ranks = rankdata(rounded(values), axis=1)
    folds, models = ranks.shape
    iman = f_test("Iman-Davenport F", of_folds(ranks, 0))
    if iman.statistic == inf:
        # All folds rank alike: F is infinite, its p-value is not zero.
        iman = replace(iman, p_value=_chance_of_agreement(ranks))
    explained = 1 / (1 + (folds - 1) / iman.statistic) if iman.statistic else 0.0
    chi = folds * (models - 1) * explained
    return Outcome("Friedman χ²", chi, models - 1, None, float(chi2.sf(chi, models - 1))), iman


def permutation(values: "Array", permutations: int, seed: int) -> dict[str, Any]:
    """The models' labels permuted within folds: exact where few arrangements, else seeded."""
    table = rounded(values)
    table = table - table.mean(axis=1, keepdims=True)
    seen = float((table.mean(axis=0) ** 2).sum())
    least = seen * (1 - 1e-9) - rounding_floor(values)
    folds, models = values.shape
    count = 0
    # By symmetry the first fold may stay fixed.
    exact = factorial(models) ** (folds - 1) <= MAX_EXACT
    drawn = _all_arrangements(folds, models) if exact else _draws(values.shape, permutations, seed)
    total = 0
    for order in drawn:
        sums = np.take_along_axis(table[None], order, axis=2).mean(axis=1)
        count += int(((sums**2).sum(axis=1) >= least).sum())
        total += len(order)
    chance = count / total if exact else (count + 1) / (total + 1)
    kind = "exact" if exact else f"{total} draws"
    test = f"within-fold permutation, {kind}"
    return {"test": test, "df1": None, "df2": None, "p_value": chance}


def _all_arrangements(folds: int, models: int) -> Iterator["Array"]:
    orders = np.array(list(permutations(range(models))))
    choices = product(range(len(orders)), repeat=folds - 1)
    while chosen := list(islice(choices, CHUNK)):
        picks = np.array(chosen, dtype=np.int64).reshape(len(chosen), folds - 1)
        first = np.zeros((len(chosen), 1), np.int64)
        yield orders[np.concatenate([first, picks], axis=1)]


def _draws(shape: tuple[int, ...], count: int, seed: int) -> Iterator["Array"]:
    rng = np.random.default_rng(seed)
    size = max(1, 1_000_000 // prod(shape))
    for start in range(0, count, size):
        yield np.argsort(rng.random((min(size, count - start), *shape)), axis=2)


def _chance_of_agreement(ranks: "Array") -> float:
    """The chance that all folds rank as the first does."""
    folds, models = ranks.shape
    ties = np.unique(ranks[0], return_counts=True)[1]
    alike = prod(factorial(int(tied)) for tied in ties) / factorial(models)
    return float(alike ** (folds - 1))
