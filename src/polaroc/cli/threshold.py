"""`polaroc threshold`: choose a threshold on one file, judge it on another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from polaroc import rates
from polaroc.base.columns import PROMISE, curve_keys
from polaroc.base.joins import join_on
from polaroc.base.names import noted_by_kind
from polaroc.base.rounding import number
from polaroc.base.text_tables import table as text_table
from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.pipes import AsJson, plain_rows
from polaroc.cli.screen import print_json, print_notes, progress, show_results
from polaroc.curves.curve import curve
from polaroc.errors import InvalidArgument, quoted
from polaroc.files.atomic import check_new
from polaroc.priors.grids import skew
from polaroc.thresholds.alerts import ALERTS
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.constraints import resolve_constraints
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.saved import SavedThresholds, fingerprint
from polaroc.thresholds.ways import PLACES

NOTHING_CHOSEN = 3
FOR_CHOOSING = "is for choosing a threshold, and --apply judges one"
SHOWN = ("prior", "threshold", "tpr", "fpr", "precision")


@command(
    operating_points,
    apply_thresholds,
    roles=[curve],
    # Points are what --apply names; the digest of its file tells the table that it was chosen on.
    left_out=["points", "same_table"],
)
def threshold(
    call: Call,
    out: Annotated[
        Path | None,
        out_option("Write the thresholds to this JSON file."),
    ] = None,
    force: Force = False,
    apply: Annotated[
        str | None,
        typer.Option(
            help="Judge the thresholds of this JSON file on the files instead, or this number; a "
            "number also at a --prior.",
            metavar="PATH",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Choose a threshold that keeps promises, or judge one.

    Exit code 0: done; 3: no threshold can be chosen or promised, and none is written.

    Example: polaroc threshold tuning.parquet --truth label --score p --rule max_recall
    --constraint precision=0.8 --confidence 0.95 --over 0.05 0.20 --out threshold.json,
    then: polaroc threshold test.parquet --truth label --score p --apply threshold.json; of a
    threshold in use: --apply 0.31 --prior 0.05
    """
    if apply is not None:
        if out is not None:
            raise InvalidArgument(f"--out {FOR_CHOOSING}.", hint="leave one of them out.")
        judged, over = judged_thresholds(call, apply)
        _show(judged, over, None, as_json)
        return
    if out is not None:
        check_new(out, force)
    points = _chosen(call)
    has_point = bool(points["share"].is_not_null().any())
    over = call.value("over")
    if out is not None and has_point:
        kept = resolve_constraints(
            call.value("constraints"), points["rule"][0], call.value("target"), over
        )
        write_thresholds(call, points, kept.limits, out, force)
    _show(points, over, out if has_point else None, as_json)
    if not has_point:
        raise typer.Exit(NOTHING_CHOSEN)


def write_thresholds(
    call: Call, points: pl.DataFrame, limits: Mapping[str, float], out: Path, force: bool
) -> None:
    """Write thresholds to a JSON file, with the limits that they keep."""
    keys = keys_of(call.curves)
    SavedThresholds(
        keys, call.score, call.value("over"), call.value("confidence"), dict(limits),
        fingerprint(call.curves, keys), plain_rows(points),
    ).write(out, force)  # fmt: skip


def refuse_folds(call: Call) -> None:
    """Refuse a promise of models that are fitted anew in each fold."""
    folds = call.cases.fold
    if folds and call.value("confidence") is not None:
        raise InvalidArgument(
            f"{quoted(folds)} tells folds apart, whose models are fitted anew: their thresholds "
            "promise nothing of the model in use.",
            hint="leave --confidence out, or give predictions of one fitted model on cases of its "
            "own.",
        )


def _chosen(call: Call) -> pl.DataFrame:
    """The points that the rule takes, with a note where promises are too sure."""
    refuse_folds(call)
    promised, curves = call.value("confidence") is not None, call.curves
    with progress() as say:
        say("choosing")
        # A promise asks which rows belong together, costs of cases what each of them costs, and a
        # capacity how many there are a day.
        counts_days = call.value("alerts") is not None and call.value("volume") is None
        of_rows = promised or counts_days or call.cases.costs is not None
        points: pl.DataFrame = call(call.in_memory if of_rows else curves)
    if call.value("rule") is None:
        print_notes([f"Note: no --rule is given: {points['rule'][0]!r}."])
    return points


def judged_thresholds(
    call: Call, apply: str, ways: bool = False
) -> tuple[pl.DataFrame, tuple[float, float] | None]:
    """Thresholds of a file, or one number, on these cases, and the range they are for.

    The file holds single thresholds, or `ways`: both of `polaroc three-ways`.
    """
    call.refuse_others(apply_thresholds, FOR_CHOOSING)
    if call.cases.costs is not None:
        raise InvalidArgument(
            "--cost-fn or --cost-fp names what each case costs, and --apply judges rates.",
            hint="`polaroc savings --threshold` judges costs of cases.",
        )
    in_use = None if Path(apply).is_file() or ways else number_of(apply)
    if in_use is not None:
        return call(call.in_memory, apply_thresholds, points=in_use), None
    wanted = f"give the file that `polaroc {'three-ways' if ways else 'threshold'} --out` wrote"
    if not Path(apply).is_file():
        raise InvalidArgument(
            f"--apply is {apply!r}, and there is no such file.",
            hint=f"{wanted}{'.' if ways else ', or a number.'}",
        )
    saved = saved_thresholds(call, Path(apply))
    if (PLACES[0] in saved.points[0]) != ways:
        raise InvalidArgument(
            f"--apply is {apply!r}, which holds {'single' if ways else 'pairs of'} thresholds.",
            hint=f"{wanted}.",
        )
    points = saved.table(call.in_memory.table.schema)
    # The tuning table was told by its fingerprint.
    judged: pl.DataFrame = call(call.in_memory, apply_thresholds, points=points, same_table=True)
    if PROMISE not in points.columns:
        return judged, saved.over
    promises = points.select(*saved.keys, PROMISE).unique()
    if not saved.keys:
        return judged.join(promises, how="cross"), saved.over
    return join_on(judged, promises, saved.keys, "left"), saved.over


def saved_thresholds(call: Call, file: Path) -> SavedThresholds:
    """The thresholds of a file, refused where they are not for these cases."""
    saved = SavedThresholds.read(file)
    saved.check(call.curves, keys_of(call.curves), call.score)
    return saved


def keys_of(curves: pl.DataFrame) -> list[str]:
    """The keys of curves."""
    return curve_keys(curves.lazy())


def number_of(word: str) -> float | None:
    """The number that a word is."""
    try:
        return float(word)
    except ValueError:
        return None


def _show(
    points: pl.DataFrame,
    over: tuple[float, float] | None,
    out: Path | None,
    as_json: bool,
) -> None:
    keys = points.columns[: points.columns.index("rule")]
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
    if ALERTS[0] in points:
        columns = columns.with_columns(points.select(ALERTS))
    rows = [
        [*row[: len(keys)], *(number(value) for value in row[len(keys) :])]
        for row in columns.rows()
    ]
    shown = text_table("Thresholds", columns.columns, rows, len(keys))
    lines = notes_by_key(points, keys)
    if as_json:
        print_json(points, lines)
        return
    parts = [*promises, shown, *lines]
    show_results(parts if out is None else [*parts, f"Written to {out}."])


def notes_by_key(points: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """The notes of a table, those that are alike together."""
    notes = points.filter(pl.col("note").is_not_null()).select(*keys, "note").rows()
    by_key = [(", ".join(map(str, key)), note) for *key, note in notes]
    lines = noted_by_kind(by_key) if keys else [f"{note}." for _, note in by_key]
    return [f"Note: {line}" for line in dict.fromkeys(lines)]
