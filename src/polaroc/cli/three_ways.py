"""`polaroc three-ways`: choose on one file what to act on and review, judge it on another."""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from polaroc.base.columns import PROMISE
from polaroc.base.rounding import number
from polaroc.base.text_tables import table as text_table
from polaroc.cli.commands import Call, command
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.cli.threshold import (
    FOR_CHOOSING,
    NOTHING_CHOSEN,
    judged_thresholds,
    notes_by_key,
    refuse_folds,
    write_thresholds,
)
from polaroc.errors import InvalidArgument
from polaroc.files.atomic import check_new
from polaroc.thresholds.apply_thresholds import apply_thresholds
from polaroc.thresholds.three_ways import three_ways as function

COLUMNS = (
    "prior", "act_from", "review_from", "acted", "reviewed", "left", "precision", "found",
)  # fmt: skip


@command(
    function,
    apply_thresholds,
    # As of `polaroc threshold`; pairs of thresholds have no further rates or subgroups.
    left_out=["points", "same_table", "rates", "subgroup"],
)
def three_ways(
    call: Call,
    out: Annotated[Path | None, out_option("Write both thresholds to this JSON file.")] = None,
    force: Force = False,
    apply: Annotated[
        str | None,
        typer.Option(
            help="Judge the thresholds of this JSON file on the files instead.", metavar="PATH"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Choose which cases to act on, review and leave, or judge it.

    Exit code 0: done; 3: no thresholds can be chosen or promised, and none are written.

    Example: polaroc three-ways tuning.parquet --truth label --score p --cost-fn 20 --cost-fp 5
    --cost-review 1 --over 0.05 0.20 --out ways.json, or: --constraint precision=0.95 --reviews 200
    --volume 200000 --confidence 0.95; then: polaroc three-ways test.parquet --truth label --score p
    --apply ways.json
    """  # fmt: skip
    if apply is not None:
        if out is not None:
            raise InvalidArgument(f"--out {FOR_CHOOSING}.", hint="leave one of them out.")
        _show(judged_thresholds(call, apply, ways=True)[0], None, as_json)
        return
    if out is not None:
        check_new(out, force)
    refuse_folds(call)
    promised, curves = call.value("confidence") is not None, call.curves
    with progress() as say:
        say("choosing")
        # A promise asks which rows belong together.
        ways: pl.DataFrame = call(call.in_memory if promised else curves)
    has_ways = bool(ways["act_tpr"].is_not_null().any())
    if out is not None and has_ways:
        write_thresholds(call, ways, call.value("constraints") or {}, out, force)
    _show(ways, out if has_ways else None, as_json)
    if not has_ways:
        raise typer.Exit(NOTHING_CHOSEN)


def _show(ways: pl.DataFrame, out: Path | None, as_json: bool) -> None:
    keys = ways.columns[: ways.columns.index("prior")]
    lines = notes_by_key(ways, keys)
    if as_json:
        print_json(ways, lines)
        return
    columns = [*keys, *COLUMNS]
    rows = [
        [*row[: len(keys)], *(number(value) for value in row[len(keys) :])]
        for row in ways.select(columns).rows()
    ]
    promises: list[str] = []
    if PROMISE in ways:
        promises = ways[PROMISE].drop_nulls().unique(maintain_order=True).to_list()
    answers = [
        f"{', '.join(map(str, key))}: {answer}" if key else answer
        for *key, answer in ways.select(*keys, "answer").drop_nulls("answer").rows()
    ]
    shown = text_table("Three ways", columns, rows, len(keys))
    parts = [*promises, shown, *answers, *lines]
    show_results(parts if out is None else [*parts, f"Written to {out}."])
