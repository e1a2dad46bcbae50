"""The plan of a study: how many cases, and what can be promised with them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.checks import check_path
from polaroc.base.rounding import number, probability
from polaroc.base.text_tables import Summarised, noted, table_of
from polaroc.planning.chances import Outcome
from polaroc.planning.saved_plan import departures, hash_of, write_plan
from polaroc.planning.scores import Size
from polaroc.planning.sizes import Tried
from polaroc.planning.wishes import Aim

if TYPE_CHECKING:
    from rich.console import RenderableType

# Columns that are shares.
CHANCES = ("better", "tuning")


@dataclass(frozen=True, eq=False, repr=False)
class StudyPlan(Summarised):
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
        The fewest cases that were tried and have the chance that is wanted, in whole clusters, or
        the best split of a budget; None where no number that was tried has it.
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
        check_path("path", path)
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

    @property
    def shown(self) -> "list[RenderableType]":
        """The answer, the table and the notes, for a terminal."""
        forms: dict[str, Callable[[Any], str | None]] = {}
        forms |= dict.fromkeys(self.table.columns[:2], "{:,}".format)
        forms |= {
            name: probability if name.startswith("chance") or name in CHANCES else number
            for name in self.table.columns[2:]
        }
        shown = table_of("What more cases buy", self.table, forms, keys=0)
        return [self.answer, shown, *noted(self.notes)]


HEAD = ("positives", "negatives", "chance", "chance_lower", "chance_upper")


def planned(
    wanted: Aim,
    tried: Sequence[Tried],
    enough: Size | None,
    chance: float,
    about: Sequence[str],
) -> StudyPlan:
    """The plan with the size that is `enough`, None where none of those given is."""
    size, best = max(tried, key=lambda one: one[1].chance)
    said = f"With {size.words} the chance is {probability(best.chance)}"
    if enough is not None:
        size, best = next(one for one in tried if one[0] == enough)
        take = "Take" if size.folds else "Label"
        fewest = ", the fewest that were tried" if size == tried[0][0] else ""
        said = f"{take} about {size.words}{fewest}: then the chance is {probability(best.chance)}"
    taken = size if len(tried) == 1 else enough
    return _plan(wanted, tried, said, best, taken, chance, about)


def split(
    wanted: Aim, tried: Sequence[Tried], budget: float, chance: float, about: Sequence[str]
) -> StudyPlan:
    """The plan with the best split of a budget."""
    size, best = max(tried, key=lambda one: _worth(one[1]))
    shown = probability(best.chance)
    said = f"Of the splits of {budget:,g}, {size.words} are the best: the chance is {shown}"
    return _plan(wanted, tried, said, best, size, chance, about)


def _plan(
    wanted: Aim, tried: Sequence[Tried], said: str, best: Outcome, size: Size | None,
    chance: float, about: Sequence[str],
) -> StudyPlan:  # fmt: skip
    kinds: dict[str, Any] = dict.fromkeys(HEAD[:2], pl.Int64)
    kinds |= dict.fromkeys((*HEAD[2:], *tried[0][1].expected), pl.Float64)
    kinds |= {"folds": pl.Int64} if "folds" in kinds else {}
    rows = [(one.positives, one.negatives, *own[:3], *own.expected.values()) for one, own in tried]
    positives, negatives = (None, None) if size is None else (size.positives, size.negatives)
    table = pl.DataFrame(rows, schema=kinds, orient="row")
    facts = {**wanted.facts, "chance": chance, "positives": positives, "negatives": negatives}
    if tried[0][0].folds:
        # Cases of a fold are not those of a study.
        facts |= {"positives": None, "negatives": None, "fold_count": size and size.folds}
    answer = " ".join([f"{said} that {wanted.words}.", *_beside(best)])
    return StudyPlan(answer, table, positives, negatives, chance, facts, tuple(about))


def _worth(outcome: Outcome) -> tuple[float, float]:
    """What a split is worth: the chance, of equal ones what is expected."""
    width, recall = outcome.expected.get("width"), outcome.expected.get("recall")
    return round(outcome.chance, 2), (recall or 0.0) - (width or 0.0)


def _beside(outcome: Outcome) -> Iterator[str]:
    """Sentences on what else is expected."""
    recall, cost = outcome.expected.get("recall"), outcome.expected.get("cost")
    if recall is not None:
        costs = "" if cost is None else f", and costs {cost:.3g} per case"
        yield f"The threshold then finds about {probability(recall)} of the positives{costs}."
    if outcome.lower is not None and outcome.upper is not None:
        ends = f"{probability(outcome.lower)} to {probability(outcome.upper)}"
        yield f"With what is unknown about the scores it is {ends}."
