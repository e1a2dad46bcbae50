"""Sentences on which model to choose."""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.rounding import ALMOST, number, percent, probability
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import MAX_NAMED, named, one_name
from polaroc.models.comparison import Comparison, is_significant
from polaroc.priors.beliefs import Belief, Over

if TYPE_CHECKING:
    from polaroc.inference.evidence import Evidence

# Differences below this are not told apart.
MIN_SHOWN = 0.001
# The least probability of being the best at which the first words have no doubt.
LIKELY, EVEN = 2 / 3, 1 / 2
# What a loss is counted in.
OF_AREA = " of area, where 1 is perfect"
NUMBERS = (
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip


def describe_priors(over: Over | str | None, grid: Sequence[float] = ()) -> str:
    """The range or the belief, else the priors, at which a measure is taken, as a phrase.

    Examples
    --------
    >>> describe_priors((0.05, 0.2)), describe_priors(None, [0.1]), describe_priors(None)
    ('over 5 to 20 % positives', 'at 10 % positives', '')
    """
    if isinstance(over, tuple):
        return f"over {100 * over[0]:.3g} to {100 * over[1]:.3g} % positives"
    if isinstance(over, Belief) and over.ends is not None:
        return f"at {over!r}"
    if isinstance(over, Belief) and len(over.priors) == 1:
        grid = over.priors
    elif over is not None:
        return f"under {over}"
    if len(grid) > MAX_NAMED:
        return f"at {len(grid)} priors from {grid[0]:.3g} to {grid[-1]:.3g}, equally likely"
    if len(grid) > 1:
        return f"at the priors {', '.join(f'{prior:.3g}' for prior in grid)}, equally likely"
    return f"at {100 * grid[0]:.3g} % positives" if grid else ""


def describe_evidence(evidence: "Evidence", *, is_tested: bool = False) -> str:
    """The evidence behind the probability, or why there is none, with doubts that no test has."""
    about = [f"The probability refers to {evidence.about}."] if evidence.is_known else []
    if is_tested and about:
        return about[0]
    # As a sum, in which hints go on naming arguments as they are asked for.
    sentences = [*about, *evidence.doubts] or ["Nothing says how sure this is."]
    return reduce(lambda first, other: first + " " + other, sentences)


def first_words(models: pl.DataFrame) -> str:
    """Which model to take, no more boldly than it is likely the best.

    Examples
    --------
    >>> for chance in (0.88, 0.55, 0.44):
    ...     chances = {"probability_best": [chance, (1 - chance) / 2, (1 - chance) / 2]}
    ...     models = {"model": ["A", "B", "C"], "mean": [0.8, 0.7, 0.6]}
    ...     print(first_words(pl.DataFrame(models | chances)))
    Take A
    Take A, though it is only just ahead
    If you must choose now, take A
    """
    tied = count_tied(models)
    name = named(models[models.columns[0]][:tied].to_list(), "or")
    chance = models["probability_best"][0]
    if tied == models.height:
        return f"Take {name}"
    if chance is None:
        return f"Take {name}, though nothing says how sure that is"
    if tied * chance >= LIKELY:
        return f"Take {name}"
    if tied * chance < EVEN:
        return f"If you must choose now, take {name}"
    return f"Take {name}, though {'it is' if tied == 1 else 'they are'} only just ahead"


def count_tied(models: pl.DataFrame) -> int:
    """How many models have the best mean."""
    top = models["mean"][0]
    return int(((models["mean"] - top).abs() <= ROUNDING * abs(top)).sum())


def full_answer(
    models: pl.DataFrame,
    judged_by: str,
    *,
    is_bound: bool = False,
    higher: bool = True,
    is_area: bool = False,
) -> str:
    """Which model, by how much, how likely it is the best, and what is lost if it is not.

    Models are as in a `Choice`, `judged_by` a measure with priors, such as "area (AUPREC) over 5 to
    20 % positives". Losses are small where positives are rare, and have three significant digits.
    """
    top, tied = models["mean"][0], count_tied(models)
    sentence = f"{first_words(models)}: the {judged_by} is {_figure(top, higher)}"
    if tied < models.height:
        other, mean = models.select(models.columns[0], "mean").row(tied)
        than = "more" if higher else "less"
        sentence += f", {_apart(abs(top - mean), higher)} {than} than that of {one_name(other)}"
    unit = OF_AREA if is_area else ""
    sure = how_sure(models, is_bound=is_bound, higher=higher, unit=unit)
    return f"{sentence}. {sure}".rstrip()


def how_sure(
    models: pl.DataFrame, *, is_bound: bool = False, higher: bool = True, unit: str = ""
) -> str:
    """How likely the first model is the best, and what is lost if it is not; "" if unknown.

    Another model is named only if it is next in the ranking and the likeliest to be better: of a
    poor model that was measured with a large error hardly more is known than what models are like,
    and a sentence that names it would not be understood.
    """
    chance, loss = models.select("probability_best", "expected_loss").row(0)
    tied = count_tied(models)
    if tied == models.height:
        return "They are equal on all that was measured." if tied > 1 else ""
    if chance is None:
        return ""
    first = one_name(models[models.columns[0]][0]) if tied == 1 else "Each"
    among = "the better of the two" if models.height == 2 else f"the best of the {_count(models)}"
    least = "at least " if is_bound and chance < ALMOST else ""
    words = f"{first} is {among} with a probability of {least}{_in_a_sentence(chance)}"
    if chance >= ALMOST or tied > 1:
        return f"{words}."
    others = models.slice(1)
    lost = loss / (1 - chance)
    about = "about " if not higher or lost >= MIN_SHOWN else ""
    about += f"{_apart(lost, higher)}{unit}"
    other = one_name(others[models.columns[0]][0])
    if models.height == 2:
        return f"{words}; if it is not, {other} is, by {about}."
    if others["probability_best"][0] < others["probability_best"].max():
        return f"{words}; if it is not, the loss is {about}."
    return f"{words}; if it is not, {other} most likely is, by {about}."


def _figure(mean: float, higher: bool) -> str:
    return f"{number(mean)}" if higher else f"{mean:.3g}"


def _apart(difference: float, higher: bool) -> str:
    """A difference of two means."""
    if not higher:
        return two_digits(difference)
    return f"{difference:.3f}" if difference >= MIN_SHOWN else f"less than {MIN_SHOWN}"


def two_digits(value: float) -> str:
    """A number rounded to two digits, without an exponent where it is large.

    Examples
    --------
    >>> two_digits(0.0123), two_digits(6.42), two_digits(1234.5)
    ('0.012', '6.4', '1,200')
    """
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10 else f"{rounded:.2g}"


def three_digits(value: float) -> str:
    """A count of cases, which may be a mean: whole from 100 on, below to three digits.

    Examples
    --------
    >>> three_digits(1234.5), three_digits(13.566), three_digits(0.0123), three_digits(10.0)
    ('1,234', '13.6', '0.0123', '10')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _in_a_sentence(chance: float) -> str:
    """A probability as a percentage that is neither 0 nor 100, in words.

    Examples
    --------
    >>> _in_a_sentence(0.784), _in_a_sentence(0.9999), _in_a_sentence(0.0001)
    ('78 %', 'more than 99 %', 'less than 1 %')
    """
    text = probability(chance)
    assert text is not None
    return text.replace(">", "more than").replace("<", "less than")


def corrected(models: pl.DataFrame, measure: str, *, higher: bool = True) -> list[str]:
    """The first model's mean, corrected for the model having been selected by it.

    Models that vary together move together, which can outweigh the shrinking: then there is nothing
    to say.
    """
    if models.height < 2:
        return []
    mean, expected = models.select("mean", "expected").row(0)
    too, far = ("high", "highest") if higher else ("low", "lowest")
    picked = (
        f"The {measure} of the first model is likely too {too}, because it was picked for being "
        f"the {far} of {models.height}, and chance helped"
    )
    if expected is None:
        return [f"{picked}."]
    if expected >= mean if higher else expected <= mean:
        return []
    before, after = _figure(mean, higher), _figure(expected, higher)
    return [f"{picked}. Corrected for that, {before} becomes {after}{_lead(models, higher)}."]


def _lead(models: pl.DataFrame, higher: bool) -> str:
    """The lead over the next model after the same correction, if that is less."""
    if models.height < 2 or count_tied(models) > 1:
        return ""
    other, sign = one_name(models[models.columns[0]][1]), 1 if higher else -1
    before, after = (sign * (models[name][0] - models[name][1]) for name in ("mean", "expected"))
    if after >= before:
        return ""
    if after <= 0:
        return f", and nothing is left of the lead over {other}"
    left, measured = _apart(after, higher), _apart(before, higher)
    return f", and the lead over {other} is {left} in place of {measured}"


def describe_separation(models: pl.Series, comparison: Comparison) -> str:
    """Sentences on the models from which a test tells the first, and what it asks for."""
    apart, not_apart = split_by_test(models, comparison)
    first = one_name(models[0])
    shown = f"The lead of {first} over {named(apart)} is more than chance explains"
    if not not_apart:
        return f"{shown}."
    others = named(not_apart, "or")
    if not apart:
        shown = f"Chance may explain the lead of {first} over {others}"
    else:
        shown += f"; chance may explain that over {others}"
    rare = 1 / (1 - comparison.level)
    return (
        f"{shown}. A lead is more than chance explains if equal models show one so large in fewer "
        f"than 1 of {rare:,.3g} such studies."
    )


def changes(priors: pl.DataFrame) -> list[str]:
    """Where the best model changes with the prior."""
    model = priors.columns[1]
    best = priors.filter("best").unique("prior", keep="first", maintain_order=True)
    models, at = best[model].to_list(), best["prior"].to_list()
    starts = [i for i in range(len(models)) if i == 0 or models[i] != models[i - 1]]
    if len(starts) < 2:
        return []
    runs = [f"{one_name(models[i])} from {percent(at[i])}" for i in starts]
    return [f"Which model is best depends on the share of positives: {', '.join(runs)} on."]


def _count(models: pl.DataFrame) -> str:
    """How many models there are, small numbers in words."""
    return NUMBERS[models.height] if models.height < len(NUMBERS) else f"{models.height:,}"


def split_by_test(models: pl.Series, comparison: Comparison) -> tuple[list[object], list[object]]:
    """Other models, the best first: those that differ significantly from the first, and others."""
    a, b = comparison.pairs.columns[:2]
    first = pl.lit(models[:1]).first()
    rows = comparison.pairs.filter(pl.col(a).eq_missing(first) | pl.col(b).eq_missing(first))
    other = pl.when(pl.col(a).eq_missing(first)).then(pl.col(b)).otherwise(pl.col(a))
    known = rows.select(other.alias("other"), is_significant(comparison).alias("apart"))
    ranked = models.to_frame("other").join(
        known, on=["other"], nulls_equal=True, maintain_order="left"
    )
    return tuple(  # type: ignore[return-value]
        ranked.filter(pl.col("apart") == is_apart)["other"].to_list() for is_apart in (True, False)
    )
