"""`polaroc check` and `polaroc evaluate`: what a table holds, and how good each model is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

import polaroc as pr
from polaroc import charts, warehouse
from polaroc.base.text_tables import table as text_table
from polaroc.charts.lines import refuse_many
from polaroc.cli import options as opt
from polaroc.cli.measures_table import MAX_ROWS, commonest_notes, measures_table
from polaroc.cli.output import Output, save_chart, write_table
from polaroc.cli.screen import is_quiet, out, print_json, print_notes, progress
from polaroc.cli.sources import column_notes, opened, refuse_unranked
from polaroc.errors import InvalidArgument, InvalidPredictions, PolarocError
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.audit import balance_note
from polaroc.predictions.canonical import named_columns
from polaroc.predictions.cases import Cases
from polaroc.priors.grids import resolve_priors
from polaroc.typing import Interpolation, Prior
from polaroc.warehouse.connections import is_address, table_at

CURVE_PRIORS = 25
GRID = "Also take AUPREC at so many priors of the range: 16 do for choose and report."
MEMORY = "Memory to use: bytes, a size such as 4GB, or 'auto' for 60 % of what is available."
TABLE = (
    "Table, schema.table or catalog.schema.table at an address in place of the files: "
    "duckdb://FILE, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or sc://HOST:PORT of Spark "
    "Connect (also a path of Parquet there)."
)


def check(
    files: opt.Files,
    truth: opt.Truth = None,
    score: opt.Score = None,
    positive: opt.Positive = None,
    model: opt.Model = None,
    fold: opt.Fold = None,
    case: opt.Case = None,
    cluster: opt.Cluster = None,
    count: opt.Count = None,
    weight: opt.Weight = None,
    by: opt.By = None,
    show: Annotated[
        int, typer.Option("--rows", help="How many keys to show.", min=1, metavar="N")
    ] = MAX_ROWS,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    sep: opt.Separator = None,
    decimal: opt.Decimal = ".",
) -> None:
    """Audit predictions: what each key holds and lacks.

    Example: polaroc check 'predictions/*.parquet' --truth label --score p
    """
    with opened(files, sep, decimal) as source, progress("auditing"):
        cases = source.cases(
            truth=truth, score=score, positive=positive, model=model, fold=fold, case=case,
            cluster=cluster, count=count, weight=weight, by=by,
        )  # fmt: skip
        audit = pr.check(cases)
    if audit.is_empty():
        raise InvalidPredictions("the files hold no rows.", hint="check the files.")
    if as_json:
        print_json(audit, commonest_notes(audit, "key"))
        return
    cells = [[_audit_cell(value) for value in row] for row in audit.head(show).iter_rows()]
    missing, rows = int(audit["missing"].sum()), int(audit["rows"].sum())
    usable = f"{missing:,} of {rows:,} rows lack a value" if missing else "every row can be used"
    title = f"{audit.height} key(s); {usable}"
    out().print(text_table(title, audit.columns, cells, audit.columns.index("rows")))
    notes = commonest_notes(audit.tail(-show), "key")
    if audit.height > show:
        notes = [f"… and {audit.height - show} more; --rows shows them.", *notes]
    print_notes(notes, beside_results=True)


def _audit_cell(value: object) -> str | None:
    if value is None:
        return None
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def evaluate(
    files: opt.Files,
    truth: opt.Truth = None,
    score: opt.Score = None,
    positive: opt.Positive = None,
    nulls: opt.HowNulls = "raise",
    model: opt.Model = None,
    fold: opt.Fold = None,
    cluster: opt.Cluster = None,
    count: opt.Count = None,
    weight: opt.Weight = None,
    by: opt.By = None,
    prior: opt.Priors = None,
    over: opt.Over = None,
    grid: Annotated[int | None, typer.Option(help=GRID, metavar="N")] = None,
    measure: opt.Measures = None,
    interpolation: Annotated[
        Interpolation, typer.Option(help="Of precision between two points of the ROC.")
    ] = "exact",
    intervals: Annotated[bool, typer.Option("--intervals", help="Also give intervals.")] = False,
    level: opt.Level = 0.95,
    memory: Annotated[str | None, typer.Option(help=MEMORY, metavar="SIZE")] = None,
    where: Annotated[
        Path | None,
        opt.out("Folder for measures and charts; or a table, such as measures.csv."),
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    table: Annotated[str | None, typer.Option(help=TABLE, metavar="TABLE")] = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = ".",
) -> None:
    """Measure every model and fold, at the priors you expect.

    At an address the measures are taken where the table is, and there are no charts.

    Example: polaroc evaluate 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --out results

    In a pipe: cat p.csv | polaroc evaluate - --truth label --score p --json | jq '.[].estimate'
    """
    output = Output.checked(where, force)
    columns = {
        "truth": truth, "score": score, "positive": positive, "nulls": nulls, "model": model,
        "fold": fold, "cluster": cluster, "count": count, "weight": weight, "by": by,
    }  # fmt: skip
    shown = opt.priors(prior) or list(DEFAULT_PRIORS)
    asked = opt.given(
        priors=_with_grid(shown, over, grid), over=over, measure=measure,
        interpolation=interpolation, memory=memory,
    )  # fmt: skip
    if intervals:
        asked |= {"intervals": True, "level": level}
    drawn: tuple[pl.DataFrame, pl.DataFrame] | None = None
    if any(map(is_address, files)):
        with progress("measuring"):
            measures = _measured_there(files, table, columns, asked)
    else:
        if table is not None:
            raise InvalidArgument(
                f"--table is {table!r}, which is for an address, and files are given.",
                hint="for example duckdb://scores.duckdb --table predictions.",
            )
        with opened(files, sep, decimal) as source, progress("measuring") as say:
            cases = source.cases(**columns)
            asked["progress"] = lambda done, rows: say(f"measuring, {done / rows:.0%} of {rows:,}")
            measures = pr.evaluate(cases, **asked).lazy().collect()
            if output is not None and not output.is_table:
                drawn = _for_charts(cases, asked, shown, over)
            refuse_unranked(measures["positives"], cases.collect)
    notes = []
    if output is not None:
        with output.staging() as staging, progress("drawing"):
            write_table(measures, staging)
            if drawn is not None:
                notes = _draw(*drawn, measures, shown, staging)
    keys = measures.columns[: measures.columns.index("measure")]
    totals = measures.unique([*keys, "positives", "negatives"], maintain_order=True)
    uneven = commonest_notes(totals.with_columns(balance_note(keys).alias("note")), "key")
    notes = [*commonest_notes(measures), *uneven, *notes]
    if output is not None:
        notes.append(f"Written to {output.path}.")
    if as_json:
        print_json(measures, notes)
        return
    if output is None or not is_quiet():
        out().print(measures_table(measures, keys, shown, measure))
    print_notes(notes, beside_results=True)


def _with_grid(
    priors: list[Prior], over: tuple[float, float] | None, count: int | None
) -> list[Prior]:
    """The priors, and so many of the range."""
    if count is None:
        return priors
    if over is None:
        raise InvalidArgument(
            f"--grid is {count}, and there is no range of priors.", hint="give --over 0.05 0.20."
        )
    return [*dict.fromkeys([*priors, *pr.prior_grid(*over, count)["prior"].to_list()])]


def _for_charts(
    cases: Cases[Any],
    asked: Mapping[str, Any],
    priors: Sequence[Prior],
    over: tuple[float, float] | None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables of the charts beside the measures: curves, and AUPREC over a range of priors."""
    numbers = [one for one in resolve_priors(list(priors)) if one is not None]
    lo, hi = min([*numbers, *(over or ()), 0.01]), max([*numbers, *(over or ()), 0.5])
    grid = pr.prior_grid(lo, hi, CURVE_PRIORS, "log")
    options = opt.given(interpolation=asked.get("interpolation"), memory=asked.get("memory"))
    areas = pr.evaluate(cases, priors=grid, measure="auprec", **options)
    curves = pr.curve(cases).lazy()
    if asked.get("interpolation") == "hull":
        curves = pr.hull(curves)
    return curves.collect(), areas.lazy().collect()


def _draw(
    curves: pl.DataFrame,
    areas: pl.DataFrame,
    measures: pl.DataFrame,
    priors: Sequence[Prior],
    folder: Path,
) -> list[str]:
    """Write the charts; return a note for each that has too many lines to be drawn."""

    def precision_recall() -> Any:
        refuse_many(curves, panels=len(priors))
        return charts.pr(pl.concat([pr.surface(curves, prior) for prior in priors]))

    by_prior = pl.concat([measures, areas], how="diagonal")
    makers: dict[str, Callable[[], Any]] = {
        "roc": lambda: charts.roc(curves),
        "pr": precision_recall,
        "auprec_by_prior": lambda: charts.auprec_by_prior(by_prior),
    }
    notes = []
    for name, make in makers.items():
        try:
            chart = make()
        except InvalidArgument as error:
            notes.append(f"Chart {name} left out: {error.problem}")
            continue
        for suffix in ("json", "svg", "png"):
            save_chart(chart, folder / f"{name}.{suffix}")
    return notes


def _measured_there(
    files: Sequence[str], name: str | None, columns: Mapping[str, Any], options: dict[str, Any]
) -> pl.DataFrame:
    """The measures of a table at an address."""
    if len(files) > 1:
        raise InvalidArgument(
            f"{len(files)} sources are given, allowed are files or one address.",
            hint="name one table at a time.",
        )
    if "memory" in options:
        raise InvalidArgument(
            f"--memory is {options['memory']!r}, which is for files, and an address is given.",
            hint="leave it out: the engine there has its own limit.",
        )
    with table_at(files[0], name) as table, _engine_errors():
        schema = table.schema().to_polars()
        given = opt.roles(schema, **columns)
        names = named_columns(given, schema)
        print_notes(column_notes(names, columns.keys() - given.keys(), list(schema)))
        measures = warehouse.evaluate(table, **given, **options)
    refuse_unranked(measures["positives"], list)
    return measures


@contextmanager
def _engine_errors() -> Iterator[None]:
    """Errors of a database as errors of the predictions."""
    try:
        yield
    except PolarocError:
        raise
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidPredictions(
            f"the engine refused the query: {first}.",
            hint="check the types of the columns and the rights on the table.",
        ) from None
