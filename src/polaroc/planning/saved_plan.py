"""A plan in a file, written before data are seen, and what departs from it later."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from polaroc.base.checks import check_path
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.files.sealed import read_document, write_document
from polaroc.priors.beliefs import Belief

KIND = "polaroc plan 1"
AS_WRITTEN = "give the file that `StudyPlan.save` or `polaroc plan --out` wrote, as it was."
COUNTS = {"positives": "positives", "negatives": "negatives", "fold_count": "folds"}
# What a result may say of what was planned, in the words of a sentence.
SAID = {
    "measure": "the measure", "over": "the range of priors", "prior": "the prior",
    "promise": "the promise", "margin": "the margin", "level": "the level",
    "champion": "the champion", "challenger": "the challenger",
}  # fmt: skip


def hash_of(facts: Mapping[str, Any]) -> str:
    """The hash of a plan, of its facts as they are written."""
    return sha256(json.dumps(facts, ensure_ascii=False, default=str).encode()).hexdigest()


def write_plan(facts: Mapping[str, Any], path: Path, force: bool) -> None:
    """Write a plan with its hash, whole or not at all."""
    write_document({**facts, "hash": hash_of(facts)}, path, KIND, force)


def read_plan(path: str | PathLike[str]) -> dict[str, Any]:
    """The facts of a file that `write_plan` wrote, and that nobody changed."""
    check_path("plan", path)
    try:
        facts = read_document(Path(path), KIND, AS_WRITTEN)
    except (OSError, ValueError) as error:
        raise InvalidTable(
            f"the plan {str(path)!r} cannot be read: {error}.", hint=AS_WRITTEN
        ) from None
    del facts["hash"]
    return facts


def departures(facts: Mapping[str, Any], result: Any) -> list[str]:
    """Where a result departs from a plan, in sentences.

    Examples
    --------
    >>> departures({"positives": 50, "level": 0.95}, {"positives": 40, "level": 0.95})
    ['There are 40 positives, and 50 were planned.']
    """
    return [*_departures(facts, _said_by(result))]


def _departures(facts: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    for name, words in COUNTS.items():
        planned, found = facts.get(name), said.get(name)
        if planned is not None and found is not None and found < planned:
            yield f"There are {found:,.0f} {words}, and {planned:,} were planned."
    for name, words in SAID.items():
        planned, found = facts.get(name), said.get(name)
        names = planned if isinstance(planned, list | tuple) else [planned]
        if planned is not None and found is not None and found not in names:
            wanted = f"“{names[0]}”" if name == "promise" else names[0]
            yield f"{words.capitalize()} is {found}, and {wanted} was planned."


def _said_by(result: Any) -> Mapping[str, Any]:
    """What a result says: one with attributes, a table of one row, or the JSON of either."""
    if isinstance(result, pl.DataFrame):
        result = result.rows(named=True)
    if isinstance(result, Mapping) and isinstance(result.get("points"), list):
        result = result["points"]
    if isinstance(result, list):
        if len(result) != 1:
            raise InvalidArgument(
                f"the result has {len(result)} rows, and one can be checked.",
                hint="check the row of one model at one prior.",
            )
        (result,) = result
    names = (*COUNTS, *SAID)
    if isinstance(result, Mapping):
        said = {name: result[name] for name in names if name in result}
    else:
        said = {name: getattr(result, name) for name in names if hasattr(result, name)}
    if not said:
        raise InvalidArgument(
            f"the result is a {type(result).__name__}, which says nothing that is in a plan.",
            hint="give the result of gate, compare, choose or operating_points.",
        )
    over = said.get("over")
    if isinstance(over, Belief):
        said["over"] = over.name
    # A range has no one prior.
    return {name: one for name, one in said.items() if name != "prior" or said.get("over") is None}
