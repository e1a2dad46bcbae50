"""Whether a challenger may replace a champion: the rule, and the result in words."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from polaroc.base.text import escape_control, number
from polaroc.base.text_tables import Result, noted

if TYPE_CHECKING:
    from rich.console import RenderableType

Verdict = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result):
    """Whether a challenger is worse than a champion by more than a margin; made by `gate`.

    Attributes
    ----------
    verdict
        "pass", "fail" or "undecided".
    difference
        The measure of the challenger minus that of the champion.
    lower, upper
        Its two-sided interval; None where nothing says how much the difference varies, or cases are
        too few to trust it.
    measure, higher_is_better
        What was compared, in words, and whether more of it is better.
    champion, challenger, margin, level
        As given.
    cases
        What it rests on, such as "20 folds".
    models
        A row for each of the two: `model`; `estimate` (over folds the mean of the measure), `lower`
        and `upper` (its interval with confidence `level`, null where there is none) Float64.
    warnings
        What the interval assumes, and notes on the data, in sentences.
    tables
        `models`, and `difference`: one row with `challenger`, `champion`, `difference`, `lower`,
        `upper`, `level`, `margin` Float64 and `verdict` String.
    """

    facts = ("verdict",)

    difference: float
    lower: float | None
    upper: float | None
    champion: object
    challenger: object
    measure: str
    higher_is_better: bool
    margin: float
    level: float
    cases: str
    models: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows from the interval and the margin."""
        if self.lower is None or self.upper is None:
            return "undecided"
        worst, best = self.lower, self.upper
        if not self.higher_is_better:
            worst, best = -best, -worst
        return "pass" if worst >= -self.margin else "fail" if best < -self.margin else "undecided"

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The estimates of both models, and their difference in one row."""
        numbers = ("difference", "lower", "upper", "level", "margin")
        names = ("challenger", "champion", *numbers, "verdict")
        row = {name: [getattr(self, name)] for name in names}
        difference = pl.DataFrame(row, schema_overrides=dict.fromkeys(numbers, pl.Float64))
        return {"models": self.models, "difference": difference}

    @property
    def estimates(self) -> tuple[float, float]:
        """The measure of the champion and of the challenger."""
        by_model = dict(self.models.select("model", "estimate").iter_rows())
        return by_model[self.champion], by_model[self.challenger]

    @property
    def answer(self) -> str:
        """The verdict in one sentence."""
        more = f" by more than {self.margin:g}" if self.margin else ""
        claim = {"pass": "is not", "fail": "is", "undecided": "may or may not be"}[self.verdict]
        return (
            f"{self.verdict.capitalize()}: {self.challenger} {claim} worse than "
            f"{self.champion}{more} in {self.measure}."
        )

    @property
    def shown(self) -> "list[RenderableType]":
        """The sentences of the summary."""
        return [self.answer, self.numbers, *noted(self.warnings)]

    @property
    def markdown(self) -> str:
        """The verdict, the numbers and the notes, for a pull request or a wiki."""
        notes = "\n".join(f"- {_markdown(line)}" for line in self.warnings)
        parts = [f"**{_markdown(self.answer)}**", _markdown(self.numbers), notes]
        return "\n\n".join(filter(None, parts)) + "\n"

    @property
    def numbers(self) -> str:
        """Both estimates, and their difference with its interval, in a sentence."""
        champion, challenger = self.estimates
        way = "" if self.higher_is_better else " (less is better)"
        interval = "; there is no interval for it"
        if self.lower is not None:
            ends = f"{number(self.lower)} to {number(self.upper)}"
            interval = f", with {100 * self.level:g} % confidence from {ends}"
        return (
            f"On {self.cases} {self.challenger} has {number(challenger)} and "
            f"{self.champion} {number(champion)}{way}: a difference of "
            f"{number(self.difference)}{interval}."
        )


def _markdown(value: object) -> str:
    """A value on one line, with the marks of Markdown escaped."""
    text = " ".join(escape_control(str(value)).split()).replace("<", "&lt;")
    return re.sub(r"([\\`*\[\]|]|(?<!\w)_|_(?!\w))", r"\\\1", text)
