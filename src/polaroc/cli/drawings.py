"""The charts of the command line: what each is drawn from, and by which function."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import polars as pl

from polaroc import charts
from polaroc.base.columns import require
from polaroc.choice.choose import choose
from polaroc.choice.result import Choice
from polaroc.cli.choose import choice_options
from polaroc.cli.inputs import labels
from polaroc.cli.keys import keys_of_measures, tell
from polaroc.cli.measured import measures_of
from polaroc.cli.screen import doubts
from polaroc.comparison.compare import compare
from polaroc.comparison.design import Target
from polaroc.comparison.result import Comparison
from polaroc.curves.curve import curve
from polaroc.curves.dominance import dominance
from polaroc.curves.hull import achievable
from polaroc.curves.surface import surface
from polaroc.errors import InvalidArgument
from polaroc.files.read import scan
from polaroc.measures.catalog import CATALOG, DEFAULT_PRIORS
from polaroc.predictions.audit import notes_on_labels
from polaroc.predictions.row_checks import left_out
from polaroc.predictions.table import read
from polaroc.priors.grids import OBSERVED, check_range, prior_grid
from polaroc.thresholds.costs import cost_curve, decision_curve
from polaroc.thresholds.operating_points import operating_points, shifted_rates
from polaroc.typing import Prior

PRIORS = 25
RANGE = (0.01, 0.5)
DRIFT = (0.1, 0.9)
RATES = ("accuracy", "precision", "tnr")


@dataclass(frozen=True)
class ChartInputs:
    """What the command line says a chart is drawn from."""

    files: list[str]
    predictions: dict[str, Any]  # their columns and labels; of measures truth and score are None
    by: list[str]  # models first; empty: all of measures
    prior: list[Prior] | None = None
    over: tuple[float, float] | None = None
    measure: str | None = None
    target: Target = "algorithm"
    test_train_ratio: float | None = None
    alpha: float = 0.005

    def curves(self) -> pl.LazyFrame:
        """The curve of each key."""
        truth, score = self.predictions["truth"], self.predictions["score"]
        if truth is None or score is None:
            raise InvalidArgument(
                "curves are drawn from predictions, and --truth or --score is missing.",
                hint="give both, as for `polaroc evaluate`.",
            )
        frame, arguments = self._rows()
        tell(notes_on_labels(read(frame, **arguments, audited=True)))
        return curve(frame, **arguments)

    def at_priors(self) -> pl.LazyFrame:
        """The precision of each point of the curves at the priors."""
        return self.curves().pipe(surface, list(self.prior or DEFAULT_PRIORS))

    def relations(self) -> pl.LazyFrame:
        """Which curve dominates which, between the first key."""
        return self.curves().pipe(dominance, between=self._models()[0])

    def achievable(self) -> pl.LazyFrame:
        """The achievable precision of each curve on a grid of recalls and priors."""
        return self.curves().pipe(achievable, _grid(self.over or RANGE, "log"), recall=51)

    def drift(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The balanced points at the ends of the range, and at 0.5 within it, and their curves."""
        lo, hi = self.over or DRIFT
        check_range(lo, hi)
        curves = self.curves()
        priors = [lo, 0.5, hi] if lo < 0.5 < hi else [lo, hi]
        return operating_points(curves, priors=priors), curves

    def by_skew(self) -> pl.LazyFrame:
        """Rates of the points of least error at prior 0.5, as the skew changes."""
        points = operating_points(self.curves(), "cost", priors=0.5)
        return shifted_rates(points, _grid(self.over or RANGE, "log"), RATES)

    def costs(self) -> pl.LazyFrame:
        """The least expected cost of each curve."""
        return self.curves().pipe(cost_curve)

    def benefits(self) -> pl.LazyFrame:
        """The net benefit of each curve, at the priors or at its own."""
        priors: list[Prior] = self.prior or ["observed"]
        return decision_curve(self.curves(), priors=priors)

    def by_prior(self) -> pl.LazyFrame:
        """AUPREC at the priors, or on a grid that is fine enough for a line."""
        priors = self.prior or _grid(self.over or RANGE, "log")
        return self._measures(priors=priors, measures=["auprec"])

    def over_range(self) -> pl.LazyFrame:
        """The measures over the range of priors."""
        measures = ["auc_range", "sens"]
        return self._measures(priors=[OBSERVED], over=self.over, measures=measures)

    def choice(self) -> Choice:
        """Which model to take over the range of priors."""
        options = choice_options(self.over, self.predictions["truth"])
        measures = self._measures(**options)
        between, blocks = self._models(measures)
        return choose(measures, between, blocks or None, over=self.over)

    def comparison(self) -> Comparison:
        """Which models differ on one measure."""
        measure = self.measure or "iauprec"
        if self.prior and len(self.prior) > 1:
            raise InvalidArgument(
                f"--prior is given {len(self.prior)} times.", hint="models are compared at one."
            )
        at = self.prior[0] if self.prior else None
        arguments: dict[str, Any] = {"over": self.over, "priors": [at or OBSERVED]}
        if measure in CATALOG:
            arguments["measures"] = sorted({measure, "auc"})
        measures = self._measures(**arguments)
        between, blocks = self._models(measures)
        return compare(
            measures, measure, between, blocks, prior=at, target=self.target,
            test_train_ratio=self.test_train_ratio, alpha=self.alpha,
        )  # fmt: skip

    def _measures(self, **options: Any) -> pl.LazyFrame:
        """The measures with the keys in order."""
        measures = measures_of(self.files, self.predictions, self.by, **options)
        ordered = measures.select(*self.by, pl.exclude(self.by) if self.by else pl.all())
        # They are drawn, and their notes are read.
        return ordered.collect().lazy()

    def dropped(self) -> list[str]:
        """How many rows of the predictions were left out, where that was asked for."""
        if self.predictions["truth"] is None or self.predictions["nulls"] != "drop":
            return []
        frame, arguments = self._rows()
        count = read(frame, **arguments).count_invalid()
        return [left_out(count)] if count else []

    def _rows(self) -> tuple[pl.LazyFrame, dict[str, Any]]:
        """The predictions, and the arguments that name their columns."""
        frame = scan(self.files, self.by)
        positive = labels(frame, self.predictions["truth"], self.predictions["positive"])
        return frame, self.predictions | {"by": self.by, "positive": positive}

    def _models(self, measures: pl.LazyFrame | None = None) -> tuple[str, list[str]]:
        """The column of the models and those of the blocks."""
        keys = self.by
        if measures is not None and not keys:
            table = require(measures, ("measure", "estimate"), source="evaluate(...)")
            keys = keys_of_measures(table)
        if not keys:
            raise InvalidArgument(
                "no column tells the models apart.", hint="name it first: --by model --by fold."
            )
        return keys[0], keys[1:]


def doubtful(table: Any) -> list[str]:
    """The warnings of what a chart is drawn from."""
    if isinstance(table, Choice | Comparison):
        return list(table.warnings)
    if isinstance(table, pl.LazyFrame) and "note" in table.collect_schema():
        return doubts(table.collect())
    return []


def _grid(over: tuple[float, float], spacing: Literal["linear", "log"] = "linear") -> list[Prior]:
    check_range(*over)
    return prior_grid(*over, PRIORS, spacing)["prior"].to_list()


class Drawing(NamedTuple):
    """A chart: what it is drawn from, by which function, and its options."""

    table: Callable[[ChartInputs], Any]
    draw: Callable[..., Any]
    options: tuple[str, ...] = ()


TESTED = ("prior", "over", "measure", "target", "test_train_ratio", "alpha")
DRAWINGS = {
    "roc": Drawing(ChartInputs.curves, charts.roc),
    "pr": Drawing(ChartInputs.at_priors, charts.pr, ("prior",)),
    "dominance": Drawing(ChartInputs.relations, charts.dominance),
    "explorer": Drawing(ChartInputs.curves, charts.explorer),
    "surface": Drawing(ChartInputs.achievable, charts.surface, ("over",)),
    "operating_drift": Drawing(
        ChartInputs.drift, lambda both, **more: charts.operating_drift(*both, **more), ("over",)
    ),
    "skew_effect": Drawing(ChartInputs.by_skew, charts.skew_effect, ("over",)),
    "cost_curves": Drawing(ChartInputs.costs, charts.cost_curves),
    "decision_curves": Drawing(ChartInputs.benefits, charts.decision_curves, ("prior",)),
    "auprec_by_prior": Drawing(ChartInputs.by_prior, charts.auprec_by_prior, ("prior", "over")),
    "interaction": Drawing(ChartInputs.by_prior, charts.interaction, ("prior", "over")),
    "winner_map": Drawing(ChartInputs.choice, charts.winner_map, ("over",)),
    "regret": Drawing(ChartInputs.choice, charts.regret, ("over",)),
    "accsens_plane": Drawing(ChartInputs.over_range, charts.accsens_plane, ("over",)),
    "pairs": Drawing(ChartInputs.comparison, charts.pairs, TESTED),
}
