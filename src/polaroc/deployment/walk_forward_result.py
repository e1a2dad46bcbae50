"""What thresholds set on the past did, and the summary as text and as HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.rounding import ESTIMATE, number, with_limits
from polaroc.base.text_tables import Summarised, noted, table
from polaroc.deployment.period_rates import PERIOD_RATES, WORDS

if TYPE_CHECKING:
    from rich.console import RenderableType

# The rates that a rule, or a constraint, is about.
ABOUT = {
    "recall": "tpr", "fnr": "tpr", "fpr": "fpr", "specificity": "fpr", "precision": "precision",
    "posfrac": "posfrac", "capacity": "posfrac", "cost": "cost", "max_recall": "tpr",
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class WalkForward(Summarised):
    """What thresholds set on the past did in the next period; made by `walk_forward`.

    Attributes
    ----------
    table
        One row per key, period and rate, sorted: the keys; `period`, that was judged;
        `measure` String, "tpr", "fpr", "precision", "posfrac" or "cost"; `prior`, `threshold`
        Float64; `past`, the rate on the cases that the threshold was set on; `estimate`, what
        came of it, `lower`, `upper`, `level`, `std_error` (null) Float64; `positives`,
        `negatives` of the period; `note` String.
    expected
        One row per key and rate: `prior`, `threshold`, the one that is set now; `past`, its
        rate on the past; `estimate`, what to expect of the next period, `lower`, `upper`, between
        which its measured rate lies, `level`, `std_error` Float64; `steps` Int64; `shift` and
        `spread` Float64, the mean and the standard deviation over the steps of what came less the
        rate on the past; `note` String.
    main
        The rates that the threshold is for.
    warnings
        What the numbers rest on, in sentences.
    level
        Of the limits.
    """

    table: pl.DataFrame
    expected: pl.DataFrame
    main: tuple[str, ...] = PERIOD_RATES
    warnings: tuple[str, ...] = ()
    level: float = 0.95

    @property
    def keys(self) -> list[str]:
        """The names of the keys."""
        return self.expected.columns[: self.expected.columns.index("measure")]

    @property
    def answer(self) -> str:
        """What to expect of the next period, one sentence for each key and main rate."""
        rows = self.expected.filter(pl.col("measure").is_in(list(self.main)))
        lines = [_sentence(row, self.keys) for row in rows.iter_rows(named=True)]
        return " ".join(lines) or "There is nothing to expect: no threshold was set."

    @property
    def shown(self) -> "list[RenderableType]":
        """The answer, what to expect, the steps and the notes."""
        keys, rows = self.keys, self.expected.iter_rows(named=True)
        expected = [[*_cells(row, keys), number(row["spread"])] for row in rows]
        main = self.table.filter(pl.col("measure").is_in(list(self.main)))
        steps = [_cells(row, [*keys, "period"]) for row in main.iter_rows(named=True)]
        cells = ["measure", "threshold", "past", ESTIMATE]
        return [
            self.answer,
            table("What to expect of the next period", [*keys, *cells, "spread"], expected,
                  len(keys) + 1),
            table("What came of each step", [*keys, "period", *cells], steps, len(keys) + 2),
            *noted(self.warnings),
        ]  # fmt: skip


def main_rates(rule: str | None, constraints: Mapping[str, float] | None) -> tuple[str, ...]:
    """The rates that a rule and constraints are about, in their order.

    Examples
    --------
    >>> main_rates("max_recall", {"precision": 0.5}), main_rates("balanced", None)
    (('tpr', 'precision'), ('tpr', 'fpr'))
    """
    named = {ABOUT[name] for name in (rule, *(constraints or ())) if name in ABOUT}
    return tuple(name for name in PERIOD_RATES if name in (named or {"tpr", "fpr"}))


def _cells(row: Mapping[str, Any], keys: Sequence[str]) -> list[object]:
    """The cells of a rate, with the keys that tell its row."""
    threshold = None if row["threshold"] is None else f"{row['threshold']:.4g}"
    return [
        *(row[key] for key in keys),
        WORDS[row["measure"]],
        threshold,
        number(row["past"]),
        _with_limits(row),
    ]


def _sentence(row: Mapping[str, Any], keys: list[str]) -> str:
    of = ", ".join(str(row[key]) for key in keys)
    name = f"{WORDS[str(row['measure'])]}{f' of {of}' if of else ''}"
    if row["past"] is None or row["estimate"] is None:
        return f"For the {name} nothing can be expected: no threshold was set."
    threshold = "no case" if row["threshold"] is None else f"{row['threshold']:.4g}"
    return (
        f"A threshold set now ({threshold}) had a {name} of {number(row['past'])} in the past; "
        f"expect {_with_limits(row)} in the next period."
    )


def _with_limits(row: Mapping[str, Any]) -> str:
    return with_limits(row["estimate"], row["lower"], row["upper"])
