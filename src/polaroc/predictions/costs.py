"""What a wrong call of each case costs: columns of the table, carried by its cases."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from polaroc.base.checks import check_factors
from polaroc.base.columns import single_column
from polaroc.errors import Hint, InvalidArgument
from polaroc.predictions.cases import Cases
from polaroc.predictions.column_checks import check_columns
from polaroc.predictions.engines import engine_of
from polaroc.typing import Cost

ARGUMENTS = ("cost_fn", "cost_fp")
DEFAULT = 1.0


def costs_in(said: Mapping[str, Any]) -> tuple[Cost, Cost] | None:
    """The costs among the arguments of a function, where one of them is a column."""
    fn, fp = (said.get(name) for name in ARGUMENTS)
    costs = DEFAULT if fn is None else fn, DEFAULT if fp is None else fp
    return costs if any(isinstance(one, str | pl.Expr) for one in costs) else None


def with_costs(cases: Cases[Any], costs: tuple[Cost, Cost] | None) -> Cases[Any]:
    """The cases with what a missed positive and a false alarm cost, where one is a column."""
    if costs is None:
        return cases
    if engine_of(cases.table) is not None:
        # Checked once the rows are here.
        return replace(cases, costs=costs)
    for argument, one in zip(ARGUMENTS, costs, strict=True):
        if not isinstance(one, str | pl.Expr):
            check_factors(**{argument: one})
            continue
        try:
            check_columns(cases.table.lazy(), [one])
        except InvalidArgument as error:
            raise InvalidArgument(
                f"{argument} is {str(one)!r}: {error.found}", hint=error.hint
            ) from None
        single_column(one, argument, cases.table.lazy())
    return replace(cases, costs=costs)


def constant_costs(cases: object, cost_fn: Cost, cost_fp: Cost) -> tuple[float, float]:
    """The costs as numbers; 1 each where cases carry what each of them costs."""
    if isinstance(cases, Cases) and cases.costs is not None:
        return DEFAULT, DEFAULT
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    return float(cost_fn), float(cost_fp)  # type: ignore[arg-type]


def without_cases(costs: tuple[Cost, Cost], table: str) -> InvalidArgument:
    """The error of costs of single cases beside a table that has no cases."""
    argument, one = next(
        (name, one)
        for name, one in zip(ARGUMENTS, costs, strict=True)
        if isinstance(one, str | pl.Expr)
    )
    return InvalidArgument(
        f"{argument} is {str(one)!r}, what each case costs, and {table} has lost the cases.",
        hint=Hint(
            "give the predictions, with {truth}, {score} and {" + argument + "}.",
            truth="truth", score="score", **{argument: "amount"},
        ),
    )  # fmt: skip
