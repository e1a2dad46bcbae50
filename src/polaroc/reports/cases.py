"""The effect of a threshold on 1,000 cases, in numbers and as a picture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polaroc import rates
from polaroc.base.text import percent
from polaroc.priors.grids import skew
from polaroc.reports.words import counted

CASES, MOST_CASES = 1000, 10_000_000
# Cells of the picture in a column.
TALL = 20


@dataclass(frozen=True)
class CaseCounts:
    """The calls of cases of which a share is positive."""

    prior: float
    cases: int
    found: int
    missed: int
    alarms: int  # false ones
    alone: int  # negatives that raise no alarm

    @property
    def heading(self) -> str:
        """How many cases are positive."""
        return f"If {percent(self.prior)} are positive"

    @property
    def groups(self) -> tuple[tuple[str, int, str], ...]:
        """Each group: its class in the style sheet, its cases, and what they are."""
        alarms = "false alarm" if self.alarms == 1 else "false alarms"
        return (
            ("found", self.found, "found"),
            ("missed", self.missed, "missed"),
            ("alarms", self.alarms, alarms),
            ("alone", self.alone, "other negatives"),
        )

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        groups = [f"{count:,} {what}" for _, count, what in self.groups]
        right = counted(self.found + self.alarms, "alarm")
        return f"{', '.join(groups[:-1])}, {groups[-1]}; {right}, {self.found:,} right."

    @property
    def width(self) -> int:
        """Columns of the picture."""
        return CASES // TALL

    @property
    def shapes(self) -> Iterator[tuple[str, str]]:
        """The class of each group in the style sheet and its cells as an SVG path."""
        start = before = 0
        for name, count, _ in self.groups:
            before += count
            end = round(before * CASES / self.cases)
            yield name, "".join(_cells(start, end))
            start = end


def _cells(start: int, end: int) -> Iterator[str]:
    """Cells counted down the columns, as rectangles."""
    while start < end:
        column, row = divmod(start, TALL)
        whole = (end - start) // TALL if row == 0 else 0
        count = whole * TALL or min(end - start, TALL - row)
        yield f"M{column} {row}h{whole or 1}v{TALL if whole else count}h-{whole or 1}z"
        start += count


def case_counts(rated: tuple[float, float] | None, priors: Sequence[float]) -> list[CaseCounts]:
    """The cases at the lowest and the highest prior; none where rates are unknown."""
    if rated is None:
        return []
    (recall, alarms), cases, counts = rated, CASES, []
    # So many that one positive is found, where any is.
    while min(priors) * (recall or 1) * cases < 1 and cases < MOST_CASES:
        cases *= 10
    for prior in sorted({priors[0], priors[-1]}):
        positives = round(cases * prior)
        found = round(cases * prior * recall)
        # The alarms are counted as in sentences, and the parts add up to them.
        called = round(cases * rates.posfrac(recall, alarms, skew(prior)))
        false = min(called - found, cases - positives)
        counts.append(
            CaseCounts(prior, cases, found, positives - found, false, cases - positives - false)
        )
    return counts
