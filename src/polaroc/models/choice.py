"""The result of a choice, and its summary as text and as HTML."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.columns import with_level
from polaroc.base.rounding import number, probability, significant
from polaroc.base.statistics import ROUNDING
from polaroc.base.text_tables import FoldedTable, Summarised, noted, table_of
from polaroc.inference.evidence import Evidence
from polaroc.measures.catalog import higher_is_better
from polaroc.models.answer import changes, corrected, describe_evidence, describe_tests
from polaroc.models.comparison import Comparison
from polaroc.models.posterior import EXPECTED_LIMITS, Posterior, half_moved
from polaroc.models.regret import ExpectedMeasures
from polaroc.priors.beliefs import Belief
from polaroc.thresholds.texts import threshold_texts

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_PRIORS = 12


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Summarised):
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
        the best), all five null where nothing says how sure the choice is; `mean_regret`,
        `worst_regret` (null where the table has the measure at too few priors), `share` (of the
        folds in which its measure is the best; ties share; null without folds), `sens` Float64.
        For a choice by expected cost, where less is better, `mean` is the cost per case, and
        there are also `threshold`, `tpr`, `fpr` and exact limits of the cost as measured,
        `cost_lower` and `cost_upper`, as `apply_thresholds` gives them, Float64; models without a
        threshold come last, with nulls. On folds the threshold is that of their models together,
        the rates and the cost are means over the folds, each at a threshold of other folds, and
        the limits are those of such means.
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
        """The model with the least Sens, None where the table has none."""
        return self._least("sens")

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
        """The summary as sentences and tables."""
        tests = describe_tests(self.models, self.comparison, self.fold_count)
        promised = [] if self.promise is None else [self.promise]
        return [
            self.answer, *promised, "", *_tables(self), _choices(self),
            *([tests] if tests else []), *noted(self.warnings),
        ]  # fmt: skip

    def __repr__(self) -> str:
        return f"Choice({self.answer!r})"


def choice_among(
    models: pl.Series,
    measured: ExpectedMeasures,
    evidence: Evidence,
    known: Posterior | None,
    beside: pl.DataFrame,
    answer: Callable[[pl.DataFrame, str | None], str],
    *,
    name: str,
    limits: tuple[float | None, float | None],
    level: float,
    unranked: pl.DataFrame | None = None,
    curves: Sequence[pl.DataFrame] = (),
    first: Sequence[str] = (),
    last: Sequence[str] = (),
    **said: Any,
) -> Choice:
    """The choice among models by a measure, what is known of its true means, and columns `beside`.

    `answer` makes a sentence of the models, the best first, and of the threshold of that one.
    `name` is the measure in words, and `limits` are what it may be at the least and at the most.
    `unranked` models have none of it. The scores that thresholds divide are those of the `curves`.
    Warnings on how sure the choice is come after the `first` and before the `last`.
    """
    ranked = measured.model_table(models, known)
    ranked = ranked.with_columns(pl.col(EXPECTED_LIMITS).clip(*limits))
    if known is not None:
        columns = (ranked[name].to_numpy() for name in ("expected", "mean"))
        shown = half_moved(*columns, higher=measured.higher)
        ranked = ranked.with_columns(pl.Series("expected", shown))
    ranked = ranked.join(
        beside, on=[models.name], how="left", nulls_equal=True, maintain_order="left"
    )
    priors = measured.prior_table(models)
    sure = []
    if not ranked.is_empty():
        sure.append(describe_evidence(evidence, is_tested=said["comparison"] is not None))
        sure += corrected(ranked, name, higher=measured.higher)
    tables = [ranked] if unranked is None else [ranked, unranked]
    table = pl.concat(tables, how="diagonal")
    texts = threshold_texts(table, [models.name], *curves) if curves else []
    return Choice(
        answer=answer(ranked, texts[0] if texts else None),
        models=with_level(table, level),
        priors=priors,
        warnings=(*first, *sure, *changes(priors), *last),
        over=measured.belief,
        level=level,
        is_bound=evidence.is_bound,
        threshold_texts=dict(zip(table.to_series(0), texts, strict=False)),
        **said,
    )


def judged_models(choice: Choice) -> pl.DataFrame:
    """The models that have a mean: of a choice by cost, those that a threshold was found for."""
    return choice.models.filter(pl.col("mean").is_not_null())


def _choices(choice: Choice) -> str:
    if choice.is_by_cost:
        return f"Bayes choice {choice.bayes}; minimax-regret choice {choice.minimax}."
    steadiest = (
        "least prior-sensitive unknown (the table has no sens)"
        if choice.models["sens"].null_count()
        else f"least prior-sensitive {choice.steadiest}"
    )
    regrets_known = not choice.models["worst_regret"].null_count()
    minimax = choice.minimax if regrets_known else "unknown (too few priors of the range)"
    return f"Bayes choice {choice.bayes}; minimax-regret choice {minimax}; {steadiest}."


def _tables(choice: Choice) -> Iterator[FoldedTable]:
    models, column = choice.models, choice.models.columns[0]
    less = "" if choice.higher_is_better else " (less is better)"
    sure = models.filter(pl.col("probability_best").is_not_null())
    if not sure.is_empty():
        yield table_of(
            f"How good, and how sure{less}; expected and its {100 * choice.level:g} % limits are "
            "corrected for the pick",
            sure,
            {
                column: str, "mean": number, "expected": number,
                **dict.fromkeys(EXPECTED_LIMITS, number),
                "probability_best": probability, "expected_loss": number,
            },
        )  # fmt: skip
    regrets = {"mean_regret": number, "worst_regret": number}
    if choice.is_by_cost:
        texts = [choice.threshold_texts.get(model) for model in models[column]]
        yield table_of(
            "Cost per case (mean), and the threshold that it is the cost of",
            models.with_columns(threshold=pl.Series(texts, dtype=pl.String)),
            {column: str, "mean": number, **regrets, "threshold": lambda text: text, "tpr": number,
             "fpr": number},
        )  # fmt: skip
        return
    # On one test set there are no folds to win.
    won = {"share": _percent} if choice.fold_count > 1 else {}
    of_folds = "; share is that of the folds won" if won else ""
    yield table_of(
        f"Over the range{less}{of_folds}",
        models,
        {column: str, "mean": number, **regrets, **won, "sens": number},
    )
    best = choice.priors.filter("best").unique("prior", keep="first", maintain_order=True)
    if best.is_empty():
        return
    # Spread evenly, with both ends.
    rows = min(best.height, MAX_PRIORS)
    shown = [round(i * (best.height - 1) / max(rows - 1, 1)) for i in range(rows)]
    which = "each prior" if rows == best.height else f"{rows} of the {best.height} priors"
    yield table_of(
        f"The best model at {which}",
        best[shown],
        {"prior": significant, column: str, "mean": number, **won},
        keys=2,
    )


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f} %"
