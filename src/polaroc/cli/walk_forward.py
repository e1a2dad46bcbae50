"""`polaroc walk-forward`: thresholds set on the past, judged on the next period."""

from pathlib import Path
from typing import Annotated

from polaroc.base.text import escape_spreadsheet
from polaroc.charts.by_period import periods as chart
from polaroc.charts.saving import export
from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, Output, out_option
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.deployment.walk_forward import walk_forward as function
from polaroc.deployment.walk_forward_result import steps_parts

TABLES = ("table", "expected")


@command(function)
def walk_forward(
    call: Call,
    folder: Annotated[
        Path | None, out_option("Folder for the steps, what to expect, and a chart.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Set thresholds on the past, judge them on the next period.

    Example: polaroc walk-forward predictions.parquet --truth label --score p --time day
    --every 1mo --constraint precision=0.5
    """
    output = None if folder is None else Output(folder, force, one_table=False)
    if output is not None:
        output.check()
    cases = call.in_memory
    with progress() as say:
        say("stepping")
        result = call(cases)
        if output is not None:
            with output.staging() as staging:
                for name in TABLES:
                    table = escape_spreadsheet(getattr(result, name))
                    table.write_csv(staging / f"{name}.csv")
                export(chart(result.table), staging, "steps")
    if as_json:
        shown = {name: getattr(result, name) for name in TABLES}
        print_json({"answer": result.answer, **shown}, result.warnings)
        return
    show_results(steps_parts(result), folder)
