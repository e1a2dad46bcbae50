"""Fitted models on one test set: tests of their differences, paired by case."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import erfc, sqrt
from typing import Any, TypeAlias, Unpack

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.lazy import np
from polaroc.base.statistics import normal
from polaroc.comparison.paired_cases import (
    NO_DIFFERENCE,
    NO_VARIANCE,
    PAIR,
    Block,
    PairedCases,
    blocks_of,
    read_cases,
)
from polaroc.errors import Hint, InvalidArgument, check_choice, quoted
from polaroc.measures.catalog import CATALOG, default_measures, select_measures
from polaroc.measures.scoring import OF_CASES
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence
from polaroc.predictions.roles import Columns, RoleName
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.priors.beliefs import Belief
from polaroc.typing import Interpolation, Prior, Priors
from polaroc.uncertainty.adjusted import holm_factors
from polaroc.uncertainty.intervals import check_interpolation

# Difference, standard error, limits, statistic and p-value.
Numbers: TypeAlias = tuple[float | None, ...]


USED: tuple[RoleName, ...] = ("truth", "score", "positive", "model", "fold", "case", "by")
NO_BEARING: tuple[RoleName, ...] = ("subgroup", "time", "test_train_ratio")


@frame_of_cases(USED, no_bearing=[*NO_BEARING, "score_prior"])
def delong(cases: Cases[Any], *, level: float = 0.95, **columns: Unpack[Columns]) -> pl.LazyFrame:
    """DeLong's test of each two models' AUC on one test set.

    Parameters
    ----------
    cases
        One row per case and model, or per case with one column of scores per model: the
        result of `cases`, or any table that it takes. A case must have one row per model, with
        one truth; in a table with one column of scores per model each row is a case. With
        ``case=None`` every model has a test set of its own, independent of the others.
        Each fold, and each value of `by`, is tested alone.
    **columns
    level
        Coverage of the limits, in (0, 1).

    Returns
    -------
    Frame of the kind given
        One row per pair of models, value of `by` and fold, sorted: these keys; `model_a`,
        `model_b` (named after the column of the models); Float64 `difference`, the AUC of a
        less that of b, `std_error`, `lower`, `upper`, `statistic` (normal where
        models are equal), `p_value` (two-sided) and `p_adjusted` (Holm, over
        the pairs of a test set). Models with the same curve and the same
        influence of every case differ by 0, with the p-value 1. What cannot
        be told is null: all where a class is absent, all but the difference
        where a class has one case. `note` String, null, or that cases are not
        independent, as a column such as "patient" of a frame in memory shows.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        Cases that a model lacks or has twice, or whose truth differs between
        models, with their number and the first of them; fewer than two models;
        as in `curve`.

    Notes
    -----
    DeLong, DeLong and Clarke-Pearson (1988). Computed at once, also from a lazy
    frame.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.satellite_predictions().filter(fold=1)
    >>> pairs = pr.delong(table, truth="truth", score="score", fold=None)
    >>> pairs.select("model_a", "model_b", pl.col("p_adjusted") < 0.05).rows()
    [('A', 'B', True), ('A', 'C', True), ('B', 'C', True)]
    """
    measure = single_measure("auc", "observed", None, "exact")
    return paired_tests(cases, measure, level)


def paired_tests(cases: Cases[Any], measure: Measure, level: float = 0.95) -> pl.LazyFrame:
    """The tests of `delong` for any one measure."""
    check_share("level", level)
    paired = read_cases(cases)
    pairs = pairs_of(paired, blocks_of(paired, measure), level)
    return pairs.lazy().with_columns(pl.lit(dependence(cases), pl.String).alias("note"))


def pairs_of(cases: PairedCases, blocks: Iterable[Block], level: float = 0.95) -> pl.DataFrame:
    """The tests of each two models, block by block."""
    rows: list[tuple[object, ...]] = []
    for block in blocks:
        pairs = list(combinations(range(len(block.models)), 2))
        tests = [_wald(block, a, b, level) for a, b in pairs]
        adjusted = holm_of_known([numbers[-1] for numbers in tests])
        for (a, b), numbers, p_adjusted in zip(pairs, tests, adjusted, strict=True):
            rows.append((*block.key, block.models[a], block.models[b], *numbers, p_adjusted))
    given = cases.rows.schema
    schema = (
        {key: given[key] for key in cases.blocks}
        | {f"{cases.model}_{side}": given[cases.model] for side in ("a", "b")}
        | dict.fromkeys(PAIR, pl.Float64())
    )
    return pl.DataFrame(rows, schema=schema, orient="row")


def holm_of_known(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjustment of those that are known.

    Examples
    --------
    >>> holm_of_known([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = np.array([p for p in p_values if p is not None], dtype=float)
    adjusted = iter(np.minimum(holm_factors(known) * known, 1).tolist())
    return [None if p is None else next(adjusted) for p in p_values]


def single_measure(
    name: str,
    prior: Prior,
    over: tuple[float, float] | Belief | None,
    interpolation: Interpolation,
    score_prior: Prior = "observed",
) -> Measure:
    """The one measure that is compared; raise where there is none or more."""
    allowed = (*default_measures(), *OF_CASES)
    if isinstance(name, str) and name in CATALOG and name not in allowed:
        raise InvalidArgument(
            f"measure is {name!r}, which has no standard error on one test set.",
            hint=Hint("compare it over several folds, with {test_train_ratio}, or take one of "
                      f"{quoted(allowed)}.", test_train_ratio=0.25),
        )  # fmt: skip
    check_choice("measure", name, allowed)
    if name in ("auprec", "iauprec"):
        check_interpolation(interpolation)
    priors: Priors = [prior] if isinstance(prior, str | float | int) else prior
    selected = select_measures(name, priors, over, interpolation, score_prior=score_prior).measures
    if len(selected) != 1:
        raise InvalidArgument(
            f"prior is {prior!r}, allowed is one prior.", hint="test one prior at a time."
        )
    return selected[0]


def _wald(block: Block, a: int, b: int, level: float) -> Numbers:
    """Wald test of two models."""
    difference = float(block.estimates[a] - block.estimates[b])
    variance = block.variance(a, b)
    if difference != difference:
        return (None,) * 6
    if variance != variance:
        return difference, None, None, None, None, None
    if variance < NO_VARIANCE:
        if abs(difference) < NO_DIFFERENCE:
            return 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
        return difference, 0.0, None, None, None, None
    error = variance**0.5
    width, statistic = normal(level) * error, difference / error
    p = erfc(abs(statistic) / sqrt(2))
    return difference, error, difference - width, difference + width, statistic, p
