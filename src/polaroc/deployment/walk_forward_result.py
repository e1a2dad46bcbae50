"""What thresholds set on the past did, and the summary as text and as HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.rounding import ESTIMATE, limit, with_limits
from polaroc.base.text_tables import Shown, noted, table
from polaroc.deployment.period_rates import RATES, WORDS

if TYPE_CHECKING:
    from rich.console import RenderableType

# The rates that a rule, or a constraint, is about.
ABOUT = {
    "recall": "tpr", "fnr": "tpr", "fpr": "fpr", "specificity": "fpr", "precision": "precision",
    "posfrac": "posfrac", "capacity": "posfrac", "cost": "cost", "max_recall": "tpr",
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class WalkForward(Shown):
    """What thresholds set on the past did in the next period; made by `walk_forward`.

    Attributes
    ----------
    table
        One row per key, period and rate, sorted: the keys; `period`, that was judged;
        `measure` String, "tpr", "fpr", "precision", "posfrac" or "cost"; `prior`, `threshold`
        Float64; `promised`, the rate on the past; `estimate`, what came of it, `lower`, `upper`,
        `level`, `std_error` (null) Float64; `positives`, `negatives` of the period; `note` String.
    expected
        One row per key and rate: `prior`, `threshold`, the one that is set now; `promised`, its
        rate on the past; `estimate`, what to expect of the next period, `lower`, `upper`, between
        which its measured rate lies, `level`, `std_error` Float64; `steps` Int64; `shift` and
        `spread` Float64, the mean and the standard deviation over the steps of what came less what
        was promised; `note` String.
    main
        The rates that the threshold is for.
    warnings
        What the numbers rest on, in sentences.
    level
        Of the limits.
    """

    table: pl.DataFrame
    expected: pl.DataFrame
    main: tuple[str, ...] = RATES
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

    def _parts(self) -> "list[RenderableType]":
        return steps_parts(self)

    def __repr__(self) -> str:
        return self.summary()


def main_rates(rule: str | None, constraints: Mapping[str, float] | None) -> tuple[str, ...]:
    """The rates that a rule and constraints are about, in their order.

    Examples
    --------
    >>> main_rates("max_recall", {"precision": 0.5}), main_rates("balanced", None)
    (('tpr', 'precision'), ('tpr', 'fpr'))
    """
    named = {ABOUT[name] for name in (rule, *(constraints or ())) if name in ABOUT}
    return tuple(name for name in RATES if name in (named or {"tpr", "fpr"}))


def steps_parts(result: WalkForward) -> "list[RenderableType]":
    """Sentences and tables for a terminal."""
    headings, cells = _expected_cells(result)
    parts: list[RenderableType] = [result.answer]
    parts.append(table("What to expect of the next period", headings, cells, len(result.keys) + 1))
    names = [*result.keys, "period", "measure", "threshold", "promised", ESTIMATE]
    main = result.table.filter(pl.col("measure").is_in(list(result.main)))
    rows = [_cells(row, [*result.keys, "period"]) for row in main.iter_rows(named=True)]
    parts.append(table("What came of each step", names, rows, len(result.keys) + 2))
    return [*parts, *noted(result.warnings)]


def _expected_cells(result: WalkForward) -> tuple[list[str], list[list[str]]]:
    headings = [*result.keys, "measure", "threshold", "promised", ESTIMATE, "spread"]
    cells = [
        [*_cells(row, result.keys), limit(row["spread"]) or "–"]
        for row in result.expected.iter_rows(named=True)
    ]
    return headings, cells


def _cells(row: dict[str, Any], keys: Sequence[str]) -> list[str]:
    """The cells of a rate, with the keys that tell its row."""
    return [
        *(str(row[key]) for key in keys),
        WORDS[row["measure"]],
        _number(row["threshold"]),
        limit(row["promised"]) or "–",
        _with_limits(row),
    ]


def _sentence(row: Mapping[str, Any], keys: list[str]) -> str:
    of = ", ".join(str(row[key]) for key in keys)
    name = f"{WORDS[str(row['measure'])]}{f' of {of}' if of else ''}"
    if row["promised"] is None or row["estimate"] is None:
        return f"For the {name} nothing can be expected: no threshold was promised."
    threshold = "no case" if row["threshold"] is None else f"{_number(row['threshold'])}"
    return (
        f"A threshold set now ({threshold}) promises a {name} of {limit(row['promised'])}; "
        f"expect {_with_limits(row)} in the next period."
    )


def _number(value: object) -> str:
    return "–" if value is None else f"{float(str(value)):.4g}"


def _with_limits(row: Mapping[str, Any]) -> str:
    return with_limits(row["estimate"], row["lower"], row["upper"])
