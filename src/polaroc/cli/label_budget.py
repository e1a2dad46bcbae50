"""`polaroc label-budget`: which cases in use to label, and how many."""

from pathlib import Path
from typing import Annotated

from polaroc.base.text_tables import table as text_table
from polaroc.cli.commands import Call, command
from polaroc.cli.inputs import opened
from polaroc.cli.monitor import (
    TRUE,
    PointsInUse,
    ReferenceFile,
    ThresholdInUse,
    points_in_use,
    read_reference,
    scores_in_use,
)
from polaroc.cli.outputs import Force, Output, out_option, write_measures
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.deployment.label_budget import label_budget as function


# The cases in use are FILES; thresholds come as a number or a file.
@command(function, left_out=["deployed"])
def label_budget(
    call: Call,
    reference: ReferenceFile,
    threshold: ThresholdInUse = None,
    points: PointsInUse = None,
    out: Annotated[Path | None, out_option("Table of the labels, such as labels.csv.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say which cases in use to label, and how many.

    Example: polaroc label-budget reference.parquet today.parquet --truth label --score p
    --threshold 0.31 --quantity recall --width 0.1 --label-alerts
    """
    output = Output.checked(out, force)
    with opened([str(reference)], None, call.text) as known, progress() as say:
        say("drawing")
        roles = read_reference(call, known, None)
        in_use = points_in_use(threshold, points, call)
        budget = call(call.in_memory, deployed=scores_in_use(call, roles, TRUE), points=in_use)
        if output is not None:
            with output.staging() as where:
                write_measures(budget, where)
    notes = [f"Note: {note}." for note in budget["note"].drop_nulls().unique(maintain_order=True)]
    if as_json:
        print_json(budget, notes)
        return
    shown = budget.drop("note")
    cells = [
        [f"{cell:.4g}" if isinstance(cell, float) else cell and str(cell) for cell in row]
        for row in shown.rows()
    ]
    keys = shown.columns.index("from_score")
    headings = [name.replace("_", " ") for name in shown.columns]
    show_results([text_table("Cases to label", headings, cells, keys), *notes], out)
