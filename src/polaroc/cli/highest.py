"""`polaroc highest`: what comes of looking at the highest cases of each day."""

from pathlib import Path
from typing import Annotated

from polaroc.base.rounding import ESTIMATE, limit, with_limits
from polaroc.base.text_tables import table
from polaroc.cli.commands import Call, command
from polaroc.cli.measures_table import commonest_notes
from polaroc.cli.outputs import Force, Output, out_option, write_measures
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.deployment.highest_each_day import highest_each_day as function


@command(function)
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
    output = None if out is None else Output(out, force)
    if output is not None:
        output.check()
    with progress() as say:
        say("ranking each day")
        result = call(call.in_memory)
    if output is not None:
        with output.staging() as where:
            write_measures(result, where)
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
            limit(row["one_threshold"]),
        ]
        for row in result.iter_rows(named=True)
    ]
    named = [*keys, "measure", "prior", ESTIMATE, "one_threshold"]
    days = f"The highest of each of {result['days'].max()} days"
    show_results([table(days, named, rows, len(keys) + 1), *notes], out)
