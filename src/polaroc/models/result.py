"""The result of a comparison, and its summary as text and as HTML."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import with_level
from polaroc.base.rounding import number, p_in_words, p_value
from polaroc.base.text_tables import FoldedTable, Summarised, noted, table_of
from polaroc.inference.adjusted import Adjusted
from polaroc.inference.evidence import Contrasts
from polaroc.measures.catalog import in_words
from polaroc.models.design import Plan
from polaroc.models.letters import shortened
from polaroc.typing import Array

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_PAIRS = 45


# What pairs models whose scores stand side by side.
ROWS = "rows"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Summarised):
    """Whether models differ, which do, and what the tests assume; made by `compare`.

    Attributes
    ----------
    omnibus
        The test of all models at once: `test` String, `statistic`, `df1`, `df2`, `p_value` Float64.
    pairs
        One row per pair: the two models (named after the column of the models, such as
        `model_a`, `model_b`); `difference` of their means, first minus second,
        `std_error`, `lower`, `upper` (limits of this pair by itself),
        `adjusted_lower`, `adjusted_upper` (that leave out 0 where `p_adjusted` is
        below 1 − `level`, and nowhere else), their `level`, `statistic`, `p_value`, `p_adjusted`
        Float64.
    letters
        One row per model, the best mean first: the model; `mean`, `sd` (over
        the folds) Float64; `letters` String: models that share a letter are
        not told apart at `level`.
    warnings
        What the tests assume and how often they err, in sentences.
    measure
        What was compared.
    model, fold
        The column that tells the models apart, and those of the folds; none of fitted models on
        one test set.
    case
        The column that fitted models are paired by, "rows" where each row has the scores of all;
        None where there is none, or are folds.
    size
        How many folds, or cases of one test set, the answer rests on.
    plan
        How it was compared: `target`, `test_train_ratio`, `level` …
    higher_is_better
        Whether more of the measure is better.
    """

    omnibus: pl.DataFrame
    pairs: pl.DataFrame
    letters: pl.DataFrame
    warnings: tuple[str, ...]
    measure: str
    model: str
    fold: tuple[str, ...]
    size: int
    plan: Plan = field(default_factory=Plan)
    higher_is_better: bool = True
    case: str | None = None

    @property
    def shown(self) -> "list[RenderableType]":
        """The summary as sentences and tables."""
        return [_heading(self), verdict(self), "", *_tables(self), *noted(self.warnings)]

    @property
    def _units(self) -> str:
        return "cases" if self.plan.target == "trained" else "folds"

    def __repr__(self) -> str:
        p = self.omnibus["p_value"][0]
        return (
            f"Comparison({self.measure}: {self.letters.height} models, {self.size} "
            f"{self._units}, "
            f"target={self.plan.target!r}, {p_in_words(p)}; print its summary())"
        )


def pair_frame(
    pairs: Contrasts, adjusted: Adjusted, models: pl.Series, level: float
) -> pl.DataFrame:
    """The pairs as a table, its first columns named after the models' column; NaN is null."""
    (lower, upper), (least, most) = pairs.limits(level), pairs.limits(adjusted.level)
    numbers: dict[str, Array] = {
        "difference": pairs.difference, "std_error": pairs.std_error, "lower": lower,
        "upper": upper, "adjusted_lower": least, "adjusted_upper": most,
        "statistic": pairs.statistic, "p_value": pairs.p_value, "p_adjusted": adjusted.p_value,
    }  # fmt: skip
    named = {f"{models.name}_a": models[pairs.first], f"{models.name}_b": models[pairs.second]}
    return with_level(pl.DataFrame(named | numbers, nan_to_null=True), level)


def _heading(comparison: "Comparison") -> str:
    return (
        f"{in_words(comparison.measure)}: {comparison.letters.height} models "
        f"({comparison.model}) on {comparison.size} {comparison._units} "
        f"({', '.join(comparison.fold) or comparison.case or 'of each model its own'}), "
        f"target {comparison.plan.target}"
    )


def verdict(comparison: "Comparison") -> str:
    """Whether the models differ, in a sentence."""
    name, p = comparison.omnibus["test"][0], comparison.omnibus["p_value"][0]
    at = f"At a level of {100 * comparison.plan.level:g} %"
    if p < 1 - comparison.plan.level:
        return f"{at} the models differ ({name}, {p_in_words(p)})."
    apart = comparison.pairs.filter(pl.col("p_adjusted") < 1 - comparison.plan.level)
    if apart.height:
        count = "1 pair is" if apart.height == 1 else f"{apart.height} pairs are"
        return (
            f"{at} {count} told apart by tests of two models at a time, such as "
            f"{apart.item(0, 0)} and {apart.item(0, 1)}; the test of all models at once finds no "
            f"difference ({name}, {p_in_words(p)})."
        )
    return (
        f"{at} no difference among all models was found ({name}, {p_in_words(p)}); "
        "that is no proof that they are equal."
    )


def interval_rule(plan: "Plan") -> str:
    """The rule by which an adjusted interval of a pair leaves out zero."""
    return (
        f"an adjusted {100 * plan.level:g} % interval leaves out 0 only where the pair is told "
        "apart"
    )


def first_pairs(comparison: "Comparison", most: int = MAX_PAIRS) -> "tuple[pl.DataFrame, str]":
    """The first pairs, and a description where some are left out.

    Pairs of the model with the best mean come first, closest first.
    """
    if comparison.pairs.height <= most:
        return comparison.pairs, ""
    best = pl.lit(comparison.letters[comparison.model][:1]).first()
    a, b = (pl.col(name) for name in comparison.pairs.columns[:2])
    of_best = a.eq_missing(best) | b.eq_missing(best)
    shown = comparison.pairs.sort(
        ~of_best, pl.when(of_best).then(pl.col("difference").abs()), "p_adjusted", "p_value",
        maintain_order=True,
    ).head(most)  # fmt: skip
    return shown, (
        f" ({most} of {comparison.pairs.height:,}: the best model and those next to it, then those "
        "with the least p)"
    )


def _tables(comparison: "Comparison") -> Iterator[FoldedTable]:
    caption = "Mean and SD over folds"
    if comparison.plan.target == "trained":
        caption = "Estimate (mean) and its standard error (sd)"
    if not comparison.higher_is_better:
        caption = f"{caption} (less is better)"
    yield table_of("All models at once", comparison.omnibus, {
        "test": str, "statistic": number, "df1": _degrees, "df2": _degrees, "p_value": p_value,
    })  # fmt: skip
    yield table_of(
        f"{caption}; models that share a letter are not told apart", comparison.letters,
        {comparison.model: str, "mean": number, "sd": number, "letters": shortened},
    )  # fmt: skip
    pairs, which = first_pairs(comparison)
    yield table_of(
        f"Pairs{which}; {interval_rule(comparison.plan)}; adjusted by Holm's rule", pairs,
        dict.fromkeys(pairs.columns[:2], str) | {
            "difference": number, "adjusted_lower": number, "adjusted_upper": number,
            "p_adjusted": p_value,
        }, keys=2,
    )  # fmt: skip


def _degrees(df: float | None) -> str | None:
    return None if df is None else f"{df:.4g}"
