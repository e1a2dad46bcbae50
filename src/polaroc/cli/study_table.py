"""`polaroc study-table`: the numbers of a study as they are published."""

from pathlib import Path
from typing import Annotated

from polaroc.base.text import escape_spreadsheet
from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.pipes import AsJson
from polaroc.cli.points import Threshold, called
from polaroc.cli.screen import show_result
from polaroc.errors import InvalidArgument
from polaroc.files.atomic import atomic_file, check_new
from polaroc.reports.study_table import study_table as function

FORMS = {".html": "html", ".tex": "latex", ".md": "markdown", ".csv": ""}


# Points are what --threshold names.
@command(function, left_out=["points"])
def study_table(
    call: Call,
    threshold: Threshold = None,
    file: Annotated[
        Path | None, out_option("File that ends in .html, .tex, .md, or .csv for the tidy table.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the numbers of a study as they are published.

    Example: polaroc study-table test.parquet --truth label --score p --subgroup site
    --threshold 0.31 --prior 0.05 --out table.html
    """
    if file is not None:
        if file.suffix.lower() not in FORMS:
            raise InvalidArgument(
                f"--out is {str(file)!r}, and no such file is written.",
                hint="end it in .html, .tex, .md or .csv.",
            )
        check_new(file, force)
    result = called(call, "measuring", threshold)
    if file is not None:
        form = FORMS[file.suffix.lower()]
        text = getattr(result, form) if form else escape_spreadsheet(result.table).write_csv()
        with atomic_file(file, force) as staging:
            staging.write_text(text, encoding="utf-8")
    show_result(result, ("table", "items"), result.warnings, as_json, file)
