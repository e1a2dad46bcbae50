"""Refusals of tables and columns that cannot have a role, and of names that are none."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, quoted
from polaroc.files.text_files import separator_hint, separator_in
from polaroc.predictions.roles import ROLES

CHECK_NAMES = Hint(
    "check the spelling of the columns; the index of a pandas table becomes one by reset_index().",
    command_line="check the spelling of the columns.",
)


def refuse_objects(names: Iterable[str], schema: Mapping[str, pl.DataType]) -> None:
    """Refuse columns of Python objects, which have no order."""
    for name in names:
        if schema[name] == pl.Object:
            raise InvalidPredictions(
                f"the column {name!r} has values of different types.",
                hint="make them one type first, for example with .astype(str) in pandas.",
            )


def check_columns(present: Collection[str], wanted: Iterable[str]) -> None:
    """Refuse names that are no columns of the table."""
    unknown = [name for name in wanted if name not in present]
    if not unknown:
        return
    mark = separator_in([*present], unknown[0])
    raise InvalidArgument(
        f"there is no column {quoted(unknown)}; the table has "
        f"{quoted([*present]) or 'no columns'}.",
        hint=CHECK_NAMES if mark is None else separator_hint(mark),
    )


def refuse_unknown_names(
    given: Iterable[str], roles: Sequence[str] = (*ROLES,), others: Sequence[str] = ()
) -> None:
    """Refuse names that are neither roles nor `others`, arguments of a function with `roles`."""
    unknown = [name for name in given if name not in (*ROLES, *others)]
    if unknown:
        raise InvalidArgument(
            f"there is no argument {quoted(unknown)}; allowed are {', '.join([*others, *roles])}.",
            hint="see help(pr.cases) for the roles of columns.",
        )


def require_roles(
    given: Mapping[str, Any], needed: Collection[str], names: Collection[str]
) -> None:
    """Refuse to go on without a role that is needed, of a table with these columns."""
    for role in needed:
        if given.get(role) is not None:
            continue
        if {"threshold", "tp", "fp"} <= set(names):
            raise InvalidArgument(
                f"{role} is not given, and the table is a curve, to whose rows roles do not "
                f"apply: {quoted(sorted(given))}.",
                hint="give the predictions, with truth and score, or the curve alone.",
            )
        raise InvalidArgument(
            f"{role} is not given, and there is no column {role!r}; the table has "
            f"{quoted([*names]) or 'no columns'}.",
            hint=Hint(f"name its column, for example {{{role}}}.", **{role: ROLES[role].example}),
        )
