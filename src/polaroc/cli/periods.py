"""Commands on cases by day and period: what changes, and what comes of a rule."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polaroc as pr
from polaroc.base.rounding import ESTIMATE, number, with_limits
from polaroc.base.text_tables import table
from polaroc.charts.monitoring import periods as chart
from polaroc.charts.saving import export
from polaroc.cli.commands import Call, command
from polaroc.cli.measures_table import commonest_notes
from polaroc.cli.monitor import PointsInUse, ThresholdInUse, points_in_use
from polaroc.cli.outputs import Force, Output, out_option, write_result, write_tables
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import print_json, progress, show_result, show_results


@command(pr.periods)
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


@command(pr.walk_forward)
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
    run(
        call, {}, folder, force=force, as_json=as_json, tables=("table", "expected"),
        drawn="steps",
    )  # fmt: skip


@command(pr.highest_each_day)
def highest(
    call: Call,
    out: Annotated[
        Path | None,
        out_option("File for the result that ends as a table, such as .csv; or a folder."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Look at the highest cases of each day.

    Example: polaroc highest 'days/*.parquet' --truth label --score p --time day
    --alerts 500 --over 0.001 0.004 --cost-fn 50
    """
    output = Output.checked(out, force)
    with progress() as say:
        say("ranking each day")
        result = call(call.in_memory)
    write_result(result, output)
    notes = commonest_notes(result)
    if as_json:
        print_json(result, notes)
        return
    keys = result.columns[: result.columns.index("measure")]
    rows = [
        [
            *(str(row[key]) for key in (*keys, "measure")),
            "–" if row["prior"] is None else f"{row['prior']:.3g}",
            with_limits(row["estimate"], row["lower"], row["upper"]),
            number(row["one_threshold"]),
        ]
        for row in result.iter_rows(named=True)
    ]
    named = [*keys, "measure", "prior", ESTIMATE, "one_threshold"]
    days = f"The highest of each of {result['days'].max()} days"
    show_results([table(days, named, rows, len(keys) + 1), *notes], out)
