"""Tables of three ways: the columns, what both thresholds do at a prior, and on other cases."""

from typing import Any

import polars as pl

from polaroc import rates
from polaroc.base.columns import PRIOR_LIMITS
from polaroc.base.joins import join_on
from polaroc.base.private_columns import private
from polaroc.base.rounding import percent
from polaroc.priors.grids import skew
from polaroc.thresholds.review_bands import Rates, ReviewCosts

# The thresholds, and the beginnings of the names of their rates.
NAMES = {"act": "act_from", "review": "review_from", "single": "single"}
PLACES = tuple(NAMES.values())
RATES = tuple(f"{name}_{rate}" for name in NAMES for rate in ("tpr", "fpr"))
COSTS = ("cost_fn", "cost_fp", "cost_review", "review_error")
SHOWN = (
    "act_from", "review_from", "acted", "reviewed", "left", "precision", "found", "missed",
    "cost", "single", "cost_single", "worth", "answer",
)  # fmt: skip
# What `apply_thresholds` needs besides.
CARRIED = ("positives", "negatives", "note", *RATES, *COSTS)
WAYS = (*SHOWN, *CARRIED)
# Reviews a day at the priors where they are fewest and most.
REVIEWS = ("reviews_least", "reviews_most")
# Limits of what becomes of cases, by those of the thresholds to act and to review from.
LIMITS = {
    "act": {"acted": "posfrac", "precision": "precision"}, "review": {"found": "tpr"},
}  # fmt: skip
BAND = private("band")


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
    less = "less" if worth > 0 else "more"
    change = percent(abs(worth) / without, 2)
    return f"{text}. A case costs {cost:.3g}, {change} {less} than with {single}."


def _of_thousand(share: float) -> str:
    count = 1000 * share
    return f"{count:.0f}" if count >= 10 else f"{count:.2g}"


def points_of_ways(ways: pl.LazyFrame) -> pl.LazyFrame:
    """The three thresholds of each row as points; the rule says of which row, and which one."""
    names = ways.collect_schema().names()
    keys = names[: names.index("prior")]
    limits = [name for name in PRIOR_LIMITS if name in names]
    band, is_chosen = _band(), pl.col("act_tpr").is_not_null()
    none = pl.lit(None, pl.Float64)
    return pl.concat(
        [
            ways.select(
                *keys,
                pl.format("{} {}", pl.lit(name), band).alias("rule"),
                "prior",
                *limits,
                pl.col(place).alias("threshold"),
                pl.when(is_chosen).then(1.0).alias("share"),
                pl.col(f"{name}_tpr").alias("tpr"),
                pl.col(f"{name}_fpr").alias("fpr"),
                none.alias("precision"),
                "positives",
                "negatives",
                pl.lit(None, pl.String).alias("note"),
            )
            for name, place in NAMES.items()
        ]
    )


def ways_of_points(judged: pl.LazyFrame, ways: pl.LazyFrame) -> pl.LazyFrame:
    """The table of three ways again, with what its thresholds do on other cases."""
    names = judged.collect_schema().names()
    keys = names[: names.index("rule")]
    limits = [name for name in PRIOR_LIMITS if name in names]
    on = [*keys, "prior", *limits, BAND]
    parts = []
    named = pl.col("rule").str.split(" ").list
    for name, place in NAMES.items():
        own = {f"{name}_{rate}": rate for rate in ("tpr", "fpr")} | {place: "threshold"}
        own |= {
            f"{shown}_{end}": f"{of}_{end}"
            for shown, of in LIMITS.get(name, {}).items()
            for end in ("lower", "upper")
            if f"{of}_{end}" in names
        }
        # A key without a point has no rule.
        is_own = (named.first() == name).fill_null(name == "act")
        parts.append(
            judged.filter(is_own).select(
                *on[:-1],
                named.last().alias(BAND),
                *(pl.col(of).alias(shown) for shown, of in own.items()),
                *(("positives", "negatives", "note") if name == "act" else ()),
            )
        )
    act, review, single = parts
    costs = ways.select(_band().alias(BAND), *COSTS).unique()
    joined = join_on(join_on(act, review, on, "left"), single, on, "left")
    found = join_on(joined, costs, [BAND], "left")
    added = [name for name in found.collect_schema() if name.endswith(("_lower", "_upper"))]
    added = [name for name in added if name not in limits]
    # Limits of what is found are those of a rate only where no review goes wrong.
    certain = pl.col(COSTS[-1]) == 0
    sure = [pl.when(certain).then(name).alias(name) for name in added if name.startswith("found")]
    return (
        with_shares(found.with_columns(sure))
        .select(*keys, "prior", *limits, *SHOWN[:-1], *added, SHOWN[-1], *CARRIED)
        .sort(*keys, "prior", *PLACES, nulls_last=True)
    )


def _band() -> pl.Expr:
    """What tells the rows of a table apart, whatever their keys."""
    return pl.struct("prior", *PLACES, *COSTS).hash().cast(pl.String)
