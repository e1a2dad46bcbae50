"""Calibration of scores as probabilities: a curve, and intercepts, slope and a test per key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import MAX_NUMBER, check_share, check_whole
from polaroc.base.columns import refuse_clash, with_level
from polaroc.base.private_columns import CLUSTER, TRUTH, WEIGHT, private
from polaroc.base.rounding import p_in_words, with_limits
from polaroc.base.statistics import equal_units
from polaroc.base.text_tables import Result, table
from polaroc.curves.curve import curves_of
from polaroc.curves.totals import totals
from polaroc.inference.evidence import FEWEST_CLUSTERS, quantile
from polaroc.inference.variances import cluster_numbers
from polaroc.measures.scoring import NOT_PROBABILITIES, check_score_prior
from polaroc.predictions.cases import Cases, as_cases
from polaroc.predictions.columns import Columns
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import one_class_note, read
from polaroc.priors.grids import OBSERVED, reweighted, skew, some_priors
from polaroc.probability.calibration_curve import MIN_DRAWS, calibration_curve
from polaroc.probability.regression import calibration_fit
from polaroc.probability.score_test import recalibration
from polaroc.typing import Array, Prior, Priors, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

ESTIMATES = ("observed_over_expected", "calibration_in_the_large", "slope", "intercept")
RESULT = dict.fromkeys(
    [
        "prior", "mean_score",
        *(f"{name}{end}" for name in ESTIMATES for end in ("", "_lower", "_upper")),
        "statistic",
    ],
    pl.Float64(),
) | {"freedom": pl.Int64(), "p_value": pl.Float64()}  # fmt: skip
REASON = private("reason")
NO_TEST = "clusters or weights: no test"
# Cases of the rarer class below which the prior of the cases is known too badly.
FEW = 30
TOO_FEW = f"fewer than {FEW} cases of a class: calibrated scores are rejected too often"
RE_WEIGHTED = "scores are re-weighted to the share of positives here, so only the slope has limits"
NO_SLOPE = "all scores are equal, or separate the classes: no slope"
# Smaller standard errors are rounding.
NO_ERROR = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """How far scores are right as probabilities; made by `calibration`.

    Attributes
    ----------
    table
        One row per key, sorted: the keys; `prior` Float64, the share of positives here;
        `mean_score` Float64, re-weighted to it; four estimates: `observed_over_expected`, the
        positives over the sum of the scores (above 1: scores too low);
        `calibration_in_the_large`, the intercept of the regression with its slope fixed at 1
        (below 0: scores too high); `slope` (below 1: scores too extreme; above: not extreme
        enough) and `intercept` of the regression in which both are free; all Float64, with
        `…_lower` and `…_upper`; `statistic` Float64, χ² with `freedom` Int64 degrees of freedom
        (two; one if all scores are equal, or if a score of 0 or 1 is wrong); `p_value` Float64;
        `positives`, `negatives`; `note` String, null, or why a number is null; `level`.
    curve
        The share of positives at each score, at each prior. The keys; `prior`; `score`,
        re-weighted to it, rising; `probability`, the share of positives at this score;
        `lower` and `upper`, the limits of this share if the scores were calibrated (a consistency
        band, score by score, not for all at once), and their `level`; all Float64; `cases`, the
        number from the score before to this one; `note` String, null, or why a key has one row
        without numbers, or no band.
    """

    table: pl.DataFrame
    _curve: Callable[[], pl.LazyFrame]

    @cached_property
    def curve(self) -> pl.DataFrame:
        """The share of positives at each score, with its band, which is drawn on first use."""
        return self._curve().collect()

    @property
    def shown(self) -> list[RenderableType]:
        """The estimates of each key with their limits, and the notes."""
        keys = self.table.columns[: self.table.columns.index("prior")]
        names = dict(zip(ESTIMATES, ("observed/expected", "in the large", "slope"), strict=False))
        rows = []
        for row in self.table.iter_rows(named=True):
            cells = [
                None
                if row[name] is None
                else with_limits(row[name], row[f"{name}_lower"], row[f"{name}_upper"])
                for name in names
            ]
            p_value = None if row["p_value"] is None else p_in_words(row["p_value"])
            rows.append([*(row[key] for key in keys), *cells, p_value])
        notes = self.table["note"].drop_nulls().unique(maintain_order=True)
        heading = "Calibration: right scores have observed/expected 1, in the large 0, slope 1"
        shown = table(heading, [*keys, *names.values(), "test"], rows, len(keys))
        return [shown, *(f"Note: {note}." for note in notes)]


def calibration(
    table: Table | Cases[Any],
    priors: Priors = "observed",
    *,
    level: float = 0.95,
    draws: int = 200,
    seed: int = 0,
    score_prior: Prior = "observed",
    **columns: Unpack[Columns],
) -> Calibration:
    """Whether scores are right as probabilities: a calibration curve, and estimates and a test.

    Parameters
    ----------
    table
        Predictions, one row per case: any table that `cases` takes, or its result.
    priors
        Priors of the curve, in (0, 1), or ``"observed"`` for each key's own; one, several, or a
        prior grid. Scores are re-weighted to each.
    level
        Coverage of the limits, and share of samples of calibrated scores in which the curve stays
        in its band at a given score.
    draws
        Number of samples that the band is made of, at least 100.
    seed
        Seed of their random numbers.
    score_prior
        The prior at which scores are right as probabilities: a prior in (0, 1), or ``"observed"``,
        each key's own.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Calibration
        Its `table` has one row per key with the estimates and the test, its `curve` the share of
        positives by score. The curve is what `charts.reliability` takes.

    Notes
    -----
    The curve is the hull of the ROC read as a calibration, and needs no bins (Bröcker and
    Smith 2007; Dimitriadis, Gneiting and Jordan 2021). For curves with more than 2,000 different
    scores, the band is drawn from 2,000 bins of them.

    Calibration in the large and slope are those of Van Calster et al. (2016), as TRIPOD asks for
    them: logistic regressions of the truth on the log-odds of the score, by the GLM of
    statsmodels. Scores that are right on average have calibration in the large 0, whatever their
    slope. Limits are those of other samples of cases, in which the share of positives varies, too.
    They are Student's t with cluster-robust standard errors, in which each case is a cluster
    unless `cluster` is given, and one degree of freedom less than the rarer class has cases or
    clusters; with few large clusters, or unequal weights, less (Satterthwaite 1946). Those of
    the ratio are on its logarithm.

    The test is the score test of intercept 0 and slope 1 (Cox 1958; Miller, Hui and Tierney
    1991). Scores that are right at one prior are right, re-weighted, at every other, as long as
    only the prior shifts: one test is enough for all priors. Where `score_prior` is given,
    scores are re-weighted from it to the share of positives here before they are tested, and the
    test allows for it that this share is estimated. Then only the slope has limits. With
    clusters or sampling weights there is no test: the one from sums of scores rejects calibrated
    scores too often if clusters are few. A score of 0 for a positive, or of 1 for a negative,
    refutes calibration without a test: `p_value` is 0. A large p-value is no proof of
    calibration; with few cases it says little.

    At a level of 95 % it rejected calibrated scores in 5.3 % of 1,200 simulated samples of six
    kinds (standard error 0.6 %), and in 2 to 9 % of the 200 of each
    (``just simulate probabilities_calibration``). With fewer than 30 cases of the rarer class and
    a given `score_prior` it rejects them more often, which `note` says.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> result = pr.calibration(table, truth="truth", score="score")
    >>> result.table.select(pl.col("mean_score", "slope", "p_value").round(2)).row(0)
    (0.47, 0.94, 0.96)
    >>> result.curve.select(pl.col("score", "probability", "lower", "upper").round(2)).row(0)
    (0.1, 0.0, 0.0, 0.34)
    """
    check_share("level", level)
    check_score_prior(score_prior)
    check_whole("draws", draws, MIN_DRAWS, MAX_NUMBER)
    check_whole("seed", seed, 0)
    resolved = some_priors(priors)
    cases = as_cases(table, columns).collect()
    predictions = read(cases, clustered=cases.cluster is not None)
    refuse_clash(predictions.keys, [*RESULT, "level"])
    estimates = _table(predictions.cases.collect(), predictions.keys, score_prior, level)
    counts = totals(predictions).select(*predictions.keys, "positives", "negatives", "note")
    one_class = one_class_note(pl.col("positives"), pl.col("negatives"))
    joined = counts.join(
        estimates.lazy(), on=predictions.keys or pl.lit(0), how="left", nulls_equal=True
    ).select(
        *predictions.keys,
        *RESULT,
        "positives",
        "negatives",
        note=pl.coalesce(one_class, REASON, "note"),
    )
    if predictions.keys:
        joined = joined.sort(predictions.keys, nulls_last=True)
    noted = with_note(joined, dependence(cases), pl.col("p_value").is_not_null())
    curve = partial(
        calibration_curve, curves_of(cases).collect(), resolved, score_prior=score_prior,
        level=level, draws=draws, seed=seed,
    )  # fmt: skip
    return Calibration(with_level(noted, level).collect(), curve)


def _table(
    rows: pl.DataFrame, keys: Sequence[str], score_prior: Prior, level: float
) -> pl.DataFrame:
    """The numbers of each key with both classes, and why one is null."""
    parts = rows.partition_by(keys, maintain_order=True) if keys else [rows]
    found = [
        (part.select(keys).row(0, named=True) if keys else {}) | _row(part, score_prior, level)
        for part in parts
        if part.height
    ]
    schema = {key: rows.schema[key] for key in keys} | RESULT | {REASON: pl.String()}
    return pl.DataFrame([dict.fromkeys(schema) | row for row in found], schema, orient="row")


def _row(rows: pl.DataFrame, score_prior: Prior, level: float) -> dict[str, Any]:
    """The numbers of the cases of one key."""
    score, truth = rows[SCORE].cast(pl.Float64).to_numpy(), rows[TRUTH].to_numpy()
    weight = rows[WEIGHT].to_numpy() if WEIGHT in rows.columns else np.ones(len(score))
    positives, negatives = float(weight @ truth), float(weight @ ~truth)
    if not (positives and negatives):
        return {}
    if score.min() < 0 or score.max() > 1:
        return {REASON: NOT_PROBABILITIES}
    is_moved = score_prior != OBSERVED
    if is_moved:
        score = reweighted(score, skew(float(score_prior)), negatives / positives)
    clusters = np.arange(len(score))
    if CLUSTER in rows.columns:
        clusters = np.unique(cluster_numbers(rows[CLUSTER]), return_inverse=True)[1]
    has_clusters, has_weights = clusters.max() + 1 < len(clusters), np.ptp(weight) > 0
    # The cases or clusters of a class, of weighted ones as many as there are equal ones.
    sizes = [np.bincount(clusters[of], weight[of]) for of in (truth, ~truth)]
    units = min(equal_units(of) if has_weights else np.count_nonzero(of) for of in sizes)
    in_the_large, line = (
        calibration_fit(score, truth, weight, clusters, free_slope=free) for free in (False, True)
    )
    freedom = units - 1.0
    if has_clusters or has_weights:
        freedom = min([freedom, *(fit.freedom for fit in (in_the_large, line) if fit is not None)])
    least, of = (FEWEST_CLUSTERS, "clusters") if has_clusters else (2, "cases")
    reach = quantile(level, freedom).item() if units >= least else None
    known_reach = None if is_moved else reach
    ratio = _log_ratio(score, truth, weight, clusters)
    row: dict[str, Any] = {
        "prior": positives / (positives + negatives),
        "mean_score": float(weight @ score / weight.sum()),
    }
    if ratio is not None:
        limits = _limits("observed_over_expected", *ratio, known_reach)
        row |= {name: exp(value) for name, value in limits.items()}
    if in_the_large is not None:
        (estimate,), (error,) = in_the_large.estimates, in_the_large.std_errors
        row |= _limits("calibration_in_the_large", estimate, error, known_reach)
    if line is not None:
        row |= _limits("slope", line.estimates[1], line.std_errors[1], reach)
        row |= _limits("intercept", line.estimates[0], line.std_errors[0], known_reach)
    notes = [RE_WEIGHTED] if is_moved else []
    notes += [] if line is not None else [NO_SLOPE]
    if reach is None:
        equal = " of equal weight" if has_weights else ""
        notes.append(f"a class has fewer than {least} {of}{equal}: no limits")
    if has_clusters or has_weights:
        return row | {REASON: "; ".join([*notes, NO_TEST])}
    test = recalibration(score, truth.astype(float), (~truth).astype(float), fitted_prior=is_moved)
    if is_moved and units < FEW:
        notes.append(TOO_FEW)
    if test.impossible:
        notes = [f"scores of 0 or 1 are wrong for {test.impossible:g} cases", *notes]
    return row | {
        "statistic": test.statistic, "freedom": test.freedom, "p_value": test.p_value,
        REASON: "; ".join(notes) or None,
    }  # fmt: skip


def _log_ratio(
    score: Array, truth: Array, weight: Array, clusters: Array
) -> tuple[float, float] | None:
    """The logarithm of observed over expected positives, and its cluster-robust standard error."""
    observed, expected = weight @ truth, weight @ score
    if expected == 0:
        return None
    sums = np.bincount(clusters, weight * (truth / observed - score / expected))
    variance = sums @ sums * len(sums) / max(len(sums) - 1, 1)
    return log(observed / expected), sqrt(variance)


def _limits(name: str, estimate: float, std_error: float, reach: float | None) -> dict[str, float]:
    """The columns of an estimate and, if the errors and their reach are known, its limits."""
    row = {name: float(estimate)}
    if reach is not None and std_error > NO_ERROR:
        row |= {
            f"{name}_lower": float(estimate - reach * std_error),
            f"{name}_upper": float(estimate + reach * std_error),
        }
    return row
