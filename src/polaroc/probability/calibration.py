"""Calibration of scores as probabilities: a curve, and intercepts, slope and a test per key."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import MAX_NUMBER, check_share, check_whole
from polaroc.base.columns import (
    CLUSTER,
    TRUTH,
    WEIGHT,
    curve_keys,
    join_by_key,
    parts_by_key,
    private,
    refuse_clash,
    with_level,
)
from polaroc.base.statistics import equal_units, satterthwaite
from polaroc.base.text import p_in_words, p_value, with_limits
from polaroc.base.text_tables import Result, noted
from polaroc.base.text_tables import table as text_table
from polaroc.curves.curve import curves_of, in_order
from polaroc.curves.totals import totals
from polaroc.inference.evidence import quantile
from polaroc.measures.scoring import NOT_PROBABILITIES
from polaroc.predictions.audit import dependence, with_note
from polaroc.predictions.cases import Cases, as_cases
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE, check_clusters
from polaroc.predictions.table import one_class_note, read
from polaroc.priors.grids import OBSERVED, TOLERANCE, check_prior, reweighted, skew, some_priors
from polaroc.typing import Array, Prior, Priors, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

RATIO = "observed_over_expected"
ESTIMATES = (RATIO, "calibration_in_the_large", "slope", "intercept")
NUMBERS = dict.fromkeys(
    [
        "prior", "mean_score",
        *(f"{name}{end}" for name in ESTIMATES for end in ("", "_lower", "_upper")),
        "statistic",
    ],
    pl.Float64(),
) | {"freedom": pl.Int64(), "p_value": pl.Float64()}  # fmt: skip
REASON = private("reason")
# With fewer cases of the rarer class, the share of positives is known too inaccurately.
FEW = 30
# The most cells that the band is drawn from, and the points shown besides the ends of blocks.
MAX_CELLS, POINTS = 2000, 40
SHARES = ("score", "probability", "lower", "upper")


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """Calibration of scores as probabilities; made by `calibration`.

    Attributes
    ----------
    answer
        The estimates with their intervals and the p-value; of several keys how many deviate.
    estimates
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
    tables
        The two tables by their names.
    warnings
        The notes of the estimates.
    """

    estimates: pl.DataFrame
    _curve: Callable[[], pl.DataFrame]

    @cached_property
    def curve(self) -> pl.DataFrame:
        """The share of positives at each score, with its band, which is drawn on first use."""
        return self._curve()

    table_names = "estimates", "curve"

    @property
    def answer(self) -> str:
        """The estimates with their intervals and the p-value; of several keys how many deviate."""
        if self.estimates.height != 1:
            p_values = self.estimates["p_value"].drop_nulls()
            return (
                f"Scores of {(p_values < 0.05).sum()} of {len(p_values)} tested keys deviate "
                "significantly from calibration (p < 0.05)."
            )
        row = self.estimates.row(0, named=True)
        parts = [
            f"{name.replace('_', ' ')} {_with_limits(row, name)}"
            for name in ESTIMATES[:3]
            if row[name] is not None
        ]
        if row["p_value"] is not None:
            parts.append(f"test of calibration: {p_in_words(row['p_value'])}")
        return f"{'; '.join(parts) or 'no estimate of calibration'}.".capitalize()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes of the estimates."""
        return tuple(
            f"{note}." for note in self.estimates["note"].drop_nulls().unique(maintain_order=True)
        )

    @property
    def shown(self) -> list[RenderableType]:
        """The answer, the estimates of each key with their limits, and the notes."""
        keys = self.estimates.columns[: self.estimates.columns.index("prior")]
        rows = [
            [
                *(row[key] for key in keys),
                *(_with_limits(row, name) for name in ESTIMATES),
                p_value(row["p_value"]),
            ]
            for row in self.estimates.iter_rows(named=True)
        ]
        heading = "Right scores have observed over expected 1, calibration in the large 0, slope 1"
        shown = text_table(heading, [*keys, *ESTIMATES, "p_value"], rows, len(keys))
        return [self.answer, shown, *noted(self.warnings)]


def _with_limits(row: dict[str, Any], name: str) -> str:
    return with_limits(row[name], row[f"{name}_lower"], row[f"{name}_upper"])


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
        Its table `estimates` has one row per key with the estimates and the test, its `curve` the
        share of positives by score, which `charts.reliability` draws.

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
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> result = pr.calibration(table, truth="truth", score="score")
    >>> result.estimates.select(pl.col("mean_score", "slope", "p_value").round(2)).row(0)
    (0.47, 0.94, 0.96)
    >>> result.curve.select(pl.col("score", "probability", "lower", "upper").round(2)).row(0)
    (0.1, 0.0, 0.0, 0.34)
    """
    check_share("level", level)
    check_prior(score_prior, "score_prior", allow_observed=True)
    check_whole("draws", draws, 100, MAX_NUMBER)
    check_whole("seed", seed, 0)
    resolved = some_priors(priors)
    cases = as_cases(table, columns).collect()
    predictions = read(cases, clustered=cases.cluster is not None)
    keys = predictions.keys
    refuse_clash(keys, [*NUMBERS, "level", "probability", "cases"])
    rows = predictions.cases.collect()
    if CLUSTER in rows.columns:
        check_clusters(rows[CLUSTER].null_count())
    schema = {key: rows.schema[key] for key in keys} | NUMBERS | {REASON: pl.String()}
    estimates_by_key = [
        dict.fromkeys(schema)
        | dict(zip(keys, key, strict=True))
        | _estimates(part, score_prior, level)
        for key, part in parts_by_key(rows, keys).items()
        if part.height
    ]
    counts = totals(predictions).select(*keys, "positives", "negatives", "note")
    one_class = one_class_note()
    estimates = (
        join_by_key(counts, pl.LazyFrame(estimates_by_key, schema, orient="row"), keys)
        .select(
            *keys, *NUMBERS, "positives", "negatives",
            note=pl.coalesce(one_class, REASON, "note"),
        )
        .sort(keys, nulls_last=True)
    )  # fmt: skip
    noted_rows = with_note(estimates, dependence(cases), pl.col("p_value").is_not_null())
    curve = partial(
        calibration_curve, curves_of(cases).collect(), resolved, score_prior=score_prior,
        level=level, draws=draws, seed=seed,
    )  # fmt: skip
    return Calibration(with_level(noted_rows, level).collect(), curve)


def _estimates(rows: pl.DataFrame, score_prior: Prior, level: float) -> dict[str, Any]:
    """Estimates and test of the cases of one key, and why some are missing."""
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
    cluster = np.arange(len(score))
    if CLUSTER in rows.columns:
        cluster = rows[CLUSTER].rank("dense").to_numpy().astype(np.int64) - 1
    has_clusters, has_weights = cluster.max() + 1 < len(cluster), np.ptp(weight) > 0
    is_tested = not (has_clusters or has_weights)

    estimates = _regressions(score, truth, weight, cluster)
    # The number of cases or clusters of the rarer class; if weighted, the effective number.
    sizes = [np.bincount(cluster[of], weight[of]) for of in (truth, ~truth)]
    units = min(equal_units(of) if has_weights else np.count_nonzero(of) for of in sizes)
    freedom = units - 1.0
    if not is_tested:
        fit_freedoms = [estimates[name].freedom for name in estimates if name != "intercept"]
        freedom = min([freedom, *fit_freedoms])
    expected = float(weight @ score)
    if expected > 0:
        influences = weight * (truth / positives - score / expected)
        estimates[RATIO] = Estimate(np.log(positives / expected), influences, cluster)
    row: dict[str, Any] = {
        "prior": positives / (positives + negatives), "mean_score": expected / weight.sum()
    }  # fmt: skip
    least, unit = (5, "clusters") if has_clusters else (2, "cases")
    for name, estimate in estimates.items():
        has_limits = units >= least and (name == "slope" or not is_moved)
        row |= _columns(name, estimate, quantile(level, freedom).item() if has_limits else None)
    impossible = np.count_nonzero(is_tested & np.where(truth, score == 0, score == 1))
    if is_tested:
        test = (np.inf, 1, 0.0) if impossible else _score_test(score, truth, is_moved=is_moved)
        row |= zip(("statistic", "freedom", "p_value"), test, strict=True)

    equal = " of equal weight" if has_weights else ""
    reasons = (
        (impossible, f"scores of 0 or 1 are wrong for {impossible} cases"),
        (is_moved, "scores are re-weighted to the share of positives here, so only the slope has "
         "limits"),
        ("slope" not in estimates, "all scores are equal, or separate the classes: no slope"),
        (units < least, f"a class has fewer than {least} {unit}{equal}: no limits"),
        (not is_tested, "clusters or weights: no test"),
        (is_tested and is_moved and units < FEW,
         f"fewer than {FEW} cases of a class: calibrated scores are rejected too often"),
    )  # fmt: skip
    return row | {REASON: "; ".join(reason for holds, reason in reasons if holds) or None}


def _columns(name: str, estimate: Estimate, reach: float | None) -> dict[str, float]:
    """An estimate, and its limits `reach` standard errors away; None for no limits.

    The ratio is estimated by its logarithm.
    """
    values = {name: estimate.value}
    # Smaller standard errors are rounding errors.
    if reach is not None and estimate.std_error > 1e-13:
        for end, sign in (("lower", -1), ("upper", 1)):
            values[f"{name}_{end}"] = estimate.value + sign * reach * estimate.std_error
    return values if name != RATIO else {one: np.exp(value) for one, value in values.items()}


class Estimate(NamedTuple):
    """An estimate, the influence of each case on it, and the number of estimated parameters."""

    value: float
    influences: Array
    cluster: Array
    parameters: int = 1

    @property
    def std_error(self) -> float:
        """The cluster-robust standard error, with the corrections of statsmodels."""
        sums = np.bincount(self.cluster, self.influences)
        clusters, cases = int((np.bincount(self.cluster) > 0).sum()), len(self.cluster)
        variance = float(sums @ sums) * clusters / max(clusters - 1, 1)
        return sqrt(variance * (cases - 1) / max(cases - self.parameters, 1))

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the variance."""
        return satterthwaite(np.bincount(self.cluster, self.influences))


def _regressions(score: Array, truth: Array, weight: Array, cluster: Array) -> dict[str, Estimate]:
    """The parameters of the logistic regressions with and without a fixed slope, if they exist."""
    is_inner = (score > 0) & (score < 1) & (weight > 0)
    score, truth, weight, cluster = (x[is_inner] for x in (score, truth, weight, cluster))
    of_positives, of_negatives = score[truth], score[~truth]
    if not (of_positives.size and of_negatives.size):
        return {}
    log_odds = np.log(score) - np.log1p(-score)
    constant = np.ones((len(score), 1))
    in_the_large = _regression(truth, constant, log_odds, weight, cluster)
    parameters = dict(zip(["calibration_in_the_large"], in_the_large, strict=False))
    # If the scores separate the classes, or are equal, there is no slope.
    if of_positives.min() < of_negatives.max() and of_positives.max() > of_negatives.min():
        terms = np.column_stack([constant, log_odds])
        line = _regression(truth, terms, 0 * log_odds, weight, cluster)
        parameters |= zip(["intercept", "slope"], line, strict=False)
    return parameters


def _regression(
    truth: Array, terms: Array, offset: Array, weight: Array, cluster: Array
) -> list[Estimate]:
    """The parameters of one regression, none if it does not converge."""
    import statsmodels.api as sm

    model = sm.GLM(
        truth.astype(float), terms, family=sm.families.Binomial(), offset=offset,
        freq_weights=weight,
    )  # fmt: skip
    # From the start of statsmodels it may diverge if scores are far too extreme.
    for start in (None, np.zeros(terms.shape[1])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = model.fit(
                start_params=start, maxiter=50, tol=1e-10, rtol=1e-12, tol_criterion="params"
            )
        gradients = terms * (weight * (truth - fit.mu))[:, None]
        if np.abs(gradients.sum(axis=0)).max() < 1e-8 * weight.sum():
            influences = gradients @ np.linalg.inv(
                (terms.T * weight * fit.mu * (1 - fit.mu)) @ terms
            )
            parameters = terms.shape[1]
            return [
                Estimate(value, of_case, cluster, parameters)
                for value, of_case in zip(fit.params.tolist(), influences.T, strict=True)
            ]
    return []


def _score_test(score: Array, truth: Array, *, is_moved: bool) -> tuple[float, int, float]:
    """The statistic, degrees of freedom and p-value of the score test of intercept 0 and slope 1.

    If scores were re-weighted to the share of positives among these very cases (`is_moved`), the
    information on the intercept is less by what it took to estimate this share, and the
    statistic is F times its degrees of freedom.
    """
    from scipy.special import chdtrc, fdtrc

    is_inner = (score > 0) & (score < 1)
    score, truth = score[is_inner], truth[is_inner]
    if not score.size:
        return 0.0, 0, 1.0
    variance, log_odds = score * (1 - score), np.log(score) - np.log1p(-score)
    # Centred, so that the information is diagonal.
    centred = log_odds - np.average(log_odds, weights=variance)
    terms = np.stack([np.ones_like(centred), centred])
    information = terms**2 @ variance
    least = np.array([1e-9 * information[0], 1e-20 * (variance @ log_odds**2)])
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if is_moved:
        # Inner scores of one class have no information on the intercept.
        known = positives * negatives / (positives + negatives)
        information[0] -= information[0] ** 2 / known if known else information[0]
    is_known = information > least
    squares = (terms @ (truth - score))[is_known] ** 2
    statistic, freedom = float((squares / information[is_known]).sum()), int(is_known.sum())
    if not freedom:
        return statistic, 0, 1.0
    rarer = min(positives, negatives)
    if is_moved and rarer > 1:
        return statistic, freedom, float(fdtrc(freedom, rarer - 1, statistic / freedom))
    return statistic, freedom, float(chdtrc(freedom, statistic))


def calibration_curve(
    curve: pl.DataFrame,
    priors: Sequence[float | None],
    *,
    score_prior: Prior,
    level: float,
    draws: int = 200,
    seed: int = 0,
) -> pl.DataFrame:
    """The share of positives at each score, at each prior, by isotonic regression.

    None is each key's own prior.
    """
    keys = curve_keys(curve.lazy())
    schema = {key: curve.schema[key] for key in keys} | dict.fromkeys(
        ("prior", *SHARES), pl.Float64()
    )
    schema |= {"cases": curve.schema["pos"], "note": pl.String()}
    tables = [pl.DataFrame(schema=schema)]
    for cells in parts_by_key(in_order(curve.lazy(), keys).collect(), keys).values():
        note = cells.select(one_class_note())[0, 0]
        if note is None and not cells[SCORE].drop_nulls().is_between(0, 1).all():
            note = NOT_PROBABILITIES
        if note is None:
            points = _points(cells, priors, score_prior, level, draws, seed)
        else:
            points = pl.DataFrame({"note": [note]})
        key = cells.select(keys).head(1)
        with_key = key.join(points, how="cross") if keys else points
        tables.append(with_key.cast({name: schema[name] for name in with_key.columns}))
    return with_level(pl.concat(tables, how="diagonal"), level)


def _points(
    cells: pl.DataFrame,
    priors: Sequence[float | None],
    score_prior: Prior,
    level: float,
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """The points of one curve that has both classes, at each prior."""
    from scipy.optimize import isotonic_regression

    observed_skew = float(cells["negatives"][0] / cells["positives"][0])
    # From the worst score to the best, without the anchor.
    cells = cells.drop_nulls(SCORE).reverse()
    score, pos, neg = (cells[name].to_numpy() for name in (SCORE, "pos", "neg"))
    size = pos + neg
    if score_prior != OBSERVED:
        score = reweighted(score, skew(float(score_prior)), observed_skew)
    fitted = isotonic_regression(pos / size, weights=size)
    # The ends of blocks of equal shares, and cells that are evenly spread over the cases.
    evenly = np.linspace(0, size.sum(), POINTS, endpoint=False)
    shown = np.unique(
        [*fitted.blocks[:-1], *fitted.blocks[1:] - 1, *np.searchsorted(size.cumsum(), evenly)]
    )
    points = pl.DataFrame({
        "score": score[shown], "probability": fitted.x[shown],
        "cases": np.diff(size.cumsum()[shown], prepend=0),
    })  # fmt: skip
    if cells.schema["pos"].is_integer():
        lower, upper = _band(score, size, shown, level, draws, seed)
        points = points.with_columns(lower=lower, upper=upper, note=None)
    else:
        note = pl.lit("weights are not counts of cases: no band")
        points = points.with_columns(lower=None, upper=None, note=note)
    observed = 1 / (1 + observed_skew)
    is_given = any(one is not None and abs(one - observed) <= TOLERANCE for one in priors)
    at = [observed if one is None else one for one in priors if one is not None or not is_given]
    return (
        pl.DataFrame({"prior": at})
        .join(points, how="cross", maintain_order="left_right")
        .with_columns(
            reweighted(pl.col(SHARES).cast(pl.Float64), observed_skew, skew(pl.col("prior")))
        )
    )


def _band(
    score: Array, size: Array, shown: Array, level: float, draws: int, seed: int
) -> tuple[Array, Array]:
    """Quantiles, at the shown cells, of isotonic regressions of draws of calibrated cases."""
    from scipy.optimize import isotonic_regression

    place = np.arange(len(score))
    if len(score) > MAX_CELLS:
        # A cell belongs to the bin of its middle.
        middle = (size.cumsum() - size / 2) / size.sum()
        place = np.unique((middle * MAX_CELLS).astype(int), return_inverse=True)[1]
    counts = np.bincount(place, weights=size)
    mean = np.bincount(place, weights=size * score) / counts
    rng = np.random.default_rng(seed)
    drawn = rng.binomial(counts.astype(np.int64), np.clip(mean, 0, 1), size=(draws, len(counts)))
    known = np.array(
        [isotonic_regression(of_draw / counts, weights=counts).x[place[shown]] for of_draw in drawn]
    )
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return lower, upper
