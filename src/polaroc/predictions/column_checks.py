"""Refusals of tables and columns that cannot have a role, and of names that are none."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import single_column
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, quoted, spelling
from polaroc.files.text_files import separator_hint, separator_in
from polaroc.predictions.roles import NEEDED, OTHER_OPTIONS, ROLES
from polaroc.predictions.usual_keys import column_names_of, usual_columns, usual_name
from polaroc.typing import IntoExpr

CHECK_NAMES = Hint(
    "check the spelling of the columns; the index of a pandas table becomes one by reset_index().",
    command_line="check the spelling of the columns.",
)


def refuse_objects(columns: Sequence[IntoExpr], table: pl.LazyFrame) -> None:
    """Refuse columns of Python objects, which have no order."""
    for column in columns:
        one = single_column(column, "by", table)
        ((name, kind),) = table.select(one).collect_schema().items()
        if kind == pl.Object:
            raise InvalidPredictions(
                f"the column {name!r} has values of different types.",
                hint="make them one type first, for example with .astype(str) in pandas.",
            )


def refuse_index(frame: object) -> None:
    """Refuse an index of pandas that may tell models or folds apart: it would be left out."""
    names = getattr(getattr(frame, "index", None), "names", ())
    usual = [name for name in names if isinstance(name, str) and usual_name(name)]
    if usual:
        raise InvalidArgument(
            f"the index has {quoted(usual)}, which would be left out.",
            hint="make columns of it: frame.reset_index(); or drop it: "
            "frame.reset_index(drop=True).",
        )


def check_columns(frame: pl.LazyFrame, wanted: Sequence[object], name: str = "the table") -> None:
    """Refuse names that are no columns of the table."""
    present = frame.collect_schema().names()
    unknown = [name for name in column_names_of(wanted) if name not in present]
    if not unknown:
        return
    hint = spelling(unknown, present, CHECK_NAMES)
    mark = separator_in(present, unknown[0])
    if mark is not None:
        hint = separator_hint(mark)
    raise InvalidArgument(
        f"there is no column {quoted(unknown)}; {name} has {quoted(present) or 'no columns'}.",
        hint=hint,
    )


def refuse_unknown_names(
    said: Iterable[str], roles: Sequence[str] = (*ROLES,), others: Sequence[str] = ()
) -> None:
    """Refuse names that are neither roles nor `others`, arguments of a function with `roles`."""
    unknown = [name for name in said if name not in (*ROLES, *others)]
    if unknown:
        allowed = [*others, *roles]
        elsewhere = {name: role.others for name, role in ROLES.items()} | OTHER_OPTIONS
        raise InvalidArgument(
            f"there is no argument {quoted(unknown)}; allowed are {', '.join(allowed)}.",
            hint=spelling(
                unknown,
                [*allowed, *(role for role in ROLES if role not in roles)],
                "say what the threshold is for: recall=, precision=, capacity= or costs."
                if "constraints" in unknown and "capacity" in others
                else "see help(pr.cases) for the roles of columns.",
                elsewhere,
            ),
        )


def require_roles(said: Mapping[str, Any], needed: Collection[str], names: Collection[str]) -> None:
    """Refuse to go on without a role that is needed, of a table with these columns."""
    for role in needed:
        if said.get(role) is not None:
            continue
        found: dict[str, str] = dict(zip(NEEDED, usual_columns(names) or (), strict=False))
        if {"threshold", "tp", "fp"} <= set(names):
            raise InvalidArgument(
                f"{role} is not given, and the table is a curve, to whose rows roles do not "
                f"apply: {quoted(sorted(said))}.",
                hint="give the predictions, with truth and score, or the curve alone.",
            )
        raise InvalidArgument(
            f"{role} is not given, allowed are column names and Polars expressions; the table has "
            f"{quoted([*names]) or 'no columns'}.",
            hint=Hint(
                f"name its column, for example {{{role}}}.",
                **{role: found.get(role) or ROLES[role].example},
            ),
        )
