"""`polaroc demo`: the main task on real data, with findings in sentences."""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from polaroc import datasets
from polaroc.choice.choose import choose
from polaroc.cli.evaluate import evaluate_frames
from polaroc.cli.outputs import Force, Output
from polaroc.cli.screen import handle_errors, notes_console, out
from polaroc.reports import report

OVER = (0.05, 0.20)
# Hold-outs of a fifth of the cases.
RATIO = 0.25
PRIORS = (0.5, 0.1, 0.01)


@handle_errors
def demo(
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for measures and charts.")
    ] = Path("polaroc-demo"),
    force: Force = False,
) -> None:
    """Evaluate three models on satellite images, as an example.

    Example: polaroc demo --out satellite
    """
    predictions = datasets.satellite_predictions()
    output = Output(folder, force, one_table=False)
    output.check()
    notes = notes_console(True)
    notes.print(
        "Three classifiers find cotton crop and damp grey soil in satellite images (P-ROC §6). "
        f"{predictions.height:,} predictions: models A, B and C, each on "
        f"{predictions['fold'].n_unique()} hold-outs. Suppose 5 to 20 % of what the chosen model "
        "will see is positive: which one, and how much does the answer depend on the prior?\n"
    )
    arguments = {
        "truth": "truth", "score": "score", "by": ["model", "fold"], "priors": PRIORS, "over": OVER,
    }  # fmt: skip
    measures = evaluate_frames([predictions.lazy()], arguments, output, PRIORS)
    page = report(
        predictions, path=folder / "report.html", truth="truth", score="score",
        by=["model", "fold"], over=OVER, case="case", test_train_ratio=RATIO,
    )  # fmt: skip
    notes.print()
    for sentence in findings(measures):
        out().print(sentence)
    notes.print(f"Open {page} in a browser for all of it.")


def findings(measures: pl.DataFrame) -> list[str]:
    """Findings on models A, B, C on the same folds, in three sentences."""
    choice = choose(measures, over=OVER, test_train_ratio=RATIO)
    best = choice.models.row(0, named=True)
    means = measures.group_by("model", "measure", "prior").agg(pl.col("estimate").mean())
    falls = "; ".join(
        f"{model} from {_at(means, model, 0.5):.2f} to {_at(means, model, 0.01):.2f}"
        for model in choice.models["model"]
    )
    return [
        choice.answer,
        f"Being picked as the highest of three, {best['model']} was likely lucky: expect "
        f"{best['expected']:.3f} rather than {best['mean']:.3f} (95 %: {best['lower']:.3f} to "
        f"{best['upper']:.3f}).",
        f"Rarity costs precision: from 50 % to 1 % positives, AUPREC falls for {falls}.",
    ]


def _at(means: pl.DataFrame, model: str, prior: float) -> float:
    row = means.filter(
        (pl.col("model") == model) & (pl.col("measure") == "auprec") & (pl.col("prior") == prior)
    )
    return float(row["estimate"].item())
