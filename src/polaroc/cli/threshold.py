"""`polaroc threshold`: choose a threshold on one file, judge it on another."""

from pathlib import Path
from typing import Annotated, Any, cast

import polars as pl
import typer

from polaroc.base.columns import PROMISE
from polaroc.base.text import number
from polaroc.base.text import table as text_table
from polaroc.cli.keys import By, NoBy, keys_of
from polaroc.cli.options import (
    Files,
    NullRows,
    Positive,
    Score,
    Truth,
    Weight,
    limits_of,
    prior_in_words,
)
from polaroc.cli.outputs import Force
from polaroc.cli.pipes import AsJson, plain_rows, print_json
from polaroc.cli.screen import handle_errors, print_notes, progress, show_results
from polaroc.cli.sources import Decimal, Separator, Source, TableName, columns_of, opened
from polaroc.errors import InvalidArgument, quoted
from polaroc.files.atomic import check_new
from polaroc.predictions.usual_keys import usual_name
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.constraints import resolve_constraints
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.rules import RULES
from polaroc.thresholds.saved import SavedThresholds, fingerprint

NOTHING_CHOSEN = 3
SHOWN = ("prior", "threshold", "tpr", "fpr", "precision")
# Options that are for choosing, with the values they have where they are not given.
CHOOSING: dict[str, Any] = {
    "rule": "cost", "target": None, "over": None, "prior": None, "constraint": None,
    "confidence": None, "cost_fn": 1.0, "cost_fp": 1.0, "out": None,
}  # fmt: skip


@handle_errors
def threshold(
    files: Files,
    truth: Truth,
    score: Score,
    rule: Annotated[
        str, typer.Option(help=f"What is wanted of the threshold: {', '.join(RULES)}.")
    ] = "cost",
    target: Annotated[
        float | None,
        typer.Option(help="What the rule aims at, such as a recall."),
    ] = None,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Range of priors LO HI that the threshold is for."),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(help="A single prior, or 'observed', instead of a range. [default: observed]"),
    ] = None,
    constraint: Annotated[
        list[str] | None,
        typer.Option(
            help="A limit that the threshold has to keep, such as precision=0.8; repeat it for "
            "several.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Probability with which the true rates keep all constraints; without it only "
            "those of the file do.",
        ),
    ] = None,
    cost_fn: Annotated[float, typer.Option(help="Cost of a missed positive.")] = 1.0,
    cost_fp: Annotated[float, typer.Option(help="Cost of a false alarm.")] = 1.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the thresholds to this JSON file.")
    ] = None,
    force: Force = False,
    apply: Annotated[
        Path | None,
        typer.Option(help="Judge the thresholds of this JSON file on the files instead."),
    ] = None,
    table: TableName = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    by: By = None,
    no_by: NoBy = False,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
    as_json: AsJson = False,
) -> None:
    """Choose a threshold that keeps promises, or judge one.

    Exit code 0: done; 3: no threshold can be chosen or promised, and none is written.

    Example: polaroc threshold tuning.parquet --truth label --score p --rule max_recall
    --constraint precision=0.8 --confidence 0.95 --over 0.05 0.20 --out threshold.json,
    then: polaroc threshold test.parquet --truth label --score p --apply threshold.json
    """
    given = {
        "rule": rule, "target": target, "over": over, "prior": prior, "constraint": constraint,
        "confidence": confidence, "cost_fn": cost_fn, "cost_fp": cost_fp, "out": out,
    }  # fmt: skip
    saved = None if apply is None else _saved(apply, given)
    limits = limits_of(constraint)
    if out is not None:
        check_new(out, force)
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("reading")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        keys = keys_of(source, by, no_by, columns)
        curves, notes = source.curves(columns, keys.all)
        print_notes([*keys.notes, *notes])
        table_of_curves = curves.collect()
        if saved is None:
            say("choosing")
            options: dict[str, Any] = {
                "target": target, "over": over, "constraints": limits,
                "confidence": confidence, "cost_fn": cost_fn, "cost_fp": cost_fp,
                "priors": None if prior is None else prior_in_words(prior),
            }  # fmt: skip
            result = _chosen(table_of_curves, keys.all, rule, options)
        else:
            say("judging")
            saved.check(table_of_curves, keys.all, columns.score)
            result = _judged(source, columns, keys.all, saved)
        source.check_unchanged()
    has_point = bool(result["share"].is_not_null().any())
    if saved is None and out is not None and has_point:
        kept = resolve_constraints(limits, rule, target, over).limits
        SavedThresholds(
            keys.all, columns.score, over, confidence, dict(kept),
            fingerprint(table_of_curves, keys.all), plain_rows(result),
        ).write(out, force)  # fmt: skip
    _show(result, keys.all, out if has_point else None, as_json)
    if saved is None and not has_point:
        raise typer.Exit(NOTHING_CHOSEN)


def _saved(path: Path, given: dict[str, Any]) -> SavedThresholds:
    choosing = [name for name, value in given.items() if value != CHOOSING[name]]
    if choosing:
        options = ", ".join("--" + name.replace("_", "-") for name in choosing)
        raise InvalidArgument(
            f"{options} is for choosing a threshold, and --apply judges one.",
            hint="leave it out, or --apply.",
        )
    if not path.is_file():
        raise InvalidArgument(
            f"--apply is {str(path)!r}, and there is no such file.",
            hint="give the file that `polaroc threshold --out` wrote.",
        )
    return SavedThresholds.read(path)


def _chosen(
    curves: pl.DataFrame, keys: list[str], rule: str, options: dict[str, Any]
) -> pl.DataFrame:
    folds = [key for key in keys if usual_name(key) == "block"]
    if folds and options["confidence"] is not None:
        raise InvalidArgument(
            f"{quoted(folds)} tells folds apart, whose models are fitted anew: their thresholds "
            "promise nothing of the model in use.",
            hint="leave --confidence out, or give predictions of one fitted model on cases of its "
            "own.",
        )
    return operating_points(curves, cast(Any, rule), **options)


def _judged(source: Source, columns: Any, keys: list[str], saved: SavedThresholds) -> pl.DataFrame:
    rows = source.predictions(columns, keys)
    points = saved.table(rows.collect_schema())
    # The tuning table was told by its fingerprint.
    judged = apply_thresholds(rows.collect(), points, **columns.arguments(keys), same_table=True)
    if PROMISE not in points.columns:
        return judged
    promises = points.select(*saved.keys, PROMISE).unique()
    if not saved.keys:
        return judged.join(promises, how="cross")
    return judged.join(promises, on=saved.keys, how="left", nulls_equal=True)


def _show(points: pl.DataFrame, keys: list[str], out: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(points)
        return
    promises: list[str] = []
    if PROMISE in points:
        promises = points[PROMISE].drop_nulls().unique(maintain_order=True).to_list()
    rows = [
        [*row[: len(keys)], *(number(value) for value in row[len(keys) :])]
        for row in points.select(*keys, *SHOWN).rows()
    ]
    shown = text_table("Thresholds", [*keys, *SHOWN], rows, len(keys))
    notes = points.filter(pl.col("note").is_not_null()).select(*keys, "note").rows()
    lines = [f"Note: {', '.join(map(str, row[:-1]))}{': ' * bool(keys)}{row[-1]}." for row in notes]
    parts = [*promises, shown, *dict.fromkeys(lines)]
    show_results(parts if out is None else [*parts, f"Written to {out}."])
