"""The result of `choose`, and its sentences: which model, how sure, and what that rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.statistics import ROUNDING
from polaroc.base.text import (
    ALMOST,
    capitalised,
    named,
    number,
    one_name,
    p_in_words,
    percent,
    probability,
)
from polaroc.base.text_tables import Result, noted, table_of
from polaroc.inference.evidence import all_pairs, by_holm
from polaroc.measures.catalog import higher_is_better, in_words
from polaroc.models.comparison import Comparison
from polaroc.models.ranking import EXPECTED_LIMITS, Candidates
from polaroc.priors.beliefs import Belief

if TYPE_CHECKING:
    from rich.console import RenderableType

# The quantity that models with thresholds are judged by, in words, by the measure of the choice.
BY_COST = {
    "expected_cost": "cost", "missed_positives": "number of missed positives",
    "false_alarms": "number of false alarms",
}  # fmt: skip
# Models in the table of a summary.
SHOWN_MODELS = 8
IDENTICAL = "The models do not differ in any fold or case, so that nothing says which is the best."
# Smaller differences of areas are shown as less than this.
MIN_SHOWN = 0.001
# The least probability of being the best at which the first words have no doubt, and the least at
# which another model is not more likely.
LIKELY, EVEN = 2 / 3, 1 / 2
NUMBER_WORDS = (
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Result):
    """Choice of a model over a range of priors; made by `choose`.

    Attributes
    ----------
    answer
        What to take, by how much, how likely it is the best, whether the test of `compare`
        confirms that, what is lost if it is not, what is promised, and which models have no
        threshold.
    models
        One row per model, the best first: `model`; `mean` (of the measure under the belief, over
        the folds), its `std_error`; `expected` (the mean corrected for chance: the best was picked
        for it, the others were not), `expected_lower`, `expected_upper` (the interval of the model
        by itself, wider by the correction) and their `level`; `probability_best` (of being the
        best of these models; they add up to 1; models that are the same share it),
        `expected_loss` (what taking this model is expected to lose against the one that is truly
        the best); `worst_regret` (how far its mean is from the best at a prior, at most; null if
        the table has the measure at too few priors), `share` (of the folds in which it is the
        best; null without folds) Float64. What nothing is known of is null. By area also
        `prior_sensitivity` (Sens over the range, null unless the table has it of all models).
        By expected cost, where less is better, `mean` is the cost per case (without costs the
        missed positives or false alarms per case), and there are
        `threshold`, `tpr`, `fpr` and limits of the cost as measured, `cost_lower` and
        `cost_upper`, as `apply_thresholds` gives them; models without a threshold come last, with
        nulls. On folds the threshold is that of their models together, the rates and the cost are
        means over the folds, each at a threshold of other folds.
    priors
        One row per prior and model: `prior`; `model`; `mean` over the folds, `regret` (how far it
        is from the best mean), `share` (of the folds in which it is the best) Float64; `best`
        Boolean.
    warnings
        What the numbers rest on, in sentences.
    comparison
        The tests of `compare` on the expected measure, corrected over folds; None of folds without
        `test_train_ratio`, on one test set without `case`, of scoring rules there, and by cost.
    over
        The belief about the prior.
    measure, folds, fold_count
        What the models are judged by (of constraints without costs "missed_positives" or
        "false_alarms"), the columns of the folds, and how many folds there are.
    level
        Of all limits in `models`.
    first_words, how_sure, cost
        The parts of the answer: what to take, how sure that is, and what the first model costs.
    to_set
        On folds: the calls that set the threshold of the final model.
    promise
        What `threshold` promises in one sentence, None where nothing is promised.
    threshold_texts
        By model its threshold in as few digits as select the same cases of all tables that it was
        chosen and judged on; empty for other choices.
    """

    facts = ("bayes", "minimax", "threshold", "promise")

    answer: str
    models: pl.DataFrame
    priors: pl.DataFrame
    warnings: tuple[str, ...]
    comparison: Comparison | None
    over: Belief
    measure: str
    folds: tuple[str, ...]
    fold_count: int
    level: float
    first_words: str = ""
    how_sure: str = ""
    cost: str = ""
    to_set: str = ""
    promise: str | None = None
    threshold_texts: Mapping[Any, str | None] = field(default_factory=dict)

    table_names = "models", "priors"

    @property
    def bayes(self) -> Any:
        """The model with the best mean of the measure; None where none has a threshold."""
        return self.models["model"][0] if self._judged.height else None

    @property
    def minimax(self) -> Any:
        """The model with the least worst regret, the better one of equals; None if not known."""
        judged = self._judged
        if judged["worst_regret"].null_count():
            return None
        rounding = ROUNDING * pl.col("mean").abs().max()
        close = pl.col("worst_regret") <= pl.col("worst_regret").min() + rounding
        return judged.filter(close)["model"].first()

    @property
    def threshold(self) -> float | None:
        """The threshold to act on, of the first model of a choice by expected cost.

        Scores from it on are called positive. None where nothing is, of other choices, and on
        folds, whose models are not the final one.
        """
        is_known = self.is_by_cost and not self.folds and self._judged.height
        return self.models["threshold"][0] if is_known else None

    @property
    def is_by_cost(self) -> bool:
        """Whether models are judged by their expected cost."""
        return self.measure in BY_COST

    @property
    def judged_by(self) -> str:
        """The quantity that the models are judged by, in words."""
        return BY_COST[self.measure] if self.is_by_cost else in_words(self.measure)

    @property
    def higher_is_better(self) -> bool:
        """Whether more of the measure is better."""
        return not self.is_by_cost and higher_is_better(self.measure)

    @property
    def _judged(self) -> pl.DataFrame:
        """The models that have a mean: of a choice by cost, those with a threshold."""
        return self.models.filter(pl.col("mean").is_not_null())

    @property
    def shown(self) -> list[RenderableType]:
        """The answer, a table and notes."""
        models = self.models.head(SHOWN_MODELS)
        forms: dict[str, Callable[[Any], str | None]] = {"model": str}
        forms |= dict.fromkeys(("mean", "expected", *EXPECTED_LIMITS), number)
        forms["probability_best"] = probability
        if not self.is_by_cost:
            forms["worst_regret"] = number
        elif not self.folds:
            texts = [self.threshold_texts.get(model) for model in models["model"]]
            models = models.with_columns(threshold=pl.Series(texts, dtype=pl.String))
            forms["threshold"] = lambda text: text
        title = capitalised(f"{self.judged_by}{' per case' if self.is_by_cost else ''}")
        title += "" if self.higher_is_better else " (less is better)"
        forms = {name: form for name, form in forms.items() if models[name].count()}
        if "expected" in forms:
            title += f"; expected: corrected for chance, with its {100 * self.level:g} % limits"
        if self.models.height > SHOWN_MODELS:
            title += f"; the first {SHOWN_MODELS} of {self.models.height} models"
        to_set = [self.to_set] if self.to_set else []
        return [self.answer, *to_set, "", table_of(title, models, forms), *noted(self.warnings)]

    def __repr__(self) -> str:
        return f"Choice({self.answer!r})"


def count_tied(models: pl.DataFrame) -> int:
    """The number of models that have the best mean."""
    top = models["mean"][0]
    return int(((models["mean"] - top).abs() <= ROUNDING * abs(top)).sum())


def first_words(models: pl.DataFrame) -> str:
    """The model to take, in words no bolder than it is likely the best.

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
    candidates: Candidates, models: pl.DataFrame, level: float, name: str, unit: str
) -> str:
    """The chance that the first model is the best, the result of a test, and the expected loss.

    Another model is named only if it is next in the ranking and the likeliest to be better.
    """
    chance, loss = models.select("probability_best", "expected_loss").row(0)
    tied, others, higher = count_tied(models), models.slice(1), candidates.higher
    if tied == models.height > 1:
        return f"They are equal in the {name}."
    if chance is None:
        return ""
    count = (
        NUMBER_WORDS[models.height] if models.height < len(NUMBER_WORDS) else f"{models.height:,}"
    )
    among = "the better of the two" if models.height == 2 else f"the best of the {count}"
    shown = f"{probability(chance)}".replace(">", "more than").replace("<", "less than")
    least = "at least " if candidates.evidence.is_bound and chance < ALMOST else ""
    first = one_name(models["model"][0]) if tied == 1 else "Each"
    words = f"{first} is {among} with a probability of {least}{shown}"
    p = _p_of_first(candidates, level)
    if p is not None and tied == 1:
        says = "confirms" if p < 1 - level else "does not confirm"
        words += f"; the test {says} it ({p_in_words(p)})"
    if chance >= ALMOST or tied > 1:
        return f"{words}."
    lost = loss / (1 - chance)
    about = f"{'about ' * (not higher or lost >= MIN_SHOWN)}{_difference(lost, higher)}{unit}"
    other = one_name(others["model"][0])
    better = f"{other} is in truth better"
    if models.height > 2:
        better = "another model is in truth better"
        if others["probability_best"][0] == others["probability_best"].max():
            better += f", most likely {other}"
    return f"{words}. If {better}, then by {about}."


def _p_of_first(candidates: Candidates, level: float) -> float | None:
    """The greatest adjusted p-value of the first model against another; None without a test."""
    if candidates.evidence.is_bound:
        return None
    pairs, means = all_pairs(candidates.evidence), candidates.means.mean(axis=0)
    first = means.argmax() if candidates.higher else means.argmin()
    tested = ((pairs.first == first) | (pairs.second == first)) & (pairs.std_error > 0)
    return float(by_holm(pairs, level).p_value[tested].max()) if tested.any() else None


def caveats(
    candidates: Candidates, models: pl.DataFrame, priors: pl.DataFrame, name: str, *,
    is_tested: bool = False,
) -> list[str]:  # fmt: skip
    """Assumptions of the probabilities, and what else has to be known about the first model."""
    evidence, higher = candidates.evidence, candidates.higher
    basis = " ".join(evidence.warnings)
    if models["probability_best"][0] is not None:
        basis = f"The probability refers to {evidence.about}. {'' if is_tested else basis}"
    elif evidence.is_known:
        basis = IDENTICAL if models.height > 1 else ""
    return [*filter(None, [basis.rstrip(), correction(models, name, higher), changes(priors)])]


def correction(models: pl.DataFrame, name: str, higher: bool) -> str:
    """The correction of the first model for having been picked; "" if there is none."""
    before, after = models.select("mean", "expected").row(0)
    # Models that vary together move together, which can outweigh the correction.
    if after is None or (after < before) != higher:
        return ""
    figures, count = [_figure(one, higher) for one in (before, after)], models["expected"].count()
    if figures[0] == figures[1]:
        return ""
    too, far = ("high", "highest") if higher else ("low", "lowest")
    return (
        f"The {name} of the first model is likely too {too}, because it was picked as the {far} "
        f"of {count}. Corrected for that, {figures[0]} becomes {figures[1]}."
    )


def changes(priors: pl.DataFrame) -> str:
    """The priors at which the best model changes, in a sentence; "" if it does not."""
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


def _figure(mean: float, higher: bool) -> str:
    return f"{number(mean)}" if higher else f"{mean:.3g}"


def _difference(difference: float, higher: bool) -> str:
    """A difference of two means; losses are small where positives are rare."""
    if not higher:
        return two_digits(difference)
    return f"{difference:.3f}" if difference >= MIN_SHOWN else f"less than {MIN_SHOWN}"
