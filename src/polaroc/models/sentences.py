"""The sentences of a choice: which model, how sure, and what the numbers rest on."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.statistics import ROUNDING
from polaroc.base.text import (
    ALMOST,
    MAX_NAMED,
    named,
    number,
    one_name,
    p_in_words,
    percent,
    probability,
)
from polaroc.priors.beliefs import Belief, Over

# Differences of areas below this are not told apart.
MIN_SHOWN = 0.001
# The least probability of being the best at which the first words have no doubt, and the least at
# which another model is not more likely.
LIKELY, EVEN = 2 / 3, 1 / 2
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
    if isinstance(over, Belief) and over.is_estimate:
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


def count_tied(models: pl.DataFrame) -> int:
    """How many models have the best mean."""
    top = models["mean"][0]
    return int(((models["mean"] - top).abs() <= ROUNDING * abs(top)).sum())


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
    tied, chance = count_tied(models), models["probability_best"][0]
    name = named(models["model"][:tied].to_list(), "or")
    if tied == models.height:
        return f"Take {name}"
    if chance is None:
        return f"Take {name}, though nothing says how sure that is"
    if tied * chance < EVEN:
        return f"If you must choose now, take {name}"
    if tied * chance < LIKELY:
        return f"Take {name}, though {'it is' if tied == 1 else 'they are'} only just ahead"
    return f"Take {name}"


def lead_in_words(models: pl.DataFrame, judged_by: str, *, higher: bool) -> str:
    """The measure of the first model, and by how much it is ahead of the next."""
    top, tied = float(models["mean"][0]), count_tied(models)
    sentence = f"the {judged_by} is {_figure(top, higher)}"
    if tied == models.height:
        return f"{sentence}."
    other, mean = models.select("model", "mean").row(tied)
    than = "more" if higher else "less"
    return (
        f"{sentence}, {_difference(abs(top - mean), higher)} {than} than that of {one_name(other)}."
    )


def how_sure(
    models: pl.DataFrame, p: float | None, level: float, *, is_bound: bool, higher: bool, unit: str
) -> str:
    """How likely the first model is the best, what a test says, and what is lost if it is not.

    `p` is the greatest adjusted p-value of the first model against another, if there is a test.
    Another model is named only if it is next in the ranking and the likeliest to be better.
    """
    chance, loss = models.select("probability_best", "expected_loss").row(0)
    tied, others = count_tied(models), models.slice(1)
    if tied == models.height > 1:
        return "They are equal on all that was measured."
    if chance is None:
        return ""
    count = NUMBERS[models.height] if models.height < len(NUMBERS) else f"{models.height:,}"
    among = "the better of the two" if models.height == 2 else f"the best of the {count}"
    shown = f"{probability(chance)}".replace(">", "more than").replace("<", "less than")
    least = "at least " if is_bound and chance < ALMOST else ""
    first = one_name(models["model"][0]) if tied == 1 else "Each"
    words = f"{first} is {among} with a probability of {least}{shown}"
    if p is not None and tied == 1:
        says = "confirms" if p < 1 - level else "does not confirm"
        words += f"; the test {says} it ({p_in_words(p)})"
    if chance >= ALMOST or tied > 1:
        return f"{words}."
    lost = loss / (1 - chance)
    about = f"{'about ' * (not higher or lost >= MIN_SHOWN)}{_difference(lost, higher)}{unit}"
    other = one_name(others["model"][0])
    if models.height == 2:
        return f"{words}. If it is not, {other} is, by {about}."
    if others["probability_best"][0] < others["probability_best"].max():
        return f"{words}. If it is not, the loss is {about}."
    return f"{words}. If it is not, {other} most likely is, by {about}."


def corrected(models: pl.DataFrame, measure: str, *, higher: bool) -> str:
    """The first model's mean, corrected for the model having been selected by it; "" if it is not.

    Models that vary together move together, which can outweigh the correction.
    """
    before, after = models.select("mean", "expected").row(0)
    if after is None or (after >= before) == higher:
        return ""
    too, far = ("high", "highest") if higher else ("low", "lowest")
    return (
        f"The {measure} of the first model is likely too {too}, because it was picked for being "
        f"the {far} of {models.height}, and chance helped. Corrected for that, "
        f"{_figure(before, higher)} becomes {_figure(after, higher)}."
    )


def changes(priors: pl.DataFrame) -> str:
    """Where the best model changes with the prior; "" if it does not."""
    best = priors.filter("best").unique("prior", keep="first", maintain_order=True)
    runs = best.filter(
        pl.col("model").ne_missing(pl.col("model").shift()) | pl.int_range(pl.len()).eq(0)
    )
    if runs.height < 2:
        return ""
    models = ", ".join(
        f"{one_name(model)} from {percent(at)}"
        for at, model in runs.select("prior", "model").rows()
    )
    return f"Which model is best depends on the share of positives: {models} on."


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


def _figure(mean: float, higher: bool) -> str:
    return f"{number(mean)}" if higher else f"{mean:.3g}"


def _difference(difference: float, higher: bool) -> str:
    """A difference of two means; losses are small where positives are rare."""
    if not higher:
        return two_digits(difference)
    return f"{difference:.3f}" if difference >= MIN_SHOWN else f"less than {MIN_SHOWN}"
