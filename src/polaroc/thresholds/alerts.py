"""Alerts a day that a team can handle: the share of cases that they are, and how many are used."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polaroc import rates
from polaroc.base.checks import check_factor
from polaroc.base.columns import PRIOR_LIMITS
from polaroc.base.joins import join_on
from polaroc.base.private_columns import private
from polaroc.errors import Hint, InvalidArgument
from polaroc.priors.grids import skew
from polaroc.thresholds.constraints import resolve_constraints

# What is added to points: alerts a day at the priors where they are fewest and most.
ALERTS = ("alerts_least", "alerts_most")
# Share of the capacity below which most of it is idle.
IDLE = 0.5
FREE = private("free")


class Capacity(NamedTuple):
    """Alerts, or reviews, that can be handled a day, and cases that there are a day."""

    alerts: float
    volume: float

    @property
    def share(self) -> float:
        """The share of cases that may be looked at."""
        return self.alerts / self.volume


def capacity_of(
    alerts: float | None, volume: float | None, name: str = "alerts"
) -> Capacity | None:
    """The capacity, refused where it is none; None where none is given."""
    if alerts is None and volume is None:
        return None
    if alerts is None or volume is None:
        lacking = name if alerts is None else "volume"
        usual: Any = {name: 500, "volume": 200_000}
        raise InvalidArgument(
            f"{lacking} is not given, and a capacity takes the {name} that can be handled a day "
            "and the cases that there are a day.",
            hint=Hint(f"give {{{name}}} and {{volume}}.", **usual),
        )
    check_factor(name, alerts)
    check_factor("volume", volume)
    if alerts >= volume:
        raise InvalidArgument(
            f"{name} is {alerts:,.15g} and volume {volume:,.15g} a day: every case can be looked "
            "at.",
            hint="leave both out, or are they of different periods?",
        )
    return Capacity(alerts, volume)


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
    most, found, free = most.fill_null(0), found.fill_null(0), pl.col(FREE)
    said = pl.format(
        f"the promise leaves {{}} of {capacity:,.15g} {name} a day unused: without it {{}} % of "
        "positives would be found on this table, with it {} %",
        (capacity - most).round(0).cast(pl.Int64), _as_percent(free),
        _as_percent(found),
    )  # fmt: skip
    is_idle = (most < IDLE * capacity) & (free > found)
    parts = ["note", pl.when(is_idle).then(said)]
    both = pl.concat_str(parts, separator="; ", ignore_nulls=True)
    return both.replace("", None).alias("note")


def _as_percent(share: pl.Expr) -> pl.Expr:
    return (100 * share).round_sig_figs(2).cast(pl.String).str.strip_suffix(".0")
