"""Shared parts of the charts of a choice over uncertain priors."""

import polars as pl

from polaroc.charts.over_prior import DECIMALS, same_prior
from polaroc.charts.theme import SIZE
from polaroc.choice.result import Choice
from polaroc.errors import Hint, InvalidTable

WIDTH = 1.3 * SIZE


def of_choice(choice: Choice) -> tuple[pl.DataFrame, str]:
    """The models at each prior, in the order of the models, and the name of their column.

    Rounded to visible digits, as in other charts against the prior.
    """
    if not isinstance(choice, Choice):
        kind = type(choice)
        raise InvalidTable(
            f"got a {kind.__module__}.{kind.__qualname__}, allowed is a Choice.",
            hint="pass the result of choose(...).",
        )
    between = choice.models.columns[0]
    if choice.models["worst_regret"].null_count():
        raise InvalidTable(
            f"the choice knows {choice.priors['prior'].n_unique()} prior(s) of the range, too few "
            "to draw what is best where.",
            hint=Hint(
                "evaluate with priors=pr.prior_grid(lo, hi, 16) over the whole range, and choose "
                "again.",
                command_line="evaluate with --grid 16.",
            ),
        )
    rounded = same_prior(), pl.col("mean", "regret").round(DECIMALS)
    table = choice.priors.with_columns(rounded)
    return table.sort(between, "prior", nulls_last=True), between
