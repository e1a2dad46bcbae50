"""The results that a report shows, computed by the functions of the package."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from polaroc.base.columns import MEASURE_COLUMNS, RESERVED, require
from polaroc.base.text import capitalised
from polaroc.curves.curve import curve
from polaroc.errors import InvalidArgument, InvalidTable, quoted
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.table import humanize_note
from polaroc.models.by_cost import Costs, choose_by_cost_of_folds, choose_with_tuning
from polaroc.models.choice import Choice
from polaroc.models.choose import choose_measured
from polaroc.models.compare import of_fitted
from polaroc.models.comparison import Comparison
from polaroc.models.inputs import of_keys, rows_among
from polaroc.models.measure_rows import (
    doubts,
    of_range,
    only_range,
    over_labels,
    range_rows,
)
from polaroc.models.paired_cases import Fitted, fitted
from polaroc.models.regret import evaluate_hint
from polaroc.models.sentences import changes
from polaroc.predictions.audit import check
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import prior_grid
from polaroc.reports.inputs import Question
from polaroc.reports.ranking import ranking
from polaroc.reports.thresholds import Thresholds, thresholds
from polaroc.typing import Prior

# The notes on areas from too few negatives, and what they mean.
BIASED = "biased upward"
FEW_NEGATIVES = (
    "Areas are biased upward: they are higher here than they would be on more cases, because at so "
    "small a share of positives a few negatives with high scores decide how many alarms are right, "
    "and few were tested. More negatives in the test would mend that. The recall and the false "
    "alarm rate of a threshold are not affected."
)


@dataclass(frozen=True, eq=False)
class Findings:
    """The results on the models: ranking, choice, comparison, predictions."""

    question: Question
    measures: pl.DataFrame
    ranking: pl.DataFrame  # the best model first
    choice: Choice | None  # None for a single model
    comparison: Comparison | None
    untested: str  # why there is no comparison
    # Of measures these four are None.
    cases: Cases[pl.DataFrame] | None = None
    curves: pl.DataFrame | None = None  # of each model, the rows of all folds in one
    thresholds: Thresholds | None = None
    audit: pl.DataFrame | None = None
    undrawn: int = 0  # models left out of figures

    @property
    def models(self) -> pl.Series:
        """The models, the best first."""
        return self.ranking[self.question.model]

    @property
    def score_prior(self) -> Prior:
        """The prior at which scores that are probabilities are right."""
        return self.question.compared.cases.score_prior

    @property
    def is_weighted(self) -> bool:
        """Whether cases count by weights."""
        return self.question.compared.cases.weight is not None

    @property
    def by_cost(self) -> bool:
        """Whether the models are ranked by what they cost."""
        return self.choice is not None and self.choice.is_by_cost

    @property
    def folds(self) -> int:
        """How many folds there are; 1 where each model was measured once."""
        columns = self.question.folds
        return self.measures.select(columns).n_unique() if columns else 1

    @property
    def assumptions(self) -> list[str]:
        """Assumptions of the tests, or why there are none, unless a caution asks for the same."""
        if self.comparison is not None:
            warnings = self.comparison.warnings
            # A choice by area has said it; one by cost says nothing of areas.
            is_unsaid = self.by_cost and any(BIASED in line for line in warnings)
            biased = [FEW_NEGATIVES] if is_unsaid else []
            return [*(line for line in warnings if BIASED not in line), *biased]
        is_unsure = self.choice is not None and self.choice.models["probability_best"][0] is None
        return [] if is_unsure else [self.untested]

    @property
    def cautions(self) -> list[str]:
        """Warnings on the numbers, without the assumptions of the tests, shown separately."""
        tested = () if self.comparison is None else self.comparison.warnings
        chosen = () if self.choice is None else self.choice.warnings
        # What changes with the prior stands elsewhere on the page.
        stated = (
            ()
            if self.choice is None
            else (*tested, changes(self.choice.priors), *doubts(self.measures, "auprec"))
        )
        cautions = [line for line in chosen if line not in stated]
        if self.choice is None:
            notes = self.measures.filter(pl.col("measure").is_in(["auprec", "iauprec", "auc"]))[
                "note"
            ]
            cautions += _sentences(notes.drop_nulls())
            noted = [] if self.audit is None else self.audit["note"].drop_nulls().to_list()
            if self.audit is not None and noted:
                of = self.audit.height
                cautions.append(f"{len(noted)} of {of} keys carry a note, such as: {noted[0]}.")
        estimated = self.question.estimated
        if estimated is not None:
            cautions.append(estimated.interval_note)
        cautions += () if self.thresholds is None else self.thresholds.cautions
        cautions += (*self.question.shared, *self.question.remarks)
        if any(BIASED in line for line in cautions):
            cautions = [FEW_NEGATIVES, *(line for line in cautions if BIASED not in line)]
        frame = pl.Series("caution", cautions, pl.String).to_frame()
        in_words = frame.select(humanize_note(pl.col("caution")))["caution"]
        return list(dict.fromkeys(in_words))


def drawn(findings: Findings, most: int) -> Findings:
    """The findings on the first models only, and of those that are the best at some prior.

    For figures: what is worked out, and said, is of all models.
    """
    column = findings.question.model
    models = findings.ranking.select(column)
    if models.height <= most:
        return findings
    shown, choice, comparison = models.head(most), findings.choice, findings.comparison
    if choice is not None:
        winners = choice.priors.filter("best").select(column).unique()
        both = pl.concat([rows_among(models, winners), models]).unique(maintain_order=True)
        shown = rows_among(models, both.head(most))
        choice = replace(
            choice, models=rows_among(choice.models, shown), priors=rows_among(choice.priors, shown)
        )
    if comparison is not None:
        comparison = replace(comparison, models=rows_among(comparison.models, shown))
    return replace(
        findings,
        measures=rows_among(findings.measures, shown),
        ranking=rows_among(findings.ranking, shown),
        choice=choice,
        comparison=comparison,
        cases=None if findings.cases is None else of_keys(findings.cases, shown),
        curves=None if findings.curves is None else rows_among(findings.curves, shown),
        undrawn=models.height - shown.height,
    )


def _sentences(notes: pl.Series) -> list[str]:
    """Notes in words, each with a capital letter and a full stop."""
    in_words = notes.to_frame().select(humanize_note(pl.col(notes.name))).to_series()
    return [f"{capitalised(note)}." for note in in_words]


def of_predictions(question: Question, priors: Sequence[float], grid: int) -> Findings:
    """The findings of predictions."""
    cases = question.compared.cases
    measures = evaluate(
        cases, priors=_priors(question, priors, grid), measure=["auc", "auprec", "iauprec"],
        over=question.over,
    )  # fmt: skip
    curves = curve(replace(cases, fold=()))
    # Where a model was measured once. Limits at each prior would take ten times as long.
    tested: Fitted | None = None
    if not question.folds:
        ends = _ends_of_estimate(question)
        limits = evaluate(
            cases, measure=["auprec", "iauprec"] if ends else "iauprec", intervals=True,
            level=question.level, priors=ends or 0.5, over=question.over,
        )  # fmt: skip
        each = [*question.keys, "measure", "prior"]
        of_limits = limits.select(*each, "lower", "upper")
        measures = measures.join(
            of_limits, on=each, how="left", nulls_equal=True, maintain_order="left"
        )
        if cases.case is not None and measures[question.model].n_unique() > 1:
            both = pl.concat([limits, measures.filter(measure="auc")], how="diagonal")
            tested = fitted(cases, "iauprec", "observed", question.over, both)
    by_area = _choice(measures, question, tested)
    choice = _choice_by_cost(question) if by_area and question.by_cost else by_area
    comparison, untested = _comparison(by_area, question, tested)
    ranked = ranking(measures, question, choice)
    points = thresholds(cases, question, ranked[question.model][:1])
    return Findings(
        question, measures, ranked, choice, comparison, untested, cases, curves, points,
        check(cases),
    )  # fmt: skip


def of_measures(question: Question) -> Findings:
    """The findings of tidy measures."""
    table = question.compared.table
    require(table.lazy(), MEASURE_COLUMNS, source="evaluate(...)")
    if question.over is None:
        question = replace(question, over=only_range(table))
    choice = _choice(table, question)
    if choice is None:
        _check_single(table, question)
    table = of_range(table, question.over)
    comparison, untested = _comparison(choice, question)
    ranked = ranking(table, question, choice)
    return Findings(question, table, ranked, choice, comparison, untested)


def _check_single(measures: pl.DataFrame, question: Question) -> None:
    """Raise for a single model with a key besides, or without IAUPREC over the range asked for."""
    others = [name for name in measures.columns if name not in (*RESERVED, *question.keys)]
    varying = measures.group_by(question.keys).agg(pl.col(others).n_unique())
    several = [name for name in others if (varying[name] > 1).any()]
    if several:
        raise InvalidTable(
            f"{quoted(several)} has several values, and neither models nor folds are told apart by "
            "it.",
            hint="keep one of its values, or rename it to model or fold, whichever it is.",
        )
    if "iauprec" not in measures["measure"]:
        raise InvalidArgument(
            "the measures of a single model hold no 'iauprec'.",
            hint="evaluate with over=(0.05, 0.20), or give predictions.",
        )
    if question.over is None or range_rows(measures, "iauprec", question.over) is not None:
        return
    labels = over_labels(measures, "iauprec")
    raise InvalidArgument(
        f"the table's 'iauprec' is over {', '.join(labels) or 'a range that it does not name'}, "
        f"asked for is {question.over!r}.",
        hint=evaluate_hint(question.over),
    )


def _priors(question: Question, priors: Sequence[float], grid: int) -> list[float]:
    """The priors of a range and those asked for, or the nodes of a belief."""
    over = question.over
    assert over is not None
    within = over.priors if isinstance(over, Belief) else prior_grid(*over, grid)["prior"]
    return sorted({*within, *priors, *_ends_of_estimate(question)})


def _ends_of_estimate(question: Question) -> list[float]:
    """The ends of the interval of an estimated prior, at which measures are needed, too."""
    return [] if question.estimated is None else question.estimated.inner_ends


def _choice(
    measures: pl.DataFrame, question: Question, tested: Fitted | None = None
) -> Choice | None:
    if measures[question.model].n_unique() < 2:
        return None
    return choose_measured(
        question.compared, measures, over=question.over,
        test_train_ratio=question.test_train_ratio, level=question.level,
        evidence=None if tested is None else tested.evidence,
    )  # fmt: skip


def _choice_by_cost(question: Question) -> Choice:
    """The choice by what models cost at thresholds that are set on other cases or folds."""
    assert question.over is not None
    costs = Costs(*question.needs.costs, question.over)
    if question.tuning is None:
        return choose_by_cost_of_folds(question.compared, costs, level=question.level)
    compared = question.compared
    return choose_with_tuning(
        compared, question.tuning, costs, as_read=compared.cases, level=question.level
    )


def _comparison(
    choice: Choice | None, question: Question, tested: Fitted | None = None
) -> tuple[Comparison | None, str]:
    """The test of the models, or why there is none."""
    if choice is None:
        return None, "There is one model only: nothing to compare it with."
    if choice.comparison is not None:
        return choice.comparison, ""
    if question.folds:
        if question.test_train_ratio is None:
            return None, (
                "No test was made: it needs the ratio of test to training cases "
                "(test_train_ratio, or --test-train-ratio), because folds that share training "
                "cases are not independent."
            )
        return None, "No test was made: there is one fold only, which shows no variation."
    if tested is None:
        return None, (
            "No test was made: each model was measured once, and no column was named that says "
            "which rows are of the same case (case), by which fitted models could be compared."
        )
    return of_fitted(tested, question.level), ""
