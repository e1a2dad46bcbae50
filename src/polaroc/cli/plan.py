"""`polaroc plan`: how many cases to label, before there are any; and what departs from a plan."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from polaroc.base.text_tables import parts_of
from polaroc.cli.commands import Call, command
from polaroc.cli.inputs import models_named, notes_of, opened, roles_of
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import exit_with, print_json, print_notes, progress, show_results
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.planning.plan import plan as function
from polaroc.planning.saved_plan import departures, read_plan
from polaroc.planning.study_plan import StudyPlan

DEPARTS = 1


# A plan is saved as a file, and a result that is checked is one, too.
@command(function, left_out=["progress"], reads=False)
def plan(
    call: Call,
    pilot: Annotated[
        Path | None,
        typer.Argument(help="Predictions of a pilot, as one file.", metavar="[PILOT]"),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            help="Saved plan that a later result is checked against. The result, in the place of "
            "PILOT, is the JSON of gate, compare, choose or threshold.",
            metavar="PATH",
        ),
    ] = None,
    out: Annotated[Path | None, out_option("JSON file to hold to, such as plan.json.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say how many cases to label, and what they can promise.

    Example: polaroc plan --auc 0.85 --constraint precision=0.5 --over 0.05 0.20
    --out plan.json; then: polaroc plan --check plan.json gate.json, with the exit code 1 where
    the result departs from the plan.
    """
    if check is not None:
        _check(check, pilot, as_json)
        return
    with progress() as say:
        say("drawing studies")
        result = _planned(call, pilot, lambda done, of: say(f"drawing studies, {done / of:.0%}"))
    if out is not None:
        result.save(out, force)
    if as_json:
        names = ("answer", "table", "positives", "negatives", "hash")
        print_json({name: getattr(result, name) for name in names}, result.notes)
    else:
        show_results(parts_of(result), out)


def _planned(call: Call, pilot: Path | None, tell: Any) -> StudyPlan:
    """The plan, with a pilot or without."""
    if pilot is None:
        said = {role: one for role, one in call.roles.items() if one is not None}
        planned: StudyPlan = call(None, **said, progress=tell)
        return planned
    with opened([str(pilot)], None, call.text) as known:
        call.cases = known.described(roles_of(call.words, known.schema()))
        print_notes(notes_of(known, call.cases, ("model", "case", "cluster")))
        cases = known.in_memory(call.cases)
        models_named(call.options, cases)
        found: StudyPlan = call(cases, progress=tell)
        known.check_unchanged()
        return found


def _check(saved: Path, result: Path | None, as_json: bool) -> None:
    """Show where a result departs from a saved plan."""
    if result is None:
        raise InvalidArgument(
            "--check is given, and no result.",
            hint="for example polaroc plan --check plan.json gate.json.",
        )
    facts = read_plan(saved)
    try:
        said = json.loads(result.read_text(encoding="utf-8"))
    except ValueError:
        raise InvalidTable(
            f"{str(result)!r} is no JSON.", hint="write it with --json, as `polaroc gate` does."
        ) from None
    found = departures(facts, said)
    with exit_with(DEPARTS if found else 0):
        if as_json:
            print_json({"departures": found}, [])
        else:
            show_results(found or ["The result keeps to the plan."])
