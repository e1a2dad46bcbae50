"""Whether a challenger may replace a champion: the rule, and the result in words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from polaroc.base.rounding import number, rounded_up
from polaroc.base.statistics import least_factor
from polaroc.base.text import escape_control
from polaroc.base.text_tables import Summarised, noted
from polaroc.uncertainty.evidence import CASES, Moved

if TYPE_CHECKING:
    from rich.console import RenderableType

Verdict = Literal["pass", "fail", "undecided"]
Limits = Callable[[float], tuple[float, float]]
# Up to so many times the cases, and how nearly their number is found.
MOST, NEARLY = 1024, 1.02
WOULD_DO = "About {} would decide it, if the models differed as much on them."
TOO_MANY = (
    "Even {:,} times as many cases would not decide it, if the models differed as much on them."
)


@dataclass(frozen=True, repr=False)
class GateResult(Summarised):
    """Whether a challenger is worse than a champion by more than a margin; made by `gate`.

    Attributes
    ----------
    verdict
        "pass", "fail" or "undecided".
    difference
        The measure of the challenger minus that of the champion.
    lower, upper
        Its two-sided interval with confidence `level`; None where nothing says how
        much the difference varies, or cases are too few to trust it.
    champion, challenger
        The two models.
    champion_estimate, challenger_estimate
        Their measure; over folds its mean.
    measure
        What was compared, in words.
    higher_is_better
        Whether more of it is better.
    margin, level
        As given.
    cases
        What it rests on, such as "20 folds".
    warnings
        What the interval assumes, and notes on the data, in sentences.
    positives, negatives
        How many cases of each class the models were tested on; None over folds.
    """

    verdict: Verdict
    difference: float
    lower: float | None
    upper: float | None
    champion: object
    challenger: object
    champion_estimate: float
    challenger_estimate: float
    measure: str
    higher_is_better: bool
    margin: float
    level: float
    cases: str
    warnings: tuple[str, ...] = ()
    positives: int | None = None
    negatives: int | None = None

    @property
    def answer(self) -> str:
        """The verdict in one sentence."""
        more = f" by more than {self.margin:g}" if self.margin else ""
        claim = {
            "pass": f"Pass: {self.challenger} is not worse than {self.champion}{more}",
            "fail": f"Fail: {self.challenger} is worse than {self.champion}{more}",
            "undecided": f"Undecided: {self.challenger} may or may not be worse than "
            f"{self.champion}{more}",
        }
        return f"{claim[self.verdict]} in {self.measure}."

    @property
    def shown(self) -> "list[RenderableType]":
        """The sentences of the summary."""
        return [self.answer, self.numbers, *noted(self.warnings)]

    @property
    def markdown(self) -> str:
        """The verdict, a table of its numbers and the notes, for a pull request or a wiki."""
        limits = (
            "none"
            if self.lower is None or self.upper is None
            else f"{number(self.lower)} to {number(self.upper)}"
        )
        measure = f"{self.measure}{'' if self.higher_is_better else ' (less is better)'}"
        both = number(self.champion_estimate), number(self.challenger_estimate)
        headings = (
            self.champion, self.challenger, "difference", f"{100 * self.level:g} % limits", "margin"
        )  # fmt: skip
        values = (*both, number(self.difference), limits, f"{self.margin:g}")
        lines = [
            markdown_table(["", *headings], [[measure, *values]]),
            f"Measured on {self.cases}.",
            "\n".join(f"- {markdown_text(line)}" for line in self.warnings),
        ]
        return "\n\n".join([f"**{markdown_text(self.answer)}**", *filter(None, lines)]) + "\n"

    @property
    def numbers(self) -> str:
        """Both estimates, and their difference with its interval, in a sentence."""
        way = "" if self.higher_is_better else " (less is better)"
        if self.lower is None or self.upper is None:
            interval = "; there is no interval for it"
        else:
            interval = (
                f", with {100 * self.level:g} % confidence from {number(self.lower)} to "
                f"{number(self.upper)}"
            )
        return (
            f"On {self.cases} {self.challenger} has {number(self.challenger_estimate)} and "
            f"{self.champion} {number(self.champion_estimate)}{way}: a difference of "
            f"{number(self.difference)}{interval}."
        )


def decide(lower: float | None, upper: float | None, margin: float, *, higher: bool) -> Verdict:
    """The verdict on the interval of challenger minus champion.

    Examples
    --------
    >>> decide(-0.01, 0.02, 0.01, higher=True), decide(-0.03, -0.02, 0.01, higher=True)
    ('pass', 'fail')
    >>> decide(-0.03, -0.02, 0.01, higher=False), decide(-0.03, 0.02, 0.01, higher=False)
    ('pass', 'undecided')
    """
    if lower is None or upper is None:
        return "undecided"
    worst, best = (lower, upper) if higher else (-upper, -lower)
    return "pass" if worst >= -margin else "fail" if best < -margin else "undecided"


def more_cases(limits: Limits, margin: float, moved: Moved | None, *, higher: bool) -> str:
    """How many cases would decide what limits leave open; `moved` says what they are, if no folds.

    Limits are those of challenger minus champion with so many times the cases.
    """

    def is_decided(copies: float) -> bool:
        return decide(*limits(copies), margin, higher=higher) != "undecided"

    most = least_factor(is_decided, MOST, NEARLY)
    if most is None:
        return TOO_MANY.format(MOST)
    if moved is None:
        return WOULD_DO.format(f"{rounded_up(10 * most) / 10:g} times as many cases")
    counts = [f"{rounded_up(most * count):,}" for count in moved.counts]
    of = "" if moved.units == CASES else f" {moved.units} with"
    return WOULD_DO.format(f"{counts[0]}{of} positives and {counts[1]}{of} negatives")


def markdown_text(value: object) -> str:
    """A value as Markdown shows it: on one line, its marks as they stand.

    Examples
    --------
    >>> print(markdown_text("my_model|<b>"), markdown_text("_seen_"))
    my_model\\|&lt;b> \\_seen\\_
    """
    text = " ".join(escape_control(str(value)).split()).replace("<", "&lt;")
    return re.sub(r"([\\`*\[\]|]|(?<!\w)_|_(?!\w))", r"\\\1", text)


def markdown_table(columns: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table as Markdown, its first column text and the others numbers.

    Examples
    --------
    >>> print(markdown_table(["model", "AUC"], [["svm", "0.9"]]))
    | model | AUC |
    | --- | --: |
    | svm | 0.9 |
    """
    rule = ["---", *["--:"] * (len(columns) - 1)]
    written = [[markdown_text(value) for value in line] for line in (columns, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (written[0], rule, *written[1:]))
