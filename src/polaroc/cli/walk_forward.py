"""`polaroc walk-forward`: thresholds set on the past, judged on the next period."""

from pathlib import Path
from typing import Annotated

from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.periods import run
from polaroc.cli.pipes import AsJson
from polaroc.deployment.walk_forward import walk_forward as function


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
    run(
        call, {}, folder, force=force, as_json=as_json, tables=("table", "expected"),
        drawn="steps",
    )  # fmt: skip
