"""Shares, thresholds and counts in words, and 1,000 cases in numbers and as a picture."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from polaroc import rates
from polaroc.base.text import ALL, percent
from polaroc.priors.grids import skew

# Of 100, from which on one decimal would round to all.
NEARLY_ALL = 99.95
CASES, MOST_CASES = 1000, 10_000_000
# Cells of the picture in a column.
TALL = 20


def percent_range(low: float, high: float) -> str:
    """Shares from one to another in per cent.

    Examples
    --------
    >>> percent_range(0.02, 0.1), percent_range(0.05, 0.05)
    ('2 to 10 %', '5 %')
    """
    one, other = percent(low), percent(high)
    return one if one == other else f"{one[:-2]} to {other}"


def of_hundred(share: float) -> str:
    """A share as a number of 100, not rounded to none or all.

    Examples
    --------
    >>> of_hundred(0.914), of_hundred(0.997), of_hundred(0.99998), of_hundred(1.0)
    ('91', '99.7', 'more than 99.9', '100')
    >>> of_hundred(0.00034)
    '0.034'
    """
    value = 100 * share
    if 0 < value < 1:
        return f"{value:.2g}"
    if NEARLY_ALL <= value < ALL:
        return "more than 99.9"
    return f"{value:.1f}" if 99 < value < NEARLY_ALL else f"{value:.0f}"


def limits_of_hundred(low: float, high: float) -> str:
    """Limits of a share as numbers of 100; nearly all is all in an upper one.

    Examples
    --------
    >>> limits_of_hundred(0.893, 0.999997), limits_of_hundred(0.9, 0.997)
    ('89 to 100', '90 to 99.7')
    """
    upper = "100" if 100 * high >= NEARLY_ALL else of_hundred(high)
    return f"{of_hundred(low)} to {upper}"


def counted(count: int, noun: str) -> str:
    """A number with its noun in singular or plural.

    Examples
    --------
    >>> counted(1, "fold"), counted(1200, "case")
    ('1 fold', '1,200 cases')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def at_ends(priors: Sequence[float], number: Callable[[float], str]) -> str:
    """A number at the lowest and at the highest share of positives, once where it is the same."""
    low, high = number(priors[0]), number(priors[-1])
    if low == high:
        return f"{low} (if {percent_range(priors[0], priors[-1])} of cases are positive)"
    least, most = percent(priors[0]), percent(priors[-1])
    return f"{low} (if {least} of cases are positive) to {high} (if {most} are)"


def alarms_of_1000(priors: Sequence[float], recall: float, alarms: float) -> str:
    """The number of alarms in 1,000 cases, at the lowest and at the highest share.

    Examples
    --------
    >>> alarms_of_1000((0.05, 0.2), recall=0.8, alarms=0.1)
    '135 (if 5 % of cases are positive) to 240 (if 20 % are)'
    """
    return at_ends(
        priors, lambda prior: f"{1000 * rates.posfrac(recall, alarms, skew(prior)):,.0f}"
    )


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
        """The share of positives."""
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
