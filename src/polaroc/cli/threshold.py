"""Commands on thresholds: choose them on one file, judge them on another."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

import polaroc as pr
from polaroc.base.columns import PROMISE, curve_keys
from polaroc.base.joins import join_on
from polaroc.base.names import noted_by_kind
from polaroc.base.rounding import number, significant
from polaroc.base.text_tables import table as text_table
from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.pipes import AsJson, plain_rows
from polaroc.cli.screen import print_json, print_notes, progress, show_results
from polaroc.errors import InvalidArgument
from polaroc.files.atomic import check_new
from polaroc.priors.grids import skew
from polaroc.thresholds.constraints import resolve_constraints
from polaroc.thresholds.saved import SavedThresholds, fingerprint, refuse_unwritten
from polaroc.thresholds.texts import threshold_texts

NOTHING_CHOSEN = 3
FOR_CHOOSING = "is for choosing a threshold, and --apply judges one"
SHOWN = ("prior", "threshold", "tpr", "fpr", "precision")


@command(
    pr.operating_points,
    pr.apply_thresholds,
    roles=[pr.curve],
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
        _show(call, judged, over, None, as_json)
        return
    if out is not None:
        check_new(out, force)
        refuse_unwritten(call.curves.schema, keys_of(call.curves))
    points, over = _chosen(call), call.value("over")
    has_point = bool(points["share"].is_not_null().any())
    if out is not None and has_point:
        rule, target = points["rule"][0], call.value("target")
        limits = resolve_constraints(call.value("constraints"), rule, target, over).limits
        keys = keys_of(call.curves)
        SavedThresholds(
            keys, call.score, over, call.value("confidence"), dict(limits),
            fingerprint(call.curves, keys), plain_rows(points),
        ).write(out, force)  # fmt: skip
    _show(call, points, over, out if has_point else None, as_json)
    if not has_point:
        raise typer.Exit(NOTHING_CHOSEN)


def _chosen(call: Call) -> pl.DataFrame:
    """The points that the rule takes."""
    promised, curves = call.value("confidence") is not None, call.curves
    with progress() as say:
        say("choosing")
        # A promise asks which rows belong together.
        # A curve does not tell at which prior its scores are right.
        at: dict[str, Any] = {"score_prior": call.cases.score_prior}
        points: pl.DataFrame = call(call.in_memory if promised else curves, **at)
    if call.value("rule") is None:
        print_notes([f"Note: no --rule is given: {points['rule'][0]!r}."])
    return points


def judged_thresholds(call: Call, apply: str) -> tuple[pl.DataFrame, tuple[float, float] | None]:
    """Thresholds of a file, or one number, on these cases, and the range they are for."""
    call.refuse_others(pr.apply_thresholds, FOR_CHOOSING)
    if not Path(apply).is_file():
        try:
            in_use = float(apply)
        except ValueError:
            raise InvalidArgument(
                f"--apply is {apply!r}, and there is no such file.",
                hint="give the file that `polaroc threshold --out` wrote, or a number.",
            ) from None
        return call(call.in_memory, pr.apply_thresholds, points=in_use), None
    saved = SavedThresholds.read(Path(apply))
    saved.check(call.curves, keys_of(call.curves), call.score)
    points = saved.table(call.in_memory.table.schema)
    # The tuning table was told by its fingerprint.
    judged: pl.DataFrame = call(call.in_memory, pr.apply_thresholds, points=points, same_table=True)
    if PROMISE not in points.columns:
        return judged, saved.over
    promises = points.select(*saved.keys, PROMISE).unique()
    if not saved.keys:
        return judged.join(promises, how="cross"), saved.over
    return join_on(judged, promises, saved.keys, "left"), saved.over


def keys_of(curves: pl.DataFrame) -> list[str]:
    """The keys of curves."""
    return curve_keys(curves.lazy())


def _show(
    call: Call,
    points: pl.DataFrame,
    over: tuple[float, float] | None,
    out: Path | None,
    as_json: bool,
) -> None:
    keys = points.columns[: points.columns.index("rule")]
    if as_json:
        print_json(points, notes_by_key(points, keys))
        return
    if over is None:
        columns = points.select(*keys, *SHOWN)
        columns = columns.with_columns(prior=pl.Series(map(significant, columns["prior"])))
    else:
        # The precision at the middle of a range says little of its ends.
        t, f = pl.col("tpr"), pl.col("fpr")
        ends = {f"precision at {end:g}": pr.rates.precision(t, f, skew(end)) for end in over}
        columns = points.select(*keys, *SHOWN[1:-1], **ends).with_columns(
            pl.col(*ends).fill_nan(None)
        )
    texts = threshold_texts(points, keys, call.curves)
    columns = columns.with_columns(threshold=pl.Series(texts, dtype=pl.String))
    known = points[PROMISE].drop_nulls().unique(maintain_order=True) if PROMISE in points else ()
    rows = [[*row[: len(keys)], *map(_cell, row[len(keys) :])] for row in columns.rows()]
    parts = [
        *known,
        text_table("Thresholds", columns.columns, rows, len(keys)),
        *notes_by_key(points, keys),
    ]
    show_results(parts, out)


def _cell(value: float | str | None) -> str | None:
    return value if isinstance(value, str) else number(value)


def notes_by_key(points: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """The notes of a table, those that are alike together."""
    notes = points.filter(pl.col("note").is_not_null()).select(*keys, "note").rows()
    by_key = [(", ".join(map(str, key)), note) for *key, note in notes]
    lines = noted_by_kind(by_key) if keys else [f"{note}." for _, note in by_key]
    return [f"Note: {line}" for line in dict.fromkeys(lines)]
