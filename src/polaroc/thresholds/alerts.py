"""Alerts a day that a team can handle: the share of cases that they are, and how many are used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from polaroc import rates
from polaroc.base.checks import check_factors
from polaroc.base.columns import ALERTS, PRIOR_LIMITS
from polaroc.base.joins import join_on
from polaroc.base.private_columns import private
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.curves.keys import totals
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, quoted
from polaroc.predictions.calendar import keys_but_period, with_dates
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import several_folds, with_note
from polaroc.predictions.table import read
from polaroc.priors.grids import skew
from polaroc.thresholds.constraints import resolve_constraints

# What is added to points: alerts a day at the priors where they are fewest and most.
# Share of the capacity below which most of it is idle.
IDLE = 0.5
FREE = private("free")


class Capacity(NamedTuple):
    """Alerts, or reviews, that can be handled a day, and cases that there are a day."""

    alerts: float
    volume: float
    note: str | None = None  # where the cases are those of a table

    @property
    def share(self) -> float:
        """The share of cases that may be looked at."""
        return self.alerts / self.volume

    def used(self, prior: Any, recall: Any, false_alarms: Any) -> Any:
        """The alerts a day at a prior, of true and false positive rates."""
        return self.volume * rates.posfrac(recall, false_alarms, skew(prior))

    def is_used(self, priors: Sequence[float], recall: float, false_alarms: float) -> bool:
        """Whether at one of the priors as many alerts are raised as are not idle."""
        most: float = max(self.used(prior, recall, false_alarms) for prior in priors)
        return most >= IDLE * self.alerts


def capacity_of(
    alerts: float | None, volume: float | None, name: str = "alerts", *, cases: object = None
) -> Capacity | None:
    """The capacity, refused where it is none; None where none is given.

    Without a volume it is that of the days of the cases.
    """
    if alerts is None and volume is None:
        return None
    note = None
    if (
        alerts is not None
        and volume is None
        and isinstance(cases, Cases)
        and cases.time is not None
    ):
        volume, days = cases_a_day(cases)
        note = (
            f"there are {volume:,.5g} cases a day, the mean of the {days:,} days of this table: if "
            "it is a sample of them, say the volume"
        )
    if alerts is None or volume is None:
        lacking = name if alerts is None else "volume"
        usual: Any = {name: 500, "volume": 200_000}
        known = ""
        if name == "alerts":
            known, usual["time"] = "; of predictions with their {time} the volume is known", "day"
        raise InvalidArgument(
            f"{lacking} is not given, and a capacity takes the {name} that can be handled a day "
            "and the cases that there are a day.",
            hint=Hint(f"give {{{name}}} and {{volume}}{known}.", **usual),
        )
    check_factors(**{name: alerts, "volume": volume})
    if alerts >= volume:
        raise InvalidArgument(
            f"{name} is {alerts:,.15g} and volume {volume:,.15g} a day: every case can be looked "
            "at.",
            hint="leave both out, or are they of different periods?",
        )
    return Capacity(alerts, volume, note)


def cases_a_day(cases: Cases[Any]) -> tuple[float, int]:
    """The mean number of cases a day, the same for all keys, and how many days there are."""
    held = with_dates(cases)
    refuse_folds(held)
    days = totals(read(replace(held, cluster=()))).collect()
    keys = keys_but_period(held)
    of_keys = days.group_by(keys or pl.lit(0)).agg(
        (pl.col("positives") + pl.col("negatives")).mean().alias("volume"), pl.len().alias("days")
    )
    volumes = of_keys["volume"].to_list()
    if not volumes:
        raise InvalidPredictions("there are no rows.", hint="check what is read.")
    least, most = min(volumes), max(volumes)
    if most - least > ROUNDING * most:
        raise InvalidArgument(
            f"volume is not given, and the values of {quoted(keys)} have {least:,.5g} to "
            f"{most:,.5g} cases a day.",
            hint=Hint("give {volume}, or take each value on its own.", volume=200_000),
        )
    return float(most), max(of_keys["days"].to_list())


def refuse_folds(cases: Cases[pl.DataFrame]) -> None:
    """Refuse folds, whose rows tell nothing of how many cases there are."""
    if folds := several_folds(cases):
        raise InvalidArgument(
            f"{quoted(folds)} tells folds apart, each of which has a part of the cases of a day.",
            hint=Hint(
                "give {volume}, the cases that there are a day, or fold=None where one model "
                "scored them all.",
                volume=200_000,
            ),
        )


def within_capacity(
    choose: Callable[..., pl.LazyFrame | pl.DataFrame],
    capacity: Capacity,
    over: object,
    constraints: Mapping[str, float] | None,
    asked: Mapping[str, Any],
) -> pl.LazyFrame:
    """Points that raise at most so many alerts a day, with how many they do raise.

    `choose` gives the points of a rule. Of a promise that leaves most of the capacity idle `note`
    says what could be found without it.
    """
    if "posfrac" in (constraints or {}) or asked["rule"] == "capacity":
        raise InvalidArgument(
            "alerts is given, and the share of cases that raise an alarm is limited besides.",
            hint="leave the rule 'capacity' and the limit of posfrac out.",
        )
    limits = {"posfrac": capacity.share}
    points = choose(constraints={**(constraints or {}), **limits}, **asked).lazy()
    names = points.collect_schema().names()
    ends = resolve_constraints(limits, "max_recall", None, over).ends
    t, f = pl.col("tpr"), pl.col("fpr")
    points = points.with_columns(a_day(ALERTS, t, f, names, capacity.volume, ends))
    if capacity.note is not None:
        points = with_note(points, capacity.note, pl.lit(True))
    if asked["confidence"] is None:
        return points
    on = [*names[: names.index("rule")], "prior"]
    free = choose(rule="capacity", target=capacity.share).lazy()
    both = join_on(points, free.select(*on, pl.col("tpr").alias(FREE)), on, "left", order="left")
    idle = idle_note("alerts", capacity.alerts, pl.col(ALERTS[1]), pl.col("tpr"))
    return both.with_columns(idle).drop(FREE)


def a_day(
    into: Sequence[str],
    t: pl.Expr,
    f: pl.Expr,
    names: Sequence[str],
    volume: float,
    ends: tuple[float, float] | None,
) -> list[pl.Expr]:
    """The least and the most cases a day of such rates; their share is linear in the prior."""
    own = PRIOR_LIMITS if set(PRIOR_LIMITS) <= set(names) else ("prior",)
    priors = [pl.col(one) for one in own] if ends is None else [pl.lit(end) for end in ends]
    each = [volume * rates.posfrac(t, f, skew(prior)) for prior in priors]
    return [
        pick(each).alias(name)
        for pick, name in zip((pl.min_horizontal, pl.max_horizontal), into, strict=True)
    ]


def idle_note(name: str, capacity: float, most: pl.Expr, found: pl.Expr) -> pl.Expr:
    """The note, and a word where the promise leaves most of the capacity idle.

    Given are how much of it is used at most, and the positives found; those without it in `FREE`.
    """
    is_lacking, free = found.is_null(), pl.col(FREE)
    most, found = most.fill_null(0), found.fill_null(0)
    said = pl.format(
        f"the promise leaves {{}} of {capacity:,.15g} {name} a day unused: without it {{}} % of "
        "positives would be found on this table, with it {} %",
        (capacity - most).round(0).cast(pl.Int64), _as_percent(free),
        _as_percent(found),
    )  # fmt: skip
    without = pl.format(
        "without a promise {} % of positives would be found on this table", _as_percent(free)
    )
    is_idle = (most < IDLE * capacity) & (free > found)
    told = pl.when(is_lacking).then(without).otherwise(said)
    return joined_notes("note", pl.when(is_idle).then(told))


def _as_percent(share: pl.Expr) -> pl.Expr:
    return (100 * share).round_sig_figs(2).cast(pl.String).str.strip_suffix(".0")
