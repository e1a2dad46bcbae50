"""`polaroc compare`: whether models differ, over folds or on one test set."""

from pathlib import Path
from typing import Annotated

from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, Output, out_option, write_tables
from polaroc.cli.pipes import AsJson
from polaroc.cli.points import Threshold, called
from polaroc.cli.screen import show_result
from polaroc.comparison.compare import compare as function

TABLES = ("omnibus", "pairs", "letters")
SHOWN = ("measure", "model", "fold", "case", "size", *TABLES)


# Points are what --threshold names.
@command(function, left_out=["points"])
def compare(
    call: Call,
    threshold: Threshold = None,
    folder: Annotated[
        Path | None,
        out_option("Folder for omnibus, pairs, letters and the summary."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Test whether models differ, and which. The tests hold for overlapping folds.

    Example: polaroc compare results --measure iauprec
    --test-train-ratio 0.25
    """
    output = Output.checked(folder, force, one_table=False)
    result = called(call, "comparing", threshold)
    if output is not None:
        with output.staging() as staging:
            write_tables(result, TABLES, staging)
            (staging / "summary.txt").write_text(result.summary() + "\n", encoding="utf-8")
    show_result(result, SHOWN, result.warnings, as_json, folder)
