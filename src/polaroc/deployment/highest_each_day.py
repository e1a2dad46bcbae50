"""The highest cases of each day as a rule without a threshold."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Unpack

import polars as pl

from polaroc.base.checks import check_factors, check_share
from polaroc.base.columns import COVERAGE, INTERVAL, key_expressions, parts_by_key, refuse_clash
from polaroc.base.docstrings import described_as
from polaroc.base.lazy import np
from polaroc.base.private_columns import PLACE
from polaroc.base.rounding import rounded_up
from polaroc.curves.held import TOTALS, HeldRows
from polaroc.curves.thinning import corners
from polaroc.deployment.highest import QUANTITIES, Asked, Cells, of_days
from polaroc.errors import Hint, InvalidArgument
from polaroc.predictions.calendar import PERIOD, keys_but_period, with_dates, without_period
from polaroc.predictions.cases import Cases, refuse_crossed
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.table import read
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.predictions.usual_keys import may_be_key, usual_units
from polaroc.priors.grids import range_of, some_priors
from polaroc.thresholds.alerts import capacity_of, refuse_folds
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.typing import IntoExpr, Priors

RESULT = {
    "measure": pl.String(), "prior": pl.Float64(), "estimate": pl.Float64(),
    "lower": pl.Float64(), "upper": pl.Float64(), COVERAGE: pl.Float64(),
    "std_error": pl.Float64(), "one_threshold": pl.Float64(), "days": pl.Int64(),
    "positives": pl.Float64(), "negatives": pl.Float64(), "note": pl.String(),
}  # fmt: skip
NUMBERS = ("estimate", "lower", "upper", "std_error", "one_threshold")


@described_as(apply_thresholds)
@frame_of_cases(
    [*COUNTED_BY, "cluster", "time"],
    no_bearing=[role for role in BESIDE if role not in ("cluster", "time")],
)
def highest_each_day(
    cases: Cases[Any],
    alerts: float,
    every: str | None = None,
    *,
    priors: Priors | None = None,
    over: tuple[float, float] | None = None,
    volume: float | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.LazyFrame:
    """What is found among the highest scores of each day, a rule without a threshold.

    Parameters
    ----------
    cases
        Labelled predictions of fitted models, with their `time`: the result of `cases`, or any
        table that it takes.
    **columns
    alerts
        How many cases are looked at each day, > 0: those with the highest scores. Equal scores
        have equal chances.
    every
        The length of a day, as Polars says durations: ``"1d"``, ``"1w"``; of a `time` in numbers
        ``"10i"``. By default each date, of a `time` with hours too, and else each value of it.
    priors
        Priors in (0, 1), or "observed", the default, for the share of positives in the table.
    over
        A range (lo, hi) of priors instead: its ends and its middle.
    volume
        Cases that there are a day, > 0, where the table is a sample of them; by default they are
        those of the table.

    Returns
    -------
    Frame of the kind given
        One row per key, measure and prior, sorted: the keys; `measure` String: "recall", of all
        positives; "precision"; "cost" per case, cost_fn·π(1−t) + cost_fp·(1−π)f; "alerts" a day;
        `prior`, `estimate`, `lower`, `upper`, `level`, `std_error` Float64; `one_threshold`
        Float64, the same where one threshold for all days raises as many alerts on average;
        `days` Int64; `positives`, `negatives` of the table, Float64; `note` String, null, or
        why there is no estimate or there are no limits, and how many days have fewer cases than
        alerts, which are all looked at.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve`; without a `time`, or where it is null; for more alerts than any day has
        cases; where folds share the cases of a day and `volume` is not given.

    Notes
    -----
    At another prior each positive and each negative stands for so many cases that the share of
    positives in all days together is that prior, and there are as many cases a day. The cases
    looked at are then as many of the day so weighted, so that the score from which on they are
    looked at moves from day to day and from prior to prior.

    Limits are Student's, with the days as independent clusters, of recall and precision on the
    scale of log-odds. Their standard errors come from how much the estimates move without each
    day (the jackknife), with one degree of freedom less than there are days with positives. With
    fewer than five of these there are no limits, nor where values of a `cluster` are in several
    days; of a column with a usual name, such as "customer", that is no `cluster`, `note` says so.
    How often they hold the truth, ``just days highest`` simulates.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({
    ...     "day": [i // 20 for i in range(200)], "truth": [i % 10 == 0 for i in range(200)],
    ...     "score": [i * 37 % 101 + 60 * (i % 10 == 0) for i in range(200)],
    ... })
    >>> found = pr.highest_each_day(table, 3, truth="truth", score="score", time="day")
    >>> found.select("measure", pl.col("estimate", "one_threshold").round(2)).rows()
    [('recall', 0.9, 0.8), ('precision', 0.6, 0.53), ('cost', 0.07, 0.09), ('alerts', 3.0, 3.0)]
    """
    check_share("level", level)
    check_factors(alerts=alerts, cost_fn=cost_fn, cost_fp=cost_fp)
    if volume is not None:
        capacity_of(alerts, volume)
    if over is not None and priors is not None:
        raise InvalidArgument(
            "both priors and over are given.", hint="give the priors, or a range of them."
        )
    at = some_priors("observed" if priors is None else priors)
    if over is not None:
        low, high = range_of(over)
        at = [low, (low + high) / 2, high]
    asked = Asked(alerts, volume, tuple(at), {"cost_fn": cost_fn, "cost_fp": cost_fp})
    held = with_dates(cases, every)
    refuse_crossed(held)
    if volume is None:
        refuse_folds(held)
    keys = keys_but_period(held)
    refuse_clash(keys, [*RESULT, PERIOD])
    crossing, doubt = _across(held, held.cluster), None
    if not held.cluster:
        kinds = held.table.schema
        free = [name for name in kinds if name not in held.used and may_be_key(kinds[name])]
        doubt = _across(held, usual_units(free))
    plain = replace(held, cluster=())
    _, of_each = _by_key(plain, keys)
    kinds, pooled = _by_key(without_period(plain), keys)
    rows = [
        dict(zip(keys, key, strict=True)) | row
        for key, own in pooled.items()
        for row in _rows(of_each[key], own, asked, level, crossing, doubt)
    ]
    return pl.DataFrame(rows, schema={**kinds, **RESULT}, orient="row").lazy()


def _across(held: Cases[pl.DataFrame], clusters: Sequence[IntoExpr]) -> str | None:
    """What is to be said of clusters that have cases in several days; None where none has."""
    for cluster in key_expressions(clusters):
        several = pl.col(PERIOD).min() < pl.col(PERIOD).max()
        days = held.table.lazy().group_by(cluster).agg(several)
        if days.drop_nulls().select(pl.col(PERIOD).any()).collect().item():
            name = cluster.meta.output_name()
            return f"cases with the same {name!r} are in several days, which are not independent"
    return None


def _by_key(
    cases: Cases[pl.DataFrame], keys: Sequence[str]
) -> tuple[pl.Schema, dict[tuple[Any, ...], Cells]]:
    """The types of the keys, and the curves of each key that have cases."""
    ranked = HeldRows.of(read(cases)).ranked(scored=False)
    (tp, fp), starts = corners(ranked)
    totals = ranked.totals.with_row_index(PLACE)
    # Keys of which all rows were dropped come last.
    curves = totals.sort(keys, nulls_last=True) if keys else totals
    found = {}
    for key, own in parts_by_key(curves, keys).items():
        places = own.filter(pl.sum_horizontal(TOTALS) > 0)[PLACE].to_numpy()
        found[key] = Cells(tp, fp, starts[places], starts[places + 1] - 1)
    return totals.select(keys).schema, found


def _rows(
    days: Cells, pooled: Cells, asked: Asked, level: float, crossing: str | None, doubt: str | None
) -> Iterator[dict[str, Any]]:
    """The rows of one key."""
    positives, negatives = (float(own[days.last].sum()) for own in (days.tp, days.fp))
    alike = {
        COVERAGE: level, "days": days.first.size, "positives": positives, "negatives": negatives,
    }  # fmt: skip
    if not (positives and negatives):
        lacking = [name for name in ("positives", "negatives") if not alike[name]]
        none = {"note": ", ".join(f"no {name}" for name in lacking)}
        for measure, prior in product(QUANTITIES, asked.priors):
            yield {"measure": measure, "prior": prior} | none | alike
        return
    if asked.alerts >= (most := asked.most(days)):
        raise InvalidArgument(
            f"alerts is {asked.alerts:,.15g} a day, and no day has more than {most:,.15g} cases: "
            "every case can be looked at.",
            hint=Hint(
                "give fewer {alerts}, or a longer day, such as {every}.",
                alerts=rounded_up(most / 10), every="1w",
            ),
        )  # fmt: skip
    found = of_days(days, pooled, asked, level)
    some = f"{found.few} of {days.first.size} days have fewer cases than {asked.alerts:,.15g}"
    notes = [f"{some}: all of theirs are looked at"] if found.few else []
    notes += [f"{doubt}: limits are too sure"] if doubt else []
    why = crossing or found.why_no_limits or "no spread among the days"
    priors = [positives / (positives + negatives) if at is None else at for at in asked.priors]
    for (i, measure), (j, prior) in product(enumerate(QUANTITIES), enumerate(priors)):
        numbers = {
            name: None if np.isnan(value := getattr(found, name)[i, j]) else float(value)
            for name in NUMBERS
            if crossing is None or name not in INTERVAL
        }
        lack = [f"{why}: no interval"] if numbers.get("lower") is None else []
        note = "; ".join([*notes, *lack]) or None
        yield {"measure": measure, "prior": prior, "note": note} | numbers | alike
