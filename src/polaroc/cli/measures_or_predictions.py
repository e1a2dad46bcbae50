"""Measures for the commands that compare: read from files, or evaluated from predictions."""

from collections.abc import Sequence
from typing import Annotated, Any

import polars as pl
import typer

from polaroc.base.columns import RESERVED
from polaroc.cli.options import SCORE_HELP, Columns
from polaroc.cli.screen import print_notes
from polaroc.cli.sources import Source, opened
from polaroc.cli.sources import columns_of as predicted_columns
from polaroc.comparison.checks import refuse_score_prior
from polaroc.comparison.design import Incomplete
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.predictions.audit import label_notes
from polaroc.predictions.cases import Cases, of_measures
from polaroc.predictions.usual_keys import usual_columns
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Nulls
from polaroc.warehouse.connections import is_address

Files = Annotated[
    list[str],
    typer.Argument(
        help="Measures, as the folder that `polaroc evaluate --out` writes, or predictions with "
        "--truth and --score; patterns and folders too; - reads one of them from the standard "
        "input; or an address, with --table.",
    ),
]
Truth = Annotated[str | None, typer.Option(help="Column of the labels, of predictions.")]
Score = Annotated[list[str] | None, typer.Option(help=SCORE_HELP)]
Between = Annotated[
    str | None,
    typer.Option(
        help="Column that tells the models apart. [default: model, or the one with another usual "
        "name of models]",
    ),
]
Block = Annotated[
    list[str] | None,
    typer.Option(
        help="Column of the folds; repeat it for several. [default: fold, and "
        "others with a usual name of folds; of measures all other keys]",
    ),
]
Ratio = Annotated[
    float | None,
    typer.Option(
        "--test-train-ratio",
        help="Test over training cases of a fold: 0.25 for 80/20, 1/(k-1) for k folds.",
    ),
]
IncompleteBlocks = Annotated[
    Incomplete, typer.Option(help="What to do with folds that not every model has.")
]
HalvesFiles = Annotated[
    list[str] | None,
    typer.Option(
        help="Measures in disjoint halves of the same cases, with keys model, split, half, "
        "repeat, fold: what `polaroc evaluate --out` wrote of them.",
    ),
]
Level = Annotated[float, typer.Option(help="Confidence of the intervals and of the tests.")]
Guarded = Annotated[
    bool, typer.Option("--guarded", help="With --halves: the greater one of both variances.")
]


def columns_of(
    source: Source,
    truth: str | None,
    score: list[str] | None,
    weight: str | None = None,
    positive: list[str] | None = None,
    nulls: Nulls = "raise",
) -> Columns | None:
    """The columns of predictions, None where there are measures."""
    if (truth is None) != (not score):
        raise InvalidArgument(
            "only one of --truth and --score is given, needed are both or none.",
            hint="give both for predictions, none for measures.",
        )
    if truth is not None and score:
        return predicted_columns(source, truth, score, weight, positive, nulls)
    present = list(source.schema())
    if not {"measure", "estimate"} <= set(present):
        usual = usual_columns(present)
        raise InvalidArgument(
            f"the files hold no measures; they have {quoted(present)}.",
            hint=Hint(
                "give {truth} and {score} for predictions, or the folder that `polaroc evaluate "
                "--out` writes."
                if usual is None
                else "these look like predictions: give {truth} {score}.",
                truth=usual and usual[0], score=usual and usual[1],
            ),
        )  # fmt: skip
    given = [name for name, value in (("--weight", weight), ("--positive", positive)) if value]
    if given:
        raise InvalidArgument(
            f"{', '.join(given)} is for predictions, and the files hold measures.",
            hint="leave it out, or give --truth and --score.",
        )
    return None


def measures_of(
    source: Source, columns: Columns | None, keys: Sequence[str], **options: Any
) -> pl.LazyFrame:
    """The measures: those that the source holds, or evaluated of its predictions."""
    if columns is None:
        if options.get("over") is not None:
            raise InvalidArgument(
                "--over is for predictions, and the files hold measures.", hint="leave it out."
            )
        refuse_score_prior(options.get("score_prior", OBSERVED))
        return predictions_or_measures(source, None, keys)
    measures, notes = source.measures(columns, keys, **options)
    measured_keys = [name for name in measures.collect_schema() if name not in RESERVED]
    print_notes([*label_notes(measures, measured_keys), *notes])
    return measures


def refuse_grid(grid: int | None) -> None:
    """Refuse a grid where measures are given."""
    if grid is not None:
        raise InvalidArgument(
            f"--grid is {grid}, which is for predictions, and the files hold measures.",
            hint="leave it out.",
        )


def predictions_or_measures(
    source: Source, columns: Columns | None, keys: Sequence[str]
) -> pl.LazyFrame:
    """The rows of a source: predictions, or measures where there are no columns of these."""
    if columns is not None:
        return source.predictions(columns, keys)
    return source.rows([name for name in source.schema() if name not in RESERVED])


def given_of(
    source: Source,
    columns: Columns | None,
    models: str,
    folds: Sequence[str],
    case: str | None = None,
    **facts: Any,
) -> Cases[Any]:
    """The predictions, or the measures, with the roles of their columns."""
    facts = {name: value for name, value in facts.items() if value is not None}
    if columns is None:
        facts.pop("score_prior", None)
        rows = predictions_or_measures(source, None, ())
        return of_measures(rows, {"model": models, "fold": list(folds), **facts})
    print_notes(source.notes(columns))
    keys = [models, *folds] if case is None else [models, *folds, case]
    model = None if columns.is_wide else models
    own = [key for key in keys if model is not None or key != models]
    rows = source.predictions(columns, own)
    return columns.cases(rows, (), model=model, fold=list(folds), case=case, **facts)


def tuning_of(
    files: list[str] | None,
    columns: Columns | None,
    keys: Sequence[str],
    table: str | None,
    separator: str | None,
    decimal: str,
) -> pl.DataFrame | None:
    """The predictions that thresholds are set on, where there are any."""
    if not files:
        return None
    with opened(files, table if is_address(files[0]) else None, separator, decimal) as source:
        return predictions_or_measures(source, columns, keys).collect()


def halves_in(files: list[str] | None) -> pl.DataFrame | None:
    """The measures in halves, where there are any."""
    if not files:
        return None
    with opened(files) as source:
        columns_of(source, None, None)
        return predictions_or_measures(source, None, ()).collect()
