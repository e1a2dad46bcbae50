"""The charts of the command line: the table and the function of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from polaroc import charts
from polaroc.base.columns import require
from polaroc.calibration.calibration_curve import calibration_curve
from polaroc.choice.result import Choice
from polaroc.cli.choose import choice_by_measure, choice_options
from polaroc.cli.keys import Keys, keys_of_measures
from polaroc.cli.measures_or_predictions import (
    given_of,
    measures_of,
    refuse_grid,
)
from polaroc.cli.measures_table import commonest_notes
from polaroc.cli.options import Columns, grid_of
from polaroc.cli.screen import print_notes
from polaroc.cli.sources import Source
from polaroc.comparison.compare import compare
from polaroc.comparison.design import Target
from polaroc.comparison.result import Comparison
from polaroc.curves.dominance import dominance
from polaroc.curves.hull import achievable
from polaroc.curves.surface import surface
from polaroc.errors import InvalidArgument
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.row_checks import left_out
from polaroc.predictions.usual_keys import usual_case
from polaroc.priors.grids import OBSERVED, check_range
from polaroc.thresholds.costs import brier_curve, cost_curve, decision_curve
from polaroc.thresholds.operating_points import operating_points, shifted_rates
from polaroc.typing import Prior
from polaroc.uncertainty.bands import pr_band, roc_band

RANGE = (0.01, 0.5)
RATES = ("accuracy", "precision", "tnr")


@dataclass(frozen=True)
class ChartInputs:
    """The source and the options of a chart, and the tables made of them."""

    source: Source
    columns: Columns | None  # of measures None
    by: list[str]  # models first; empty: all of measures
    prior: list[Prior] | None = None
    over: tuple[float, float] | None = None
    grid: int | None = None
    measure: str | None = None
    target: Target | None = None
    case: str | None = None
    test_train_ratio: float | None = None
    level: float = 0.95
    band: float | None = None
    brier: bool = False

    def __post_init__(self) -> None:
        if self.columns is None:
            refuse_grid(self.grid)

    def curves(self) -> pl.LazyFrame:
        """The curve of each key."""
        if self.columns is None:
            raise InvalidArgument(
                "curves are drawn from predictions, and the files hold measures.",
                hint="give the predictions, with --truth and --score; roc and pr are also written "
                "by `polaroc evaluate PREDICTIONS --truth ... --score ... --out FOLDER`.",
            )
        curves, notes = self.source.curves(self.columns, self.by)
        print_notes(notes)
        return curves

    def roc(self) -> "pl.LazyFrame | WithOverlay":
        """The curves, and bands that hold the true ones."""
        curves = self.curves()
        if self.band is None:
            return curves
        return WithOverlay(curves, band=roc_band(curves, level=self.band))

    def at_priors(self) -> "pl.LazyFrame | WithOverlay":
        """The precision of each point of the curves at the priors, and bands."""
        precisions = self.curves().pipe(surface, list(self.prior or DEFAULT_PRIORS))
        if self.band is None:
            return precisions
        return WithOverlay(precisions, band=pr_band(precisions, level=self.band))

    def relations(self) -> pl.LazyFrame:
        """Which curve dominates which, between the first key."""
        return self.curves().pipe(dominance, model=self._models()[0])

    def achievable(self) -> pl.LazyFrame:
        """The achievable precision of each curve on a grid of recalls and priors."""
        return self.curves().pipe(achievable, self._grid(), recall=51)

    def drift(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The balanced points at the ends of the range, and at 0.5 within it, and their curves."""
        lo, hi = self.over or RANGE
        check_range(lo, hi)
        curves = self.curves()
        priors = [lo, 0.5, hi] if lo < 0.5 < hi else [lo, hi]
        return operating_points(curves, priors=priors), curves

    def by_skew(self) -> pl.LazyFrame:
        """Rates of the points of least error at prior 0.5, as the skew changes."""
        points = operating_points(self.curves(), "cost", priors=0.5)
        return shifted_rates(points, self._grid(), RATES)

    def costs(self) -> "pl.LazyFrame | WithOverlay":
        """The least expected cost of each curve, and that of acting on scores as they are."""
        curves = self.curves()
        if not self.brier:
            return cost_curve(curves)
        return WithOverlay(cost_curve(curves), brier=brier_curve(curves))

    def calibration(self) -> pl.LazyFrame:
        """How often scores are right, at the priors or at each key's own."""
        priors: list[Prior] = self.prior or ["observed"]
        return calibration_curve(self.curves(), priors=priors)

    def benefits(self) -> pl.LazyFrame:
        """The net benefit of each curve, at the priors or at its own."""
        priors: list[Prior] = self.prior or ["observed"]
        return decision_curve(self.curves(), priors=priors)

    def by_prior(self) -> pl.LazyFrame:
        """AUPREC at the priors, or on a grid that is fine enough for a line."""
        priors = self.prior or self._grid()
        return self._measures(priors=priors, measures=["auprec"])

    def over_range(self) -> pl.LazyFrame:
        """The measures over the range of priors."""
        measures = ["auc_range", "sens"]
        return self._measures(priors=[OBSERVED], over=self.over, measures=measures)

    def choice(self) -> Choice:
        """Which model to take over the range of priors."""
        options = choice_options(self.over, self.columns, self.grid) | {"score_prior": OBSERVED}
        between, blocks = self._models(None if self.by else self._measures(**options))
        return choice_by_measure(
            self.source, self.columns, Keys([between], blocks, []), options, "auprec", self.over,
            self.case, None, alpha=1 - self.level, incomplete="raise",
        )  # fmt: skip

    def comparison(self) -> Comparison:
        """Which models differ on one measure."""
        measure = self.measure or "iauprec"
        if self.prior and len(self.prior) > 1:
            raise InvalidArgument(
                f"--prior is given {len(self.prior)} times.", hint="models are compared at one."
            )
        at = self.prior[0] if self.prior else None
        between, blocks = self._models(None if self.by else self._measures())
        case = self.case
        if case is None and self.columns is not None and not blocks:
            case = usual_case(self.source.schema())
        given = given_of(
            self.source, self.columns, between, blocks, case,
            test_train_ratio=self.test_train_ratio,
        )  # fmt: skip
        return compare(
            given, measure, prior=at, over=self.over, target=self.target, level=self.level
        )

    def _measures(self, **options: Any) -> pl.LazyFrame:
        """The measures with the keys in order."""
        measures = measures_of(self.source, self.columns, self.by, **options)
        ordered = measures.select(*self.by, pl.exclude(self.by) if self.by else pl.all())
        # They are drawn, and their notes are read.
        return ordered.collect().lazy()

    def dropped(self) -> list[str]:
        """How many rows of the predictions were left out, where that was asked for."""
        if self.columns is None or self.columns.nulls != "drop":
            return []
        count = self.source.count_invalid(self.columns, self.by)
        return [left_out(count)] if count else []

    def _grid(self) -> list[Prior]:
        """Priors for a line over the range."""
        lo, hi = self.over or RANGE
        check_range(lo, hi)
        return list(grid_of((lo, hi), self.grid, "log"))

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


class WithOverlay:
    """The table of a chart, and further tables by the name of their argument."""

    def __init__(self, table: pl.LazyFrame, **over: pl.LazyFrame) -> None:
        self.table, self.over = table, over


def notes_of(table: Any) -> list[str]:
    """The warnings of the tables of a chart."""
    if isinstance(table, WithOverlay):
        return [note for one in (table.table, *table.over.values()) for note in notes_of(one)]
    if isinstance(table, Choice | Comparison):
        return list(table.warnings)
    if isinstance(table, pl.LazyFrame) and "note" in table.collect_schema():
        return commonest_notes(table.collect())
    return []


class Drawing(NamedTuple):
    """A chart: how its table is made, the function that draws it, and its options."""

    table: Callable[[ChartInputs], Any]
    draw: Callable[..., Any]
    options: tuple[str, ...] = ()


def with_overlay(draw: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a chart, for a table with something to draw over it."""

    def both(table: Any, **options: Any) -> Any:
        if isinstance(table, WithOverlay):
            return draw(table.table, **table.over, **options)
        return draw(table, **options)

    return both


TESTED = ("prior", "over", "measure", "target", "case", "test_train_ratio", "level")
DRAWINGS = {
    "roc": Drawing(ChartInputs.roc, with_overlay(charts.roc), ("band",)),
    "pr": Drawing(ChartInputs.at_priors, with_overlay(charts.pr), ("prior", "band")),
    "dominance": Drawing(ChartInputs.relations, charts.dominance),
    "explorer": Drawing(ChartInputs.curves, charts.explorer),
    "surface": Drawing(ChartInputs.achievable, charts.surface, ("over", "grid")),
    "operating_drift": Drawing(
        ChartInputs.drift, lambda both, **more: charts.operating_drift(*both, **more), ("over",)
    ),
    "skew_effect": Drawing(ChartInputs.by_skew, charts.skew_effect, ("over", "grid")),
    "cost_curves": Drawing(ChartInputs.costs, with_overlay(charts.cost_curves), ("brier",)),
    "reliability": Drawing(ChartInputs.calibration, charts.reliability, ("prior",)),
    "decision_curves": Drawing(ChartInputs.benefits, charts.decision_curves, ("prior",)),
    "auprec_by_prior": Drawing(
        ChartInputs.by_prior, charts.auprec_by_prior, ("prior", "over", "grid")
    ),
    "interaction": Drawing(ChartInputs.by_prior, charts.interaction, ("prior", "over", "grid")),
    "winner_map": Drawing(ChartInputs.choice, charts.winner_map, ("over", "grid", "case")),
    "regret": Drawing(ChartInputs.choice, charts.regret, ("over", "grid", "case")),
    "accsens_plane": Drawing(ChartInputs.over_range, charts.accsens_plane, ("over",)),
    "pairs": Drawing(ChartInputs.comparison, charts.pairs, TESTED),
}
