"""`polaroc report`: one HTML page that says which model, how sure, at which threshold."""

from pathlib import Path
from typing import Annotated

from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, out_option, replaced
from polaroc.cli.pipes import or_stdout
from polaroc.cli.screen import notes_console, progress, show
from polaroc.predictions.cases import found_in_words
from polaroc.reports.report import report as function


# The page is --out, and what the function tells is printed.
@command(function, left_out=["path", "tell"])
def report(
    call: Call,
    file: Annotated[
        Path,
        out_option(
            "The page: a new file, or an earlier report; - prints it. A name that ends in .json "
            "takes what it says, one in .md a model card."
        ),
    ] = Path("report.html"),
    force: Force = False,
) -> None:
    """Write one page: which model, how sure, which threshold.

    Example: polaroc report 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25 --out report.html
    """
    cases = call.in_memory
    notes: list[str] = []

    def keep(sentence: str) -> None:
        notes.append(sentence)
        # The page is not written yet.
        call.check_unchanged()

    with progress() as say:
        say("measuring, choosing, drawing")
        with or_stdout(file, "report.html") as written, replaced(written, force) as page:
            call(cases, path=page, tell=keep)
    screen = notes_console(written == file)
    # What was found by name was said before.
    answer, *others = [note for note in notes if note != found_in_words(cases)]
    show([answer, "", *("Note: " + sentence for sentence in others)], screen)
    if written == file:
        how = "" if file.suffix.lower() in (".json", ".md") else ": open it in a browser"
        screen.print(f"Written to {file}{how}.")
