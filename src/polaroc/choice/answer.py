"""Sentences on which model to choose."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.statistics import ROUNDING
from polaroc.base.text import escape_control
from polaroc.errors import MOST_LETTERS

if TYPE_CHECKING:
    from polaroc.comparison.result import Comparison
    from polaroc.priors.beliefs import Belief

MOST_NAMED = 5


def describe_belief(
    ends: tuple[float, float] | None,
    over: "Belief | tuple[float, float] | None",
    grid: Sequence[float],
) -> str:
    """The belief about the prior as a phrase.

    Examples
    --------
    >>> describe_belief((0.05, 0.2), (0.05, 0.2), [0.05, 0.2])
    'over 5 to 20 % positives'
    """
    if ends is not None:
        return f"over {100 * ends[0]:.3g} to {100 * ends[1]:.3g} % positives"
    if over is not None:
        return f"under {over!r}"
    if len(grid) == 1:
        return f"at {100 * grid[0]:.3g} % positives"
    if len(grid) > MOST_NAMED:
        return f"at {len(grid)} priors from {grid[0]:.3g} to {grid[-1]:.3g}, equally likely"
    return f"at the priors {', '.join(f'{prior:.3g}' for prior in grid)}, equally likely"


def best_expected(models: pl.DataFrame, measure: str, believed: str) -> str:
    """Which model has the best expected measure, and by how much."""
    between = models.columns[0]
    top = models["expected"][0]
    ties = models.filter(pl.col("expected") >= top - ROUNDING * abs(top))[between].to_list()
    sentence = f"{named(ties)}: best expected {measure} {believed} ({top:.3f}"
    if len(ties) < models.height:
        model, value = models.select(between, "expected").row(len(ties))
        sentence += f", before {one_name(model)} with {value:.3f}"
    return sentence + ")"


def describe_certainty(models: pl.DataFrame, blocks: int, comparison: "Comparison | None") -> str:
    """How certain the choice of the first model is: significant differences, and folds won."""
    if blocks < 2:
        return "; measured once, so nothing says how sure this is."
    won = describe_wins(models["share"][0], blocks)
    if comparison is None:
        return f"; no test was made, for want of test_train_ratio. {won}"
    separation = describe_separation(models[models.columns[0]], comparison)
    return (
        f"; the corrected test at α = {comparison.plan.alpha:g} tells it from {separation}. {won}"
    )


def describe_wins(share: float, blocks: int) -> str:
    """In how many folds the first model is the best.

    Examples
    --------
    >>> describe_wins(0.85, 20)
    'It is the best in 17 of the 20 folds.'
    """
    return f"It is the best in {round(share * blocks, 2):g} of the {blocks} folds."


def describe_separation(models: pl.Series, comparison: "Comparison") -> str:
    """From which of the other models the first differs significantly."""
    apart, not_apart = split_by_test(models, comparison)
    if not not_apart:
        return "all others" if len(apart) > 1 else named(apart)
    if not apart:
        return "none of the others" if len(not_apart) > 1 else "no other"
    return f"{named(apart)}, but not from {named(not_apart)}"


def changes(priors: pl.DataFrame) -> list[str]:
    """Where the best model changes with the prior."""
    between = priors.columns[1]
    best = priors.filter("best").unique("prior", keep="first", maintain_order=True)
    models, at = best[between].to_list(), best["prior"].to_list()
    starts = [i for i in range(len(models)) if i == 0 or models[i] != models[i - 1]]
    if len(starts) < 2:
        return []
    runs = [f"{one_name(models[i])} from {100 * at[i]:.3g} %" for i in starts]
    return [f"The best model changes with the share of positives: {', '.join(runs)}."]


def named(models: Sequence[object]) -> str:
    """The first names as an enumeration.

    Examples
    --------
    >>> named(["A", "B", "C"])
    'A, B and C'
    """
    words = [one_name(model) for model in models[:MOST_NAMED]]
    if len(models) > MOST_NAMED:
        words.append(f"{len(models) - MOST_NAMED} more")
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def one_name(model: object) -> str:
    """A name for a sentence: quoted if blank, cut if long.

    Examples
    --------
    >>> one_name("A"), one_name(""), len(one_name("a" * 5_000))
    ('A', "''", 61)
    """
    name = escape_control(str(model)).replace("\n", "\\n")
    if not name.strip():
        return repr(name)
    return name if len(name) <= MOST_LETTERS else f"{name[:MOST_LETTERS]}…"


def split_by_test(models: pl.Series, comparison: "Comparison") -> tuple[list[object], list[object]]:
    """Other models: those that differ significantly from the first, and those that do not."""
    a, b = comparison.pairs.columns[:2]
    first = pl.lit(models[:1]).first()
    rows = comparison.pairs.filter(pl.col(a).eq_missing(first) | pl.col(b).eq_missing(first))
    other = pl.when(pl.col(a).eq_missing(first)).then(pl.col(b)).otherwise(pl.col(a))
    apart = pl.col("p_adjusted") < comparison.plan.alpha
    return (
        rows.filter(apart).select(other.alias("other"))["other"].to_list(),
        rows.filter(~apart).select(other.alias("other"))["other"].to_list(),
    )
