"""Confidence intervals by resampling the cells of a curve, or whole clusters of cases."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, Unpack

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.backend import POLARS
from polaroc.base.checks import MAX_NUMBER, check_share, check_whole
from polaroc.base.columns import as_lazy, curve_keys
from polaroc.base.lazy import np
from polaroc.base.private_columns import CLUSTER, DRAW, PLACE, TRUTH, WEIGHT
from polaroc.base.statistics import ROUNDING, normal
from polaroc.curves.curve import curve, curve_tables, in_order
from polaroc.curves.whole import whole_curves
from polaroc.errors import check_choice
from polaroc.measures.catalog import DEFAULT_PRIORS, select_measures
from polaroc.measures.functions import measures_of_curves
from polaroc.measures.spec import Measure, measures_by_row, values_by_row
from polaroc.measures.table import per_key
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.resolved import keyed
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.row_checks import SCORE, check_clusters
from polaroc.predictions.table import read
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.priors.beliefs import Belief
from polaroc.typing import Array, Interpolation, Priors
from polaroc.uncertainty.cells import segments_of_curve
from polaroc.uncertainty.draws import (
    draws_of_cells,
    draws_of_clusters,
    generator,
    whole_cluster,
)
from polaroc.uncertainty.influence import on_segments
from polaroc.uncertainty.intervals import check_interpolation
from polaroc.uncertainty.limits import COLUMNS, NOT_COUNTS, beside
from polaroc.uncertainty.pseudo_cases import PLACES, PSEUDO, with_pseudo_cases

METHODS = ("percentile", "logit")
MIN_DRAWS = 100
# Lower and upper limit, standard error, note.
Limits: TypeAlias = tuple[float | None, float | None, float | None, str | None]
NOT_RESAMPLED = "not resampled: no interval"


@dataclass(frozen=True)
class BootstrapSpec:
    """The measures of each draw, and the options of `bootstrap`."""

    measures: Sequence[Measure]
    in_arrays: Sequence[Measure]  # the same, written for `ARRAYS`
    method: str
    level: float
    draws: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_share("level", self.level)
        check_whole("draws", self.draws, MIN_DRAWS, MAX_NUMBER)
        check_whole("seed", self.seed, 0)


@frame_of_cases(
    [*COUNTED_BY, "cluster", "score_prior"],
    no_bearing=[role for role in BESIDE if role not in ("cluster", "score_prior")],
    or_table=True,
)
def bootstrap(
    cases: Cases[Any] | pl.LazyFrame | pl.DataFrame,
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    measures: str | Sequence[str] | None = None,
    method: str = "percentile",
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    **columns: Unpack[Columns],
) -> pl.LazyFrame:
    """The measures of each curve with intervals from resampled test sets.

    Each draw resamples the cases within their class or, given `cluster`, whole
    clusters. As in `intervals`, the weights of a curve are counts of equal cases, and the
    limits are the widest of three bootstraps: of the test set as it is, and with half a case
    of each class (half of what a cluster with the class has of it) added at the worst or at the
    best rank. Of
    sampling weights it is half a case as heavy as the heaviest of its class.

    Parameters
    ----------
    cases
        Predictions, one row per case: the result of `cases`, or any table that it takes; or,
        without `truth` and `score`, the result of `curve`, whose weights count cases.
        `weight` says how many cases of the population each row stands for, such as one over the
        chance that it was sampled: rows are resampled with their weights. Whole clusters are
        resampled where there is a `cluster`. With either, class totals vary from draw to draw,
        and so does the ``"observed"`` prior.
    **columns
    priors, over, interpolation, measures
        As in `evaluate`; interpolation ``"hull"`` has no interval.
    method
        ``"percentile"``: quantiles of the draws; ``"logit"``: estimate ± z standard deviations
        of the draws' log-odds.
    level
        Nominal coverage, in (0, 1).
    draws
        Number of draws, at least 100.
    seed
        Whole number ≥ 0. A key's draws depend on it and on the key's values
        alone.

    Returns
    -------
    Frame of the kind given
        Tidy measures as from `intervals`; `std_error` is the standard deviation
        of the draws. Limits are null with one positive or one negative, and
        where all draws agree; `note` says so.

    Raises
    ------
    InvalidArgument, InvalidPredictions, InvalidTable
        For an argument outside what is allowed; as in `curve`; where the
        columns or rows of a curve are missing.

    Notes
    -----
    Draws are made from the counts of the cells, not from rows. The plan holds
    a Python function: it runs in memory and cannot be sent to a remote engine.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> limits = curves.pipe(pr.bootstrap, measures="auc", draws=500)
    >>> limits.select((pl.col("lower") < 0.5) & (pl.col("upper") > 0.8)).item()
    True
    """
    check_interpolation(interpolation)
    described = cases if isinstance(cases, Cases) else None
    score_prior = "observed" if described is None else described.score_prior
    selected, in_arrays = (
        select_measures(
            measures, priors, over, interpolation, backend, score_prior=score_prior
        ).measures
        for backend in (POLARS, ARRAYS)
    )
    spec = BootstrapSpec(selected, in_arrays, method, level, draws, seed)
    if not isinstance(cases, Cases):
        # Cache: measures and draws must come from the same rows.
        table = whole_curves(cases)
        keys = curve_keys(table)
        curves = source = in_order(table, keys).cache()
    elif not cases.in_clusters:
        curves = source = as_lazy(curve(cases))
        keys = curve_keys(curves)
    else:
        rows = read(cases, clustered=True)
        keys, source = rows.keys, rows.cases
        # Curves of the same rows that are resampled.
        curves = curve_tables(replace(rows, rows=rows.rows.drop(CLUSTER)))
    limits = resampled(measures_of_curves(curves, spec.measures), source, keys, spec)
    if described is not None and not described.cluster:
        limits = with_note(limits, dependence(described), pl.col("lower").is_not_null())
    return limits


def resampled(
    measured: pl.LazyFrame, source: pl.LazyFrame, keys: Sequence[str], spec: BootstrapSpec
) -> pl.LazyFrame:
    """Tidy measures with limits from draws of their curves, or of clusters of their cases.

    `source` are the curves, or cases with a column `CLUSTER`.
    """
    made = partial(_limits, keys=keys, spec=spec)
    return beside(measured, source, keys, made, spec.level)


def _limits(source: pl.DataFrame, keys: Sequence[str], spec: BootstrapSpec) -> pl.DataFrame:
    rows: list[tuple[object, ...]] = []
    part_index: list[int] = []
    parts = source.partition_by(keys, maintain_order=True) if keys else [source]
    for number, part in enumerate(parts):
        if part.is_empty():
            continue
        key = part.select(keys).row(0) if keys else ()
        estimates = _key_limits(part.drop(keys), key, spec)
        rows += [(place, *limits) for place, limits in enumerate(estimates)]
        part_index += [number] * len(estimates)
    # Gather keys by row: as Python objects, times would lose their nanoseconds.
    limits = pl.DataFrame(rows, schema={PLACE: pl.Int64(), **COLUMNS}, orient="row")
    if not keys:
        return limits
    key_rows = source.select(keys).unique(maintain_order=True)[part_index]
    return pl.concat([key_rows, limits], how="horizontal")


def _key_limits(part: pl.DataFrame, key: Sequence[object], spec: BootstrapSpec) -> list[Limits]:
    """Lower and upper limit, standard error and note of each measure of a key."""
    clustered = CLUSTER in part.columns
    if clustered:
        check_clusters(part[CLUSTER].null_count())
    weight = WEIGHT if WEIGHT in part.columns else None
    roc = curve(keyed(part, truth=TRUTH, score=SCORE, weight=weight)) if clustered else part
    cases = _cases_of_classes(part, roc)
    note, has_none = _no_interval_note(cases, counted=clustered or roc.schema["pos"].is_integer())
    is_area = [measure.is_area for measure, _ in measures_by_row(spec.measures)]
    if has_none:
        return [(None, None, None, note)] * len(is_area)
    areas, in_arrays = (
        [measure for measure in measures if measure.is_area]
        for measures in (spec.measures, spec.in_arrays)
    )
    if not areas:
        return [(None, None, None, NOT_RESAMPLED)] * len(is_area)
    rng = generator(spec.seed, key)
    # Where weights differ, what is not seen may be as heavy as the heaviest.
    pseudo = [PSEUDO * mass for mass in (whole_cluster(part) if clustered else (1.0, 1.0))]
    smallest = 1 / (2 * cases[0] * cases[1])
    segments = segments_of_curve(roc)
    per_place = []
    for place in PLACES:
        placed = with_pseudo_cases(segments, place, *(np.array([more]) for more in pseudo))
        estimates = np.array([one[0] for one, _ in on_segments(placed, in_arrays)])
        if clustered:
            blocks = draws_of_clusters(part, rng, spec.draws, place)
        else:
            blocks = draws_of_cells(roc, rng, spec.draws, place)
        drawn = np.concatenate([_estimates(block.lazy(), [DRAW], areas) for block in blocks])
        # A draw without positives has no segments, hence no row.
        without_class = np.full((spec.draws - drawn.shape[0], len(areas)), np.nan)
        drawn = np.concatenate([drawn, without_class])
        rows = zip(values_by_row(areas, estimates), values_by_row(areas, drawn), strict=True)
        per_place.append(
            [
                limits_of_draws(float(own), draws, spec.method, spec.level, smallest)
                for own, draws in rows
            ]
        )
    limits = iter([widest(of) for of in zip(*per_place, strict=True)])
    return [next(limits) if own else (None, None, None, NOT_RESAMPLED) for own in is_area]


def _estimates(segments: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure]) -> "Array":
    wide = per_key(segments, keys, measures)
    columns = [
        measure.estimate.cast(pl.Float64).alias(str(i)) for i, measure in enumerate(measures)
    ]
    return wide.select(columns).collect().to_numpy()


def _cases_of_classes(part: pl.DataFrame, roc: pl.DataFrame) -> tuple[float, float]:
    """The numbers of positives and negatives, of those with a sampling weight above zero."""
    if WEIGHT not in part.columns:
        return roc["positives"][0], roc["negatives"][0]
    weighing = part.filter(pl.col(WEIGHT) > 0)
    positives = weighing.filter(pl.col(TRUTH)).height
    return positives, weighing.height - positives


def _no_interval_note(cases: tuple[float, float], *, counted: bool) -> tuple[str | None, bool]:
    """A note on why a curve has no interval, None if it has one already; whether it has none."""
    if not all(cases):
        return None, True
    for total, name in zip(cases, ("positive", "negative"), strict=True):
        if total <= 1:
            return f"one {name}: no interval", True
    return (None, False) if counted else (NOT_COUNTS, True)


def limits_of_draws(
    estimate: float, drawn: "Array", method: str, level: float, smallest: float
) -> Limits:
    """The limits of one measure from its values in the draws, NaN where it is undefined.

    `smallest` replaces a distance of zero from 0 or 1, whose log-odds would be infinite.
    """
    known = drawn[np.isfinite(drawn)]
    # Sums over fractions of cases may exceed the range of a measure by rounding.
    for end in (0, 1):
        known[np.abs(known - end) < ROUNDING] = end
    note = None if known.size == drawn.size else f"{drawn.size - known.size} draws lack a class"
    if known.size < 2 or not np.isfinite(estimate):
        return None, None, None, note
    error = float(known.std(ddof=1))
    if np.ptp(known) < ROUNDING:
        return None, None, 0.0, "all draws agree: no interval"
    if method == "logit":
        lowest, highest = _on_log_odds(estimate, known, level, smallest)
        return lowest, highest, error, note
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper), error, note


def widest(limits: Sequence[Limits]) -> Limits:
    """The first of several limits, widened to include all; without limits if any has none.

    Examples
    --------
    >>> widest([(0.4, 0.6, 0.1, None), (0.3, 0.5, 0.1, None), (0.5, 0.7, 0.1, None)])
    (0.3, 0.7, 0.1, None)
    """
    lower = [one[0] for one in limits if one[0] is not None]
    upper = [one[1] for one in limits if one[1] is not None]
    _, _, error, note = limits[0]
    if len(lower) < len(limits):
        return None, None, error, next((one[3] for one in limits if one[0] is None), note)
    return min(lower), max(upper), error, note


def _on_log_odds(
    estimate: float, known: "Array", level: float, smallest: float
) -> tuple[float, float] | tuple[None, None]:
    from scipy.special import expit, logit

    if not 0 < estimate < 1:
        return None, None
    odds = logit(np.clip(known, smallest, 1 - smallest))
    centre, width = logit(estimate), normal(level) * odds.std(ddof=1)
    return float(expit(centre - width)), float(expit(centre + width))
