"""Commands that write a page: of predictions or measures, and of an example."""

from pathlib import Path
from typing import Annotated, Any

import polaroc as pr
from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, Output, out_option, replaced, write_measures
from polaroc.cli.pipes import or_stdout
from polaroc.cli.screen import handle_errors, notes_console, out, progress, show
from polaroc.predictions.cases import found_in_words
from polaroc.reports.report import check_format


# The page is --out, and what the function tells is printed.
@command(pr.report, left_out=["path", "tell"])
def report(
    call: Call,
    file: Annotated[
        Path,
        out_option(
            "The page: a new file, or an earlier report; - prints it. A name that ends in .json "
            "takes what it says."
        ),
    ] = Path("report.html"),
    force: Force = False,
) -> None:
    """Write one page: which model, how sure, which threshold.

    Example: polaroc report 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25 --out report.html
    """
    # Before the page has a place that the message would name.
    check_format(file)
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
        how = "" if file.suffix.lower() == ".json" else ": open it in a browser"
        screen.print(f"Written to {file}{how}.")


OVER = (0.05, 0.20)
PRIORS = (0.5, 0.1, 0.01)
# Each hold-out of the satellite images has 80 % of the cases for training.
RATIO = 0.25
RECALL = 0.9
PAGE = "report.html"


@handle_errors
def demo(
    folder: Annotated[Path, out_option("Folder for measures and the report.")] = Path(
        "polaroc-demo"
    ),
    force: Force = False,
) -> None:
    """Choose among three models of satellite images, as an example.

    Example: polaroc demo --out satellite
    """
    predictions = pr.datasets.satellite_predictions()
    output = Output(folder, force, one_table=False)
    output.check()
    notes = notes_console(True)
    notes.print(
        "Three classifiers find cotton crop and damp grey soil in satellite images (P-ROC §6). "
        f"{predictions.height:,} predictions: models A, B and C, each on "
        f"{predictions['fold'].n_unique()} folds. Suppose 5 to 20 % of what the chosen model "
        "will see is positive, and 90 % of these are to be found: which model, at which threshold, "
        "and how sure is that?\n"
    )
    columns: dict[str, Any] = {"truth": "truth", "score": "score"}
    sentences: list[str] = []
    with progress() as say, output.staging() as staging:
        say("measuring")
        write_measures(pr.evaluate(predictions, **columns, over=OVER, priors=PRIORS), staging)
        say("choosing, drawing")
        pr.report(
            predictions, **columns, over=OVER, test_train_ratio=RATIO, recall=RECALL,
            path=staging / PAGE, tell=sentences.append,
        )  # fmt: skip
    for sentence in sentences[0].splitlines():
        out().print(sentence)
    notes.print(f"\nOpen {folder / PAGE} in a browser for what that rests on.")
