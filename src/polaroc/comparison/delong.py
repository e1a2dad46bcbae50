"""Fitted models on one test set: tests of their differences, paired by case."""

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.checks import check_share
from polaroc.base.columns import with_level
from polaroc.base.lazy import np
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
from polaroc.uncertainty.evidence import Contrasts, Evidence, all_pairs
from polaroc.uncertainty.intervals import check_interpolation
from polaroc.uncertainty.scored_cases import PAIR, ComparedCases, read_cases
from polaroc.uncertainty.test_sets import of_test_set

USED: tuple[RoleName, ...] = (
    "truth",
    "score",
    "positive",
    "model",
    "fold",
    "case",
    "cluster",
    "by",
)
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
        Each fold, and each value of `by`, is tested alone. With `cluster`, cases of one cluster
        are not taken for independent.
    **columns
    level
        Coverage of the limits, in (0, 1).

    Returns
    -------
    Frame of the kind given
        One row per pair of models, value of `by` and fold, sorted: these keys; `model_a`,
        `model_b` (named after the column of the models); Float64 `difference`, the AUC of a
        less that of b, `std_error`, `lower`, `upper`, `level`, `statistic` (normal where
        models are equal, with clusters Student's t), `p_value` (two-sided) and
        `p_adjusted` (Holm, over the pairs of a test set). Models with the same curve and the same
        influence of every case differ by 0, with the p-value 1. What cannot
        be told is null: all where a class is absent, all but the difference
        where a class has one case or one cluster. `note` String, null, or that cases are not
        independent, as a column such as "patient" of a frame in memory shows.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        Cases that a model lacks or has twice, or whose truth differs between
        models, with their number and the first of them; fewer than two models;
        as in `curve`.

    Notes
    -----
    DeLong, DeLong and Clarke-Pearson (1988). With clusters, the influences of the cases of a class
    are summed within each cluster before they are squared (Obuchowski 1997), and Student's t has
    one degree of freedom less than there are clusters with cases of the rarer class. Computed at
    once, also from a lazy frame.

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
    compared = read_cases(cases)
    blocks = (of_test_set(one, [measure]) for one in compared.sets)
    pairs = with_level(pairs_of(compared, blocks, level), level)
    return pairs.lazy().with_columns(pl.lit(dependence(cases), pl.String).alias("note"))


def pairs_of(cases: ComparedCases, evidence: Iterable[Evidence], level: float) -> pl.DataFrame:
    """The tests of each two models, test set by test set."""
    keys = {key: cases.schema[key] for key in cases.blocks}
    kind = cases.schema[cases.model]
    tables = []
    for one, of_set in zip(cases.sets, evidence, strict=True):
        pairs = all_pairs(of_set)
        models = pl.Series(cases.model, of_set.models, kind)
        own = {key: pl.lit(value, keys[key]) for key, value in zip(keys, one.key, strict=True)}
        tables.append(
            _tests(pairs, models, level).select(*(own[key].alias(key) for key in keys), pl.all())
        )
    return pl.concat(tables)


def _tests(pairs: Contrasts, models: pl.Series, level: float) -> pl.DataFrame:
    """The tests of each two models of a test set; null where nothing is known."""
    lower, upper = pairs.limits(level)
    numbers = [pairs.difference, pairs.std_error, lower, upper, pairs.statistic, pairs.p_value]
    # Of models that differ whatever cases are drawn there is no test.
    untold = [np.zeros(pairs.first.size, bool)] * 2 + [pairs.constant] * 4
    known = [np.where(no, np.nan, own) for own, no in zip(numbers, untold, strict=True)]
    unequal = np.isnan(pairs.difference)
    columns = [
        pl.Series(name, np.where(unequal, np.nan, own), nan_to_null=True)
        for name, own in zip(PAIR, known, strict=False)
    ]
    adjusted = holm_of_known(columns[-1].to_list())
    return pl.DataFrame(
        [
            models[pairs.first].alias(f"{models.name}_a"),
            models[pairs.second].alias(f"{models.name}_b"),
            *columns,
            pl.Series("p_adjusted", adjusted, pl.Float64),
        ]
    )


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
    selected = select_measures(
        name, priors, over, interpolation, ARRAYS, score_prior=score_prior
    ).measures
    if len(selected) != 1:
        raise InvalidArgument(
            f"prior is {prior!r}, allowed is one prior.", hint="test one prior at a time."
        )
    return selected[0]
