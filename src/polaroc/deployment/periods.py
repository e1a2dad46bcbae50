"""Measures, rates and scoring rules by period, and whether they have a trend."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Unpack

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.checks import check_factors, check_share, one_or_several, refuse_unused, unless
from polaroc.base.columns import COVERAGE, refuse_clash
from polaroc.base.docstrings import described_as
from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.private_columns import CLUSTER, TRUTH
from polaroc.base.text import capitalised
from polaroc.deployment.period_rates import PERIOD_RATES, tidy_rates
from polaroc.deployment.periods_result import Periods
from polaroc.errors import InvalidPredictions
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, select_measures
from polaroc.measures.spec import Measure
from polaroc.predictions.calendar import PERIOD, keys_but_period, places, with_periods
from polaroc.predictions.cases import Cases, refuse_crossed, with_clusters
from polaroc.predictions.roles import BESIDE, OF_COUNTS, Columns, RoleName
from polaroc.predictions.row_checks import SCORE, check_clusters
from polaroc.predictions.table import read
from polaroc.predictions.takes_cases import takes_cases
from polaroc.priors.grids import OBSERVED, resolve_priors, skew
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.fixed import Numbers, are_numbers
from polaroc.thresholds.named_rates import rate_at
from polaroc.thresholds.ways import refuse_ways
from polaroc.typing import Prior, Priors, Table
from polaroc.uncertainty.adjusted import holm
from polaroc.uncertainty.influence import CaseInfluence, called, of_calls, of_cases
from polaroc.uncertainty.trends import ENDS, Trend, of_periods, trend

# The line through periods is one of cases.
BY_PERIOD: tuple[RoleName, ...] = (*OF_COUNTS, "cluster", "time", "score_prior")
NO_BEARING: tuple[RoleName, ...] = tuple(role for role in BESIDE if role not in BY_PERIOD)
DEFAULT = ("auc", "auprec")
FEW = "two periods do not tell how much periods differ beyond chance"
TOO_FEW = "fewer than two periods with two {} of each class: no trend"
# Below, trends were said too often in simulation (`just days trends`).
FEWEST = 20
FEW_CLUSTERS = f"a class has {{}} clusters in all periods together, {FEWEST} are needed: no trend"
NO_SLOPE = "no trend of this measure is known"
RESULT = {
    "estimate": pl.Float64(), "lower": pl.Float64(), "upper": pl.Float64(), COVERAGE: pl.Float64(),
    "std_error": pl.Float64(), "per": pl.String(), "p_value": pl.Float64(),
    "p_adjusted": pl.Float64(), "periods": pl.Int64(),
    "spread": pl.Float64(), "note": pl.String(),
}  # fmt: skip


@dataclass(frozen=True)
class Trending:
    """What has a trend: its name, its prior, and a measure, or None for a rate of a threshold."""

    name: str
    prior: float | None
    measure: Measure | None


@described_as(evaluate)
@takes_cases(BY_PERIOD, no_bearing=NO_BEARING)
def periods(
    cases: Cases[Any],
    every: str | None = None,
    *,
    measures: str | Sequence[str] | None = None,
    priors: Priors | None = None,
    over: tuple[float, float] | None = None,
    points: Table | Numbers | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> Periods:
    """Measures of each period with limits, and whether they change over time.

    Parameters
    ----------
    cases
        Labelled predictions of fitted models, with their `time`: the result of `cases`, or any
        table that it takes. Where the `time` is the `fold`, too, models were fitted anew in each
        period, and the trend is that of the way they are made.
    **columns
    every
        The length of a period, as Polars says durations: ``"1w"``, ``"1mo"``, ``"1q"``; of a
        `time` in numbers ``"10i"``. Without it each value of the `time` is a period.
    measures
        As in `evaluate`, by default "auc" and "auprec": "brier" and "log_loss" say how well
        scores are calibrated.
    priors
        Priors at which measures, and the rates of `points`, are taken, as in `evaluate`. By
        default the share of positives in all periods together, so that no trend comes
        from the share of positives alone; "observed" is that of each period.
    over
        A range (lo, hi) of priors, for measures that need one.
    points
        Thresholds in use, as in `apply_thresholds`, chosen on other cases: rates
        "tpr", "fpr", "precision", "posfrac" and "cost" are then taken, too.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm, for "cost".
    level
        Coverage of all limits, in (0, 1).

    Returns
    -------
    Periods
        `table`, a row per key, period, measure and prior, and `trends`, a row per key,
        measure and prior; an `answer` in sentences.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As in `evaluate` and `apply_thresholds`; without a `time`; for an `every` that does not
        fit it; for a column named "period".

    Notes
    -----
    Limits of a period are those of `evaluate` with ``intervals="logit"``, and of
    `apply_thresholds`.

    The trend is the slope of a line through the estimates, by weighted least squares. Weights
    come from the numbers of cases, or clusters, of a period, and from how much periods differ
    beyond chance (DerSimonian and Laird 1986); they do not depend on the estimate of the period,
    since a high area looks sure. The standard error is the larger one of two: that of the
    cases, with the covariance of periods that share a `cluster`, and of how much periods differ
    beyond; and that of the estimates about the line (Knapp and Hartung 2003). With two
    periods there is only the error of the cases. Periods with fewer than two cases, or clusters,
    of a class are left out; with fewer than 20 clusters there is no trend.

    `p_adjusted` is the p-value by Holm's rule for all trends of the table, of all keys, measures
    and priors. A trend is said where it is below 1 − `level`.

    How often it finds a trend where there is none, ``just days trends`` simulates; the page "Over
    time" of the guide has a table.

    Without `score_prior` scores that are probabilities are taken as right at the share of
    positives in all periods together.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({
    ...     "month": [1, 2, 3, 4] * 50, "truth": ([1] * 4 + [0] * 4) * 25,
    ...     "score": [float(i * 37 % 101) for i in range(200)],
    ... }).with_columns(pl.col("score") + pl.col("truth") * (120 - 25 * pl.col("month")))
    >>> found = pr.periods(table, measures="auc", truth="truth", score="score", time="month")
    >>> found.table.select("period", pl.col("estimate").round(2)).rows()
    [(1, 1.0), (2, 0.96), (3, 0.81), (4, 0.76)]
    >>> found.trends.select(pl.col("estimate").round(2), pl.col("p_value") < 0.05).row(0)
    (-0.09, True)
    """
    check_share("level", level)
    costs = {"cost_fn": cost_fn, "cost_fp": cost_fp}
    check_factors(**costs)
    if points is None:
        refuse_unused("for points", "points is None", cost_fn=unless(1, cost_fn),
                      cost_fp=unless(1, cost_fp))  # fmt: skip
    measures = DEFAULT if measures is None else measures
    held = with_periods(cases, every)
    keys = keys_but_period(held)
    refuse_clash(keys, [*RESULT, PERIOD])
    rows = rows_of_periods(held, keys)
    if rows.is_empty():
        raise InvalidPredictions("there are no rows.", hint="check what is read.")
    share = float(rows[TRUTH].mean())  # type: ignore[arg-type]
    usual: Prior = share if 0 < share < 1 else "observed"
    if held.score_prior == OBSERVED and 0 < share < 1:
        held = replace(held, score_prior=share)
    at: Priors = usual if priors is None else priors
    table = evaluate(held, measures=measures, priors=at, over=over, intervals="logit", level=level)
    judged = None
    if points is not None:
        refuse_ways(points)
        judged = apply_thresholds(
            held, points, priors=at if are_numbers(points) else priors, intervals="exact",
            level=level, cost_fn=cost_fn, cost_fp=cost_fp,
        )  # fmt: skip
        table = pl.concat([table, tidy_rates(judged, [*keys, PERIOD], level)], how="diagonal")
    chosen = [*_measures(measures, at, over, held), *_rates(judged)]
    order = {one.name: place for place, one in enumerate(chosen)}
    # Rates of models without a threshold have no place.
    place = pl.col("measure").replace_strict(order, default=None, return_dtype=pl.Int64)
    table = table.sort(*keys, PERIOD, place, "prior", nulls_last=True)
    trends = _trends(rows, judged, keys, chosen, costs, every, level)
    warnings = (f"{capitalised(FEW)}.",) if trends["periods"].eq(ENDS).any() else ()
    return Periods(
        table.select([*keys, PERIOD, *(name for name in table.columns if name not in
                      (*keys, PERIOD))]),
        trends, warnings, level,
    )  # fmt: skip


def rows_of_periods(
    cases: Cases[pl.DataFrame], keys: Sequence[str], also: Sequence[str] = ()
) -> pl.DataFrame:
    """The valid rows with keys, period, cluster, and the columns kept `also`."""
    refuse_crossed(cases)
    named, clusters = with_clusters(cases)
    rows = read(named, also=[*clusters, *also], collected=True).cases.collect()
    if clusters:
        check_clusters(rows[clusters[0]].null_count())
        rows = rows.with_columns((pl.col(clusters[0]).rank("dense") - 1).alias(CLUSTER))
    return rows.sort(*keys, PERIOD, *also, nulls_last=True, maintain_order=True)


def _measures(
    names: str | Sequence[str],
    priors: Priors,
    over: tuple[float, float] | None,
    cases: Cases[Any],
) -> Iterator[Trending]:
    """Each measure at each prior, in the order of the table."""
    wanted = one_or_several(names)
    for name in (one for one in CATALOG if one in wanted):
        at: list[float | None] = resolve_priors(priors) if CATALOG[name].at_priors else [None]
        for prior in at:
            (measure,) = select_measures(
                [name], "observed" if prior is None else prior, over, "exact", ARRAYS,
                score_prior=cases.score_prior,
            ).measures  # fmt: skip
            yield Trending(name, prior, measure)


def _rates(judged: pl.DataFrame | None) -> Iterator[Trending]:
    """Each rate at each prior at which thresholds were judged."""
    if judged is None:
        return
    for name, prior in product(PERIOD_RATES, judged["prior"].unique().sort().drop_nulls()):
        yield Trending(name, prior, None)


def _trends(
    rows: pl.DataFrame,
    judged: pl.DataFrame | None,
    keys: Sequence[str],
    chosen: Sequence[Trending],
    costs: Mapping[str, float],
    every: str | None,
    level: float,
) -> pl.DataFrame:
    """The trend of each key and quantity."""
    found = []
    rows = rows.select(*keys, pl.exclude(keys))
    parts = rows.partition_by(keys, maintain_order=True) if keys else [rows]
    for part in parts:
        of_key = part.partition_by(PERIOD, maintain_order=True)
        units = CLUSTER if CLUSTER in part.columns else None
        usable = [one for one in of_key if has_both(one, units)]
        for quantity in chosen:
            own = _influences(usable, judged, keys, quantity, costs)
            found.append(
                dict(zip(keys, part.row(0), strict=False))
                | {"measure": quantity.name, "prior": quantity.prior}
                | _trend(usable, own, every, level)
            )
    schema = {key: rows.schema[key] for key in keys}
    schema |= {"measure": pl.String(), "prior": pl.Float64(), **RESULT}
    trends = pl.DataFrame(found, schema=schema, orient="row")
    adjusted, _ = holm(trends["p_value"].to_numpy())
    return trends.with_columns(p_adjusted=pl.Series(adjusted, dtype=pl.Float64).fill_nan(None))


def has_both(rows: pl.DataFrame, units: str | None) -> bool:
    """Whether there are two cases, or clusters, of each class."""
    both = (rows.filter(TRUTH), rows.filter(~pl.col(TRUTH)))
    counts = [one.height if units is None else one[units].n_unique() for one in both]
    return min(counts) > 1


def _influences(
    usable: Sequence[pl.DataFrame],
    judged: pl.DataFrame | None,
    keys: Sequence[str],
    quantity: Trending,
    costs: Mapping[str, float],
) -> list[CaseInfluence | None]:
    """The influences of the cases of each period, None where the quantity is not known."""
    found: list[CaseInfluence | None] = []
    for rows in usable:
        score, truth = rows[SCORE].to_numpy(), rows[TRUTH].to_numpy()
        if quantity.measure is not None:
            own = of_cases(score, truth, [quantity.measure])
        else:
            assert judged is not None
            assert quantity.prior is not None
            own_key = [*keys, PERIOD]
            at = join_on(judged, rows.head(1), own_key, "semi").filter(prior=quantity.prior)
            if at.height != 1 or at["share"][0] is None:
                found.append(None)
                continue
            calls = called(score, at["threshold"][0], at["share"][0])
            rate = rate_at(quantity.name, skew(quantity.prior), **costs)
            own = of_calls(calls, truth, rate).influence
        known = np.isfinite(own.estimates[0]) and all(np.isfinite(one).all() for one in own[1:])
        found.append(own if known else None)
    return found


def _trend(
    usable: Sequence[pl.DataFrame],
    influences: Sequence[CaseInfluence | None],
    every: str | None,
    level: float,
) -> dict[str, Any]:
    """The columns of a trend."""
    count = sum(own is not None for own in influences)
    line = line_of_periods(usable, influences, every, level)
    if isinstance(line, str):
        return dict.fromkeys(RESULT) | {COVERAGE: level, "periods": count, "note": line}
    found, per = line
    return {
        "estimate": found.estimate, "lower": found.lower, "upper": found.upper, COVERAGE: level,
        "std_error": found.std_error, "per": per, "p_value": found.p_value, "p_adjusted": None,
        "periods": count,
        "spread": found.spread, "note": FEW if count == ENDS else None,
    }  # fmt: skip


def line_of_periods(
    usable: Sequence[pl.DataFrame],
    influences: Sequence[CaseInfluence | None],
    every: str | None,
    level: float,
) -> tuple[Trend, str] | str:
    """The trend and what it is per; or why there is none."""
    known = [(rows, own) for rows, own in zip(usable, influences, strict=True) if own is not None]
    if len(known) < ENDS:
        units = "clusters" if usable and CLUSTER in usable[0].columns else "cases"
        return TOO_FEW.format(units)
    place, per = places(pl.concat([rows[PERIOD].head(1) for rows, _ in known]), every)
    clusters = [rows[CLUSTER].to_numpy() for rows, _ in known if CLUSTER in rows.columns]
    truths = [rows[TRUTH].to_numpy() for rows, _ in known]
    if clusters:
        fewest = min(
            pl.concat(rows.filter(own)[CLUSTER] for rows, _ in known).n_unique()
            for own in (pl.col(TRUTH), ~pl.col(TRUTH))
        )
        if fewest < FEWEST:
            return FEW_CLUSTERS.format(fewest)
    evidence = of_periods([own for _, own in known], truths, clusters or None)
    if not evidence.evidence.is_known:
        return NO_SLOPE
    return trend(evidence, place, level), per
