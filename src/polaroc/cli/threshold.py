"""`polaroc threshold`: choose a threshold on one file, judge it on another."""

from pathlib import Path
from typing import Annotated, Any, cast

import polars as pl
import typer

from polaroc import rates
from polaroc.base.columns import PROMISE
from polaroc.base.joins import join_on
from polaroc.base.names import noted_by_kind
from polaroc.base.rounding import number
from polaroc.base.text_tables import table as text_table
from polaroc.cli.keys import By, NoBy, keys_of
from polaroc.cli.options import (
    Columns,
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
from polaroc.cli.pipes import AsJson, plain_rows
from polaroc.cli.screen import handle_errors, print_json, print_notes, progress, show_results
from polaroc.cli.sources import (
    Decimal,
    FileSource,
    Separator,
    Source,
    TableName,
    columns_of,
    opened,
)
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.files.atomic import check_new
from polaroc.predictions.dependence import with_note
from polaroc.predictions.usual_keys import usual_name
from polaroc.priors.grids import skew
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.constraints import resolve_constraints
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.rules import RULES
from polaroc.thresholds.saved import SavedThresholds, fingerprint

NOTHING_CHOSEN = 3
SHOWN = ("prior", "threshold", "tpr", "fpr", "precision")
# Options that are for choosing, with the values they have where they are not given.
CHOOSING: dict[str, Any] = {
    "rule": None, "target": None, "over": None, "prior": None, "constraint": None,
    "confidence": None, "cost_fn": 1.0, "cost_fp": 1.0, "out": None,
}  # fmt: skip


# What the rules want that are taken where none is named.
DEFAULTS = {
    "cost": "least expected cost",
    "max_recall": "highest recall that the constraints allow",
    "balanced": "missed positives as many as false alarms",
}


@handle_errors
def threshold(
    files: Files,
    truth: Truth,
    score: Score,
    rule: Annotated[
        str | None,
        typer.Option(
            help=f"What is wanted of the threshold: {', '.join(RULES)}. [default: cost where a "
            "cost is given, max_recall with a constraint, else balanced; a note names it]",
        ),
    ] = None,
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
        str | None,
        typer.Option(
            help="Judge the thresholds of this JSON file on the files instead, or this number; a "
            "number also at a --prior."
        ),
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
    then: polaroc threshold test.parquet --truth label --score p --apply threshold.json; of a
    threshold in use: --apply 0.31 --prior 0.05
    """
    given = {
        "rule": rule, "target": target, "over": over, "prior": prior, "constraint": constraint,
        "confidence": confidence, "cost_fn": cost_fn, "cost_fp": cost_fp, "out": out,
    }  # fmt: skip
    limits = limits_of(constraint)
    saved: SavedThresholds | None = None
    number_in_use = _number(apply)
    own_notes: list[str] = []
    if apply is not None:
        _refuse_choosing(given, ("prior",) if number_in_use is not None else ())
        saved = None if number_in_use is not None else _saved(Path(apply))
    elif rule is None:
        rule = _default_rule(limits, cost_fn, cost_fp, over, prior is not None)
        own_notes = [f"Note: no --rule is given: {rule!r}, {DEFAULTS[rule]}."]
    if out is not None:
        check_new(out, force)
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("reading")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        keys = keys_of(source, by, no_by, columns)
        curves, notes = source.curves(columns, keys.all)
        print_notes([*keys.notes, *own_notes, *notes])
        at = None if prior is None else prior_in_words(prior)
        table_of_curves = curves.collect()
        if number_in_use is not None:
            say("judging")
            rows = source.predictions(columns, keys.all).collect()
            result = apply_thresholds(columns.cases(rows, keys.all), number_in_use, priors=at)
        elif saved is None:
            assert rule is not None
            say("choosing")
            options: dict[str, Any] = {
                "target": target, "over": over, "constraints": limits,
                "confidence": confidence, "cost_fn": cost_fn, "cost_fp": cost_fp,
                "priors": at,
            }  # fmt: skip
            result = _chosen(table_of_curves, keys.all, rule, options)
            if confidence is not None and isinstance(source, FileSource):
                doubt = source.dependence(columns, keys.all)
                result = with_note(result.lazy(), doubt, pl.col("share").is_not_null()).collect()
        else:
            say("judging")
            saved.check(table_of_curves, keys.all, columns.score)
            result = _judged(source, columns, keys.all, saved)
        source.check_unchanged()
    has_point = bool(result["share"].is_not_null().any())
    if rule is not None and out is not None and has_point:
        kept = resolve_constraints(limits, rule, target, over).limits
        SavedThresholds(
            keys.all, columns.score, over, confidence, dict(kept),
            fingerprint(table_of_curves, keys.all), plain_rows(result),
        ).write(out, force)  # fmt: skip
    ends = over if saved is None else saved.over
    _show(result, keys.all, ends, out if has_point else None, as_json)
    if rule is not None and not has_point:
        raise typer.Exit(NOTHING_CHOSEN)


def _default_rule(
    limits: dict[str, float] | None,
    cost_fn: float,
    cost_fp: float,
    over: tuple[float, float] | None,
    has_prior: bool,
) -> str:
    """The rule where none is named: what a missed positive costs is never assumed."""
    if (cost_fn, cost_fp) != (CHOOSING["cost_fn"], CHOOSING["cost_fp"]):
        return "cost"
    if limits is not None:
        return "max_recall"
    if over is None or has_prior:
        return "balanced"
    raise InvalidArgument(
        "no --rule is given, nor what errors cost, and a range of priors needs either.",
        hint=Hint(
            "for example {rule} {cost_fn}, or {constraints}.",
            rule="cost",
            cost_fn=5,
            constraints={"precision": 0.8},
        ),
    )


def _number(apply: str | None) -> float | None:
    """The threshold that is judged, where it is a number and not a file."""
    if apply is None or Path(apply).is_file():
        return None
    try:
        return float(apply)
    except ValueError:
        return None


def _refuse_choosing(given: dict[str, Any], allowed: tuple[str, ...]) -> None:
    choosing = [
        name for name, value in given.items() if value != CHOOSING[name] and name not in allowed
    ]
    if choosing:
        options = ", ".join("--" + name.replace("_", "-") for name in choosing)
        raise InvalidArgument(
            f"{options} is for choosing a threshold, and --apply judges one.",
            hint="leave it out, or --apply.",
        )


def _saved(path: Path) -> SavedThresholds:
    if not path.is_file():
        raise InvalidArgument(
            f"--apply is {str(path)!r}, and there is no such file.",
            hint="give the file that `polaroc threshold --out` wrote, or a number.",
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


def _judged(
    source: Source, columns: Columns, keys: list[str], saved: SavedThresholds
) -> pl.DataFrame:
    rows = source.predictions(columns, keys)
    points = saved.table(rows.collect_schema())
    # The tuning table was told by its fingerprint.
    judged: pl.DataFrame = apply_thresholds(
        columns.cases(rows.collect(), keys), points, same_table=True
    )
    if PROMISE not in points.columns:
        return judged
    promises = points.select(*saved.keys, PROMISE).unique()
    if not saved.keys:
        return judged.join(promises, how="cross")
    return join_on(judged, promises, saved.keys, "left")


def _show(
    points: pl.DataFrame,
    keys: list[str],
    over: tuple[float, float] | None,
    out: Path | None,
    as_json: bool,
) -> None:
    promises: list[str] = []
    if PROMISE in points:
        promises = points[PROMISE].drop_nulls().unique(maintain_order=True).to_list()
    if over is None:
        columns = points.select(*keys, *SHOWN)
    else:
        # The precision at the middle of a range says little of its ends.
        t, f = pl.col("tpr"), pl.col("fpr")
        ends = {f"precision at {end:g}": rates.precision(t, f, skew(end)) for end in over}
        columns = points.select(*keys, *SHOWN[1:-1], **ends).with_columns(
            pl.col(*ends).fill_nan(None)
        )
    rows = [
        [*row[: len(keys)], *(number(value) for value in row[len(keys) :])]
        for row in columns.rows()
    ]
    shown = text_table("Thresholds", columns.columns, rows, len(keys))
    notes = points.filter(pl.col("note").is_not_null()).select(*keys, "note").rows()
    by_key = [(", ".join(map(str, key)), note) for *key, note in notes]
    lines = noted_by_kind(by_key) if keys else [f"{note}." for _, note in by_key]
    lines = [f"Note: {line}" for line in dict.fromkeys(lines)]
    if as_json:
        print_json(points, lines)
        return
    parts = [*promises, shown, *lines]
    show_results(parts if out is None else [*parts, f"Written to {out}."])
