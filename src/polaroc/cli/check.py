"""`polaroc check`: audit files of predictions."""

from typing import Annotated

import typer

from polaroc.base.text import escape_control
from polaroc.base.text_tables import table
from polaroc.cli.commands import Call, command
from polaroc.cli.measures_table import MAX_ROWS, commonest_notes
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import notes_console, out, print_json, progress
from polaroc.errors import InvalidPredictions
from polaroc.predictions.audit import check as function


@command(function)
def check(
    call: Call,
    rows: Annotated[
        int, typer.Option(help="How many keys to show.", min=1, metavar="N")
    ] = MAX_ROWS,
    as_json: AsJson = False,
) -> None:
    """Audit a prediction table: what each key holds and lacks.

    Example: polaroc check 'predictions/*.parquet' --truth label --score p
    """
    cases = call.in_memory
    with progress() as say:
        say("auditing")
        report = call(cases)
    if report.is_empty():
        raise InvalidPredictions("the files hold no rows.", hint="check the files.")
    if as_json:
        print_json(report, commonest_notes(report, "key"))
        return
    shown = report.head(rows)
    cells = [[_cell(value) for value in row] for row in shown.iter_rows()]
    lacking, of = int(report["missing"].sum()), int(report["rows"].sum())
    usable = f"{lacking:,} of {of:,} rows lack a value" if lacking else "every row can be used"
    keys = report.columns.index("rows")
    out().print(table(f"{report.height} key(s); {usable}", report.columns, cells, keys))
    if report.height > rows:
        notes_console(True).print(f"… and {report.height - rows} more; --rows shows them.")
    for line in commonest_notes(report.tail(-rows), "key"):
        notes_console(True).print(escape_control(line))


def _cell(value: object) -> str | None:
    if value is None:
        return None
    return f"{value:.4g}" if isinstance(value, float) else str(value)
