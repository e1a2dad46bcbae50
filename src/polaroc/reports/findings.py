"""The results that a report shows, as the functions of the package returned them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.text import capitalised
from polaroc.charts.theme import COLOURS
from polaroc.curves.curve import curve
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import in_words
from polaroc.measures.table import BIASED
from polaroc.models.choice import Choice, changes, correction
from polaroc.models.choose import choose
from polaroc.models.compare import compare
from polaroc.models.comparison import Comparison
from polaroc.models.fold_thresholds import judged_on_other_folds
from polaroc.models.inputs import Inputs, cases_among, read_inputs, rows_among, with_model
from polaroc.models.measure_rows import of_one_range, score_warnings
from polaroc.predictions.audit import check
from polaroc.predictions.cases import Cases, same_columns
from polaroc.priors.grids import prior_grid
from polaroc.priors.in_use import widest
from polaroc.reports.request import Request
from polaroc.reports.thresholds import Thresholds, thresholds_of, tuned_threshold
from polaroc.thresholds.apply_thresholds import shared_with_tuning, with_model_type

# What the note on areas from too few negatives means.
FEW_NEGATIVES = (
    "Areas are biased upward: they are higher here than they would be on more cases, because at so "
    "small a share of positives a few negatives with high scores decide how many alarms are right, "
    "and few were tested. More negatives in the test would mend that. The recall and the false "
    "alarm rate of a threshold are not affected."
)
# Names of arguments in warnings, which a page has in words.
IN_WORDS = {
    r"test_train_ratio=([\d.]*\d)": "a ratio of test to training cases of ${1}",
    "predictions with case='id'": "predictions that say which rows are the same case",
    r" \(case\)": "",
    "; gate takes wider limits": "",
}
# Priors of a range at which the area of a single model is taken.
GRID_SIZE = 9
# Models in figures: each has a colour of its own.
MAX_DRAWN = len(COLOURS)


@dataclass(frozen=True, eq=False)
class Findings:
    """The results on the models: choice, comparison, thresholds, audit."""

    request: Request
    ranking: pl.DataFrame  # `models` of a choice, or `model`, `mean`, `lower`, `upper` of one model
    by_prior: pl.DataFrame  # what models are ranked by: `prior`, `model`, `mean`, `best`
    folds: int  # 1 where each model was measured once
    warnings: tuple[str, ...]
    choice: Choice | None = None  # None for a single model
    comparison: Comparison | None = None  # of the areas
    doubts: tuple[str, ...] = ()  # on scores that cannot be right
    # Of measures these four are None.
    cases: Cases[pl.DataFrame] | None = None
    curves: pl.DataFrame | None = None  # of the first models, the rows of all folds in one
    thresholds: Thresholds | None = None
    audit: pl.DataFrame | None = None
    undrawn: int = 0  # models left out of figures

    @property
    def models(self) -> pl.Series:
        """The models, the best first."""
        return self.ranking["model"]

    @property
    def by_cost(self) -> bool:
        """Whether the models are ranked by what they cost."""
        return self.choice is not None and self.choice.is_by_cost

    @property
    def judged_by(self) -> str:
        """The quantity that the models are ranked by, in words."""
        return in_words("auprec") if self.choice is None else self.choice.judged_by

    @property
    def assumptions(self) -> list[str]:
        """Assumptions of the tests."""
        return _in_words(() if self.comparison is None else self.comparison.warnings)

    @property
    def cautions(self) -> list[str]:
        """Warnings on the numbers, without those of the tests and what stands elsewhere."""
        tested = () if self.comparison is None else self.comparison.warnings
        elsewhere = {*tested, *self.doubts}
        if self.choice is not None:
            elsewhere |= {
                changes(self.choice.priors), judged_on_other_folds(self.folds),
                correction(self.ranking, self.judged_by, not self.by_cost),
            }  # fmt: skip
        lines = [*self.warnings, *(self.thresholds.cautions if self.thresholds else ())]
        if any(BIASED in line.lower() for line in [*lines, *tested]):
            lines = [FEW_NEGATIVES, *(line for line in lines if BIASED not in line.lower())]
        return _in_words(line for line in lines if line not in elsewhere)

    @property
    def drawn(self) -> "Findings":
        """The findings on the first models only, for figures."""
        if len(self.models) <= MAX_DRAWN:
            return self
        kept, comparison = self.ranking.select("model").head(MAX_DRAWN), self.comparison
        if comparison is not None:
            pairs = comparison.pairs
            for end in ("model_a", "model_b"):
                pairs = rows_among(pairs, kept.rename({"model": end}))
            models = rows_among(comparison.models, kept)
            comparison = replace(comparison, models=models, pairs=pairs)
        return replace(
            self, ranking=self.ranking.head(MAX_DRAWN), by_prior=rows_among(self.by_prior, kept),
            comparison=comparison, undrawn=len(self.models) - MAX_DRAWN,
        )  # fmt: skip


def of_predictions(cases: Cases[Any], request: Request, tuning: Any) -> Findings:
    """The findings of predictions."""
    inputs = read_inputs(with_model(cases))
    held = inputs.cases
    folds = held.rows["fold"].n_unique() if held.fold else 1
    models = held.rows["model"].n_unique()
    shared, tuned, choice = list[str](), None, None
    if tuning is not None:
        tuned = with_model_type(with_model(same_columns(cases, tuning)).collect(), held)
        shared = shared_with_tuning(held, tuned)
    options: dict[str, Any] = {"over": request.over, "level": request.level}
    options |= {"score_prior": held.score_prior, "test_train_ratio": held.test_train_ratio}
    if models > 1:
        area = choice = choose(held, **options)
        if tuned is not None or request.has_costs:
            choice = choose(held, **options, **request.of_costs, tuning=tuned)
        findings = Findings(
            request, choice.models, choice.priors, folds,
            (*shared, *inputs.warnings, *choice.warnings), choice, area.comparison,
            () if choice.is_by_cost else tuple(_doubts_in(area)),
        )  # fmt: skip
    else:
        findings = _of_one_model(inputs, request, folds, shared)
    ranked = findings.ranking.select("model")
    first = ranked[:1]
    best = cases_among(held, first)
    drawn = held if models <= MAX_DRAWN else cases_among(held, ranked[:MAX_DRAWN])
    if tuned is None:
        points = thresholds_of(best, request)
    else:
        points = tuned_threshold(best, cases_among(tuned, first), request, choice)
    return replace(
        findings, cases=held, curves=curve(replace(drawn, fold=())), thresholds=points,
        audit=check(held),
    )  # fmt: skip


def _doubts_in(choice: Choice) -> list[str]:
    """The warnings of a choice that its answer begins with."""
    return [line for line in choice.warnings if choice.answer.startswith(line)]


def of_measures(table: Cases[Any], request: Request) -> Findings:
    """The findings of tidy measures."""
    table = with_model(table)
    inputs = read_inputs(table)
    folds = inputs.cases.rows["fold"].n_unique() if inputs.cases.fold else 1
    if inputs.cases.rows["model"].n_unique() > 1:
        choice = choose(
            table, over=request.over, level=request.level, test_train_ratio=table.test_train_ratio
        )
        request = replace(request, over=choice.over)
        return Findings(
            request, choice.models, choice.priors, folds, choice.warnings, choice,
            choice.comparison, tuple(_doubts_in(choice)),
        )  # fmt: skip
    measures, known = of_one_range(inputs.cases.rows, "iauprec", request.over)
    if not (known is None or isinstance(known, str)):
        request = replace(request, over=known)
    findings = _of_measured(measures, request, folds)
    return replace(findings, warnings=(*inputs.warnings, *findings.warnings))


def _of_one_model(inputs: Inputs, request: Request, folds: int, shared: Sequence[str]) -> Findings:
    """The area of a single model, and its limits."""
    cases, belief, level = inputs.cases, request.belief, request.level
    over, (low, _, high) = request.over, request.priors
    grid = prior_grid(low, high, GRID_SIZE)["prior"].to_list() if low < high else [low]
    measures = evaluate(cases, measure=["auprec", "iauprec", "auc"], over=over, priors=grid)
    limits = None
    if not cases.fold:
        ends = belief.inner_ends if belief.is_estimate else []
        limits = evaluate(
            cases, measure=["auprec", "iauprec"] if ends else "iauprec", over=over,
            priors=ends or 0.5, intervals=True, level=level,
        ).select("model", "lower", "upper")  # fmt: skip
        if belief.is_estimate and belief.ends is not None:
            limits = widest([limits], ["model"], belief.ends)
    elif cases.test_train_ratio is not None:
        limits = compare(
            cases, "iauprec", over=over, level=level, score_prior=cases.score_prior,
            test_train_ratio=cases.test_train_ratio,
        ).models.select("model", "lower", "upper")  # fmt: skip
    findings = _of_measured(measures, request, folds)
    if limits is not None:
        findings = replace(
            findings, ranking=findings.ranking.join(limits, on="model", nulls_equal=True)
        )
    noted = [*shared, *([belief.interval_note] if belief.is_estimate else [])]
    return replace(findings, warnings=(*noted, *inputs.warnings, *findings.warnings))


def _of_measured(measures: pl.DataFrame, request: Request, folds: int) -> Findings:
    """The means over the folds of a single model."""
    mean = pl.col("estimate").mean()
    ranking = measures.filter(measure="iauprec").group_by("model").agg(mean=mean)
    by_prior = measures.filter(measure="auprec").group_by("prior", "model").agg(mean=mean)
    notes = measures.filter(pl.col("measure").is_in(["auprec", "iauprec", "auc"]))["note"]
    noted = [f"{capitalised(note)}." for note in _in_words(notes.drop_nulls())]
    cannot = score_warnings(measures, "auprec")
    return Findings(
        request, ranking, by_prior.sort("prior").with_columns(best=True), folds, tuple(noted),
        doubts=tuple(cannot),
    )  # fmt: skip


def _in_words(notes: Any) -> list[str]:
    """Distinct sentences without names of columns and options."""
    frame = pl.Series("note", [*notes], pl.String).to_frame()
    text = pl.col("note")
    for name, words in IN_WORDS.items():
        text = text.str.replace_all(name, words)
    return list(dict.fromkeys(frame.select(text).to_series()))
