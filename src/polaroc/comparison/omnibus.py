"""Tests of whether any of several models differ, on one number per fold and model."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, permutations, product
from math import factorial, inf, prod

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING
from polaroc.comparison.design import Plan
from polaroc.typing import Array

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


def outcomes(values: "Array", plan: Plan) -> list[Outcome]:
    """The outcomes of the tests for a target, the primary one first."""
    if plan.target == "algorithm":
        return [corrected(values, plan.test_train_ratio or 0.0)]
    return [
        greenhouse_geisser(values),
        repeated_measures(values),
        permutation(values, plan.permutations, plan.seed),
        *friedman(values),
    ]


def rounded(values: "Array") -> "Array":
    """Round off the digits in which equal sums of floats may differ."""
    largest = np.abs(values).max(initial=0.0)
    if largest == 0:
        return values
    # Scaling by a power of two is exact.
    scale = 2.0 ** np.ceil(np.log2(largest))
    digits: Array = np.round(values / scale, 12) * scale
    return digits


def two_way(values: "Array") -> tuple[float, float]:
    """Mean squares of the models and of the residual, folds × models, main effects only."""
    blocks, models = values.shape
    centred = values - values.mean(axis=1, keepdims=True)
    means = centred.mean(axis=0)
    between = blocks * float((means**2).sum())
    residual = float(((centred - means) ** 2).sum())
    least = rounding_floor(values)
    return (
        (between if between > least else 0.0) / (models - 1),
        (residual if residual > least else 0.0) / ((models - 1) * (blocks - 1)),
    )


def rounding_floor(values: "Array") -> float:
    """Largest sum of squares due to rounding alone."""
    largest = float(np.abs(values).max(initial=0.0))
    return values.size * (ROUNDING * largest) ** 2


def f_ratio(between: float, residual: float) -> float:
    """F; 0 where the models do not differ at all."""
    if between == 0:
        return 0.0
    return between / residual if residual > 0 else inf


def repeated_measures(values: "Array") -> Outcome:
    """F of the models in a two-way layout with folds: repeated measures, sphericity assumed."""
    return _f_test("repeated-measures F", f_ratio(*two_way(values)), *_degrees(values))


def corrected(values: "Array", test_train_ratio: float) -> Outcome:
    """The repeated-measures F over 1 + J·r: Nadeau and Bengio's correction for J folds."""
    inflation = 1 + values.shape[0] * test_train_ratio
    statistic = f_ratio(*two_way(values)) / inflation
    return _f_test("Nadeau-Bengio corrected F", statistic, *_degrees(values))


def greenhouse_geisser(values: "Array") -> Outcome:
    """The repeated-measures F with its degrees of freedom times Greenhouse and Geisser's ε."""
    epsilon = sphericity(values)
    df1, df2 = _degrees(values)
    statistic = f_ratio(*two_way(values))
    return _f_test("Greenhouse-Geisser F", statistic, epsilon * df1, epsilon * df2)


def sphericity(values: "Array") -> float:
    """Greenhouse and Geisser's ε, from 1/(I−1) to 1."""
    models = values.shape[1]
    if two_way(values)[1] == 0:
        return 1.0
    centred = values - values.mean(axis=1, keepdims=True)
    centred = centred - centred.mean(axis=0)
    covariance = centred.T @ centred
    size = float((covariance**2).sum())
    epsilon: float = np.trace(covariance) ** 2 / ((models - 1) * size)
    return min(1.0, epsilon)


def friedman(values: "Array") -> tuple[Outcome, Outcome]:
    """Friedman's χ² of the ranks within folds, and the F of Iman and Davenport."""
    from scipy.stats import chi2, rankdata

    ranks = rankdata(rounded(values), axis=1)
    blocks, models = values.shape
    mean = (models + 1) / 2
    spread = float(((ranks - mean) ** 2).sum()) / (blocks * (models - 1))
    df1, df2 = _degrees(values)
    if spread == 0:
        return (
            Outcome("Friedman χ²", 0.0, df1, None, 1.0),
            Outcome("Iman-Davenport F", 0.0, df1, df2, 1.0),
        )
    statistic = blocks * float(((ranks.mean(axis=0) - mean) ** 2).sum()) / spread
    chi = Outcome("Friedman χ²", statistic, df1, None, float(chi2.sf(statistic, df1)))
    if (ranks == ranks[0]).all():
        # All folds rank alike: F is infinite, its p-value is not zero.
        return chi, Outcome("Iman-Davenport F", inf, df1, df2, _chance_of_agreement(ranks))
    ratio = (blocks - 1) * statistic / (blocks * (models - 1) - statistic)
    return chi, _f_test("Iman-Davenport F", ratio, df1, df2)


def permutation(values: "Array", permutations: int, seed: int) -> Outcome:
    """The models' labels permuted within folds: exact where few arrangements, else seeded."""
    table = rounded(values)
    table = table - table.mean(axis=1, keepdims=True)
    seen = float((table.mean(axis=0) ** 2).sum())
    least = seen * (1 - 1e-9) - rounding_floor(values)
    blocks, models = values.shape
    count = 0
    # By symmetry the first fold may stay fixed.
    exact = factorial(models) ** (blocks - 1) <= MAX_EXACT
    drawn = _all_arrangements(blocks, models) if exact else _draws(values.shape, permutations, seed)
    total = 0
    for order in drawn:
        sums = np.take_along_axis(table[None], order, axis=2).mean(axis=1)
        count += int(((sums**2).sum(axis=1) >= least).sum())
        total += len(order)
    chance = count / total if exact else (count + 1) / (total + 1)
    kind = "exact" if exact else f"{total} draws"
    return Outcome(
        f"within-fold permutation, {kind}", f_ratio(*two_way(values)), None, None, chance
    )


def _all_arrangements(blocks: int, models: int) -> Iterator["Array"]:
    orders = np.array(list(permutations(range(models))))
    choices = product(range(len(orders)), repeat=blocks - 1)
    while chosen := list(islice(choices, CHUNK)):
        picks = np.array(chosen, dtype=np.int64).reshape(len(chosen), blocks - 1)
        first = np.zeros((len(chosen), 1), np.int64)
        yield orders[np.concatenate([first, picks], axis=1)]


def _draws(shape: tuple[int, ...], count: int, seed: int) -> Iterator["Array"]:
    rng = np.random.default_rng(seed)
    size = max(1, 1_000_000 // prod(shape))
    for start in range(0, count, size):
        yield np.argsort(rng.random((min(size, count - start), *shape)), axis=2)


def _degrees(values: "Array") -> tuple[float, float]:
    blocks, models = values.shape
    return models - 1, (models - 1) * (blocks - 1)


def _f_test(name: str, statistic: float, df1: float, df2: float) -> Outcome:
    from scipy.special import fdtrc

    return Outcome(name, statistic, df1, df2, float(fdtrc(df1, df2, statistic)))


def _chance_of_agreement(ranks: "Array") -> float:
    """The chance that all folds rank as the first does."""
    blocks, models = ranks.shape
    ties = np.unique(ranks[0], return_counts=True)[1]
    alike = prod(factorial(int(tied)) for tied in ties) / factorial(models)
    return float(alike ** (blocks - 1))
