"""Tables of three ways: the columns, what both thresholds do at a prior, and on other cases."""

from typing import Any, TypeGuard

import polars as pl

from polaroc import rates
from polaroc.base.columns import PRIOR_LIMITS, as_lazy
from polaroc.base.joins import join_on
from polaroc.base.private_columns import private
from polaroc.base.rounding import percent
from polaroc.errors import Hint, InvalidTable
from polaroc.priors.grids import skew
from polaroc.thresholds.fixed import Numbers, are_numbers, as_points
from polaroc.thresholds.review_bands import Rates, ReviewCosts
from polaroc.typing import Table

# The thresholds, and the beginnings of the names of their rates.
NAMES = {"act": "act_from", "review": "review_from", "single": "single"}
PLACES = tuple(NAMES.values())
WAY_RATES = tuple(f"{name}_{rate}" for name in NAMES for rate in ("tpr", "fpr"))
COSTS = ("cost_fn", "cost_fp", "cost_review", "review_error")
SHOWN = (
    "act_from", "review_from", "acted", "reviewed", "left", "precision", "found", "missed",
    "cost", "single", "cost_single", "worth", "answer",
)  # fmt: skip
# What `apply_thresholds` needs besides.
CARRIED = ("positives", "negatives", "note", *WAY_RATES, *COSTS)
WAYS = (*SHOWN, *CARRIED)
# Reviews a day at the priors where they are fewest and most.
REVIEWS = ("reviews_least", "reviews_most")
# What has limits where thresholds have: of which one, and which of its columns.
LIMITED = {
    "acted": ("act", "posfrac"), "precision": ("act", "precision"), "found": ("review", "tpr"),
}  # fmt: skip
BAND, WHICH = private("band"), private("which")


def with_shares(bands: pl.LazyFrame) -> pl.LazyFrame:
    """Bands with what becomes of cases and of positives, and with expected costs."""
    odds = skew(pl.col("prior"))
    act, both, single = (Rates(pl.col(f"{name}_tpr"), pl.col(f"{name}_fpr")) for name in NAMES)
    costs = ReviewCosts(*(pl.col(name) for name in COSTS))
    found = act.t + (1 - costs.error) * (both.t - act.t)
    cost, without = costs.expected(act, both, odds), costs.expected(single, single, odds)
    shares = {
        "acted": rates.posfrac(act.t, act.f, odds),
        "reviewed": rates.posfrac(both.t - act.t, both.f - act.f, odds),
        "left": rates.posfrac(1 - both.t, 1 - both.f, odds),
        "precision": rates.precision(act.t, act.f, odds).fill_nan(None),
        "found": found,
        "missed": 1 - found,
        "cost": cost,
        "cost_single": without,
        "worth": without - cost,
    }
    said = pl.struct("prior", "single_tpr", *shares).map_elements(in_words, return_dtype=pl.String)
    return bands.with_columns(**shares).with_columns(said.alias("answer"))


def in_words(row: dict[str, Any]) -> str | None:
    """What becomes of cases, and what reviewing is worth, in words; None where nothing is known.

    Examples
    --------
    >>> shares = {"acted": 0.04, "reviewed": 0.06, "left": 0.9, "found": 0.8}
    >>> costs = {"cost": 0.2, "cost_single": 0.25, "worth": 0.05}
    >>> print(in_words({"prior": 0.1, "single_tpr": 0.6} | shares | costs))
    Of 1,000 cases at 10 % positives act on 40, review 60 and leave 900: 80 % of positives are \
found. A case costs 0.2, 20 % less than with the best single threshold (0.25).
    """
    if row["acted"] is None:
        return None
    many = [_of_thousand(row[name]) for name in ("acted", "reviewed", "left")]
    text = (
        f"Of 1,000 cases at {percent(row['prior'])} positives act on {many[0]}, review {many[1]} "
        f"and leave {many[2]}: {percent(row['found'])} of positives are found"
    )
    if row["cost"] is None:
        return f"{text}, {percent(row['single_tpr'])} without reviews."
    cost, without, worth = row["cost"], row["cost_single"], row["worth"]
    single = f"the best single threshold ({without:.3g})"
    if abs(worth) <= 1e-9 * without:
        return f"{text}. A case costs {cost:.3g}, as with {single}: reviewing is worth nothing."
    change = "less" if worth > 0 else "more"
    if without:
        change = f"{percent(abs(worth) / without, 2)} {change}"
    return f"{text}. A case costs {cost:.3g}, {change} than with {single}."


def _of_thousand(share: float) -> str:
    count = 1000 * share
    return f"{count:.0f}" if count >= 10 else f"{count:.2g}"


def are_ways(points: Table | Numbers) -> TypeGuard[Table]:
    """Whether thresholds are pairs, as of `three_ways`."""
    return not are_numbers(points) and PLACES[0] in as_lazy(points).collect_schema()


def refuse_ways(points: Table | Numbers) -> None:
    """Refuse pairs of thresholds where single ones are needed."""
    if are_ways(points):
        raise InvalidTable(
            "points are pairs of thresholds, to act and to review from, needed are single ones.",
            hint=Hint("give one of them as a number, {points}, or judge the pairs with "
                      "apply_thresholds.", points=0.31),
        )  # fmt: skip


def points_of_ways(ways: pl.LazyFrame) -> pl.LazyFrame:
    """The three thresholds of each row as points; the rule says of which row, and which one."""
    names = ways.collect_schema().names()
    keys = names[: names.index("prior")]
    limits = [name for name in PRIOR_LIMITS if name in names]
    is_chosen = pl.col("act_tpr").is_not_null()
    return pl.concat(
        as_points(
            ways,
            [*keys, *limits],
            rule=pl.format("{} {}", pl.lit(name), _band()),
            threshold=pl.col(place),
            share=pl.when(is_chosen).then(1.0),
            tpr=pl.col(f"{name}_tpr"),
            fpr=pl.col(f"{name}_fpr"),
        )
        for name, place in NAMES.items()
    )


def ways_of_points(judged: pl.LazyFrame, ways: pl.LazyFrame) -> pl.LazyFrame:
    """The table of three ways again, with what its thresholds do on other cases."""
    names = judged.collect_schema().names()
    keys = names[: names.index("rule")]
    limits = [name for name in PRIOR_LIMITS if name in names]
    on = [*keys, "prior", *limits, BAND]
    limited = {
        f"{to}_{end}": (name, f"{column}_{end}")
        for to, (name, column) in LIMITED.items()
        for end in ("lower", "upper")
        if f"{column}_{end}" in names
    }
    taken = limited | {name: ("act", name) for name in ("positives", "negatives", "note")}
    for name, place in NAMES.items():
        taken |= {place: (name, "threshold")}
        taken |= {f"{name}_{rate}": (name, rate) for rate in ("tpr", "fpr")}
    named = pl.col("rule").str.split(" ").list
    # A key without a point has no rule.
    which = named.first().fill_null("act")
    bands = (
        judged.with_columns(which.alias(WHICH), named.last().alias(BAND))
        .group_by(on)
        .agg(
            pl.col(column).filter(pl.col(WHICH) == name).first().alias(to)
            for to, (name, column) in taken.items()
        )
    )
    costs = ways.select(_band().alias(BAND), *COSTS).unique()
    found = join_on(bands, costs, [BAND], "left")
    # Limits of what is found are those of a rate only where no review goes wrong.
    certain = pl.col(COSTS[-1]) == 0
    sure = [pl.when(certain).then(one).alias(one) for one in limited if one.startswith("found")]
    return (
        with_shares(found.with_columns(sure))
        .select(*keys, "prior", *limits, *SHOWN[:-1], *limited, SHOWN[-1], *CARRIED)
        .sort(*keys, "prior", *PLACES, nulls_last=True)
    )


def _band() -> pl.Expr:
    """What tells the rows of a table apart, whatever their keys."""
    return pl.struct("prior", *PLACES, *COSTS).hash().cast(pl.String)
