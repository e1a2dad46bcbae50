"""`polaroc demo`: the main task on real data, with findings in sentences."""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from polaroc import datasets
from polaroc.cli.evaluate import evaluate_frames
from polaroc.cli.outputs import Force, Output
from polaroc.cli.screen import handle_errors, notes_console, out

OVER = (0.05, 0.20)
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
    notes.print()
    for sentence in findings(measures):
        out().print(sentence)
    notes.print(f"Open {folder / 'pr.html'} in a browser for the curves.")


def findings(measures: pl.DataFrame) -> list[str]:
    """Findings on models A, B, C on the same folds, in sentences."""
    overall = measures.filter(pl.col("measure") == "iauprec")
    ranked = (
        overall.group_by("model")
        .agg(pl.col("estimate").mean().alias("mean"), pl.col("estimate").std().alias("sd"))
        .sort("mean", descending=True)
    )
    (best, mean, sd), *others = ranked.iter_rows()
    behind = ", ".join(f"{model} {m:.3f} ({s:.3f})" for model, m, s in others)
    folds = overall["fold"].n_unique()
    winners = overall.sort("estimate", descending=True).unique("fold", keep="first")
    won = winners.filter(model=best).height
    means = measures.group_by("model", "measure", "prior").agg(pl.col("estimate").mean())
    falls = "; ".join(
        f"{model} from {_at(means, model, 0.5):.2f} to {_at(means, model, 0.01):.2f}"
        for model in ranked["model"]
    )
    return [
        f"If {100 * OVER[0]:.0f} to {100 * OVER[1]:.0f} % of cases are positive, model {best} has "
        f"on average the largest area under the precision-recall curve: IAUPREC {mean:.3f} (SD "
        f"{sd:.3f} over the hold-outs), before {behind}. It is the best of the three in {won} of "
        f"{folds} hold-outs.",
        f"Rarity costs precision: from 50 % to 1 % positives, AUPREC falls for {falls}.",
        "The hold-outs share training cases: their SD shows the spread, not a standard error.",
    ]


def _at(means: pl.DataFrame, model: str, prior: float) -> float:
    row = means.filter(
        (pl.col("model") == model) & (pl.col("measure") == "auprec") & (pl.col("prior") == prior)
    )
    return float(row["estimate"].item())
