"""The result of a comparison, and its summary as text and as HTML."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isclose
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.text import (
    Block,
    block_tables,
    chance,
    html_lines,
    html_table,
    limit,
    number,
    plain,
)
from polaroc.comparison.letters import shortened
from polaroc.comparison.plan import Plan

if TYPE_CHECKING:
    from rich.console import RenderableType

_ADJUSTED = {"holm": "Holm", "tukey": "Tukey"}
_NUMBERS = {"trained": ("estimate", "SE")}
MOST_PAIRS = 45


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Whether models differ, which do, and what the tests assume; made by `compare`.

    Attributes
    ----------
    omnibus
        Tests of all models at once, the primary one first: `test` String,
        `statistic`, `df1`, `df2`, `p_value` Float64.
    pairs
        One row per pair: the two models (named after `between`, such as
        `model_a`, `model_b`); `difference` of their means, first minus second,
        `std_error`, `lower`, `upper` (limits that leave out 0 where `p_adjusted` is
        below 1 − `level`, and nowhere else), `statistic`, `p_value`, `p_adjusted`
        Float64.
    letters
        One row per model, the best mean first: the model; `mean`, `sd` (over
        the blocks) Float64; `letters` String: models that share a letter are
        not told apart at `alpha`.
    warnings
        What the tests assume and how often they err, in sentences.
    measure, between, block
        What was compared.
    blocks
        How many blocks there are.
    plan
        How it was compared: `target`, `test_train_ratio`, `alpha`, `level` …
    """

    omnibus: pl.DataFrame
    pairs: pl.DataFrame
    letters: pl.DataFrame
    warnings: tuple[str, ...]
    measure: str
    between: str
    block: tuple[str, ...]
    blocks: int
    plan: Plan = field(default_factory=Plan)

    def summary(self) -> str:
        """All of it as text for a terminal of 80 columns."""
        return plain(comparison_parts(self))

    def __repr__(self) -> str:
        p = self.omnibus["p_value"][0]
        return (
            f"Comparison({self.measure}: {self.letters.height} models, {self.blocks} "
            f"{'cases' if self.plan.target == 'trained' else 'blocks'}, "
            f"target={self.plan.target!r}, p={p:.2g}; print its summary())"
        )

    def _repr_html_(self) -> str:
        return comparison_html(self)


def comparison_parts(found: "Comparison") -> "list[RenderableType]":
    """The summary of a comparison as sentences and rich tables."""
    warnings = ["Note: " + line for line in found.warnings]
    return [
        _heading(found),
        "",
        *block_tables(_comparison_blocks(found)),
        verdict(found),
        *warnings,
    ]


def comparison_html(found: "Comparison") -> str:
    """The summary of a comparison as HTML."""
    tables = "".join(html_table(*block[:3]) for block in _comparison_blocks(found))
    lines = html_lines([verdict(found), *found.warnings])
    return html_lines([_heading(found)]) + tables + lines


def _heading(found: "Comparison") -> str:
    return (
        f"{found.measure}: {found.letters.height} models ({found.between}) on {found.blocks} "
        f"{_unit(found)}s ({', '.join(found.block)}), target {found.plan.target}"
    )


def _unit(found: "Comparison") -> str:
    return "case" if found.plan.target == "trained" else "block"


def _numbers(found: "Comparison") -> str:
    if found.plan.target == "trained":
        return "Estimate and its standard error"
    return "Mean and SD over blocks"


def verdict(found: "Comparison") -> str:
    """Whether the models differ, in a sentence."""
    name, p = found.omnibus["test"][0], found.omnibus["p_value"][0]
    alpha = found.plan.alpha
    if p < alpha:
        return f"At α = {alpha:g} the models differ ({name}, p = {chance(p)})."
    apart = found.pairs.filter(pl.col("p_adjusted") < alpha)
    if apart.height:
        count = "1 pair is" if apart.height == 1 else f"{apart.height} pairs are"
        return (
            f"At α = {alpha:g} {count} told apart by tests of two models at a time, such as "
            f"{apart.item(0, 0)} and {apart.item(0, 1)}; the test of all models at once finds no "
            f"difference ({name}, p = {chance(p)})."
        )
    return (
        f"At α = {alpha:g} no difference among all models was found ({name}, p = {chance(p)}); "
        "that is no proof that they are equal."
    )


def interval_rule(plan: "Plan") -> str:
    """When an interval of two models leaves out zero, and what that says."""
    if isclose(plan.confidence, 1 - plan.alpha):
        return f"an interval leaves out 0 only where the pair is told apart at α = {plan.alpha:g}"
    return (
        f"an interval leaves out 0 only where p ({_ADJUSTED[plan.adjust]}) is below "
        f"{1 - plan.confidence:.3g}; told apart are pairs with p below α = {plan.alpha:g}"
    )


def first_pairs(found: "Comparison", most: int = MOST_PAIRS) -> "tuple[pl.DataFrame, str]":
    """The pairs that there is room for, and which these are where some are left out.

    Those of the model with the best mean come first, the closest ahead: they decide the
    answer.

    Parameters
    ----------
    found
        The comparison.
    most
        How many there is room for.
    """
    if found.pairs.height <= most:
        return found.pairs, ""
    best = pl.lit(found.letters[found.between][:1]).first()
    a, b = (pl.col(name) for name in found.pairs.columns[:2])
    of_best = a.eq_missing(best) | b.eq_missing(best)
    shown = found.pairs.sort(
        ~of_best, pl.when(of_best).then(pl.col("difference").abs()), "p_adjusted", "p_value",
        maintain_order=True,
    ).head(most)  # fmt: skip
    return shown, (
        f" ({most} of {found.pairs.height:,}: the best model and those next to it, then those with "
        "the least p)"
    )


def _comparison_blocks(found: "Comparison") -> Iterator[Block]:
    yield (
        "All models at once",
        ["test", "statistic", "df1", "df2", "p"],
        [
            [test, number(f), _degrees(df1), _degrees(df2), chance(p)]
            for test, f, df1, df2, p in found.omnibus.iter_rows()
        ],
        1,
    )
    yield (
        f"{_numbers(found)}; models that share a letter are not told apart",
        [found.between, *_NUMBERS.get(found.plan.target, ("mean", "SD")), "letters"],
        [
            [str(model), number(mean), number(sd), shortened(letters)]
            for model, mean, sd, letters in found.letters.iter_rows()
        ],
        1,
    )
    columns = ["difference", "lower", "upper", "p_adjusted"]
    pairs, which = first_pairs(found)
    shown = pairs.select(*pairs.columns[:2], *columns)
    adjusted = _ADJUSTED[found.plan.adjust]
    yield (
        f"Pairs{which}; {interval_rule(found.plan)}",
        [*shown.columns[:2], *columns[:3], f"p ({adjusted})"],
        [
            [str(a), str(b), number(d), limit(lo), limit(hi), chance(p)]
            for a, b, d, lo, hi, p in shown.iter_rows()
        ],
        2,
    )


def _degrees(df: float | None) -> str | None:
    return None if df is None else f"{df:.4g}"
