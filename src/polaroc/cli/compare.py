"""`polaroc compare`: whether models differ, over folds or on one test set."""

from pathlib import Path
from typing import Annotated

from polaroc.base.text import escape_spreadsheet
from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, Output, out_option
from polaroc.cli.pipes import AsJson
from polaroc.cli.points import Threshold, points_named
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.comparison.compare import compare as function
from polaroc.comparison.result import comparison_parts

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
    output = None if folder is None else Output(folder, force, one_table=False)
    if output is not None:
        output.check()
    cases = call.in_memory
    points = {} if threshold is None else {"points": points_named(call, threshold)}
    with progress() as say:
        say("comparing")
        result = call(cases, **points)
        if output is not None:
            with output.staging() as staging:
                for name in TABLES:
                    table = escape_spreadsheet(getattr(result, name))
                    table.write_csv(staging / f"{name}.csv")
                (staging / "summary.txt").write_text(result.summary() + "\n", encoding="utf-8")
    if as_json:
        print_json({name: getattr(result, name) for name in SHOWN}, result.warnings)
        return
    show_results(comparison_parts(result), folder)
