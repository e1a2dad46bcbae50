"""`polaroc check` and `polaroc evaluate`: what a table holds, and how good each model is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

import polaroc as pr
from polaroc import warehouse
from polaroc.cli import options as opt
from polaroc.cli.measures_table import MAX_ROWS, commonest_notes, measures_table
from polaroc.cli.results import Output, Rows, deliver, rows_table
from polaroc.cli.screen import print_notes, progress
from polaroc.cli.sources import column_notes, opened, refuse_unranked
from polaroc.errors import InvalidArgument, InvalidPredictions, PolarocError
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.audit import balance_note
from polaroc.predictions.canonical import named_columns
from polaroc.typing import Interpolation
from polaroc.warehouse.connections import is_address, table_at

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
    missing, rows = int(audit["missing"].sum()), int(audit["rows"].sum())
    usable = f"{missing:,} of {rows:,} rows lack a value" if missing else "every row can be used"
    more = f"; the first {MAX_ROWS}, --json has all" if audit.height > MAX_ROWS else ""
    title = f"{audit.height} key(s); {usable}{more}"
    shown = rows_table(title, audit.head(MAX_ROWS), audit.columns.index("rows"))
    notes = commonest_notes(audit if as_json else audit.tail(-MAX_ROWS), "key")
    deliver(Rows("keys", audit, [shown], tuple(notes)), as_json)


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
    out: Annotated[
        Path | None, opt.out("Folder for the measures; or a table, such as measures.csv.")
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    table: Annotated[str | None, typer.Option(help=TABLE, metavar="TABLE")] = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = ".",
) -> None:
    """Measure every model and fold, at the priors you expect.

    At an address the measures are taken where the table is.

    Example: polaroc evaluate 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --out results

    In a pipe: cat p.csv | polaroc evaluate - --truth label --score p --json | jq '.[].estimate'
    """
    output = Output.checked(out, force)
    columns = {
        "truth": truth, "score": score, "positive": positive, "nulls": nulls, "model": model,
        "fold": fold, "cluster": cluster, "count": count, "weight": weight, "by": by,
    }  # fmt: skip
    shown = prior or list(DEFAULT_PRIORS)
    priors = [*shown]
    if grid is not None:
        if over is None:
            raise InvalidArgument(
                f"--grid is {grid}, and there is no range of priors.", hint="give --over 0.05 0.20."
            )
        priors += [one for one in pr.prior_grid(*over, grid)["prior"] if one not in shown]
    asked = opt.given(
        priors=priors, over=over, measure=measure, interpolation=interpolation, memory=memory
    )
    if intervals:
        asked |= {"intervals": True, "level": level}
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
            refuse_unranked(measures["positives"], cases.collect)
    keys = measures.columns[: measures.columns.index("measure")]
    totals = measures.unique([*keys, "positives", "negatives"], maintain_order=True)
    uneven = commonest_notes(totals.with_columns(balance_note(keys).alias("note")), "key")
    result = Rows(
        "measures", measures, [measures_table(measures, keys, shown, measure or ())],
        (*commonest_notes(measures), *uneven),
    )  # fmt: skip
    if output is not None:
        output.write(result)
    deliver(result, as_json, out)


def _measured_there(
    files: Sequence[str], name: str | None, columns: Mapping[str, Any], options: dict[str, Any]
) -> pl.DataFrame:
    """The measures of a table at an address."""
    if len(files) > 1 or "memory" in options:
        raise InvalidArgument(
            "an address is given beside files, another address or --memory.",
            hint="allowed are files or one address; its engine has a limit of its memory.",
        )
    try:
        with table_at(files[0], name) as table:
            schema = table.schema().to_polars()
            given = opt.roles(schema, **columns)
            names = named_columns(given, schema)
            print_notes(column_notes(names, columns.keys() - given.keys(), list(schema)))
            measures = warehouse.evaluate(table, **given, **options)
    except PolarocError:
        raise
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidPredictions(
            f"the engine refused the query: {first}.",
            hint="check the types of the columns and the rights on the table.",
        ) from None
    refuse_unranked(measures["positives"], list)
    return measures
