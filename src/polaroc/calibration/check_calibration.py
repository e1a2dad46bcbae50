"""Whether scores are probabilities: a test of calibration that holds at every prior."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import check_keys, with_level
from polaroc.base.joins import attach
from polaroc.base.lazy import np
from polaroc.base.private_columns import CLUSTER, private
from polaroc.calibration.evidence import estimates_and_limits, of_calibration
from polaroc.calibration.score_test import recalibration
from polaroc.curves.keys import totals
from polaroc.measures.scoring import NOT_PROBABILITIES
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.row_checks import UNRANKED
from polaroc.predictions.table import one_class_note, read
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.priors.grids import OBSERVED, reweighted, skew
from polaroc.typing import Prior
from polaroc.uncertainty.cells import numbered
from polaroc.uncertainty.evidence import Evidence
from polaroc.uncertainty.scored_cases import ScoredCases, scored_rows

OF_LINE = ("observed_over_expected", "calibration_in_the_large", "slope")
RESULT = dict.fromkeys(
    [
        "prior", "mean_score",
        *(f"{name}{end}" for name in OF_LINE for end in ("", "_lower", "_upper")),
        "statistic",
    ],
    pl.Float64(),
) | {"freedom": pl.Int64(), "p_value": pl.Float64()}  # fmt: skip
REASON = private("reason")
NO_TEST, SEE_LIMITS = "clusters or weights: no test", "see the limits"
# Cases of the rarer class below which the prior of the cases is known too badly.
FEW = 30
TOO_FEW = f"fewer than {FEW} cases of a class: calibrated scores are rejected too often"
RE_WEIGHTED = (
    "scores are re-weighted to the share of positives here, which says nothing of "
    "observed_over_expected and calibration_in_the_large: no limits of them"
)
NO_SLOPE = "all scores are equal, or separate the classes: no slope"


@frame_of_cases(
    [*COUNTED_BY, "cluster", "score_prior"],
    no_bearing=[role for role in BESIDE if role not in ("cluster", "score_prior")],
)
def check_calibration(
    cases: Cases[Any], *, level: float = 0.95, **columns: Unpack[Columns]
) -> pl.LazyFrame:
    """Whether scores are right as probabilities, per key: a test, and how far off they are.

    The score test of intercept 0 and slope 1 in a logistic regression of the truth on the
    log-odds of the score (Cox 1958; Miller, Hui and Tierney 1991). Scores that are right at one
    prior are right, re-weighted, at every other, as long as only the prior shifts: one test is
    enough for all priors.

    Parameters
    ----------
    **columns

    Returns
    -------
    Frame of the kind given
        One row per key, sorted: the keys; `prior` Float64, the share of positives here;
        `mean_score` Float64, re-weighted to it; `observed_over_expected`, the positives over the
        sum of the scores (above 1: scores too low); `calibration_in_the_large`, the intercept
        of the regression with its slope fixed at 1 (below 0: scores too high); `slope`, the slope
        of the regression with a free intercept (below 1: scores too extreme; above: not extreme
        enough); all three Float64, with `…_lower` and `…_upper` at `level`;
        `statistic` Float64, χ² with `freedom` Int64 degrees
        of freedom (two; one where scores are all equal, or one is wrong at 0 or 1);
        `p_value` Float64; `positives`, `negatives`; `note` String, null, or why a number
        is null or what a score of 0 or 1 is wrong about; `level`.

    Notes
    -----
    Calibration in the large and slope are those of Van Calster et al. (2016), as TRIPOD asks for
    them. Scores that are right on average have calibration in the large 0, whatever their slope.

    Where `score_prior` is given, scores are re-weighted from it to the share of positives here
    before they are tested, and the test allows for it that this share is estimated. Then only the
    slope has limits.

    Limits are those of other samples of cases, in which the share of positives varies, too:
    Student's t with the variance of the influences of cases, with clusters of their sums, and one
    degree of freedom less than the rarer class has cases or clusters; those of the ratio on its
    logarithm. With clusters or sampling weights there is no test: the one from sums of scores
    rejects calibrated scores too often where clusters are few.

    A score of 0 for a positive, or of 1 for a negative, refutes calibration without a
    test: `p_value` is 0. A large p-value is no proof of calibration; with few cases it
    says little.

    At a level of 95 % it rejected calibrated scores in 3.9 to 5.4 % of samples of 50 to 1,000
    cases, 10 and 50 % of them positive, and where `score_prior` was given, and there were
    30 cases of the rarer class or more, in 3.8 to 5.5 % (``just calibration size``; 1,000 or
    2,000 samples each, standard errors up to 0.7 %). With fewer it was up to 8.2 % there,
    which `note` says.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> found = pr.check_calibration(table, truth="truth", score="score")
    >>> found.select(pl.col("mean_score", "slope", "p_value").round(2)).row(0)
    (0.47, 0.94, 0.96)
    """
    check_share("level", level)
    table = read(cases, clustered=bool(cases.cluster), crossed=True)
    check_keys(table.keys, also=[*RESULT, "level"])
    rows = table.cases
    kinds = rows.collect_schema()
    schema = {key: kinds[key] for key in table.keys} | RESULT | {REASON: pl.String()}
    found = rows.map_batches(
        lambda valid: _tests(valid, table.keys, cases.score_prior, level, schema), schema=schema
    )
    counts = totals(table).select(*table.keys, "positives", "negatives", "note")
    is_known = pl.col("positives").is_not_null()
    why = (
        pl.when(~is_known)
        .then(pl.lit(UNRANKED))
        .otherwise(pl.coalesce(one_class_note(pl.col("positives"), pl.col("negatives")), REASON))
    )
    tested = attach(counts, found, table.keys, required=False).select(
        *table.keys,
        *(pl.when(is_known).then(name).alias(name) for name in RESULT),
        "positives",
        "negatives",
        note=pl.coalesce(why, "note"),
    )
    if table.keys:
        tested = tested.sort(table.keys, nulls_last=True)
    doubt = dependence(cases)
    return with_level(with_note(tested, doubt, pl.col("p_value").is_not_null()), level)


def _tests(
    rows: pl.DataFrame,
    keys: Sequence[str],
    score_prior: Prior,
    level: float,
    schema: dict[str, Any],
) -> pl.DataFrame:
    """The numbers of each key, and why one is null."""
    clustered = CLUSTER in rows.columns
    parts = rows.partition_by(keys, maintain_order=True) if keys else [rows]
    found = [
        dict.fromkeys(schema)
        | (part.select(keys).row(0, named=True) if keys else {})
        | _test(
            scored_rows(part, clusters=numbered(part) if clustered else None), score_prior, level
        )
        for part in parts
        if part.height
    ]
    return pl.DataFrame(found, schema=schema, orient="row")


def _test(cases: ScoredCases, score_prior: Prior, level: float) -> dict[str, Any]:
    ((score, truth, given),) = cases.by_model
    weight = np.ones(len(score)) if given is None else given
    positives, negatives = float(weight @ truth), float(weight @ ~truth)
    if not (positives and negatives):
        return {}
    if score.min() < 0 or score.max() > 1:
        return {REASON: NOT_PROBABILITIES}
    moved = score_prior != OBSERVED
    if moved:
        score = reweighted(score, skew(float(score_prior)), negatives / positives)
    found: dict[str, Any] = {
        "prior": positives / (positives + negatives),
        "mean_score": float(weight @ score / weight.sum()),
    }
    evidence = of_calibration(replace(cases, scores=[score]))
    found |= _limits(evidence, level, of_slope=moved)
    notes = [RE_WEIGHTED] if moved else []
    notes += [] if found["slope"] is not None else [NO_SLOPE]
    if cases.share_clusters or np.ptp(weight) > 0:
        limits = SEE_LIMITS if evidence.moved is not None else evidence.why_no_limits
        return found | {REASON: "; ".join([*notes, NO_TEST, limits])}
    test = recalibration(score, truth.astype(float), (~truth).astype(float), fitted_prior=moved)
    if moved and min(cases.of_class) < FEW:
        notes.append(TOO_FEW)
    if test.impossible:
        notes = [f"scores of 0 or 1 are wrong for {test.impossible:g} cases", *notes[: int(moved)]]
    return found | {
        "statistic": test.statistic, "freedom": test.freedom, "p_value": test.p_value,
        REASON: "; ".join(notes) or None,
    }  # fmt: skip


def _limits(evidence: Evidence, level: float, *, of_slope: bool) -> dict[str, float | None]:
    """The estimates and limits of calibration, or limits `of_slope` alone."""
    ends = estimates_and_limits(evidence, level)
    if of_slope:
        ends[1:, :-1] = np.nan
    names = [f"{name}{end}" for end in ("", "_lower", "_upper") for name in OF_LINE]
    return {
        name: None if np.isnan(value) else float(value)
        for name, value in zip(names, ends.ravel(), strict=True)
    }
