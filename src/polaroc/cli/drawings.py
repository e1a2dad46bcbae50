"""The command `polaroc chart`: the table and the function of each chart, drawn into one file."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import polars as pl
import typer

import polaroc as pr
from polaroc.charts.lines import refuse_many
from polaroc.charts.saving import FORMATS, save
from polaroc.cli.commands import Call, command
from polaroc.cli.engines import TableSource
from polaroc.cli.evaluate import GRID, grid_of
from polaroc.cli.measures_table import commonest_notes
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.parameters import beginnings, is_given, option_name, prior_of
from polaroc.cli.pipes import or_stdout
from polaroc.cli.screen import notes_console, progress, show
from polaroc.comparison.result import Comparison
from polaroc.errors import InvalidArgument, check_choice
from polaroc.files.atomic import atomic_file, check_new
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.roles import ROLES
from polaroc.predictions.row_checks import left_out
from polaroc.predictions.table import read
from polaroc.priors.grids import OBSERVED, check_range
from polaroc.typing import Prior

RANGE = (0.01, 0.5)
Tables: TypeAlias = dict[str, pl.DataFrame]


@dataclass(frozen=True)
class ChartInputs:
    """What is read and the options of a chart, and the tables made of them."""

    call: Call
    priors: list[Prior] | None = None
    grid: int | None = None

    @property
    def over(self) -> tuple[float, float]:
        """The range of priors, by default a wide one."""
        lo, hi = self.call.value("over") or RANGE
        check_range(lo, hi)
        return lo, hi

    def curves(self) -> pl.DataFrame:
        """The curve of each key."""
        self._require_predictions()
        return self.call.curves

    def _require_predictions(self) -> None:
        """Refuse measures."""
        if self.call.cases.truth is None:
            raise InvalidArgument(
                "curves are drawn from predictions, and the files hold measures.",
                hint="give the predictions, with --truth and --score; roc and pr are also written "
                "by `polaroc evaluate PREDICTIONS --truth ... --score ... --out FOLDER`.",
            )

    def at_priors(self) -> pl.DataFrame:
        """The precision of each point of the curves at the priors."""
        curves, priors = self.curves(), list(self.priors or DEFAULT_PRIORS)
        refuse_many(curves, panels=len(priors))
        return curves.pipe(pr.surface, priors)

    def drift(self) -> Tables:
        """The balanced points at the ends of the range, and at 0.5 within it, and their curves."""
        lo, hi = self.over
        curves = self.curves()
        priors = [lo, 0.5, hi] if lo < 0.5 < hi else [lo, hi]
        return {"points": pr.operating_points(curves, priors=priors), "curve": curves}

    def costs(self) -> pl.DataFrame:
        """The least expected cost of each curve."""
        return pr.cost_curve(self.curves())

    def calibration(self) -> pl.DataFrame:
        """How often scores are right, at the priors or at each key's own."""
        self._require_predictions()
        return pr.calibration(self.call.in_memory, priors=self.priors or ["observed"]).curve

    def benefits(self) -> pl.DataFrame:
        """The net benefit of each curve, at the priors or at its own."""
        return pr.decision_curve(self.curves(), priors=self.priors or ["observed"])

    def by_prior(self) -> pl.DataFrame:
        """AUPREC at the priors, or on a grid that is fine enough for a line."""
        return self._measures(priors=self.priors or self._grid(), measures=["auprec"])

    def over_range(self) -> pl.DataFrame:
        """The measures over the range of priors."""
        measures = ["auc_range", "sens"]
        return self._measures(priors=[OBSERVED], over=self.call.value("over"), measures=measures)

    def comparison(self) -> Comparison:
        """Which models differ on one measure."""
        if self.priors and len(self.priors) > 1:
            raise InvalidArgument(
                f"--prior is given {len(self.priors)} times.", hint="models are compared at one."
            )
        at = {"prior": self.priors[0]} if self.priors else {}
        comparison: Comparison = self.call(self.call.in_memory, pr.compare, **at)
        return comparison

    def _measures(self, **options: Any) -> pl.DataFrame:
        """The measures of predictions, or those that are given."""
        call = self.call
        if call.cases.truth is None:
            if self.grid is not None:
                raise InvalidArgument(
                    f"--grid is {self.grid}, which is for predictions, and the files hold "
                    "measures.",
                    hint="leave it out.",
                )
            if options.get("over") is not None:
                raise InvalidArgument(
                    "--over is for predictions, and the files hold measures.", hint="leave it out."
                )
            return call.in_memory.table
        if isinstance(call.source, TableSource):
            return call.source.measures(call.cases, **options)
        return pr.evaluate(call.in_memory, **options)

    def dropped(self) -> list[str]:
        """How many rows of the predictions were left out, where that was asked for."""
        if self.call.cases.nulls != "drop":
            return []
        count = read(self.call.in_memory).count_invalid()
        return [left_out(count)] if count else []

    def _grid(self) -> list[Prior]:
        """Priors for a line over the range."""
        return list(grid_of(self.over, self.grid, "log"))


def notes_of(table: Any) -> list[str]:
    """The warnings of a table of a chart."""
    if isinstance(table, Comparison):
        return list(table.warnings)
    if isinstance(table, pl.DataFrame) and "note" in table.columns:
        return commonest_notes(table)
    return []


class Drawing(NamedTuple):
    """A chart: how its tables are made, the function that draws them, and its options.

    Several tables come by the names of the arguments that take them.
    """

    tables: Callable[[ChartInputs], Any]
    draw: Callable[..., Any]
    options: tuple[str, ...] = ()


def options_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The options of a chart of what a function returns."""
    names = list(signature(function).parameters)[1:]
    return tuple("priors" if name == "prior" else name for name in names)


DRAWINGS = {
    "roc": Drawing(ChartInputs.curves, pr.charts.roc),
    "pr": Drawing(ChartInputs.at_priors, pr.charts.pr, ("priors",)),
    "explorer": Drawing(ChartInputs.curves, pr.charts.explorer),
    "operating_drift": Drawing(ChartInputs.drift, pr.charts.operating_drift, ("over",)),
    "cost_curves": Drawing(ChartInputs.costs, pr.charts.cost_curves),
    "reliability": Drawing(ChartInputs.calibration, pr.charts.reliability, ("priors",)),
    "decision_curves": Drawing(ChartInputs.benefits, pr.charts.decision_curves, ("priors",)),
    "auprec_by_prior": Drawing(
        ChartInputs.by_prior, pr.charts.auprec_by_prior, ("priors", "over", "grid")
    ),
    "accsens_plane": Drawing(ChartInputs.over_range, pr.charts.accsens_plane, ("over",)),
    "pairs": Drawing(ChartInputs.comparison, pr.charts.pairs, options_of(pr.compare)),
}


# A chart shows what is found with certainty, not what would be promised.
@command(pr.compare, roles=[pr.curve, pr.compare], left_out=["prior"])
def chart(
    call: Call,
    name: Annotated[
        str,
        typer.Argument(
            help=f"Which: {', '.join(DRAWINGS)}.",
            autocompletion=beginnings(DRAWINGS),
        ),
    ],
    file: Annotated[
        Path | None,
        out_option(
            "File to write; its suffix json, html, svg, png or pdf gives the format; "
            "- prints JSON, in Vega-Lite. [default: NAME.html]"
        ),
    ] = None,
    force: Force = False,
    title: Annotated[str | None, typer.Option(help="Heading of the chart.", metavar="TEXT")] = None,
    priors: Annotated[
        list[str] | None,
        typer.Option(
            "--prior", help="Prior, or 'observed'; repeat it for several.", metavar="PRIOR"
        ),
    ] = None,
    grid: Annotated[
        int | None,
        typer.Option(
            help=f"Number of priors over the range. [default: {GRID}]", min=2, metavar="N"
        ),
    ] = None,
) -> None:
    """Draw one chart.

    Example: polaroc chart auprec_by_prior 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --out areas.svg
    """
    check_choice("NAME", name, tuple(DRAWINGS))
    drawing = DRAWINGS[name]
    own: dict[str, Any] = {"priors": priors, "grid": grid}
    own = {key: value for key, value in own.items() if is_given(value)}
    if unused := [key for key in (*own, *call.given) if key not in drawing.options]:
        taken = ", ".join(option_name(one) for one in drawing.options if one not in ROLES)
        raise InvalidArgument(
            f"{', '.join(map(option_name, unused))} does not change the chart {name!r}; it takes "
            f"{taken or 'none'}.",
            hint="leave it out.",
        )
    if priors:
        own["priors"] = [prior_of("--prior", word) for word in priors]
    destination = file or Path(f"{name}.html")
    with or_stdout(destination, f"{name}.json") as where:
        if where.suffix[1:].lower() not in FORMATS:
            raise InvalidArgument(
                f"there is no format {where.suffix[1:]!r}; there are {', '.join(FORMATS)}.",
                hint="choose among them.",
            )
        check_new(where, force)
        wanted = ChartInputs(call, **own)
        _ = call.cases
        with progress() as say:
            say("measuring")
            made = drawing.tables(wanted)
            say("drawing")
            more: dict[str, Any] = made if isinstance(made, dict) else {}
            first = [] if more else [made]
            drawn = drawing.draw(*first, **more, **({} if title is None else {"title": title}))
            tables = [*first, *more.values()]
            notes = [*wanted.dropped(), *(note for one in tables for note in notes_of(one))]
            call.check_unchanged()
            with atomic_file(where, force) as staging:
                save(drawn, staging)
    # Notes that a chart does not show.
    to_file = where == destination
    # Those of a table's own column begin with the word.
    notes = [line if line.startswith("Note ") else "Note: " + line for line in notes]
    show(notes, notes_console(to_file))
    if to_file:
        notes_console(True).print(f"Written to {where}.")
