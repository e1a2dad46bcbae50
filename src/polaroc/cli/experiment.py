"""`polaroc experiment`: the sources' models on hold-outs of real data, as a prediction table."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from polaroc import datasets
from polaroc.cli.evaluate import show
from polaroc.cli.inputs import Decimal, Separator, labels, text_format
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import handle_errors, notes_console, stderr_console
from polaroc.errors import InvalidTable
from polaroc.evaluation.evaluate import evaluate
from polaroc.experiments import accsens, holdouts, satellite, test_train_ratio
from polaroc.experiments.runs import Progress as Callback
from polaroc.files.atomic import atomic_file, check_new
from polaroc.files.read import scan
from polaroc.files.text_files import TextFormat
from polaroc.predictions.roles import ROLES

PRIORS = (0.5, 0.1, 0.01)
# P-ROC asks for 5 to 20 % positives, AccSens for 10 to 90 %.
OVER = {"satellite": (0.05, 0.20)}


@dataclass(frozen=True)
class Experiment:
    """A data set and its models."""

    cases: int
    models: int
    holdouts: int  # of the source
    scores: Callable[[int, int, Callback], pl.DataFrame]


@handle_errors
def experiment(
    data: Annotated[
        str,
        typer.Argument(
            help="satellite, sonar, ionosphere; a file of the ELENA phoneme data; or, with "
            "--truth, any file of labels and numeric features.",
        ),
    ],
    file: Annotated[
        Path | None,
        out_option("Parquet file for the predictions. [default: DATA_predictions.parquet]"),
    ] = None,
    force: Force = False,
    truth: Annotated[str | None, typer.Option(help="Column of the labels, of a file.")] = None,
    positive: Annotated[
        list[str] | None, typer.Option(help=ROLES["positive"].in_words, metavar="LABEL")
    ] = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    holdouts: Annotated[
        int | None,
        typer.Option(help="Number of 80/20 hold-outs. [default: 20 for satellite, else 30]", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of splits and models.", min=0)] = satellite.SEED,
    as_json: AsJson = False,
) -> None:
    """Score the papers' models on hold-outs of real data.

    The predictions are written, their measures printed.

    Example: polaroc experiment sonar --holdouts 30 --out sonar.parquet

    Of your own: polaroc experiment cases.csv --truth label --positive yes

    A file of your own is scored by the three models that AccSens has for
    Phoneme: 1 and 3 nearest neighbours and Parzen, on scaled features.
    """
    where = file or Path(f"{Path(data).stem}_predictions.parquet")
    check_new(where, force)
    chosen = _experiment(data, truth, positive, text_format(separator, decimal))
    count = holdouts or chosen.holdouts
    with _bar(chosen.models * count) as callback, atomic_file(where, force) as staging:
        predictions = chosen.scores(count, seed, callback)
        predictions.write_parquet(staging)
    over = OVER.get(data, accsens.OVER)
    measures = evaluate(predictions, truth="truth", score="score", priors=PRIORS, over=over)
    show(measures, PRIORS, None, [], as_json)
    ratio = test_train_ratio(predictions, cases=chosen.cases)
    notes_console(not as_json).print(
        f"Written to {where}. Test cases per training case: {ratio:.4g}."
    )


def _experiment(
    data: str, truth: str | None, positive: list[str] | None, text: TextFormat
) -> Experiment:
    if truth is not None:
        return _of_file(data, truth, positive, text)
    if data == "satellite":
        cases = datasets.satellite().height
        return Experiment(cases, 3, satellite.FOLDS, satellite.predictions)
    if data in ("sonar", "ionosphere"):
        name, table = data, getattr(datasets, data)()
    else:
        name, table = "phoneme", _phoneme(data)
    models = len(accsens.models(name))
    scores = partial(accsens.predictions, name, table)
    return Experiment(table.height, models, accsens.FOLDS, scores)


def _phoneme(data: str) -> pl.DataFrame:
    try:
        return datasets.phoneme(data)
    except InvalidTable as error:
        raise InvalidTable(
            f"{data!r} is neither satellite, sonar, ionosphere nor a file of the phoneme data: "
            f"{error.found}",
            hint=f"{error.hint} For another file name the column of its labels with --truth.",
        ) from None


def _of_file(data: str, truth: str, positive: list[str] | None, text: TextFormat) -> Experiment:
    frame = scan([data], text=text)
    table = frame.collect()
    missing = table.select(pl.all().is_null().sum().cast(pl.Int64)).row(0, named=True)
    lacking = [name for name, count in missing.items() if count]
    if lacking:
        raise InvalidTable(
            f"nulls in {', '.join(map(repr, lacking[:5]))}: the models need every value.",
            hint="fill them or drop such rows first.",
        )
    models = accsens.models("phoneme")
    kind = table.schema.get(truth)
    meant = labels(positive, kind, repr(truth), "--positive") if positive else None

    def scores(count: int, seed: int, callback: Callback) -> pl.DataFrame:
        return holdouts(
            table, models, truth=truth, positive=meant, n=count,
            seed=seed, progress=callback,
        )  # fmt: skip

    return Experiment(table.height, len(models), accsens.FOLDS, scores)


@contextmanager
def _bar(total: int) -> Iterator[Callback]:
    """A function that says which model is trained on which hold-out, while the block runs."""
    console = stderr_console()
    with Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), console=console, transient=True,
        disable=console.quiet or not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task("starting", total=total)
        begun = iter(range(total))

        def callback(model: str, fold: int) -> None:
            bar.update(task, description=f"hold-out {fold}: {model}", completed=next(begun))

        yield callback
