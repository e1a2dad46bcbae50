"""The plan of a study: how many cases, and what can be promised with them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.rounding import number, probability
from polaroc.base.text_tables import Shown, noted, table_of
from polaroc.planning.saved_plan import departures, hash_of, write_plan

if TYPE_CHECKING:
    from rich.console import RenderableType

# Columns that are shares.
CHANCES = ("better", "tuning")


@dataclass(frozen=True, eq=False, repr=False)
class StudyPlan(Shown):
    """How many cases a study needs for what is wanted of it; made by `plan`.

    Attributes
    ----------
    answer
        What to label and what it buys, in one or two sentences.
    table
        One row per number of cases: `positives`, `negatives` Int64; `chance` Float64 of what is
        wanted; `chance_lower`, `chance_upper`, between which it is at the ends of a range that was
        given, or for 9 of 10 curves that a pilot may come from, else null; and what is expected: of
        a promise, where there is one, the `recall` and the `cost` per case in use; of limits half
        their `width`; of two models the `difference` that is measured, challenger minus champion,
        turned so that more is better, and the chance that the `better` one has the better measure;
        of a budget that is divided the share for `tuning`; Float64.
    positives, negatives
        The fewest cases with the chance that is wanted, or the best split of a budget; None where
        no number that was tried has it.
    chance
        The chance that was wanted.
    facts
        What the plan holds to, by its name: measure, range or prior, constraints, promise, margin,
        level, models and numbers of cases.
    notes
        What was assumed, in sentences.
    """

    answer: str
    table: pl.DataFrame
    positives: int | None
    negatives: int | None
    chance: float
    facts: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def hash(self) -> str:
        """The hash of the facts, by which a plan can be named before data are seen."""
        return hash_of(self.facts)

    def save(self, path: str | PathLike[str], force: bool = False) -> None:
        """Write the facts and their hash to a JSON file; an earlier one is replaced by `force`."""
        write_plan(self.facts, Path(path), force)

    def check(self, result: Any) -> list[str]:
        """Where a result departs from the plan, in sentences; none where it keeps to it.

        Parameters
        ----------
        result
            What `gate`, `compare` or `choose` returned, or one row of `operating_points`. Or what
            the commands print as JSON.
        """
        return departures(self.facts, result)

    def _parts(self) -> "list[RenderableType]":
        forms: dict[str, Callable[[Any], str | None]] = {}
        forms |= dict.fromkeys(self.table.columns[:2], "{:,}".format)
        forms |= {
            name: probability if name.startswith("chance") or name in CHANCES else number
            for name in self.table.columns[2:]
        }
        shown = table_of("What more cases buy", self.table, forms, keys=0)
        return [self.answer, shown, *noted(self.notes)]

    def __str__(self) -> str:
        return self.summary()
