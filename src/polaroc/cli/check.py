"""`polaroc check`: audit files of predictions."""

from typing import Annotated

import polars as pl
import typer

from polaroc.base.text import escape_control
from polaroc.base.text_tables import table
from polaroc.cli.keys import By, NoBy, keys_of
from polaroc.cli.measures_table import MAX_ROWS, commonest_notes
from polaroc.cli.options import Files, Positive, Score, Truth, Weight
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import handle_errors, notes_console, out, print_json, print_notes, progress
from polaroc.cli.sources import Decimal, FileSource, Separator, TableName, columns_of, opened
from polaroc.errors import InvalidPredictions
from polaroc.predictions.audit import check as audit
from polaroc.predictions.dependence import with_note


@handle_errors
def check(
    files: Files,
    truth: Truth,
    score: Score,
    by: By = None,
    no_by: NoBy = False,
    table_name: TableName = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    weight: Weight = None,
    positive: Positive = None,
    case: Annotated[
        str | None,
        typer.Option(help="Column that tells the cases apart, to find repeated ones."),
    ] = None,
    rows: Annotated[int, typer.Option(help="How many keys to show.", min=1)] = MAX_ROWS,
    as_json: AsJson = False,
) -> None:
    """Audit a prediction table: what each key holds and lacks.

    Example: polaroc check 'predictions/*.parquet' --truth label --score p --by model --by fold
    """
    with progress() as say, opened(files, table_name, separator, decimal) as source:
        say("auditing")
        columns = columns_of(source, truth, score, weight, positive)
        key_names = keys_of(source, by, no_by, columns, case)
        keys = key_names.all
        frame = source.predictions(columns, [*keys, *([case] if case else [])])
        report = audit(columns.cases(frame, keys, case=case))
        if isinstance(source, FileSource):
            doubt = source.dependence(columns, keys)
            report = with_note(report.lazy(), doubt, pl.lit(True)).collect()
        notes = source.notes(columns)
        source.check_unchanged()
    if report.is_empty():
        raise InvalidPredictions("the files hold no rows.", hint="check the files.")
    print_notes(key_names.notes)
    if as_json:
        print_json(report, [*notes, *commonest_notes(report, "key")])
        return
    shown = report.head(rows)
    cells = [[_cell(value) for value in row] for row in shown.iter_rows()]
    lacking, of = int(report["missing"].sum()), int(report["rows"].sum())
    usable = f"{lacking:,} of {of:,} rows lack a value" if lacking else "every row can be used"
    out().print(table(f"{report.height} key(s); {usable}", report.columns, cells, len(keys)))
    if report.height > rows:
        notes_console(True).print(f"… and {report.height - rows} more; --rows shows them.")
    for line in [*notes, *commonest_notes(report.tail(-rows), "key")]:
        notes_console(True).print(escape_control(line))


def _cell(value: object) -> str | None:
    if value is None:
        return None
    return f"{value:.4g}" if isinstance(value, float) else str(value)
