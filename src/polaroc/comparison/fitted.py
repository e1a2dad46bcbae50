"""Fitted models on one test set: the evidence on a measure, and tests of their differences."""

from dataclasses import dataclass, replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.checks import check_share
from polaroc.base.lazy import np
from polaroc.base.names import noted_by_kind
from polaroc.comparison.compared import doubted
from polaroc.comparison.measure_rows import below_chance
from polaroc.comparison.result import pair_frame
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, check_choice, quoted
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, default_measures, label, select_measures
from polaroc.measures.scoring import CASE_LOSSES
from polaroc.measures.spec import Measure
from polaroc.measures.table import humanize_note
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence
from polaroc.predictions.roles import Columns, RoleName
from polaroc.predictions.row_checks import DROP_ROWS
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.priors.beliefs import Over
from polaroc.typing import Prior, Priors
from polaroc.uncertainty.adjusted import by_holm
from polaroc.uncertainty.evidence import FEWEST_CLUSTERS, Evidence, all_pairs
from polaroc.uncertainty.scored_cases import (
    ComparedCases,
    common_cases_of,
    model_column,
    read_cases,
)
from polaroc.uncertainty.test_sets import of_test_set

USED: tuple[RoleName, ...] = (
    "truth", "score", "positive", "nulls", "model", "fold", "case", "cluster", "count", "weight",
    "by",
)  # fmt: skip
NO_BEARING: tuple[RoleName, ...] = ("time", "test_train_ratio")


@frame_of_cases(USED, no_bearing=[*NO_BEARING, "score_prior"])
def delong(cases: Cases[Any], *, level: float = 0.95, **columns: Unpack[Columns]) -> pl.LazyFrame:
    """DeLong's test of the AUC of each pair of models on one test set.

    Parameters
    ----------
    cases
        One row per case and model, or per case with one column of scores per model: the
        result of `cases`, or any table that it takes. A case must have one row per model, with
        one truth; in a table with one column of scores per model each row is a case.
        Each fold, and each value of `by`, is tested alone. With `cluster`, cases of one cluster
        are not taken for independent.
    **columns

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
        where a class has one case or fewer than five clusters. `note` String, null, or why there
        is no test, that cases are not independent, as a column such as "patient" of a frame in
        memory shows, and with ``nulls="drop"`` how many cases were left out because a model did
        not score them.

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
    one degree of freedom less than there are clusters with cases of the rarer class. With two
    crossed clusterings, the covariances by each are added, and that by both at once is subtracted
    (Cameron, Gelbach and Miller 2011). Computed at once, also from a lazy frame.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.satellite_predictions().filter(fold=1)
    >>> pairs = pr.delong(table, truth="truth", score="score", fold=None)
    >>> pairs.select("model_a", "model_b", pl.col("p_adjusted") < 0.05).rows()
    [('A', 'B', True), ('A', 'C', True), ('B', 'C', True)]
    """
    return paired_tests(cases, single_measure("auc", "observed", None), level)


def paired_tests(cases: Cases[Any], measure: Measure, level: float = 0.95) -> pl.LazyFrame:
    """The tests of `delong` for any one measure."""
    check_share("level", level)
    left_out = None
    if cases.nulls == "drop":
        cases, left_out = common_cases_of(cases.collect(), model_column(cases))
    compared = read_cases(cases)
    kinds, kind = compared.schema, compared.schema[compared.model]
    tables, said = [], (left_out, dependence(cases))
    for one in compared.sets:
        own = [
            pl.lit(value, kinds[key]).alias(key)
            for key, value in zip(compared.blocks, one.key, strict=True)
        ]
        models, evidence = pl.Series(compared.model, one.models, kind), of_test_set(one, [measure])
        untold = None if evidence.is_known else evidence.why_no_limits
        note = "; ".join(part for part in (untold, *said) if part is not None) or None
        tests = _tests(evidence, models, level)
        tables.append(tests.select(*own, pl.all(), pl.lit(note, pl.String).alias("note")))
    return pl.concat(tables).lazy()


def _tests(evidence: Evidence, models: pl.Series, level: float) -> pl.DataFrame:
    """The tests of each two models of a test set; null where nothing is known."""
    pairs = all_pairs(evidence)
    # There is no test of models that differ by as much whatever cases are drawn.
    told = replace(pairs, std_error=np.where(pairs.constant, np.nan, pairs.std_error))
    tests = pair_frame(told, by_holm(told, level), models, level)
    errors = pl.Series("std_error", pairs.std_error, nan_to_null=True)
    return tests.with_columns(errors).drop("adjusted_lower", "adjusted_upper")


@dataclass(frozen=True, eq=False)
class Fitted:
    """A measure of models on the cases of one test set."""

    cases: ComparedCases
    name: str
    evidence: Evidence
    doubts: tuple[str, ...]  # rows that are alike, notes on the models, AUCs below chance
    measure: Measure

    @property
    def models(self) -> pl.Series:
        """The models, in the order of the evidence."""
        name = self.cases.model
        return pl.Series(name, self.evidence.models, self.cases.schema[name])


def fitted(
    cases: Cases[pl.DataFrame],
    name: str,
    prior: Prior,
    over: Over | None,
    measured: pl.DataFrame | None = None,
) -> Fitted:
    """The evidence of cases on one measure; `measured` where it and the AUC are known."""
    measure = single_measure(name, prior, over, cases.score_prior)
    read = read_cases(cases, DROP_ROWS)
    if measured is None:
        measured = evaluate(cases, measures=sorted({name, "auc"}), priors=prior, over=over)
    estimates = measured.filter(measure=name)
    lacking = estimates.filter(
        pl.col("estimate").is_null(), pl.col("positives") > 0, pl.col("negatives") > 0
    )
    if lacking.height:
        first, note = lacking.select(read.model, "note").row(0)
        raise InvalidPredictions(
            f"the {label(name)} of {first!r} is null: {note}.",
            hint="leave the model out, or take another measure.",
        )
    noted = estimates.drop_nulls("note").select(read.model, humanize_note(pl.col("note")))
    doubts = (*doubted(cases), *noted_by_kind(noted.rows()), *below_chance(measured, name))
    evidence = of_test_set(read.only, [measure], unseen=measure.case_loss is not None)
    return Fitted(read, name, evidence, doubts, measure)


def single_measure(
    name: str, prior: Prior, over: Over | None, score_prior: Prior = "observed"
) -> Measure:
    """The one measure that is compared; raise where there is none or more."""
    allowed = (*default_measures(), *CASE_LOSSES)
    if isinstance(name, str) and name in CATALOG and name not in allowed:
        raise InvalidArgument(
            f"measure is {name!r}, which has no standard error on one test set.",
            hint=Hint("compare it over several folds, with {test_train_ratio}, or take one of "
                      f"{quoted(allowed)}.", test_train_ratio=0.25),
        )  # fmt: skip
    check_choice("measure", name, allowed)
    priors: Priors = [prior] if isinstance(prior, str | float | int) else prior
    selected = select_measures(
        name, priors, over, "exact", ARRAYS, score_prior=score_prior
    ).measures
    if len(selected) != 1:
        raise InvalidArgument(
            f"prior is {prior!r}, allowed is one prior.", hint="test one prior at a time."
        )
    return selected[0]


def too_few_cases() -> InvalidPredictions:
    """The error of fitted models whose difference has no variance."""
    return InvalidPredictions(
        "there are too few cases or clusters of a class to compare the models by.",
        hint=f"every class needs two cases or more, or {FEWEST_CLUSTERS} clusters; of weighted "
        "ones their effective number counts, which is small where few have most of the weight.",
    )
