"""What is missed, and what false alarms cost, at each threshold, where each case has its cost."""

from collections.abc import Collection
from typing import Any

import polars as pl

from polaroc.base.columns import CURVE, within
from polaroc.base.joins import join_on
from polaroc.base.private_columns import ALARMS, COST, MISSED, TRUTH, WEIGHT, private
from polaroc.curves.segments import rate
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions
from polaroc.predictions.cases import Cases
from polaroc.predictions.costs import costs_in
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import read
from polaroc.typing import Cost, Quantity

# Sums over a class, at one score.
OF_POS, OF_NEG, POS, NEG = (private(f"cost_{name}") for name in ("of_pos", "of_neg", "pos", "neg"))


def cost_at(prior: Quantity, missed: Quantity, alarms: Quantity) -> Quantity:
    """The expected cost per case, of what is missed per positive, and of alarms per negative.

    Classes are weighted to the prior; amounts within a class stay as they are.

    Examples
    --------
    >>> cost_at(0.1, missed=50.0, alarms=2.0)
    6.8
    """
    return prior * missed + (1 - prior) * alarms


def with_costs_of_calls(
    points: pl.LazyFrame, cases: Cases[Any], keys: Collection[str]
) -> pl.LazyFrame:
    """Points of curves with `MISSED` and `ALARMS`: means over positives and over negatives."""
    costs = costs_of_calls(cases)
    on = [name for name in costs.collect_schema() if name in keys]
    return join_on(points, costs, [*on, SCORE], "left", order="left")


def in_money(cases: Cases[Any]) -> pl.LazyFrame:
    """The curve of each key whose classes are counted by what their wrong calls cost.

    `positives` and `negatives` are the mean costs of the classes, and so `tpr` and `fpr` the
    shares of these that are found, and that alarms cost.
    """
    costs = costs_of_calls(cases)
    keys = [name for name in costs.collect_schema() if name not in (SCORE, MISSED, ALARMS)]
    totals = {"positives": pl.col(MISSED).max(), "negatives": pl.col(ALARMS).max()}
    totals = {name: within(total, keys) for name, total in totals.items()}
    return (
        costs.with_columns(**totals)
        .with_columns(tp=pl.col("positives") - pl.col(MISSED), fp=pl.col(ALARMS))
        .with_columns(
            pos=within(pl.col("tp").diff().fill_null(0), keys),
            neg=within(pl.col("fp").diff().fill_null(0), keys),
            tpr=rate("tp", "positives"),
            fpr=rate("fp", "negatives"),
        )
        .select(*keys, *CURVE)
    )


def costs_of_calls(cases: Cases[Any]) -> pl.LazyFrame:
    """What each threshold misses per positive, and what its alarms cost per negative.

    Returns
    -------
    One row per key and score, and one per key where nothing is called positive, with a null score:
    the keys, `SCORE`, `MISSED` and `ALARMS`, the null score and then the best score first.
    Costs of a class that a key does not have are null.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from polaroc.predictions.resolved import keyed
    >>> rows = pl.DataFrame({"truth": [1, 1, 0], "score": [0.9, 0.2, 0.5], "amount": [10, 30, 7]})
    >>> cases = replace(keyed(rows, truth="truth", score="score"), costs=("amount", 5))
    >>> costs_of_calls(cases).collect().rows()
    [(None, 20.0, 0.0), (0.9, 15.0, 0.0), (0.5, 15.0, 5.0), (0.2, 0.0, 5.0)]
    """
    table = read(cases)
    keys, weight = table.keys, pl.col(WEIGHT) if table.weighted else pl.lit(1.0)
    cost, truth = pl.col(COST) * weight, pl.col(TRUTH)
    of_scores = (
        table.valid_rows.group_by(*keys, pl.col(SCORE) + 0.0)
        .agg(
            (cost * truth).sum().alias(OF_POS),
            (cost * ~truth).sum().alias(OF_NEG),
            (weight * truth).sum().alias(POS),
            (weight * ~truth).sum().alias(NEG),
        )
        .map_batches(_checked)
    )
    sums = pl.col(OF_POS, OF_NEG, POS, NEG)
    first = of_scores.select(keys).unique() if keys else pl.LazyFrame({SCORE: [None]})
    start = first.with_columns(pl.lit(None, pl.Float64).alias(SCORE))
    total = {name: within(pl.col(name).sum(), keys) for name in (OF_POS, POS, NEG)}
    above = {name: within(pl.col(name).cum_sum(), keys) for name in (OF_POS, OF_NEG)}
    # Of a sum that is rounded nothing is left at the end, and not less.
    missed = (total[OF_POS] - above[OF_POS]).clip(0)
    return (
        pl.concat([start, of_scores], how="diagonal")
        .with_columns(sums.fill_null(0))
        .sort(
            *keys, SCORE, descending=[*(False for _ in keys), True],
            nulls_last=[*(True for _ in keys), False], maintain_order=True,
        )
        .select(
            *keys, SCORE, (missed / total[POS]).fill_nan(None).alias(MISSED),
            (above[OF_NEG] / total[NEG]).fill_nan(None).alias(ALARMS),
        )
    )  # fmt: skip


def refuse_amounts(rule: str, cost_fn: Cost, cost_fp: Cost) -> None:
    """Refuse costs of single cases for a rule that weighs no costs, or a case by its score."""
    if rule == "cost" or costs_in({"cost_fn": cost_fn, "cost_fp": cost_fp}) is None:
        return
    if rule == "posterior":
        raise InvalidArgument(
            "the rule 'posterior' weighs a score against one cost of a miss and one of an alarm, "
            "and each case has its own.",
            hint="rank by what is at stake, score=pl.col(...) * pl.col(...), and take the rule "
            "'cost'.",
        )
    raise InvalidArgument(
        f"cost_fn or cost_fp names what each case costs, and rule is {rule!r}.",
        hint=Hint("take {rule}, or leave the costs out.", rule="cost"),
    )


def _checked(costs: pl.DataFrame) -> pl.DataFrame:
    """The costs; raise where those of a class are all zero."""
    of_pos, of_neg, positives, negatives = costs.select(pl.col(OF_POS, OF_NEG, POS, NEG).sum()).row(
        0
    )
    check_worth(of_pos, of_neg, positives, negatives)
    return costs


def check_worth(of_pos: float, of_neg: float, positives: float, negatives: float) -> None:
    """Refuse costs of a class that has cases, and whose sum is zero: no threshold is better."""
    for of_class, size, argument, kind in (
        (of_pos, positives, "cost_fn", "positives"), (of_neg, negatives, "cost_fp", "negatives"),
    ):  # fmt: skip
        if size and not of_class:
            raise InvalidPredictions(
                f"{argument} is 0 for all {kind}: their wrong calls cost nothing.",
                hint="is that the column of the costs? A number is the same cost for all cases.",
            )
