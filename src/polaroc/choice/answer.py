"""Sentences on which model to choose."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.statistics import ROUNDING
from polaroc.base.text import escape_control
from polaroc.errors import MAX_LETTERS

if TYPE_CHECKING:
    from polaroc.comparison.result import Comparison
    from polaroc.priors.beliefs import Belief

MAX_NAMED = 5
# Probabilities nearer to 1 are not told apart, nor differences below this.
ALMOST, MIN_SHOWN = 0.995, 0.001
NUMBERS = (
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip


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
        is_estimated = not isinstance(over, tuple) and over.ends is not None
        return f"{'at' if is_estimated else 'under'} {over!r}"
    if len(grid) == 1:
        return f"at {100 * grid[0]:.3g} % positives"
    if len(grid) > MAX_NAMED:
        return f"at {len(grid)} priors from {grid[0]:.3g} to {grid[-1]:.3g}, equally likely"
    return f"at the priors {', '.join(f'{prior:.3g}' for prior in grid)}, equally likely"


def one_sentence(
    models: pl.DataFrame, judged_by: str, *, is_bound: bool = False, higher: bool = True
) -> str:
    """Which model, by how much, how likely it is the best, and what is lost if it is not.

    Parameters
    ----------
    models
        As in a `Choice`, the best first.
    judged_by
        The measure with the priors, such as "AUPREC over 5 to 20 % positives".
    is_bound
        Whether the probability is at least as high.
    higher
        Whether more of the measure is better. Losses are small where positives are rare,
        and have three significant digits.
    """
    top = models["mean"][0]
    tied = models.filter((pl.col("mean") - top).abs() <= ROUNDING * abs(top))
    names = tied[models.columns[0]].to_list()
    sentence = f"Take {listed(names, 'or')}: {judged_by} is {_figure(top, higher)}"
    if tied.height < models.height:
        other, mean = models.select(models.columns[0], "mean").row(tied.height)
        than = "more" if higher else "less"
        sentence += f", {_apart(abs(top - mean), higher)} {than} than that of {one_name(other)}"
    return f"{sentence}; {how_sure(models, tied.height, is_bound=is_bound, higher=higher)}."


def how_sure(
    models: pl.DataFrame,
    tied: int = 1,
    *,
    is_bound: bool = False,
    higher: bool = True,
    unit: str = "",
) -> str:
    """How likely the first model is the best, and what is lost if it is not.

    The model that comes next is the likeliest to be better only if it is also next in the ranking:
    of a poor model that was measured with a large error hardly more is known than what models are
    like, and a sentence that names it would not be understood.
    """
    chance, loss = models.select("probability_best", "expected_loss").row(0)
    if chance is None:
        return "nothing says how sure that is"
    if tied == models.height:
        return "they are equal on all that was measured"
    it = "it is" if tied == 1 else "each is"
    among = "the better of the two" if models.height == 2 else f"the best of the {_count(models)}"
    least = "at least " if is_bound and chance < ALMOST else ""
    words = f"{it} {among} with a probability of {least}{percent(chance)}"
    if chance >= ALMOST or tied > 1:
        return words
    others = models.slice(1)
    lost = loss / (1 - chance)
    about = "about " * (not higher or lost >= MIN_SHOWN) + _apart(lost, higher) + unit
    other = one_name(others[models.columns[0]][0])
    if models.height == 2:
        return f"{words}, and if it is not, {other} is, by {about}"
    if others["probability_best"][0] < others["probability_best"].max():
        return f"{words}, and if it is not, {about} is lost; {other} comes next"
    return f"{words}, and if it is not, {other} most likely is, by {about}"


def _figure(mean: float, higher: bool) -> str:
    return f"{mean:.3f}" if higher else f"{mean:.3g}"


def _apart(difference: float, higher: bool) -> str:
    """A difference of two means."""
    if not higher:
        return f"{difference:.2g}"
    return f"{difference:.3f}" if difference >= MIN_SHOWN else f"less than {MIN_SHOWN}"


def percent(chance: float) -> str:
    """A probability as a percentage that is neither 0 nor 100.

    Examples
    --------
    >>> percent(0.784), percent(0.9999), percent(0.0001)
    ('78 %', 'more than 99 %', 'less than 1 %')
    """
    if chance >= ALMOST:
        return "more than 99 %"
    return f"{100 * chance:.0f} %" if chance > 1 - ALMOST else "less than 1 %"


def corrected(models: pl.DataFrame, measure: str, *, higher: bool = True) -> str:
    """The first model's mean, corrected for the model having been selected by it."""
    mean, expected = models.select("mean", "expected").row(0)
    too, far = ("high", "highest") if higher else ("low", "lowest")
    picked = (
        f"The mean {measure} of the first model is likely too {too}, because it is the {far} of "
        f"{models.height}: chance helped to make it so, the more the closer the models are"
    )
    if expected is None:
        return f"{picked}."
    before, after = _figure(mean, higher), _figure(expected, higher)
    if expected >= mean if higher else expected <= mean:
        # Models that vary together move together, which can outweigh the shrinking.
        turn = "fall" if higher else "rise"
        return f"Corrected for having been picked, the mean {measure} of {before} does not {turn}."
    return f"{picked}. Corrected for that, the mean of {before} becomes {after}."


def describe_tests(models: pl.DataFrame, comparison: "Comparison | None", blocks: int) -> str:
    """A sentence on the tests between the first model and others, and the folds that it wins."""
    sentences = []
    if comparison is not None:
        sentences.append(describe_separation(models[models.columns[0]], comparison))
    if blocks > 1:
        sentences.append(describe_wins(models["share"][0], blocks))
    return " ".join(sentences)


def describe_wins(share: float, blocks: int) -> str:
    """A sentence on the folds in which the first model is the best.

    Examples
    --------
    >>> describe_wins(0.85, 20)
    'It is the best in 17 of the 20 folds.'
    """
    return f"It is the best in {round(share * blocks, 2):g} of the {blocks} folds."


def describe_separation(models: pl.Series, comparison: "Comparison") -> str:
    """A sentence on the models from which the first differs significantly."""
    apart, not_apart = split_by_test(models, comparison)
    first = f"By the corrected test at α = {comparison.plan.alpha:g}, {one_name(models[0])}"
    if not not_apart:
        return f"{first} differs significantly from {named(apart)}."
    if not apart:
        return f"{first} does not differ significantly from {listed(not_apart, 'or')}."
    return (
        f"{first} differs significantly from {named(apart)}, but not from "
        f"{listed(not_apart, 'or')}."
    )


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
    return listed(models, "and")


def listed(models: Sequence[object], last: str) -> str:
    """The first names, with a word before the last of them.

    Examples
    --------
    >>> listed(["A", "B", "C"], "or")
    'A, B or C'
    """
    words = [one_name(model) for model in models[:MAX_NAMED]]
    if len(models) > MAX_NAMED:
        words.append(f"{len(models) - MAX_NAMED} more")
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _count(models: pl.DataFrame) -> str:
    """How many models there are, small numbers in words."""
    return NUMBERS[models.height] if models.height < len(NUMBERS) else f"{models.height:,}"


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
    return name if len(name) <= MAX_LETTERS else f"{name[:MAX_LETTERS]}…"


def split_by_test(models: pl.Series, comparison: "Comparison") -> tuple[list[object], list[object]]:
    """Other models, the best first: those that differ significantly from the first, and others."""
    a, b = comparison.pairs.columns[:2]
    first = pl.lit(models[:1]).first()
    rows = comparison.pairs.filter(pl.col(a).eq_missing(first) | pl.col(b).eq_missing(first))
    other = pl.when(pl.col(a).eq_missing(first)).then(pl.col(b)).otherwise(pl.col(a))
    apart = (pl.col("p_adjusted") < comparison.plan.alpha).alias("apart")
    ranked = models.to_frame("other").join(
        rows.select(other.alias("other"), apart), on="other", nulls_equal=True,
        maintain_order="left",
    )  # fmt: skip
    return tuple(  # type: ignore[return-value]
        ranked.filter(pl.col("apart") == is_apart)["other"].to_list() for is_apart in (True, False)
    )
