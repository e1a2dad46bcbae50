"""The result of `choose`, and its summary as text and as HTML."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.rounding import number, probability
from polaroc.base.statistics import ROUNDING
from polaroc.base.text_tables import FoldedTable, Result, noted, table_of
from polaroc.inference.evidence import Evidence
from polaroc.measures.catalog import higher_is_better, in_words
from polaroc.models.answer import corrected, describe_evidence
from polaroc.models.comparison import Comparison
from polaroc.models.posterior import EXPECTED_LIMITS, Posterior, half_moved
from polaroc.models.regret import ExpectedMeasures
from polaroc.priors.beliefs import Belief

if TYPE_CHECKING:
    from rich.console import RenderableType

# Models in the table of a summary.
MAX_MODELS = 8


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Result):
    """Which model to take over a range of priors; made by `choose`.

    Attributes
    ----------
    answer
        What to take, by how much, how likely it is the best, and what is lost if it is
        not, in one sentence.
    models
        One row per model, the best first: the model; `mean` (of the measure under the
        belief, over the folds); `expected` (the mean corrected for having been picked; of the
        others for having lost, half as far), `expected_lower`, `expected_upper` (that hold the
        true measure with the probability `level`, a column too), `probability_best` (of being the
        best of these models; they add up to 1; models that are the same share it) and
        `expected_loss` (what taking this model is expected to lose against the one that is truly
        the best), all five null if nothing says how sure the choice is; `mean_regret`,
        `worst_regret` (null if the table has the measure at too few priors), `share` (of the
        folds in which its measure is the best; ties share; null without folds) Float64; and
        `prior_sensitivity` (Sens over the range, null unless the table has it of all models).
        For a choice by expected cost, where less is better, `mean` is the cost per case, and in
        place of `prior_sensitivity` there are `threshold`, `tpr`, `fpr` and exact limits of the
        cost as measured, `cost_lower` and `cost_upper`, as `apply_thresholds` gives them, Float64;
        models without a threshold come last, with nulls. On folds the threshold is that of their
        models together, the rates and the cost are means over the folds, each at a threshold of
        other folds, and the limits are those of such means.
    priors
        One row per prior and model: `prior`; the model; `mean` over the folds,
        `regret` (how far it is from the best mean), `share` (of the folds in
        which it is the best at this prior) Float64; `best` Boolean.
    warnings
        What the numbers rest on, in sentences.
    comparison
        The corrected tests on the expected measure; None without folds or
        without `test_train_ratio`.
    over
        The belief about the prior.
    measure, folds, fold_count
        What the models are judged by, the columns of the folds, and how many folds there
        are.
    level
        Of all limits in `models`.
    is_bound
        Whether `probability_best` of the first model is rather too low, since the ratio
        of test to training cases, or which rows are of one case, is not known.
    promise
        What `threshold` promises in one sentence, None where nothing is promised.
    threshold_texts
        By model its threshold in as few digits as select the same cases of all tables that it was
        chosen and judged on; empty for other choices.
    """

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
    is_bound: bool
    promise: str | None = None
    threshold_texts: Mapping[Any, str | None] = field(default_factory=dict)

    @property
    def bayes(self) -> Any:
        """The model with the best mean of the measure, and so the least mean regret."""
        return judged_models(self).to_series(0).first()

    @property
    def minimax(self) -> Any:
        """The model with the least worst regret; None where regrets are not known."""
        return self._least("worst_regret")

    @property
    def steadiest(self) -> Any:
        """The model with the least prior sensitivity, None where the table has none."""
        return None if self.is_by_cost else self._least("prior_sensitivity")

    @property
    def threshold(self) -> float | None:
        """The threshold to act on, of the first model of a choice by expected cost.

        Scores from it on are called positive. None where nothing is, of other choices, and on
        folds, whose models are not the final one.
        """
        judged = judged_models(self)
        is_known = self.is_by_cost and not self.folds and judged.height
        return judged["threshold"][0] if is_known else None

    def _least(self, column: str) -> Any:
        """The model with the least value, the better one where two tie; None if one is unknown."""
        judged = judged_models(self)
        if judged[column].null_count():
            return None
        rounding = ROUNDING * pl.col("mean").abs().max()
        close = pl.col(column) <= pl.col(column).min() + rounding
        return judged.filter(close).to_series(0).first()

    @property
    def is_by_cost(self) -> bool:
        """Whether models are judged by their expected cost."""
        return "threshold" in self.models.columns

    @property
    def higher_is_better(self) -> bool:
        """Whether more of the measure is better."""
        return not self.is_by_cost and higher_is_better(self.measure)

    @property
    def shown(self) -> "list[RenderableType]":
        """The answer, a table and notes."""
        promised = [] if self.promise is None else [self.promise]
        return [self.answer, *promised, "", _table(self), *noted(self.warnings)]

    def __repr__(self) -> str:
        return f"Choice({self.answer!r})"


def judged_models(choice: Choice) -> pl.DataFrame:
    """The models that have a mean: of a choice by cost, those that a threshold was found for."""
    return choice.models.filter(pl.col("mean").is_not_null())


def _table(choice: Choice) -> FoldedTable:
    models, forms = choice.models, dict[str, Callable[[Any], str | None]]()
    forms = {
        models.columns[0]: str, "mean": number, **dict.fromkeys(EXPECTED_LIMITS, number),
        "probability_best": probability,
    }  # fmt: skip
    title = "Cost per case" if choice.is_by_cost else in_words(choice.measure)
    title = title[:1].upper() + title[1:]
    if choice.is_by_cost:
        texts = [choice.threshold_texts.get(model) for model in models.to_series(0)]
        models = models.with_columns(threshold=pl.Series(texts, dtype=pl.String))
        forms["threshold"] = lambda text: text
    else:
        forms["worst_regret"] = number
    if not choice.higher_is_better:
        title += " (less is better)"
    if models["probability_best"].is_null().all():
        for name in (*EXPECTED_LIMITS, "probability_best"):
            del forms[name]
    else:
        title += f"; its {100 * choice.level:g} % limits are corrected for the choice"
    if models.height > MAX_MODELS:
        title += f"; the first {MAX_MODELS} of {models.height} models"
    return table_of(title, models.head(MAX_MODELS), forms)


def ranked_models(
    models: pl.Series,
    measured: ExpectedMeasures,
    known: Posterior | None,
    limits: tuple[float | None, float | None],
) -> pl.DataFrame:
    """The models, the best first, with what is known of their true means, within `limits`."""
    ranked = measured.model_table(models, known)
    ranked = ranked.with_columns(pl.col(EXPECTED_LIMITS).clip(*limits))
    if known is None:
        return ranked
    expected, means = (ranked[name].to_numpy() for name in ("expected", "mean"))
    moved = half_moved(expected, means, higher=measured.higher)
    return ranked.with_columns(pl.Series("expected", moved))


def certainty(
    ranked: pl.DataFrame, evidence: Evidence, name: str, *, higher: bool, is_tested: bool = False
) -> list[str]:
    """Warnings on what the probabilities rest on, and on the first model having been picked."""
    evidence_in_words = describe_evidence(evidence, is_tested=is_tested)
    return [evidence_in_words, *corrected(ranked, name, higher=higher)]
