"""Where each model is worst, and which model is best there."""

from collections.abc import Sequence
from dataclasses import replace
from math import comb
from typing import Any

import polars as pl

from polaroc.base.joins import as_key, join_on
from polaroc.base.lazy import np
from polaroc.base.rounding import number
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
    models = join_on(choice.models, worst, [model], "left", order="left")
    looked_at = rows[WHERE].n_unique() * comb(worst.height, 2)
    is_known = models[WORST][0] is not None
    told = [_sentence(choice, models, given, over, looked_at)] if is_known else []
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
    """The measure of each model in each subgroup, the mean over folds, and which one it is."""
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
    worst = own.agg(pl.col("estimate").mean().alias(WORST))
    return worst.select(model, WORST, _where(name, key).alias(WHERE))


def _where(name: str, key: str) -> pl.Expr:
    """The subgroup of each row, in words."""
    return pl.format("{}={}", pl.lit(name), pl.col(key).cast(pl.String).fill_null("null"))


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
    choice: Choice, models: pl.DataFrame, given: Compared, over: Over | None, looked_at: int
) -> str:
    """Which model is the best where it is worst, beside the one that is the best on average.

    The subgroup and both models were picked from so many differences that were looked at.
    """
    model, first = models.columns[0], models.row(0, named=True)
    known = models.drop_nulls(WORST)
    best = known.sort(WORST, descending=choice.higher_is_better, maintain_order=True).row(
        0, named=True
    )
    if as_key([best[model]]) == as_key([first[model]]):
        return (
            f"{best[model]} is also the best when each model is judged in its worst subgroup: "
            f"{number(best[WORST])} in {best[WHERE]}."
        )
    told = (
        f"Judged in their worst subgroups, {best[model]} is the best: {number(best[WORST])} in "
        f"{best[WHERE]}; "
        f"{first[model]} has {number(first[WORST])} in {first[WHERE]}"
    )
    two = [best[model], first[model]]
    level = 1 - (1 - choice.level) / looked_at
    apart = _apart(choice, given, over, two, first[WHERE], level)
    if apart is None:
        return f"{told}. Nothing says how sure that is."
    low, high = apart
    is_chance = "may be chance" if low <= 0 <= high else "is more than chance"
    return (
        f"{told}. In {first[WHERE]} their difference ({number(low)} to {number(high)}, limits for "
        f"{looked_at:,} such differences at once) {is_chance}."
    )


def _apart(
    choice: Choice,
    given: Compared,
    over: Over | None,
    two: Sequence[Any],
    where: str,
    level: float,
) -> tuple[float, float] | None:
    """Limits of the difference of two models in a subgroup; None where there are none."""
    if choice.is_by_cost or not given.on_cases:
        return None
    evidence = of_one_test_set(_cases_of(given.cases, where), choice.measure, over)
    if not evidence.is_known:
        return None
    models = as_key(evidence.models)
    places = [models.index(one) for one in as_key(two)]
    pair = contrasts(evidence, np.array(places[:1]), np.array(places[1:]))
    low, high = pair.limits(level)
    return float(low[0]), float(high[0])


def _cases_of(cases: Cases[pl.DataFrame], where: str) -> Cases[pl.DataFrame]:
    """The cases of a subgroup, whose column may have an equals sign in its name."""
    divided_by = ((name, *_divided(cases, name)) for name in subgroup_columns(cases))
    found = (
        (parts, parts.table.filter(_where(name, key) == where)) for name, parts, key in divided_by
    )
    return next(replace(parts, table=own, by=cases.by) for parts, own in found if own.height)
