"""The keywords that say what the columns of a table of predictions mean."""

from collections.abc import Sequence
from typing import Any, TypedDict

from polaroc.typing import Label, Nulls

# Roles without which there is nothing to compute.
NEEDED = ("truth", "score")
# Roles whose column, named like the role, is used without being named.
BY_DEFAULT = (*NEEDED, "model", "fold", "case")
# Roles that name columns, in the order of the canonical table.
ROLES = ("model", "fold", "case", "cluster", "truth", "score", "weight", "count")
# Names that no key may have.
CANONICAL = frozenset((*ROLES, "error"))


class Columns(TypedDict, total=False):
    """Names of columns, as `cases` explains them."""

    truth: str | None
    score: str | Sequence[str] | None
    model: str | None
    fold: str | Sequence[str] | None
    case: str | None
    cluster: str | None
    weight: str | None
    count: str | None
    by: str | Sequence[str] | None
    positive: Label | Sequence[Label] | None
    nulls: Nulls


KEYWORDS = (*Columns.__annotations__,)


def some_columns(columns: Any, *roles: str) -> Any:
    """The keywords of some roles alone.

    Examples
    --------
    >>> some_columns({"truth": "y", "by": "site"}, "by")
    {'by': 'site'}
    """
    return {role: value for role, value in columns.items() if role in roles}
