"""`polaroc demo`: the main task on real data, with the report and what it says first."""

from pathlib import Path
from typing import Annotated, Any

from polaroc import datasets
from polaroc.cli.outputs import Force, Output, out_option, write_measures
from polaroc.cli.screen import handle_errors, notes_console, out, progress
from polaroc.evaluation.evaluate import evaluate
from polaroc.reports.report import report

OVER = (0.05, 0.20)
PRIORS = (0.5, 0.1, 0.01)
# Each hold-out of the satellite images has 80 % of the cases for training.
RATIO = 0.25
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
    predictions = datasets.satellite_predictions()
    output = Output(folder, force, one_table=False)
    output.check()
    notes = notes_console(True)
    notes.print(
        "Three classifiers find cotton crop and damp grey soil in satellite images (P-ROC §6). "
        f"{predictions.height:,} predictions: models A, B and C, each on "
        f"{predictions['fold'].n_unique()} folds. Suppose 5 to 20 % of what the chosen model "
        "will see is positive: which one, at which threshold, and how sure is that?\n"
    )
    columns: dict[str, Any] = {"truth": "truth", "score": "score"}
    sentences: list[str] = []
    with progress() as say, output.staging() as staging:
        say("measuring")
        write_measures(evaluate(predictions, **columns, over=OVER, priors=PRIORS), staging)
        say("choosing, drawing")
        report(
            predictions, **columns, over=OVER, test_train_ratio=RATIO,
            path=staging / PAGE, tell=sentences.append,
        )  # fmt: skip
    for sentence in sentences[0].splitlines():
        out().print(sentence)
    notes.print(f"\nOpen {folder / PAGE} in a browser for what that rests on.")
