"""Where each model is worst, and which model is best there."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.private_columns import AT, VALUE
from polaroc.base.rounding import limit, number
from polaroc.comparison.choice import Choice
from polaroc.comparison.choice_measures import measures_of, of_one_test_set, one_prior
from polaroc.comparison.compared import Compared
from polaroc.comparison.subgroup_parts import check_subgroups
from polaroc.measures.catalog import mean_name
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Over
from polaroc.thresholds.named_rates import EXPECTED_COST
from polaroc.thresholds.subgroup_promises import divided, subgroup_columns
from polaroc.typing import Cost
from polaroc.uncertainty.evidence import contrasts
from polaroc.uncertainty.savings import savings

# What a choice says of it, beside its other columns.
WORST, WHERE = "worst", "worst_subgroup"


def with_worst(
    choice: Choice, given: Compared, over: Over | None, cost_fn: Cost, cost_fp: Cost
) -> Choice:
    """The choice with the subgroup where each model is worst, and what it is there.

    A sentence says which model is the best where it is worst, and how sure that is on one test
    set.
    """
    cases, model = given.cases, choice.models.columns[0]
    found = [
        _measured(choice, cases, name, over, (cost_fn, cost_fp)) for name in subgroup_columns(cases)
    ]
    rows = pl.concat(found).drop_nulls(WORST)
    worst = rows.sort(WORST, descending=not choice.higher_is_better, maintain_order=True).unique(
        model, keep="first", maintain_order=True
    )
    models = join_on(choice.models, worst.drop(AT, VALUE), [model], "left", order="left")
    places = dict(zip(worst[model], worst.select(AT, VALUE).rows(), strict=True))
    told = [] if worst.is_empty() else [_sentence(choice, models, places, given, over)]
    return replace(choice, models=models, warnings=(*told, *choice.warnings))


def _divided(cases: Cases[pl.DataFrame], name: str) -> tuple[Cases[pl.DataFrame], str]:
    """The cases with one column of subgroups as a key, and the name of the key."""
    parts, own = divided(cases, subgroup_columns(cases)[name])
    check_subgroups(parts.table[own], name)
    return parts, own


def _measured(
    choice: Choice,
    cases: Cases[pl.DataFrame],
    name: str,
    over: Over | None,
    costs: tuple[Cost, Cost],
) -> pl.DataFrame:
    """The measure of each model in each subgroup, the mean over folds, and which one it is.

    That is in words, and as the column and its value.
    """
    model, (parts, key) = choice.models.columns[0], _divided(cases, name)
    if choice.is_by_cost:
        cost_fn, cost_fp = costs
        found = savings(parts, _points(choice), same_table=True, cost_fn=cost_fn, cost_fp=cost_fp)
        wanted: str = EXPECTED_COST
    else:
        found = measures_of(parts, over, choice.measure)
        mean = mean_name(choice.measure)
        wanted = choice.measure if one_prior(over) is not None or mean is None else mean
    own = found.filter(measure=wanted).group_by(model, key, maintain_order=True)
    column, value = pl.lit(name), _as_text(key)
    return own.agg(pl.col("estimate").mean().alias(WORST)).select(
        model, WORST, pl.format("{}={}", column, value).alias(WHERE), column.alias(AT),
        value.alias(VALUE),
    )  # fmt: skip


def _as_text(key: str) -> pl.Expr:
    return pl.col(key).cast(pl.String).fill_null("null")


def _points(choice: Choice) -> pl.DataFrame:
    """The thresholds of the models, at the mean prior."""
    nothing = pl.lit(None, pl.Float64)
    columns = {
        "rule": pl.lit("threshold"), "prior": pl.lit(choice.over.mean), "share": pl.lit(1.0),
        "tpr": nothing, "fpr": nothing, "precision": nothing, "positives": nothing,
        "negatives": nothing, "note": pl.lit(None, pl.String),
    }  # fmt: skip
    known = choice.models.drop_nulls("threshold")
    return known.select(choice.models.columns[0], "threshold", **columns)


def _sentence(
    choice: Choice, models: pl.DataFrame, places: dict[Any, Any], given: Compared, over: Over | None
) -> str:
    """Which model is the best where it is worst, beside the one that is the best on average."""
    model, first = models.columns[0], models.row(0, named=True)
    known = models.drop_nulls(WORST)
    best = known.sort(WORST, descending=choice.higher_is_better, maintain_order=True).row(
        0, named=True
    )
    if best[model] == first[model]:
        return (
            f"{best[model]} is also the best when each model is judged in its worst subgroup: "
            f"{number(best[WORST])} in {best[WHERE]}."
        )
    told = (
        f"Judged in their worst subgroups, {best[model]} is the best: {number(best[WORST])} in "
        f"{best[WHERE]}; "
        f"{first[model]} has {number(first[WORST])} in {first[WHERE]}"
    )
    apart = _apart(choice, given, over, [best[model], first[model]], places[first[model]])
    if apart is None:
        return f"{told}. Nothing says how sure that is."
    low, high = apart
    is_chance = "may be chance" if low <= 0 <= high else "is more than chance"
    return (
        f"{told}. In {first[WHERE]} their difference ({limit(low)} to {limit(high)}) {is_chance}."
    )


def _apart(
    choice: Choice, given: Compared, over: Over | None, two: Sequence[Any], where: tuple[str, str]
) -> tuple[float, float] | None:
    """Limits of the difference of two models in a subgroup; None where there are none."""
    if choice.is_by_cost or not given.on_cases:
        return None
    name, value = where
    parts, key = _divided(given.cases, name)
    own = parts.table.filter(_as_text(key) == value)
    cases = replace(parts, table=own, by=given.cases.by)
    evidence = of_one_test_set(cases, choice.measure, over)
    if not evidence.is_known:
        return None
    places = [[*evidence.models].index(one) for one in two]
    pair = contrasts(evidence, np.array(places[:1]), np.array(places[1:]))
    low, high = pair.limits(choice.level)
    return float(low[0]), float(high[0])
