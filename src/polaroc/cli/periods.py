"""`polaroc periods`: measures by period, and whether they have a trend."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from polaroc.charts.monitoring import periods as chart
from polaroc.charts.saving import export
from polaroc.cli.commands import Call, command
from polaroc.cli.monitor import PointsInUse, ThresholdInUse, points_in_use
from polaroc.cli.outputs import Force, Output, out_option, write_tables
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import progress, show_result
from polaroc.deployment.periods import periods as function


@command(function)
def periods(
    call: Call,
    threshold: ThresholdInUse = None,
    points: PointsInUse = None,
    folder: Annotated[
        Path | None, out_option("Folder for the periods, the trends and a chart.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Measure period by period, and test whether a model decays.

    Example: polaroc periods predictions.parquet --truth label --score p --time day --every 1mo
    --measure auc --threshold 0.31
    """
    given: dict[str, Any] = {}
    if threshold is not None or points is not None:
        given["points"] = points_in_use(threshold, points, call)
    run(
        call, given, folder, force=force, as_json=as_json, tables=("table", "trends"),
        drawn="periods",
    )  # fmt: skip


def run(
    call: Call,
    given: dict[str, Any],
    folder: Path | None,
    *,
    force: bool,
    as_json: bool,
    tables: Sequence[str],
    drawn: str,
) -> None:
    """Show the result by period, and write its tables and a chart to a folder."""
    output = Output.checked(folder, force, one_table=False)
    cases = call.in_memory
    with progress() as say:
        say("measuring")
        result = call(cases, **given)
        if output is not None:
            with output.staging() as staging:
                write_tables(result, tables, staging)
                export(chart(result.table), staging, drawn)
    show_result(result, ("answer", *tables), result.warnings, as_json, folder)
