"""The result of `compare`: its tables, and its summary as text and as HTML."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, combinations
from string import ascii_letters
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from polaroc.base.text import number, p_in_words, p_value, with_limits
from polaroc.base.text_tables import Result, noted, table_of
from polaroc.measures.catalog import in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

Target = Literal["algorithm", "trained"]
MAX_PAIRS = 45


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Whether models differ, and which; made by `compare`.

    Attributes
    ----------
    omnibus
        The test of all models at once: `test` String, `statistic`, `df1`, `df2`, `p_value` Float64;
        without rows for a single model.
    pairs
        One row per pair: the two models, `model_a` and `model_b`; `difference`, first minus second,
        `std_error`, `lower`, `upper` (limits of this pair by itself), `adjusted_lower`,
        `adjusted_upper` (which exclude 0 if `p_adjusted` is below 1 − `level`, and only then),
        their `level`, `statistic`, `p_value`, `p_adjusted` Float64. All but `difference` are null
        if the difference shows no variation.
    models
        One row per model, the best first: `model`; `estimate` (over folds the mean), its
        `std_error`, `lower`, `upper` and their `level` Float64.
    warnings
        What the tests assume, and notes on the data, in sentences.
    measure
        What was compared.
    size
        The number of folds, or of cases of one test set.
    target, level, test_train_ratio
        As in `compare`.
    higher_is_better
        Whether more of the measure is better.
    """

    facts = ("measure", "size")

    omnibus: pl.DataFrame
    pairs: pl.DataFrame
    models: pl.DataFrame
    warnings: tuple[str, ...]
    measure: str
    size: int
    target: Target
    level: float
    test_train_ratio: float | None = None
    higher_is_better: bool = True

    table_names = "models", "pairs", "omnibus"

    @property
    def answer(self) -> str:
        """Whether the models differ, or the mean of a single model, in a sentence."""
        if self.omnibus.is_empty():
            estimate, lower, upper = self.models.select("estimate", "lower", "upper").row(0)
            return (
                f"The mean {in_words(self.measure)} over {self.size} folds is "
                f"{with_limits(estimate, lower, upper)}."
            )
        name, p = self.omnibus.select("test", "p_value").row(0)
        if p is None:
            return "The differences show no variation, so there is no test of all models."
        at, test = f"At {100 * self.level:g} % confidence", f"({name}, {p_in_words(p)})"
        if p < 1 - self.level:
            return f"{at} the models differ {test}."
        significant = self.pairs.filter(is_significant(self))
        if significant.is_empty():
            return (
                f"{at} no difference among all models was found {test}; that is no proof that they "
                "are equal."
            )
        a, b = significant.select("model_a", "model_b").row(0)
        count = (
            "1 pair differs" if significant.height == 1 else f"{significant.height} pairs differ"
        )
        return (
            f"{at} {count} significantly, such as {a} and {b}; the test of all models at once "
            f"finds no difference {test}."
        )

    @property
    def shown(self) -> "list[RenderableType]":
        """The summary as sentences and tables."""
        caption, units = "Estimate", "cases"
        if self.target == "algorithm":
            caption, units = "Mean over folds", "folds"
        count = f"{self.models.height} model{'s' * (self.models.height > 1)}"
        heading = f"{in_words(self.measure)}: {count} on {self.size} {units}, target {self.target}"
        caption += f" with its {100 * self.level:g} % interval"
        caption += "" if self.higher_is_better else " (less is better)"
        forms: dict[str, Any] = {
            "model": str, "estimate": number, "lower": number, "upper": number
        }  # fmt: skip
        if self.pairs.is_empty():
            models, pairs = table_of(caption, self.models, forms), []
        else:
            caption += "; models that share a letter do not differ significantly"
            lettered = self.models.with_columns(letters=letters(self))
            models = table_of(caption, lettered, forms | {"letters": shortened})
            listed, which = first_pairs(self)
            of_pair: dict[str, Any] = {
                "model_a": str, "model_b": str, "difference": number, "adjusted_lower": number,
                "adjusted_upper": number, "p_adjusted": p_value,
            }  # fmt: skip
            caption = f"Pairs{which}, adjusted by Holm's method"
            pairs = [table_of(caption, listed, of_pair, keys=2)]
        return [heading, self.answer, "", models, *pairs, *noted(self.warnings)]


def is_significant(comparison: Comparison) -> pl.Expr:
    """Whether the models of a pair differ significantly."""
    return (pl.col("p_adjusted") < 1 - comparison.level).fill_null(False)


def interval_rule(comparison: Comparison) -> str:
    """The rule by which adjusted intervals are read."""
    level = f"{100 * comparison.level:g} %"
    return f"an adjusted {level} interval excludes 0 only if the two models differ significantly"


def first_pairs(comparison: Comparison, most: int = MAX_PAIRS) -> tuple[pl.DataFrame, str]:
    """The first pairs, and a description where some are left out.

    Pairs of the best model come first, closest first.
    """
    if comparison.pairs.height <= most:
        return comparison.pairs, ""
    best = pl.lit(comparison.models["model"][:1]).first()
    of_best = pl.col("model_a").eq_missing(best) | pl.col("model_b").eq_missing(best)
    shown = comparison.pairs.sort(
        ~of_best, pl.when(of_best).then(pl.col("difference").abs()), "p_adjusted", "p_value",
        maintain_order=True, nulls_last=True,
    ).head(most)  # fmt: skip
    return shown, (
        f" ({most} of {comparison.pairs.height:,}: the best model and those next to it, then those "
        "with the least p)"
    )


def letters(comparison: Comparison) -> pl.Series:
    """Letters per model, the best first: two share one if they do not differ significantly."""
    ranks = {model: i for i, model in enumerate(comparison.models["model"])}
    different = comparison.pairs.filter(is_significant(comparison))
    pairs = different.select("model_a", "model_b").rows()
    display = letter_display(len(ranks), [(ranks[a], ranks[b]) for a, b in pairs])
    return pl.Series("letters", display, pl.String)


def letter_display(models: int, different: Iterable[tuple[int, int]]) -> list[str]:
    """Letters per model, such that two models share one if and only if they are not `different`.

    Each letter is a set of models of which no two are different, and to which no model can be
    added (Piepho 2004).

    Examples
    --------
    >>> letter_display(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    alike = ~np.eye(models, dtype=bool)
    for a, b in different:
        alike[a, b] = alike[b, a] = False
    # Pairs that no group contains yet, in both orders.
    left = alike.copy()
    groups = [[model] for model in range(models) if not alike[model].any()]
    for a, b in combinations(range(models), 2):
        if not left[a, b]:
            continue
        group = [a, b]
        joining, gain = alike[a] & alike[b], left[a].astype(int) + left[b]
        while joining.any():
            # The model with most such pairs, the best of them on ties.
            more = int(np.where(joining, gain, -1).argmax())
            group.append(more)
            joining &= alike[more]
            gain += left[more]
        left[np.ix_(group, group)] = False
        groups.append(group)
    # After z and Z come letters with accents, and of other alphabets.
    others = filter(str.isalpha, map(chr, range(0xC0, sys.maxunicode)))
    named = [*zip(chain(ascii_letters, others), sorted(groups, key=sorted), strict=False)]
    return ["".join(letter for letter, group in named if m in group) for m in range(models)]


def shortened(letters: str, most: int = 24) -> str:
    """The letters of a model, cut to a maximal width.

    Examples
    --------
    >>> shortened("ab"), shortened("abcdefg", most=4)
    ('ab', 'abc…')
    """
    return letters if len(letters) <= most else f"{letters[: most - 1]}…"
