"""The result of `choose`, and its summary as text and as HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.columns import with_level
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import number, probability
from polaroc.base.text_tables import Result, noted, table_of
from polaroc.inference.evidence import Evidence, all_pairs, by_holm
from polaroc.measures.catalog import higher_is_better, in_words
from polaroc.models.comparison import Comparison
from polaroc.models.posterior import posterior
from polaroc.models.regret import best_shares, regret_table
from polaroc.models.sentences import changes, corrected, how_sure
from polaroc.priors.beliefs import Belief
from polaroc.typing import Array

if TYPE_CHECKING:
    from rich.console import RenderableType

# Models in the table of a summary.
MAX_MODELS = 8
EXPECTED_LIMITS = ("expected_lower", "expected_upper")
NOTHING_SAYS = "Nothing says how sure this is."
IDENTICAL = "The models do not differ in any fold or case, so that nothing says which is the best."


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Result):
    """Which model to take over a range of priors; made by `choose`.

    Attributes
    ----------
    answer
        What to take, by how much, how likely it is the best, whether the test of `compare`
        confirms that, and what is lost if it is not.
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
        By expected cost, where less is better, `mean` is the cost per case, and there are
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
        What the models are judged by, the columns of the folds, and how many folds there
        are.
    level
        Of all limits in `models`.
    first_words, how_sure, cost
        The parts of the answer: what to take, how sure that is, and what the first model costs.
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
    promise: str | None = None
    threshold_texts: Mapping[Any, str | None] = field(default_factory=dict)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The frames `models` and `priors`."""
        return {"models": self.models, "priors": self.priors}

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
        return "threshold" in self.models.columns

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
        models, forms = self.models.head(MAX_MODELS), dict[str, Callable[[Any], str | None]]()
        forms = {"model": str, "mean": number, "std_error": number, "expected": number}
        forms |= {**dict.fromkeys(EXPECTED_LIMITS, number), "probability_best": probability}
        if self.is_by_cost:
            texts = [self.threshold_texts.get(model) for model in models["model"]]
            models = models.with_columns(threshold=pl.Series(texts, dtype=pl.String))
            forms["threshold"] = lambda text: text
        else:
            forms["worst_regret"] = number
        title = "Cost per case" if self.is_by_cost else in_words(self.measure)
        title = title[:1].upper() + title[1:] + " (less is better)" * (not self.higher_is_better)
        forms = {name: form for name, form in forms.items() if models[name].count()}
        if "expected" in forms:
            title += f"; expected: corrected for chance, with its {100 * self.level:g} % limits"
        if self.models.height > MAX_MODELS:
            title += f"; the first {MAX_MODELS} of {self.models.height} models"
        promised = [] if self.promise is None else [self.promise]
        return [self.answer, *promised, "", table_of(title, models, forms), *noted(self.warnings)]

    def __repr__(self) -> str:
        return f"Choice({self.answer!r})"


class Candidates(NamedTuple):
    """The measure or cost that models are chosen by, under a belief and at single priors."""

    models: pl.Series
    evidence: Evidence
    means: Array  # folds × models
    limits: tuple[Array, Array] | None  # of each model by itself, by default from the evidence
    at_priors: Array  # folds × models × priors
    priors: tuple[float, ...]
    higher: bool
    bounds: tuple[float, float] = (-inf, inf)
    regrets_known: bool = True


def ranked_models(candidates: Candidates, level: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The models, the best first, with what is known of their true means; and the priors."""
    models, higher, means = candidates.models, candidates.higher, candidates.means.mean(axis=0)
    known = posterior(candidates.evidence, higher=higher, bounds=candidates.bounds)
    names = (
        "mean", "std_error", "expected", *EXPECTED_LIMITS, "probability_best", "expected_loss",
        "share",
    )  # fmt: skip
    columns = dict.fromkeys(names, np.full(len(models), np.nan)) | {
        "mean": means,
        "share": best_shares(candidates.means if higher else -candidates.means),
    }
    if candidates.evidence.is_known:
        columns["std_error"] = np.sqrt(candidates.evidence.covariance[0].diagonal())
    if known is not None:
        correction = known.expected - means
        lower, upper = candidates.limits or limits_by_scale(candidates, level)
        # As wide as the interval of the model by itself, and wider by the correction.
        lower = np.minimum(lower, lower + correction)
        upper = np.maximum(upper, upper + correction)
        columns |= {
            "expected": known.expected, "expected_lower": np.clip(lower, *candidates.bounds),
            "expected_upper": np.clip(upper, *candidates.bounds),
            "probability_best": known.probability_best, "expected_loss": known.expected_loss,
        }  # fmt: skip
    table = pl.DataFrame(
        [models, *(pl.Series(name, values, pl.Float64) for name, values in columns.items())]
    ).fill_nan(None)
    priors = regret_table(models, candidates.at_priors, candidates.priors, higher=higher)
    worst = priors.group_by("model").agg(worst_regret=pl.col("regret").max())
    ranked = table.join(
        worst if candidates.regrets_known else worst.clear(), on=["model"], how="left",
        nulls_equal=True, maintain_order="left",
    ).sort("mean", descending=higher, maintain_order=True)  # fmt: skip
    return with_level(ranked, level), priors


def limits_by_scale(candidates: Candidates, level: float) -> tuple[Array, Array]:
    """The interval of each model by itself: on one test set of the log-odds, or the logarithm."""
    lower, upper = (ends[0] for ends in candidates.evidence.limits(level))
    means, (least, most) = candidates.evidence.estimates[0], candidates.bounds
    if len(candidates.means) > 1 or least != 0:
        return lower, upper
    # The odds of an area, whose greatest value is 1, or the loss itself.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        left = 1 - means if most == 1 else np.ones(len(means))
        odds, factor = means / left, np.exp((upper - means) / (means * left))
        lower, upper = odds / factor, odds * factor
    return (lower / (1 + lower), upper / (1 + upper)) if most == 1 else (lower, upper)


def certainty(candidates: Candidates, ranked: pl.DataFrame, level: float, unit: str = "") -> str:
    """How likely the first model is the best, and whether a test confirms it, in words."""
    evidence, p = candidates.evidence, None
    if evidence.is_known and not evidence.is_bound and len(candidates.models) > 1:
        pairs = all_pairs(evidence)
        adjusted = by_holm(pairs, level).p_value
        means = candidates.means.mean(axis=0)
        first = int(means.argmax() if candidates.higher else means.argmin())
        tested = ((pairs.first == first) | (pairs.second == first)) & (pairs.std_error > 0)
        p = float(adjusted[tested].max()) if tested.any() else None
    higher = candidates.higher
    return how_sure(ranked, p, level, is_bound=evidence.is_bound, higher=higher, unit=unit)


def caveats(
    candidates: Candidates,
    ranked: pl.DataFrame,
    priors: pl.DataFrame,
    name: str,
    *,
    is_tested: bool = False,
) -> list[str]:
    """Assumptions of the probabilities, and what else has to be known about the first model."""
    evidence = candidates.evidence
    is_sure = ranked["probability_best"].count() > 0
    doubts = " ".join(() if is_tested and is_sure else evidence.doubts)
    if is_sure:
        first = f"The probability refers to {evidence.about}. {doubts}".rstrip()
    elif evidence.is_known:
        first = IDENTICAL if ranked.height > 1 else ""
    else:
        first = doubts or NOTHING_SAYS
    sentences = first, corrected(ranked, name, higher=candidates.higher), changes(priors)
    return [*filter(None, sentences)]
